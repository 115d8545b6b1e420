"""Every statement that a SQLite store makes, over one connection and inside its transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, Final

from affidavit.adapters.journal_text import Row
from affidavit.adapters.standing import Standing, command_missing
from affidavit.contract.errors import RecordFailed
from affidavit.contract.states import ReleaseOutcome, RunState
from affidavit.ports.store import (
    KEPT_KINDS,
    LISTED_MAX,
    WAKING,
    Append,
    ApprovalAsk,
    Artifact,
    Command,
    PendingApproval,
    Prunable,
    RunHead,
)

EXPIRED_RUNS_PER_STEP: Final = 20
"""Runs whose payloads go in one transaction: some megabytes each, a fraction of a second."""

PAGES_PER_STEP: Final = 2_000
"""Pages given back in one transaction: 8 MB, likewise."""

_HEAD: Final = "run_id, tenant, created_us, state, outcome, last_seq, question, paused, wake_at_us"
_HEAD_COLUMNS: Final = _HEAD.count(",") + 1
_ASK: Final = "tool_call_id, tool, action_digest, shown_digest, asked_us, expires_us"
_STANDING: Final = f"{_HEAD}, last_hash, ended_us, holder, epoch, expires_us"


def load(connection: sqlite3.Connection, run_id: str) -> Standing | None:
    """Where the run stands, or None. Raises `RecordFailed` for a row that is none of ours."""
    found = connection.execute(
        f"SELECT {_STANDING} FROM runs WHERE run_id = ?",  # noqa: S608 -- our own column names
        (run_id,),
    ).fetchone()
    if found is None:
        return None
    return Standing(_head(found[:_HEAD_COLUMNS]), *found[_HEAD_COLUMNS:])


def heads(
    connection: sqlite3.Connection, tenant: str, limit: int, before: str | None = None
) -> tuple[RunHead, ...]:
    """The tenant's runs, newest first; only those after `before` where that is given."""
    page: str = ""
    values: tuple[str, ...] = ()
    if before is not None:
        page = (
            "AND (created_us, run_id) < "
            "(SELECT created_us, run_id FROM runs WHERE tenant = ? AND run_id = ?) "
        )
        values = (tenant, before)
    found = connection.execute(
        f"SELECT {_HEAD} FROM runs WHERE tenant = ? {page}"  # noqa: S608 -- our own column names
        "ORDER BY created_us DESC, run_id DESC LIMIT ?",
        (tenant, *values, max(0, min(limit, LISTED_MAX))),
    )
    return tuple(_head(row) for row in found)


def due(connection: sqlite3.Connection, now_us: int) -> tuple[str, ...]:
    """Runs that wait for a driver, oldest first."""
    waking = ", ".join("?" * len(WAKING))
    called = f"SELECT run_id FROM commands WHERE kind IN ({waking})"  # noqa: S608 -- question marks
    found = connection.execute(
        "SELECT run_id FROM runs WHERE ended_us IS NULL AND expires_us <= ? "  # noqa: S608 -- and again
        f"AND (paused = 0 OR wake_at_us <= ? OR run_id IN ({called})) "
        "ORDER BY created_us, run_id LIMIT ?",
        (now_us, now_us, *sorted(WAKING), LISTED_MAX),
    )
    return tuple(run_id for (run_id,) in found)


def insert(connection: sqlite3.Connection, standing: Standing) -> None:
    """A new run."""
    head = standing.head
    connection.execute(
        f"INSERT INTO runs ({_STANDING}) "  # noqa: S608 -- our own column names
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            head.run_id,
            head.tenant,
            head.created_us,
            str(head.state),
            None if head.outcome is None else str(head.outcome),
            head.last_seq,
            head.question,
            int(head.paused),
            head.wake_at_us,
            standing.last_hash,
            standing.ended_us,
            standing.holder,
            standing.epoch,
            standing.expires_us,
        ),
    )


