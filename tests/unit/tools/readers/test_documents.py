"""JSON and YAML documents: rows with paths, subjects, relations and beginnings."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from affidavit.contract.states import Emitter, EvidenceStatus
from tests.unit.tools.readers.shown import cells, edges, lines, onsets, quantity, read, rows

FERRY = {
    "berths": [
        {
            "name": "ferry-7",
            "phase": "Docked",
            "node_name": "pier-2",
            "engines": [
                {"name": "port", "state": {"stopped": {"reason": "Overheat", "exitCode": 9}}},
                {"name": "starboard", "state": {"running": True}},
            ],
        },
        {"name": "ferry-9", "phase": "AtSea", "engines": []},
    ],
    "next": None,
}


@pytest.mark.spec("T5")
def test_a_list_of_records_becomes_rows_named_by_their_own_name() -> None:
    """Each record is an item; nested fields keep their path."""
    envelope = read(FERRY, "list_pods")
    assert envelope.count == 2
    row = rows(envelope, "ferry-7")[0]
    assert cells(row)["engines[0].state.stopped.reason"] == "Overheat"
    assert quantity(row, "engines[0].state.stopped.exitCode") == ("9", "")
    assert cells(rows(envelope, "ferry-9")[0])["phase"] == "AtSea"
    assert ("ferry-7", "runs on", "pier-2") in edges(envelope)


@pytest.mark.spec("T5")
def test_a_record_inside_a_record_has_its_own_subject_and_names_its_parent() -> None:
    """The engine is about the engine, and says whose it is."""
    inner = rows(read(FERRY), "port")[0]
    assert cells(inner)["parent"] == "ferry-7"
    assert quantity(inner, "state.stopped.exitCode") == ("9", "")


@pytest.mark.spec("T5")
def test_numbers_keep_their_digits_and_get_the_unit_of_their_name() -> None:
    """JSON text is read as decimals; `…Seconds` and `…_ms` are units."""
    text = '{"probeIntervalSeconds": 15, "mean_ms": 0.10, "share": 1e-2, "ok": true, "none": null}'
    row = rows(read(text))[0]
    assert quantity(row, "probeIntervalSeconds") == ("15", "s")
    assert quantity(row, "mean_ms") == ("0.10", "ms")
    assert quantity(row, "share") == ("0.01", "")
    assert cells(row)["ok"] == "true"
    assert cells(row)["none"] is None


def test_a_number_in_quotes_is_both_number_and_text() -> None:
    """An author may say 200 or "200"."""
    row = rows(read({"matcher": {"code": "200"}}))[0]
    assert cells(row)["matcher.code"] == "200"
    assert quantity(row, "matcher.code") == ("200", "")


def test_name_value_lists_become_named_cells() -> None:
    """AWS tags and dimensions are fields, not records."""
    row = rows(read({"InstanceId": "i-7", "Tags": [{"Key": "team", "Value": "harbour"}]}))[0]
    assert row.subject == "i-7"
    assert cells(row)["Tags.team"] == "harbour"


def test_messages_of_records_are_lines_with_time_level_and_subject() -> None:
    """What a record says can be quoted as its subject's words."""
    envelope = read(
        {
            "logs": [
                {
                    "timestamp": "2031-05-04T01:10:00Z",
                    "service": "ticketing",
                    "level": "error",
                    "message": "seat map not loaded",
                }
            ]
        },
        "search_logs",
    )
    line = lines(envelope)[0]
    assert (line.text, line.subject, line.level) == ("seat map not loaded", "ticketing", "ERROR")
    assert line.at == datetime(2031, 5, 4, 1, 10, tzinfo=UTC)


def test_events_and_conditions_say_when_something_began() -> None:
    """An onset is what the source recorded, never inferred."""
    envelope = read(
        {
            "events": [
                {
                    "involved_object": "Pod/gate-1",
                    "reason": "BackOff",
                    "first_time": "2031-05-04T01:05:00Z",
                    "count": 3,
                }
            ]
        },
        "get_events",
    )
    assert [(o.subject, o.attribute) for o in onsets(envelope)] == [("gate-1", "BackOff")]
    assert rows(envelope, "gate-1")


