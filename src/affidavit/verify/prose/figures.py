"""The numbers of a clause: how each is compared, which words are about it, and at what moment.

What binds a number is for `fitting` (a field that holds it), `tallies` (counting) and `computing`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from affidavit.verify.prose.bounding import BOUND_TOKENS, TURNED, bound_of
from affidavit.verify.prose.clauses import Clause
from affidavit.verify.prose.lexicon import FUNCTION, Role
from affidavit.verify.prose.numbering import is_whole_at, labelled
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.statements.units import Stated, unit_of
from affidavit.verify.statements.words import stems_of

_BEFORE_WORDS: Final = 5
_AFTER_WORDS: Final = 3
_FREE_NUMBERS: Final = frozenset({"one", "一", "One"})
_COMPARING: Final[tuple[tuple[tuple[str, ...], str], ...]] = (
    (("no", "more", "than"), "<="), (("not", "more", "than"), "<="), (("no", "less", "than"), ">="),
    (("not", "less", "than"), ">="), (("no", "fewer", "than"), ">="), (("at", "most"), "<="),
    (("at", "least"), ">="), (("up", "to"), "<="), (("more", "than"), ">"), (("less", "than"), "<"),
    (("fewer", "than"), "<"), (("higher", "than"), ">"), (("greater", "than"), ">"),
    (("lower", "than"), "<"), (("smaller", "than"), "<"), (("larger", "than"), ">"),
    (("longer", "than"), ">"), (("shorter", "than"), "<"), (("well", "over"), ">"),
    (("above",), ">"), (("over",), ">"), (("exceeds",), ">"), (("exceeded",), ">"),
    (("exceeding",), ">"), (("exceed",), ">"), (("beyond",), ">"), (("below",), "<"),
    (("under",), "<"), (("beneath",), "<"), (("不", "超过"), "<="), (("超过",), ">"),
    (("高于",), ">"), (("大于",), ">"), (("多于",), ">"), (("超出",), ">"), (("不低于",), ">="),
    (("不少于",), ">="), (("至少",), ">="), (("低于",), "<"), (("小于",), "<"), (("少于",), "<"),
    (("不超过",), "<="), (("不高于",), "<="), (("至多",), "<="), (("最多",), "<="),
    (("不足",), "<"), (("未超过",), "<="),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of a clause, where it stands, and how it is compared."""

    clause: Clause
    place: int
    operator: str = "="

    @property
    def token(self) -> Token:
        """The number's token."""
        return self.clause.tokens[self.place]

    @property
    def stated(self) -> Stated:
        """The number as stated; "about" before it counts."""
        stated = self.token.stated
        assert stated is not None
        about = (
            stated.about
            or any(
                token.text.casefold() in _ABOUT
                for token in self.clause.tokens[max(0, self.place - 2) : self.place]
            )
            or (
                self.place + 1 < len(self.clause.tokens)
                and self.clause.tokens[self.place + 1].text in {"左右", "上下"}
            )
        )
        return Stated(stated.number, stated.unit or self._rate(), about)

    def _rate(self) -> str:
        """ "48210 messages per second": the rate that a noun parts from its number."""
        tokens, place = self.clause.tokens, self.place
        behind = [token.text.casefold() for token in tokens[place + 1 : place + 6]]
        for at, word in enumerate(behind[:-1]):
            if at and word in {"per", "a", "each", "every"} and behind[at + 1] in _RATES:
                return _RATES[behind[at + 1]]
        before = "".join(token.text for token in tokens[max(0, place - 2) : place])
        return next((unit for word, unit in _RATES_ZH.items() if before.endswith(word)), "")


_RATES: Final[Mapping[str, str]] = MappingProxyType(
    {"second": "/s", "minute": "/min", "hour": "/h"}
)
_RATES_ZH: Final[Mapping[str, str]] = MappingProxyType(
    {"每秒": "/s", "每分钟": "/min", "每小时": "/h"}
)
_ABOUT: Final = frozenset(
    "about roughly approximately approx around circa nearly almost ca close 约 大约 大概 近 将近 接近".split()
)


def figures_of(clause: Clause) -> Iterator[Figure]:
    """The numbers of a clause that claim something."""
    for place, token in enumerate(clause.tokens):
        if token.kind is Kind.NUMBER and token.text not in _FREE_NUMBERS:
            yield Figure(clause, place, operator_at(clause.tokens, place))


def operator_at(tokens: tuple[Token, ...], place: int) -> str:
    """How the words before a number compare with it."""
    if _was_passed(tokens, place):
        return "="
    before: list[str] = []
    for token in reversed(tokens[max(0, place - 5) : place]):
        if token.kind is Kind.NUMBER or token.kind is Kind.SIGN:
            break
        before.insert(0, token.text.casefold())
    trimmed = [
        word
        for word in before
        if word not in _ABOUT and word not in {"the", "its", "a", "of", "their"}
    ]
    near = frozenset(trimmed[-2:])
    for words, operator in _COMPARING:
        if words[-1] not in near:
            continue
        for end in (len(trimmed), len(trimmed) - 1):
            if end >= len(words) and tuple(trimmed[end - len(words) : end]) == words:
                return _turned(tokens, place, operator)
    after = tokens[place + 1].text if place + 1 < len(tokens) else ""
    return {"以上": ">=", "以下": "<=", "以内": "<="}.get(after, "=")


