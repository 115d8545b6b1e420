"""`metric_scan`: what moved, against its own baseline, by a rule that is written down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from affidavit.adapters.incident_folder import load_incident
from affidavit.contract.errors import ToolFailed
from affidavit.contract.evidence import Change, Envelope, Onset
from affidavit.contract.states import EvidenceStatus
from affidavit.tools.capture import capture_catalogue
from affidavit.tools.capture.metric_scan import SERIES_MAX, THRESHOLD
from tests.support.incidents import (
    INCIDENT,
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

Samples = Iterable[tuple[float, float]]


def stepped(
    level: float, since: int, until: int = 10, base: float = 20.0
) -> list[tuple[float, float]]:
    """Quiet, but for another level over some minutes."""
    return [
        (at, level if since <= at < until else value) for at, value in quiet(range(-30, 10), base)
    ]


async def scan(
    folder: Path, series: Mapping[str, Samples], incident: str = INCIDENT, **arguments: object
) -> Envelope:
    """The scan of a folder with these series."""
    write_folder(folder, incident, metrics_csv=metrics_csv(series))
    with load_incident(folder) as loaded:
        return await call(loaded, "metric_scan", arguments)


def changes(envelope: Envelope) -> list[Change]:
    return [fact for fact in envelope.facts if isinstance(fact, Change)]


def onsets(envelope: Envelope) -> list[Onset]:
    return [fact for fact in envelope.facts if isinstance(fact, Onset)]


@pytest.mark.spec("M5", "T5")
async def test_a_step_is_found_with_its_size_direction_and_onset(tmp_path: Path) -> None:
    """Strongest first; the onset lies between the last normal and the first abnormal sample."""
    found = await scan(
        tmp_path,
        {
            "cart depth p95": quiet(range(-30, 10)),
            "checkout depth p95": stepped(500.0, since=3),
            "checkout throughput rate": stepped(2.0, since=4),
        },
    )
    first, second, third = changes(found)
    assert (first.subject, first.attribute, first.statistic) == ("checkout", "depth", "p95")
    assert (first.before.number, first.before.unit) == (Decimal(20), "ms")
    assert (first.after.number, first.after.unit) == (Decimal(500), "ms")
    assert (first.direction, first.anomalous) == ("up", True)
    assert first.score == (first.after.number - first.before.number) / 2  # two ms: the floor
    assert (second.attribute, second.direction, second.anomalous) == ("throughput", "down", True)
    assert (third.subject, third.direction, third.anomalous) == ("cart", "flat", False)
    assert first.baseline is not None
    assert first.baseline.start == START - timedelta(minutes=30)
    assert first.baseline.end == START - timedelta(minutes=4)  # an alert comes late
    begun = {onset.attribute: onset for onset in onsets(found)}
    assert begun["depth"].earliest == START + timedelta(minutes=2)
    assert begun["depth"].latest == START + timedelta(minutes=3)
    assert begun["throughput"].latest == START + timedelta(minutes=4)
    assert (found.count, found.total, found.truncated) == (5, 5, False)
    assert THRESHOLD in found.notes[0]


async def test_one_stray_sample_is_no_anomaly(tmp_path: Path) -> None:
    """A scrape that went wrong is not a change; two neighbours are."""
    found = await scan(
        tmp_path,
        {
            "a depth p95": stepped(500.0, since=3, until=4),
            "b depth p95": stepped(500.0, since=3, until=5),
        },
    )
    assert {c.subject: c.anomalous for c in changes(found)} == {"a": False, "b": True}
    assert [onset.subject for onset in onsets(found)] == ["b"]


async def test_a_noisy_series_needs_more_than_a_quiet_one(tmp_path: Path) -> None:
    """What is usual for the series is its own, spikes included."""
    noisy = [(at, 200.0 if at % 5 == 0 else 20.0) for at in range(-40, 10)]
    found = await scan(
        tmp_path,
        {
            "noisy depth p95": [(at, 200.0 if at >= 2 else v) for at, v in noisy],
            "quiet depth p95": stepped(200.0, since=2),
        },
    )
    assert {c.subject: c.anomalous for c in changes(found)} == {"noisy": False, "quiet": True}


async def test_what_is_too_small_to_matter_is_no_anomaly(tmp_path: Path) -> None:
    """However quiet the baseline: a twentieth of a millisecond is nothing."""
    flat = [(at, 0.01 if at < 2 else 0.06) for at in range(-30, 10)]
    found = await scan(tmp_path, {"cart depth p95": flat})
    (change,) = changes(found)
    assert (change.anomalous, change.direction) == (False, "flat")


async def test_what_began_before_the_window_has_its_onset_there(tmp_path: Path) -> None:
    """An alert comes late: the minutes before it are no baseline, and the run is followed back."""
    found = await scan(tmp_path, {"checkout depth p95": stepped(500.0, since=-2)})
    (onset,) = onsets(found)
    assert onset.earliest == START - timedelta(minutes=3)
    assert onset.latest == START - timedelta(minutes=2)


async def test_what_grows_slowly_did_not_begin_where_it_was_first_abnormal(tmp_path: Path) -> None:
    """The onset lies after the last sample that was as usual."""
    grown = [(at, 20.0 + max(0, at) * 3) for at in range(-30, 10)]
    found = await scan(tmp_path, {"checkout depth p95": grown})
    (onset,) = onsets(found)
    assert onset.earliest == START + timedelta(minutes=1)
    assert onset.latest == START + timedelta(minutes=4)


async def test_a_declared_baseline_goes_before_what_came_before(tmp_path: Path) -> None:
    """Where a series has enough samples in it; the fault may have begun before the window."""
    baseline = "baseline: {start: 2026-03-02T09:30:00Z, end: 2026-03-02T09:40:00Z}\n"
    series = {
        "long depth p95": stepped(500.0, since=-19),
        "late depth p95": [(at, value) for at, value in stepped(500.0, since=3) if at > -15],
    }
    found = {c.subject: c for c in changes(await scan(tmp_path, series, INCIDENT + baseline))}
    assert found["long"].anomalous
    assert found["long"].baseline is not None
    assert found["long"].baseline.end == START - timedelta(minutes=20)
    assert found["late"].anomalous
    assert found["late"].baseline is not None
    assert found["late"].baseline.end == START - timedelta(minutes=4)


async def test_the_strongest_instance_speaks_for_its_service(tmp_path: Path) -> None:
    """One bad pod of many is not averaged away."""
    rows: list[dict[str, Cell]] = []
    for instance in range(10):
        series = stepped(500.0, since=3) if instance == 7 else quiet(range(-30, 10))
        rows += [
            {
                "timestamp": stamp(at),
                "service_name": "checkout",
                "metric_name": "depth",
                "value": value,
                "unit": "ms",
                "instance": f"pod-{instance}",
            }
            for at, value in series
        ]
    folder = write_folder(tmp_path, metrics_jsonl=jsonl(rows))
    with load_incident(folder) as loaded:
        (change,) = changes(await call(loaded, "metric_scan"))
    assert change.anomalous
    assert change.after.number == 500


@pytest.mark.spec("T4", "G9")
async def test_a_scope_without_a_series_is_no_evidence(tmp_path: Path) -> None:
    """Another service, or too few samples to say anything: empty, and scoped."""
    series = {"checkout depth p95": quiet(range(-30, 10)), "new depth p95": quiet(range(5))}
    found = await scan(tmp_path, series, service="payment")
    assert found.status is EvidenceStatus.NO_EVIDENCE
    assert (found.scope.service, found.scope.tenant) == ("payment", "acme")
    assert found.scope.window is not None
    assert found.scope.window.start == START
    few = await scan(tmp_path / "few", series, service="new")
    assert few.status is EvidenceStatus.NO_EVIDENCE
    assert "1 with too few samples" in few.notes[2]


async def test_a_window_of_its_own(tmp_path: Path) -> None:
    """A narrower window is scanned as asked, and its scope says so."""
    window = {"start": stamp(0), "end": stamp(3)}
    found = await scan(tmp_path, {"a depth p95": stepped(500.0, since=6)}, window=window)
    assert [change.anomalous for change in changes(found)] == [False]
    assert found.scope.window is not None
    assert found.scope.window.end == START + timedelta(minutes=3)


@pytest.mark.spec("C15")
async def test_what_is_left_out_is_declared(tmp_path: Path) -> None:
    """The strongest stay, and the total says how many there were."""
    series: dict[str, Samples] = {
        f"s{number:03} depth p95": stepped(100.0 + number, since=3) for number in range(80)
    }
    found = await scan(tmp_path, series)
    assert len(changes(found)) == SERIES_MAX
    assert changes(found)[0].subject == "s079"
    assert (found.truncated, found.total) == (True, 160)
    assert "80 series compared, 80 anomalous" in found.notes[2]


@pytest.mark.fault("R26")
async def test_times_without_a_zone_show_in_the_record(tmp_path: Path) -> None:
    """The window's zone is unknown, and a note says how the times were read."""
    text = metrics_csv({"a depth p95": quiet(range(-30, 10))}).replace("Z,", ",")
    with load_incident(write_folder(tmp_path, metrics_csv=text)) as loaded:
        found = await call(loaded, "metric_scan")
    assert found.scope.window is not None
    assert found.scope.window.zone is None
    assert changes(found)[0].baseline is not None
    assert any("no zone" in note for note in found.notes)


