"""Who watches which run. A run that is watched has one feed, whoever many watch it.

A feed holds the run's events as bytes, once; a reader is only a place in it. So nothing piles up
for a slow reader, a late one sees everything, and five hundred readers cost five hundred places.
The feed reads the store when the run's driver here says that there is something new, and now and
then by itself, because the driver may be another process.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final

import anyio

from affidavit.contract.errors import AffidavitError
from affidavit.contract.journal import Entry
from affidavit.contract.states import is_terminal
from affidavit.ports.store import RunHead, Store
from affidavit.server.problems import Problem, not_found
from affidavit.server.stream import EVENT_ID, StreamEvent, StreamFold, content_of, unrecorded

LOOK_S: Final = 1.0
"""How soon events of a run that another process drives are seen; a look costs some 60 µs a feed."""

HEARTBEAT_S: Final = 15.0
"""Below the half minute after which proxies take a silent connection for dead."""

HEARTBEAT: Final = b": still here\n\n"

CHUNK_BYTES_MAX: Final = 65_536
"""Of one write: as much as the server lets wait for a slow reader."""

STREAMS_MAX: Final = 2_000
STREAMS_OF_TENANT_MAX: Final = 1_000
"""At some 40 kB each. One tenant cannot take them all."""

STREAM_LIVES_S: Final = 3_600.0
"""A reader is asked to come again after an hour: a connection that nobody reads ends then."""

MICRO: Final = 1_000_000


@dataclass(slots=True)
class Feed:
    """One run's events so far. `broken` is set where the run could not be recorded."""

    head: RunHead
    fold: StreamFold
    events: list[StreamEvent] = field(default_factory=list)
    wires: list[bytes] = field(default_factory=list)
    seen_seq: int = 0
    readers: int = 0
    changed: anyio.Event = field(default_factory=anyio.Event)
    broken: bool = False
    lock: anyio.Lock = field(default_factory=anyio.Lock)

    @property
    def is_over(self) -> bool:
        """Whether the terminal event is here."""
        return bool(self.events) and self.events[-1].is_terminal

    def announce(self) -> None:
        """Wake every reader."""
        self.changed.set()
        self.changed = anyio.Event()

    def place_after(self, last_id: str | None) -> int:
        """Where a reader goes on. Raises Problem (LAST_EVENT_ID_UNKNOWN) for an id that is none of
        this run's: whoever made it up has lost something, and must not believe otherwise."""
        if not last_id:
            return 0
        if EVENT_ID.fullmatch(last_id):
            for place, event in enumerate(self.events):
                if event.id == last_id:
                    return place + 1
        raise Problem(
            400,
            "LAST_EVENT_ID_UNKNOWN",
            "Last-Event-ID names no event of this run",
            hint="leave it out: the stream begins anew",
        )


@dataclass(slots=True)
class Reader:
    """One stream that was let in: where it begins, and from where on its events are news."""

    feed: Feed
    tenant: str
    place: int
    live_from: int


