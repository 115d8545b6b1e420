"""A stretch of a sentence, and what the one before it left to go on with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from affidavit.verify.prose.desk import Desk
from affidavit.verify.prose.picking import Meaning
from affidavit.verify.prose.tables import Table
from affidavit.verify.prose.tokens import Token
from affidavit.verify.statements.units import Stated


@dataclass(frozen=True, slots=True)
class Said:
    """What the stretch before left to go on with: its rows, what picked them, and its columns.

    `domain` are the rows that it spoke of some of, `frame` the moments that stand for all.
    """

    picked: Mapping[frozenset[str], frozenset[int]] = field(
        default_factory=lambda: MappingProxyType({})
    )
    rows: frozenset[int] = frozenset()
    domain: frozenset[int] = frozenset()
    columns: frozenset[str] = frozenset()
    numbers: tuple[Stated, ...] = ()
    frame: tuple[Token, ...] = ()
    claims: bool = False
    order: tuple[frozenset[int], ...] = ()
    counted: bool = False


@dataclass(frozen=True, slots=True)
class Stretch:
    """Some tokens of a sentence, read in one table, after what was said before."""

    desk: Desk
    table: Table
    tokens: tuple[Token, ...]
    said: Said


@dataclass(frozen=True, slots=True)
class Amounts:
    """What the numbers and moments of a stretch are compared with.

    `order` are the places of listed words, each with its rows: "4120 and 4133".
    """

    stretch: Stretch
    parts: tuple[Meaning, ...]
    rows: frozenset[int]
    order: tuple[tuple[int, frozenset[int]], ...]


@dataclass(frozen=True, slots=True)
class Agreed:
    """What the numbers and moments came to: the rows left, the columns given, what was proved."""

    rows: frozenset[int]
    domain: frozenset[int] = frozenset()
    columns: frozenset[str] = frozenset()
    numbers: tuple[Stated, ...] = ()
    frame: tuple[Token, ...] = ()
    claims: bool = False
    sums: bool = False
    counted: bool = False
