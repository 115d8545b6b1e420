"""The database file of a SQLite store: its tables, and how it is opened.

    sqlite:PATH → a regular file that only its owner can read (0600; its -wal and -shm too)
                  write-ahead log, incremental auto-vacuum, application id and schema version

Nobody here ever opens the file except through SQLite: closing a second descriptor would drop the
locks that this process holds on it (sqlite.org/howtocorrupt.html, section 2.2).
"""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from affidavit.adapters.sqlite_errors import WAIT_MS, is_busy, mend, refused
from affidavit.adapters.sqlite_tables import MIGRATIONS, TABLES
from affidavit.contract.errors import InputRefused

APPLICATION_ID: Final = 0x41464456
"""Marks a SQLite file as ours ("AFDV", PRAGMA application_id)."""

SCHEMA_VERSION: Final = 3
"""The tables of `sqlite_tables` (PRAGMA user_version). An older file is brought up to it when it is
opened for writing; a newer one is refused."""

SQLITE_OLDEST: Final = (3, 37, 0)
"""The first SQLite with STRICT tables, which keep a column's type."""

OPEN_ATTEMPTS: Final = 50
OPEN_PAUSE_S: Final = 0.1
"""For processes that make the same file at once: the switch to a log does not wait by itself."""

OWNER_ONLY: Final = 0o600

SMALLEST: Final = 512
"""Bytes of the smallest page that SQLite knows; no database is smaller."""

_PROBES: Final = tuple(
    f"SELECT * FROM {table} LIMIT 1"  # noqa: S608 -- our own six names
    for table in ("runs", "lines", "artifacts", "commands", "approvals", "sealed_heads")
)


@dataclass(frozen=True, slots=True)
class Database:
    """An open file, twice.

    `quick` never waits and never syncs: it may be used in an event loop. `sure` waits for others,
    syncs each commit to the disk and moves the log into the file: it belongs into a thread.
    """

    path: Path
    quick: sqlite3.Connection
    sure: sqlite3.Connection
    device: int
    inode: int

    def is_in_place(self) -> bool:
        """Whether the file still has its name: else nobody would find what is written to it."""
        try:
            found = self.path.stat()
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == (self.device, self.inode)

    def close(self) -> None:
        """Close both; the last one moves the log into the file."""
        self.quick.close()
        self.sure.close()


def open_database(path: Path) -> Database:
    """The database at that path, made if it is not there; its folder must be.

    A file or folder that cannot be written is opened for reading. Raises `InputRefused` for a path
    or a file that no store can be.
    """
    if sqlite3.sqlite_version_info < SQLITE_OLDEST:
        raise InputRefused(
            f"SQLite {sqlite3.sqlite_version} is too old for a store; it needs 3.37",
            code="STORE_UNSUPPORTED",
            hint="use a newer Python, or keep runs in memory: --store memory:",
        )
    place = _find(path)
    writable = os.access(place, os.W_OK) and os.access(place.parent, os.W_OK | os.X_OK)
    try:
        sure = _open_prepared(place) if writable else _open_for_reading(place)
        quick = _open_quick(place) if writable else sure
    except sqlite3.Error as error:
        raise refused(place, error) from error
    found = place.stat()
    return Database(place, quick, sure, found.st_dev, found.st_ino)


def make_private_folder(path: Path) -> Path:
    """The folder, made with those above it if need be, for its owner alone (0700).

    A folder that exists is left as it is. Raises `InputRefused` when it cannot be made.
    """
    folder = path.expanduser().absolute()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise InputRefused(
            f"the folder {folder} cannot be made: {error.strerror}",
            code="STORE_FOLDER_MISSING",
            hint="name another place: --store sqlite:PATH",
        ) from error
    return folder


