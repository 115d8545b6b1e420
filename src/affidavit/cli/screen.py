"""What a person or a script sees: inert text, one JSON object, one clear error line.

Data is never markup: control and bidirectional characters are taken out before anything is
printed, so that a log line can neither colour, move nor spoof the screen.
"""

from __future__ import annotations

import json
import sys
import unicodedata
from typing import Final, NoReturn

from affidavit.contract.errors import AffidavitError
from affidavit.contract.states import ReleaseOutcome

EXIT_USAGE: Final = 2
EXIT_WAITING: Final = 6
EXIT_OF: Final = {
    ReleaseOutcome.SUCCESS: 0,
    ReleaseOutcome.FALLBACK: 3,
    ReleaseOutcome.FAILED: 4,
    ReleaseOutcome.CANCELLED: 5,
}
"""Exit codes of `diagnose`, `gate` and `runs show`."""

_BIDI: Final = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def inert(text: str) -> str:
    """The text without anything that a terminal would obey; line breaks stay."""
    return "".join(
        char
        for char in text
        if char in "\n\t" or (unicodedata.category(char)[0] != "C" and char not in _BIDI)
    )


def say(text: str) -> None:
    """A line of the answer, on standard output."""
    sys.stdout.write(inert(text) + "\n")


def tell(text: str) -> None:
    """A line about the work, on standard error."""
    sys.stderr.write(inert(text) + "\n")
    sys.stderr.flush()


def say_json(value: object) -> None:
    """Exactly one JSON object, on standard output."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, sort_keys=True) + "\n")


def leave_refused(error: AffidavitError, *, as_json: bool) -> NoReturn:
    """One clear line (or one JSON object) that says what, where and how to mend it; exit 2 or 4."""
    if as_json:
        body = {"code": error.code, "message": error.message, "hint": error.hint}
        say_json({"error": body})
    tell(f"affidavit: {error.message}" + (f" ({error.hint})" if error.hint else ""))
    raise SystemExit(EXIT_USAGE)
