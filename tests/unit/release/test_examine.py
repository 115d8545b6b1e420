"""Gathering: guard, repair, support check, judge, and what is written down of it (section 10)."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from affidavit.contract.agent import Ending
from affidavit.contract.errors import (
    BudgetSpent,
    DeadlineReached,
    InternalFault,
    ModelFailed,
    RecordFailed,
    RunCancelled,
    RunStopped,
)
from affidavit.contract.journal import EventType
from affidavit.contract.states import (
    AgentStatus,
    DiagnosisStopReason,
    Provenance,
    SemanticVerdict,
)
from affidavit.release import examine as room
from affidavit.release.examine import Examiner, examine, gather_stopped
from affidavit.release.findings import Findings, findings_after
from affidavit.release.material import AskedFor, Evidence, Gathered, NoMaterial, Refusals, Supported
from affidavit.release.repair import NoRepairer, Repairer, RepairUnavailable
from affidavit.release.situation import (
    Cancelled,
    Cited,
    Faulted,
    Illegal,
    Opinion,
    RepairEnd,
    Spent,
    StopKind,
    Stopped,
    Uncited,
    Unconcluded,
)
from affidavit.verify.judges import Judge
from tests.unit.progress.ledgers import Book, value
from tests.unit.release.drafts import (
    QUESTION,
    PlainDesk,
    ScriptedJudge,
    ScriptedRepairer,
    concluded,
    draft,
    progress_of,
)

INITIAL = EventType.EVIDENCE_GUARD_INITIAL
RECHECK = EventType.EVIDENCE_GUARD_RECHECK
REPAIR = EventType.EVIDENCE_REPAIR_ATTEMPT
SUPPORT = EventType.SUPPORT_CHECK
ATTEMPT = EventType.SEMANTIC_GUARD_ATTEMPT
DECISION = EventType.SEMANTIC_GUARD_DECISION

SUPPORTED, UNSUPPORTED = SemanticVerdict.SUPPORTED, SemanticVerdict.UNSUPPORTED
MEND = [{"pointer": "/analyses/0/tool_call_ids", "ids": ["call_0001"]}]


def book() -> Book:
    """A ledger with one reading."""
    made = Book()
    made.found(value())
    return made


async def gather(
    findings: Findings,
    judge: Judge | None = None,
    repairer: Repairer | None = None,
    desk: PlainDesk | None = None,
    ledger: Book | None = None,
) -> Gathered:
    facts = ledger or book()
    return await examine(
        findings,
        progress_of(facts),
        facts.ledger(),
        Examiner(judge or ScriptedJudge(), repairer or NoRepairer()),
        desk or PlainDesk(),
    )


@pytest.mark.spec("D1", "A1", "A2")
async def test_a_true_report_goes_straight_through() -> None:
    """Guard, support check, judge; each on record, and the draft is the author's own."""
    desk, judge = PlainDesk(), ScriptedJudge()
    gathered = await gather(concluded(draft("call_0001")), judge, desk=desk)
    assert gathered.situation == Cited(Opinion.SUPPORTED)
    assert isinstance(gathered.material, Supported)
    assert desk.lines() == [INITIAL, SUPPORT, ATTEMPT, DECISION]
    assert desk.data(INITIAL) == [{"result": "PASSED", "violations": 0, "codes": ()}]
    assert desk.data(ATTEMPT) == [{"judge": "scripted", "attempt": 1, "result": "ANSWERED"}]
    assert desk.data(DECISION)[0]["verdict"] == "SUPPORTED"
    assert len(judge.seen) == 1


@pytest.mark.spec("M1", "M2")
async def test_the_judge_sees_three_things_and_its_reason_stays_private() -> None:
    """Question, draft and verified evidence; the reason is an artifact, and the line a digest."""
    desk, judge = PlainDesk(), ScriptedJudge()
    await gather(concluded(draft("call_0001")), judge, desk=desk)
    query, seen, snapshot = judge.seen[0]
    assert query == QUESTION
    assert seen.conclusion is not None
    assert [call.tool_call_id for call in snapshot.calls] == ["call_0001"]
    reason = str(desk.data(DECISION)[0]["reason_digest"])
    assert desk.contents[reason] == b"a private reason"
    assert "private" not in repr(desk.past)


