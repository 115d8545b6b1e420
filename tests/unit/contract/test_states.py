"""The tables of contract.states and contract.decisions, and the laws that they must obey."""

from __future__ import annotations

from itertools import product

import pytest

from affidavit.contract.decisions import DECISIONS, DecisionId, DecisionRow
from affidavit.contract.states import (
    ACCEPTED_EVIDENCE,
    AGENT_RUN_STATES,
    AGENT_STOP_REASONS,
    CHAT_MOVES,
    EVIDENCE_OF,
    INVOCATION_MOVES,
    RUN_MOVES,
    SSE_OF,
    AgentStatus,
    AnalysisKind,
    ChatApplicationStatus,
    ChatFailureCode,
    DiagnosisStopReason,
    EvidenceStatus,
    FallbackType,
    InvocationStatus,
    ReleaseOutcome,
    RunState,
    SseOutcome,
    is_terminal,
)


@pytest.mark.spec("E1", "E17", "N12")
def test_a_run_leaves_running_once_and_no_terminal_state_has_a_way_out() -> None:
    assert set(RUN_MOVES) == set(RunState)
    assert [state for state in RunState if not is_terminal(state)] == [RunState.RUNNING]
    assert RUN_MOVES[RunState.RUNNING] == set(RunState) - {RunState.RUNNING}


@pytest.mark.spec("E2", "E17")
def test_a_call_is_settled_once() -> None:
    settled = {InvocationStatus.READY, InvocationStatus.ERROR}
    assert INVOCATION_MOVES[InvocationStatus.PROJECTING] == settled
    assert all(not INVOCATION_MOVES[state] for state in settled)


@pytest.mark.spec("E3", "E16", "T4", "N9")
def test_an_empty_answer_is_a_success_and_an_error_is_never_evidence() -> None:
    assert EvidenceStatus.NO_EVIDENCE in EVIDENCE_OF[InvocationStatus.READY]
    assert EvidenceStatus.ERROR not in EVIDENCE_OF[InvocationStatus.READY]
    assert EVIDENCE_OF[InvocationStatus.ERROR] == {EvidenceStatus.ERROR}
    assert not EVIDENCE_OF[InvocationStatus.PROJECTING]


@pytest.mark.spec("E4", "G8", "N8", "N9")
def test_each_kind_of_analysis_accepts_exactly_one_evidence_status_and_never_error() -> None:
    assert set(ACCEPTED_EVIDENCE) == set(AnalysisKind)
    assert ACCEPTED_EVIDENCE[AnalysisKind.NORMAL] is EvidenceStatus.EVIDENCE_FOUND
    assert ACCEPTED_EVIDENCE[AnalysisKind.NEGATIVE_OBSERVATION] is EvidenceStatus.NO_EVIDENCE


@pytest.mark.spec("E10", "E19", "N11")
def test_done_has_a_word_for_every_outcome_but_cancelled() -> None:
    assert set(SSE_OF) == set(ReleaseOutcome) - {ReleaseOutcome.CANCELLED}
    assert set(SSE_OF.values()) == set(SseOutcome)


@pytest.mark.spec("E9", "L1")
def test_every_branch_of_a_turn_ends_at_the_release_and_none_goes_back() -> None:
    for status in ChatApplicationStatus:
        walk, seen = [status], set()
        while walk:
            here = walk.pop()
            assert here not in CHAT_MOVES[here]
            seen.add(here)
            walk.extend(CHAT_MOVES[here] - seen)
        assert ChatApplicationStatus.SAFETY_VALIDATING in seen


@pytest.mark.spec("E5", "E14", "E18", "N5", "P4")
def test_every_end_of_the_loop_names_its_run_states_and_stop_reasons() -> None:
    assert set(AGENT_RUN_STATES) == set(AgentStatus) == set(AGENT_STOP_REASONS)
    named = {reason for reasons in AGENT_STOP_REASONS.values() for reason in reasons}
    assert named == {None, *DiagnosisStopReason}
    reached = {state for states in AGENT_RUN_STATES.values() for state in states}
    assert reached == set(RunState)
    assert AGENT_RUN_STATES[AgentStatus.CANCELLED] == {RunState.CANCELLED}


@pytest.mark.spec("E7", "E8", "E17", "C7")
def test_only_a_fallback_row_carries_a_type_and_a_stage() -> None:
    assert set(DECISIONS) == set(DecisionId)
    for row in DECISIONS.values():
        is_fallback = row.outcome is ReleaseOutcome.FALLBACK
        assert is_fallback == (row.fallback is not None) == (row.stage is not None)
        assert row.meaning


@pytest.mark.spec("E19")
def test_budget_exhausted_is_reserved_and_the_rest_of_the_types_is_published() -> None:
    published = {row.fallback for row in DECISIONS.values()} - {None}
    assert published == set(FallbackType) - {FallbackType.BUDGET_EXHAUSTED}


@pytest.mark.spec("E8", "E17")
@pytest.mark.parametrize(
    ("outcome", "fallback"),
    [
        (outcome, fallback)
        for outcome, fallback in product(ReleaseOutcome, [None, *FallbackType])
        if (outcome is ReleaseOutcome.FALLBACK) != (fallback is not None)
        or fallback is FallbackType.BUDGET_EXHAUSTED
    ],
)
def test_an_illegal_row_cannot_be_written_down(
    outcome: ReleaseOutcome, fallback: FallbackType | None
) -> None:
    with pytest.raises(ValueError, match="D1"):
        DecisionRow(DecisionId.D1, (RunState.SUCCESS,), outcome, fallback)


@pytest.mark.spec("E11", "E20", "D8", "D11", "D13", "D14", "D15")
def test_every_row_without_an_answer_names_its_failure_code() -> None:
    without = {
        row.id: row.failure_code
        for row in DECISIONS.values()
        if row.outcome in (ReleaseOutcome.FAILED, ReleaseOutcome.CANCELLED)
    }
    assert without == {
        DecisionId.D8: ChatFailureCode.DIAGNOSIS_UNAVAILABLE,
        DecisionId.D11: ChatFailureCode.DIAGNOSIS_UNAVAILABLE,
        DecisionId.D13: ChatFailureCode.DIAGNOSIS_UNAVAILABLE,
        DecisionId.D14: ChatFailureCode.RUN_CANCELLED,
        DecisionId.D15: ChatFailureCode.INTERNAL_FAILURE,
    }


@pytest.mark.spec("D1", "D2", "N5", "N7")
def test_success_is_reached_by_four_rows_and_no_spent_run_is_a_success() -> None:
    winners = {row.id for row in DECISIONS.values() if row.outcome is ReleaseOutcome.SUCCESS}
    assert winners == {DecisionId.D1, DecisionId.D2, DecisionId.D2B, DecisionId.S1}
    for row in DECISIONS.values():
        if row.outcome is ReleaseOutcome.SUCCESS:
            assert row.run_states == (RunState.SUCCESS,)
        if RunState.CANCELLED in row.run_states:
            assert row.outcome is ReleaseOutcome.CANCELLED
