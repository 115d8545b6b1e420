"""Takes alerts into the store at argv[1]: five of each of twenty groups, from argv[2] on."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path

import anyio

from affidavit.adapters.backend_tables import Backends
from affidavit.adapters.sqlite_incidents import SqliteIncidents
from affidavit.adapters.sqlite_store import SqliteStore
from affidavit.adapters.system_clock import SystemClock
from affidavit.application.alerts import AlertRules, read_alertmanager
from affidavit.application.incidents import AlertDesk, take_alerts
from affidavit.contract.agent import AgentRequest
from affidavit.diagnose import start
from affidavit.settings import Settings
from affidavit.wiring import LiveOrder, live_world, new_run_id

GROUPS, EACH = 20, 5


async def take(path: Path, sender: str) -> None:
    store, book = SqliteStore(path), SqliteIncidents(path)
    files = {"files": {"logs": {"signal": "logs", "paths": ("/nowhere/*.jsonl",)}}}
    settings = Settings(backends=Backends.model_validate(files))

    async def begin(request: AgentRequest) -> None:
        async with live_world(LiveOrder(request, settings, {}, probe=False), store) as (world, _):
            await start(world, request)

    desk = AlertDesk(book, store, AlertRules(), begin, new_run_id, SystemClock())
    now = datetime.now(UTC).isoformat()
    for number in range(GROUPS * EACH):
        labels = {"alertname": "A", "service": f"s{number % GROUPS}", "pod": f"{sender}{number}"}
        payload = json.dumps([{"labels": labels, "startsAt": now}]).encode()
        await take_alerts(desk, read_alertmanager(payload), "acme")
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()
    await book.close()
    await store.close()


if __name__ == "__main__":
    anyio.run(take, Path(sys.argv[1]), sys.argv[2])
