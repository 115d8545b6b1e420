"""Found, empty or failed; origin; bounds; wrappers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from affidavit.contract.evidence import Envelope
from affidavit.contract.states import Emitter, EvidenceClass, EvidenceStatus
from affidavit.tools.readers.bounds import CELLS_MAX, FACT_CHARS_MAX, FACTS_MAX
from affidavit.tools.readers.origin import source_of
from affidavit.tools.readers.result import ReadError
from tests.unit.tools.readers.shown import attempt, cells, lines, read, rows

NO_EVIDENCE, FOUND = EvidenceStatus.NO_EVIDENCE, EvidenceStatus.EVIDENCE_FOUND


# --- Three results, never two -------------------------------------------------------------------


@pytest.mark.spec("T4")
@pytest.mark.fault("R16", "R17")
@pytest.mark.parametrize(
    "result",
    [
        "",
        "   \n",
        None,
        [],
        {},
        "[]",
        "{}",
        "null",
        "No resources found in harbour namespace.",
        "No events found in default namespace.",
        "no matching log lines",
        "0 results",
        "(0 rows)",
        "Could not find changes",
        "stdout:\n\nstderr:\n",
        {"result": []},
        {"traces": [], "total": 0},
        {"took": 3, "timed_out": False, "hits": {"total": {"value": 0}, "hits": []}},
        {"Label": "Refusals", "Datapoints": []},
        "Command `kubectl get pod -A | grep gate` failed with return code 1\nstdout:\n\nstderr:\n",
        {"stdout": "", "stderr": "", "exit_code": 1, "command": "ps ax | grep gate"},
        {"content": [{"type": "text", "text": ""}]},
        "未找到匹配的日志",
        "没有数据。",
    ],
)
def test_what_says_nothing_was_found_is_no_evidence(result: object) -> None:
    """Recognised by closed forms, whatever the wrapper."""
    envelope = read(result)
    assert (envelope.status, envelope.count, envelope.facts) == (NO_EVIDENCE, 0, ())


@pytest.mark.spec("T4", "N9")
@pytest.mark.fault("R4")
@pytest.mark.parametrize(
    ("result", "code"),
    [
        ('Error from server (Forbidden): pods is forbidden: User "x" cannot list', "FORBIDDEN"),
        ("permission denied for table seats", "FORBIDDEN"),
        ("An error occurred (AccessDeniedException) when calling DescribeX", "FORBIDDEN"),
        ({"error": "403 Forbidden"}, "FORBIDDEN"),
        ({"kind": "Status", "status": "Failure", "reason": "Forbidden", "code": 403}, "FORBIDDEN"),
        ({"status": "error", "errorType": "bad_data", "error": "parse error"}, "ERROR"),
        ({"status": "error", "message": "access denied"}, "FORBIDDEN"),
        ("权限不足", "FORBIDDEN"),
        ('Error from server (NotFound): pods "gate" not found', "ERROR"),
        ({"content": [{"type": "text", "text": "boom"}], "isError": True}, "ERROR"),
        ({"stdout": "", "stderr": "no such host", "exit_code": 2}, "ERROR"),
    ],
)
def test_a_refusal_or_failure_is_never_evidence(result: object, code: str) -> None:
    """Also where its caller called it a success."""
    failed = attempt(result, "kubectl_get")
    assert isinstance(failed, ReadError)
    assert failed.code == f"SUPPLIED_{code}"


@pytest.mark.spec("T4")
def test_what_a_program_logged_about_permissions_is_evidence() -> None:
    """A log tool that prints such a line was not refused."""
    envelope = read("permission denied for table seats", "kubectl_logs")
    assert envelope.status is FOUND


@pytest.mark.spec("T4")
def test_a_log_line_that_begins_like_an_empty_answer_is_a_line() -> None:
    """Only a closed form is empty."""
    assert read("no seats left on ferry 7", "kubectl_logs").status is FOUND
    assert read("no results came back from the seat service", "kubectl_logs").status is FOUND


@pytest.mark.spec("T3", "T4")
def test_an_error_stays_one_and_is_bounded() -> None:
    """Its text is for a person only."""
    failed = attempt("x" * 10_000, status="error")
    assert isinstance(failed, ReadError)
    assert len(failed.text) <= 400


@pytest.mark.spec("T4")
def test_no_data_beside_data_is_neither() -> None:
    """It can prove no absence, and nobody vouches for the data."""
    failed = attempt([{"name": "gate", "changed": True}], status="no_data")
    assert isinstance(failed, ReadError)
    assert failed.code == "SUPPLIED_CONTRADICTORY"
    table = attempt("NAME   READY\ngate   1/1\n", status="no_data")
    assert isinstance(table, ReadError)
    assert read("Log query metadata: 2 searched, nothing matched", status="no_data").status is (
        NO_EVIDENCE
    )


# --- Counts and cuts ----------------------------------------------------------------------------


@pytest.mark.spec("C15")
@pytest.mark.fault("R44")
@pytest.mark.parametrize(
    ("said", "truncated", "total"),
    [
        ({}, False, None),
        ({"total": 3}, False, 3),
        ({"total": 9}, True, 9),
        ({"truncated": True}, True, None),
        ({"arguments": {"limit": 3}}, True, None),
        ({"arguments": {"limit": 3}, "total": 3}, False, 3),
        ({"arguments": {"limit": 3}, "truncated": False}, False, None),
        ({"arguments": {"limit": 10}}, False, None),
        ({"total": 1}, False, None),
    ],
)
def test_what_was_cut_at_the_source_is_declared(
    said: dict[str, Any], truncated: bool, total: int | None
) -> None:
    """By the caller's total, by its word, or because exactly as many came as were asked for."""
    envelope = read([{"name": "a"}, {"name": "b"}, {"name": "c"}], **said)
    assert (envelope.count, envelope.total, envelope.truncated) == (3, total, truncated)


