"""Carries what is known of alert runs to whoever is to be told.

What goes out is read from the run's journal, never handed over by whoever drove it: so nothing is
lost with a process, and another one goes on. Each round looks at the runs that are not settled,
puts observations and results into the outbox, and makes an attempt at everything that is due.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import anyio
from pydantic import ValidationError

from affidavit.application.deliveries import (
    DeliveryPlan,
    Observed,
    outcome_of,
    plan_observation,
    plan_result,
)
from affidavit.contract.errors import AffidavitError, InputRefused, RecordFailed
from affidavit.contract.evidence import Envelope
from affidavit.contract.journal import Entry, EventType
from affidavit.contract.states import EvidenceStatus, is_terminal
from affidavit.core.chain import to_us
from affidavit.diagnose import stored_release
from affidavit.ports.clock import Clock
from affidavit.ports.incidents import (
    Delivery,
    IncidentBook,
    IncidentRun,
    Outbox,
    Outcome,
    Sender,
    Sent,
)
from affidavit.ports.store import Store
from affidavit.progress.selection import SeenCall, select_facts

ROUND_S: Final = 1.0
"""Between two rounds; an observation is due within ten seconds."""

ATTEMPT_S: Final = 60.0
"""Of one attempt, however many messages it has."""

ATTEMPT_LEASE_US: Final = 120_000_000
"""Twice that: after it, the process is gone and another may try."""

AT_ONCE: Final = 8
"""Attempts side by side at one destination. So many are taken at a time: all of them are over
before their lease is."""

FACTS_MAX: Final = 5
"""Of a first observation."""

MICRO: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Trouble:
    """What a round could not do: for whom, and the code."""

    what: str
    code: str


@dataclass(slots=True)
class Courier:
    """One process's courier; several on one store do not disturb each other."""

    book: IncidentBook
    outbox: Outbox
    store: Store
    plan: DeliveryPlan
    senders: Mapping[str, Sender]
    clock: Clock
    tell: Callable[[Trouble], None] | None = None
    count: Callable[[str], None] | None = None  # delivered, pending (again) or dead: each attempt
    _stopped: bool = field(default=False)

    async def serve(self) -> None:
        """Round after round, until `stop`. What goes wrong is told, and tried again."""
        busy: set[str] = set()

        async def carry(destination: str) -> None:
            try:
                while not self._stopped and await self._deliver_to(destination):
                    pass
            except AffidavitError as error:
                self._say(destination, error.code)
            finally:
                busy.discard(destination)

        async with anyio.create_task_group() as tasks:
            while not self._stopped:
                try:
                    await self._gather_all()
                    for destination in await self.outbox.due(to_us(self.clock.now())):
                        if destination not in busy:
                            busy.add(destination)
                            tasks.start_soon(carry, destination)
                except AffidavitError as error:
                    self._say("outbox", error.code)
                await self.clock.sleep(ROUND_S)

    def stop(self) -> None:
        """No further round begins."""
        self._stopped = True

    async def make_round(self) -> None:
        """Gather, then make one attempt at what is due, and wait for all of them."""
        await self._gather_all()
        async with anyio.create_task_group() as tasks:
            for destination in await self.outbox.due(to_us(self.clock.now())):
                tasks.start_soon(self._deliver_to, destination)

    async def _gather_all(self) -> None:
        for run in await self.book.unsettled():
            try:
                await self._gather(run)
            except (InputRefused, RecordFailed) as error:
                self._say(run.run_id, error.code)

    async def _deliver_to(self, destination: str) -> int:
        """Attempts at what is due there, side by side. Returns how many were taken."""
        now_us = to_us(self.clock.now())
        due = await self.outbox.take(destination, now_us, now_us + ATTEMPT_LEASE_US, AT_ONCE)
        async with anyio.create_task_group() as tasks:
            # A thread's first message goes before the others of its incident.
            begun: set[str] = set()
            for delivery in due:
                incident = f"{delivery.tenant}:{delivery.key}"
                if incident in begun:
                    await self._postpone(delivery, now_us)
                else:
                    begun.add(incident)
                    tasks.start_soon(self._try, delivery)
        return len(due)

    async def _gather(self, run: IncidentRun) -> None:
        head = await self.store.head(run.run_id)
        if head is None:
            return  # it has its id, and is not started yet
        now_us = to_us(self.clock.now())
        if not run.observed:
            entries = await self.store.read(run.run_id)
            observed = await first_observation(self.store, run.run_id, entries, head.question)
            if observed is not None:
                planned = plan_observation(self.plan, run, observed, now_us)
                await self.outbox.put(run.run_id, "observation", planned)
        if is_terminal(head.state):
            release = await stored_release(self.store, run.run_id)
            if release is None:
                return
            planned = plan_result(self.plan, run, release, now_us)
            await self.outbox.put(run.run_id, "result", planned, release.usage.tokens)

    async def _postpone(self, delivery: Delivery, now_us: int) -> None:
        """Back to the next round, without having been an attempt."""
        await self.outbox.postpone(delivery.id, now_us)

    async def _try(self, delivery: Delivery) -> None:
        """One attempt. Where its end cannot be recorded it is made again once its lease is over."""
        try:
            await self._deliver(delivery)
        except AffidavitError as error:
            self._say(f"{delivery.destination} {delivery.id}", error.code)

    async def _deliver(self, delivery: Delivery) -> None:
        sender = self.senders.get(delivery.destination)
        now = self.clock.now()
        if sender is None:
            sent = Sent("DESTINATION_UNKNOWN", retry=False)
        else:
            incident = f"{delivery.tenant}:{delivery.key}"  # no two tenants share a thread
            thread = await self.outbox.thread(delivery.destination, incident)
            sent = Sent("TIMEOUT")
            with anyio.move_on_after(ATTEMPT_S):
                sent = await sender.send(delivery, now.timestamp(), thread)
            if sent.thread and thread is None:
                await self.outbox.begin_thread(delivery.destination, incident, sent.thread)
        outcome: Outcome = outcome_of(sent, delivery.attempts, to_us(self.clock.now()))
        await self.outbox.settle(delivery.id, outcome)
        if self.count is not None:
            self.count(outcome.state)
        if sent.code:
            self._say(f"{delivery.destination} {delivery.id}", sent.code)

    def _say(self, what: str, code: str) -> None:
        if self.tell is not None:
            self.tell(Trouble(what, code))


async def first_observation(
    store: Store, run_id: str, entries: tuple[Entry, ...], question: str
) -> Observed | None:
    """What the first results with evidence show, as code words it; None while there is none."""
    seen: list[SeenCall] = []
    for entry in entries:
        if entry.type is not EventType.TOOL_CALL_READY:
            continue
        if entry.data["evidence_status"] != EvidenceStatus.EVIDENCE_FOUND:
            continue
        content = await store.artifact(run_id, str(entry.data["result_digest"]))
        try:
            envelope = None if content is None else Envelope.model_validate_json(content)
        except ValidationError:
            envelope = None
        if envelope is not None and envelope.source_type != "topology":
            seen.append(SeenCall(str(entry.data["tool_call_id"]), envelope))
    if not seen:
        return None
    facts = select_facts(tuple(seen)).facts[:FACTS_MAX]
    return Observed(question, tuple(fact.text for fact in facts)) if facts else None
