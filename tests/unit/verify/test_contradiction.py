"""What anything in the run says against a sentence: refused, or shown beside it (M4, R22).

Each false sentence has a twin that only differs in what makes it false, and is not refused for it.
"""

from __future__ import annotations

from typing import Any

import pytest

from affidavit.affidavit.exact import write_exact
from affidavit.contract.violations import SupportCode
from affidavit.release.reading import read_draft
from affidavit.tools.supplied import read_gate_input, supplied_ledger
from affidavit.verify.evidence import VerifiedDraft, check_evidence
from affidavit.verify.support import SentenceProof, check_support

Call = dict[str, Any]

WINDOW = {"start": "2031-03-02T10:00:00Z", "end": "2031-03-02T10:30:00Z"}
OK = '{"service": "checkout", "http": 200}'


def call(name: str, result: object, tool: str = "kubectl_get_pods", **more: Any) -> Call:
    arguments = more.pop("arguments", {"namespace": "shop"})
    status = "success" if result else "no_data"
    made = {"id": name, "tool": tool, "arguments": arguments, "status": status, "result": result}
    return {**made, **more}


PROBE = call("probe", {"service": "checkout", "status": "ok"}, "http_probe")
BACKOFF = call(
    "pods",
    "NAME                       READY   STATUS             RESTARTS   AGE\n"
    "checkout-7d9f6b5c4-x2xkq   0/1     CrashLoopBackOff   6          3h\n"
    "cart-6c9f7d5b8-8rw4n       1/1     Running            0          3h\n",
)
RUNNING = call(
    "pods",
    "NAME                       READY   STATUS    RESTARTS   AGE\n"
    "checkout-7d9f6b5c4-x2xkq   1/1     Running   0          3h\n"
    "cart-6c9f7d5b8-8rw4n       1/1     Running   0          3h\n",
)


def checked(text: str, *calls: Call, **more: Any) -> tuple[set[SupportCode], SentenceProof]:
    """The codes against the first sentence, which cites the first call, and its proof."""
    analysis = {
        "id": "A1",
        "kind": more.pop("kind", "NORMAL"),
        "sentences": [{"text": text, "statements": more.pop("statements", [])}],
        "tool_call_ids": [calls[0]["id"]],
    }
    concluded = {"text": "That was seen.", "based_on_analysis_ids": ["A1"]}
    draft = {"analyses": [analysis], "conclusion": concluded, "limitations": {"scope": "shop"}}
    raw = {"question": "Is the shop well?", "window": WINDOW, "tool_calls": list(calls)}
    given = read_gate_input({**raw, "draft": draft})
    ledger = supplied_ledger(given, "run_1", "acme")
    verified = check_evidence(read_draft(write_exact(draft).encode()), ledger)
    assert isinstance(verified, VerifiedDraft), verified
    report = check_support(verified, ledger, given.question)
    return {item.code for item in report.refusals if item.sentence == 1}, report.proofs[0]


def is_refuted(text: str, *calls: Call, **more: Any) -> bool:
    codes, proof = checked(text, *calls, **more)
    refuted = SupportCode.EVIDENCE_CONTRADICTS in codes
    assert not refuted or proof.against, "what refutes is shown"
    return refuted


WELL = (
    "checkout is healthy.",
    "checkout was running normally.",
    "The checkout service is stable.",
    "checkout had no problems.",
    "There were no failures in checkout.",
    "checkout has no restarts.",
    "Everything is healthy.",
    "All pods are healthy.",
    "No problems were detected.",
    "checkout运行正常。",
    "checkout没有异常。",
    "未发现问题。",
)


@pytest.mark.spec("M4")
@pytest.mark.fault("R22")
@pytest.mark.parametrize("text", WELL)
def test_well_beside_a_platform_state_that_says_otherwise_is_refused(text: str) -> None:
    """The state stands in a call that the sentence does not cite."""
    assert is_refuted(text, PROBE, BACKOFF)
    assert not is_refuted(text, PROBE, RUNNING)


@pytest.mark.spec("M4")
@pytest.mark.parametrize(
    "text",
    [
        "cart is healthy.",
        "cart is healthy, but checkout is not.",
        "checkout is not healthy.",
        "Most pods are healthy.",
        "1 of 2 pods are healthy.",
        "The other pods are healthy.",
        "The health check of checkout answers.",
        "checkout should be healthy.",
        "cart运行正常。",
        "checkout不正常。",
        "其他服务都正常。",
    ],
)
def test_what_is_said_of_something_else_or_of_less_is_not_refused_for_it(text: str) -> None:
    assert not is_refuted(text, PROBE, BACKOFF)


@pytest.mark.spec("M4")
def test_both_halves_of_a_sentence_are_looked_at() -> None:
    assert is_refuted("cart restarted once, but checkout is healthy.", PROBE, BACKOFF)
    assert is_refuted("checkout answers 200 and is healthy.", PROBE, BACKOFF)


def logged(name: str, text: str, **more: Any) -> Call:
    asked = {"service": "checkout", "query": "*"}
    return call(name, text, "search_logs", arguments=asked, **more)


