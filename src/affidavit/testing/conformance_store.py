"""What every store must do: journal, artifacts, lists (`ports.store.Store`).

A check is given a function that opens the store: each call is one more handle on the same runs, as
another process would have. Checks of leases and of several drivers are in `conformance_leases`,
those of what waits for a driver or for a person in `conformance_inbox`.

    for check in STORE_CHECKS:
        await check(lambda: SqliteStore(path))     # an empty store for each check
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Final, TypeAlias

import anyio

from affidavit.contract.errors import InputRefused, RecordFailed
from affidavit.contract.journal import EventType
from affidavit.contract.states import ReleaseOutcome, RunState
from affidavit.core.chain import first_break
from affidavit.ports.store import (
    ATTACHED_MAX,
    LISTED_MAX,
    PAYLOADS_LIVE_US,
    Append,
    Artifact,
    Prunable,
    Store,
)
from affidavit.testing.conformance import refusal, require
from affidavit.testing.conformance_heads import HEAD_CHECKS
from affidavit.testing.conformance_inbox import INBOX_CHECKS
from affidavit.testing.conformance_leases import LEASE_CHECKS
from affidavit.testing.journals import (
    SECOND_US,
    START_US,
    artifact,
    begin_run,
    ending,
    event,
    first_lines,
    lease_run,
    next_lines,
)

OpenStore: TypeAlias = Callable[[], Store]
StoreCheck: TypeAlias = Callable[[OpenStore], Awaitable[None]]

AWKWARD: Final = {
    "nested": [[], [1, [None, True, False]], {"a": [{"b": []}]}],
    "text": "Ω \u202e \x00 \ud800 \U0001f600 \"'\\ \n",
    "numbers": [0, -1, 2**53 - 1, -(2**53 - 1)],
    "empty": ["", {}, []],
}
"""What JSON can hold and a careless store loses."""


async def reads_what_was_written(open_store: OpenStore) -> None:
    """What is read equals what was written, lists as tuples, and the chain holds."""
    store = open_store()
    run = await begin_run(store)
    lease = await lease_run(store, run.id)
    lines = next_lines(run.last, *(event(kind, AWKWARD) for kind in EventType))
    await store.append(lease, Append(lines[:5]))
    await store.append(lease, Append(lines[5:], durable=True))
    for handle in (store, open_store()):
        read = await handle.read(run.id)
        written = tuple(
            replace(line, data=_freeze_mapping(line.data)) for line in (*run.lines, *lines)
        )
        require(read == written, "a line reads as it was written", read)
        require(first_break(run.id, read) is None, "the chain of what is read holds")
        head = await handle.head(run.id)
        require(head == replace(run.head, last_seq=read[-1].seq), "the head knows the last line")
        await handle.close()


async def keeps_no_reference(open_store: OpenStore) -> None:
    """Nobody holds a piece of the store: later changes of what went in or came out do nothing."""
    store = open_store()
    run = await begin_run(store)
    lease = await lease_run(store, run.id)
    codes = ["a"]
    given = list(next_lines(run.last, event(EventType.SUPPORT_CHECK, codes)))
    await store.append(lease, Append(given))
    codes.append("b")
    given.clear()
    for line in await store.read(run.id):
        if isinstance(line.data, dict):
            line.data.clear()
    read = await store.read(run.id)
    require(first_break(run.id, read) is None, "a change outside does not reach the store")
    require(read[-1].data["codes"] == ("a",), "a line stays as it was appended", read[-1].data)
    await store.close()


async def creates_once(open_store: OpenStore) -> None:
    """An id that exists is refused and the run there stays; a run begins with its line 1."""
    store = open_store()
    run = await begin_run(store)
    with refusal(InputRefused, "RUN_EXISTS", "an id that exists is refused"):
        await store.create(
            replace(run.head, question="another"),
            Append(first_lines(run.id, value="y"), [artifact(b"other")]),
        )
    require(await store.read(run.id) == run.lines, "a refused creation changes no line")
    require(await store.head(run.id) == run.head, "a refused creation changes no head")
    require(not await store.artifacts(run.id), "a refused creation leaves no artifact")
    fresh = replace(run.head, run_id="run_fresh00000000000")
    lines = first_lines(fresh.run_id)
    for wrong in (Append(()), Append(next_lines(lines[0])), Append(lines, consumed=(1,))):
        with refusal(RecordFailed, "LINE_OUT_OF_ORDER", "a run begins with line 1 alone"):
            await store.create(fresh, wrong)
    require(await store.head(fresh.run_id) is None, "a refused run does not exist")
    await store.close()


async def knows_what_is_missing(open_store: OpenStore) -> None:
    """A run that does not exist is empty to a reader and refused to a writer."""
    store = open_store()
    run = await begin_run(store)
    lease = replace(await lease_run(store, run.id), run_id="run_unknown000000000")
    unknown = lease.run_id
    require(await store.read(unknown) == (), "an unknown run has no lines")
    require(await store.head(unknown) is None, "an unknown run has no head")
    require(await store.artifacts(unknown) == (), "an unknown run has no artifacts")
    require(await store.inbox(unknown) == (), "an unknown run has no inbox")
    require(await store.artifact(run.id, "0" * 64) is None, "an unknown address holds nothing")
    with refusal(RecordFailed, "RUN_UNKNOWN", "nothing is appended to an unknown run"):
        await store.append(lease, Append(first_lines(unknown)))
    with refusal(InputRefused, "RUN_UNKNOWN", "an unknown run is not leased"):
        await store.acquire(unknown, "a", START_US, SECOND_US)
    with refusal(InputRefused, "RUN_UNKNOWN", "nothing is posted to an unknown run"):
        await store.post(unknown, "cancel", "somebody")
    await store.release(lease)
    await store.close()


async def refuses_disorder(open_store: OpenStore) -> None:
    """A line that does not follow is refused, with everything that came with it."""
    store = open_store()
    run, other = await begin_run(store, 1), await begin_run(store, 2)
    lease = await lease_run(store, run.id)
    await store.post(run.id, "wake", "somebody")
    (command,) = await store.inbox(run.id)
    good = next_lines(run.last, event(EventType.STEP_DECIDED), event(EventType.RUN_PAUSED))
    wrong = {
        "a gap": good[1:],
        "a line twice": (good[0], good[0]),
        "the last line again": run.lines,
        "a wrong order": (good[1], good[0]),
        "a wrong link": (replace(good[0], prev="f" * 64),),
        "another run's line": next_lines(other.last),
        "a good line, then a wrong one": (good[0], replace(good[1], prev="f" * 64)),
    }
    for what, lines in wrong.items():
        write = Append(lines, [artifact(b"with it")], (command.id,), paused=True)
        with refusal(RecordFailed, "LINE_OUT_OF_ORDER", f"{what} is refused"):
            await store.append(lease, write)
    require(await store.read(run.id) == run.lines, "a refused write leaves no line")
    require(await store.head(run.id) == run.head, "a refused write leaves the head")
    require(await store.artifacts(run.id) == (), "a refused write leaves no artifact")
    require(await store.inbox(run.id) == (command,), "a refused write takes no command in")
    await store.append(lease, Append(good, consumed=(command.id,)))
    require(await store.read(run.id) == (*run.lines, *good), "a right write goes on")
    await store.close()


async def ends_once(open_store: OpenStore) -> None:
    """The first end wins; after it nothing is added, and nobody can be called (K1)."""
    store = open_store()
    run = await begin_run(store, paused=True)
    lease = await lease_run(store, run.id)
    await store.post(run.id, "cancel", "too late")
    release = artifact(b"published", "release")
    end = ending(run.last, artifacts=[release])
    await store.append(lease, end)
    rival = Append(end.entries, ended=(RunState.FAILED, ReleaseOutcome.FAILED))
    for write in (rival, Append(next_lines(end.entries[-1])), Append((), [artifact(b"late")])):
        with refusal(RecordFailed, "RUN_ENDED", "nothing is added after the end"):
            await store.append(lease, write)
    with refusal(InputRefused, "RUN_ENDED", "a run that has ended takes no command"):
        await store.post(run.id, "cancel", "later")
    head = await store.head(run.id)
    ended = replace(run.head, state=RunState.SUCCESS, outcome=ReleaseOutcome.SUCCESS, last_seq=3)
    require(head == replace(ended, paused=False), "the first end stays, and ends a pause", head)
    require(await store.inbox(run.id) == (), "the end empties the inbox")
    require(await store.artifacts(run.id) == (release,), "a late artifact is not kept")
    require(await store.due(START_US * 2) == (), "a run that has ended is not due")
    await store.close()


async def keeps_artifacts(open_store: OpenStore) -> None:
    """Artifacts are per run, found by address, stored once, and never at a wrong address."""
    store = open_store()
    run, other = await begin_run(store, 1), await begin_run(store, 2)
    lease = await lease_run(store, run.id)
    raw, result, empty = (
        artifact(b"\x00\xff", "raw"),
        artifact(b"\x00\xff", "result"),
        artifact(b""),
    )
    await store.append(lease, Append((), [raw, raw]))
    await store.append(lease, Append((), [raw, result, empty], durable=True))
    kept = await store.artifacts(run.id)
    expected = tuple(sorted((raw, result, empty), key=lambda item: (item.digest, item.kind)))
    require(kept == expected, "artifacts are kept once for each kind, by address", kept)
    require(await store.artifact(run.id, raw.digest) == raw.content, "bytes come back as they were")
    require(await store.artifact(run.id, empty.digest) == b"", "no bytes are not no artifact")
    require(await store.artifact(other.id, raw.digest) is None, "another run cannot see them")
    wrong = Artifact(raw.digest, "raw", b"other bytes")
    with refusal(RecordFailed, "ARTIFACT_ALTERED", "bytes at a wrong address are refused"):
        await store.append(lease, Append(next_lines(run.last), [artifact(b"good"), wrong]))
    require(await store.artifacts(run.id) == expected, "a refused artifact leaves nothing")
    require(await store.read(run.id) == run.lines, "a refused artifact leaves no line")
    await store.close()


async def expires_payloads(open_store: OpenStore) -> None:
    """Payloads live until two hours after the end, never less; what was published stays (C2)."""
    store = open_store()
    run, paused = await begin_run(store, 1), await begin_run(store, 2, paused=True)
    raw, release = artifact(b"payload"), artifact(b"published", "release")
    sealed = artifact(b"sealed", "affidavit")
    for each in (run, paused):
        lease = await lease_run(store, each.id)
        await store.append(lease, Append((), [raw]))
    far_us = START_US + 1000 * PAYLOADS_LIVE_US
    require(await store.expire_artifacts(far_us) == 0, "nothing expires before the end of its run")
    lease = await lease_run(store, run.id, at_s=60)
    await store.append(lease, ending(run.last, at_s=60, artifacts=[release, sealed]))
    expiry_us = START_US + 60 * SECOND_US + PAYLOADS_LIVE_US
    require(await store.expire_artifacts(expiry_us - 1) == 0, "payloads live for two hours")
    require(await store.artifact(run.id, raw.digest) == b"payload", "payloads live for two hours")
    require(await store.prunable(expiry_us - 1) == Prunable(), "nothing is due before its time")
    due = await store.prunable(expiry_us)
    require(due == Prunable(1, 1, len(b"payload")), "what is due is counted, and stays", due)
    require(await store.artifact(run.id, raw.digest) == b"payload", "looking deletes nothing")
    require(await store.expire_artifacts(expiry_us) == 1, "then they are deleted, and counted")
    require(await store.prunable(far_us) == Prunable(), "what is gone is not due again")
    require(await store.expire_artifacts(far_us) == 0, "what is gone is not counted again")
    require(await store.artifact(run.id, raw.digest) is None, "an expired payload is gone")
    left = {item.kind for item in await store.artifacts(run.id)}
    require(left == {"release", "affidavit"}, "what was published stays", left)
    require(await store.artifact(paused.id, raw.digest) == b"payload", "a pause keeps its payloads")
    require(len(await store.read(run.id)) == 3, "lines never expire")
    await store.close()


async def keeps_what_is_said_since(open_store: OpenStore) -> None:
    """Beside a run that has ended stands what was said of it since, and nothing else moves (L9)."""
    store = open_store()
    run, going = await begin_run(store, 1), await begin_run(store, 2)
    lease = await lease_run(store, run.id)
    await store.append(lease, ending(run.last, artifacts=[artifact(b"sealed", "affidavit")]))
    lines, head = await store.read(run.id), await store.head(run.id)
    said = artifact(b"it was the clock", "retraction")
    for item in (said, said, artifact(b"and again", "retraction")):
        await store.attach(run.id, item)
    kinds = sorted(item.kind for item in await store.artifacts(run.id))
    require(kinds == ["affidavit", "retraction", "retraction"], "each is kept once", kinds)
    require(await store.read(run.id) == lines, "no line is added or changed")
    require(await store.head(run.id) == head, "the run itself has not moved")
    await store.expire_artifacts(START_US + 1000 * PAYLOADS_LIVE_US)
    require(await store.artifact(run.id, said.digest) == said.content, "it never expires")
    with refusal(InputRefused, "RUN_UNKNOWN", "an unknown run has nothing beside it"):
        await store.attach("run_unknown000000000", said)
    with refusal(InputRefused, "RUN_UNDECIDED", "a run that goes on has nothing beside it"):
        await store.attach(going.id, said)
    with refusal(RecordFailed, "ARTIFACT_ALTERED", "bytes at a wrong address are refused"):
        await store.attach(run.id, Artifact(said.digest, "retraction", b"other bytes"))
    for number in range(ATTACHED_MAX["retraction"] - 2):
        await store.attach(run.id, artifact(f"more {number}".encode(), "retraction"))
    with refusal(InputRefused, "ATTACHED_FULL", "there is an end to it"):
        await store.attach(run.id, artifact(b"one too many", "retraction"))
    await store.attach(run.id, artifact(b"read by ops", "draft_access"))
    await store.close()


async def lists_runs_of_one_tenant(open_store: OpenStore) -> None:
    """A tenant sees its own runs, newest first, as many as it asks for."""
    store = open_store()
    ours = [await begin_run(store, number) for number in (2, 1, 3)]
    theirs = await begin_run(store, 4, tenant="theirs")
    listed = [head.run_id for head in await store.runs("local")]
    require(listed == [ours[2].id, ours[0].id, ours[1].id], "runs are listed newest first", listed)
    require(
        [head.run_id for head in await store.runs("theirs")] == [theirs.id], "tenants are apart"
    )
    require(await store.runs("nobody") == (), "an unknown tenant has no runs")
    page = [head.run_id for head in await store.runs("local", 1, ours[2].id)]
    require(page == [ours[0].id], "a page begins after the run that it is asked for", page)
    require(await store.runs("local", 9, ours[1].id) == (), "nothing comes after the oldest run")
    for foreign in (theirs.id, "run_0000000000000000"):
        require(await store.runs("local", 9, foreign) == (), "no page after another's run")
    for limit, expected in ((0, 0), (-1, 0), (2, 2), (LISTED_MAX * 9, 3)):
        count = len(await store.runs("local", limit))
        require(count == expected, f"a list of at most {limit} has {expected} of 3 runs", count)
    await store.close()


async def refuses_unwritable_text(open_store: OpenStore) -> None:
    """Half a surrogate pair is refused where it comes in; nothing is cut or replaced."""
    store = open_store()
    run = await begin_run(store)
    fresh = replace(run.head, run_id="run_fresh00000000000", question="\ud800")
    with refusal(RecordFailed, "TEXT_UNWRITABLE", "a question that UTF-8 cannot hold is refused"):
        await store.create(fresh, Append(first_lines(fresh.run_id)))
    with refusal(RecordFailed, "TEXT_UNWRITABLE", "a sender that UTF-8 cannot hold is refused"):
        await store.post(run.id, "cancel", "\udfff")
    with refusal(RecordFailed, "TEXT_UNWRITABLE", "a holder that UTF-8 cannot hold is refused"):
        await store.acquire(run.id, "\ud800", START_US, SECOND_US)
    require(await store.head(fresh.run_id) is None, "a refused run does not exist")
    require(await store.inbox(run.id) == (), "a refused command does not wait")
    await store.close()


async def lets_a_cancel_come_first(open_store: OpenStore) -> None:
    """A write that was cancelled before it began has written nothing; the store goes on."""
    store = open_store()
    run = await begin_run(store)
    lease = await lease_run(store, run.id)
    lines = next_lines(run.last)
    for durable in (False, True):
        with anyio.CancelScope() as scope:
            scope.cancel()
            await store.append(lease, Append(lines, durable=durable))
        require(scope.cancelled_caught, "a cancel is let in before a write")
    require(await store.read(run.id) == run.lines, "a cancelled write has written nothing")
    await store.append(lease, Append(lines))
    require(await store.read(run.id) == (*run.lines, *lines), "the store goes on after a cancel")
    await store.close()


async def closes(open_store: OpenStore) -> None:
    """A closed store refuses, closes again without harm, and another handle has everything."""
    store, other = open_store(), open_store()
    run = await begin_run(store)
    lease = await lease_run(store, run.id)
    await store.close()
    await store.close()
    with refusal(RecordFailed, "STORE_CLOSED", "a closed store is not read"):
        await store.read(run.id)
    for durable in (False, True):
        with refusal(RecordFailed, "STORE_CLOSED", "a closed store is not written"):
            await store.append(lease, Append(next_lines(run.last), durable=durable))
    lines = next_lines(run.last)
    await other.append(lease, Append(lines))
    require(await other.read(run.id) == (*run.lines, *lines), "runs outlive a handle")
    await other.close()


def _freeze(value: object) -> object:
    if isinstance(value, (list, tuple)):
        return tuple(_freeze(item) for item in value)
    if isinstance(value, Mapping):
        return _freeze_mapping(value)
    return value


def _freeze_mapping(value: Mapping[str, object]) -> dict[str, object]:
    return {key: _freeze(item) for key, item in value.items()}


STORE_CHECKS: Final[tuple[StoreCheck, ...]] = (
    reads_what_was_written,
    keeps_no_reference,
    creates_once,
    knows_what_is_missing,
    refuses_disorder,
    ends_once,
    keeps_artifacts,
    expires_payloads,
    keeps_what_is_said_since,
    lists_runs_of_one_tenant,
    *INBOX_CHECKS,
    *HEAD_CHECKS,
    refuses_unwritable_text,
    lets_a_cancel_come_first,
    closes,
    *LEASE_CHECKS,
)
"""Every check of a store; each wants an empty one."""
