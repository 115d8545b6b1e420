"""What SQLite's errors mean for a person: what is wrong, where, and how to mend it."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final

from affidavit.contract.errors import InputRefused, RecordFailed

WAIT_MS: Final = 5_000
"""How long one write waits for another process's: a commit takes milliseconds, a vacuum step less
than a second."""


def record_failed(path: Path, error: Exception) -> RecordFailed:
    """What SQLite's error means for the one who wanted to read or write."""
    code = getattr(error, "sqlite_errorcode", 0)
    match code if code == sqlite3.SQLITE_IOERR_SHMSIZE else code & 0xFF:
        case sqlite3.SQLITE_FULL | sqlite3.SQLITE_IOERR_SHMSIZE:
            what = "the disk is full"
            hint = "free some space; a run that was under way goes on: affidavit runs resume"
        case sqlite3.SQLITE_READONLY:
            what, hint = "it can only be read", "give its owner back the right to write"
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            what, hint = f"another process kept it for {WAIT_MS / 1000:.0f} s", "try again"
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            what, hint = "it is damaged", mend(path)
            return RecordFailed(f"the store {path}: {what}", code="STORE_DAMAGED", hint=hint)
        case _:
            name = getattr(error, "sqlite_errorname", type(error).__name__)
            what, hint = f"{error} ({name})", "look at the disk and at the file's permissions"
    return RecordFailed(f"the store {path} could not be used: {what}", hint=hint)


def is_busy(error: Exception) -> bool:
    """Whether another connection was in the way, and waiting would help."""
    primary = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return primary in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def refused(place: Path, error: sqlite3.Error) -> InputRefused:
    """What SQLite's error means for the one who wanted to open the file."""
    primary = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if primary in {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR}:
        return InputRefused(
            f"the store {place} is damaged or no database: {error}",
            code="STORE_DAMAGED",
            hint=mend(place),
        )
    failed = record_failed(place, error)
    return InputRefused(failed.message, code="STORE_UNREACHABLE", hint=failed.hint)


def mend(place: Path) -> str:
    """How to go on after damage."""
    return (
        f"put it aside and begin a new one: mv {place} {place}.damaged (its -wal too), or bring "
        "back a copy"
    )
