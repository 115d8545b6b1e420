"""A forger who makes every digest anew is caught where the content contradicts itself (A5)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from affidavit.affidavit.document import Document, PartStatements
from affidavit.affidavit.recheck import Check, Verdict
from affidavit.contract.journal import Entry, EventType
from affidavit.contract.states import Provenance
from tests.support.checking import recheck
from tests.support.worlds import Script, act, conclude
from tests.unit.affidavit.files import Forgery, opened, sealed_by, with_result

TRUE = "The errors of checkout were 5."


@pytest.fixture(scope="module")
def published() -> Document:
    """A published report that rests on one reading; a second call came back empty."""
    return opened(sealed_by([act("probe", "search"), conclude()]))


@pytest.fixture(scope="module")
def fallback() -> Document:
    """A fallback with facts of two calls and what the agent asks for."""
    limits = {"scope": "checkout", "missing_info": ["the logs of checkout"]}
    script: Script = [act("probe", "search"), conclude(conclusion=None, limitations=limits)]
    return opened(sealed_by(script))


def caught(content: bytes) -> Check:
    """The first check that failed. Form and digests were made anew, so none of theirs may fail."""
    found = recheck(content)
    assert found.verdict is Verdict.ALTERED
    assert found.failure is not None
    assert found.failure.name not in {"canonical bytes", "digest", "chain", "lines", "ending"}
    return found.failure


def release_of(document: Document) -> dict[str, Any]:
    """The answer as plain JSON, to be changed."""
    value: dict[str, Any] = document.release.model_dump(mode="json")
    return value


def forge_result(document: Document, change: Callable[[dict[str, Any]], None]) -> bytes:
    """The file with a changed report."""
    result = release_of(document)["result"]
    change(result)
    return Forgery(document, release={"result": result}).make()


def forge_fallback(document: Document, change: Callable[[dict[str, Any]], None]) -> bytes:
    """The file with a changed fallback."""
    fallback = release_of(document)["fallback"]
    change(fallback)
    return Forgery(document, release={"fallback": fallback}).make()


def say(result: dict[str, Any], text: str) -> None:
    """Every sentence of the report says this."""
    for part in (result["analyses"][0], result["conclusion"]):
        part["sentences"][0]["text"] = text
    result["analyses"][0]["body"] = result["conclusion"]["text"] = text


@pytest.mark.spec("A5", "M4", "C10")
@pytest.mark.parametrize(
    "text",
    [
        "The errors of checkout were 6.",
        "The errors of payment were 5.",
        "The errors of checkout were 5 because payment failed.",
        "Payment caused the errors of checkout.",
        "All services failed.",
        "The errors of checkout were 5 at https://example.org/x.",
    ],
)
def test_a_sentence_that_the_facts_do_not_carry(published: Document, text: str) -> None:
    failure = caught(forge_result(published, lambda result: say(result, text)))
    assert failure.name == "statements"
    assert failure.pointer.startswith("/release/result/analyses/0")


@pytest.mark.spec("A5", "M4")
def test_a_number_forged_in_words_and_statements_alike(published: Document) -> None:
    result = release_of(published)["result"]
    say(result, "The errors of checkout were 6.")
    six = tuple(
        replace(
            part,
            sentences=tuple(
                tuple(text.replace('"value":5', '"value":6') for text in one)
                for one in part.sentences
            ),
        )
        for part in published.statements
    )
    forged = Forgery(published, release={"result": result}, statements=six).make()
    assert caught(forged).name == "statements"


@pytest.mark.spec("A5", "C4")
def test_a_body_that_is_not_its_sentences(published: Document) -> None:
    def change(result: dict[str, Any]) -> None:
        result["analyses"][0]["body"] = TRUE + " Payment is down."

    failure = caught(forge_result(published, change))
    assert failure.name == "citations"
    assert failure.pointer == "/release/result/analyses/0/body"


@pytest.mark.spec("A5", "G6", "G7")
@pytest.mark.parametrize("call", ["call_0099", "call_0002", "run:other", "cаll_0001"])
def test_a_citation_of_a_call_that_is_not_there(published: Document, call: str) -> None:
    def change(result: dict[str, Any]) -> None:
        result["analyses"][0]["tool_call_ids"] = [call]

    assert caught(forge_result(published, change)).name == "calls"


@pytest.mark.spec("A5", "G8", "N8")
def test_an_absence_called_a_finding(published: Document) -> None:
    """The empty call, put into the file with a report that cites it as evidence."""
    empty = opened(sealed_by([act("probe", "search"), conclude(conclusion=None)]))
    call = empty.call("call_0002")
    assert call is not None

    def change(result: dict[str, Any]) -> None:
        result["analyses"][0]["tool_call_ids"] = ["call_0001", "call_0002"]

    result = release_of(published)["result"]
    change(result)
    calls = (*published.calls, call)
    failure = caught(Forgery(published, release={"result": result}, calls=calls).make())
    assert failure.name == "citations"
    assert failure.says == "EVIDENCE_KIND_MISMATCH"


@pytest.mark.spec("A5", "G7")
def test_a_call_without_its_projection(published: Document) -> None:
    failure = caught(Forgery(published, calls=()).make())
    assert (failure.name, failure.pointer) == ("calls", "/calls")


@pytest.mark.spec("A5")
def test_a_call_that_nothing_rests_on(published: Document, fallback: Document) -> None:
    more = fallback.call("call_0002")
    assert more is not None
    failure = caught(Forgery(published, calls=(*published.calls, more)).make())
    assert (failure.name, failure.pointer) == ("calls", "/calls/1")


@pytest.mark.spec("A5", "G7")
def test_projections_that_were_swapped(fallback: Document) -> None:
    """Two calls exchange their results, and the journal's lines with them: the facts do not fit."""
    first, second = fallback.calls
    swapped = (replace(first, result=second.result), replace(second, result=first.result))
    untouched = Forgery(fallback, calls=swapped)
    assert caught(untouched.make()).name == "facts"
    lazy = Forgery(fallback, calls=swapped, line=original_lines(fallback))
    assert caught(lazy.make()).name == "calls"


