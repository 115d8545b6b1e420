"""One chat turn: what was said, which branch it takes, and what it is about (I1, I3, I6).

A turn is a run like any other: it has a journal, a ledger where it asks tools, and it ends in the
release (L1). What was said is an artifact of its run, so that whoever drives it needs nothing else.
"""

from __future__ import annotations

from collections.abc import Collection as Some
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NoReturn

from pydantic import ValidationError

from affidavit.application.alerts import LIVE
from affidavit.application.routing import RULES, language_of, route_by_rules
from affidavit.application.since import window_since
from affidavit.contract.agent import (
    AgentRequest,
    AgentState,
    Conclude,
    Decision,
    Ending,
)
from affidavit.contract.errors import InputRefused, InternalFault, PauseAsked, RunStopped
from affidavit.contract.evidence import Window
from affidavit.contract.limits import Limits
from affidavit.contract.record import Record
from affidavit.contract.report import SystemTopic
from affidavit.contract.states import IntentType, is_terminal
from affidavit.core.canonical import canonical_json, digest
from affidavit.core.run import Run
from affidavit.diagnose import Routing
from affidavit.loop import Collection, end_stopped, end_without_calls, enter_branch
from affidavit.ports.store import Artifact, RunHead
from affidavit.release.replies import write_choice

SOURCE_PREFIX: Final = "chat:"
"""How a request says that its run is a chat turn; the digest of the order follows."""

ARTIFACT: Final = "chat"
"""The kind of artifact that an order is kept as."""

POLICY: Final = "policy"
"""Who says so, where a branch was found and is not taken."""

MESSAGE_CHARS_MAX: Final = 2_000
"""A question fits a paragraph; what is longer is a report already."""


class Incident(Record):
    """What a turn is about: where its data lies, and what is in trouble. `run_id` is the earlier
    run whose records a further question may read (I6)."""

    source: str
    incident: str | None = None
    window: Window | None = None
    symptom_service: str | None = None
    symptom_signal: str | None = None
    run_id: str | None = None


class ChatOrder(Record):
    """One turn. `intent` is None where rules found none; `by` says who decided; `asks_model`
    whether a model is to choose. `follows` is the turn before."""

    message: str
    intent: IntentType | None
    by: str
    topic: SystemTopic = SystemTopic.CAPABILITIES
    asks_model: bool = False
    allowed: tuple[IntentType, ...] = tuple(IntentType)
    follows: str | None = None
    about: Incident | None = None

    @property
    def artifact(self) -> Artifact:
        """The order, as its run keeps it."""
        content = canonical_json(self.model_dump(mode="json"))
        return Artifact(digest(content), ARTIFACT, content)

    @property
    def source(self) -> str:
        """The source that the turn's request names."""
        return f"{SOURCE_PREFIX}{self.artifact.digest}"

    @property
    def routing(self) -> Routing | None:
        """The decision, or None while a model has to make it."""
        return None if self.asks_model else Routing(self.intent, self.by)


@dataclass(frozen=True, slots=True)
class Turn:
    """What somebody says, in which conversation, and what this service may do with it."""

    message: str
    allowed: Some[IntentType] = tuple(IntentType)
    has_router: bool = False
    follows: str | None = None
    about: Incident | None = None


def order_of(turn: Turn) -> ChatOrder:
    """The order of a turn: rules first, a model only where they find nothing, and a policy that
    may only narrow (I1). Raises InputRefused (MESSAGE_REFUSED)."""
    message = turn.message.strip()
    refuse_message(message)
    found = route_by_rules(message, follows=turn.about is not None)
    narrowed = narrow(Routing(found.intent, RULES), turn.allowed)
    return ChatOrder(
        message=message,
        intent=narrowed.intent,
        by=narrowed.by,
        topic=found.topic,
        asks_model=found.intent is None and turn.has_router,
        allowed=tuple(intent for intent in IntentType if intent in turn.allowed),
        follows=turn.follows,
        about=turn.about,
    )


def narrow(routing: Routing, allowed: Some[IntentType]) -> Routing:
    """The decision, where its branch is taken here; else none. No other branch comes out of it."""
    if routing.intent is None or routing.intent in allowed:
        return routing
    return Routing(None, POLICY)


def refuse_message(message: str) -> None:
    """Raise InputRefused (MESSAGE_REFUSED) for what is no question."""
    wrong = "" if message else "is blank"
    if len(message) > MESSAGE_CHARS_MAX:
        wrong = f"has {len(message)} characters"
    try:
        message.encode("utf-8")
    except UnicodeEncodeError:
        wrong = "is no valid text"
    if wrong:
        raise InputRefused(
            f"the message {wrong}",
            code="MESSAGE_REFUSED",
            hint=f"say it in at most {MESSAGE_CHARS_MAX} characters",
        )


