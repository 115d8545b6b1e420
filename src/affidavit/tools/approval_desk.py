"""Where people answer: they approve, reject, or say what became of an effect (H10, K9).

Whatever face they use, the command line, the service or the console, they come through here. An
answer that cannot count is refused at once, with a code and a sentence; one that can is posted to
the run's inbox, and its driver looks at it again before it counts (`core.commands`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from affidavit.contract.agent import AgentRequest
from affidavit.contract.errors import InputRefused
from affidavit.contract.journal import Entry
from affidavit.contract.states import is_terminal
from affidavit.core.commands import (
    OUTCOMES,
    REFUSALS,
    Answer,
    Asker,
    refuse_answer,
    refuse_outcome,
)
from affidavit.core.fold import RunView, fold
from affidavit.ports.store import CommandKind, PendingApproval, Store


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person says about one action.

    `action_digest` is what the page said that was shown; without it the one that waits is meant.
    """

    run_id: str
    tool_call_id: str
    approved: bool
    by: str
    action_digest: str | None = None


@dataclass(frozen=True, slots=True)
class _Standing:
    """A run as a desk needs it."""

    view: RunView
    asker: Asker


async def decide_approval(store: Store, now_us: int, said: Decision) -> None:
    """The decision waits for the run's driver.

    Raises InputRefused with a code of `core.commands.REFUSALS`, or RUN_UNKNOWN, RUN_ENDED; then
    nothing was decided.
    """
    standing = await _standing(store, said.run_id)
    call = standing.view.calls.get(said.tool_call_id)
    asked = None if call is None else call.approval
    bound_to = said.action_digest or ("" if asked is None else asked.action_digest)
    answer = Answer(said.tool_call_id, bound_to, said.by)
    code = refuse_answer(standing.view, standing.asker, answer, now_us)
    if code is not None:
        raise _refused(said.run_id, said.tool_call_id, code)
    kind: CommandKind = "approve" if said.approved else "reject"
    await store.post(said.run_id, kind, said.by, answer.payload())


async def record_outcome(
    store: Store, run_id: str, tool_call_id: str, outcome: str, by: str
) -> None:
    """What became of an effect waits for the run's driver; `outcome` is done or not-done.

    Raises InputRefused as `decide_approval` does.
    """
    if outcome not in OUTCOMES:
        raise _refused(run_id, tool_call_id, "OUTCOME_MALFORMED")
    standing = await _standing(store, run_id)
    code = refuse_outcome(standing.view, standing.asker, tool_call_id, by)
    if code is not None:
        raise _refused(run_id, tool_call_id, code)
    payload = json.dumps({"tool_call_id": tool_call_id, "outcome": outcome})
    await store.post(run_id, "resolve", by, payload)


async def page_of(store: Store, waiting: PendingApproval) -> bytes | None:
    """What the person is shown, as JSON; None when the run's payloads are gone."""
    return await store.artifact(waiting.run_id, waiting.ask.shown_digest)


async def _standing(store: Store, run_id: str) -> _Standing:
    entries = await store.read(run_id)
    if not entries:
        raise InputRefused(
            f"there is no run {run_id!r}", code="RUN_UNKNOWN", hint="affidavit runs list"
        )
    view = fold(entries)
    if is_terminal(view.state):
        raise InputRefused(
            f"run {run_id} has ended: {view.state}",
            code="RUN_ENDED",
            hint=f"look at its result: affidavit show {run_id}",
        )
    return _Standing(view, Asker(await _requester(store, run_id, entries[0]), view.agent))


async def _requester(store: Store, run_id: str, first: Entry) -> str:
    content = await store.artifact(run_id, str(first.data["request_digest"]))
    if content is None:
        raise InputRefused(
            f"the payloads of run {run_id} have expired: nothing of it can be decided",
            code="RUN_EXPIRED",
        )
    return AgentRequest.model_validate_json(content).requested_by


def _refused(run_id: str, tool_call_id: str, code: str) -> InputRefused:
    return InputRefused(
        f"{tool_call_id} of run {run_id}: {REFUSALS[code]}",
        code=code,
        hint="see what waits: affidavit approvals list",
    )