def original_lines(document: Document) -> Callable[[Entry], Mapping[str, object] | None]:
    """READY lines as they were."""
    before = {e.data["tool_call_id"]: e.data for e in document.journal if is_ready(e)}
    return lambda entry: before[entry.data["tool_call_id"]] if is_ready(entry) else None


def is_ready(entry: Entry) -> bool:
    """Whether the line settles a call as READY."""
    return entry.type is EventType.TOOL_CALL_READY


@pytest.mark.spec("A5", "G7")
@pytest.mark.parametrize(
    "change",
    [
        lambda envelope: envelope["facts"][0].update(subject="payment"),
        lambda envelope: envelope["facts"][0]["quantity"].update(number="6"),
        lambda envelope: envelope["scope"].update(tenant="somebody"),
        lambda envelope: envelope.update(facts=[], count=0, total=0, status="NO_EVIDENCE"),
        lambda envelope: envelope.update(count=2, total=2),
    ],
    ids=["subject", "number", "tenant", "emptied", "more than there is"],
)
def test_a_projection_that_was_changed(
    published: Document, change: Callable[[dict[str, Any]], None]
) -> None:
    """With all digests anew: the report's words no longer follow from it."""
    calls = [with_result(published.calls[0], change)]
    failure = caught(Forgery(published, calls=calls).make())
    assert failure.name in {"citations", "statements", "lives"}


@pytest.mark.spec("A5", "C10")
def test_a_chain_to_another_fact(published: Document) -> None:
    def change(result: dict[str, Any]) -> None:
        result["conclusion"]["sentences"][0]["statements"][0]["facts"] = [7]

    failure = caught(forge_result(published, change))
    assert failure.name == "statements"
    assert failure.pointer == "/release/result/conclusion/sentences/0/statements"


@pytest.mark.spec("A5", "C6")
def test_a_source_that_was_not_cited(published: Document) -> None:
    def change(result: dict[str, Any]) -> None:
        result["source_documents"][0]["source"] = "the payment database"

    assert caught(forge_result(published, change)).name == "citations"


@pytest.mark.spec("A5", "C4")
def test_statements_of_other_parts(published: Document) -> None:
    for statements in ((), published.statements[:1], published.statements[::-1], broken_part()):
        forged = Forgery(published, statements=statements).make()
        assert caught(forged).name == "citations"


def broken_part() -> tuple[PartStatements, ...]:
    """Statements that are no objects."""
    return (
        PartStatements("/analyses/0", True, (("[]",),)),
        PartStatements("/conclusion", True, (("[]",),)),
    )