@pytest.mark.spec("D2", "Q3", "N4")
async def test_a_repaired_report_is_checked_again() -> None:
    """Guard, repair, guard; and only then the words are weighed."""
    desk, repairer = PlainDesk(), ScriptedRepairer(MEND)
    gathered = await gather(concluded(draft("call_0099")), None, repairer, desk)
    assert gathered.situation == Cited(Opinion.SUPPORTED, repaired=True)
    assert desk.lines() == [INITIAL, REPAIR, RECHECK, SUPPORT, ATTEMPT, DECISION]
    assert desk.data(INITIAL)[0] == {
        "result": "FAILED",
        "violations": 1,
        "codes": ("INVOCATION_NOT_FOUND",),
    }
    assert desk.data(RECHECK)[0]["result"] == "PASSED"
    assert json.loads(desk.contents[str(desk.data(REPAIR)[0]["patch_digest"])]) == MEND


@pytest.mark.spec("Q1", "N1", "N10")
async def test_the_repairer_sees_three_things_once() -> None:
    """Question, draft and violations; one attempt, even when it does not help."""
    repairer = ScriptedRepairer([{"pointer": "/analyses/0/tool_call_ids", "ids": ["call_0098"]}])
    await gather(concluded(draft("call_0099")), None, repairer)
    ((query, seen, violations),) = repairer.seen
    assert query == QUESTION
    assert seen.analyses is not None
    assert [str(item.code) for item in violations] == ["INVOCATION_NOT_FOUND"]


@pytest.mark.spec("D3", "Q3", "Q5")
@pytest.mark.parametrize(
    ("repairer", "end"),
    [
        (NoRepairer(), RepairEnd.UNAVAILABLE),
        (ScriptedRepairer(RepairUnavailable("nobody")), RepairEnd.UNAVAILABLE),
        (ScriptedRepairer(ModelFailed("canary-exception")), RepairEnd.FAILED),
        (ScriptedRepairer("I cannot do that"), RepairEnd.UNREADABLE),
        (
            ScriptedRepairer([{"pointer": "/conclusion/text", "ids": ["new"]}]),
            RepairEnd.UNREADABLE,
        ),
        (
            ScriptedRepairer([{"pointer": "/analyses/0/tool_call_ids", "ids": ["call_0098"]}]),
            RepairEnd.STILL_INVALID,
        ),
    ],
)
async def test_a_repair_that_does_not_mend_ends_in_d3(repairer: Repairer, end: RepairEnd) -> None:
    """Unavailable, failed, unreadable, or still invalid; no judge is asked."""
    desk, judge = PlainDesk(), ScriptedJudge()
    gathered = await gather(concluded(draft("call_0099")), judge, repairer, desk)
    assert gathered.situation == Uncited(end)
    assert isinstance(gathered.material, Refusals)
    assert judge.seen == []
    assert "canary" not in repr(desk.past) + repr(gathered)


