"""What a word does by what stands beside it: "went up", "is full", "97% full", "valid until".

A word alone may be a particle, a state or a measure; its neighbours say which.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from affidavit.verify.prose.atoms import Kind, Token
from affidavit.verify.prose.lexicon import GAUGING, GUIDING, HIGHEST, LOWEST, Role
from affidavit.verify.statements.units import unit_of
from affidavit.verify.statements.words import stem


def mark_phrases(tokens: Iterable[Token]) -> tuple[Token, ...]:
    """The tokens with the roles and stems that their neighbours give them."""
    named = tuple(_unowned(token) for token in tokens)
    stated = tuple(_measuring(tuple(_ending(tuple(_stative(iter(named)))))))
    return _moving(_gauging(stated))


def _unowned(token: Token) -> Token:
    """A name without the s of its possession: `egress-proxy's`."""
    if token.kind is Kind.NAME and token.text.endswith(("'s", "’s")) and len(token.text) > 3:
        return replace(token, text=token.text[:-2], end=token.end - 2)
    return token


_LIMITS: Final = frozenset("limit limits maximum max ceiling cap quota capacity".split())
NEARNESS_TOKENS: Final = 5


def _is_nearness(tokens: tuple[Token, ...], place: int) -> bool:
    """Whether "close to" says how near a number or a limit is, which is checked there."""
    behind = tokens[place + 1 : place + 1 + NEARNESS_TOKENS]
    if len(behind) < 2 or behind[0].text.casefold() != "to":
        return False
    return behind[1].kind is Kind.NUMBER or any(
        token.text.casefold() in _LIMITS for token in behind
    )


_SHARES: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        word: frozenset(map(stem, stems.split()))
        for word, stems in (
            ("full", "use used usage utilization util capacity full"),
            ("used", "use used usage utilization util"),
            ("occupied", "use used usage occupied"),
        )
    }
)
_UNTIL: Final = frozenset("until till to through".split())
_ENDS: Final = frozenset(
    map(stem, "valid notafter after expires expiry expiration until end".split())
)


def _measuring(tokens: tuple[Token, ...]) -> Iterator[Token]:
    """ "97% full" names the share that is used; "valid until" a moment names when it expires."""
    for place, token in enumerate(tokens):
        low = token.text.casefold()
        before = tokens[place - 1].stated if place else None
        unit = unit_of(before.unit) if before is not None and before.unit else None
        behind = tokens[place + 1 : place + 3]
        if low in _SHARES and unit is not None and unit.dimension == "ratio":
            yield replace(token, stems=_SHARES[low])
        elif (
            low == "valid" and len(behind) == 2
            and behind[0].text.casefold() in _UNTIL and behind[1].kind is Kind.MOMENT
        ):  # fmt: skip
            yield replace(token, stems=_ENDS)
        elif low == "committed" and behind and behind[0].text.casefold() in _OFFSETS:
            yield replace(token, stems=token.stems | _COMMITTED)
        elif low == "close" and _is_nearness(tokens, place):
            yield replace(token, role=Role.FREE, stems=frozenset({low}))
        else:
            yield token


_OFFSETS: Final = frozenset({"offset", "offsets"})
_COMMITTED: Final = frozenset({stem("current")})
"""A reader's current offset is the one that it committed; its log's end is another."""


def _gauging(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """ "reached 91", "went down", "the longest": words that what stands behind them makes free."""
    return tuple(
        replace(token, role=Role.FREE) if _is_gauging(tokens, place) else token
        for place, token in enumerate(tokens)
    )


GAUGED_TOKENS: Final = 6
"""How far behind a verb that only joins its number may stand."""


def _is_gauging(tokens: tuple[Token, ...], place: int) -> bool:
    token = tokens[place]
    if token.kind is not Kind.WORD or token.role is not Role.CONTENT:
        return False
    low = token.text.casefold()
    if low.endswith("est") and stem(low) in HIGHEST | LOWEST:
        return True
    if low not in GAUGING | GUIDING:
        return False
    behind = tokens[place + 1 : place + 1 + GAUGED_TOKENS]
    if behind and behind[0].text.casefold() in _TURNS:
        return True
    if behind and low in _BECOMING and behind[0].role is Role.CONTENT:
        return behind[0].kind is Kind.WORD
    for item in behind:
        if item.text in {";", "；", ","}:
            return False
        if item.kind in {Kind.NUMBER, Kind.MOMENT, Kind.QUOTE}:
            return not low.startswith("us")
        if item.kind is Kind.NAME and low in GUIDING:
            return True
    return False


_TURNS: Final = frozenset(
    "up down back into from offline online idle for over above below under beyond past".split()
)
_BECOMING: Final = frozenset("go goes went gone".split())
"""Before a state these only say that it came to be: "went silent"; the state has to be found."""


def _ending(tokens: tuple[Token, ...]) -> Iterator[Token]:
    """ "is over.", "is off.": a particle that ends a clause behind a form of "to be" is a state."""
    for place, token in enumerate(tokens):
        behind = tokens[place + 1] if place + 1 < len(tokens) else None
        before = tokens[place - 1].text.casefold() if place else ""
        if (
            token.text.casefold() in _PARTICLES and before in _BEING | _BETWEEN
            and (behind is None or behind.kind is Kind.SIGN or behind.text in {"and", "but"})
        ):  # fmt: skip
            yield replace(token, role=Role.CONTENT, stems=frozenset({token.text.casefold()}))
        else:
            yield token


_PARTICLES: Final = frozenset("over off out away on in through back behind gone done".split())


def _stative(tokens: Iterator[Token]) -> Iterator[Token]:
    """ "is up", "is not full", "came back up": there the word is a state, and has to be found."""
    before = ""
    for token in tokens:
        low = token.text.casefold()
        if low in {"up", "down"} and before in _MOVING | _BEING:
            yield replace(token, role=Role.CONTENT, stems=token.stems | {low})
        elif low in _STATES and before in _BEING:
            yield replace(token, role=Role.CONTENT)
        elif low == "use" and before == "in":
            yield replace(token, role=Role.CONTENT, stems=_IN_USE)
        elif low == "up" and before in {"used", "uses", "use"}:
            yield replace(token, role=Role.CONTENT, stems=_UP)
        elif low == "back" and before in {"came", "come", "comes"}:
            yield replace(token, role=Role.CONTENT, stems=_BACK)
        else:
            yield token
        before = before if low in _BETWEEN and before in _BEING else low


_IN_USE: Final = frozenset(stem(word) for word in "use used active busy".split())
_UP: Final = frozenset(stem(word) for word in "exhausted reached exceeded".split())
_BACK: Final = frozenset(stem(word) for word in "back up online recovered".split())
_BEING: Final = frozenset(
    "is are was were be been being became become becomes remains stays stayed".split()
)
_MOVING: Final = frozenset(
    "came come comes go goes went back to state 为 均为 是 都 均 处于 仍 仍然 变为 转为".split()
)
_BETWEEN: Final = frozenset(
    "not now still already never also again almost nearly completely entirely fully very too".split()
)
_STATES: Final = frozenset(
    "full empty whole complete incomplete new old high low higher lower long short large small true "
    "false available possible clear different effective real good great close early late current "
    "recent main single slow fast open closed".split()
)
"""Words that only qualify before a noun, and claim something behind a form of "to be"."""


_GOING: Final = frozenset(
    "go goes went going gone move moves moved moving come comes came shoot shoots shot creep creeps "
    "crept tick ticks ticked trend trends trended edge edged inch inched drift drifts drifted swing swung".split()
)
_UPS: Final = {"up": Role.UP, "upward": Role.UP, "upwards": Role.UP,
                     "down": Role.DOWN, "downward": Role.DOWN, "downwards": Role.DOWN}  # fmt: skip
_MOVED: Final = frozenset("from to by about roughly some almost nearly 从 由".split())


def _moving(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """Gives "went up" and "is down from 40" the role of rose and fell.

    Only where the movement is measured ("from", "to", "by" or a number follows): a link that went
    down is in another state, and moved by nothing.
    """
    return tuple(
        replace(token, role=_UPS[token.text.casefold()])
        if token.text.casefold() in _UPS and _moves(tokens, place)
        else token
        for place, token in enumerate(tokens)
    )


def _moves(tokens: tuple[Token, ...], place: int) -> bool:
    before = tokens[place - 1].text.casefold() if place else ""
    behind = tokens[place + 1] if place + 1 < len(tokens) else None
    if behind is None or not (behind.kind is Kind.NUMBER or behind.text.casefold() in _MOVED):
        return False
    measured = any(_measures(tokens, at) for at in range(place + 1, min(place + 5, len(tokens))))
    return measured and (before in _GOING or before in {",", "is", "are", "was", "were"})


def _measures(tokens: tuple[Token, ...], place: int) -> bool:
    """Whether a number says how far something moved, and not how often or how long ago."""
    stated = tokens[place].stated
    behind = tokens[place + 1].text.casefold() if place + 1 < len(tokens) else ""
    return (
        tokens[place].kind is Kind.NUMBER
        and stated is not None
        and not (stated.unit and behind in {"later", "ago", "earlier", "before", "after"})
        and behind != "times"
    )
