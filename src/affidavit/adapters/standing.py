"""Where a run stands, and every move that a store may make of it: pure, shared by all stores.

A store loads a run's standing, asks one of these functions for the next one, and saves that with
the rest of the write in one transaction. So the order of lines, the fencing of drivers and the end
of a run mean the same in memory and on disk.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from affidavit.contract.errors import InputRefused, LeaseLost, RecordFailed
from affidavit.contract.journal import Entry
from affidavit.contract.states import RUN_MOVES, RunState, is_terminal
from affidavit.ports.store import (
    ATTACHED_MAX,
    INBOX_MAX,
    NO_HEAD,
    PAYLOAD_CHARS_MAX,
    Append,
    Artifact,
    Command,
    Lease,
    RunHead,
    SealedHead,
)


@dataclass(frozen=True, slots=True)
class Standing:
    """A run at a glance, its last line's hash, its end, and its newest lease (if any)."""

    head: RunHead
    last_hash: str
    ended_us: int | None = None
    holder: str | None = None
    epoch: int = 0
    expires_us: int = 0


def begin(head: RunHead, first: Append) -> Standing:
    """A run that begins with these lines. Raises `RecordFailed` as `advance` does."""
    refuse_unwritable(head.run_id, head.tenant, head.question)
    if not first.entries or first.consumed:
        raise RecordFailed(
            f"run {head.run_id} must begin with a line, and no command can wait for it yet",
            code="LINE_OUT_OF_ORDER",
        )
    fresh = replace(head, state=RunState.RUNNING, outcome=None, last_seq=0)
    return _follow(Standing(fresh, first.entries[0].prev), first)


def advance(standing: Standing, lease: Lease, write: Append) -> Standing:
    """Where the run stands after this driver's write.

    Raises `LeaseLost` for a driver that is fenced off, `RecordFailed` for a run that has ended, a
    line out of order or an artifact that is not at its address.
    """
    _refuse_lost(standing, lease)
    return _follow(standing, write)


def acquire(standing: Standing, holder: str, now_us: int, ttl_us: int) -> Standing | None:
    """The run with a new lease of a higher epoch, or None while one is alive."""
    refuse_unwritable(holder)
    if standing.holder is not None and standing.expires_us > now_us:
        return None
    return replace(standing, holder=holder, epoch=standing.epoch + 1, expires_us=now_us + ttl_us)


def renew(standing: Standing, lease: Lease, now_us: int, ttl_us: int) -> Standing:
    """The run with the same lease for longer. Raises `LeaseLost`."""
    _refuse_lost(standing, lease)
    return replace(standing, expires_us=now_us + ttl_us)


def release(standing: Standing, lease: Lease) -> Standing:
    """The run without this lease; unchanged when the lease is lost."""
    if not _is_held(standing, lease):
        return standing
    return replace(standing, holder=None, expires_us=0)


def lease_of(standing: Standing) -> Lease:
    """The lease that the run is held by. Raises ValueError where there is none."""
    if standing.holder is None:
        raise ValueError(f"run {standing.head.run_id} has no lease")
    return Lease(standing.head.run_id, standing.holder, standing.epoch, standing.expires_us)


def refuse_word(word: Command) -> None:
    """Raise for a command that no store takes: unwritable text, or too much of it."""
    refuse_unwritable(word.by, word.payload)
    if len(word.payload) > PAYLOAD_CHARS_MAX:
        raise InputRefused(
            f"a command says at most {PAYLOAD_CHARS_MAX} characters, this one {len(word.payload)}",
            code="PAYLOAD_TOO_LONG",
            hint="say which call and what about it, and no more",
        )


def refuse_post(run_id: str, standing: Standing | None, waiting: int) -> None:
    """Raise `InputRefused` when no command can wait for that run."""
    if standing is None:
        raise unknown(run_id)
    if is_terminal(standing.head.state):
        raise InputRefused(
            f"run {run_id} has ended: {standing.head.state}",
            code="RUN_ENDED",
            hint=f"look at its result: affidavit show {run_id}",
        )
    if waiting >= INBOX_MAX:
        raise InputRefused(
            f"{waiting} commands wait for run {run_id} already",
            code="INBOX_FULL",
            hint=f"let a driver take them in: affidavit runs resume {run_id}",
        )