def test_search_hits_are_read_from_their_source() -> None:
    """Elasticsearch wraps each hit; the hit is what counts."""
    hit = {"_source": {"service": "kiosk", "message": "printer jam", "level": "WARN"}}
    envelope = read({"took": 3, "hits": {"total": {"value": 1}, "hits": [hit]}}, "search_logs")
    assert envelope.count == 1
    assert rows(envelope, "kiosk")


def test_a_log_inside_a_field_is_read_as_a_log() -> None:
    """A document that carries a text of many lines is also that text."""
    text = (
        "2031-05-04T01:00:01Z ERROR a\n2031-05-04T01:00:02Z INFO b\n2031-05-04T01:00:03Z INFO c\n"
    )
    envelope = read({"pod": "gate-1", "output_text": text}, "fetch")
    assert [line.level for line in lines(envelope) if line.level] == ["ERROR", "INFO", "INFO"]


def test_pretty_printed_json_can_be_quoted_line_by_line() -> None:
    """The text that the author saw is there word for word."""
    text = json.dumps({"queue": "mail", "depth": 41}, indent=2)
    assert '  "depth": 41' in [line.text for line in lines(read(text))]


def test_yaml_is_read_with_its_paths() -> None:
    """Flow style, quotes and lists are YAML's; scalars stay as written."""
    text = (
        'kind: CronTrigger\nmetadata:\n  name: nightly\nspec:\n  schedule: "5 1 * * *"\n'
        "  steps:\n  - name: load\n    limits: {memory: 8Gi}\n"
    )
    envelope = read(text, "kubectl_get")
    row = rows(envelope, "nightly")[0]
    assert cells(row)["spec.schedule"] == "5 1 * * *"
    assert quantity(row, "spec.steps[0].limits.memory") == ("8", "Gi")
    assert "    limits: {memory: 8Gi}" in [line.text for line in lines(envelope)]
    assert envelope.notes[0] == "shape: manifest"


def test_yaml_aliases_are_not_followed() -> None:
    """A bomb of aliases stays text."""
    text = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"
    assert read(text).notes[0] != "shape: manifest"


def test_a_document_that_is_too_deep_is_cut_and_says_so() -> None:
    """Depth is bounded; nothing is cut silently."""
    document: object = "leaf"
    for _ in range(60):
        document = {"a": document, "b": 1}
    assert read(document).truncated


def test_what_an_application_wrote_into_a_platform_s_table_is_the_application_s() -> None:
    """A statement in a database's own view is the workload's words."""
    row = rows(
        read(
            {"rows": [{"pid": 7, "query": "select seats"}]}, "describe_db", emitter=Emitter.PLATFORM
        )
    )[0]
    assert next(cell for cell in row.cells if cell.name == "query").emitter is Emitter.WORKLOAD


def test_a_topology_is_relations() -> None:
    """Edge lists and dependencies, as they are stated."""
    envelope = read(
        {
            "services": [{"name": "gate", "depends_on": ["seats"]}],
            "edges": [{"source": "gate", "target": "till"}],
        },
        "get_topology",
    )
    assert edges(envelope) == {("gate", "depends on", "seats"), ("gate", "calls", "till")}


def test_an_owner_reference_is_a_relation() -> None:
    """Kubernetes says who made what."""
    envelope = read({"metadata": {"name": "gate-1-x", "ownerReferences": [{"name": "gate-1"}]}})
    assert ("gate-1", "owns", "gate-1-x") in edges(envelope)


@pytest.mark.spec("T4")
@pytest.mark.fault("R18")
def test_a_null_error_beside_content_is_a_find() -> None:
    """`"error": null` says that nothing went wrong."""
    envelope = read({"available": True, "events": [1], "error": None})
    assert (envelope.status, envelope.count) == (EvidenceStatus.EVIDENCE_FOUND, 1)