@contextmanager
def transaction(
    connection: sqlite3.Connection, begin: str = "BEGIN IMMEDIATE"
) -> Iterator[sqlite3.Connection]:
    """All or nothing, with the write lock held from the start; whatever fails is rolled back."""
    connection.execute(begin)
    try:
        yield connection
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _find(path: Path) -> Path:
    """The real place of the file, which then exists and is a regular file."""
    try:
        place = path.expanduser().resolve()
        if not place.parent.is_dir():
            raise InputRefused(
                f"the store's folder {place.parent} does not exist",
                code="STORE_FOLDER_MISSING",
                hint=f"make it: mkdir -m 700 -p {place.parent}",
            )
        with suppress(FileExistsError):
            os.close(os.open(place, os.O_RDWR | os.O_CREAT | os.O_EXCL, OWNER_ONLY))
        found = place.stat()
    except (OSError, RuntimeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise InputRefused(
            f"the store {path} cannot be opened: {why}",
            code="STORE_UNREACHABLE",
            hint="name a file in a folder that you may write to: --store sqlite:PATH",
        ) from error
    if not stat.S_ISREG(found.st_mode):
        what, instead = "no regular file", "PATH"
        if stat.S_ISDIR(found.st_mode):
            what, instead = "a folder", f"{place / 'runs.db'}"
        raise InputRefused(
            f"the store {place} is {what}",
            code="STORE_NOT_A_FILE",
            hint=f"name a file: --store sqlite:{instead}",
        )
    if 0 < found.st_size < SMALLEST:  # SQLite would take a file of one byte for an empty one
        raise InputRefused(
            f"the store {place} is damaged or no database: it has {found.st_size} bytes",
            code="STORE_DAMAGED",
            hint=mend(place),
        )
    return place


def _connect(place: Path, mode: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{place.as_uri()}?mode={mode}",
        uri=True,
        timeout=0,
        isolation_level=None,  # transactions are begun and ended by name
        check_same_thread=False,
    )
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA secure_delete = FAST")
    return connection


def _open_prepared(place: Path) -> sqlite3.Connection:
    """The sure connection; the tables are there when this returns."""
    for attempt in range(1, OPEN_ATTEMPTS + 1):
        connection = _connect(place, "rw")
        try:
            connection.execute(f"PRAGMA busy_timeout = {WAIT_MS}")
            _prepare(connection, place)
        except sqlite3.Error as error:
            connection.close()
            if attempt == OPEN_ATTEMPTS or not is_busy(error):
                raise
        except InputRefused:
            connection.close()
            raise
        else:
            return connection
        time.sleep(OPEN_PAUSE_S)
    raise AssertionError("the last attempt returns or raises")


def _open_quick(place: Path) -> sqlite3.Connection:
    """The quick connection to a file that is ready, which now is for its owner alone."""
    _keep_private(place)
    connection = _connect(place, "rw")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA wal_autocheckpoint = 0")  # a checkpoint syncs
    return connection


def _prepare(connection: sqlite3.Connection, place: Path) -> None:
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA fullfsync = ON")  # macOS alone knows the difference
    empty = _is_empty(connection, place)
    if empty:
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
    if mode != "wal":
        raise InputRefused(
            f"the store {place} stands on a file system without shared memory",
            code="STORE_UNSUPPORTED",
            hint="put it on a local disk",
        )
    if empty:
        _make_tables(connection)
    _bring_up(connection)
    for probe in _PROBES:
        connection.execute(probe).fetchall()


def _make_tables(connection: sqlite3.Connection) -> None:
    with transaction(connection):
        # Another process may have made them while this one waited.
        if connection.execute("PRAGMA user_version").fetchone() == (0,):
            for statement in TABLES:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _bring_up(connection: sqlite3.Connection) -> None:
    """Take an older file through every version since, each step all or nothing."""
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    for version in range(found, SCHEMA_VERSION):
        with transaction(connection):
            # Another process may have done it while this one waited.
            if connection.execute("PRAGMA user_version").fetchone() == (version,):
                for statement in MIGRATIONS[version]:
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {version + 1}")


def _is_empty(connection: sqlite3.Connection, place: Path) -> bool:
    """Whether the file waits for its tables. Raises `InputRefused` for what is not ours."""
    with transaction(connection, "BEGIN"):  # one look, while others may be making the tables
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if (application, version, tables) == (0, 0, 0):
        return True
    if application != APPLICATION_ID:
        raise InputRefused(
            f"{place} is a SQLite database of another program",
            code="STORE_FOREIGN",
            hint="name another file: --store sqlite:PATH",
        )
    if version > SCHEMA_VERSION:
        raise InputRefused(
            f"the store {place} was written by a newer Affidavit (version {version}, this one "
            f"knows {SCHEMA_VERSION})",
            code="STORE_NEWER",
            hint="use the newer Affidavit, or name another file: --store sqlite:PATH",
        )
    return False


def _open_for_reading(place: Path) -> sqlite3.Connection:
    """A connection for a file or folder that cannot be written.

    Without a log the file alone is the whole store, and is read as it stands: else SQLite would
    make a log where it can, which then belongs to the reader and keeps the owner out. A reader that
    stays open while the owner begins to write may then see damage; it is meant for a look.
    """
    log = place.with_name(place.name + "-wal")
    is_written = log.exists() and log.stat().st_size > 0
    connection = _connect(place, "ro" if is_written else "ro&immutable=1")
    _probe(connection, place)
    return connection


def _probe(connection: sqlite3.Connection, place: Path) -> None:
    try:
        if _is_empty(connection, place):
            raise InputRefused(
                f"the store {place} is empty and cannot be written",
                code="STORE_UNREACHABLE",
                hint="name a file in a folder that you may write to: --store sqlite:PATH",
            )
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version < SCHEMA_VERSION:
            raise InputRefused(
                f"the store {place} is of version {version} and can only be read",
                code="STORE_OLDER",
                hint="let its owner open it once: affidavit runs list",
            )
        for probe in _PROBES:
            connection.execute(probe).fetchall()
    except (sqlite3.Error, InputRefused):
        connection.close()
        raise


def _keep_private(place: Path) -> None:
    """Take everybody else's rights away; SQLite gives a new -wal and -shm those of the file."""
    for suffix in ("", "-wal", "-shm"):
        file = place.with_name(place.name + suffix)
        # Not there yet, or another owner's, who has decided for himself.
        with suppress(FileNotFoundError, PermissionError):
            file.chmod(OWNER_ONLY)
