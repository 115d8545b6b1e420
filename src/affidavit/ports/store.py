"""Where runs live: journal, artifacts, leases and inbox, in one transaction.

A store keeps lines and bytes; it does not understand them. What it does guard is the order: one
driver at a time (the lease's epoch), one line a place (the sequence number), nothing after the
end (the terminal line).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, Protocol, TypeAlias

from affidavit.contract.journal import Entry
from affidavit.contract.states import ReleaseOutcome, RunState, is_terminal

CommandKind: TypeAlias = Literal["cancel", "pause", "wake", "approve", "reject", "resolve"]
"""What may be said to a run from elsewhere."""

WAKING: Final[frozenset[CommandKind]] = frozenset(
    {"cancel", "wake", "approve", "reject", "resolve"}
)
"""Commands that a paused run is driven for; a pause has nothing to tell it."""

PAYLOADS_LIVE_US: Final = 2 * 3600 * 1_000_000
"""How long payloads outlive their run: two hours, time enough to look into it (C2)."""

KEPT_KINDS: Final = frozenset({"release", "affidavit", "retraction", "draft_access", "names"})
"""Artifacts that never expire: what was published, the file that proves it, what was said of it
since, and who read its refused draft (C2, K8, L1, L9)."""

ATTACHED_MAX: Final[Mapping[str, int]] = MappingProxyType({"retraction": 20, "draft_access": 200})
"""What may be put beside a run that has ended, and how many of a kind; it changes nothing that
stands there (L9). An answer is retracted once or twice, its draft read by a few: more is a runaway
script."""

LISTED_MAX: Final = 1000
"""No list of runs is longer; who needs more asks again with the next page or the next look."""

INBOX_MAX: Final = 100
"""Commands that may wait for one run: a person sends a few, so more is a runaway script."""

PAYLOAD_CHARS_MAX: Final = 2000
"""What a command may say beside its kind: ids, a digest and a word, never a document."""


@dataclass(frozen=True, slots=True)
class Artifact:
    """Bytes with their address, the lower-case SHA-256 hex of the content.

    `kind` says what they are: request, raw, result, draft, …; those of `KEPT_KINDS` never expire.
    """

    digest: str
    kind: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to drive one run. A higher epoch fences every lower one for ever."""

    run_id: str
    holder: str
    epoch: int
    expires_us: int


@dataclass(frozen=True, slots=True)
class Prunable:
    """Payloads whose time is over: of how many runs, how many, and how many bytes."""

    runs: int = 0
    artifacts: int = 0
    content_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Command:
    """A word from elsewhere that the driver folds in.

    `payload` is what the word is about (which call, which action), as text that only the driver
    understands; it may be anything that somebody posted.
    """

    id: int
    kind: CommandKind
    by: str
    payload: str = ""


@dataclass(frozen=True, slots=True)
class ApprovalAsk:
    """One action that waits for a person: which call, bound to which action, until when.

    `action_digest` is what the decision will be bound to; `shown_digest` is the address of the
    run's artifact that the person is shown. Times are microseconds since 1970 UTC.
    """

    tool_call_id: str
    tool: str
    action_digest: str
    shown_digest: str
    asked_us: int
    expires_us: int


@dataclass(frozen=True, slots=True)
class PendingApproval:
    """An action that waits, and the run and tenant that it belongs to."""

    run_id: str
    tenant: str
    ask: ApprovalAsk


@dataclass(frozen=True, slots=True)
class RunHead:
    """One run at a glance."""

    run_id: str
    tenant: str
    created_us: int
    state: RunState
    outcome: ReleaseOutcome | None
    last_seq: int
    question: str
    paused: bool
    wake_at_us: int | None = None


@dataclass(frozen=True, slots=True)
class SealedHead:
    """One sealed run at its place among its tenant's, so that none can be left out unseen (A4).

    `number` counts from 1 without a gap; `digest` is over what was signed, and `previous` is the
    digest of the head before it, `NO_HEAD` for the first. Digests are lower-case SHA-256 hex.
    """

    tenant: str
    number: int
    run_id: str
    digest: str
    previous: str


NO_HEAD: Final = "0" * 64
"""What the first head of a tenant names as the one before."""


@dataclass(frozen=True, slots=True)
class Append:
    """One atomic write: artifacts, lines, commands that the lines took in, and the end if any.

    `wake_at_us` belongs to a pause: from then on the run is due though nobody called it. `asked`
    are actions that wait for a person from now on, `answered` the calls of those that no longer
    do. `head` is the run's place among its tenant's sealed ones. Raises ValueError for an end that
    is none (a state that goes on, or no line that says it), and for a time to wake that no pause
    needs.
    """

    entries: Sequence[Entry]
    artifacts: Sequence[Artifact] = ()
    consumed: Sequence[int] = ()
    ended: tuple[RunState, ReleaseOutcome] | None = None
    paused: bool | None = None
    durable: bool = False
    wake_at_us: int | None = None
    asked: Sequence[ApprovalAsk] = ()
    answered: Sequence[str] = ()
    head: SealedHead | None = None

    def __post_init__(self) -> None:
        """Refuse an end that the journal would not show, and an alarm without a sleeper."""
        if self.ended is not None and not (is_terminal(self.ended[0]) and self.entries):
            raise ValueError(f"{self.ended[0]} with {len(self.entries)} lines ends no run")
        if self.wake_at_us is not None and self.paused is not True:
            raise ValueError("only a pause can have a time to wake")