def _was_passed(tokens: tuple[Token, ...], place: int) -> bool:
    """Whether the number counts how often a limit "was exceeded", and is none itself."""
    before = [token.text.casefold() for token in tokens[max(0, place - _PASSED_REACH) : place]]
    behind = tokens[place + 1].text.casefold() if place + 1 < len(tokens) else ""
    return (
        before[-1:] == ["exceeded"]
        and not _BEEN.isdisjoint(before[:-1])
        and behind in {"time", "times"}
    )


_PASSED_REACH: Final = 3


_BEEN: Final = frozenset("is are was were been being got".split())


def _turned(tokens: tuple[Token, ...], place: int, operator: str) -> str:
    """The comparison as a "not" before it turns it: "did not rise above 40" is at most 40."""
    for at in range(max(0, place - 2 * BOUND_TOKENS), place):
        end = bound_of(tokens, at)
        if end is not None and end < place:
            return TURNED[operator]
    return operator


@dataclass(frozen=True, slots=True)
class Near:
    """The stems of the words around a number.

    `next` are those closest, `counted` the words right behind it, `labels` the names among them,
    which may name a field ("CPU:user is 5.9").
    """

    all: frozenset[str]
    next: frozenset[str]
    counted: tuple[Token, ...]
    labels: frozenset[str]


def near_words(figure: Figure) -> Near:
    """The words around a number, up to the next number that is not listed with it."""
    tokens, place = figure.clause.tokens, figure.place
    start = _movement_start(figure)
    while (start and tokens[start - 1].text in _MEASURE_LISTED) or (
        start and start < place and tokens[start - 1].kind is Kind.NUMBER
    ):
        start -= 1
    while tokens[start].kind is not Kind.NUMBER:
        start += 1
    led = tuple(token for at, token in enumerate(tokens[:start]) if not labelled(tokens, at))
    before = _reach(tuple(reversed(led)), _BEFORE_WORDS)
    after = _reach(_up_to_next(tokens[place + 1 :]), _AFTER_WORDS)
    return Near(
        all=_stems((*before, *after)),
        next=_stems((*before[:1], *after[:1])),
        counted=tuple(
            token for token in tokens[place + 1 : place + 3] if token.kind is not Kind.SIGN
        ),
        labels=frozenset(
            token.text.casefold() for token in (*before, *after) if token.kind is Kind.NAME
        ),
    )


def is_part(figure: Figure) -> bool:
    """Whether what follows is the name of another number: "1512 of 2890 attempts"."""
    behind = figure.clause.tokens[figure.place + 1 : figure.place + 3]
    return [token.text.casefold() for token in behind[:1]] == ["of"] and any(
        token.kind is Kind.NUMBER for token in behind[1:]
    )


def up_to_sign(figure: Figure) -> Figure:
    """The figure without what a comma parts from it."""
    behind = figure.clause.tokens[figure.place + 1 : figure.place + 2]
    if not any(token.kind is Kind.SIGN for token in behind):
        return figure
    return replace(figure, clause=Clause(figure.clause.tokens[: figure.place + 1]))


_PHRASING: Final = frozenset("of against under above below with versus vs from to than at".split())


def _up_to_next(behind: tuple[Token, ...]) -> tuple[Token, ...]:
    """The tokens behind a number without the phrase that the next one is the number of.

    "16290 bytes of a limit of 16320": the limit is that of 16320, and not of 16290.
    """
    following = next((at for at, token in enumerate(behind) if token.kind is Kind.NUMBER), None)
    if following is None or following < 2 or behind[following - 1].text.casefold() != "of":
        return behind
    for at in range(following - 2, -1, -1):
        if behind[at].text.casefold() in _PHRASING:
            return behind[:at]
        if behind[at].kind is not Kind.WORD:
            return behind
    return behind


def _movement_start(figure: Figure) -> int:
    """Where the movement that a number ends begins: "from 4 to 20"; else the number itself."""
    tokens, place = figure.clause.tokens, figure.place
    before = tokens[place - 1] if place else None
    if before is None or not (
        before.text.casefold() in _ENDS_WORDS or before.role in {Role.UP, Role.DOWN}
    ):
        return place
    return next(
        at
        for at, token in enumerate(tokens)
        if token.kind is Kind.NUMBER and (at == place or not labelled(tokens, at))
    )


_ENDS_WORDS: Final = frozenset({"from", "to", "从", "到", "至"})


def _stems(tokens: Iterable[Token]) -> frozenset[str]:
    found: set[str] = set()
    for token in tokens:
        if token.kind is Kind.WORD or (token.kind is Kind.NAME and token.text.isalpha()):
            found |= token.stems | stems_of(token.text)
    return frozenset(found) - FUNCTION


