"""A sentence with the proofs of its parts: of its names, attributes, values and derived numbers."""

from __future__ import annotations

from dataclasses import dataclass, field

from affidavit.verify.prose.clauses import Clause
from affidavit.verify.prose.desk import Desk
from affidavit.verify.prose.proofs import Told
from affidavit.verify.prose.tokens import Token

Proofs = frozenset[int]
"""Places of proofs among those that a sentence may rest on."""


@dataclass(slots=True)
class Reading:
    """A sentence, and by the places of its tokens which proofs each part is of.

    `told` are the proofs by their ends, `whole` as they were stated. `strong` are names that a
    statement is about, `asked` names that only the question of a call holds.
    """

    desk: Desk
    clause: Clause
    told: Told
    whole: Told
    names: dict[int, Proofs] = field(default_factory=dict)
    attributes: dict[int, Proofs] = field(default_factory=dict)
    values: dict[int, Proofs] = field(default_factory=dict)
    derived: dict[int, Proofs] = field(default_factory=dict)
    strong: set[int] = field(default_factory=set)
    asked: set[int] = field(default_factory=set)

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The sentence's tokens."""
        return self.clause.tokens

    @property
    def all(self) -> Proofs:
        """Every proof."""
        return frozenset(range(len(self.told.proofs)))
