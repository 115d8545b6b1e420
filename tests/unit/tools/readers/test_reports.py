"""Reports, traces and probes."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from affidavit.contract.states import Emitter
from tests.unit.tools.readers.shown import cells, edges, lines, quantity, read, rows, values

DESCRIBE = """\
Name:             gate-7f-x2
Namespace:        harbour
Node:             pier-2/10.1.0.2
Labels:           app=gate
                  tier=edge
Annotations:      <none>
Status:           Running
Controlled By:    ReplicaSet/gate-7f
Containers:
  turnstile:
    Image:          registry.example/gate:3.1
    State:          Waiting
      Reason:       CrashLoopBackOff
    Last State:     Terminated
      Exit Code:    137
    Ready:          False
    Restart Count:  16
    Limits:
      memory:  64Mi
Conditions:
  Type           Status
  Ready          False
Events:
  Type     Reason   Age                  From     Message
  ----     ------   ----                 ----     -------
  Warning  BackOff  17s (x28 over 60m)   kubelet  Back-off restarting failed container
"""


@pytest.mark.spec("T5")
def test_a_described_object_is_one_record_with_paths() -> None:
    """Indentation is the path; the name is the subject."""
    envelope = read(DESCRIBE, "kubectl_describe")
    row = rows(envelope, "gate-7f-x2")[0]
    assert cells(row)["Containers.turnstile.State.Reason"] == "CrashLoopBackOff"
    assert quantity(row, "Containers.turnstile.Restart Count") == ("16", "")
    assert quantity(row, "Containers.turnstile.Limits.memory") == ("64", "Mi")
    assert cells(row)["Labels.tier"] == "edge"
    assert cells(row)["Annotations"] is None
    assert envelope.emitter is Emitter.PLATFORM


def test_a_container_of_a_described_pod_has_its_own_row() -> None:
    """With its parent named."""
    row = rows(read(DESCRIBE, "kubectl_describe"), "turnstile")[0]
    assert cells(row)["parent"] == "gate-7f-x2"
    assert quantity(row, "Last State.Exit Code") == ("137", "")


def test_the_events_of_a_described_pod_are_rows_about_the_pod() -> None:
    """Each is an item; its line has a level and a count."""
    envelope = read(DESCRIBE, "kubectl_describe")
    event = next(row for row in rows(envelope) if "Message" in cells(row))
    assert (event.subject, cells(event)["Reason"]) == ("gate-7f-x2", "BackOff")
    assert quantity(event, "count") == ("28", "")
    assert any(line.level == "WARN" and line.count == 28 for line in lines(envelope))


def test_owner_and_node_of_a_described_pod_are_relations() -> None:
    """As printed."""
    assert {("gate-7f", "owns", "gate-7f-x2"), ("gate-7f-x2", "runs on", "pier-2")} <= edges(
        read(DESCRIBE, "kubectl_describe")
    )


def test_every_line_of_a_report_is_quotable() -> None:
    """Headings and blanks in cells included."""
    texts = [line.text for line in lines(read(DESCRIBE, "kubectl_describe"))]
    assert set(DESCRIBE.rstrip("\n").split("\n")) == set(texts)


def test_a_report_followed_by_a_table_is_both() -> None:
    """`argocd app get` prints settings, then resources."""
    text = (
        "Name:               harbour/gate\nSync Status:        OutOfSync\nPhase:   Failed\n\n"
        "GROUP  KIND     NAME   STATUS\napps   Deploy   gate   Synced\n"
    )
    envelope = read(text, "argocd_app_get")
    assert envelope.notes[0] == "shape: report+table"
    assert cells(rows(envelope, "gate")[-1])["STATUS"] == "Synced"


# --- Traces -------------------------------------------------------------------------------------

SPANS = [
    {"spanID": "a", "parent": None, "service": "web", "name": "GET /seat", "durationMs": 4870,
     "start": "2031-05-04T01:10:00Z"},
    {"spanID": "b", "parent": "a", "service": "seats", "name": "lock row", "durationMs": 4610,
     "start": "2031-05-04T01:10:01Z"},
]  # fmt: skip


@pytest.mark.spec("T5")
def test_spans_have_durations_times_and_callers() -> None:
    """Between operations, and between services where they differ."""
    envelope = read({"traceID": "4bf9", "spans": SPANS}, "tempo_get_trace")
    assert envelope.count == 2
    value = values(envelope)[1]
    assert (value.subject, value.attribute) == ("lock row", "duration")
    assert value.quantity is not None
    assert (str(value.quantity.number), value.quantity.unit) == ("4610", "ms")
    assert value.at == datetime(2031, 5, 4, 1, 10, 1, tzinfo=UTC)
    assert edges(envelope) == {("GET /seat", "calls", "lock row"), ("web", "calls", "seats")}


def test_jaeger_s_processes_and_references_are_followed() -> None:
    """Microseconds, processID, references."""
    envelope = read(
        {
            "data": [
                {
                    "spans": [
                        {"spanID": "a", "operationName": "pay", "duration": 1500,
                         "processID": "p1"},
                        {"spanID": "b", "operationName": "charge", "duration": 900,
                         "processID": "p2", "references": [{"spanID": "a"}]},
                    ],
                    "processes": {"p1": {"serviceName": "till"}, "p2": {"serviceName": "bank"}},
                }
            ]
        },
        "get_trace",
    )  # fmt: skip
    assert ("till", "calls", "bank") in edges(envelope)
    quantity_ = values(envelope)[0].quantity
    assert quantity_ is not None
    assert quantity_.unit == "us"


def test_otlp_spans_take_their_service_from_the_resource() -> None:
    """Nested four levels deep, with nanosecond ends."""

    def batch(service: str, span: dict[str, str]) -> dict[str, object]:
        attribute = {"key": "service.name", "value": {"stringValue": service}}
        return {"resource": {"attributes": [attribute]}, "scopeSpans": [{"spans": [span]}]}

    first = {"spanId": "a", "name": "pay", "startTimeUnixNano": "1935623400000000000",
             "endTimeUnixNano": "1935623400250000000"}  # fmt: skip
    second = {**first, "spanId": "b", "parentSpanId": "a", "name": "charge"}
    envelope = read({"batches": [batch("till", first), batch("bank", second)]}, "get_trace")
    assert ("till", "calls", "bank") in edges(envelope)
    quantity_ = values(envelope)[0].quantity
    assert quantity_ is not None
    assert (str(quantity_.number), quantity_.unit) == ("250", "ms")


def test_a_printed_tree_of_spans_is_a_trace() -> None:
    """Indentation is the parent."""
    text = (
        "├─ /pay (till) - 7327.36ms (span_id=84)\n│  Attributes:\n│    http.method: POST\n"
        "│    seat_taken (+7059.9ms) at 2031-05-04T01:10:02.522Z\n"
        "  ├─ charge (bank) - 263.55ms (span_id=c3)\n"
    )
    envelope = read(text, "fetch_trace")
    assert ("/pay", "calls", "charge") in edges(envelope)
    assert [
        (v.subject, v.attribute, str(v.quantity.number)) for v in values(envelope) if v.quantity
    ] == [
        ("/pay", "duration", "7327.36"),
        ("/pay", "seat_taken", "7059.9"),
        ("charge", "duration", "263.55"),
    ]


# --- Probes -------------------------------------------------------------------------------------


def test_http_exchanges_are_about_the_path_that_was_asked() -> None:
    """Status line and body of each answer."""
    text = (
        "> GET /ready HTTP/1.1\n< HTTP/1.1 404 Not Found\n"
        '{"status":404,"error":"Not Found"}\n\n'
        '> GET /live HTTP/1.1\n< HTTP/1.1 200 OK\n{"status":"UP"}\n'
    )
    envelope = read(text, "http_probe", arguments={"target": "10.1.0.4:8080"})
    assert cells(*rows(envelope, "/live"))["status"] == "UP"
    assert cells(*rows(envelope, "/ready"))["status_code"] == "404"


def test_certificates_are_read_with_their_dates_and_the_verdict() -> None:
    """One item a certificate; the check's verdict is about the host."""
    text = (
        "depth=0 CN = pay.example\nverify error:num=10:certificate has expired\n---\n"
        "Certificate chain\n 0 s:CN = pay.example\n   i:O = Trust, CN = Trust CA 2\n"
        "   v:NotBefore: Dec  1 00:00:00 2030 GMT; NotAfter: Mar  1 23:59:59 2031 GMT\n"
        " 1 s:O = Trust, CN = Trust CA 2\n   i:CN = Root R4\n"
        "   v:NotBefore: Jan 12 00:00:00 2027 GMT; NotAfter: Jan 11 23:59:59 2037 GMT\n"
        "Verify return code: 10 (certificate has expired)\n"
    )
    envelope = read(text, "openssl_s_client", arguments={"host": "pay.example"})
    found = {(v.subject, v.attribute): v for v in values(envelope)}
    assert found["pay.example", "notAfter"].at == datetime(2031, 3, 1, 23, 59, 59, tzinfo=UTC)
    assert found["Trust CA 2", "notAfter"].at == datetime(2037, 1, 11, 23, 59, 59, tzinfo=UTC)
    assert found["pay.example", "verify return code reason"].text == "certificate has expired"


def test_a_summary_names_its_subject_and_keeps_every_key() -> None:
    """`Service:` names whom a `key: value` text is about."""
    text = "Service: gate\nStatus: degraded\nError rate: 12.5% (threshold 5%)\n"
    row = rows(read(text, "get_summary"), "gate")[0]
    assert cells(row)["Status"] == "degraded"
    assert quantity(row, "Error rate") == ("12.5", "%")