def incident_of(
    request: AgentRequest, said: ChatOrder | None, intent: IntentType | None
) -> Incident | None:
    """What an earlier run was about, so that a further turn can be about it, too; None where it
    was about no incident. `intent` is the branch that it took: a diagnosis is named itself, since
    its records may be read (I6)."""
    if said is not None and intent is not IntentType.DIAGNOSIS:
        return said.about
    if said is not None and said.about is None:
        return None
    source = said.about.source if said is not None and said.about else request.source
    if source is None or source.startswith("gate:"):
        return None
    return Incident(
        source=source,
        incident=request.incident,
        window=request.window,
        symptom_service=request.symptom_service,
        symptom_signal=request.symptom_signal,
        run_id=request.run_id,
    )


def live_now(service: str, since: str, now: datetime) -> Incident:
    """What goes on now, in the live back ends. Raises InputRefused (USAGE, MESSAGE_REFUSED)."""
    if service:
        refuse_message(service.strip())
    window = window_since(since, now)
    return Incident(source=LIVE, window=window, symptom_service=service or None)


def refuse_unfinished(head: RunHead) -> None:
    """Raise InputRefused (RUN_UNDECIDED) for a run that has no answer yet: its records would not
    be the same to whoever reads them later."""
    if not is_terminal(head.state):
        raise InputRefused(
            f"run {head.run_id} has no answer yet",
            code="RUN_UNDECIDED",
            hint="wait for its answer, then ask on",
        )


def chat_digest(source: str | None) -> str | None:
    """The address of a turn's order, by its request's source; None where the run is no turn."""
    if source is None or not source.startswith(SOURCE_PREFIX):
        return None
    return source.removeprefix(SOURCE_PREFIX)


def reread_order(content: bytes) -> ChatOrder:
    """The order that a run kept. Raises InputRefused (RUN_EXPIRED) where it cannot be read."""
    try:
        return ChatOrder.model_validate_json(content)
    except ValidationError:
        raise InputRefused(
            "what was said in this turn cannot be read any more",
            code="RUN_EXPIRED",
            hint="say it again",
        ) from None


@dataclass(frozen=True, slots=True)
class Asker:
    """Who says it: the run's id and identity, and the limits that it may use."""

    run_id: str
    tenant: str
    requested_by: str
    limits: Limits
    profile: str = "standard"
    roles: tuple[str, ...] = ()


def request_of_turn(order: ChatOrder, asker: Asker) -> AgentRequest:
    """The request of a turn's run, about the incident that the turn is about.

    The first diagnosis of an incident is a run like any other, and names its incident itself.
    """
    about = order.about
    is_plain = order.intent is IntentType.DIAGNOSIS and about is not None and not about.run_id
    return AgentRequest(
        run_id=asker.run_id,
        tenant=asker.tenant,
        question=order.message,
        limits=asker.limits,
        profile=asker.profile,
        intent=order.intent or IntentType.DIAGNOSIS,
        window=about.window if about else None,
        incident=about.incident if about else None,
        source=about.source if about is not None and is_plain else order.source,
        symptom_service=about.symptom_service if about else None,
        symptom_signal=about.symptom_signal if about else None,
        requested_by=asker.requested_by,
        roles=asker.roles,
    )


# --- The branches that ask no tool ------------------------------------------------------------


class Nobody:
    """Stands where an agent would, in a branch that has none."""

    name = "nobody"

    async def decide(self, state: AgentState) -> Decision:
        """Never asked. Raises InternalFault."""
        return _never()


def _never() -> NoReturn:
    raise InternalFault("a branch without an agent asks none")


@dataclass(frozen=True, slots=True)
class SystemChat:
    """Chooses the fixed reply (`diagnose.Collect`): no tool, no claim (I3)."""

    order: ChatOrder

    async def __call__(self, run: Run, collection: Collection) -> None:
        """The choice is on record when this returns. Raises RecordFailed (L5)."""
        if run.view.is_collected:
            return
        try:
            await enter_branch(run, IntentType.SYSTEM_CHAT)
            await run.check()
            choice = write_choice(self.order.topic, language_of(self.order.message))
            await end_without_calls(run, Ending.REPLIED, choice)
        except PauseAsked:
            raise
        except RunStopped as stop:
            await end_stopped(run, stop)


async def end_unrouted(run: Run, _: Collection) -> None:
    """No branch was found, and none is guessed (`diagnose.Collect`)."""
    if run.view.is_collected:
        return
    try:
        await run.check()
        await end_without_calls(run, Ending.UNROUTED)
    except PauseAsked:
        raise
    except RunStopped as stop:
        await end_stopped(run, stop)


class AskingBack:
    """The agent of a diagnosis that nobody said the incident of: it asks for it (D7)."""

    name = "asking-back"

    async def decide(self, state: AgentState) -> Decision:
        """A report without a conclusion, and what is missing."""
        return Conclude(
            {
                "analyses": [],
                "conclusion": None,
                "limitations": {
                    "scope": "nothing was looked at: the question names no incident",
                    "missing_info": [MISSING[language_of(state.request.question)]],
                },
            }
        )


MISSING: Final = {
    "en": "the name of the incident folder, or the id of an earlier run about it",
    "zh": "请指明是哪个故障：故障目录的名称，或此前的运行编号",
}
"""What a question without an incident lacks."""
