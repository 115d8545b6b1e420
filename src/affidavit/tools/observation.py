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
    """Reads a run's steps back as observations; what was read once is kept by its digests."""

    _parsed: dict[str, tuple[Envelope, str]] = field(default_factory=dict)
    _known: dict[tuple[object, ...], Observation] = field(default_factory=dict)

    def observe(self, view: RunView, contents: Mapping[str, bytes]) -> tuple[Observation, ...]:
        """Every settled call of the run, in the order asked."""
        return tuple(
            observation
            for step in view.steps
            if step.calls
            for observation in self._of_step(view, step, contents)
        )

    def _of_step(
        self, view: RunView, step: StepView, contents: Mapping[str, bytes]
    ) -> tuple[Observation, ...]:
        settled = [(place, key) for place, key in enumerate(step.calls) if view.is_settled(key)]
        known = [self._known.get(_identity(view, step, key)) for _, key in settled]
        if all(known):
            return tuple(item for item in known if item is not None)
        requests = calls_of(contents[step.digest])
        for place, key in settled:
            item = self._of_call(view, step.step, view.calls[key], requests[place], contents)
            self._known[_identity(view, step, key)] = item
        return tuple(self._known[_identity(view, step, key)] for _, key in settled)

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
        envelope, answer = self._read(source.result_digest, contents)
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
            answer_digest=answer,
        )

    def _read(self, result_digest: str, contents: Mapping[str, bytes]) -> tuple[Envelope, str]:
        known = self._parsed.get(result_digest)
        if known is None:
            envelope = Envelope.model_validate_json(contents[result_digest])
            known = self._parsed[result_digest] = (envelope, answer_digest(envelope))
        return known


def _identity(view: RunView, step: StepView, key: str) -> tuple[object, ...]:
    """All that an observation depends on: what was asked, and what came of it."""
    call = view.calls[key]
    source = view.calls[call.reused_of] if call.reused_of is not None else call
    came = (source.settled, source.result_digest, source.code, source.resolution)
    return (step.step, step.digest, key, source.tool_call_id, *came)


def answer_digest(envelope: Envelope) -> str:
    """A digest over what came back alone: neither what was asked nor when (H7)."""
    facts = envelope.model_dump(mode="json", include={"facts"})["facts"]
    came_back = [str(envelope.status), envelope.count, envelope.total, envelope.truncated, facts]
    return digest(json.dumps(came_back, sort_keys=True).encode("ascii"))


_RESOLVED: Final = {"done": "OUTCOME_DONE", "not-done": "OUTCOME_NOT_DONE"}
"""What an agent learns of an effect once an operator has said what became of it (K9)."""


def _code_of(call: CallView) -> str | None:
    return call.code if call.resolution is None else _RESOLVED.get(call.resolution, call.code)


def calls_of(decision: bytes) -> tuple[ToolCallRequest, ...]:
    """The calls of a recorded decision."""
    return tuple(
        ToolCallRequest(item["tool"], item["arguments"]) for item in json.loads(decision)["calls"]
    )
