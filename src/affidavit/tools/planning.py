"""What becomes of one call before anybody is asked about it: the first steps of T2.

Known tool → identity from the context, typed arguments, scope → duplicate → ledger. Nothing is
executed here, and nothing waits.
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from affidavit.contract.agent import Action, ToolCallRequest
from affidavit.contract.evidence import Scope
from affidavit.contract.journal import EventType
from affidavit.contract.record import Record
from affidavit.core.canonical import NotCanonical, canonical_json, digest
from affidavit.core.chain import to_us
from affidavit.core.fold import OUTCOME_UNKNOWN, CallView, RunView
from affidavit.core.run import Run
from affidavit.ledger.writer import CallHeader, Written, fail, refuse, reuse
from affidavit.tools.approval import action_digest, approval_status
from affidavit.tools.catalogue import ArgumentsRefused, Catalogue, Tool, ToolContext

KEY_CHARS: Final = 32
"""Of an idempotency key: 128 bits of a digest, which every back end takes."""

UNREGISTERED: Final = "unregistered"
"""What the journal calls every tool that is none."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A call that may run if nobody objects: its tool, arguments, header, action, attempt, and the
    signature of what it asks."""

    tool: Tool[Record]
    arguments: Record
    header: CallHeader
    action: Action
    attempt: int
    signature: str = ""

    @property
    def tool_call_id(self) -> str:
        """The call's id."""
        return self.header.tool_call_id

    @property
    def has_effect(self) -> bool:
        """Whether it changes something outside."""
        return self.tool.effect != "read"


@dataclass(slots=True)
class Planner:
    """Plans the calls of one step, in the order asked; remembers what the step asked already.

    `signatures` are those of earlier requests by their digests, so that each is read once.
    """

    run: Run
    catalogue: Catalogue
    step: int
    signatures: dict[str, str] = field(default_factory=dict)
    _seen: set[str] = field(default_factory=set)

    def plan(self, tool_call_id: str, call: ToolCallRequest) -> Planned | Written:
        """The call as it would be executed; or the lines that settle it without."""
        tool = self.catalogue.tools.get(call.tool)
        if tool is None:
            return refuse(self.step, tool_call_id, UNREGISTERED, "TOOL_UNKNOWN")
        asked = self.run.request
        context = ToolContext(
            self.run.id, asked.tenant, asked.window, self.run.clock.now(), asked.requested_by
        )
        try:
            raw = tool.identify(call.arguments, context)
            arguments = tool.read_arguments(raw)
            scope = tool.scope_of(arguments, context)
        except (ArgumentsRefused, NotCanonical, ValueError):
            return refuse(self.step, tool_call_id, tool.name, "ARGUMENTS_REFUSED")
        signature = signature_of(tool.name, raw, scope)
        if signature in self._seen:
            return refuse(self.step, tool_call_id, tool.name, "DUPLICATE_IN_STEP")
        self._seen.add(signature)
        earlier = self._equal_earlier(tool, signature, scope)
        if earlier is not None:
            return reuse(self.step, tool_call_id, earlier)
        known = self.run.view.calls.get(tool_call_id)
        if tool.effect != "read" and known is not None and known.attempts:
            # Whoever intended it may still be alive: it is never asked again, nor probed (K9).
            return fail(tool_call_id, OUTCOME_UNKNOWN)
        planned = self._planned(tool, tool_call_id, arguments, raw, scope)
        return replace(planned, signature=signature)

    def _planned(
        self,
        tool: Tool[Record],
        tool_call_id: str,
        arguments: Record,
        raw: Mapping[str, object],
        scope: Scope,
    ) -> Planned:
        spec = self.catalogue.spec(tool.name)
        bound_to = action_digest(self.run, tool_call_id, self.catalogue.definition(tool.name), raw)
        known = self.run.view.calls.get(tool_call_id)
        header = CallHeader(
            step=self.step,
            tool_call_id=tool_call_id,
            tool=tool.name,
            arguments=raw,
            scope=scope,
            evidence_class=tool.evidence_class,
            effect=tool.effect,
            idempotency_key=None if tool.effect == "read" else bound_to[:KEY_CHARS],
        )
        approval = approval_status(known, bound_to, to_us(self.run.clock.now()))
        action = Action(tool_call_id, spec, raw, bound_to, approval)
        return Planned(tool, arguments, header, action, (known.attempts if known else 0) + 1)

    def _equal_earlier(self, tool: Tool[Record], signature: str, scope: Scope) -> str | None:
        """The earlier READY call that already answers this one, or None (T8)."""
        if tool.polling or tool.effect != "read":
            return None
        if scope.window is None or scope.window.end > self.run.clock.now():
            return None
        for key, known in reversed(_ready_calls(self.run.view)):
            if known.effect != "read":
                return None
            if known.tool == tool.name and self._signature_in(known.request_digest) == signature:
                return key
        return None

    def _signature_in(self, request_digest: str) -> str | None:
        """The signature of an earlier request; None where its payload is gone."""
        known = self.signatures.get(request_digest)
        request = self.run.contents.get(request_digest)
        if known is None and request is not None:
            header = json.loads(request)
            asked = [header["tool"], header["arguments"], header["scope"]]
            known = self.signatures[request_digest] = digest(canonical_json(asked))
        return known


def told_name(name: str, tools: Container[str]) -> str:
    """What the journal calls a tool: its name where it is registered, else one word for all others.

    A name that nobody registered is the agent's own words, and could say anything (N2, N6). The
    agent itself, and the loop guard, read it where it stands, in the step's own artifact.
    """
    return name if name in tools else UNREGISTERED


def signature_of(tool: str, arguments: Mapping[str, object], scope: Scope) -> str:
    """What makes two calls the same question (T8)."""
    return digest(canonical_json([tool, arguments, scope.model_dump(mode="json")]))


def _ready_calls(view: RunView) -> list[tuple[str, CallView]]:
    return [
        (key, call)
        for key, call in view.calls.items()
        if call.settled is EventType.TOOL_CALL_READY or call.effect != "read"
    ]
