"""Where a sentence says that one thing caused another, and where it says that something is unknown."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from affidavit.verify.prose import chinese
from affidavit.verify.prose.lexicon import CAUSED_BY, CAUSES, UNKNOWN, Role
from affidavit.verify.prose.tokens import Kind, Token

_SINCE: Final = re.compile(r"\bsince (?!\d|about|then|the |at |yesterday|midnight|noon|early|late)")


def _pattern(markers: tuple[str, ...]) -> re.Pattern[str]:
    ordered = sorted(markers, key=len, reverse=True)
    return re.compile(
        r"(?<![\w-])(?:" + "|".join(re.escape(item) for item in ordered) + r")(?![\w-])"
    )


_BY: Final = _pattern(CAUSED_BY)
_OF: Final = _pattern(CAUSES)
_OPEN: Final = _pattern(UNKNOWN)


_TROUBLE: Final = r"(?:problem|issue|incident|fault|error|failure|outage|trouble|symptom)s?"
_BLAMING: Final = (
    (
        re.compile(
            r"\b(?:problem|issue|reason|cause|culprit|fault|trouble)s?\b(?: [a-z]+){0,6}? "
            r"(?:is|are|was|were|lies|lie|lay|comes|come|came|sits|starts|started|begins|began|"
            r"originates)\b(?! (?:not|un))"
        ),
        True,
    ),
    (
        re.compile(
            rf"\b(?:source|origin|root) of (?:the |this |our )?{_TROUBLE}(?: [a-z]+){{0,3}} "
            r"(?:is|was)\b"
        ),
        True,
    ),
    (
        re.compile(
            r"\b(?:is|was|are|were) (?:the|a|our|its)(?: [a-z]+){0,2} (?:problem|issue|cause|culprit|"
            r"reason|fault|trouble|source|origin)\b"
        ),
        False,
    ),
    (re.compile(rf"\b{_TROUBLE} (?:is|was) about\b"), True),
    (
        re.compile(
            r" as (?!(?:a|an|its|their|expected|reported|shown|logged|listed|well|soon|long|many|much)"
            r"\b)(?:[^\s,;]+ ){1,4}(?:failed|fails|was|were|is|are|had|has|did|does|do|can|cannot|could|timed|"
            r"times|went|goes|lost|loses|broke|breaks|ran|runs|crash(?:es|ed)|restart(?:s|ed)|drop(?:s|ped)|"
            r"reject(?:s|ed)|refuse[sd]|block(?:s|ed)|hang(?:s)?|hung|lack(?:s|ed)|exceed(?:s|ed)|"
            r"fill(?:s|ed))\b"
        ),
        True,
    ),
    (re.compile(r"问题(?:出)?在|问题是|问题为|问题出自|主要问题|出在|症结|罪魁|元凶|祸首"), True),
)
"""Words that blame without a "because": "the problem lies in X", "X is the culprit", 问题出在."""


@dataclass(frozen=True, slots=True)
class Causal:
    """A causal marker: where its words stand, and whether the cause comes behind it."""

    start: int
    end: int
    cause_behind: bool
    soft: bool = False


def is_open(text: str, tokens: tuple[Token, ...]) -> bool:
    """Whether the text says that something is not known."""
    if any(token.kind is Kind.WORD and token.role is Role.UNKNOWN for token in tokens):
        return True
    low = _unquoted(text, tokens).casefold()
    found = _OPEN.search(low)
    return found is not None and not low.startswith(" by ", found.end())


def causal_in(text: str, tokens: tuple[Token, ...]) -> Causal | None:
    """The first causal marker of a text outside its quotations, or None."""
    low = _unquoted(text, tokens).casefold()
    found: list[Causal] = []
    for pattern, behind in ((_BY, True), (_OF, False)):
        for match in pattern.finditer(low):
            if not any(low.startswith(other, match.start()) for other in ("so far", "so-called")):
                found.append(Causal(match.start(), match.end(), behind))
                break
    for expression, behind in _BLAMING:
        blamed = expression.search(low)
        if blamed:
            found.append(Causal(blamed.start(), blamed.end(), behind))
    since = _SINCE.search(low)
    if since:
        found.append(Causal(since.start(), since.end(), cause_behind=True))
    found.extend(_chinese(tokens))
    return min(found, key=lambda item: (item.start, -item.end), default=None)


def _chinese(tokens: tuple[Token, ...]) -> list[Causal]:
    found = []
    for token in tokens:
        if token.kind is not Kind.WORD or not chinese.CJK.match(token.text):
            continue
        if token.role is Role.CAUSED_BY or token.text == "因":
            found.append(Causal(token.start, token.end, cause_behind=True))
        elif token.role is Role.CAUSES:
            found.append(Causal(token.start, token.end, cause_behind=False))
    return found


def _unquoted(text: str, tokens: tuple[Token, ...]) -> str:
    signs = list(text)
    for token in tokens:
        if token.kind in {Kind.QUOTE, Kind.NAME}:
            signs[token.start : token.end] = " " * (token.end - token.start)
    return "".join(signs)


def sides(tokens: tuple[Token, ...], causal: Causal) -> tuple[tuple[Token, ...], tuple[Token, ...]]:
    """Effect and cause: the tokens on either side of a marker, within its own statement.

    "Because X, Y" has its effect behind the comma. A side that says nothing is empty: "therefore Y"
    has its cause in what was said before.
    """
    before = tuple(token for token in tokens if token.end <= causal.start)
    after = tuple(token for token in tokens if token.start >= causal.end)
    if causal.cause_behind and not _says(before):
        comma = next(
            (place for place, token in enumerate(after) if token.text in {",", "，"}), len(after)
        )
        before, after = after[comma:], after[:comma]
    effect, cause = (before, after) if causal.cause_behind else (after, before)
    return (effect if _says(effect) else ()), (cause if _says(cause) else ())


def _says(tokens: tuple[Token, ...]) -> bool:
    return any(
        token.kind in {Kind.NAME, Kind.QUOTE, Kind.NUMBER}
        or (token.kind is Kind.WORD and token.role in {Role.CONTENT, Role.UP, Role.DOWN})
        for token in tokens
    )
