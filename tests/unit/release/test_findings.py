"""How collection may end (E18, P4, N5)."""

from __future__ import annotations

import itertools

import pytest

from affidavit.contract.agent import Ending
from affidavit.contract.errors import (
    BudgetSpent,
    DeadlineReached,
    ModelFailed,
    RunCancelled,
    RunStopped,
)
from affidavit.contract.states import (
    AGENT_STOP_REASONS,
    AgentStatus,
    DiagnosisStopReason,
    RetryFailure,
)
from affidavit.release.findings import ENDINGS, Findings, findings_after

REASONS = (None, *DiagnosisStopReason)


@pytest.mark.spec("E18", "P4")
def test_every_ending_keeps_to_the_state_tables() -> None:
    """What an ending admits, the tables of the contract admit too; each ending admits something."""
    assert set(ENDINGS) == set(Ending)
    for pairs in ENDINGS.values():
        assert pairs
        assert all(reason in AGENT_STOP_REASONS[status] for status, reason in pairs)


@pytest.mark.spec("P4")
@pytest.mark.parametrize("ending", Ending)
def test_everything_else_is_unlawful(ending: Ending) -> None:
    """Walk all pairs: only those of the table are lawful."""
    for status, reason in itertools.product(AgentStatus, REASONS):
        lawful = Findings("q", ending, status, reason).is_lawful
        assert lawful == ((status, reason) in ENDINGS[ending])


@pytest.mark.spec("N5", "L4")
@pytest.mark.parametrize(
    ("stop", "ending", "status"),
    [
        (RunCancelled(), Ending.CANCELLED, AgentStatus.CANCELLED),
        (DeadlineReached(), Ending.TIMED_OUT, AgentStatus.TIMEOUT),
        (BudgetSpent("iterations"), Ending.BUDGET_EXHAUSTED, AgentStatus.MAX_ITERATIONS),
        (BudgetSpent("tool_calls"), Ending.BUDGET_EXHAUSTED, AgentStatus.BUDGET_EXCEEDED),
        (
            ModelFailed("", code=RetryFailure.CANCELLED),
            Ending.CANCELLED,
            AgentStatus.CANCELLED,
        ),
        (
            ModelFailed("", code=RetryFailure.BUDGET_EXHAUSTED),
            Ending.BUDGET_EXHAUSTED,
            AgentStatus.BUDGET_EXCEEDED,
        ),
        (ModelFailed("", code=RetryFailure.TIMED_OUT), Ending.TIMED_OUT, AgentStatus.TIMEOUT),
        (
            ModelFailed("", code=RetryFailure.EXHAUSTED),
            Ending.INTERNAL_FAILURE,
            AgentStatus.FAILED,
        ),
        (RunStopped(), Ending.INTERNAL_FAILURE, AgentStatus.FAILED),
        (ValueError("CANCELLED"), Ending.INTERNAL_FAILURE, AgentStatus.FAILED),
    ],
)
def test_a_stop_names_itself(stop: BaseException, ending: Ending, status: AgentStatus) -> None:
    """What stopped a run is what its findings say, and that is lawful."""
    findings = findings_after(stop, "q")
    assert (findings.ending, findings.agent_status) == (ending, status)
    assert findings.is_lawful
    assert findings.draft is None
