"""From Prometheus samples to rows: counters become rates, shares and means; gauges stay."""

from __future__ import annotations

from decimal import Decimal

from affidavit.adapters.backend_tables import PrometheusTable
from affidavit.adapters.prometheus_series import Row, Samples, read_matrix, rows_of

TABLE = PrometheusTable(url="http://prometheus.example", units={"lag": "ms"})


def samples(labels: dict[str, str], *values: float) -> Samples:
    return Samples(labels, [(100.0 + 10 * i, f"{v:g}") for i, v in enumerate(values)])


def rows(*series: Samples, kinds: dict[str, str] | None = None) -> list[Row]:
    return sorted(rows_of(series, TABLE, kinds or {}))


def values_of(found: list[Row], metric: str) -> list[Decimal]:
    return [Decimal(row[3]) for row in found if row[2] == metric]


def test_a_gauge_keeps_its_values_times_and_further_labels() -> None:
    labels = {"__name__": "lag", "job": "api", "instance": "a:1", "queue": "mail"}
    assert rows(samples(labels, 3)) == [
        (100_000_000, "api", "lag", "3", "ms", "gauge", "a:1 queue=mail")
    ]


def test_a_counter_becomes_a_rate_summed_over_its_further_labels() -> None:
    get = {"__name__": "hits_total", "service": "api", "method": "GET"}
    put = {"__name__": "hits_total", "service": "api", "method": "PUT"}
    found = rows(samples(get, 0, 10, 30), samples(put, 5, 5, 15))
    assert values_of(found, "hits") == [1, 3]
    assert {(row[1], row[4], row[5]) for row in found} == {("api", "1/s", "rate")}


def test_over_a_reset_there_is_no_rate() -> None:
    found = rows(samples({"__name__": "hits_total", "service": "api"}, 100, 110, 3, 13))
    assert values_of(found, "hits") == [1, 1]


def test_failures_by_status_become_a_share() -> None:
    good = {"__name__": "http_requests_total", "service": "api", "code": "200"}
    bad = {"__name__": "http_requests_total", "service": "api", "code": "503"}
    found = rows(samples(good, 0, 30, 60), samples(bad, 0, 0, 10))
    assert values_of(found, "http_requests_error_ratio") == [0, Decimal("0.25")]


def test_failures_by_a_counter_of_their_own_become_a_share() -> None:
    everything = {"__name__": "rpc_count_total", "service": "api"}
    failures = {"__name__": "rpc_errors_total", "service": "api"}
    found = rows(samples(everything, 0, 10, 20), samples(failures, 0, 0, 5))
    assert values_of(found, "rpc_error_ratio") == [0, Decimal("0.5")]


def test_a_sum_over_its_count_becomes_a_mean() -> None:
    total = {"__name__": "wait_seconds_sum", "service": "api"}
    number = {"__name__": "wait_seconds_count", "service": "api"}
    found = rows(samples(total, 0, 5), samples(number, 0, 10))
    mean = [row for row in found if row[5] == "mean"]
    assert mean == [(110_000_000, "api", "wait_seconds", "0.5", "s", "mean", "")]


def test_a_quantile_is_a_statistic() -> None:
    labels = {"__name__": "lag", "service": "api"}
    found = rows(*(samples({**labels, "quantile": q}, 1) for q in ("0.5", "0.95", "0.999", "1")))
    assert {row[5] for row in found} == {"p50", "p95", "p99.9", "p100"}


def test_what_is_no_number_is_no_row() -> None:
    assert rows(Samples({"__name__": "lag"}, [(1.0, "NaN"), (2.0, "+Inf"), (3.0, "x")])) == []


def test_metadata_overrule_a_name() -> None:
    found = rows(samples({"__name__": "stock_count", "service": "api"}, 5, 4),
                 kinds={"stock_count": "gauge"})  # fmt: skip
    assert values_of(found, "stock_count") == [5, 4]


def test_a_matrix_is_read_and_anything_else_is_not() -> None:
    data = {"resultType": "matrix", "result": [{"metric": {"a": "b"}, "values": [[1, "2"]]}]}
    assert list(read_matrix(data)) == [Samples({"a": "b"}, [(1.0, "2")])]
    wrongs: tuple[object, ...] = (None, [], {"resultType": "vector", "result": []})
    for wrong in wrongs:
        try:
            list(read_matrix(wrong))
        except ValueError:
            continue
        raise AssertionError(f"{wrong!r} was read")
