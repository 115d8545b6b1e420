"""The atoms of a text, before anything is known of what they are about."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from affidavit.verify.prose.lexicon import Role
from affidavit.verify.statements.moments import Moment
from affidavit.verify.statements.units import Stated


class Kind(StrEnum):
    """What an atom is."""

    QUOTE = "QUOTE"
    MOMENT = "MOMENT"
    NUMBER = "NUMBER"
    NAME = "NAME"
    WORD = "WORD"
    SIGN = "SIGN"


@dataclass(frozen=True, slots=True)
class Token:
    """One atom. `stems` are the forms it may be met by; `stated` its number, `moment` its moment.

    `spelled` marks a number in words ("three", 三), `proper` a capital inside a sentence.
    """

    kind: Kind
    text: str
    start: int
    end: int
    role: Role = Role.CONTENT
    stems: frozenset[str] = field(default=frozenset())
    stated: Stated | None = None
    moment: Moment | None = None
    spelled: bool = False
    proper: bool = False
