"""The command that deletes what has outlived its time (C2)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Final, NoReturn

import anyio

from affidavit.cli.opening import runs_at, settings_in_force
from affidavit.cli.screen import say, say_json
from affidavit.core.chain import to_us
from affidavit.ports.store import Prunable

_UNITS: Final = ((1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB"))


@dataclass(frozen=True, slots=True)
class _Pruned:
    due: Prunable
    deleted: int | None


def prune(store: str, *, yes: bool, as_json: bool) -> NoReturn:
    """Delete payloads whose time is over, or say what would go."""
    live_us = settings_in_force().retention.payloads_us
    done = anyio.run(partial(_prune, store, live_us, yes))
    due, hours = done.due, live_us / 3_600_000_000
    if as_json:
        say_json(
            {
                "runs": due.runs,
                "payloads": due.artifacts,
                "bytes": due.content_bytes,
                "lives_s": live_us // 1_000_000,
                "deleted": done.deleted,
            }
        )
    elif not due.artifacts:
        say(f"nothing to delete: payloads live {hours:g} h after the end of their run")
    else:
        runs = f"{due.runs} run{'s' if due.runs > 1 else ''}"
        what = f"{due.artifacts} payloads ({_size(due.content_bytes)}) of {runs}"
        done_words = "deleted" if yes else "would delete"
        say(f"{done_words} {what} that ended more than {hours:g} h ago")
        say("answers, affidavit files, journals and retractions stay")
        if not yes:
            say("do it: affidavit runs prune --yes")
    raise SystemExit(0)


async def _prune(url: str, live_us: int, yes: bool) -> _Pruned:
    async with runs_at(url) as store:
        now_us = to_us(datetime.now(UTC))
        due = await store.prunable(now_us, live_us)
        return _Pruned(due, await store.expire_artifacts(now_us, live_us) if yes else None)


def _size(content_bytes: int) -> str:
    for size, unit in _UNITS:
        if content_bytes >= size:
            return f"{content_bytes / size:.1f} {unit}"
    return f"{content_bytes} bytes"
