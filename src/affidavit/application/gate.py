"""The gate: another agent's report against the tool calls that it came with (C12, interfaces.md).

A supplied answer is a run like any other. It has a journal, a ledger and a sealed file, and it goes
through the same release; what is missing is the collection, which somebody else did. So nothing
here checks and nothing here decides: an order is read, and a world is told how to write it down.

The order is an artifact of its run, so that whoever takes the run over needs no file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final, NoReturn

from affidavit.affidavit.exact import write_exact
from affidavit.contract.agent import AgentRequest, AgentState, Decision
from affidavit.contract.errors import (
    InputRefused,
    InternalFault,
    PauseAsked,
    RunStopped,
    ToolFailed,
)
from affidavit.contract.evidence import Envelope, Scope
from affidavit.contract.journal import Event, EventType
from affidavit.contract.limits import PROFILES, Limits
from affidavit.contract.record import Record
from affidavit.contract.states import ChatApplicationStatus
from affidavit.core.beside import compute_beside
from affidavit.core.canonical import digest
from affidavit.core.run import Run
from affidavit.loop import Collection, end_stopped
from affidavit.ports.store import Artifact
from affidavit.release.reading import read_json
from affidavit.release.withdrawal import Author, ConsentingAuthor, NoAuthor
from affidavit.tools.catalogue import Catalogue, Tool, ToolContext
from affidavit.tools.readers.origin import source_of
from affidavit.tools.supplied import (
    GateInput,
    SuppliedCall,
    draft_of_answer,
    read_gate_input,
    supplied_ledger,
)
from affidavit.tools.supplied_run import SuppliedAnswer, record_supplied

ORDER_BYTES_MAX: Final = 32_000_000
"""A thousand calls of 32 KB each; what is larger is a dump, and no answer."""

TIMEOUT_S: Final = PROFILES["standard"].timeout_s
"""Time for the checks, as a standard run has it."""

TOKENS: Final = PROFILES["research"].tokens
"""Nothing is collected, so all tokens are the judge's: enough for the largest request that a judge
is sent."""

TOOL_CHARS_MAX: Final = 64
"""As long as the journal lets any tool's name be."""

_NO_NAME: Final = re.compile(r"[^\w.:/@-]+")

SOURCE_PREFIX: Final = "gate:"
"""How a request says that its run was supplied; the digest of the order follows."""

AGENT: Final = "supplied"
"""What the journal calls the author of a supplied answer: its own name is its own words."""


@dataclass(frozen=True, slots=True)
class GateOrder:
    """One answer to be let through or held, and whether its parts may be taken back (M6).

    `content` is the order as it is kept: exact JSON, from which `reread` makes it again.
    """

    answer: GateInput
    content: bytes
    withdraw: bool

    @property
    def author(self) -> Author:
        """Who may take a sentence back: the submitter, if it said so beforehand; else nobody."""
        return ConsentingAuthor() if self.withdraw else NoAuthor()

    @property
    def artifact(self) -> Artifact:
        """The order, as its run keeps it."""
        return Artifact(digest(self.content), "gate", self.content)


