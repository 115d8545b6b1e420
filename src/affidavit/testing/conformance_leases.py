"""What every store must do when several want to drive: leases, fencing, concurrency."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final, TypeAlias

import anyio

from affidavit.contract.errors import LeaseLost, RecordFailed
from affidavit.contract.journal import EventType
from affidavit.contract.states import ReleaseOutcome, RunState
from affidavit.core.chain import first_break
from affidavit.ports.store import WAKING, Append, Lease, Store
from affidavit.testing.conformance import refusal, require
from affidavit.testing.journals import (
    SECOND_US,
    START_US,
    TTL_US,
    artifact,
    begin_run,
    ending,
    event,
    lease_run,
    next_lines,
)

OpenStore: TypeAlias = Callable[[], Store]

HANDLES: Final = 5
ACQUIRERS: Final = 50
"""So many at once, over so many handles: enough to meet, few enough for a second."""


async def leases_to_one(open_store: OpenStore) -> None:
    """A live lease keeps everybody out, its holder too; each new one has a higher epoch."""
    store = open_store()
    run = await begin_run(store)
    lease = await lease_run(store, run.id, "a")
    require(lease == Lease(run.id, "a", lease.epoch, START_US + TTL_US), "a lease says its end")
    for holder in ("a", "b"):
        refused = await store.acquire(run.id, holder, lease.expires_us - 1, TTL_US)
        require(refused is None, "a live lease keeps everybody out", refused)
    next_ = await store.acquire(run.id, "a", lease.expires_us, TTL_US)
    require(
        next_ is not None and next_.epoch > lease.epoch, "a new lease has a higher epoch", next_
    )
    await store.close()


async def renews(open_store: OpenStore) -> None:
    """A lease is prolonged under the same epoch, late too, unless another took over."""
    store = open_store()
    run = await begin_run(store)
    lease = await lease_run(store, run.id)
    renewed = await store.renew(lease, START_US + 10 * SECOND_US, TTL_US)
    longer = replace(lease, expires_us=START_US + 10 * SECOND_US + TTL_US)
    require(renewed == longer, "renewing prolongs the same epoch", renewed)
    require(
        await store.acquire(run.id, "b", lease.expires_us, TTL_US) is None,
        "a renewed lease keeps others out for longer",
    )
    late = await store.renew(lease, renewed.expires_us + SECOND_US, TTL_US)
    require(late.epoch == lease.epoch, "a lease that ran out is renewed while nobody took over")
    await store.append(late, Append(next_lines(run.last)))
    require(await store.acquire(run.id, "b", late.expires_us, TTL_US) is not None, "then it ends")
    with refusal(LeaseLost, "LEASE_LOST", "a lost lease is not renewed"):
        await store.renew(late, late.expires_us, TTL_US)
    await store.close()


async def releases(open_store: OpenStore) -> None:
    """A lease that was given back frees the run at once and is worth nothing; once is enough."""
    store = open_store()
    run = await begin_run(store)
    first = await lease_run(store, run.id, "a")
    await store.release(first)
    with refusal(LeaseLost, "LEASE_LOST", "a returned lease appends nothing"):
        await store.append(first, Append(next_lines(run.last)))
    with refusal(LeaseLost, "LEASE_LOST", "a returned lease is not renewed"):
        await store.renew(first, START_US, TTL_US)
    second = await lease_run(store, run.id, "b")
    require(second.epoch > first.epoch, "a returned epoch is not used again")
    await store.release(first)
    await store.append(second, Append(next_lines(run.last)))
    require(await store.head(run.id) == replace(run.head, last_seq=2), "a lost lease frees nothing")
    await store.close()


async def fences_a_sleeper(open_store: OpenStore) -> None:
    """A driver that slept past its lease can neither append, publish, renew nor free the run."""
    sleeping, waking = open_store(), open_store()
    run = await begin_run(sleeping)
    lease = await lease_run(sleeping, run.id, "sleeper")
    await waking.post(run.id, "wake", "somebody")
    (command,) = await sleeping.inbox(run.id)
    rival = await lease_run(waking, run.id, "rival", at_s=31)
    writes = (
        Append(next_lines(run.last), [artifact(b"late")], (command.id,)),
        ending(run.last, artifacts=[artifact(b"late", "release")]),
    )
    for write in writes:
        with refusal(LeaseLost, "LEASE_LOST", "a sleeper's write is refused"):
            await sleeping.append(lease, write)
    with refusal(LeaseLost, "LEASE_LOST", "a sleeper's lease is not renewed"):
        await sleeping.renew(lease, START_US + 31 * SECOND_US, TTL_US)
    await sleeping.release(lease)
    require(await waking.read(run.id) == run.lines, "a sleeper leaves no line")
    require(await waking.artifacts(run.id) == (), "a sleeper leaves no artifact")
    require(await waking.inbox(run.id) == (command,), "a sleeper takes no command in")
    end = ending(run.last)
    await waking.append(rival, end)
    with refusal(LeaseLost, "LEASE_LOST", "a sleeper publishes nothing after the end either"):
        await sleeping.append(lease, writes[1])
    require(await waking.read(run.id) == (*run.lines, *end.entries), "there is one decision")
    await sleeping.close()
    await waking.close()


async def refuses_a_forged_lease(open_store: OpenStore) -> None:
    """Only the very lease that the store gave out counts."""
    store = open_store()
    run, other = await begin_run(store, 1), await begin_run(store, 2)
    lease = await lease_run(store, run.id)
    forged = (
        replace(lease, epoch=lease.epoch + 1),
        replace(lease, epoch=lease.epoch - 1),
        replace(lease, holder="b"),
        replace(lease, run_id=other.id),
    )
    for each in forged:
        with refusal(LeaseLost, "LEASE_LOST", "a lease that was not given out is refused"):
            await store.append(each, Append(()))
    await store.append(replace(lease, expires_us=0), Append(next_lines(run.last)))
    require(len(await store.read(run.id)) == 2, "the epoch counts, not the end that a lease says")
    await store.close()


async def knows_what_is_due(open_store: OpenStore) -> None:
    """A run waits for a driver while it is running, free, and not paused or called."""
    store = open_store()
    free, held = await begin_run(store, 1), await begin_run(store, 2)
    paused, called = await begin_run(store, 3), await begin_run(store, 4, paused=True)
    lease = await lease_run(store, held.id)
    sleeper = await lease_run(store, paused.id)
    await store.append(sleeper, Append(next_lines(paused.last), paused=True))
    await store.release(sleeper)
    await store.post(paused.id, "pause", "somebody")
    await store.post(called.id, "wake", "somebody")
    due = await store.due(START_US)
    require(due == (free.id, called.id), "due are the free, and the paused that are called", due)
    due = await store.due(lease.expires_us)
    require(due == (free.id, held.id, called.id), "a lease that ran out makes a run due", due)
    lease = await lease_run(store, paused.id)
    await store.append(lease, Append((), paused=False))
    await store.release(lease)
    due = await store.due(START_US)
    require(due == (free.id, paused.id, called.id), "a run that goes on is due again", due)
    await store.close()


async def wakes_at_its_time(open_store: OpenStore) -> None:
    """A paused run is due when its time to wake has come, and when a word for it has."""
    store = open_store()
    alarm_us = START_US + 3600 * SECOND_US
    run, created = await begin_run(store, 1), await begin_run(store, 2, paused=True)
    lease = await lease_run(store, run.id)
    lines = next_lines(run.last)
    await store.append(lease, Append(lines, paused=True, wake_at_us=alarm_us))
    await store.release(lease)
    head = await store.head(run.id)
    require(head is not None and head.wake_at_us == alarm_us, "a head says when it wakes", head)
    require(await store.due(alarm_us - 1) == (), "a sleeper is not due before its time")
    require(await store.due(alarm_us) == (run.id,), "then it is")
    for number, kind in enumerate(sorted(WAKING), start=1):
        await store.post(created.id, kind, "somebody")
        due = await store.due(START_US)
        require(due == (created.id,), f"{kind} wakes a run", due)
        lease = await lease_run(store, created.id, at_s=100 * number)
        (command,) = await store.inbox(created.id)
        await store.append(lease, Append((), consumed=(command.id,)))
        await store.release(lease)
        require(await store.due(START_US) == (), "a word that was taken in wakes nobody")
    lease = await lease_run(store, run.id, at_s=7200)
    await store.append(lease, Append(next_lines(lines[-1]), paused=False))
    head = await store.head(run.id)
    require(head is not None and head.wake_at_us is None, "who goes on has no alarm", head)
    await store.append(lease, Append((), paused=True))
    await store.release(lease)
    require(await store.due(alarm_us * 2) == (), "a pause without a time waits for a word")
    await store.close()


async def leases_to_one_of_many(open_store: OpenStore) -> None:
    """Of fifty that ask at once, over several handles, exactly one gets the lease."""
    handles = [open_store() for _ in range(HANDLES)]
    run = await begin_run(handles[0])
    won: list[Lease] = []

    async def ask(number: int) -> None:
        store = handles[number % HANDLES]
        lease = await store.acquire(run.id, f"driver {number}", START_US, TTL_US)
        if lease is not None:
            won.append(lease)

    async with anyio.create_task_group() as tasks:
        for number in range(ACQUIRERS):
            tasks.start_soon(ask, number)
    require(len(won) == 1, "exactly one of many gets the lease", won)
    await handles[-1].append(won[0], Append(next_lines(run.last)))
    for handle in handles:
        await handle.close()


async def ends_once_among_many(open_store: OpenStore) -> None:
    """Of many that end a run at once, even under one lease, exactly one does (K1, L6)."""
    handles = [open_store() for _ in range(HANDLES)]
    run = await begin_run(handles[0])
    lease = await lease_run(handles[0], run.id)
    states = [state for state in RunState if state is not RunState.RUNNING]
    won: list[RunState] = []

    async def end(number: int) -> None:
        state = states[number % len(states)]
        decided = event(EventType.RELEASE_DECISION), event(EventType.RUN_ENDED, str(state))
        write = Append(
            next_lines(run.last, *decided),
            [artifact(state.encode(), "release")],
            ended=(state, ReleaseOutcome.FAILED),
            durable=number % 2 == 0,
        )
        try:
            await handles[number % HANDLES].append(lease, write)
        except RecordFailed:
            return
        won.append(state)

    async with anyio.create_task_group() as tasks:
        for number in range(20):
            tasks.start_soon(end, number)
    require(len(won) == 1, "exactly one end is accepted", won)
    head, lines = await handles[-1].head(run.id), await handles[-1].read(run.id)
    require(head is not None and head.state is won[0], "the head shows the end that won", head)
    require(first_break(run.id, lines) is None and len(lines) == 3, "there is one decision", lines)
    require(len(await handles[-1].artifacts(run.id)) == 1, "one result was published")
    for handle in handles:
        await handle.close()


async def takes_posts_from_many(open_store: OpenStore) -> None:
    """Commands posted at once, while lines are appended, all wait; none is lost or doubled."""
    handles = [open_store() for _ in range(HANDLES)]
    runs = [await begin_run(handles[0], number) for number in range(HANDLES)]
    leases = [await lease_run(handles[0], run.id) for run in runs]

    async def append(number: int) -> None:
        last = runs[number].last
        for step in range(10):
            lines = next_lines(last, event(EventType.STEP_DECIDED, step))
            await handles[number].append(leases[number], Append(lines, durable=step % 5 == 0))
            last = lines[-1]

    async def post(number: int) -> None:
        await handles[number % HANDLES].post(runs[0].id, "wake", str(number))

    async with anyio.create_task_group() as tasks:
        for number in range(HANDLES):
            tasks.start_soon(append, number)
        for number in range(ACQUIRERS):
            tasks.start_soon(post, number)
    waiting = await handles[-1].inbox(runs[0].id)
    senders = sorted(int(command.by) for command in waiting)
    require(senders == list(range(ACQUIRERS)), "every command waits once", senders)
    require(len({command.id for command in waiting}) == ACQUIRERS, "commands have ids of their own")
    for run in runs:
        lines = await handles[0].read(run.id)
        require(len(lines) == 11, "every line was appended once", len(lines))
        require(first_break(run.id, lines) is None, "the chain holds")
    for handle in handles:
        await handle.close()


LEASE_CHECKS: Final[tuple[Callable[[OpenStore], Awaitable[None]], ...]] = (
    leases_to_one,
    renews,
    releases,
    fences_a_sleeper,
    refuses_a_forged_lease,
    knows_what_is_due,
    wakes_at_its_time,
    leases_to_one_of_many,
    ends_once_among_many,
    takes_posts_from_many,
)
"""Every check of leases and of several drivers; each wants an empty store."""
