"""The release table D1 to D15, and S1: the only public decisions that exist (spec section 10).

A row is data. `release.decide` chooses one; nothing else may. Which rows a run state admits, what
the user gets, and at which stage it fell short are fixed here and nowhere else (C7, E17, L1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from affidavit.contract.states import (
    UNAVAILABLE_OF,
    ChatFailureCode,
    FailureStage,
    FallbackType,
    IntentType,
    ReleaseOutcome,
    RunState,
)


class DecisionId(StrEnum):
    """The rows of the release table."""

    D1 = "D1"
    D2 = "D2"
    D2B = "D2b"
    D3 = "D3"
    D4 = "D4"
    D5 = "D5"
    D6 = "D6"
    D7 = "D7"
    D8 = "D8"
    D9 = "D9"
    D10 = "D10"
    D11 = "D11"
    D12 = "D12"
    D13 = "D13"
    D14 = "D14"
    D15 = "D15"
    S1 = "S1"


@dataclass(frozen=True, slots=True)
class DecisionRow:
    """One public decision: what becomes of the run, and what the user gets."""

    id: DecisionId
    run_states: tuple[RunState, ...]
    outcome: ReleaseOutcome
    fallback: FallbackType | None = None
    stage: FailureStage | None = None
    failure_code: ChatFailureCode | None = None
    meaning: str = ""

    def __post_init__(self) -> None:
        """Refuse a row that breaks E17: FALLBACK, and only FALLBACK, carries a type and stage."""
        is_fallback = self.outcome is ReleaseOutcome.FALLBACK
        if is_fallback != (self.fallback is not None) or is_fallback != (self.stage is not None):
            raise ValueError(f"{self.id}: a fallback type and stage belong to FALLBACK alone")
        if self.fallback is FallbackType.BUDGET_EXHAUSTED:
            raise ValueError(f"{self.id}: BUDGET_EXHAUSTED is reserved and never published (E19)")


def _row(
    id_: DecisionId,
    states: tuple[RunState, ...],
    outcome: ReleaseOutcome,
    meaning: str,
    fallback: tuple[FallbackType, FailureStage] | None = None,
    failure_code: ChatFailureCode | None = None,
) -> tuple[DecisionId, DecisionRow]:
    type_, stage = fallback or (None, None)
    return id_, DecisionRow(id_, states, outcome, type_, stage, failure_code, meaning)


_DONE = (RunState.SUCCESS,)
_SPENT = (RunState.BUDGET_EXHAUSTED, RunState.TIMED_OUT)
_INSUFFICIENT = (FallbackType.INSUFFICIENT_EVIDENCE, FailureStage.DIAGNOSIS_COLLECTION)

DECISIONS: Final[Mapping[DecisionId, DecisionRow]] = MappingProxyType(
    dict(
        (
            _row(
                DecisionId.D1,
                _DONE,
                ReleaseOutcome.SUCCESS,
                "every citation is real and the facts support the report",
            ),
            _row(
                DecisionId.D2,
                _DONE,
                ReleaseOutcome.SUCCESS,
                "citations were repaired without changing a word, then as D1",
            ),
            _row(
                DecisionId.D2B,
                _DONE,
                ReleaseOutcome.SUCCESS,
                "the author took unprovable asides back, then as D1",
            ),
            _row(
                DecisionId.D3,
                _DONE,
                ReleaseOutcome.FALLBACK,
                "a citation is not real, and could not be repaired",
                (FallbackType.EVIDENCE_VALIDATION_FAILED, FailureStage.EVIDENCE_VALIDATION),
            ),
            _row(
                DecisionId.D4,
                _DONE,
                ReleaseOutcome.FALLBACK,
                "the citations are real, but do not carry the words",
                (FallbackType.SEMANTIC_UNSUPPORTED, FailureStage.SEMANTIC_VALIDATION),
            ),
            _row(
                DecisionId.D5,
                _DONE,
                ReleaseOutcome.FALLBACK,
                "the citations are real, but nobody could judge the words",
                (FallbackType.SEMANTIC_UNAVAILABLE, FailureStage.SEMANTIC_VALIDATION),
            ),
            _row(
                DecisionId.D6,
                _DONE,
                ReleaseOutcome.FALLBACK,
                "the agent concluded nothing; there are verified facts",
                _INSUFFICIENT,
            ),
            _row(
                DecisionId.D7,
                _DONE,
                ReleaseOutcome.FALLBACK,
                "no conclusion and no facts; the agent said what it lacks",
                (FallbackType.MISSING_REQUIRED_CONTEXT, FailureStage.DIAGNOSIS_INPUT),
            ),
            _row(
                DecisionId.D8,
                (RunState.FAILED,),
                ReleaseOutcome.FAILED,
                "no conclusion, and nothing that could be published honestly",
                failure_code=ChatFailureCode.DIAGNOSIS_UNAVAILABLE,
            ),
            _row(
                DecisionId.D9,
                _DONE,
                ReleaseOutcome.FALLBACK,
                "collection was stopped without a conclusion; there are facts",
                _INSUFFICIENT,
            ),
            _row(
                DecisionId.D10,
                _DONE,
                ReleaseOutcome.FALLBACK,
                "the draft could not be read; there are facts",
                _INSUFFICIENT,
            ),
            _row(
                DecisionId.D11,
                (RunState.FAILED,),
                ReleaseOutcome.FAILED,
                "stopped or unreadable, and no facts; or nobody is left to decide what to do",
                failure_code=ChatFailureCode.DIAGNOSIS_UNAVAILABLE,
            ),
            _row(
                DecisionId.D12,
                _SPENT,
                ReleaseOutcome.FALLBACK,
                "the budget or the time ran out; there are facts",
                _INSUFFICIENT,
            ),
            _row(
                DecisionId.D13,
                _SPENT,
                ReleaseOutcome.FAILED,
                "the budget or the time ran out, and no facts",
                failure_code=ChatFailureCode.DIAGNOSIS_UNAVAILABLE,
            ),
            _row(
                DecisionId.D14,
                (RunState.CANCELLED,),
                ReleaseOutcome.CANCELLED,
                "cancelled before publication",
                failure_code=ChatFailureCode.RUN_CANCELLED,
            ),
            _row(
                DecisionId.D15,
                (RunState.FAILED,),
                ReleaseOutcome.FAILED,
                "an internal failure",
                failure_code=ChatFailureCode.INTERNAL_FAILURE,
            ),
            _row(
                DecisionId.S1,
                _DONE,
                ReleaseOutcome.SUCCESS,
                "a fixed reply about the system itself, which claims nothing",
            ),
        )
    )
)
"""Every row, by id."""


def failure_code_of(row: DecisionRow, intent: IntentType | None) -> ChatFailureCode | None:
    """What a client is told of a row: a branch that is not there is named by its own code (E20)."""
    if row.failure_code is ChatFailureCode.DIAGNOSIS_UNAVAILABLE:
        return UNAVAILABLE_OF[intent]
    return row.failure_code