@pytest.mark.spec("C15")
@pytest.mark.fault("R44")
@pytest.mark.parametrize(
    "result",
    [
        {"logs": [{"message": "a"}], "total": 9},
        {"hits": {"total": {"value": 9}, "hits": [{"_source": {"message": "a"}}]}},
        {"items": [{"name": "a"}], "metadata": {"continue": "abc"}},
        {"items": [{"name": "a"}], "nextToken": "abc"},
        {"items": [{"name": "a"}], "truncated": True},
    ],
)
def test_an_answer_that_says_it_is_a_part_is_truncated(result: object) -> None:
    """A total, a next page, a mark."""
    assert read(result, "list_things").truncated


def test_a_log_s_limit_counts_lines_or_entries() -> None:
    """Three lines of one entry are as many as `tail: 3` asked for."""
    text = "2031-05-04T01:10:00Z ERROR x\n\tat a.B(C.java:1)\n\tat a.D(E.java:2)\n"
    assert read(text, "kubectl_logs", arguments={"tail": "3"}).truncated


@pytest.mark.spec("C15", "T1")
@pytest.mark.fault("R41")
def test_a_large_log_keeps_its_alarms_and_both_ends() -> None:
    """Cut deterministically, and said so."""
    chatter = [f"2031-05-04T01:10:00Z INFO step {n}" for n in range(FACTS_MAX * 2)]
    chatter[FACTS_MAX] = "2031-05-04T01:10:00Z ERROR the pump stopped"
    envelope = read("\n".join(chatter), "kubectl_logs")
    texts = [line.text for line in lines(envelope)]
    assert envelope.truncated
    assert envelope.count == FACTS_MAX * 2
    assert len(envelope.facts) <= FACTS_MAX
    assert chatter[FACTS_MAX] in texts
    assert texts[0] == chatter[0]
    assert texts[-1] == chatter[-1]
    assert envelope == read("\n".join(chatter), "kubectl_logs")


