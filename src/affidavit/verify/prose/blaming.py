"""Causes that typed statements carry: is what a sentence blames what its statement proves?

A proved cause says that its subject brought about what is seen at its object. A sentence with a
causal word says the same where its cause side holds most of the subject's words, its effect side
most of the object's, neither the other's, and neither side denies.
"""

from __future__ import annotations

from typing import Final

from affidavit.contract.statement import CauseStatement
from affidavit.verify.prose.lexicon import Role
from affidavit.verify.prose.proofs import Told
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.statements.words import names_in, stems_of

Tokens = tuple[Token, ...]
SAID_SHARE_MIN: Final = 0.6
"""Most of what a statement calls its end has to stand on that end's side of the sentence."""
_SMALL: Final = stems_of(
    "a an the of in on at to for by with from and or is are was were has have had"
)


def blames(told: Told, effect: Tokens, cause: Tokens) -> bool:
    """Whether some proved cause leads from the cause side of a sentence to its effect side."""
    if not effect or not cause or _is_denied(effect) or _is_denied(cause):
        return False
    return any(
        _leads(proof.statement, effect, cause)
        for proof in told.proofs
        if isinstance(proof.statement, CauseStatement)
    )


def _leads(statement: CauseStatement, effect: Tokens, cause: Tokens) -> bool:
    first = _words(f"{statement.subject} {statement.attribute or ''}")
    second = _words(f"{statement.object} {statement.object_attribute or ''}")
    before, behind = _forms(cause), _forms(effect)
    if _share(first, before) < SAID_SHARE_MIN or _share(second, behind) < SAID_SHARE_MIN:
        return False
    return (
        _share(first - second, behind) < SAID_SHARE_MIN
        and _share(second - first, before) < SAID_SHARE_MIN
    )


def _is_denied(tokens: Tokens) -> bool:
    """Whether a side denies; "did not start" and "could not connect" only say that it failed."""
    for place, token in enumerate(tokens):
        behind = [item for item in tokens[place + 1 : place + 4] if item.kind is Kind.WORD]
        told = [item for item in behind if item.text.casefold() not in _JOINING]
        failed = bool(told) and bool(told[0].stems & SUCCEEDING)
        if _denies(token) and not (failed or (behind and _denies(behind[0]))):
            return True
    return False


_JOINING: Final = frozenset("be able to yet even not".split())
SUCCEEDING: Final = stems_of(
    "start come begin succeed work complete finish respond answer connect load open reach launch "
    "boot resolve run"
)
"""What a thing that failed did not do."""


def _denies(token: Token) -> bool:
    return token.kind is Kind.WORD and token.role in {Role.NEGATION, Role.NONE, Role.HEDGE}


def _words(text: str) -> frozenset[str]:
    return stems_of(text) - _SMALL


def _forms(tokens: Tokens) -> frozenset[str]:
    found: set[str] = set()
    for token in tokens:
        found |= token.stems | stems_of(token.text) | names_in(token.text)
    return frozenset(found)


def _share(words: frozenset[str], held: frozenset[str]) -> float:
    return len(words & held) / len(words) if words else 0.0