def save(connection: sqlite3.Connection, standing: Standing) -> None:
    """The run as it now stands; what never changes is left alone."""
    head = standing.head
    connection.execute(
        "UPDATE runs SET state = ?, outcome = ?, last_seq = ?, paused = ?, wake_at_us = ?, "
        "last_hash = ?, ended_us = ?, holder = ?, epoch = ?, expires_us = ? WHERE run_id = ?",
        (
            str(head.state),
            None if head.outcome is None else str(head.outcome),
            head.last_seq,
            int(head.paused),
            head.wake_at_us,
            standing.last_hash,
            standing.ended_us,
            standing.holder,
            standing.epoch,
            standing.expires_us,
            head.run_id,
        ),
    )


def lines(connection: sqlite3.Connection, run_id: str) -> list[Row]:
    """The run's lines, in order."""
    return connection.execute(
        "SELECT run_id, seq, at_us, type, data, prev, hash FROM lines WHERE run_id = ? "
        "ORDER BY seq",
        (run_id,),
    ).fetchall()


def insert_lines(connection: sqlite3.Connection, new: Sequence[Row]) -> None:
    """More lines."""
    connection.executemany("INSERT INTO lines VALUES (?, ?, ?, ?, ?, ?, ?)", new)


def artifact(connection: sqlite3.Connection, run_id: str, digest: str) -> list[bytes]:
    """What is kept at that address: the same bytes for each kind they were stored as."""
    found = connection.execute(
        "SELECT content FROM artifacts WHERE run_id = ? AND digest = ?", (run_id, digest)
    )
    return [content for (content,) in found]


def artifacts(connection: sqlite3.Connection, run_id: str) -> list[Artifact]:
    """The run's artifacts, by address and kind."""
    found = connection.execute(
        "SELECT digest, kind, content FROM artifacts WHERE run_id = ? ORDER BY digest, kind",
        (run_id,),
    )
    return [Artifact(*row) for row in found]


def insert_artifacts(connection: sqlite3.Connection, run_id: str, new: Iterable[Artifact]) -> None:
    """More artifacts; one that is there already stays."""
    connection.executemany(
        "INSERT INTO artifacts VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        ((run_id, item.digest, item.kind, item.content) for item in new),
    )


def commands(connection: sqlite3.Connection, run_id: str) -> tuple[Command, ...]:
    """The run's inbox, oldest first."""
    found = connection.execute(
        "SELECT id, kind, sender, payload FROM commands WHERE run_id = ? ORDER BY id", (run_id,)
    )
    return tuple(Command(*row) for row in found)


def count_commands(connection: sqlite3.Connection, run_id: str) -> int:
    """How many commands wait for the run."""
    found = connection.execute("SELECT count(*) FROM commands WHERE run_id = ?", (run_id,))
    (waiting,) = found.fetchone()
    return int(waiting)


def insert_command(connection: sqlite3.Connection, run_id: str, word: Command) -> None:
    """One more command; the table gives it its id."""
    connection.execute(
        "INSERT INTO commands (run_id, kind, sender, payload) VALUES (?, ?, ?, ?)",
        (run_id, word.kind, word.by, word.payload),
    )


def take_commands(connection: sqlite3.Connection, run_id: str, ids: Iterable[int]) -> None:
    """Commands that lines took in. Raises `RecordFailed` for one that does not wait there."""
    for id_ in ids:
        found = connection.execute(
            "DELETE FROM commands WHERE run_id = ? AND id = ?", (run_id, id_)
        )
        if found.rowcount != 1:
            raise command_missing(run_id, (id_,))


def leave_nothing_waiting(connection: sqlite3.Connection, run_id: str) -> None:
    """The run has ended: nobody will take its commands in, and no decision about it matters."""
    connection.execute("DELETE FROM commands WHERE run_id = ?", (run_id,))
    connection.execute("DELETE FROM approvals WHERE run_id = ?", (run_id,))


def move_approvals(connection: sqlite3.Connection, head: RunHead, write: Append) -> None:
    """What waits for a person from now on, and what no longer does: mostly nothing and nobody."""
    if not (write.answered or write.asked):
        return
    connection.executemany(
        "DELETE FROM approvals WHERE run_id = ? AND tool_call_id = ?",
        ((head.run_id, tool_call_id) for tool_call_id in write.answered),
    )
    connection.executemany(
        f"INSERT OR REPLACE INTO approvals (run_id, tenant, {_ASK}) "  # noqa: S608 -- our own column names
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (
                head.run_id,
                head.tenant,
                ask.tool_call_id,
                ask.tool,
                ask.action_digest,
                ask.shown_digest,
                ask.asked_us,
                ask.expires_us,
            )
            for ask in write.asked
        ),
    )


