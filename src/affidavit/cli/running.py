"""The commands over the runs of this machine: list, show, cancel, pause."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final, Literal, NoReturn

import anyio

from affidavit.cli.answer import show_release, show_undecided
from affidavit.cli.opening import head_of, request_of_run, runs_at, settings_in_force
from affidavit.cli.screen import one_line, say, say_json, tell
from affidavit.contract.errors import InputRefused
from affidavit.contract.ids import LOCAL_TENANT
from affidavit.contract.record import format_instant
from affidavit.contract.report import ReleaseRecord
from affidavit.core.fold import RunView, fold
from affidavit.diagnose import stored_release
from affidavit.ports.store import RunHead, Store

LISTED: Final = 50
"""Runs on one screen or two; `--json` lists as many."""

QUESTION_MAX: Final = 120
"""Characters of a question in the list: one run stays about one line."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

Ask = Literal["cancel", "pause"]


def list_runs(store: str, *, as_json: bool) -> NoReturn:
    """The newest runs, newest first."""
    heads = anyio.run(partial(_heads, store))
    if as_json:
        say_json({"runs": [_head_json(head) for head in heads]})
    for head in () if as_json else heads:
        word = str(head.outcome or ("PAUSED" if head.paused else head.state))
        say(one_line(f"{head.run_id}  {_created(head)}  {word:<9}  {_short(head.question)}"))
    raise SystemExit(0)


def _short(question: str) -> str:
    """The question in at most `QUESTION_MAX` characters; `--json` has it whole."""
    return question if len(question) <= QUESTION_MAX else f"{question[: QUESTION_MAX - 1]}…"


async def _heads(store: str) -> Sequence[RunHead]:
    async with runs_at(store) as runs:
        return await runs.runs(LOCAL_TENANT, LISTED)


def _created(head: RunHead) -> str:
    moment = _EPOCH + timedelta(microseconds=head.created_us)
    return format_instant(moment.replace(microsecond=0))


def _head_json(head: RunHead) -> dict[str, object]:
    return {
        "run_id": head.run_id,
        "created_at": _created(head),
        "run_state": str(head.state),
        "outcome": None if head.outcome is None else str(head.outcome),
        "paused": head.paused,
        "question": head.question,
    }


def show_run(run_id: str, store: str, *, as_json: bool) -> NoReturn:
    """The answer of a run, or where it stands; exits as `diagnose` does, 6 without an answer."""
    head, release, view = anyio.run(partial(_standing, run_id, store))
    if release is not None:
        raise SystemExit(show_release(release, None, as_json=as_json))
    raise SystemExit(show_undecided(head, view, as_json=as_json))


async def _standing(run_id: str, store: str) -> tuple[RunHead, ReleaseRecord | None, RunView]:
    async with runs_at(store) as runs:
        release = await stored_release(runs, run_id)
        head = await head_of(runs, run_id)
        return head, release, fold(await runs.read(run_id))


@dataclass(frozen=True, slots=True)
class Asked:
    """What became of a word: whether a driver is there to hear it, and the outcome if it ended."""

    driven: bool
    outcome: str | None = None


def ask_run(run_id: str, ask: Ask, store: str, *, as_json: bool) -> NoReturn:
    """Leave a word for whoever drives the run, in this process or another."""
    asked = anyio.run(partial(_ask, run_id, ask, store))
    if as_json:
        say_json({"run_id": run_id, "asked": ask, **asdict(asked)})
    else:
        say(f"{run_id}: {_become(asked, ask, run_id)}")
    raise SystemExit(0)


def _become(asked: Asked, ask: Ask, run_id: str) -> str:
    if asked.outcome is not None:
        return f"nobody drove it; it has ended as {asked.outcome}"
    if asked.driven:
        return f"{ask} asked; its driver takes it in at once, if that process is alive"
    if ask == "pause":
        return "nobody drives it; it waits already"
    return f"{ask} asked; it ends with the next: affidavit runs resume {run_id}"


async def _ask(run_id: str, ask: Ask, store: str) -> Asked:
    async with runs_at(store) as runs:
        head = await head_of(runs, run_id)
        if ask == "pause" and (head.paused or await _is_due(runs, run_id)):
            return Asked(driven=False)
        await runs.post(run_id, ask, "local")
        if not await _is_due(runs, run_id):
            return Asked(driven=True)
        return await _end(runs, run_id)


async def _is_due(runs: Store, run_id: str) -> bool:
    """Whether the run waits for a driver."""
    now_us = (datetime.now(UTC) - _EPOCH) // timedelta(microseconds=1)
    return run_id in await runs.due(now_us)


async def _end(runs: Store, run_id: str) -> Asked:
    """Drive a cancelled run to its end, if its incident is still there; nothing is executed."""
    from affidavit.diagnose import drive
    from affidavit.wiring import LiveOrder, world_again

    try:
        request = await request_of_run(runs, run_id)
        order = LiveOrder(request, settings_in_force(), os.environ, probe=False)
        async with world_again(order, runs) as world:
            driven = await drive(run_id, world)
    except InputRefused as refused:
        if refused.code == "RUN_BUSY":
            return Asked(driven=True)
        tell(f"it cannot be ended here: {refused.message}")
        return Asked(driven=False)
    outcome = driven.outcome if isinstance(driven, ReleaseRecord) else None
    return Asked(driven=False, outcome=None if outcome is None else str(outcome))