class Store(Protocol):
    """All that the harness asks of a place where runs live.

    Every method raises `RecordFailed` when the store cannot do it; then nothing was written, and
    the next call may succeed. A write that is cancelled before it begins has written nothing; once
    begun it is finished, unless the process dies. Text must be encodable as UTF-8.
    """

    async def create(self, head: RunHead, first: Append) -> None:
        """The run exists with its first lines, durably.

        Of `head` count the ids, the tenant, the time, the question, `paused` and `wake_at_us`;
        state and last line follow from `first`, whose lines count from 1. Raises `InputRefused`
        (RUN_EXISTS) for an id that exists.
        """
        ...

    async def append(self, lease: Lease, write: Append) -> None:
        """All of `write` is stored, or nothing. After `durable`, also across a power cut.

        An artifact that is there already is not stored twice. The end empties the inbox, and
        nothing of the run waits for a person any more. What is `asked` for a call that waits
        already takes its place; an `answered` call that does not wait is no error. Raises
        `LeaseLost` unless the lease is the run's newest and not given back, and `RecordFailed` if
        the run has ended (RUN_ENDED), a line does not follow the last one (LINE_OUT_OF_ORDER), an
        artifact is not at its address (ARTIFACT_ALTERED), a consumed command is not in the inbox
        (COMMAND_UNKNOWN), the run does not exist (RUN_UNKNOWN), or `head` is not the next one of
        its tenant (HEAD_TAKEN: another run was sealed meanwhile; seal again and try again).
        """
        ...

    async def last_sealed(self, tenant: str) -> SealedHead | None:
        """The newest sealed head of that tenant, or None."""
        ...

    async def sealed_heads(self, tenant: str, after: int = 0) -> tuple[SealedHead, ...]:
        """That tenant's sealed heads with higher numbers than `after`, in order; at most
        `LISTED_MAX`. None of them ever expires."""
        ...

    async def read(self, run_id: str) -> tuple[Entry, ...]:
        """Every line of the run, in order; empty for an unknown run.

        A line equals the line that was written, with every list in its data a tuple. Raises
        `RecordFailed` (STORE_DAMAGED) for a line that is none of ours.
        """
        ...

    async def head(self, run_id: str) -> RunHead | None:
        """The run at a glance, or None."""
        ...

    async def artifact(self, run_id: str, digest: str) -> bytes | None:
        """The bytes at that address in that run; None when they expired, changed or never were."""
        ...

    async def artifacts(self, run_id: str) -> tuple[Artifact, ...]:
        """All artifacts of the run that still live, each of them unaltered, by address and kind."""
        ...

    async def expire_artifacts(self, now_us: int, older_than_us: int = PAYLOADS_LIVE_US) -> int:
        """Payloads of runs that ended so long ago are gone, and their space is given back (C2).

        A run that has not ended keeps all of its artifacts; `KEPT_KINDS` always stay. Returns how
        many were deleted.
        """
        ...

    async def prunable(self, now_us: int, older_than_us: int = PAYLOADS_LIVE_US) -> Prunable:
        """What `expire_artifacts` would delete now; nothing is touched."""
        ...

    async def attach(self, run_id: str, item: Artifact) -> None:
        """The artifact stands beside a run that has ended, durably; no line and no other artifact
        has changed, and one that is there already is not stored twice.

        Raises `InputRefused` for a run that does not exist (RUN_UNKNOWN), has not ended
        (RUN_UNDECIDED) or has as many of that kind as `ATTACHED_MAX` says (ATTACHED_FULL), and
        `RecordFailed` (ARTIFACT_ALTERED) for one that is not at its address. Raises ValueError for
        a kind that is not in `ATTACHED_MAX`.
        """
        ...

    async def runs(
        self, tenant: str, limit: int = 50, before: str | None = None
    ) -> tuple[RunHead, ...]:
        """That tenant's runs, newest first; never more than `LISTED_MAX`.

        With `before`, a run of that tenant, only those that come after it in this order: the next
        page. An unknown one, and another tenant's, has nothing after it.
        """
        ...

    async def due(self, now_us: int) -> tuple[str, ...]:
        """Runs that wait for a driver, oldest first; never more than `LISTED_MAX`.

        They are RUNNING, have no live lease, and are not paused, or have a command of `WAKING` in
        their inbox, or their time to wake has come.
        """
        ...

    async def approvals(self, tenant: str, limit: int = 50) -> tuple[PendingApproval, ...]:
        """What waits for a person in that tenant's runs, oldest first; at most `LISTED_MAX`.

        An action whose time is over stays until its run's driver has taken note of it.
        """
        ...

    async def acquire(self, run_id: str, holder: str, now_us: int, ttl_us: int) -> Lease | None:
        """A lease with a new, higher epoch; None while one is alive, whoever holds it.

        A run that has ended can be leased, but nothing can be appended to it. Raises
        `InputRefused` (RUN_UNKNOWN) for a run that does not exist.
        """
        ...

    async def renew(self, lease: Lease, now_us: int, ttl_us: int) -> Lease:
        """The same epoch for longer, also after it ran out while nobody else took over.

        Raises `LeaseLost` when a higher epoch exists or the lease was given back.
        """
        ...

    async def release(self, lease: Lease) -> None:
        """The run is free for the next driver at once. Never fails for a lease that is lost."""
        ...

    async def post(self, run_id: str, kind: CommandKind, by: str, payload: str = "") -> None:
        """The command waits in the run's inbox, durably, until a driver takes it in.

        Raises `InputRefused` for a run that does not exist (RUN_UNKNOWN), has ended (RUN_ENDED), or
        has `INBOX_MAX` commands waiting (INBOX_FULL), and for a payload longer than
        `PAYLOAD_CHARS_MAX` (PAYLOAD_TOO_LONG).
        """
        ...

    async def inbox(self, run_id: str) -> tuple[Command, ...]:
        """Commands that no line has taken in yet, oldest first."""
        ...

    async def close(self) -> None:
        """Nothing is pending and no file is open. A closed store refuses everything but this."""
        ...
