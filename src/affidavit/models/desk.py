"""The desk of one run: the only way to ask a model (H6, H8, K3, K7, K8).

    on record already?   → the recorded answer, and nobody is asked (K8)
    first model          → attempts, each a line of the journal
    its circuit is open, or its attempts ended → the next one that this tenant may use
    none left            → NO_MODEL_LEFT

A request that a provider refuses as it stands goes to no other: it would be refused there too, or
worse, not be. A stop of the run passes unchanged.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Final

from affidavit.contract.errors import InternalFault, ModelFailed
from affidavit.contract.journal import Entry, EventType
from affidavit.core.attempts import ONCE, AttemptRule, AttemptsEnded, attempt
from affidavit.core.breaker import CircuitOpen
from affidavit.models.attempts import ANSWERED, Asked, Gate, attempt_once
from affidavit.models.layers import Memory, remember
from affidavit.models.roster import Roster
from affidavit.ports.model import (
    Model,
    ModelAnswer,
    ModelRequest,
    Purpose,
    decode_answer,
    model_failure,
)

RULES: Final[Mapping[Purpose, AttemptRule]] = MappingProxyType(
    {
        Purpose.DECIDE: AttemptRule(),
        Purpose.ROUTE: AttemptRule(),
        Purpose.JUDGE: ONCE,
        Purpose.REPAIR: ONCE,
        Purpose.WITHDRAW: ONCE,
    }
)
"""How often a model is asked again. The release has the loop of its judge (M3), and one attempt
for the others (Q1, M6)."""

HANDED_OVER: Final = frozenset(
    {"MODEL_UNAUTHORIZED", "MODEL_UNKNOWN", "PRICE_UNKNOWN", "REQUEST_TOO_LARGE"}
)
"""Failures that repeating cannot mend and another model may not have."""

READ_BY: Final[Mapping[EventType, frozenset[Purpose]]] = MappingProxyType(
    {
        EventType.ROUTING_DECISION: frozenset({Purpose.ROUTE}),
        EventType.STEP_DECIDED: frozenset({Purpose.DECIDE}),
        EventType.SEMANTIC_GUARD_ATTEMPT: frozenset({Purpose.JUDGE}),
        EventType.EVIDENCE_REPAIR_ATTEMPT: frozenset({Purpose.REPAIR}),
        EventType.DRAFT_WITHDRAWAL_ATTEMPT: frozenset({Purpose.WITHDRAW}),
    }
)
"""The line that says what became of the answers before it; they are not used a second time."""

Unread = dict[tuple[str, str], deque[str]]


def unread_answers(entries: Iterable[Entry]) -> Unread:
    """Answers that an earlier driver got and nothing came of yet, by purpose and request (K8).

    In the order in which they came: the same question may have been asked twice.
    """
    unread: Unread = defaultdict(deque)
    for entry in entries:
        if entry.type is EventType.MODEL_ATTEMPT and entry.data["result"] == ANSWERED:
            key = (str(entry.data["purpose"]), str(entry.data["input_digest"]))
            unread[key].append(str(entry.data["output_digest"]))
        elif entry.type in READ_BY:
            for key in [item for item in unread if item[0] in READ_BY[entry.type]]:
                del unread[key]
    return dict(unread)


@dataclass(slots=True)
class ModelDesk:
    """Asks models for one driven run (`ports.model.Door`). Made when the run is opened."""

    gate: Gate
    roster: Roster
    memory: Memory | None = None
    rules: Mapping[Purpose, AttemptRule] = field(default_factory=lambda: RULES)
    _unread: Unread = field(init=False)

    def __post_init__(self) -> None:
        """Find what an earlier driver was told and did not come to use."""
        self._unread = unread_answers(self.gate.run.entries)

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        """The answer to a request.

        Raises ModelFailed (NO_MODEL_LEFT where every model failed or is not asked now), BudgetSpent
        before anything is sent that there is no room for, and any other stop of the run.
        """
        whole = remember(self.memory, request)
        asked = Asked.of(whole)
        recorded = self._recorded(asked)
        if recorded is not None:
            return recorded
        failed: ModelFailed | None = None
        tenant = self.gate.run.request.tenant
        for model in self.roster.models_for(whole.purpose, tenant):
            try:
                return await self._ask_model(model, asked)
            except CircuitOpen:
                continue
            except AttemptsEnded as ended:
                failed = ended.last
                if not (failed.may_retry or failed.code in HANDED_OVER):
                    raise failed from None
        raise _none_left(failed)

    async def _ask_model(self, model: Model, asked: Asked) -> ModelAnswer:
        rule = self.rules[asked.request.purpose]
        return await attempt(self.gate.run, rule, partial(attempt_once, self.gate, model, asked))

    def _recorded(self, asked: Asked) -> ModelAnswer | None:
        """The recorded answer to this very request that nobody has used yet."""
        waiting = self._unread.get((str(asked.request.purpose), asked.digest))
        if not waiting:
            return None
        content = self.gate.run.contents.get(waiting.popleft())
        return None if content is None else decode_answer(content)


@dataclass(frozen=True, slots=True)
class ClosedDoor:
    """The door of whoever has no run yet; a run that is driven opens its own."""

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        """Never answers."""
        raise InternalFault(f"nobody is driven, and a model was asked to {request.purpose}")


def _none_left(failed: ModelFailed | None) -> ModelFailed:
    """A last failure that is about the request itself is told as it is; it is not the models'."""
    if failed is not None and failed.code == "REQUEST_TOO_LARGE":
        return failed
    why = "none may be asked now" if failed is None else f"the last one failed: {failed.code}"
    return model_failure(
        "NO_MODEL_LEFT",
        f"no configured model answers; {why}",
        hint="look at `affidavit doctor`, or configure a further model of another vendor",
    )