def read_order(content: bytes, *, withdraw: bool = False) -> GateOrder:
    """The order in a file or a request body.

    Raises InputRefused (GATE_INPUT_REFUSED) with one line that says what is wrong and where.
    """
    if len(content) > ORDER_BYTES_MAX:
        raise _refused(f"is larger than {ORDER_BYTES_MAX // 1_000_000} MB")
    try:
        raw = read_json(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise _refused("is no UTF-8 text") from None
    except ValueError as error:
        raise _refused(f"is no JSON that can be relied on: {error}") from None
    return _order(raw, withdraw=withdraw)


def order_of(raw: object, *, withdraw: bool = False) -> GateOrder:
    """As `read_order`, from JSON that is parsed already: what is judged is what is kept."""
    return read_order(_exact(raw), withdraw=withdraw)


def _order(raw: object, *, withdraw: bool) -> GateOrder:
    answer = read_gate_input(raw)
    calls = tuple(replace(call, tool=tool_name(call.tool)) for call in answer.tool_calls)
    named = replace(answer, tool_calls=calls)
    return GateOrder(named, _exact({"input": raw, "withdraw": withdraw}), withdraw)


def tool_name(name: str) -> str:
    """A tool's name as a name: one short word without spaces, whatever its author wrote.

    A source is shown by its name, also in a fallback; a sentence in its place would be published
    unchecked (N6).
    """
    return _NO_NAME.sub("_", name)[:TOOL_CHARS_MAX].strip("_") or "tool"


def _exact(value: object) -> bytes:
    try:
        return write_exact(value).encode("ascii")
    except (ValueError, RecursionError):
        raise _refused("holds a value that JSON does not have") from None


def reread(content: bytes) -> GateOrder:
    """The order that a run kept. Raises InputRefused where it cannot be read any more."""
    kept = read_json(content.decode("ascii"))
    if not isinstance(kept, dict):
        raise _refused("is no order of ours")
    return _order(kept.get("input"), withdraw=kept.get("withdraw") is True)


def _refused(what: str) -> InputRefused:
    return InputRefused(
        f"gate input, /: {what}",
        code="GATE_INPUT_REFUSED",
        hint="hand in one JSON object; docs/gate.md shows its form",
    )


def refuse_supplied(order: GateOrder) -> NoReturn:
    """Refuse an answer whose calls we did not record, before anything is written (C12, K0).

    A fallback would not do: it would show as verified what its reader has just said not to trust.
    Raises InputRefused (RECORDED_REQUIRED).
    """
    raise InputRefused(
        f"the tool calls of this answer ({len(order.answer.tool_calls)}) came with it; none of "
        "them was recorded by us",
        code="RECORDED_REQUIRED",
        hint="run the agent in the harness, which records its calls (docs/python.md), or leave "
        "--require-recorded out",
    )


def gate_request(order: GateOrder, run_id: str, tenant: str) -> AgentRequest:
    """The request of a gate run: no more calls than its answer holds, for nothing is collected."""
    return AgentRequest(
        run_id=run_id,
        tenant=tenant,
        question=order.answer.question,
        limits=Limits(
            iterations=2,
            tokens=TOKENS,
            timeout_s=TIMEOUT_S,
            tool_calls=max(1, len(order.answer.tool_calls)),
            concurrency=1,
        ),
        profile="gate",
        window=order.answer.window,
        source=f"{SOURCE_PREFIX}{order.artifact.digest}",
    )


def order_digest(source: str | None) -> str | None:
    """The address of the order that a run was handed, by its request's source; None where the run
    was not supplied."""
    known = source is not None and source.startswith(SOURCE_PREFIX)
    return source.removeprefix(SOURCE_PREFIX) if source is not None and known else None


# --- The world of a gate run ------------------------------------------------------------------


class SuppliedAgent:
    """Stands where an agent would: the author of a supplied answer decides nothing here."""

    name = AGENT

    async def decide(self, state: AgentState) -> Decision:
        """Never asked. Raises InternalFault."""
        raise InternalFault("an answer that was supplied is not collected")


class SuppliedArguments(Record):
    """No tool of a supplied answer is ever called."""


def supplied_catalogue(calls: Iterable[SuppliedCall]) -> Catalogue:
    """The tools that an answer says it asked, so that coverage can name what failed (C11)."""
    tools = {call.tool: _supplied_tool(call) for call in calls}
    return Catalogue.of(tools.values())


def _supplied_tool(call: SuppliedCall) -> Tool[Record]:
    origin = source_of(call.tool, call.arguments, call.emitter, call.evidence_class)
    absent = AbsentTool()
    return Tool(
        name=call.tool,
        description="came with somebody's answer",
        source_type=origin.kind,
        source=call.tool,
        evidence_class=origin.evidence_class,
        arguments=SuppliedArguments,
        scope_of=absent.scope_of,
        fetch=absent.fetch,
        project=absent.project,
    )


class AbsentTool:
    """A tool that somebody else called: it is known by name, and cannot be called here."""

    def scope_of(self, arguments: Record, context: ToolContext) -> Scope:
        """The tenant's; nothing was asked."""
        return Scope(tenant=context.tenant)

    async def fetch(self, arguments: Record, scope: Scope) -> bytes:
        """Raises ToolFailed (SOURCE_UNAVAILABLE)."""
        raise ToolFailed("a supplied tool is not called", code="SOURCE_UNAVAILABLE")

    def project(self, raw: bytes, arguments: Record, scope: Scope, now: datetime) -> Envelope:
        """Raises ValueError: there is nothing to project."""
        raise ValueError("a supplied tool returns nothing")


@dataclass(frozen=True, slots=True)
class SuppliedCollection:
    """Writes an order down as its run's collection; what stops the run ends it in its own row."""

    order: GateOrder

    async def __call__(self, run: Run, collection: Collection) -> None:
        """The collection has ended when this returns. Raises RecordFailed (L5)."""
        if run.view.is_collected:
            return
        try:
            if run.view.status is not ChatApplicationStatus.DIAGNOSIS_RUNNING:
                status = str(ChatApplicationStatus.DIAGNOSIS_RUNNING)
                await run.note(Event(EventType.STATUS_CHANGED, {"status": status}))
            await run.check()
            await record_supplied(run, await compute_beside(answer_of, self.order, run))
        except PauseAsked:
            raise
        except RunStopped as stop:
            await end_stopped(run, stop)


def answer_of(order: GateOrder, run: Run) -> SuppliedAnswer:
    """The order as a ledger and a draft. A call without any time counts as read when the run
    began, so that a driver that takes it over reads the same."""
    answer = order.answer
    began = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=run.entries[0].at_us)
    ledger = supplied_ledger(answer, run.id, run.request.tenant, None if answer.window else began)
    draft = answer.draft if answer.answer is None else draft_of_answer(answer.answer, ledger)
    return SuppliedAnswer(answer.tool_calls, ledger, write_exact(draft).encode("ascii"))
