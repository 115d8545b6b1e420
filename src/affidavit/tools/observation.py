"""What an agent learns of its calls: bounded projections and stable codes, in call order (T1)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from affidavit.contract.agent import Observation, ObservationKind, ToolCallRequest
from affidavit.contract.evidence import Envelope
from affidavit.contract.journal import EventType
from affidavit.contract.states import EvidenceStatus
from affidavit.core.canonical import digest
from affidavit.core.fold import CallView, RunView, StepView


@dataclass(slots=True)
class Observer:
    """Reads one run's steps back as observations.

    A step whose calls are all settled, and none of unknown outcome, never changes: it is read once,
    and gives the same objects ever after. `projections` are those that were read, by their digests.
    """

    projections: dict[str, Envelope] = field(default_factory=dict)
    _closed: dict[int, tuple[Observation, ...]] = field(default_factory=dict)

    def observe(self, view: RunView, contents: Mapping[str, bytes]) -> tuple[Observation, ...]:
        """Every settled call of the run, in the order asked."""
        seen: list[Observation] = []
        for step in view.steps:
            known = self._closed.get(step.step)
            seen.extend(self._of_step(view, step, contents) if known is None else known)
        return tuple(seen)

    def _of_step(
        self, view: RunView, step: StepView, contents: Mapping[str, bytes]
    ) -> tuple[Observation, ...]:
        if not step.calls:
            return ()
        requests = calls_of(contents[step.digest])
        seen = tuple(
            self._of_call(view, step.step, view.calls[key], requests[place], contents)
            for place, key in enumerate(step.calls)
            if view.is_settled(key)
        )
        calls = [view.calls.get(key) for key in step.calls]
        if all(call is not None and call.settled and not call.is_unresolved for call in calls):
            self._closed[step.step] = seen
        return seen

    def _of_call(
        self,
        view: RunView,
        step: int,
        call: CallView,
        request: ToolCallRequest,
        contents: Mapping[str, bytes],
    ) -> Observation:
        source = view.calls[call.reused_of] if call.reused_of is not None else call
        if source.settled is not EventType.TOOL_CALL_READY or source.result_digest is None:
            refused = source.settled is EventType.TOOL_CALL_REFUSED
            return Observation(
                step=step,
                tool=request.tool,
                arguments=request.arguments,
                kind=ObservationKind.REFUSED if refused else ObservationKind.FAILED,
                tool_call_id=None if refused else source.tool_call_id,
                code=_code_of(source),
            )
        content = contents[source.result_digest]
        envelope = self._read(source.result_digest, content)
        found = envelope.status is EvidenceStatus.EVIDENCE_FOUND
        return Observation(
            step=step,
            tool=request.tool,
            arguments=request.arguments,
            kind=ObservationKind.FOUND if found else ObservationKind.EMPTY,
            tool_call_id=source.tool_call_id,
            scope=envelope.scope,
            envelope=envelope,
            result_digest=source.result_digest,
            answer_digest=answer_digest(envelope),
        )

    def _read(self, result_digest: str, content: bytes) -> Envelope:
        known = self.projections.get(result_digest)
        if known is None:
            known = self.projections[result_digest] = Envelope.model_validate_json(content)
        return known


def answer_digest(projection: Envelope) -> str:
    """A digest over what came back alone: neither what was asked nor when (H7)."""
    return digest(projection.model_dump_json(include=_CAME_BACK).encode())


_CAME_BACK: Final = {"status", "count", "total", "truncated", "facts"}


_RESOLVED: Final = {"done": "OUTCOME_DONE", "not-done": "OUTCOME_NOT_DONE"}
"""What an agent learns of an effect once an operator has said what became of it (K9)."""


def _code_of(call: CallView) -> str | None:
    return call.code if call.resolution is None else _RESOLVED.get(call.resolution, call.code)


def calls_of(decision: bytes) -> tuple[ToolCallRequest, ...]:
    """The calls of a recorded decision."""
    return tuple(
        ToolCallRequest(item["tool"], item["arguments"]) for item in json.loads(decision)["calls"]
    )
