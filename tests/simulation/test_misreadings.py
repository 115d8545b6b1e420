"""What was seen is true and is read as more: each kind of misreading, handed in at the gate.

The calls are honest and the report is not: another pod's event, an empty listing, a change whose
content nobody read, an effect named for its cause. What was verifiably seen is still told.
"""

from __future__ import annotations

from typing import Any

import pytest

from affidavit.contract.decisions import DecisionId
from affidavit.contract.journal import EventType
from affidavit.contract.states import FallbackType
from tests.support.gates import Gated, Report, call, gated, report

pytestmark = pytest.mark.anyio

PANIC = "panic: runtime error: index out of range [3] with length 3"


def listing(id_: str, **changes: Any) -> Report:
    """A call, under its own name."""
    return call(id=id_, total=None, **changes)


def events(id_: str, pod: str, reason: str, message: str) -> Report:
    """What the platform reported of one pod."""
    row = {"object": pod, "reason": reason, "message": message}
    result = {"events": [row]}
    return listing(id_, tool="kubectl_events", arguments={"pod": pod}, result=result)


def analysis(body: str, cited: str, kind: str = "NORMAL", number: int = 1) -> Report:
    return {"id": f"A{number}", "kind": kind, "body": body, "tool_call_ids": [cited]}


async def told(
    calls: list[Report],
    *analyses: Report,
    concludes: str | None,
    action: str | None = None,
) -> Gated:
    """A whole run of that report."""
    bound = [item["id"] for item in analyses]
    acts = [] if action is None else [{"text": action, "based_on_analysis_ids": bound}]
    concluded = {"text": concludes, "based_on_analysis_ids": bound}
    draft = {
        "analyses": list(analyses),
        "conclusion": None if concludes is None else concluded,
        "action_plan": acts,
        "recommendations": [],
        "limitations": {"scope": "harbour", "missing_info": []},
    }
    return await gated(report(tool_calls=calls, draft=draft, question="Why does it fail?"))


def refused_at(run: Gated) -> set[str]:
    """Where the report was refused, as the fallback says."""
    assert run.release.fallback is not None
    return {issue.field for issue in run.release.fallback.validation_issues}


def facts_of(run: Gated) -> str:
    """What was told all the same."""
    assert run.release.fallback is not None
    assert run.release.fallback.conclusion is None
    return "\n".join(fact.text for fact in run.release.fallback.observed_facts)


@pytest.mark.spec("G7", "M4", "D4", "C9")
@pytest.mark.fault("R3")
@pytest.mark.parametrize(
    ("asked", "other"), [("boarding-1", "gates-9"), ("seats-2", "boarding-1"), ("a-1", "a-10")]
)
async def test_another_ones_event_is_no_evidence_about_this_one(asked: str, other: str) -> None:
    """The asked pod provably started; what was loud elsewhere is laid at its door."""
    calls = [
        events("own", asked, "Started", "Started container app"),
        events("loud", other, "FailedCreatePodSandBox", "no free addresses"),
    ]
    blamed = analysis(f"{asked} has no free addresses.", "loud")
    run = await told(calls, blamed, concludes=f"{asked} fails with FailedCreatePodSandBox.")
    assert run.release.decision is DecisionId.D4
    assert refused_at(run)
    assert other in facts_of(run)


@pytest.mark.spec("G8", "G9", "N8", "N7")
@pytest.mark.fault("R6")
@pytest.mark.parametrize("kind", ["NORMAL", "NEGATIVE_OBSERVATION"])
@pytest.mark.parametrize(
    ("command", "claim"),
    [
        ("ps aux", "The login service is not deployed."),
        ("ls /etc/app", "The settings of the login service are missing."),
        ("ps aux", "The login service failed because it never ran."),
    ],
)
async def test_an_empty_listing_is_no_cause_and_no_denial(
    command: str, claim: str, kind: str
) -> None:
    empty = listing(
        "empty", tool="run_command", arguments={"command": command}, status="no_data", result=""
    )
    run = await told([empty], analysis(claim, "empty", kind), concludes=claim)
    assert run.release.decision in {DecisionId.D3, DecisionId.D4}
    assert "/analyses/0" in {"/".join(field.split("/")[:3]) for field in refused_at(run)}
    assert "says nothing beyond that scope" in facts_of(run)