@pytest.mark.spec("A5", "C9", "N6")
@pytest.mark.parametrize(
    "change",
    [
        {"text": "payment is the root cause"},
        {"status": "NO_EVIDENCE"},
        {"source": "another back end"},
        {"tool_call_id": "call_0002"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_fact_that_nothing_recorded_says(fallback: Document, change: dict[str, str]) -> None:
    def forge(content: dict[str, Any]) -> None:
        content["observed_facts"][0].update(change)

    failure = caught(forge_fallback(fallback, forge))
    assert (failure.name, failure.pointer) == ("facts", "/release/fallback/observed_facts/0")


@pytest.mark.spec("A5", "C7", "N6")
@pytest.mark.parametrize(
    ("field", "items"),
    [
        ("limitations", ["Payment caused this."]),
        ("limitations", ["根因是支付服务"]),
        ("next_steps", ["Restart payment."]),
        ("asked_for", ["whether payment caused this"]),
        ("validation_issues", [{"code": "DRAFT_MISSING", "field": ""}]),
        ("validation_issues", [{"code": "payment is down", "field": ""}]),
    ],
)
def test_words_that_no_code_of_ours_says(
    fallback: Document, field: str, items: list[object]
) -> None:
    failure = caught(forge_fallback(fallback, lambda content: content.update({field: items})))
    assert failure.name == "words"
    assert failure.pointer.startswith(f"/release/fallback/{field}")


@pytest.mark.spec("A5", "C6")
def test_a_source_that_was_never_read(fallback: Document) -> None:
    def change(content: dict[str, Any]) -> None:
        content["verified_sources"][0]["source"] = "the payment database"

    assert caught(forge_fallback(fallback, change)).name == "facts"


@pytest.mark.spec("A5", "C9")
def test_a_lead_that_no_scan_gave(fallback: Document) -> None:
    lead = {
        "entity": "payment",
        "signal": "errors",
        "size": "up",
        "missing": "no record that states a cause",
        "tool_call_id": "call_0001",
    }
    failure = caught(forge_fallback(fallback, lambda content: content.update(leads=[lead])))
    assert failure.pointer == "/release/fallback/leads/0"


@pytest.mark.spec("A5", "E17", "E18", "N5")
@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"run_state": "CANCELLED"}, "/release/run_state"),
        ({"outcome": "FALLBACK"}, "/release/outcome"),
        ({"failure_code": "INTERNAL_FAILURE"}, "/release/failure_code"),
        ({"result": None}, "/release/result"),
        ({"agent_status": "TIMEOUT"}, "/release/agent_status"),
        ({"stop_reason": "BUDGET_LIMIT_REACHED"}, "/release/stop_reason"),
        ({"stop_reason": "INFORMATION_SATURATED"}, "/release/agent_status"),
    ],
    ids=json.dumps,
)
def test_states_that_cannot_stand_together(
    published: Document, change: dict[str, object], pointer: str
) -> None:
    calls = () if "result" in change else None
    failure = caught(Forgery(published, release=change, calls=calls).make())
    assert failure.pointer == pointer


CANCELLED = {
    "decision": "D14",
    "run_state": "CANCELLED",
    "outcome": "CANCELLED",
    "failure_code": "RUN_CANCELLED",
    "agent_status": "CANCELLED",
    "result": None,
    "fallback": None,
}
FAILED = {**CANCELLED, "decision": "D15", "run_state": "FAILED", "outcome": "FAILED"} | {
    "failure_code": "INTERNAL_FAILURE",
    "agent_status": "FAILED",
}


@pytest.mark.spec("A5", "L8")
@pytest.mark.parametrize("answer", [CANCELLED, FAILED], ids=["D14", "D15"])
def test_an_answer_made_away_with(published: Document, answer: dict[str, object]) -> None:
    """A published report, turned into a cancelled or a failed run that says nothing."""
    failure = caught(Forgery(published, release=answer, calls=(), statements=()).make())
    assert failure.name in {"states", "decision"}
    names = {check.name for check in failures(published, answer)}
    assert "decision" in names


def failures(document: Document, answer: dict[str, object]) -> list[Check]:
    """Every check that fails for the file with that answer."""
    content = Forgery(document, release=answer, calls=(), statements=()).make()
    return [check for check in recheck(content).checks if check.passed is False]


@pytest.mark.spec("A5", "L8")
def test_a_repaired_report_called_untouched_and_the_reverse(published: Document) -> None:
    failure = caught(Forgery(published, release={"decision": "D2"}).make())
    assert (failure.name, failure.pointer) == ("decision", "/release/decision")
    assert "D1" in failure.says


