"""Samples: Prometheus, CloudWatch, times beside values, labelled log streams."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from affidavit.contract.states import Emitter, EvidenceStatus
from tests.unit.tools.readers.shown import cells, lines, read, rows, values

AT = int(datetime(2031, 5, 4, 1, 0, tzinfo=UTC).timestamp())


def matrix(*series: tuple[dict[str, str], list[str]]) -> dict[str, object]:
    """A range answer with a sample a minute."""
    return {
        "status": "success",
        "data": {
            "resultType": "matrix",
            "result": [
                {
                    "metric": labels,
                    "values": [[AT + 60 * index, text] for index, text in enumerate(samples)],
                }
                for labels, samples in series
            ],
        },
    }


@pytest.mark.spec("T5")
def test_each_sample_has_subject_metric_unit_and_time() -> None:
    """The labels name the subject, the metric's name the unit."""
    envelope = read(
        matrix(({"__name__": "ferry_boarding_seconds", "pier": "p2"}, ["3.5", "4"])),
        "prometheus_query_range",
        arguments={"query": "ferry_boarding_seconds"},
    )
    first = values(envelope)[0]
    assert envelope.count == 2
    assert (first.subject, first.attribute) == ("p2", "ferry_boarding_seconds")
    assert first.quantity is not None
    assert (str(first.quantity.number), first.quantity.unit) == ("3.5", "s")
    assert first.at == datetime(2031, 5, 4, 1, 0, tzinfo=UTC)
    assert cells(rows(envelope, "p2")[0])["pier"] == "p2"
    assert envelope.emitter is Emitter.PLATFORM


def test_two_series_never_share_a_subject() -> None:
    """What one label does not tell apart, the next one does."""
    envelope = read(
        matrix(
            ({"pod": "gate-1", "container": "app"}, ["1"]),
            ({"pod": "gate-1", "container": "proxy"}, ["2"]),
        ),
        "prometheus_query",
        arguments={"query": "sum by (pod, container) (restarts)"},
    )
    assert [value.subject for value in values(envelope)] == ["gate-1/app", "gate-1/proxy"]


@pytest.mark.parametrize(
    ("query", "attribute", "statistic", "unit"),
    [
        ('pool_in_use{pool="p"}', "pool_in_use", None, ""),
        ('max(queue_wait_seconds{queue="q"})', "queue_wait_seconds", "max", "s"),
        ("rate(bytes_sent_bytes[5m])", "rate(bytes_sent_bytes[5m])", "rate", ""),
        ("histogram_quantile(0.95, rate(x_seconds_bucket[5m]))", None, "p95", "s"),
        ("rate(wait_seconds_sum[3m]) / rate(wait_seconds_count[3m])", None, "mean", "s"),
        ("boarding_ratio", "boarding_ratio", None, "1"),
    ],
)
def test_attribute_statistic_and_unit_come_from_the_query(
    query: str, attribute: str | None, statistic: str | None, unit: str
) -> None:
    """A unit only where the query keeps it; a quantile is named."""
    envelope = read(
        matrix(({"pool": "p"}, ["1"])), "prometheus_query_range", arguments={"query": query}
    )
    value = values(envelope)[0]
    assert value.attribute == (attribute or query)
    assert value.statistic == statistic
    assert value.quantity is not None
    assert value.quantity.unit == unit


@pytest.mark.spec("T4")
@pytest.mark.fault("R16")
@pytest.mark.parametrize(
    "result",
    [
        {"status": "success", "data": {"resultType": "vector", "result": []}},
        {"status": "success", "data": {"result": []}},
        {"resultType": "matrix", "result": []},
    ],
)
def test_an_empty_answer_is_no_evidence_and_no_error(result: object) -> None:
    """A right query with nothing to show."""
    envelope = read(result, "prometheus_query")
    assert (envelope.status, envelope.count, envelope.facts) == (EvidenceStatus.NO_EVIDENCE, 0, ())


def test_not_a_number_is_text_with_its_time() -> None:
    """NaN and infinities are no numbers, and are not dropped."""
    value = values(read(matrix(({"pool": "p"}, ["NaN"])), "prometheus_query"))[0]
    assert (value.text, value.quantity) == ("NaN", None)


def test_cloudwatch_samples_name_resource_statistic_and_unit() -> None:
    """Both of CloudWatch's forms."""
    listed = read(
        {
            "metric_data_results": [
                {
                    "metric_name": "QueueDepth",
                    "dimensions": [{"Name": "QueueName", "Value": "baggage"}],
                    "stat": "Maximum",
                    "unit": "Percent",
                    "timestamps": ["2031-05-04T01:00:00Z"],
                    "values": [71.5],
                }
            ]
        },
        "get_cloudwatch_metrics",
    )
    value = values(listed)[0]
    assert (value.subject, value.attribute, value.statistic) == ("baggage", "QueueDepth", "Maximum")
    assert value.quantity is not None
    assert (str(value.quantity.number), value.quantity.unit) == ("71.5", "%")
    points = read(
        {
            "Label": "Refusals",
            "Datapoints": [{"Timestamp": "2031-05-04T01:00:00Z", "Sum": 4, "Unit": "Count"}],
        },
        "cloudwatch_get_metric",
        arguments={"lb": "app/harbour"},
    )
    point = values(points)[0]
    assert (point.subject, point.attribute, point.statistic) == ("app/harbour", "Refusals", "Sum")


def test_times_beside_values_anywhere_in_a_document_are_samples() -> None:
    """A load series next to a list of statements."""
    envelope = read(
        {
            "db_instance_identifier": "seats-db",
            "db_load": {
                "timestamps": ["2031-05-04T01:00:00Z", "2031-05-04T01:01:00Z"],
                "values": [7.1, 7.4],
                "unit": "sessions",
            },
            "top_sql": [{"statement": "SELECT seat", "db_load_avg": 6.2}],
        },
        "get_performance_insights",
        arguments={"db_instance_identifier": "seats-db"},
    )
    assert [(v.subject, v.attribute) for v in values(envelope)] == [("seats-db", "db_load")] * 2
    assert rows(envelope, "SELECT seat")


def test_log_streams_are_about_the_stream_and_at_the_entry_s_time() -> None:
    """Loki's labels name who spoke; an entry without a time of its own has the stream's."""
    stream = {
        "stream": {"app": "kiosk", "pod": "kiosk-7"},
        "values": [[f"{AT}000000000", 'level=error msg="no paper" tray=2']],
    }
    envelope = read({"data": {"resultType": "streams", "result": [stream]}}, "loki_query")
    line = lines(envelope)[0]
    assert (line.subject, line.level) == ("kiosk-7", "ERROR")
    assert line.at == datetime(2031, 5, 4, 1, 0, tzinfo=UTC)
    assert "2" in cells(*rows(envelope)).values()


def test_points_and_pairs_are_samples_too() -> None:
    """Records of time and value, and Datadog's list of pairs."""
    points = [{"timestamp": "2031-05-04T01:00:00Z", "value": 3.5}]
    value = values(
        read(points, "query_metrics", arguments={"service": "gate", "metric": "wait_ms"})
    )[0]
    assert (value.subject, value.attribute) == ("gate", "wait_ms")
    assert value.quantity is not None
    assert value.quantity.unit == "ms"
    paired = {
        "series": [
            {"metric": "http.errors", "scope": "service:gate", "pointlist": [[AT * 1000, 2.0]]}
        ]
    }
    pair = values(read(paired, "query_datadog_metrics"))[0]
    assert (pair.subject, pair.attribute) == ("gate", "http.errors")
    assert pair.at == datetime(2031, 5, 4, 1, 0, tzinfo=UTC)
