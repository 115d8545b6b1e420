"""The command that takes a published answer back, and what others then say of it (L9)."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import Final, NoReturn

import anyio

from affidavit.affidavit.retraction import (
    Retraction,
    RetractionRecord,
    Word,
    check_reason,
    read_retraction,
    write_retraction,
)
from affidavit.cli.opening import head_of, login, runs_at, sealed_file
from affidavit.cli.screen import one_line, say, say_json
from affidavit.contract.errors import InputRefused
from affidavit.contract.record import format_instant
from affidavit.core.canonical import digest
from affidavit.ports.store import Store
from affidavit.wiring import retraction_sign, true_retractions

CANNOT_KNOW: Final = (
    "Whether it was retracted or superseded since, a file cannot know: ask the store that holds "
    "run {run_id}"
)


def retract(
    run_id: str, reason: str, superseded_by: str | None, store: str, *, as_json: bool
) -> NoReturn:
    """Say of a published answer that it does not stand any more; nothing of it is changed."""
    check_reason(reason, superseded_by)
    made = anyio.run(partial(_retract, run_id, reason, superseded_by, store))
    record = made.record
    if as_json:
        say_json({**record.model_dump(mode="json"), "signed": made.envelope is not None})
    else:
        say(one_line(f"{run_id} is {record.word}: {record.reason}"))
        say("Its file is unchanged, and whoever has the file alone cannot know; tell them.")
        if made.envelope is None:
            say("This retraction is not signed.")
    raise SystemExit(0)


async def _retract(run_id: str, reason: str, superseded_by: str | None, url: str) -> Retraction:
    async with runs_at(url) as store:
        file = await _file_of(store, run_id)
        before = true_retractions(await store.artifacts(run_id), file)
        other = None if superseded_by is None else await _file_of(store, superseded_by)
        if superseded_by == run_id:
            raise InputRefused(
                "nothing was retracted: no answer supersedes itself",
                code="RETRACTION_REFUSED",
                hint="name the run whose answer takes its place",
            )
        record = RetractionRecord(
            run_id=run_id,
            affidavit=digest(file),
            word=Word.RETRACTED if superseded_by is None else Word.SUPERSEDED,
            reason=reason,
            by=login(),
            at=datetime.now(UTC),
            superseded_by=superseded_by,
            superseding_affidavit=None if other is None else digest(other),
            previous=before[-1].address if before else None,
        )
        item = write_retraction(record, retraction_sign())
        await store.attach(run_id, item)
        return read_retraction(item)


async def _file_of(store: Store, run_id: str) -> bytes:
    """The run's file. Raises InputRefused for a run that has none (RUN_UNDECIDED)."""
    await head_of(store, run_id)
    file = await sealed_file(store, run_id)
    if file is None:
        raise InputRefused(
            f"run {run_id} has published nothing",
            code="RUN_UNDECIDED",
            hint=f"cancel it instead: affidavit runs cancel {run_id}",
        )
    return file


async def retractions_of(url: str, run_id: str) -> tuple[Retraction, ...]:
    """What was said of a run's answer since. Raises InputRefused (RETRACTION_UNREADABLE)."""
    async with runs_at(url) as store:
        return true_retractions(await store.artifacts(run_id), await _file_of(store, run_id))


def words_of(retractions: tuple[Retraction, ...]) -> str:
    """The newest word on one line, for a card; empty while the answer stands."""
    if not retractions:
        return ""
    record = retractions[-1].record
    instead = f"; in its place: {record.superseded_by}" if record.superseded_by else ""
    signed = "" if retractions[-1].envelope is not None else " (not signed)"
    at = format_instant(record.at.replace(microsecond=0))
    return one_line(
        f"{record.word} by {record.by} at {at}{signed}: {record.reason}{instead}. "
        "Do not rely on this answer."
    )
