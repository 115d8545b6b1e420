"""A statement read off the tables of its calls, stretch by stretch.

A statement is proved where it can be cut into stretches that are each read whole in a table, one
after the other: what one picks, the next goes on about. Stretches end where a sentence may be
parted: at a comma, at "and", "while", "with".
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from affidavit.verify.prose.clauses import Clause
from affidavit.verify.prose.desk import Desk
from affidavit.verify.prose.reading import read
from affidavit.verify.prose.stretches import Said, Stretch
from affidavit.verify.prose.tables import Table
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.prose.wording import is_unmeasured
from affidavit.verify.statements.records import RecordView
from affidavit.verify.statements.units import Stated

TOKENS_MAX: Final = 80
"""A longer statement is no sentence about a table."""
TRIES_MAX: Final = 400
"""Stretches that are tried; what takes more is left to the other rules."""
ROWS_MAX: Final = 2_000
"""A longer result is no table that a sentence is read off; it is counted and summed by its tool."""
TABLES_MAX: Final = 24
"""Tables that are looked at."""
_SIGNS: Final = frozenset(", ; : ( ) — – ， ； ： 、 （ ） -".split())
_PARTING: Final = frozenset(
    "and but while whereas with against compared versus which whose though 而 并 并且 但 但是 且 其中 以及 和 与".split()
)

_BEING: Final = frozenset("is are was were".split())


@dataclass(frozen=True, slots=True)
class Proof:
    """What a statement was read off: its rows, and the numbers that it gives."""

    records: tuple[RecordView, ...]
    numbers: tuple[Stated, ...]


def read_off(desk: Desk, tokens: tuple[Token, ...], topics: tuple[Token, ...]) -> Proof | None:
    """The rows that a statement is read off, going on about some topics; None where it is not."""
    words = [token for token in tokens if token.kind is not Kind.SIGN]
    if not words or len(tokens) > TOKENS_MAX or is_unmeasured(Clause(tokens)):
        return None
    tables = tuple(table for table in desk.tables if len(table.lines) <= ROWS_MAX)[:TABLES_MAX]
    for table in tables:
        start = Said()
        if topics:
            about = read(Stretch(desk, table, _listed(topics), Said()))
            if about is None:
                continue
            start = replace(about, claims=False)
        found = _Path(desk, tables, tokens).follow(0, (table, start))
        if found is not None:
            return found
    return None


def _listed(topics: tuple[Token, ...]) -> tuple[Token, ...]:
    """Topics as a list, so that each may pick rows of its own."""
    joint = Token(Kind.SIGN, ",", 0, 0)
    return tuple(item for token in topics for item in (token, joint))


Going = tuple[Table, Said]


@dataclass(slots=True)
class _Path:
    """The cutting of one statement into stretches, longest first."""

    desk: Desk
    tables: tuple[Table, ...]
    tokens: tuple[Token, ...]
    tries: int = 0
    records: list[RecordView] = field(default_factory=list)

    def follow(self, start: int, going: Going) -> Proof | None:
        """The proof of the tokens from a place on; None where they cannot be cut so."""
        ends = [len(self.tokens), *reversed(self._cuts(start))]
        for end in ends:
            piece = _bare(self.tokens[start:end])
            if not piece:
                continue
            for table in self._near(going[0], start):
                self.tries += 1
                if self.tries > TRIES_MAX:
                    return None
                said = going[1] if table is going[0] else Said(numbers=going[1].numbers)
                found = self._read(table, piece, said)
                if found is None:
                    continue
                rest = self._after(end, (table, found))
                if rest is not None:
                    rows = tuple(table.lines[row].record for row in sorted(found.rows))
                    return Proof((*rows, *rest.records), rest.numbers)
        return None

    def _after(self, end: int, going: Going) -> Proof | None:
        if end >= len(self.tokens) or not _bare(self.tokens[end:]):
            return Proof((), going[1].numbers)
        return self.follow(end, going)

    def _near(self, table: Table, start: int) -> tuple[Table, ...]:
        """The table that was read last, then the others of the calls."""
        if not start:
            return (table,)
        return (table, *(other for other in self.tables if other is not table))

    def _read(self, table: Table, piece: tuple[Token, ...], said: Said) -> Said | None:
        """What a stretch says; one that claims nothing may only tell when, or of what."""
        found = read(Stretch(self.desk, table, piece, said))
        if found is None or found.claims:
            return found
        return found if _only_frames(piece) else None

    def _cuts(self, start: int) -> list[int]:
        return [
            place
            for place in range(start + 1, len(self.tokens))
            if self.tokens[place].text.casefold() in _PARTING | _BEING
            or self.tokens[place - 1].text in _SIGNS
        ]


def _bare(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """A stretch without the signs and the joints at its ends."""
    start, end = 0, len(tokens)
    while start < end and _is_joint(tokens[start]):
        start += 1
    while end > start and tokens[end - 1].kind is Kind.SIGN:
        end -= 1
    return tokens[start:end]


def _is_joint(token: Token) -> bool:
    return token.kind is Kind.SIGN or token.text.casefold() in _PARTING


def _only_frames(piece: tuple[Token, ...]) -> bool:
    """Whether a stretch only says when: "At 09:40"."""
    return all(
        token.kind is Kind.MOMENT or (token.kind is Kind.WORD and token.text.casefold() in _FRAMING)
        for token in piece
    )


_FRAMING: Final = frozenset(
    "at on in from to between and until utc the of by 在 于 时 从 至 到".split()
)