@pytest.mark.spec("D3", "Q2")
async def test_a_repair_that_changes_the_meaning_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The view is compared although a patch cannot change it: here patching itself is broken."""

    def broken(candidate: object, patch: object) -> object:
        del patch
        return replace(candidate, limitations=None)  # type: ignore[type-var]  # a draft

    monkeypatch.setattr(room, "apply_patch", broken)
    gathered = await gather(concluded(draft("call_0099")), None, ScriptedRepairer(MEND))
    assert gathered.situation == Uncited(RepairEnd.MEANING_CHANGED)


@pytest.mark.spec("Q4")
async def test_what_ids_cannot_mend_is_not_repaired() -> None:
    """No full view, no repair: nobody is asked."""
    repairer = ScriptedRepairer(MEND)
    written = draft("call_0001", limitations={"missing_info": []})
    gathered = await gather(concluded(written), None, repairer)
    assert gathered.situation == Uncited(RepairEnd.NOT_MENDABLE)
    assert repairer.seen == []


@pytest.mark.spec("D4", "M4")
async def test_a_refuted_report_meets_no_judge() -> None:
    """A contradiction is final, whatever a judge would say."""
    desk, judge = PlainDesk(), ScriptedJudge()
    wrong = "checkout error_rate was 9%."
    gathered = await gather(
        concluded(draft("call_0001", body=wrong, conclusion=wrong)), judge, desk=desk
    )
    assert gathered.situation == Cited(Opinion.REFUTED)
    assert isinstance(gathered.material, Evidence)
    assert desk.data(SUPPORT)[0]["result"] == "REFUTED"
    assert judge.seen == []


@pytest.mark.spec("D4", "M3")
async def test_unsupported_is_never_asked_again() -> None:
    """One answer is the answer."""
    judge = ScriptedJudge((UNSUPPORTED, SUPPORTED))
    gathered = await gather(concluded(draft("call_0001")), judge)
    assert gathered.situation == Cited(Opinion.UNSUPPORTED)
    assert len(judge.seen) == 1


@pytest.mark.spec("M3")
@pytest.mark.parametrize(
    "failure", [ModelFailed("canary-exception", code="MODEL_TIMEOUT"), None, "SUPPORTED"]
)
async def test_no_answer_is_asked_for_once_more_with_the_same_input(failure: object) -> None:
    """A failure or an answer that is none; the second question is the first, to the byte."""
    desk, judge = PlainDesk(), ScriptedJudge((failure, SUPPORTED))
    gathered = await gather(concluded(draft("call_0001")), judge, desk=desk)
    assert gathered.situation == Cited(Opinion.SUPPORTED)
    first, second = judge.seen
    assert first == second
    assert first[2].model_dump_json() == second[2].model_dump_json()
    attempts = [(line["attempt"], line["result"]) for line in desk.data(ATTEMPT)]
    code = "MODEL_TIMEOUT" if isinstance(failure, ModelFailed) else "ANSWER_MALFORMED"
    assert attempts == [(1, code), (2, "ANSWERED")]
    assert "canary" not in repr(desk.past)


@pytest.mark.spec("D5", "M3", "N10")
async def test_two_failures_are_no_verdict() -> None:
    """There is no third attempt, and no answer is never a yes."""
    desk, judge = PlainDesk(), ScriptedJudge((ModelFailed("no"), ModelFailed("no"), SUPPORTED))
    gathered = await gather(concluded(draft("call_0001")), judge, desk=desk)
    assert gathered.situation == Cited(Opinion.UNAVAILABLE)
    assert isinstance(gathered.material, Evidence)
    assert len(judge.seen) == 2
    assert desk.data(DECISION) == []


@pytest.mark.spec("D6", "L3")
async def test_without_a_conclusion_nobody_is_asked() -> None:
    """No repair, no judge: only the references are looked at, and bad ones are dropped."""
    desk, judge, repairer = PlainDesk(), ScriptedJudge(), ScriptedRepairer(MEND)
    written = draft("call_0001", "call_0099", conclusion=None)
    gathered = await gather(concluded(written), judge, repairer, desk)
    assert gathered.situation == Unconcluded(facts=True, asks=False, references_hold=False)
    assert desk.lines() == [INITIAL]
    assert judge.seen == []
    assert repairer.seen == []


@pytest.mark.spec("D7", "D8")
@pytest.mark.parametrize(
    ("missing", "cited", "situation"),
    [
        (["the time window"], [], Unconcluded(False, True, True)),
        (["the time window"], ["call_0099"], Unconcluded(False, True, False)),
        ([], [], Unconcluded(False, False, True)),
        (["proof that payment-db is the root cause"], [], Unconcluded(False, False, True)),
    ],
)
async def test_what_the_agent_lacks(
    missing: list[str], cited: list[str], situation: Unconcluded
) -> None:
    """A request that may be shown counts; one that claims a cause does not."""
    limits = {"scope": "none", "missing_info": missing}
    written = draft(*cited, conclusion=None, limitations=limits)
    gathered = await gather(concluded(written), ledger=Book())
    assert gathered.situation == situation
    assert isinstance(gathered.material, AskedFor)


@pytest.mark.spec("D9", "D11", "P4")
@pytest.mark.parametrize(
    ("ending", "status", "reason", "kind"),
    [
        (Ending.GAVE_UP, AgentStatus.DONE, None, StopKind.GAVE_UP),
        (
            Ending.GAVE_UP,
            AgentStatus.DONE,
            DiagnosisStopReason.INFORMATION_SATURATED,
            StopKind.SATURATED,
        ),
        (
            Ending.PROTOCOL_VIOLATED,
            AgentStatus.LOOP_DETECTED,
            DiagnosisStopReason.PROGRESS_PROTOCOL_VIOLATED,
            StopKind.PROTOCOL_VIOLATED,
        ),
        (
            Ending.LOOP_DETECTED,
            AgentStatus.LOOP_DETECTED,
            DiagnosisStopReason.INFORMATION_SATURATED,
            StopKind.LOOP_DETECTED,
        ),
    ],
)
async def test_a_controlled_stop_discards_any_draft(
    ending: Ending, status: AgentStatus, reason: DiagnosisStopReason, kind: StopKind
) -> None:
    """Even a draft that would pass: what was written after a violation is not looked at."""
    good = concluded(draft("call_0001")).draft
    findings, desk = Findings(QUESTION, ending, status, reason, good), PlainDesk()
    assert (await gather(findings, desk=desk)).situation == Stopped(kind, facts=True)
    assert (await gather(findings, ledger=Book())).situation == Stopped(kind, facts=False)
    assert desk.past == []


@pytest.mark.spec("D9")
async def test_saturated_without_a_conclusion_is_a_stop() -> None:
    """With one, it is a report like any other."""
    reason = DiagnosisStopReason.INFORMATION_SATURATED
    without = await gather(concluded(draft("call_0001", conclusion=None), reason))
    assert without.situation == Stopped(StopKind.SATURATED, facts=True)
    with_one = await gather(concluded(draft("call_0001"), reason))
    assert with_one.situation == Cited(Opinion.SUPPORTED)


@pytest.mark.spec("D10", "D11", "Q4")
@pytest.mark.parametrize("written", ["canary-draft", '{"analyses": [', "[]", ""])
async def test_an_illegal_draft_is_discarded(written: str) -> None:
    """Nobody repairs it, and none of its words remain."""
    repairer = ScriptedRepairer(MEND)
    gathered = await gather(concluded(written), None, repairer)
    assert gathered.situation == Illegal(facts=True)
    assert gathered.material == NoMaterial()
    assert repairer.seen == []
    assert "canary" not in repr(gathered)
    assert (await gather(concluded(written), ledger=Book())).situation == Illegal(facts=False)
    found_by_loop = Findings(QUESTION, Ending.UNREADABLE, AgentStatus.DONE)
    assert (await gather(found_by_loop)).situation == Illegal(facts=True)


@pytest.mark.spec("D12", "D13", "D14", "D15", "L4", "N5")
@pytest.mark.parametrize("facts", [True, False])
@pytest.mark.parametrize(
    "stop", [RunCancelled(), DeadlineReached(), BudgetSpent("tool_calls"), RunStopped()]
)
async def test_a_stop_is_what_it_is(stop: RunStopped, facts: bool) -> None:
    """In collection or in release, by `examine` or without it."""
    ledger = book() if facts else Book()
    findings = findings_after(stop, QUESTION)
    gathered = await gather(findings, ledger=ledger)
    assert gathered == gather_stopped(findings, progress_of(ledger), ledger.ledger())
    match stop:
        case RunCancelled():
            assert gathered.situation == Cancelled()
        case DeadlineReached():
            assert gathered.situation == Spent(timed_out=True, facts=facts)
        case BudgetSpent():
            assert gathered.situation == Spent(timed_out=False, facts=facts)
        case _:
            assert gathered.situation == Faulted()


@pytest.mark.spec("P4", "E18")
async def test_an_unlawful_end_fails_closed() -> None:
    """A stop reason that the table does not know beside this ending: nothing is published."""
    good = concluded(draft("call_0001"))
    for wrong in (
        replace(good, stop_reason=DiagnosisStopReason.BUDGET_LIMIT_REACHED),
        replace(good, stop_reason=DiagnosisStopReason.PROGRESS_PROTOCOL_VIOLATED),
        replace(good, agent_status=AgentStatus.CANCELLED),
    ):
        assert (await gather(wrong)).situation == Faulted()


async def test_a_draft_cannot_skip_the_checks() -> None:
    """`gather_stopped` is for stops: with a draft that could be examined it fails closed."""
    facts = book()
    gathered = gather_stopped(concluded(draft("call_0001")), progress_of(facts), facts.ledger())
    assert gathered.situation == Faulted()


@pytest.mark.spec("L4", "K6")
@pytest.mark.parametrize("stop", [RunCancelled(), DeadlineReached(), BudgetSpent("tokens")])
@pytest.mark.parametrize("at", ["judge", "repairer", "desk"])
async def test_a_stop_during_release_passes_unchanged(stop: RunStopped, at: str) -> None:
    """Neither swallowed nor dressed as a fallback, wherever it strikes."""
    judge = ScriptedJudge((stop,)) if at == "judge" else ScriptedJudge()
    repairer = ScriptedRepairer(stop) if at == "repairer" else ScriptedRepairer(MEND)
    desk = PlainDesk(stop=lambda: stop if at == "desk" else None)
    cited = "call_0001" if at == "judge" else "call_0099"
    with pytest.raises(type(stop)) as raised:
        await gather(concluded(draft(cited)), judge, repairer, desk)
    assert raised.value is stop


@pytest.mark.spec("L4", "E15")
@pytest.mark.parametrize("code", ["CANCELLED", "BUDGET_EXHAUSTED", "TIMED_OUT"])
@pytest.mark.parametrize("at", ["judge", "repairer"])
async def test_attempts_that_the_run_ended_are_no_model_failure(code: str, at: str) -> None:
    """A retry loop's CANCELLED or BUDGET_EXHAUSTED is rethrown as it came."""
    failure = ModelFailed("stopped", code=code)
    judge = ScriptedJudge((failure, SUPPORTED))
    repairer = ScriptedRepairer(failure)
    cited = "call_0001" if at == "judge" else "call_0099"
    with pytest.raises(ModelFailed) as raised:
        await gather(concluded(draft(cited)), judge, repairer)
    assert raised.value is failure
    assert len(judge.seen) <= 1