@pytest.mark.spec("A5", "L8", "D4", "D1")
def test_a_refuted_report_cannot_become_a_published_one(published: Document) -> None:
    """The journal says REFUTED; the answer is exchanged for a report that would even be true."""
    false = conclude(limitations={"scope": "9 of payment"})
    refuted = opened(sealed_by([act("probe", "search"), false]))
    assert refuted.release.decision == "D4"
    stolen = Forgery(
        refuted,
        release={
            **{key: release_of(published)[key] for key in ("decision", "outcome", "result")},
            "fallback": None,
        },
        calls=[refuted.calls[0]],
        statements=published.statements,
    )
    failure = caught(stolen.make())
    assert failure.name == "decision"
    assert "D4" in failure.says


@pytest.mark.spec("A5", "C12", "N18")
def test_a_supplied_call_in_a_recorded_answer(published: Document) -> None:
    supplied = [replace(call, provenance=Provenance.SUPPLIED) for call in published.calls]
    assert caught(Forgery(published, calls=supplied).make()).name == "provenance"


@pytest.mark.spec("A5", "K3", "C11")
@pytest.mark.parametrize(
    "change",
    [
        {"usage": {"iterations": 1}},
        {"usage": {"tool_calls": 1}},
        {"usage": {"attempts": 9}},
        {"coverage": {"lines": []}},
    ],
    ids=json.dumps,
)
def test_counts_that_the_journal_does_not_hold(
    published: Document, change: dict[str, dict[str, object]]
) -> None:
    before = release_of(published)
    ((field, part),) = change.items()
    failure = caught(Forgery(published, release={field: {**before[field], **part}}).make())
    assert failure.name == "counts"


@pytest.mark.spec("A5", "C11")
def test_a_failed_source_called_consulted(fallback: Document) -> None:
    lines = release_of(fallback)["coverage"]["lines"]
    for line in lines:
        line["status"] = "consulted" if line["calls"] else line["status"]
    assert caught(Forgery(fallback, release={"coverage": {"lines": lines}}).make()).name == "counts"


@pytest.mark.spec("A5")
@pytest.mark.parametrize(
    "change",
    [{"question": "Is payment down?"}, {"tenant": "somebody"}],
    ids=["question", "tenant"],
)
def test_another_question_than_was_asked(published: Document, change: dict[str, str]) -> None:
    assert caught(Forgery(published, release=change).make()).name == "request"
    assert caught(Forgery(published, request=change).make()).name == "request"


@pytest.mark.spec("A5")
def test_a_request_of_a_larger_budget(published: Document) -> None:
    limits = {**published.request.limits.model_dump(mode="json"), "tool_calls": 999}
    assert caught(Forgery(published, request={"limits": limits}).make()).name == "request"


@pytest.mark.spec("A5", "E2", "K9")
@pytest.mark.parametrize(
    "type_",
    [
        EventType.TOOL_CALL_INTENDED,
        EventType.TOOL_CALL_PROJECTING,
        EventType.TOOL_CALL_READY,
        EventType.STEP_DECIDED,
    ],
)
def test_a_life_without_one_of_its_lines(fallback: Document, type_: EventType) -> None:
    place = next(n for n, entry in enumerate(fallback.journal) if entry.type is type_)
    lines = fallback.journal[:place] + fallback.journal[place + 1 :]
    found = recheck(Forgery(fallback, journal=lines).make())
    assert found.verdict is Verdict.ALTERED
    assert found.failure is not None
    assert found.failure.name in {"lives", "lines", "calls"}


@pytest.mark.spec("A5")
def test_what_no_unsigned_file_can_show(published: Document) -> None:
    """A consistent forgery passes: other facts, and a report that is true to them.

    docs/affidavit-file.md says so; it ends when files are signed.
    """

    def change(envelope: dict[str, Any]) -> None:
        envelope["facts"][0]["quantity"]["number"] = "6"

    result = release_of(published)["result"]
    say(result, "The errors of checkout were 6.")
    six = tuple(
        replace(
            part,
            sentences=tuple(
                tuple(text.replace('"value":5', '"value":6') for text in one)
                for one in part.sentences
            ),
        )
        for part in published.statements
    )
    forged = Forgery(
        published,
        release={"result": result},
        calls=[with_result(published.calls[0], change)],
        statements=six,
    ).make()
    assert recheck(forged).verdict is Verdict.INTACT_SIGNER_UNKNOWN