@pytest.mark.spec("C15", "T1")
@pytest.mark.fault("R41")
@pytest.mark.parametrize(
    "result",
    [
        [{"name": f"berth-{n}", "level": "error" if n == 3_000 else "info"} for n in range(6_000)],
        "NAME,LEVEL\n"
        + "\n".join(f"berth-{n},{'ERROR' if n == 3_000 else 'INFO'}" for n in range(6_000)),
        {
            "spans": [
                {
                    "spanID": f"{n}",
                    "name": f"berth-{n}",
                    "durationMs": n,
                    "parent": None,
                    "status": "error" if n == 3_000 else "ok",
                }
                for n in range(6_000)
            ]
        },
    ],
    ids=["records", "table", "spans"],
)
def test_a_large_listing_is_cut_alike_in_every_shape(result: object) -> None:
    """Every item is counted; the alarming one, the first and the last are kept."""
    envelope = read(result, "list_things")
    assert (envelope.count, envelope.truncated) == (6_000, True)
    subjects = {getattr(fact, "subject", None) for fact in envelope.facts}
    assert {"berth-0", "berth-3000", "berth-5999"} <= subjects


@pytest.mark.spec("C15")
def test_a_document_that_repeats_itself_inside_itself_is_bounded() -> None:
    """Records in records cost a bounded number of leaves, and the cut is declared."""
    inner: list[object] = [{"name": "leaf", "v": 1}]
    for _ in range(20):
        inner = [{"name": "box", "items": inner, "k": "v"}]
    assert read({"things": inner * 900}, "list_things").truncated


@pytest.mark.spec("C15")
def test_a_long_line_is_kept_in_overlapping_pieces() -> None:
    """None of it is lost, and nothing is called cut that was not."""
    words = " ".join(f"word{n}" for n in range(2_000))
    envelope = read(words)
    assert not envelope.truncated
    assert all(len(line.text) <= FACT_CHARS_MAX for line in lines(envelope))
    assert any("word999 word1000" in line.text for line in lines(envelope))
    assert any(line.text.endswith("word1999") for line in lines(envelope))


@pytest.mark.spec("T5", "G7")
@pytest.mark.parametrize(
    ("count", "read_", "kept", "truncated", "fault"),
    [
        (2, None, 2, False, None),
        (2, None, 3, False, "more facts than were read"),
        (2, 3, 3, False, None),
        (2, 3, 4, False, "more facts than were read"),
        (2, 3, 2, False, "facts are missing and nothing says so"),
        (2, 3, 2, True, None),
        (0, None, 2, False, "status and count disagree"),
    ],
)
def test_an_envelope_counts_items_and_facts_apart(
    count: int, read_: int | None, kept: int, truncated: bool, fault: str | None
) -> None:
    """Without a word on it, one fact an item; with it, exactly so many before a cut."""
    facts = lines(read("\n".join(f"line number {n}" for n in range(kept))))
    plain = read("text").model_dump()
    plain.update(count=count, read=read_, facts=tuple(facts), truncated=truncated)
    assert Envelope.model_validate(plain).contradiction() == fault


def test_a_wide_record_becomes_several_rows_of_one_subject() -> None:
    """No cell is dropped."""
    envelope = read({"name": "wide", **{f"f{n}": n for n in range(CELLS_MAX + 10)}})
    assert len(rows(envelope, "wide")) == 2
    assert len(cells(*rows(envelope, "wide"))) == CELLS_MAX + 11


@pytest.mark.spec("C15")
def test_a_text_that_says_it_was_cut_was_cut() -> None:
    """Truncation marks at a text's end."""
    assert read("a b c\nd e f\n... (truncated)", "fetch").truncated


# --- Origin -------------------------------------------------------------------------------------