@pytest.mark.spec("L5", "N15")
@pytest.mark.parametrize("written", ["call_0001", "call_0099"])
async def test_what_cannot_be_recorded_decides_nothing(written: str) -> None:
    """Fail each append in turn: the caller hears so every time."""
    whole = PlainDesk()
    await gather(concluded(draft(written)), None, ScriptedRepairer(MEND), whole)
    assert whole.appends >= 3
    for number in range(1, whole.appends + 1):
        desk = PlainDesk(fails_at=number)
        with pytest.raises(RecordFailed):
            await gather(concluded(draft(written)), None, ScriptedRepairer(MEND), desk)
        assert len(desk.past) < len(whole.past)


@pytest.mark.spec("K8", "M3", "L6")
@pytest.mark.parametrize("written", ["call_0001", "call_0099"])
async def test_a_second_driver_rolls_no_second_dice(written: str) -> None:
    """Kill the driver after each append in turn: the next one ends where the first would have,
    asks nobody whose answer is on record, and writes no line twice."""
    findings, whole = concluded(draft(written)), PlainDesk()
    wanted = await gather(findings, ScriptedJudge((SUPPORTED,)), ScriptedRepairer(MEND), whole)
    for number in range(1, whole.appends + 1):
        desk = PlainDesk(fails_at=number)
        with pytest.raises(RecordFailed):
            await gather(findings, ScriptedJudge(), ScriptedRepairer(MEND), desk)
        desk.fails_at = None
        repairer, judge = ScriptedRepairer("no patch"), ScriptedJudge((SUPPORTED,))
        if REPAIR not in desk.lines():
            repairer = ScriptedRepairer(MEND)
        resumed = await gather(findings, judge, repairer, desk)
        assert resumed.situation == wanted.situation
        assert [entry.data for entry in desk.past] == [entry.data for entry in whole.past]