def refuse_attached(run_id: str, standing: Standing | None, item: Artifact, there: int) -> None:
    """Raise when that artifact cannot be put beside the run (`Store.attach`)."""
    if item.kind not in ATTACHED_MAX:
        raise ValueError(f"{item.kind} is nothing that stands beside a run")
    if standing is None:
        raise unknown(run_id)
    if not is_terminal(standing.head.state):
        raise InputRefused(
            f"run {run_id} has not ended",
            code="RUN_UNDECIDED",
            hint=f"go on with it: affidavit runs resume {run_id}",
        )
    if there >= ATTACHED_MAX[item.kind]:
        raise InputRefused(
            f"{there} of {item.kind} stand beside run {run_id} already",
            code="ATTACHED_FULL",
            hint=f"look at them: affidavit show {run_id}",
        )
    _refuse_altered((item,))


def refuse_head(run: RunHead, head: SealedHead, last: SealedHead | None) -> None:
    """Raise `RecordFailed` for a head that is not the next one of its run's tenant."""
    number, previous = (last.number, last.digest) if last else (0, NO_HEAD)
    if (head.tenant, head.run_id) != (run.tenant, run.run_id):
        raise RecordFailed("a head belongs to its own run and tenant", code="HEAD_REFUSED")
    if (head.number, head.previous) != (number + 1, previous):
        raise RecordFailed(
            f"head {head.number} does not follow head {number}: another run was sealed meanwhile",
            code="HEAD_TAKEN",
        )


def unknown(run_id: str) -> InputRefused:
    """The error for a run that does not exist."""
    return InputRefused(
        f"there is no run {run_id}", code="RUN_UNKNOWN", hint="list them: affidavit runs list"
    )


def exists(run_id: str) -> InputRefused:
    """The error for a run id that is taken."""
    return InputRefused(
        f"there is a run {run_id} already", code="RUN_EXISTS", hint="leave the id to the harness"
    )


def command_missing(run_id: str, ids: Sequence[int]) -> RecordFailed:
    """The error for taking in a command that is not in the run's inbox."""
    return RecordFailed(
        f"run {run_id} has no command {', '.join(map(str, ids))} in its inbox",
        code="COMMAND_UNKNOWN",
    )


def refuse_unwritable(*texts: str) -> None:
    """Raise `RecordFailed` for text that UTF-8 cannot hold: half a surrogate pair."""
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise RecordFailed(
                f"{text[:80]!a} cannot be stored: {error.reason}", code="TEXT_UNWRITABLE"
            ) from error


def is_unaltered(digest: str, content: bytes) -> bool:
    """Whether these bytes belong at that address."""
    return hashlib.sha256(content).hexdigest() == digest


def _follow(standing: Standing, write: Append) -> Standing:
    head = standing.head
    if not RUN_MOVES[head.state]:
        raise RecordFailed(
            f"run {head.run_id} has ended ({head.state}); nothing can be added", code="RUN_ENDED"
        )
    _refuse_disorder(standing, write.entries)
    _refuse_altered(write.artifacts)
    entries = write.entries
    state, outcome = write.ended or (head.state, head.outcome)
    paused = head.paused if write.paused is None else write.paused
    wake_at_us = head.wake_at_us if write.paused is None else write.wake_at_us
    return replace(
        standing,
        head=replace(
            head,
            state=state,
            outcome=outcome,
            last_seq=entries[-1].seq if entries else head.last_seq,
            paused=paused and write.ended is None,
            wake_at_us=None if write.ended else wake_at_us,
        ),
        last_hash=entries[-1].hash if entries else standing.last_hash,
        ended_us=entries[-1].at_us if write.ended else None,
    )


def _refuse_disorder(standing: Standing, entries: Sequence[Entry]) -> None:
    run_id, seq, prev = standing.head.run_id, standing.head.last_seq, standing.last_hash
    for entry in entries:
        seq += 1
        if entry.run_id != run_id or entry.seq != seq or entry.prev != prev:
            raise RecordFailed(
                f"line {entry.seq} of run {entry.run_id} does not follow line {seq - 1} of run "
                f"{run_id}",
                code="LINE_OUT_OF_ORDER",
            )
        prev = entry.hash


def _refuse_altered(artifacts: Sequence[Artifact]) -> None:
    for item in artifacts:
        if not is_unaltered(item.digest, item.content):
            raise RecordFailed(
                f"the {item.kind} artifact is not at its address {item.digest}",
                code="ARTIFACT_ALTERED",
            )


def _is_held(standing: Standing, lease: Lease) -> bool:
    return (
        standing.head.run_id == lease.run_id
        and standing.epoch == lease.epoch
        and standing.holder == lease.holder
    )


def _refuse_lost(standing: Standing, lease: Lease) -> None:
    if not _is_held(standing, lease):
        raise LeaseLost(
            f"run {lease.run_id} is no longer driven under epoch {lease.epoch} by {lease.holder}",
            hint="another driver goes on with it, or the lease was given back",
        )