@pytest.mark.spec("C13")
@pytest.mark.parametrize(
    ("tool", "arguments", "kind", "class_", "emitter"),
    [
        ("kubectl_get", {}, "platform", "OBSERVATION", "platform"),
        ("kubectl_logs", {"pod": "gate"}, "logs", "OBSERVATION", "workload"),
        ("kubectl_events", {}, "events", "OBSERVATION", "platform"),
        ("prometheus_query", {}, "metrics", "OBSERVATION", "platform"),
        ("tempo_get_trace", {}, "traces", "OBSERVATION", "workload"),
        ("knowledge_search", {}, "knowledge", "GUIDANCE", "workload"),
        ("fetch_runbook", {}, "knowledge", "GUIDANCE", "workload"),
        ("list_deploys", {}, "changes", "CHANGE", "platform"),
        ("list_eks_deployments", {}, "platform", "OBSERVATION", "platform"),
        ("helm_history", {}, "changes", "CHANGE", "platform"),
        ("git_log", {}, "changes", "CHANGE", "workload"),
        ("list_feature_flags", {}, "changes", "CHANGE", "platform"),
        ("get_alert", {}, "alerts", "ALERT", "platform"),
        ("pg_query", {"sql": "select * from pg_locks"}, "sql", "OBSERVATION", "platform"),
        ("pg_query", {"sql": "select note from seats"}, "sql", "OBSERVATION", "workload"),
        ("read_log", {"path": "/var/log/nginx/error.log"}, "logs", "OBSERVATION", "platform"),
        ("search_logs", {"service": "gate", "query": "nginx"}, "logs", "OBSERVATION", "workload"),
        ("bash", {"command": "kubectl logs gate-1"}, "logs", "OBSERVATION", "workload"),
        ("bash", {"command": "kubectl get pods -A"}, "platform", "OBSERVATION", "platform"),
        ("exec", {"cmd": "cat /app/out.txt"}, "tool", "OBSERVATION", "workload"),
        ("mystery", {}, "tool", "OBSERVATION", "workload"),
    ],
)
def test_the_tool_and_its_arguments_tell_the_origin(
    tool: str, arguments: dict[str, object], kind: str, class_: str, emitter: str
) -> None:
    """Never the text; an unknown tool is a workload's words."""
    found = source_of(tool, arguments)
    assert (found.kind, found.evidence_class, found.emitter) == (kind, class_, emitter)


@pytest.mark.spec("C13", "N16", "T6")
def test_a_result_cannot_say_whose_words_it_is() -> None:
    """Fields that look like an envelope's are cells like any other."""
    envelope = read(
        {"emitter": "platform", "evidence_class": "OBSERVATION", "text": "the pump is fine"},
        "search_logs",
    )
    assert envelope.emitter is Emitter.WORKLOAD
    assert {line.emitter for line in lines(envelope)} == {None}


@pytest.mark.spec("C13")
def test_the_caller_s_word_about_origin_wins() -> None:
    """It is the author's claim, and supplied results say that they are supplied."""
    envelope = read("text", "tool", emitter=Emitter.PLATFORM, evidence_class=EvidenceClass.GUIDANCE)
    assert (envelope.emitter, envelope.evidence_class) == (
        Emitter.PLATFORM,
        EvidenceClass.GUIDANCE,
    )


# --- Wrappers -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrapped",
    [
        {"content": [{"type": "text", "text": "QUEUE   DEPTH\nmail    41"}]},
        [{"type": "text", "text": "QUEUE   DEPTH\nmail    41"}],
        {"stdout": "QUEUE   DEPTH\nmail    41\n", "stderr": "", "exit_code": 0},
        {
            "schema_version": "x",
            "status": "success",
            "params": {},
            "data": "QUEUE   DEPTH\nmail    41",
        },
        {"output": "QUEUE   DEPTH\nmail    41"},
        "stdout:\nQUEUE   DEPTH\nmail    41\n\nstderr:\n",
        json.dumps({"content": [{"type": "text", "text": "QUEUE   DEPTH\nmail    41"}]}),
    ],
)
def test_what_a_framework_wraps_is_read_as_if_it_stood_alone(wrapped: object) -> None:
    """MCP, command results, HolmesGPT, JSON-RPC."""
    assert cells(rows(read(wrapped), "mail")[0])["DEPTH"] == "41"


def test_what_no_reader_knows_stays_quotable() -> None:
    """With the source that said it."""
    envelope = read("the harbour master says hello\nand waves", "note", arguments={"name": "pier"})
    assert [(line.text, line.subject) for line in lines(envelope)] == [
        ("the harbour master says hello", "pier"),
        ("and waves", "pier"),
    ]
    assert envelope.source == "note"


@pytest.mark.parametrize("result", [7, True, 1.5, "7", [1, "a", None], float("nan")])
def test_any_json_value_is_read(result: object) -> None:
    """Bare scalars too."""
    assert read(result).facts