@pytest.mark.spec("K8", "M3")
@pytest.mark.parametrize("verdict", [SUPPORTED, UNSUPPORTED])
async def test_a_recorded_verdict_is_final(verdict: SemanticVerdict) -> None:
    """Another judge, another mood, even one that is down: the verdict on record stands."""
    findings, desk = concluded(draft("call_0001")), PlainDesk()
    first = await gather(findings, ScriptedJudge((verdict,)), desk=desk)
    other = UNSUPPORTED if verdict is SUPPORTED else SUPPORTED
    for judge in (ScriptedJudge((other,), name="other"), ScriptedJudge((ModelFailed("down"),))):
        again = await gather(findings, judge, desk=desk)
        assert again.situation == first.situation
        assert judge.seen == []
    assert len(desk.past) == 4


@pytest.mark.spec("K8", "M3")
async def test_a_recorded_failure_counts() -> None:
    """A driver that takes over after one failed attempt has one left, not two."""
    findings = concluded(draft("call_0001"))
    desk = PlainDesk(fails_at=4)
    with pytest.raises(RecordFailed):
        await gather(findings, ScriptedJudge((ModelFailed("no"),)), desk=desk)
    assert [line["attempt"] for line in desk.data(ATTEMPT)] == [1]
    desk.fails_at, judge = None, ScriptedJudge((ModelFailed("no"), SUPPORTED))
    assert (await gather(findings, judge, desk=desk)).situation == Cited(Opinion.UNAVAILABLE)
    assert len(judge.seen) == 1


