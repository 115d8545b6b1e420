"""The playbook over whole incidents: what it writes is published, and every sentence is proved."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from affidavit.adapters.memory_store import MemoryStore
from affidavit.contract.report import ReleaseRecord
from affidavit.diagnose import drive, start
from affidavit.wiring import incident_world, request_of
from tests.support.incidents import jsonl, log_row, metrics_csv, quiet, stamp, write_folder
from tests.unit.tools.capture.test_comparisons import CLIENT, SHOP, WEB, traces

pytestmark = pytest.mark.anyio

INCIDENT: Final = """\
id: slow-web
title: web is slow
question: Why is web slow since 10:00 UTC?
window: {start: 2026-03-02T10:00:00Z, end: 2026-03-02T10:10:00Z}
symptom: {service: web, signal: latency}
"""
CHAIN: Final = (WEB, CLIENT, SHOP)
SLOW_EDGE: Final = (("web", "GET /", 330_000), ("web", "call shop", 320_000), SHOP)
SLOW_SHOP: Final = (*SLOW_EDGE[:2], ("shop", "list", 318_000))
REFUSED: Final = (WEB, ("web", "call shop", 200))


def cpu(level: float) -> str:
    """A cpu that steps up two minutes into the window, beside one that does not."""
    risen = [*quiet(range(-30, 2), 10), *[(at, level) for at in range(2, 10)]]
    series = {"shop process.cpu mean": risen, "web process.cpu mean": quiet(range(-30, 10), 9)}
    return metrics_csv(series, "%")


def lines() -> str:
    """Orders as usual, and from the window on a failure of the shop's own."""
    usual = [log_row(at, f"order {at} done", "INFO", service_name="shop") for at in range(-20, 10)]
    failed = [log_row(at / 2, f"no stock of {at}", service_name="shop") for at in range(18)]
    return jsonl([*usual, *failed])


def changed() -> str:
    """A deploy and a flag."""
    made = (("deploy", "shop 2.1 (was 2.0): new stock table"), ("flag", "spring banner on"))
    return jsonl(
        {"timestamp": stamp(-3), "event_name": kind, "body": body, "service_name": "shop"}
        for kind, body in made
    )


KINDS: Final[Mapping[str, Mapping[str, str]]] = {
    "a slow edge": {"traces_jsonl": traces(CHAIN, SLOW_EDGE)},
    "slow work": {"traces_jsonl": traces(CHAIN, SLOW_SHOP), "metrics_csv": cpu(90)},
    "failing work": {"traces_jsonl": traces(CHAIN, CHAIN, "ERROR"), "logs_jsonl": lines()},
    "refused calls": {"traces_jsonl": traces(CHAIN, REFUSED, "ERROR")},
    "a busy cpu": {"metrics_csv": cpu(95), "events_jsonl": changed()},
}


async def diagnose(folder: Path) -> ReleaseRecord:
    """The one public answer of the embedded agent over a folder."""
    async with incident_world(folder, MemoryStore()) as (world, incident):
        request = request_of(incident, folder)
        await start(world, request)
        release = await drive(request.run_id, world)
    assert isinstance(release, ReleaseRecord)
    return release


@pytest.mark.spec("C10", "D1")
@pytest.mark.parametrize("kind", KINDS)
async def test_each_kind_of_fault_is_located_and_said_in_proved_sentences(
    tmp_path: Path, kind: str
) -> None:
    write_folder(tmp_path, INCIDENT, **KINDS[kind])
    release = await diagnose(tmp_path)
    result = release.result
    assert result is not None, release.fallback
    assert result.conclusion.text.startswith(("shop is abnormal: ", "At shop, "))
    assert result.withdrawn == 0


@pytest.mark.spec("D6")
async def test_a_quiet_system_and_its_changes_are_no_conclusion(tmp_path: Path) -> None:
    files = {"traces_jsonl": traces(CHAIN, CHAIN), "metrics_csv": cpu(10.2)}
    write_folder(tmp_path, INCIDENT, events_jsonl=changed(), **files)
    release = await diagnose(tmp_path)
    assert release.decision == "D6"
    assert release.result is None
