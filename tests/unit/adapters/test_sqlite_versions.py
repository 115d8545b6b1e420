"""A store that an earlier version wrote is brought up when it is opened, and loses nothing."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from affidavit.adapters.journal_text import write_line
from affidavit.adapters.sqlite_schema import APPLICATION_ID, SCHEMA_VERSION, open_database
from affidavit.adapters.sqlite_store import SqliteStore
from affidavit.adapters.sqlite_tables import MIGRATIONS
from affidavit.contract.errors import InputRefused
from affidavit.ports.store import Append
from affidavit.testing.journals import START_US, ask, first_lines, lease_run, next_lines

RUN_ID: Final = "run_0000000000000001"

FIRST_VERSION: Final = (
    """
    CREATE TABLE runs (
        run_id TEXT PRIMARY KEY, tenant TEXT NOT NULL, created_us INTEGER NOT NULL,
        question TEXT NOT NULL, state TEXT NOT NULL, outcome TEXT, paused INTEGER NOT NULL,
        last_seq INTEGER NOT NULL, last_hash TEXT NOT NULL, ended_us INTEGER, holder TEXT,
        epoch INTEGER NOT NULL, expires_us INTEGER NOT NULL,
        payloads_expired INTEGER NOT NULL DEFAULT 0
    ) STRICT
    """,
    "CREATE INDEX runs_by_tenant ON runs (tenant, created_us, run_id)",
    "CREATE INDEX runs_unended ON runs (created_us, run_id) WHERE ended_us IS NULL",
    "CREATE INDEX runs_unexpired ON runs (ended_us) WHERE payloads_expired = 0",
    """
    CREATE TABLE lines (
        run_id TEXT NOT NULL, seq INTEGER NOT NULL, at_us INTEGER NOT NULL, type TEXT NOT NULL,
        data TEXT NOT NULL, prev TEXT NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (run_id, seq)
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE artifacts (
        run_id TEXT NOT NULL, digest TEXT NOT NULL, kind TEXT NOT NULL, content BLOB NOT NULL,
        PRIMARY KEY (run_id, digest, kind)
    ) STRICT
    """,
    """
    CREATE TABLE commands (
        id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL, kind TEXT NOT NULL,
        sender TEXT NOT NULL
    ) STRICT
    """,
    "CREATE INDEX commands_by_run ON commands (run_id)",
)
"""The tables as version 1 had them."""


def write_first_version(path: Path) -> None:
    """A file of version 1 with one paused run, for which a command waits."""
    lines = first_lines(RUN_ID)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        for statement in FIRST_VERSION:
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 1")
        connection.execute(
            "INSERT INTO runs VALUES (?, 'local', ?, 'why?', 'RUNNING', NULL, 1, 1, ?, NULL, "
            "NULL, 3, 0, 0)",
            (RUN_ID, START_US, lines[-1].hash),
        )
        connection.execute("INSERT INTO lines VALUES (?, ?, ?, ?, ?, ?, ?)", write_line(lines[0]))
        connection.execute(
            "INSERT INTO commands (run_id, kind, sender) VALUES (?, 'wake', 'me')", (RUN_ID,)
        )


def schema_of(path: Path) -> set[tuple[str, tuple[tuple[str, str], ...]]]:
    """Every table and index with its columns and their types."""
    with closing(sqlite3.connect(path)) as connection:
        names = [
            name
            for (name,) in connection.execute(
                "SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'"
            )
        ]
        return {
            (
                name,
                tuple(
                    sorted(
                        (column[1], column[2])
                        for column in connection.execute(f"PRAGMA table_info({name})")
                    )
                ),
            )
            for name in names
        }


@pytest.mark.spec("K8", "H10")
async def test_a_store_of_version_1_goes_on_with_everything_that_it_had(tmp_path: Path) -> None:
    write_first_version(tmp_path / "runs.db")
    store = SqliteStore(tmp_path / "runs.db")
    head = await store.head(RUN_ID)
    assert head is not None
    assert (head.paused, head.wake_at_us) == (True, None)
    (command,) = await store.inbox(RUN_ID)
    assert (command.kind, command.payload) == ("wake", "")
    assert await store.due(START_US) == (RUN_ID,)
    lease = await lease_run(store, RUN_ID)
    assert lease.epoch == 4
    (line,) = await store.read(RUN_ID)
    waiting = ask("call_0001")
    await store.append(
        lease, Append(next_lines(line), paused=True, wake_at_us=START_US + 1, asked=(waiting,))
    )
    assert [item.ask for item in await store.approvals("local")] == [waiting]
    await store.close()


async def test_a_file_that_was_brought_up_has_the_tables_of_a_new_one(tmp_path: Path) -> None:
    write_first_version(tmp_path / "old.db")
    for name in ("old.db", "new.db"):
        await SqliteStore(tmp_path / name).close()
    assert schema_of(tmp_path / "old.db") == schema_of(tmp_path / "new.db")
    assert set(MIGRATIONS) == set(range(1, SCHEMA_VERSION))


def test_many_that_open_an_old_file_at_once_bring_it_up_once(tmp_path: Path) -> None:
    write_first_version(tmp_path / "runs.db")
    with ThreadPoolExecutor(8) as pool:
        opened = list(pool.map(lambda _: open_database(tmp_path / "runs.db"), range(8)))
    for database in opened:
        database.close()
    with closing(sqlite3.connect(tmp_path / "runs.db")) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)


def test_an_old_file_that_can_only_be_read_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_first_version(tmp_path / "runs.db")
    monkeypatch.setattr("affidavit.adapters.sqlite_schema.os.access", lambda *_: False)
    with pytest.raises(InputRefused, match="version 1") as refused:
        open_database(tmp_path / "runs.db")
    assert refused.value.code == "STORE_OLDER"
