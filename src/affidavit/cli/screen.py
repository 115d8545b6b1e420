"""What a person or a script sees: inert text, one JSON object, one clear error line.

Data is never markup: control and bidirectional characters are taken out before anything is
printed, so that a log line can neither colour, move nor spoof the screen. In JSON they stand as
escapes: nothing is lost, and a terminal obeys none of it.
"""

from __future__ import annotations

import json
import os
import sys
import unicodedata
from typing import Final, NoReturn

from affidavit.contract.errors import AffidavitError, InternalFault, RecordFailed
from affidavit.contract.states import ReleaseOutcome

EXIT_ALTERED: Final = 1
EXIT_REFUSED: Final = 2
EXIT_UNSIGNED: Final = 3
EXIT_FAILED: Final = 4
EXIT_WAITING: Final = 6
EXIT_INTERRUPTED: Final = 130
EXIT_OF: Final = {
    ReleaseOutcome.SUCCESS: 0,
    ReleaseOutcome.FALLBACK: 3,
    ReleaseOutcome.FAILED: EXIT_FAILED,
    ReleaseOutcome.CANCELLED: 5,
}
"""Exit codes of `diagnose`, `gate` and `runs show`; those above stand in docs/cli.md too."""

BIDI: Final = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that turn the direction of what follows (Unicode TR 9); all are of category Cf."""


def is_obeyed(char: str) -> bool:
    """Whether a terminal, or the reader's eye, could be led by this character.

    Every control, format, private, unassigned and surrogate character, and the line and paragraph
    separators; a line break and a tab are judged by the caller.
    """
    category = unicodedata.category(char)
    return category[0] == "C" or category in {"Zl", "Zp"} or char in BIDI


def inert(text: str) -> str:
    """The text without anything that a terminal would obey; line breaks and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char for char in text if char in "\n\t" or not is_obeyed(char))


def one_line(text: str) -> str:
    """The inert text on a single line; its indentation stays."""
    words = " ".join(inert(text.replace("\r", " ")).split())
    return " " * (len(text) - len(text.lstrip(" "))) + words


def say(text: str) -> None:
    """A part of the answer, on standard output; it may hold several lines."""
    try:
        sys.stdout.write(inert(text) + "\n")
    except BrokenPipeError:  # here, for Typer would leave with 1, which has a meaning of its own
        leave_unheard()


def tell(text: str) -> None:
    """One line about the work, on standard error; the work goes on where nobody reads it."""
    try:
        sys.stderr.write(one_line(text) + "\n")
        sys.stderr.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def to_json(value: object) -> str:
    """The value as one line of JSON, every character that is obeyed written as an escape."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False)
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escape(char) if is_obeyed(char) else char for char in text)


def _escape(char: str) -> str:
    """As JSON writes it: one UTF-16 unit, or two."""
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def say_json(value: object) -> None:
    """Exactly one JSON object, on standard output."""
    sys.stdout.write(to_json(value) + "\n")


class LeftAtOnce(AffidavitError):
    """Somebody did not want to wait for the run's own end (a second Ctrl-C)."""

    code = "INTERRUPTED"


def leave_refused(error: AffidavitError, *, as_json: bool) -> NoReturn:
    """One clear line (and one JSON object) that says what, where and how to mend it.

    Exit 2 for what the user can mend, 4 for a store that failed or a fault of ours, 130 for a run
    that was left.
    """
    if as_json:
        say_json({"error": error_body(error)})
    tell(f"affidavit: {error.message}" + (f" ({error.hint})" if error.hint else ""))
    match error:
        case LeftAtOnce():
            raise SystemExit(EXIT_INTERRUPTED)
        case RecordFailed() | InternalFault():
            raise SystemExit(EXIT_FAILED)
        case _:
            raise SystemExit(EXIT_REFUSED)


def error_body(error: AffidavitError) -> dict[str, str]:
    """The error as `--json` shows it.

    What could not be recorded has one public code (L5); the store's own is its `reason`.
    """
    code = RecordFailed.code if isinstance(error, RecordFailed) else error.code
    body = {"code": code, "message": error.message, "hint": error.hint}
    return body if code == error.code else {**body, "reason": error.code}


def open_screen() -> None:
    """Standard streams that can say everything; what their encoding lacks becomes an escape."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def leave_unheard() -> NoReturn:
    """Whoever read our output has gone (`affidavit show … | head`): leave without a word."""
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, sys.stdout.fileno())
    raise SystemExit(EXIT_FAILED)
