"""The tables of a SQLite store, and how an older file gets them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

APPROVALS: Final = (
    """
    CREATE TABLE approvals (
        run_id TEXT NOT NULL,
        tenant TEXT NOT NULL,
        tool_call_id TEXT NOT NULL,
        tool TEXT NOT NULL,
        action_digest TEXT NOT NULL,
        shown_digest TEXT NOT NULL,
        asked_us INTEGER NOT NULL,
        expires_us INTEGER NOT NULL,
        PRIMARY KEY (run_id, tool_call_id)
    ) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX approvals_by_tenant ON approvals (tenant, asked_us)",
)
"""What waits for a person."""

SEALED_HEADS: Final = (
    """
    CREATE TABLE sealed_heads (
        tenant TEXT NOT NULL,
        number INTEGER NOT NULL,
        run_id TEXT NOT NULL UNIQUE,
        digest TEXT NOT NULL,
        previous TEXT NOT NULL,
        PRIMARY KEY (tenant, number)
    ) STRICT, WITHOUT ROWID
    """,
)
"""Every sealed run at its place among its tenant's; none of these rows ever goes."""

TABLES: Final = (
    """
    CREATE TABLE runs (
        run_id TEXT PRIMARY KEY,
        tenant TEXT NOT NULL,
        created_us INTEGER NOT NULL,
        question TEXT NOT NULL,
        state TEXT NOT NULL,
        outcome TEXT,
        paused INTEGER NOT NULL,
        wake_at_us INTEGER,
        last_seq INTEGER NOT NULL,
        last_hash TEXT NOT NULL,
        ended_us INTEGER,
        holder TEXT,
        epoch INTEGER NOT NULL,
        expires_us INTEGER NOT NULL,
        payloads_expired INTEGER NOT NULL DEFAULT 0
    ) STRICT
    """,
    "CREATE INDEX runs_by_tenant ON runs (tenant, created_us, run_id)",
    "CREATE INDEX runs_unended ON runs (created_us, run_id) WHERE ended_us IS NULL",
    "CREATE INDEX runs_unexpired ON runs (ended_us) WHERE payloads_expired = 0",
    """
    CREATE TABLE lines (
        run_id TEXT NOT NULL,
        seq INTEGER NOT NULL,
        at_us INTEGER NOT NULL,
        type TEXT NOT NULL,
        data TEXT NOT NULL,
        prev TEXT NOT NULL,
        hash TEXT NOT NULL,
        PRIMARY KEY (run_id, seq)
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE artifacts (
        run_id TEXT NOT NULL,
        digest TEXT NOT NULL,
        kind TEXT NOT NULL,
        content BLOB NOT NULL,
        PRIMARY KEY (run_id, digest, kind)
    ) STRICT
    """,
    # AUTOINCREMENT: an id that was taken in is never given to another command.
    """
    CREATE TABLE commands (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        run_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        sender TEXT NOT NULL,
        payload TEXT NOT NULL DEFAULT ''
    ) STRICT
    """,
    "CREATE INDEX commands_by_run ON commands (run_id)",
    *APPROVALS,
    *SEALED_HEADS,
)
"""A new file has these."""

MIGRATIONS: Final[Mapping[int, tuple[str, ...]]] = MappingProxyType(
    {
        1: (
            "ALTER TABLE runs ADD COLUMN wake_at_us INTEGER",
            "ALTER TABLE commands ADD COLUMN payload TEXT NOT NULL DEFAULT ''",
            *APPROVALS,
        ),
        2: SEALED_HEADS,
    }
)
"""From the version that a file has to the next one. Nothing here ever changes."""