@pytest.mark.spec("C11")
@pytest.mark.fault("R15")
async def test_a_missing_signal_is_unavailable(tmp_path: Path) -> None:
    """The call fails under its own code, and the catalogue says what is not there."""
    folder = write_folder(tmp_path, logs_jsonl=jsonl([log_row(1, "down")]))
    with load_incident(folder) as loaded:
        with pytest.raises(ToolFailed) as failed:
            await call(loaded, "metric_scan")
        assert failed.value.code == "SOURCE_UNAVAILABLE"
        missing = {source.source_type for source in capture_catalogue(loaded).unavailable}
        assert missing == {"metrics", "traces", "events", "topology"}


async def test_a_raw_response_that_is_none_has_no_projection(tmp_path: Path) -> None:
    """Cut, empty, or with a text where a number belongs: refused, never half-read (T3)."""
    folder = write_folder(tmp_path, metrics_csv=metrics_csv({"a depth p95": quiet(range(9))}))
    with load_incident(folder) as loaded:
        found = await call(loaded, "metric_scan")
        tool = capture_catalogue(loaded).tools["metric_scan"]
    arguments = tool.read_arguments({})
    for raw in (b"", b"{}", b"[]", b'{"rows":[{}],"figures":{},"rule":{}}'):
        with pytest.raises(ValueError, match=r".+"):
            tool.project(raw, arguments, found.scope, START)


