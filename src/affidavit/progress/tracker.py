"""Which calls were made, step by step: identities and counters, and nothing that they said (P1)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from affidavit.contract.evidence import Scope
from affidavit.contract.journal import EventType
from affidavit.core.fold import CallView, RunView
from affidavit.ledger.snapshot import LedgerSnapshot


@dataclass(frozen=True, slots=True)
class TrackedCall:
    """A call's identity. `scope` is None where whoever recorded it did not learn the scope."""

    tool_call_id: str
    tool: str
    scope: Scope | None = None


@dataclass(frozen=True, slots=True)
class RefusedCall:
    """A call that was asked for and never executed, and the stable code that says why."""

    tool: str
    code: str


@dataclass(frozen=True, slots=True)
class TrackedStep:
    """One step of the agent: calls side by side, in the order asked.

    A call that an earlier one answered (T8) stands here under the earlier one's identity.
    """

    calls: tuple[TrackedCall, ...] = ()
    refused: tuple[RefusedCall, ...] = ()


@dataclass(frozen=True, slots=True)
class Tracker:
    """Every step of a run so far."""

    steps: tuple[TrackedStep, ...] = ()

    def record(self, step: TrackedStep) -> Tracker:
        """The tracker after one more step."""
        return replace(self, steps=(*self.steps, step))

    def calls(self) -> tuple[TrackedCall, ...]:
        """Every identity once, in the order in which it was first asked for."""
        known: dict[str, TrackedCall] = {}
        for step in self.steps:
            for call in step.calls:
                known.setdefault(call.tool_call_id, call)
        return tuple(known.values())

    def refused(self) -> tuple[RefusedCall, ...]:
        """Every call that was never executed, in order."""
        return tuple(call for step in self.steps for call in step.refused)

    @property
    def calls_made(self) -> int:
        """How many different calls were executed."""
        return len(self.calls())


def retrace(view: RunView, ledger: LedgerSnapshot) -> Tracker:
    """The tracker of a run as its journal tells it, for a driver that takes a run over (K8)."""
    return Tracker(
        tuple(
            TrackedStep(
                calls=tuple(
                    _identity(call, view, ledger) for call in settled if not _is_refused(call)
                ),
                refused=tuple(
                    RefusedCall(call.tool, call.code or "") for call in settled if _is_refused(call)
                ),
            )
            for step in view.steps
            if (settled := tuple(view.calls[key] for key in step.calls if key in view.calls))
        )
    )


def _is_refused(call: CallView) -> bool:
    return call.settled is EventType.TOOL_CALL_REFUSED


def _identity(call: CallView, view: RunView, ledger: LedgerSnapshot) -> TrackedCall:
    source = call if call.reused_of is None else view.calls.get(call.reused_of, call)
    stored = ledger.calls.get(source.tool_call_id)
    return TrackedCall(
        source.tool_call_id, source.tool, None if stored is None else stored.record.scope
    )
