"""The same samples in each server of series that this machine has give the same rows.

Prometheus is always there; a VictoriaMetrics is asked too where one is installed. It was, as
1.79.5, when its differences in docs/backends.md were measured.
"""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from urllib.request import Request, urlopen

import pytest

from affidavit.adapters.backend_tables import Measure, PrometheusTable
from affidavit.adapters.outgoing_http import OutgoingHttp
from affidavit.adapters.outgoing_rules import OutgoingTable
from affidavit.adapters.prometheus import REPEATED_S, Captured, PrometheusSource, Span
from tests.support.http_stage import Reply, Seen, stage
from tests.support.watched_lab import free_port, needs, running, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

SERVERS = ["prometheus", *(["victoria-metrics"] if shutil.which("victoria-metrics") else [])]

STEP_S = 15
LENGTH_S = 1500
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
"""A string of PromQL, with its escapes."""

LABELS = 'service="api",instance="a:1"'


@dataclass(frozen=True)
class Series:
    """One series: its name with labels, and a value for each step."""

    name: str
    values: Sequence[float]


def made() -> list[Series]:
    """A counter that is reset once and runs fast at the end, a gauge, and a histogram."""
    steps = LENGTH_S // STEP_S + 1
    total, values = 0.0, []
    for place in range(steps):
        total = 5 if place == 60 else total + (30 if place < steps - 4 else 3000)
        values.append(total)
    quick = [10.0 * place for place in range(steps)]
    return [
        Series(f'requests_total{{{LABELS},code="200"}}', values),
        Series(f'requests_total{{{LABELS},code="500"}}', [float(p // 2) for p in range(steps)]),
        Series(f"temperature_celsius{{{LABELS}}}", [20 + math.sin(p) for p in range(steps)]),
        *(
            Series(f'took_seconds_bucket{{{LABELS},le="{le}"}}', [one * times for one in quick])
            for le, times in (("0.1", 1), ("1.0", 2), ("+Inf", 3))
        ),
        Series(f"took_seconds_sum{{{LABELS}}}", [one * 0.4 for one in quick]),
        Series(f"took_seconds_count{{{LABELS}}}", [one * 3 for one in quick]),
    ]


@contextmanager
def prometheus_with(folder: Path, series: Sequence[Series], first_s: int) -> Iterator[str]:
    needs("prometheus", "promtool")
    kinds = {"requests": "counter", "temperature_celsius": "gauge", "took_seconds": "histogram"}
    lines: list[str] = []
    for stem, kind in kinds.items():
        lines.append(f"# TYPE {stem} {kind}")
        for one in series:
            if one.name.startswith(stem):
                lines += [
                    f"{one.name} {value} {first_s + place * STEP_S}"
                    for place, value in enumerate(one.values)
                ]
    (folder / "all.txt").write_text("\n".join((*lines, "# EOF", "")))
    blocks = [*("promtool", "tsdb", "create-blocks-from", "openmetrics"), str(folder / "all.txt")]
    subprocess.run([*blocks, str(folder / "data")], check=True, capture_output=True)
    (folder / "prometheus.yml").write_text("{}")
    port = free_port()
    command = [
        "prometheus",
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        "--storage.tsdb.retention.time=100y",
        f"--web.listen-address=127.0.0.1:{port}",
        "--log.level=warn",
    ]
    with running(command, folder / "log"):
        wait_for(f"http://127.0.0.1:{port}/-/ready")
        yield f"http://127.0.0.1:{port}"


@contextmanager
def victoria_with(folder: Path, series: Sequence[Series], first_s: int) -> Iterator[str]:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = [
        "victoria-metrics",
        f"-storageDataPath={folder / 'data'}",
        f"-httpListenAddr=127.0.0.1:{port}",
        "-retentionPeriod=100y",
    ]
    lines = [
        f"{one.name} {value} {(first_s + place * STEP_S) * 1000}\n"
        for one in series
        for place, value in enumerate(one.values)
    ]
    with running(command, folder / "log"):
        wait_for(f"{url}/health")
        content = Request(f"{url}/api/v1/import/prometheus", "".join(lines).encode(), method="POST")
        urlopen(content, timeout=10).close()
        urlopen(f"{url}/internal/force_flush", timeout=10).close()
        wait_for(
            f"{url}/api/v1/series?match[]=temperature_celsius&start={first_s}",
            lambda body: b"api" in body,
        )
        yield url


async def captured(url: str, span: Span) -> Captured:
    http = OutgoingHttp(OutgoingTable(hosts=(url.removeprefix("http://"),)))
    measure = Measure(name="all", query="sum(rate(requests_total[1m]))")
    table = PrometheusTable(url=url, measures=(measure,))
    try:
        return await PrometheusSource("x", table, http, {}).capture(span)
    finally:
        await http.close()


def points(found: Captured, metric: str, statistic: str) -> list[tuple[float, float]]:
    """Seconds and values of one metric, in order."""
    return sorted(
        (row[0] / 1e6, float(row[3]))
        for row in found.rows
        if (row[2], row[5]) == (metric, statistic)
    )


@pytest.mark.integration("prometheus")
@pytest.mark.parametrize("server", SERVERS)
async def test_samples_come_back_with_the_times_and_values_that_they_had(
    server: str, tmp_path: Path
) -> None:
    last_s = int(time.time())
    first_s = last_s - LENGTH_S
    series = made()
    serve = prometheus_with if server == "prometheus" else victoria_with
    with serve(tmp_path, series, first_s) as url:
        found = await captured(url, Span(first_s - 1, last_s))
    gauge = points(found, "temperature_celsius", "gauge")
    assert [at for at, _ in gauge] == [first_s + p * STEP_S for p in range(len(series[2].values))]
    assert [value for _, value in gauge] == pytest.approx(series[2].values, abs=1e-9)
    rates = points(found, "requests", "rate")
    assert rates[-1][0] == last_s  # the newest sample is there
    # 200s and 500s over the step, and no rate of the 200s over their reset.
    assert rates[-1][1] == pytest.approx((3000 + 0) / STEP_S, abs=0.1)
    assert min(value for _, value in rates) >= 0
    assert points(found, "took_seconds", "mean")[0][1] == pytest.approx(0.4 / 3, abs=1e-5)
    computed = points(found, "all", "mean")
    assert computed[-1][0] <= (last_s - 20 if server == "victoria-metrics" else last_s)
    for at, value in computed:
        if at > last_s - STEP_S * 2:
            assert value > 100  # the end is fast, and no older value stands in for it


async def test_a_server_that_repeats_older_values_is_not_asked_for_its_newest_computed_ones() -> (
    None
):
    """VictoriaMetrics is known by a header that it alone sends."""
    ends: list[float] = []

    def answer(asked: Seen) -> Reply:
        path, _, query = asked.path.partition("?")
        data = '{"resultType": "matrix", "result": []}'
        if path.endswith("query_range"):
            ends.append(float(query.partition("end=")[2].partition("&")[0]))
        if path.endswith(("values", "metadata")):
            data = "[]" if path.endswith("values") else "{}"
        body = f'{{"status": "success", "data": {data}}}'.encode()
        return Reply(body=body, headers={"X-Server-Hostname": "vm"} if victoria else {})

    for victoria in (False, True):
        now_s = time.time()
        with stage(answer) as there:
            found = await captured(there.url, Span(now_s - 600, now_s))
        assert bool(found.left_out) == victoria
        assert ends[-1] == pytest.approx(now_s - (REPEATED_S if victoria else 0), abs=5)


@pytest.mark.fault("R60")
async def test_a_metric_s_name_is_never_a_part_of_the_query() -> None:
    """Whoever may write a metric may not write what we ask: a quote in a name ends no string, and
    a name that no query can hold is left."""
    names = ['x"} or vector(1) or y{a="_bucket', "back\\slash_total", "half\ud800", "a\nb", "plain"]
    asked_for: list[str] = []

    def answer(asked: Seen) -> Reply:
        parts = urlsplit(asked.path)
        asked_for.extend(parse_qs(parts.query).get("query", ()))
        data: object = {"resultType": "matrix", "result": []}
        if parts.path.endswith("/values"):
            data = names
        return Reply(body=json.dumps({"status": "success", "data": data}).encode())

    with stage(answer) as there:
        now = int(time.time())
        await captured(there.url, Span(now - 600, now))
    raw = next(query for query in asked_for if query.startswith("{__name__=~"))
    assert STRING.sub("", raw) == "{__name__=~}[600s]"
    (told,) = STRING.findall(raw)
    assert re.compile(json.loads(told)).fullmatch(names[1])
    quantile = next(query for query in asked_for if "histogram_quantile" in query)
    assert "or vector" not in STRING.sub("", quantile)
