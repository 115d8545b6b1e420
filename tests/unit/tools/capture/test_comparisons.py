"""The comparisons as tools: facts with units, the rule in the notes, and three kinds of answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from affidavit.adapters.incident_folder import load_incident
from affidavit.contract.errors import ToolFailed
from affidavit.contract.evidence import Change, Edge, Envelope, Line, Onset, Value
from affidavit.contract.states import EvidenceStatus
from affidavit.ports.telemetry import Aspect, aspect_of
from affidavit.tools.capture import capture_catalogue
from affidavit.tools.capture.log_shifts import EXCESS
from tests.support.incidents import (
    START,
    Cell,
    call,
    jsonl,
    log_row,
    metrics_csv,
    quiet,
    stamp,
    write_folder,
)

pytestmark = pytest.mark.anyio

BY_SIGNAL = {
    "metrics": ("resource_shifts", "level_shifts", "metric_scan", "series", "window_comparison"),
    "traces": ("trace_edges", "self_time", "error_spans", "interruptions"),
    "logs": ("error_rise", "template_changes", "error_logs", "log_search"),
    "events": ("change_events",),
}
ARGUMENTS: Mapping[str, Mapping[str, object]] = {
    "series": {"service": "shop", "metric": "cpu"},
    "log_search": {"text": "down"},
    "window_comparison": {
        "healthy": {"start": "2026-03-02T09:00:00Z", "end": "2026-03-02T09:20:00Z"}
    },
}

Span = tuple[str, str, int]
"""Service, operation, microseconds."""


def trace(
    number: int, minute: float, *chain: Span, status: str = "UNSET"
) -> Iterator[Mapping[str, Cell]]:
    """Spans, each the child of the one before; the last one has the status."""
    for place, (service, name, duration_us) in enumerate(chain):
        yield {
            "trace_id": f"t{number}",
            "span_id": f"t{number}.{place}",
            "parent_span_id": f"t{number}.{place - 1}" if place else "",
            "service_name": service,
            "name": name,
            "timestamp": stamp(minute),
            "duration_us": duration_us,
            "status_code": status if place == len(chain) - 1 else "UNSET",
        }


def traces(before: tuple[Span, ...], after: tuple[Span, ...], status: str = "UNSET") -> str:
    """Sixteen requests a minute, ten minutes before and five within."""
    rows: list[Mapping[str, Cell]] = []
    for number in range(240):
        minute = (number - 160) / 16
        chain = before if minute < 0 else after
        rows += trace(number, minute, *chain, status=status if minute >= 0 else "UNSET")
    return jsonl(rows)


WEB = ("web", "GET /", 30_000)
CLIENT = ("web", "call shop", 20_000)
SHOP = ("shop", "list", 18_000)


async def ask(folder: Path, tool: str, **files: str) -> Envelope:
    """The answer of a tool over a folder with these files."""
    write_folder(folder, **files)
    with load_incident(folder) as loaded:
        return await call(loaded, tool, ARGUMENTS.get(tool))


def changes(envelope: Envelope) -> dict[str, Change]:
    return {fact.subject: fact for fact in envelope.facts if isinstance(fact, Change)}


async def test_cpu_that_rose_is_a_change_with_its_onset(tmp_path: Path) -> None:
    samples = [*quiet(range(-30, 3), 10), *[(at, 60.0) for at in range(3, 10)]]
    found = await ask(
        tmp_path, "resource_shifts", metrics_csv=metrics_csv({"shop cpu mean": samples}, "%")
    )
    change, onset = found.facts
    assert isinstance(change, Change)
    assert isinstance(onset, Onset)
    assert change.before.number == 10
    assert change.after.number == 60
    assert change.after.unit == "%"
    assert change.anomalous
    assert change.score is not None
    assert change.score > 20
    assert onset.earliest == START + timedelta(minutes=2)
    assert onset.latest == START + timedelta(minutes=3)
    assert "rule:" in found.notes[0]


@pytest.mark.spec("T4")
async def test_each_series_is_judged_by_one_rule(tmp_path: Path) -> None:
    names = ("cpu", "latency", "error_ratio", "queue_depth", "system.cpu")
    series = {
        f"shop {name} mean": [*quiet(range(-30, 2), 10), *[(at, 90.0) for at in range(2, 10)]]
        for name in names
    }
    judged: dict[str, list[str]] = {name: [] for name in names}
    write_folder(tmp_path, metrics_csv=metrics_csv(series, "%"))
    with load_incident(tmp_path) as loaded:
        for tool in ("resource_shifts", "level_shifts", "metric_scan"):
            for fact in (await call(loaded, tool)).facts:
                if isinstance(fact, Change):
                    judged[fact.attribute].append(tool)
    assert judged == {
        "cpu": ["resource_shifts"],
        "latency": ["level_shifts"],
        "error_ratio": ["level_shifts"],
        "queue_depth": ["metric_scan"],
        "system.cpu": ["metric_scan"],
    }


def test_a_name_tells_what_a_series_measures() -> None:
    for name, aspect in {
        "process.cpu.utilization": Aspect.CPU,
        "jvm.heap.used": Aspect.MEMORY,
        "http.client.request.duration": Aspect.CLIENT_LATENCY,
        "http.server.request.duration": Aspect.LATENCY,
        "up": Aspect.AVAILABILITY,
        "startup_seconds": Aspect.OTHER,
        "pod_success_rate": Aspect.AVAILABILITY,
        "requests_failed_total": Aspect.ERRORS,
        "system.memory.usage": Aspect.OTHER,
    }.items():
        assert aspect_of(name) is aspect, name


async def test_a_slow_edge_is_a_change_of_both_its_ends_with_an_onset(tmp_path: Path) -> None:
    slow = (("web", "GET /", 330_000), ("web", "call shop", 320_000), SHOP)
    found = await ask(tmp_path, "trace_edges", traces_jsonl=traces((WEB, CLIENT, SHOP), slow))
    assert set(changes(found)) == {"web", "shop"}
    change = changes(found)["shop"]
    assert change.attribute == "transit time from web"
    assert (change.before.number, change.after.number) == (Decimal(2), Decimal(302))
    assert change.after.unit == "ms"
    assert change.anomalous
    assert [fact for fact in found.facts if isinstance(fact, Edge)] == [
        Edge(source="web", target="shop")
    ]
    onsets = [fact for fact in found.facts if isinstance(fact, Onset)]
    assert {onset.subject for onset in onsets} == {"web", "shop"}
    assert all(abs(onset.latest - START) <= timedelta(seconds=60) for onset in onsets)


async def test_a_service_that_works_longer_is_told_by_its_operation(tmp_path: Path) -> None:
    slow = (("web", "GET /", 330_000), ("web", "call shop", 320_000), ("shop", "list", 318_000))
    found = await ask(tmp_path, "self_time", traces_jsonl=traces((WEB, CLIENT, SHOP), slow))
    change = next(iter(changes(found).values()))
    assert (change.subject, change.attribute, change.statistic) == (
        "shop",
        "self time of list",
        "p75",
    )
    assert change.before.number == 18
    assert change.after.number == 318
    assert change.after.unit == "ms"


async def test_failed_spans_are_told_in_percent_where_they_begin(tmp_path: Path) -> None:
    chain = (WEB, CLIENT, SHOP)
    found = await ask(tmp_path, "error_spans", traces_jsonl=traces(chain, chain, "ERROR"))
    (change,) = found.facts
    assert isinstance(change, Change)
    assert (change.subject, change.attribute) == ("shop", "failed spans of list")
    assert change.before.number == 0
    assert change.after.number == 100
    assert change.after.unit == "%"


async def test_a_call_that_never_arrived_is_its_callees(tmp_path: Path) -> None:
    refused = (WEB, ("web", "call shop", 200))
    files = traces((WEB, CLIENT, SHOP), refused, "ERROR")
    for tool in ("error_spans", "interruptions"):
        found = await ask(tmp_path, tool, traces_jsonl=files)
        change = changes(found)["shop"]
        assert change.anomalous
        assert "web" not in changes(found)
    assert change.attribute == "share of call shop calls of web that arrived"
    assert change.before.number == 100
    assert change.after.number == 0
    assert change.after.unit == "%"


async def test_a_call_whose_caller_waited_in_vain_may_be_either_ones(tmp_path: Path) -> None:
    waited = (("web", "GET /", 1_010_000), ("web", "call shop", 1_000_000))
    files = traces((WEB, CLIENT, SHOP), waited, "ERROR")
    failed = await ask(tmp_path, "error_spans", traces_jsonl=files)
    assert set(changes(failed)) == {"web", "shop"}
    lost = await ask(tmp_path, "interruptions", traces_jsonl=files)
    assert changes(lost)["web"].score == changes(lost)["shop"].score


async def test_a_services_error_lines_are_weighed_against_its_activity(tmp_path: Path) -> None:
    rows = [log_row(at, f"order {at} done", "INFO") for at in range(-10, 10)]
    rows += [log_row(at / 2, f"no stock of {at}") for at in range(12)]
    found = await ask(tmp_path, "error_rise", logs_jsonl=jsonl(rows))
    value, line = found.facts
    assert isinstance(value, Value)
    assert isinstance(line, Line)
    assert (value.subject, value.attribute) == ("checkout", EXCESS)
    assert (line.subject, line.count) == ("checkout", 12)
    assert line.text.startswith("no stock of")


async def test_a_kind_of_line_that_vanished_is_a_change_and_errors_are_left_out(
    tmp_path: Path,
) -> None:
    rows = [log_row(at, f"order {at} read", "INFO") for at in range(-10, 10)]
    rows += [log_row(at, f"order {at} paid", "INFO") for at in range(-10, 0)]
    rows += [log_row(at, f"order {at} lost") for at in range(10)]
    found = await ask(tmp_path, "template_changes", logs_jsonl=jsonl(rows))
    (change,) = found.facts
    assert isinstance(change, Change)
    assert (change.attribute, change.direction) == ("lines like: order # paid", "down")
    assert change.before.number == 10
    assert change.after.number == 0
    assert change.after.unit == "{line}"


@pytest.mark.spec("T4")
@pytest.mark.fault("R15")
async def test_a_table_that_is_not_there_is_no_empty_answer(tmp_path: Path) -> None:
    logs = jsonl([log_row(1, "fine", "INFO")])
    metrics = metrics_csv({"shop depth mean": quiet(range(-9, 9))})
    write_folder(tmp_path / "lines", logs_jsonl=logs)
    write_folder(tmp_path / "series", metrics_csv=metrics)
    for folder, there in (("lines", "logs"), ("series", "metrics")):
        with load_incident(tmp_path / folder) as loaded:
            for tool in [t for name, tools in BY_SIGNAL.items() if name != there for t in tools]:
                with pytest.raises(ToolFailed) as failed:
                    await call(loaded, tool, ARGUMENTS.get(tool))
                assert failed.value.code == "SOURCE_UNAVAILABLE", tool


def rows_of_nothing() -> Iterable[tuple[str, str]]:
    """A table of each signal in which nothing deviates, and none of what is looked for."""
    chain = (WEB, CLIENT, SHOP)
    yield "metrics_csv", metrics_csv({"web depth mean": []})
    yield "traces_jsonl", traces(chain, chain)
    yield "logs_jsonl", jsonl([log_row(1, "fine", "INFO")])
    event = {"timestamp": stamp(90), "event_name": "deploy", "body": "later"}
    yield "events_jsonl", jsonl([event])


@pytest.mark.spec("T4", "G9")
async def test_nothing_found_is_no_evidence(tmp_path: Path) -> None:
    write_folder(tmp_path, **dict(rows_of_nothing()))
    with load_incident(tmp_path) as loaded:
        for tool in ("resource_shifts", "level_shifts", "trace_edges", "error_spans",
                     "interruptions", "error_rise", "template_changes", "error_logs", "log_search",
                     "change_events", "series"):  # fmt: skip
            found = await call(loaded, tool, ARGUMENTS.get(tool))
            assert found.status is EvidenceStatus.NO_EVIDENCE, tool
            assert found.facts == (), tool


@pytest.mark.spec("H9")
async def test_every_capture_tool_only_reads(tmp_path: Path) -> None:
    write_folder(tmp_path, logs_jsonl=jsonl([log_row(1, "fine", "INFO")]))
    with load_incident(tmp_path) as loaded:
        catalogue = capture_catalogue(loaded)
    assert {spec.effect for spec in catalogue.specs()} == {"read"}
    assert {tool for tools in BY_SIGNAL.values() for tool in tools} | {"topology"} == set(
        catalogue.tools
    )


def test_every_tool_stands_in_the_documentation() -> None:
    page = (Path(__file__).parents[4] / "docs" / "tools.md").read_text(encoding="utf-8")
    listed = {line.split("`")[1] for line in page.splitlines() if line.startswith("| `")}
    known = {tool for tools in BY_SIGNAL.values() for tool in tools}
    assert listed == known | {"topology", "knowledge"}
