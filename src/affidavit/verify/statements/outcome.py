"""What checking one typed statement comes to: proved by facts, or a code that says why not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from affidavit.contract.violations import SupportCode


@dataclass(frozen=True, slots=True)
class Proved:
    """The statement holds; `facts` are places in the envelope of each call that shows it."""

    facts: tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True)
class Unproved:
    """The statement does not hold, or nothing shows that it does."""

    code: SupportCode


Outcome = Proved | Unproved

FACTS_SHOWN_MAX: Final = 12
"""A chain names the facts that a reader would look at first, not every row of a count."""