@pytest.mark.spec("M4", "C13")
def test_less_trusted_words_are_shown_beside_the_sentence() -> None:
    """A workload's own words do not refute; they are not hidden either."""
    loud = logged("logs", "2031-03-02T10:03:11Z ERROR checkout: payment timeout after 5000 ms")
    codes, proof = checked("checkout is healthy.", PROBE, loud)
    assert SupportCode.EVIDENCE_CONTRADICTS not in codes
    assert {item.tool_call_id for item in proof.against} == {"logs"}
    quiet = logged("logs", "2031-03-02T10:03:11Z INFO checkout: 200 in 5 ms")
    assert checked("checkout is healthy.", PROBE, quiet)[1].against == ()


@pytest.mark.spec("M4", "C13", "N16")
def test_what_a_caller_could_have_written_is_neither() -> None:
    text = "2031-03-02T10:03:11Z ERROR checkout: everything has failed"
    codes, proof = checked("checkout is healthy.", PROBE, logged("l", text, emitter="request"))
    assert SupportCode.EVIDENCE_CONTRADICTS not in codes
    assert proof.against == ()


@pytest.mark.spec("M4", "C13", "N17")
@pytest.mark.parametrize(("kind", "shown"), [("ALERT", 1), ("GUIDANCE", 0), ("CHANGE", 0)])
def test_only_an_observation_refutes(kind: str, shown: int) -> None:
    told = {**BACKOFF, "evidence_class": kind}
    codes, proof = checked("checkout is healthy.", PROBE, told)
    assert SupportCode.EVIDENCE_CONTRADICTS not in codes
    assert len(proof.against) == shown


def event(at: str) -> Call:
    rows = [{"time": at, "type": "Warning", "object": "checkout", "status": "CrashLoopBackOff"}]
    return call("events", {"events": rows}, "kubectl_get_events")


@pytest.mark.spec("M4")
def test_a_record_of_another_time_refutes_nothing() -> None:
    probe = {**PROBE, "arguments": {"start": WINDOW["start"], "end": WINDOW["end"]}}
    assert is_refuted("checkout is healthy.", probe, event("2031-03-02T10:12:00Z"))
    assert not is_refuted("checkout is healthy.", probe, event("2031-03-02T08:12:00Z"))


@pytest.mark.spec("M4")
def test_a_sentence_that_sets_a_time_apart_is_shown_what_speaks_against_it() -> None:
    text = "checkout is healthy again since 10:20."
    codes, proof = checked(text, PROBE, event("2031-03-02T10:12:00Z"))
    assert SupportCode.EVIDENCE_CONTRADICTS not in codes
    assert {item.tool_call_id for item in proof.against} == {"events"}


def series(name: str, value: int) -> Call:
    text = (
        "timestamp,service,metric,value\n"
        f"2031-03-02T10:05:00Z,checkout,http_errors,{value}\n"
        "2031-03-02T10:06:00Z,checkout,http_errors,3\n"
    )
    return call(name, text, "query_metrics", arguments={"service": "checkout"})


@pytest.mark.spec("M4")
def test_a_metric_store_that_counts_errors_refutes_that_there_are_none() -> None:
    assert is_refuted("checkout has no errors.", PROBE, series("m", 7))
    assert not is_refuted("checkout is stable.", PROBE, series("m", 7)), "a few errors are no state"
    assert not is_refuted("checkout has no restarts.", PROBE, series("m", 7))
    assert not is_refuted("cart has no errors.", PROBE, series("m", 7))


@pytest.mark.spec("M4")
def test_the_same_reading_with_another_value_refutes_a_typed_value() -> None:
    stated = {
        "kind": "value",
        "tool_call_id": "one",
        "subject": "checkout",
        "attribute": "http_errors",
        "value": 7,
        "at": "2031-03-02T10:05:00Z",
    }
    text = "http_errors of checkout was 7 at 10:05."
    assert is_refuted(text, series("one", 7), series("two", 9), statements=[stated])
    assert not is_refuted(text, series("one", 7), series("two", 7), statements=[stated])


def searched(name: str, query: str, result: str, **more: Any) -> Call:
    asked = {"service": "checkout", "query": query}
    return call(name, result, more.pop("tool", "search_logs"), arguments=asked, **more)


NONE = 'No log line of checkout matched "pool exhausted".'
LINE = "2031-03-02T10:07:00Z ERROR checkout: pool exhausted, 40 waiting"


@pytest.mark.spec("M4", "G9")
def test_what_an_empty_search_looked_for_and_another_found_refutes_the_absence() -> None:
    empty = searched("none", '"pool exhausted"', "")
    for other, refuted in (
        (searched("all", "ERROR", LINE), True),
        (searched("all", "ERROR", LINE.replace("pool", "cable")), False),
        (searched("all", "ERROR", LINE.replace("T10", "T07")), False),
        (searched("all", "ERROR", LINE, emitter="request"), False),
        ({**searched("all", "x", LINE), "arguments": {"service": "cart", "query": "x"}}, False),
    ):
        codes, _ = checked(NONE, empty, other, kind="NEGATIVE_OBSERVATION")
        assert (SupportCode.ABSENCE_REFUTED in codes) == refuted, other


@pytest.mark.spec("M4")
def test_actions_and_scope_say_nothing_that_a_record_could_refute() -> None:
    codes, proof = checked("cart runs.", RUNNING, BACKOFF | {"id": "more"})
    assert SupportCode.EVIDENCE_CONTRADICTS not in codes
    assert proof.against == ()