@pytest.mark.spec("G9", "D6")
@pytest.mark.fault("R6")
async def test_the_scoped_absence_alone_may_stand() -> None:
    empty = listing(
        "empty", tool="run_command", arguments={"command": "ps"}, status="no_data", result=""
    )
    scoped = analysis("`ps` returned nothing in the window.", "empty", "NEGATIVE_OBSERVATION")
    run = await told([empty], scoped, concludes=None)
    assert run.release.decision is DecisionId.D6
    assert run.release.fallback is not None
    assert run.release.fallback.type is FallbackType.INSUFFICIENT_EVIDENCE


CHANGED = listing(
    "changes",
    tool="what_changed",
    arguments={"service": "boarding"},
    result={
        "changes": [{"at": "2031-05-04T00:58:00Z", "service": "boarding", "commit": "abc1234"}]
    },
)


UNDOING = (
    "Revert commit abc1234.",
    "Revert abc1234.",
    "Roll back abc1234 of boarding.",
    "Roll abc1234 back.",
    "Rollback of abc1234 on boarding.",
    "Back out abc1234.",
    "回滚 abc1234。",
)


@pytest.mark.spec("M4", "M5", "C4")
@pytest.mark.fault("R7")
@pytest.mark.parametrize("action", UNDOING)
async def test_a_change_that_nobody_read_cannot_be_reverted_on_its_word(action: str) -> None:
    """That something changed is recorded, and that it was read is not."""
    seen = analysis("boarding has a change.", "changes")
    blind = await told([CHANGED], seen, concludes="boarding has a change.", action=action)
    assert blind.release.decision is DecisionId.D4
    assert "/action_plan/0/text" in refused_at(blind)
    blamed = await told([CHANGED], seen, concludes="Commit abc1234 broke boarding.", action=action)
    assert blamed.release.decision is DecisionId.D4
    assert {"/action_plan/0/text", "/conclusion/text"} <= refused_at(blamed)
    (checked,) = blamed.lines(EventType.SUPPORT_CHECK)
    assert "CAUSE_UNPROVED" in str(checked["codes"])


@pytest.mark.spec("M4")
@pytest.mark.fault("R7")
@pytest.mark.parametrize("action", [*UNDOING[:6], "Roll boarding back to commit abc1234."])
async def test_a_change_that_was_read_can_be_undone_and_one_can_be_gone_back_to(
    action: str,
) -> None:
    """With its diff on record the same words stand; where one goes back to is not undone."""
    read = listing(
        "diffs",
        tool="show_commit",
        arguments={"service": "boarding"},
        result={"changes": [{"commit": "abc1234", "diff": "-pool: 50\n+pool: 5"}]},
    )
    seen = [analysis("boarding has a change.", "changes")]
    calls = [CHANGED]
    if "back to" not in action:
        seen.append(analysis("boarding has a change.", "diffs", number=2))
        calls.append(read)
    heard = await told(calls, *seen, concludes="boarding has a change.", action=action)
    assert heard.lines(EventType.SUPPORT_CHECK), "the words were looked at"
    assert "/action_plan/0/text" not in refused_at(heard)


@pytest.mark.spec("M4", "G6")
@pytest.mark.fault("R27")
@pytest.mark.parametrize("panic", [PANIC, "fatal error: all goroutines are asleep - deadlock!"])
async def test_who_names_what_the_log_says_cites_the_log(panic: str) -> None:
    """The restart is an effect; its cause stands in the log before it, which the agent read."""
    calls = [
        events("restarts", "boarding-1", "BackOff", "Back-off restarting failed container"),
        listing(
            "log",
            tool="kubectl_logs_previous",
            arguments={"pod": "boarding-1"},
            result=f"2031-05-04T01:10:00Z {panic}",
        ),
    ]
    named = f'The log of boarding-1 says "{panic}".'
    uncited = await told(calls, analysis("boarding-1 is in BackOff.", "restarts"), concludes=named)
    assert uncited.release.decision is DecisionId.D4
    assert "/conclusion/text" in refused_at(uncited)
    cited = await told(calls, analysis(f'The log says "{panic}".', "log"), concludes=named)
    assert cited.release.decision is DecisionId.D1