@dataclass(slots=True)
class Feeds:
    """All feeds of this process."""

    store: Store
    observe_lag: Callable[[float], None] = lambda _: None
    _open: dict[str, Feed] = field(default_factory=dict)
    _dirty: set[str] = field(default_factory=set)
    _called: anyio.Event = field(default_factory=anyio.Event)
    _streams: Counter[str] = field(default_factory=Counter)
    _stopping: bool = False

    @property
    def streams(self) -> int:
        """How many streams are open."""
        return self._streams.total()

    def hear(self, entry: Entry, _: Mapping[str, bytes]) -> None:
        """A driver of this process appended a line."""
        if entry.run_id in self._open:
            self._dirty.add(entry.run_id)
            self._called.set()

    def lose(self, run_id: str) -> None:
        """That run could not be recorded: its streams end in `error`, and begin anew when asked."""
        feed = self._open.pop(run_id, None)
        if feed is not None:
            feed.broken = True
            feed.announce()

    def stop(self) -> None:
        """Every stream ends where it is, without a terminal event: its reader comes again."""
        self._stopping = True
        self._called.set()
        for feed in self._open.values():
            feed.announce()

    async def serve(self) -> None:
        """Keep every open feed up to date, until `stop`."""
        while not self._stopping:
            with anyio.move_on_after(LOOK_S) as waited:
                await self._called.wait()
            self._called = anyio.Event()
            told, self._dirty = self._dirty, set()
            for run_id in tuple(self._open) if waited.cancelled_caught else tuple(told):
                feed = self._open.get(run_id)
                if feed is not None and not feed.is_over:
                    await self._refresh(feed)

    async def enter(self, run_id: str, tenant: str, last_id: str | None) -> Reader:
        """A place in that run's feed, until `leave`.

        Raises Problem for another tenant's run, an id that was made up, and too many streams.
        """
        if self._streams[tenant] >= STREAMS_OF_TENANT_MAX or self.streams >= STREAMS_MAX:
            raise Problem(
                429,
                "STREAMS_TOO_MANY",
                "there are too many open streams",
                hint="close one, or come again",
                headers={"retry-after": "5"},
            )
        self._streams[tenant] += 1
        reader = None
        try:
            feed = await self._feed_of(run_id, tenant)
            try:
                place = feed.place_after(last_id)
                reader = Reader(feed, tenant, place, len(feed.wires))
            finally:
                if reader is None:
                    self._leave(feed)
        finally:
            if reader is None:
                self._streams[tenant] -= 1
        return reader

    async def follow(self, reader: Reader) -> AsyncGenerator[bytes, None]:
        """What a reader is sent, to the terminal event, the end of the service or an hour."""
        feed, place = reader.feed, reader.place
        until_s = time.monotonic() + STREAM_LIVES_S
        while time.monotonic() < until_s:
            changed = feed.changed
            while place < len(feed.wires):
                chunk, place = self._chunk(feed, place, reader.live_from)
                yield chunk
            if feed.is_over or self._stopping:
                return
            if feed.broken:
                yield unrecorded(feed.head.run_id)
                return
            with anyio.move_on_after(HEARTBEAT_S) as silence:
                await changed.wait()
            if silence.cancelled_caught:
                yield HEARTBEAT

    def leave(self, reader: Reader) -> None:
        """That stream is over; once for each reader."""
        self._streams[reader.tenant] -= 1
        self._leave(reader.feed)

    def _chunk(self, feed: Feed, place: int, live_from: int) -> tuple[bytes, int]:
        size, end = 0, place
        while end < len(feed.wires) and (end == place or size < CHUNK_BYTES_MAX):
            size += len(feed.wires[end])
            if end >= live_from:
                self.observe_lag(max(0.0, time.time() - feed.events[end].at_us / MICRO))
            end += 1
        return b"".join(feed.wires[place:end]), end

    def _leave(self, feed: Feed) -> None:
        feed.readers -= 1
        if feed.readers <= 0 and self._open.get(feed.head.run_id) is feed:
            del self._open[feed.head.run_id]

    async def _feed_of(self, run_id: str, tenant: str) -> Feed:
        """The feed, up to date, with one more reader; `_leave` gives that place back."""
        feed = self._open.get(run_id)
        if feed is None:
            head = await self.store.head(run_id)
            if head is None or head.tenant != tenant:
                raise not_found()
            # Somebody else may have opened it meanwhile.
            fold = StreamFold(run_id, head.question, head.tenant)
            feed = self._open.setdefault(run_id, Feed(head, fold))
        if feed.head.tenant != tenant:
            raise not_found()
        feed.readers += 1
        is_read = feed.is_over
        try:
            if not is_read:
                await self._read_on(feed)
                is_read = True
        finally:
            if not is_read:
                self._leave(feed)
        return feed

    async def _refresh(self, feed: Feed) -> None:
        """A store that cannot be read for a moment is asked again at the next look."""
        try:
            await self._read_on(feed)
        except AffidavitError:
            return

    async def _read_on(self, feed: Feed) -> None:
        """Fold what the journal has beyond what was seen."""
        async with feed.lock:
            head = await self.store.head(feed.head.run_id)
            if head is None or head.last_seq <= feed.seen_seq:
                return
            entries = await self.store.read(feed.head.run_id)
            for entry in entries[feed.seen_seq :]:
                contents = {}
                address = content_of(entry)
                if address is not None:
                    content = await self.store.artifact(entry.run_id, address)
                    contents = {} if content is None else {address: content}
                for event in feed.fold.tell(entry, contents):
                    feed.events.append(event)
                    feed.wires.append(event.wire())
                feed.seen_seq = entry.seq
        feed.announce()


async def until_ended(store: Store, feeds: Feeds, head: RunHead, wait_s: float) -> bool:
    """Wait for the end of a run; False when it has not come by then, or the run broke."""
    reader = await feeds.enter(head.run_id, head.tenant, None)
    try:
        with anyio.move_on_after(wait_s):
            async with aclosing(feeds.follow(reader)) as events:
                async for _ in events:
                    pass
    finally:
        feeds.leave(reader)
    now = await store.head(head.run_id)
    return now is not None and is_terminal(now.state)
