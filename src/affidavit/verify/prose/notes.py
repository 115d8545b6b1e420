"""What was not bound, noted while a sentence is read: a code, and the words that it is about."""

from __future__ import annotations

from dataclasses import dataclass

from affidavit.contract.violations import SupportCode


@dataclass(frozen=True, slots=True)
class Note:
    """One thing that was not bound. `firm` says that a proved statement or a record refutes it."""

    code: SupportCode
    what: str = ""
    firm: bool = False

    def __str__(self) -> str:
        return f"{self.code}: {self.what}" if self.what else str(self.code)
