"""What is measured: the text page, traces, /proc, and the alert at the edge."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from affidavit.lab.alarm import PASSES, EdgeAlarm
from affidavit.lab.instruments import DURATION, ERROR_RATIO, EXPOSED, QUEUE_DEPTH, REQUESTS
from affidavit.lab.nodes.telemetry import Span, Telemetry, Trace, describe_crash, quantile
from affidavit.lab.scrape import read_page, read_usage


@pytest.fixture
def telemetry(tmp_path: Path) -> Iterator[Telemetry]:
    """The telemetry of one process, its files in the test's folder."""
    made = Telemetry(tmp_path, "orders", "orders-1")
    yield made
    made.close()


def test_a_text_page_reads_back_as_it_was_measured(telemetry: Telemetry) -> None:
    """Counter, gauge and summary survive the Prometheus text format."""
    telemetry.count(REQUESTS, 3)
    telemetry.gauge(QUEUE_DEPTH, lambda: 7)
    for value in (10.0, 20.0, 30.0, 40.0):
        telemetry.observe(DURATION, value)
    page = read_page(telemetry.exposition())
    assert page[REQUESTS.exposed, None] == 3
    assert page[QUEUE_DEPTH.exposed, None] == 7
    assert page[DURATION.exposed, "0.5"] == 20.0
    assert page[DURATION.exposed, "0.95"] == 40.0


def test_a_summary_without_observations_shows_no_quantile(telemetry: Telemetry) -> None:
    """Nobody came, so nobody waited: a gap, not a zero."""
    assert read_page(telemetry.exposition()) == {}


def test_lines_that_no_instrument_knows_are_left_out() -> None:
    """A page may hold more than the table."""
    assert read_page("unknown_total 3\n# HELP x\nbroken\n") == {}


def test_exposed_names_lead_back_to_one_instrument_each() -> None:
    """The table is the way back from the page."""
    assert all(EXPOSED[name].exposed == name for name in EXPOSED)
    assert len({instrument.name for instrument in EXPOSED.values()}) == len(EXPOSED)


@pytest.mark.parametrize(
    ("values", "q", "expected"),
    [([1.0], 0.95, 1.0), ([1.0, 2.0], 0.5, 1.0), ([float(n) for n in range(1, 101)], 0.95, 95.0)],
)
def test_a_quantile_is_a_value_that_occurred(
    values: list[float], q: float, expected: float
) -> None:
    """Nearest rank: no interpolation between requests."""
    assert quantile(values, q) == expected


def test_a_trace_survives_the_header() -> None:
    """W3C Trace Context: the callee's parent is the caller's span."""
    span = Trace.begin(sampled=True).child()
    assert Trace.read(span.header) == span
    assert span.child().trace_id == span.trace_id
    assert span.child().span_id != span.span_id


@pytest.mark.parametrize(
    "header", [None, "", "00-abc", "01-" + "a" * 32 + "-" + "b" * 16 + "-01", "00-a-b-01"]
)
def test_a_header_that_is_no_trace_begins_a_new_one(header: str | None) -> None:
    """Garbage from a caller is no parent."""
    assert Trace.read(header) is None


def test_only_sampled_traces_are_written(telemetry: Telemetry, tmp_path: Path) -> None:
    """Head sampling: an unsampled request leaves no span, and no trace id in its log line."""
    for sampled in (True, False):
        trace = Trace.begin(sampled=sampled).child()
        telemetry.record(Span(trace, None, "GET /x", "SERVER", 1, 2, "boom" if sampled else None))
        telemetry.log("INFO", "said", trace)
    spans, logs = (
        [
            json.loads(line)
            for line in (tmp_path / f"orders-1.{signal}.jsonl").read_text().split("\n")[:-1]
        ]
        for signal in ("traces", "logs")
    )
    assert [(span["status_code"], span["status_message"]) for span in spans] == [("ERROR", "boom")]
    assert [bool(log["trace_id"]) for log in logs] == [True, False]


def test_a_crash_is_described_without_a_path() -> None:
    """A log line of a recording must not tell on whose machine it was made."""
    try:
        int("two")
    except ValueError as error:
        text = describe_crash(error)
    assert text.startswith("Traceback")
    assert 'File "test_measuring.py"' in text
    assert text.endswith("ValueError: invalid literal for int() with base 10: 'two'")
    assert str(Path(__file__).parent) not in text


def test_usage_is_read_from_proc() -> None:
    """This very process has used some processor and some memory; a dead one says nothing."""
    usage = read_usage(os.getpid())
    assert usage is not None
    assert usage.cpu_s > 0
    assert usage.memory_bytes > 2**20
    assert usage.threads >= 1
    assert read_usage(2**22 + 1) is None  # above the kernel's largest process id


def row(
    metric: str, statistic: str, value: float, at: int, service: str = "edge"
) -> dict[str, object]:
    return {
        "timestamp": at,
        "service_name": service,
        "metric_name": metric,
        "statistic": statistic,
        "value": value,
    }


def slow(value: float, at: int, service: str = "edge") -> dict[str, object]:
    return row(DURATION.name, "p95", value, at, service)


def failing(value: float, at: int) -> dict[str, object]:
    return row(ERROR_RATIO.name, "mean", value, at)


def alarm() -> EdgeAlarm:
    made = EdgeAlarm("edge")
    made.learn([slow(10.0, at) for at in range(20)])
    return made


def test_the_alert_fires_after_some_passes_over_the_limit() -> None:
    """It tells when it began and when it fired, and in the edge's own words."""
    watched = alarm()
    for at in range(100, 100 + PASSES - 1):
        assert watched.look([slow(500.0, at)]) is None
    fired = watched.look([slow(600.0, 200)])
    assert fired is not None
    assert (fired.signal, fired.since_us, fired.at_us) == ("latency", 100, 200)
    assert "600 ms" in fired.text
    assert watched.look([slow(600.0, 300)]) is None  # it fires once


def test_one_pass_within_the_limit_starts_the_count_again() -> None:
    """A spike is no incident."""
    watched = alarm()
    for at in range(40):
        watched.look([slow(500.0 if at % PASSES else 10.0, at)])
    assert watched.fired is None


def test_what_is_slow_elsewhere_does_not_alarm_the_edge() -> None:
    """The alert knows the edge alone."""
    watched = alarm()
    for at in range(40):
        watched.look([slow(500.0, at, service="orders")])
    assert watched.fired is None


def test_errors_come_before_slowness() -> None:
    """A failing edge is often slow as well; what the customer gets is the error."""
    watched = alarm()
    for at in range(PASSES):
        watched.look([slow(900.0, at), failing(0.5, at)])
    assert watched.fired is not None
    assert watched.fired.signal == "errors"