@pytest.mark.spec("A3", "A4")
async def test_a_record_that_contradicts_the_facts_is_an_internal_failure() -> None:
    """A guard line that says PASSED over a draft that does not pass was not written by us."""
    desk = PlainDesk()
    await gather(concluded(draft("call_0001")), desk=desk)
    with pytest.raises(InternalFault):
        await gather(concluded(draft("call_0099")), desk=desk)


@pytest.mark.spec("L5")
async def test_a_patch_that_is_gone_decides_nothing() -> None:
    """Its line is on record and its bytes are not: the run cannot go on from there."""
    findings, desk = concluded(draft("call_0099")), PlainDesk()
    await gather(findings, None, ScriptedRepairer(MEND), desk)
    desk.contents.clear()
    with pytest.raises(RecordFailed):
        await gather(findings, None, ScriptedRepairer(MEND), desk)


@pytest.mark.spec("C12", "N18")
async def test_one_supplied_call_makes_the_answer_supplied() -> None:
    """Cited or not."""
    facts = book()
    facts.found(value(number="7"), provenance=Provenance.SUPPLIED)
    gathered = await gather(concluded(draft("call_0001")), ledger=facts)
    assert gathered.provenance is Provenance.SUPPLIED
    assert (await gather(concluded(draft("call_0001")))).provenance is Provenance.RECORDED


@pytest.mark.spec("M6")
async def test_withdrawal_has_its_place_and_says_that_nobody_was_asked() -> None:
    """One unprovable aside in a long report, and no author to ask."""
    sentences = [{"text": "checkout error_rate was 5%."}] * 7 + [{"text": "It was calm."}]
    written = draft("call_0001")
    written["analyses"][0] = {
        "id": "A1",
        "kind": "NORMAL",
        "sentences": sentences,
        "tool_call_ids": ["call_0001"],
    }
    desk = PlainDesk()
    await gather(concluded(written), ScriptedJudge((UNSUPPORTED,)), desk=desk)
    assert desk.data(EventType.DRAFT_WITHDRAWAL_ATTEMPT) == [
        {"result": "UNAVAILABLE", "withdrawn": 0, "sentences": ()}
    ]
