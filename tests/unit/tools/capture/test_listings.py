"""Rows as they were recorded: changes, lines, samples, and pages of knowledge."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from affidavit.adapters.incident_folder import load_incident
from affidavit.contract.errors import InputRefused
from affidavit.contract.evidence import Line, Row, Value
from affidavit.contract.states import Emitter, EvidenceClass
from affidavit.ports.telemetry import Page
from affidavit.tools.capture import capture_catalogue
from affidavit.tools.capture.knowledge import find_passages
from affidavit.tools.capture.listings import EVENTS_MAX, LINES_MAX, SLICES_MAX
from tests.support.incidents import (
    START,
    call,
    jsonl,
    log_row,
    metrics_csv,
    quiet,
    stamp,
    write_folder,
)

pytestmark = pytest.mark.anyio


def event(minute: float, body: str, **more: str) -> dict[str, str | int | float | None]:
    return {"timestamp": stamp(minute), "event_name": "deploy", "body": body, **more}


@pytest.mark.spec("C13")
async def test_changes_up_to_the_windows_end_are_listed_latest_first(tmp_path: Path) -> None:
    rows = [
        event(-2000, "long ago"),
        event(-20, "shop 2.1", service_name="shop", id="chg-1", attributes='{"version": "2.1"}'),
        event(5, "cart 9"),
        event(15, "after the window"),
    ]
    write_folder(tmp_path, events_jsonl=jsonl(rows))
    with load_incident(tmp_path) as loaded:
        found = await call(loaded, "change_events")
        of_shop = await call(loaded, "change_events", {"service": "shop"})
    assert found.evidence_class is EvidenceClass.CHANGE
    facts = [fact for fact in found.facts if isinstance(fact, Row)]
    assert [{c.name: c.text for c in fact.cells}["body"] for fact in facts] == [
        "cart 9",
        "shop 2.1",
    ]
    assert (facts[1].subject, facts[1].at) == ("shop", START - timedelta(minutes=20))
    assert of_shop.facts == (facts[1],)


async def test_more_changes_than_the_bound_are_declared(tmp_path: Path) -> None:
    write_folder(tmp_path, events_jsonl=jsonl([event(-n / 10, f"n {n}") for n in range(80)]))
    with load_incident(tmp_path) as loaded:
        found = await call(loaded, "change_events")
    assert (found.count, found.total, found.truncated) == (EVENTS_MAX, 80, True)


async def test_a_search_finds_the_text_in_any_case_and_nothing_else(tmp_path: Path) -> None:
    rows = [
        log_row(2, "Pool EXHAUSTED, 100% in use", emitter="request"),
        log_row(1, "pool exhausted"),
        log_row(3, "pool_exhausted"),
        log_row(-1, "pool exhausted before"),
        log_row(4, "pool exhausted", service_name="cart"),
    ]
    write_folder(tmp_path, logs_jsonl=jsonl(rows))
    with load_incident(tmp_path) as loaded:
        found = await call(loaded, "log_search", {"text": "pool exhausted", "service": "checkout"})
        odd = await call(loaded, "log_search", {"text": "100%"})
    lines = [fact for fact in found.facts if isinstance(fact, Line)]
    assert [line.text for line in lines] == ["pool exhausted", "Pool EXHAUSTED, 100% in use"]
    assert lines[1].emitter is Emitter.REQUEST
    assert odd.count == 1


async def test_lines_beyond_the_bound_are_declared(tmp_path: Path) -> None:
    write_folder(tmp_path, logs_jsonl=jsonl([log_row(n / 100, f"down {n}") for n in range(90)]))
    with load_incident(tmp_path) as loaded:
        found = await call(loaded, "log_search", {"text": "down"})
    assert (found.count, found.total, found.truncated) == (LINES_MAX, 90, True)


async def test_a_series_is_told_in_equal_slices(tmp_path: Path) -> None:
    samples = [(n / 10, float(n)) for n in range(100)]
    write_folder(tmp_path, metrics_csv=metrics_csv({"shop depth mean": samples}, "1"))
    with load_incident(tmp_path) as loaded:
        found = await call(loaded, "series", {"service": "shop", "metric": "depth"})
    values = [fact for fact in found.facts if isinstance(fact, Value)]
    assert len(values) == SLICES_MAX == found.total
    assert values[0].at == START
    assert values[0].quantity is not None
    assert values[0].quantity.number == Decimal("1.5")


@pytest.mark.spec("C13", "N17")
async def test_knowledge_is_guidance_and_the_best_paragraph_comes_first(tmp_path: Path) -> None:
    write_folder(tmp_path, metrics_csv=metrics_csv({"shop depth mean": quiet(range(-9, 9))}))
    (tmp_path / "knowledge").mkdir()
    page = "# Pools\\n\\nA pool that is exhausted waits.\\n\\n# Disks\\n\\nFull disks fail.\\n"
    (tmp_path / "knowledge" / "runbook.md").write_text(page.replace("\\n", "\n"))
    (tmp_path / "knowledge" / "notes.txt").write_text("exhausted pool")
    with load_incident(tmp_path) as loaded:
        found = await call(loaded, "knowledge", {"query": "exhausted pool"})
    assert found.evidence_class is EvidenceClass.GUIDANCE
    (line,) = found.facts
    assert isinstance(line, Line)
    assert (line.subject, line.text) == ("runbook.md", "A pool that is exhausted waits.")


async def test_without_pages_there_is_no_such_tool(tmp_path: Path) -> None:
    write_folder(tmp_path, logs_jsonl=jsonl([log_row(1, "fine")]))
    with load_incident(tmp_path) as loaded:
        assert "knowledge" not in capture_catalogue(loaded).tools


def test_a_page_that_is_a_link_is_refused(tmp_path: Path) -> None:
    write_folder(tmp_path)
    (tmp_path / "knowledge").mkdir()
    (tmp_path / "knowledge" / "x.md").symlink_to("/etc/hostname")
    with pytest.raises(InputRefused, match="link"):
        load_incident(tmp_path)


def test_a_heading_belongs_to_the_paragraphs_below_it() -> None:
    page = Page("a.md", "# Queue\n\nIt fills.\n\nIt drains.\n\n# Cache\n\nIt is cold.")
    found = find_passages([page], "queue")
    assert [passage.text for passage in found] == ["It fills.", "It drains."]
    assert find_passages([page], "lock") == ()