async def test_two_windows_are_compared_whatever_lies_between(tmp_path: Path) -> None:
    """The baseline is the window that was asked for: a level that has been there for a while is
    still a deviation from it, and what lies between the two counts for neither."""
    write_folder(
        tmp_path,
        INCIDENT,
        metrics_csv=metrics_csv({"checkout duration p95": stepped(900, since=-12)}),
    )
    healthy = {
        "start": (START - timedelta(minutes=30)).isoformat(),
        "end": (START - timedelta(minutes=15)).isoformat(),
    }
    with load_incident(tmp_path) as loaded:
        envelope = await call(loaded, "window_comparison", {"healthy": healthy})
        (change,) = changes(envelope)
        assert change.anomalous
        assert change.direction == "up"
        assert change.baseline is not None
        assert change.baseline.end <= START - timedelta(minutes=15)
        assert "compared with" in (envelope.scope.query or "")


async def test_windows_that_overlap_and_a_healthy_one_without_samples(tmp_path: Path) -> None:
    write_folder(
        tmp_path, INCIDENT, metrics_csv=metrics_csv({"checkout duration p95": quiet(range(-9, 9))})
    )

    def window(start: int, end: int) -> dict[str, str]:
        at = [(START + timedelta(minutes=minutes)).isoformat() for minutes in (start, end)]
        return {"start": at[0], "end": at[1]}

    with load_incident(tmp_path) as loaded:
        with pytest.raises(ToolFailed, match="overlaps"):
            await call(loaded, "window_comparison", {"healthy": window(-5, 1)})
        nothing = await call(loaded, "window_comparison", {"healthy": window(-600, -500)})
        assert nothing.status is EvidenceStatus.NO_EVIDENCE