def _reach(tokens: tuple[Token, ...], words: int) -> list[Token]:
    near: list[Token] = []
    listing, joined = True, False
    for token in tokens:
        if len(near) >= words or token.text in {";", "；"}:
            break
        if token.kind is Kind.NUMBER:
            if not listing:
                break
            joined = False
            continue
        low = token.text.casefold()
        if joined and low not in _LISTED:
            break
        joined = joined or low in {"and", "or", ",", "but", "和"}
        listing = listing and low in _LISTED
        if token.kind is not Kind.SIGN and low not in _LISTED:
            near.append(token)
    return near


_MEASURE_LISTED: Final = frozenset("和 与 及 、 次 个 条 台 名".split())
_LISTED: Final = frozenset("and or , 、 和 与 及 次 个 条 台 名 of / out".split())
_AT: Final = frozenset("at on of for 在 于 时 @ in".split())
_RANGE: Final = frozenset("from to between and until till since after before 从 到 至 起".split())


def counts_things(figure: Figure) -> bool:
    """Whether a plural noun right behind the number says that it counts things."""
    stated = figure.stated
    if stated.unit and unit_of(stated.unit) is not None:
        return False
    after = figure.clause.tokens[figure.place + 1 : figure.place + 3]
    for token in after:
        if token.kind is Kind.SIGN:
            return False
        low = token.text.casefold()
        if token.kind in {Kind.WORD, Kind.NAME} and low.isascii():
            if low.endswith("s") and not low.endswith(("ss", "us", "is")) and len(low) > 3:
                return token.role is not Role.NEGATION
            if token.role is Role.FREE and token.kind is Kind.WORD:
                return False
    return False


def attached_moment(figure: Figure) -> Token | None:
    """The moment that a number is said to be at.

    Behind it ("5 at 06:45"); else the only moment of its fragment; else, of a number that something
    moved from or to, the end of the clause's window; else the clause's only moment.
    """
    tokens, place = figure.clause.tokens, figure.place
    behind = _moment_behind(tokens, place) or _moment_of(tokens, place)
    if behind is not None:
        return behind
    moments = figure.clause.of(Kind.MOMENT)
    start = max((at for at in range(place) if tokens[at].text in {",", "，"}), default=-1)
    end = min(
        (at for at in range(place, len(tokens)) if tokens[at].text in {",", "，"}),
        default=len(tokens),
    )
    inside = [token for token in tokens[start + 1 : end] if token.kind is Kind.MOMENT]
    if len(inside) == 1 and not is_edge(figure.clause, inside[0]):
        return inside[0]
    before = tokens[place - 1].text.casefold() if place else ""
    if len(moments) == 2 and all(is_edge(figure.clause, token) for token in moments):
        if before in {"from", "从", "由"}:
            return moments[0]
        if before in {"to", "到", "至"} or tokens[place - 1].role in {Role.UP, Role.DOWN}:
            return moments[1]
    if len(moments) == 1 and not inside and not is_edge(figure.clause, moments[0]):
        return moments[0] if moments[0].start < figure.token.start else None
    return None


def _moment_of(tokens: tuple[Token, ...], place: int) -> Token | None:
    """The moment that a Chinese number belongs to: 09:00 的 61%, 09:20 为 66%."""
    if place < 2 or tokens[place - 1].text not in {"的", "为", "是", "时", "时为"}:
        return None
    return tokens[place - 2] if tokens[place - 2].kind is Kind.MOMENT else None


def _moment_behind(tokens: tuple[Token, ...], place: int) -> Token | None:
    for offset, token in enumerate(tokens[place + 1 : place + 5]):
        if token.kind is Kind.NUMBER:
            return None
        if token.kind is Kind.MOMENT:
            between = [item.text.casefold() for item in tokens[place + 1 : place + 1 + offset]]
            fits = any(word in _AT for word in between) and not any(
                word in _RANGE for word in between
            )
            return token if fits else None
    return None


def is_edge(clause: Clause, moment: Token) -> bool:
    """Whether a moment is written as an end of a window and not as a point."""
    place = clause.tokens.index(moment)
    before = clause.tokens[place - 1].text.casefold() if place else ""
    after = clause.tokens[place + 1].text.casefold() if place + 1 < len(clause.tokens) else ""
    return before in _RANGE or after in {
        "起",
        "之后",
        "以后",
        "以来",
        "on",
        "onwards",
        "至",
        "到",
        "to",
    }


def stays(figure: Figure) -> bool:
    """Whether the number says where something stayed after it had moved."""
    before = figure.clause.tokens[max(0, figure.place - 4) : figure.place]
    return any(token.text.casefold() in _STAYING for token in before)


_STAYING: Final = frozenset(
    "stayed stays stay remained remains remain staying 保持 保持在 维持 维持在 一直".split()
)


def is_whole(figure: Figure) -> bool:
    """Whether the number is what another is a part of: 644 in "3 of 644"."""
    return is_whole_at(figure.clause.tokens, figure.place)


def is_end(figure: Figure) -> bool:
    """Whether a number is an end of a movement ("from 4", "to 20"): a reading, and no count."""
    before = figure.clause.tokens[figure.place - 1] if figure.place else None
    return before is not None and before.text.casefold() in _ENDS_WORDS | {"by"}
