"""What every store must do with what waits: commands for a driver, actions for a person."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final, TypeAlias

from affidavit.contract.errors import InputRefused, RecordFailed
from affidavit.ports.store import (
    INBOX_MAX,
    PAYLOAD_CHARS_MAX,
    Append,
    PendingApproval,
    Store,
)
from affidavit.testing.conformance import refusal, require
from affidavit.testing.journals import (
    SECOND_US,
    ask,
    begin_run,
    ending,
    lease_run,
    next_lines,
)

OpenStore: TypeAlias = Callable[[], Store]


async def keeps_commands(open_store: OpenStore) -> None:
    """Commands wait in order until a line takes them in, each exactly once."""
    store, elsewhere = open_store(), open_store()
    run, other = await begin_run(store, 1), await begin_run(store, 2)
    lease = await lease_run(store, run.id)
    await elsewhere.post(run.id, "wake", "Ω")
    await elsewhere.post(other.id, "cancel", "b")
    await elsewhere.post(run.id, "cancel", "c")
    waiting = await store.inbox(run.id)
    words = [(command.kind, command.by) for command in waiting]
    require(words == [("wake", "Ω"), ("cancel", "c")], "commands wait in their order", words)
    (foreign,) = await store.inbox(other.id)
    first, second = waiting
    for ids in ((foreign.id,), (first.id, first.id), (first.id, 10**9)):
        with refusal(RecordFailed, "COMMAND_UNKNOWN", "only a waiting command is taken in, once"):
            await store.append(lease, Append(next_lines(run.last), consumed=ids))
    require(await store.inbox(run.id) == waiting, "a refused write takes nothing in")
    await store.append(lease, Append(next_lines(run.last), consumed=(first.id,)))
    require(await elsewhere.inbox(run.id) == (second,), "what a line took in is gone")
    await store.append(lease, Append((), consumed=(second.id,)))
    await elsewhere.post(run.id, "wake", "d")
    (third,) = await store.inbox(run.id)
    require(third.id > second.id, "an id is never used again", third.id)
    require(await store.inbox(other.id) == (foreign,), "another run's inbox is its own")
    await store.close()
    await elsewhere.close()


async def keeps_payloads(open_store: OpenStore) -> None:
    """What a command says comes back as it was posted; too much of it is refused."""
    store, elsewhere = open_store(), open_store()
    run = await begin_run(store)
    said = '{"tool_call_id":"call_0001","note":"Ω\\u0000"}'
    await elsewhere.post(run.id, "approve", "a person", said)
    await elsewhere.post(run.id, "resolve", "another", "x" * PAYLOAD_CHARS_MAX)
    with refusal(InputRefused, "PAYLOAD_TOO_LONG", "a command is no document"):
        await elsewhere.post(run.id, "reject", "a person", "x" * (PAYLOAD_CHARS_MAX + 1))
    with refusal(RecordFailed, "TEXT_UNWRITABLE", "a payload that UTF-8 cannot hold is refused"):
        await elsewhere.post(run.id, "reject", "a person", "\ud800")
    words = [(command.kind, command.payload) for command in await store.inbox(run.id)]
    require(words == [("approve", said), ("resolve", "x" * PAYLOAD_CHARS_MAX)], "it is kept", words)
    await store.close()
    await elsewhere.close()


async def lists_what_waits_for_a_person(open_store: OpenStore) -> None:
    """An action waits from the write that asks until the one that answers, for its tenant alone."""
    store, elsewhere = open_store(), open_store()
    run, other = await begin_run(store, 1), await begin_run(store, 2, tenant="theirs")
    lease = await lease_run(store, run.id)
    first, second = ask("call_0002", asked_s=5), ask("call_0001", asked_s=9)
    lines = next_lines(run.last)
    refused = Append(next_lines(lines[-1]), asked=(first,))
    with refusal(RecordFailed, "LINE_OUT_OF_ORDER", "a refused write asks nobody"):
        await store.append(lease, refused)
    require(await elsewhere.approvals("local") == (), "a refused write asks nobody")
    await store.append(lease, Append(lines, asked=(second, first)))
    waiting = await elsewhere.approvals("local")
    expected = tuple(PendingApproval(run.id, "local", each) for each in (first, second))
    require(waiting == expected, "what waits is listed, oldest first", waiting)
    require(await elsewhere.approvals("theirs") == (), "another tenant sees nothing of it")
    require(len(await elsewhere.approvals("local", 1)) == 1, "the list is as long as asked for")
    require(await elsewhere.approvals("local", -1) == (), "a list of less than none is empty")
    again = replace(first, expires_us=first.expires_us + SECOND_US)
    await store.append(lease, Append((), asked=(again,), answered=(second.tool_call_id, "call_9")))
    waiting = await elsewhere.approvals("local")
    require(waiting == (PendingApproval(run.id, "local", again),), "asked anew, answered", waiting)
    theirs = await lease_run(store, other.id)
    await store.append(theirs, Append((), asked=(first,)))
    await store.append(lease, ending(lines[-1]))
    require(await elsewhere.approvals("local") == (), "nothing of a run that has ended waits")
    require(len(await elsewhere.approvals("theirs")) == 1, "another run's action waits on")
    await store.close()
    await elsewhere.close()


async def bounds_the_inbox(open_store: OpenStore) -> None:
    """An inbox that is full says so, and loses nothing."""
    store = open_store()
    run = await begin_run(store)
    for number in range(INBOX_MAX):
        await store.post(run.id, "wake", str(number))
    with refusal(InputRefused, "INBOX_FULL", "a full inbox refuses more"):
        await store.post(run.id, "cancel", "one too many")
    require(len(await store.inbox(run.id)) == INBOX_MAX, "a full inbox keeps what it has")
    await store.close()


INBOX_CHECKS: Final[tuple[Callable[[OpenStore], Awaitable[None]], ...]] = (
    keeps_commands,
    keeps_payloads,
    lists_what_waits_for_a_person,
    bounds_the_inbox,
)
"""Every check of what waits; each wants an empty store."""