def approvals(
    connection: sqlite3.Connection, tenant: str, limit: int
) -> tuple[PendingApproval, ...]:
    """What waits for a person in the tenant's runs, oldest first."""
    found = connection.execute(
        f"SELECT run_id, tenant, {_ASK} FROM approvals WHERE tenant = ? "  # noqa: S608 -- our own column names
        "ORDER BY asked_us, run_id, tool_call_id LIMIT ?",
        (tenant, max(0, min(limit, LISTED_MAX))),
    )
    return tuple(PendingApproval(row[0], row[1], ApprovalAsk(*row[2:])) for row in found)


def expire(connection: sqlite3.Connection, until_us: int) -> int | None:
    """Delete payloads of a few runs that ended until then; how many, or None when no run is left.

    A run is looked at once: after its end nothing can be added to it.
    """
    found = connection.execute(
        "SELECT run_id FROM runs WHERE payloads_expired = 0 AND ended_us <= ? "
        "ORDER BY ended_us LIMIT ?",
        (until_us, EXPIRED_RUNS_PER_STEP),
    ).fetchall()
    kept = ", ".join("?" * len(KEPT_KINDS))
    deleted = 0
    for (run_id,) in found:
        gone = connection.execute(
            f"DELETE FROM artifacts WHERE run_id = ? AND kind NOT IN ({kept})",  # noqa: S608 -- question marks alone
            (run_id, *sorted(KEPT_KINDS)),
        )
        deleted += gone.rowcount
        connection.execute("UPDATE runs SET payloads_expired = 1 WHERE run_id = ?", (run_id,))
    return deleted if found else None


def prunable(connection: sqlite3.Connection, until_us: int) -> Prunable:
    """What `expire` would delete of the runs that ended until then."""
    kept = ", ".join("?" * len(KEPT_KINDS))
    found = connection.execute(
        "SELECT count(DISTINCT artifacts.run_id), count(*), "  # noqa: S608 -- question marks alone
        "coalesce(sum(length(artifacts.content)), 0) "
        "FROM runs JOIN artifacts ON artifacts.run_id = runs.run_id "
        "WHERE runs.payloads_expired = 0 AND runs.ended_us <= ? "
        f"AND artifacts.kind NOT IN ({kept})",
        (until_us, *sorted(KEPT_KINDS)),
    ).fetchone()
    return Prunable(*found)


def count_attached(connection: sqlite3.Connection, run_id: str, kind: str) -> int:
    """How many of that kind stand beside a run that has ended."""
    (count,) = connection.execute(
        "SELECT count(*) FROM artifacts WHERE run_id = ? AND kind = ?", (run_id, kind)
    ).fetchone()
    return int(count)


def give_back_pages(connection: sqlite3.Connection) -> bool:
    """Cut some free pages off the file; whether that got anywhere and there are more.

    It gets nowhere in a file that some tool has rewritten without incremental auto-vacuum.
    """
    before = _free_pages(connection)
    connection.execute(f"PRAGMA incremental_vacuum({PAGES_PER_STEP})").fetchall()
    return 0 < _free_pages(connection) < before


def shorten_log(connection: sqlite3.Connection) -> None:
    """Move the log into the file and empty it; where a reader is in the way, later."""
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _free_pages(connection: sqlite3.Connection) -> int:
    (free,) = connection.execute("PRAGMA freelist_count").fetchone()
    return int(free)


def _head(row: Sequence[Any]) -> RunHead:
    run_id, tenant, created_us, state, outcome, last_seq, question, paused, wake_at_us = row
    try:
        return RunHead(
            run_id=run_id,
            tenant=tenant,
            created_us=created_us,
            state=RunState(state),
            outcome=None if outcome is None else ReleaseOutcome(outcome),
            last_seq=last_seq,
            question=question,
            paused=bool(paused),
            wake_at_us=wake_at_us,
        )
    except ValueError as error:
        raise RecordFailed(
            f"the store's row of run {run_id} is not what was written: {error}",
            code="STORE_DAMAGED",
            hint="the journal is still there: affidavit timeline shows it",
        ) from error
