"""What only a store on disk can get wrong: rights, damage, torn logs, locks, growth."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import stat
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from affidavit.adapters import sqlite_schema
from affidavit.adapters.journal_text import write_line
from affidavit.adapters.sqlite_store import QUICK_WRITES_MAX, SqliteStore
from affidavit.contract.errors import RecordFailed
from affidavit.contract.journal import Entry, EventType
from affidavit.core.chain import first_break
from affidavit.ports.store import PAYLOADS_LIVE_US, Append
from affidavit.testing.journals import (
    START_US,
    Begun,
    artifact,
    begin_run,
    ending,
    event,
    lease_run,
    next_lines,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the store is."""
    return tmp_path / "runs.db"


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[SqliteStore]:
    """The store, closed at the end."""
    store = SqliteStore(path)
    try:
        yield store
    finally:
        await store.close()


async def write_steps(store: SqliteStore, run: Begun, steps: int, size: int = 2000) -> Begun:
    """So many steps of four lines and one artifact each, under a lease that is then given back."""
    lease = await lease_run(store, run.id)
    lines = list(run.lines)
    for step in range(steps):
        new = next_lines(lines[-1], *(event(EventType.STEP_DECIDED, step) for _ in range(4)))
        content = f"{run.id} {step} ".encode() + b"payload " * (size // 8)
        await store.append(lease, Append(new, [artifact(content)], durable=step % 10 == 0))
        lines += new
    await store.release(lease)
    return Begun(run.head, tuple(lines))


def size_of(path: Path, suffix: str = "") -> int:
    """The bytes of a file, or of the one beside it with that suffix."""
    return path.with_name(path.name + suffix).stat().st_size


def rights_of(path: Path) -> dict[str, int]:
    """The rights of the store's files, by name."""
    return {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}


@contextmanager
def by_hand(path: Path) -> Iterator[sqlite3.Connection]:
    """The file as another program sees it, which knows nothing of our rules."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


def holds(path: Path, words: bytes) -> bool:
    """Whether the words stand anywhere in the file, in use or not."""
    return words in path.read_bytes()


def break_pages(path: Path, marker: bytes) -> None:
    """Overwrite the head of each page that holds the marker."""
    content = bytearray(path.read_bytes())
    for at in range(4096, len(content), 4096):
        if marker in content[at : at + 4096]:
            content[at : at + 64] = b"\xff" * 64
    path.write_bytes(content)


@pytest.mark.spec("N2")
async def test_files_are_for_their_owner_alone(path: Path) -> None:
    """Database, log and index of the log, made under any umask or found with other rights."""
    private = dict.fromkeys((path.name, f"{path.name}-wal", f"{path.name}-shm"), 0o600)
    before = os.umask(0)
    try:
        for number in range(2):
            async with opened(path) as store:
                await begin_run(store, number)
                assert rights_of(path) == private
            os.chmod(path, 0o666)  # noqa: PTH101 -- a test may block
    finally:
        os.umask(before)


@pytest.mark.spec("K8")
async def test_closed_store_is_one_file(path: Path) -> None:
    """After a clean end nothing is left beside the file, and all of it is read again."""
    async with opened(path) as store:
        run = await write_steps(store, await begin_run(store), 5)
    assert rights_of(path).keys() == {path.name}
    async with opened(path) as store:
        assert await store.read(run.id) == run.lines


@pytest.mark.spec("A4")
@pytest.mark.fault("F47")
async def test_changed_byte_is_found_in_every_field(path: Path) -> None:
    """One byte, in each field of each line in turn: the chain breaks, or the row is refused."""
    async with opened(path) as store:
        run = await write_steps(store, await begin_run(store), 3)
        for line in run.lines:
            for place in range(7):
                with changed_by_hand(path, line, place):
                    assert await is_found(store, run)
        assert not await is_found(store, run)


@contextmanager
def changed_by_hand(path: Path, line: Entry, place: int) -> Iterator[None]:
    """The line's row with one column changed; as it was afterwards."""
    row = write_line(line)
    changed = list(row)
    value = row[place]
    changed[place] = value ^ 1 << 40 if isinstance(value, int) else value[:-1] + flip(value[-1])
    with by_hand(path) as hand:
        for old, new in ((row, changed), (changed, row)):
            hand.execute("DELETE FROM lines WHERE run_id = ? AND seq = ?", old[:2])
            hand.execute("INSERT INTO lines VALUES (?, ?, ?, ?, ?, ?, ?)", new)
            if new is changed:
                yield


def flip(character: str) -> str:
    """Another character, one bit away."""
    return chr(ord(character) ^ 1)


async def is_found(store: SqliteStore, run: Begun) -> bool:
    """Whether a reader sees that the journal is not the one that was written."""
    try:
        read = await store.read(run.id)
    except RecordFailed as refused:
        return refused.code == "STORE_DAMAGED"
    head = await store.head(run.id)
    return first_break(run.id, read) is not None or head is None or read[-1].seq != head.last_seq


@pytest.mark.spec("A4", "C2")
async def test_changed_artifact_is_never_served(path: Path) -> None:
    """Bytes that are not at their address are no bytes."""
    async with opened(path) as store:
        run = await begin_run(store)
        lease = await lease_run(store, run.id)
        good, bad = artifact(b"good"), artifact(b"bad")
        await store.append(lease, Append((), [good, bad, replace(good, kind="result")]))
        with by_hand(path) as hand:
            hand.execute("UPDATE artifacts SET content = x'00' WHERE digest = ?", (bad.digest,))
            hand.execute("UPDATE artifacts SET content = x'00' WHERE kind = 'raw'")
        assert await store.artifact(run.id, bad.digest) is None
        assert await store.artifact(run.id, good.digest) == b"good"
        assert await store.artifacts(run.id) == (replace(good, kind="result"),)


async def test_row_of_a_run_that_is_not_ours_is_refused(path: Path) -> None:
    """A state that we do not know is damage, not a guess."""
    async with opened(path) as store:
        run = await begin_run(store)
        with by_hand(path) as hand:
            hand.execute("UPDATE runs SET state = 'SUCCEEDED'")
        with pytest.raises(RecordFailed, match=f"row of run {run.id}") as refused:
            await store.head(run.id)
        assert refused.value.code == "STORE_DAMAGED"


@pytest.mark.spec("L5")
async def test_damage_found_late_is_said(path: Path) -> None:
    """A page that is broken far inside: what needs it fails clearly, the rest goes on."""
    async with opened(path) as store:
        broken = await write_steps(store, await begin_run(store, 1), 60)
        whole = await begin_run(store, 2)
    break_pages(path, b'"step":40')
    async with opened(path) as store:
        with pytest.raises(RecordFailed) as refused:
            await store.read(broken.id)
        assert refused.value.code == "STORE_DAMAGED"
        assert str(path) in refused.value.message
        assert f"mv {path}" in refused.value.hint
        assert await store.read(whole.id) == whole.lines


@pytest.mark.spec("K8", "L5")
@pytest.mark.fault("F14")
async def test_torn_log_is_a_whole_prefix(path: Path, tmp_path: Path) -> None:
    """The log cut at any place: whole writes are there, each with its artifact, and no half."""
    store = SqliteStore(path)
    run = await begin_run(store)
    lease = await lease_run(store, run.id)
    log = path.with_name(path.name + "-wal")
    lines, ends = list(run.lines), {log.stat().st_size: 1}
    for step in range(6):
        new = next_lines(lines[-1], *(event(EventType.STEP_DECIDED, step) for _ in range(3)))
        await store.append(lease, Append(new, [artifact(b"%d" % step * 9000)]))
        lines += new
        ends[log.stat().st_size] = len(lines)
    size = log.stat().st_size
    frame = 4096 + 24
    cuts = sorted({*range(32, size, frame), *range(32 + frame // 2, size, 3 * frame), *ends})
    for number, cut in enumerate(cut for cut in cuts if cut >= min(ends)):
        copy = tmp_path / str(number) / path.name
        copy.parent.mkdir()
        shutil.copy(path, copy)
        copy.with_name(log.name).write_bytes(log.read_bytes()[:cut])
        async with opened(copy) as torn:
            read = await torn.read(run.id)
            assert read == tuple(lines[: max(many for end, many in ends.items() if end <= cut)])
            assert first_break(run.id, read) is None
            assert len(await torn.artifacts(run.id)) == (len(read) - 1) // 3
        shutil.rmtree(copy.parent)
    await store.close()


@pytest.mark.spec("K9", "L5")
async def test_durable_writes_alone_are_synced(path: Path) -> None:
    """What must outlive a power cut is committed in a thread and synced; nothing else is."""
    async with opened(path) as store:
        database = store._database
        commits: list[tuple[str, bool]] = []
        for name, connection in (("quick", database.quick), ("sure", database.sure)):

            def note(statement: str, name: str = name) -> None:
                if statement == "COMMIT":
                    commits.append((name, threading.current_thread() is threading.main_thread()))

            connection.set_trace_callback(note)
        run = await begin_run(store)
        lease = await lease_run(store, run.id)
        first = next_lines(run.last)
        await store.append(lease, Append(first))
        await store.append(lease, Append(next_lines(first[-1]), durable=True))
        await store.post(run.id, "cancel", "somebody")
        quick, sure = ("quick", True), ("sure", False)
        assert commits == [sure, quick, quick, sure, sure]
        assert database.quick.execute("PRAGMA synchronous").fetchone() == (1,)  # NORMAL
        assert database.quick.execute("PRAGMA wal_autocheckpoint").fetchone() == (0,)  # it syncs
        assert database.sure.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL


@pytest.mark.spec("L5")
async def test_lock_of_another_is_waited_for(path: Path) -> None:
    """While another process writes, a write waits for it and the event loop goes on."""
    async with opened(path) as store:
        run = await begin_run(store)
        lease = await lease_run(store, run.id)
        lines = next_lines(run.last)
        with by_hand(path) as other:
            other.execute("BEGIN IMMEDIATE")
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(store.append, lease, Append(lines))
                await anyio.wait_all_tasks_blocked()
                assert await store.read(run.id) == run.lines  # readers never wait
                other.execute("COMMIT")
        assert await store.read(run.id) == (*run.lines, *lines)


@pytest.mark.spec("L5")
@pytest.mark.parametrize("durable", [False, True])
async def test_lock_that_stays_is_a_clear_failure(
    path: Path, monkeypatch: pytest.MonkeyPatch, durable: bool
) -> None:
    """Nothing is written, the message says why, and the same write succeeds afterwards."""
    monkeypatch.setattr(sqlite_schema, "WAIT_MS", 20)
    async with opened(path) as store:
        run = await begin_run(store)
        lease = await lease_run(store, run.id)
        write = Append(next_lines(run.last), [artifact(b"x")], durable=durable)
        with by_hand(path) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(RecordFailed, match="another process") as refused:
                await store.append(lease, write)
            assert refused.value.code == "RUN_PERSISTENCE_FAILED"
            assert str(path) in refused.value.message
        assert await store.read(run.id) == run.lines
        await store.append(lease, write)
        assert len(await store.read(run.id)) == 2


@pytest.mark.spec("L5", "N15")
async def test_file_that_was_moved_takes_nothing_durable(path: Path) -> None:
    """What nobody would find is not said to be stored."""
    async with opened(path) as store:
        run = await begin_run(store)
        lease = await lease_run(store, run.id)
        aside = path.with_name("aside.db")
        os.rename(path, aside)  # noqa: PTH104 -- a test may block
        with pytest.raises(RecordFailed, match="was moved or deleted") as refused:
            await store.append(lease, ending(run.last))
        assert refused.value.code == "STORE_MOVED"
        os.rename(aside, path)  # noqa: PTH104 -- a test may block
        await store.append(lease, ending(run.last))
        assert len(await store.read(run.id)) == 3


@pytest.mark.spec("K5")
async def test_task_torn_from_its_thread_leaves_order(path: Path) -> None:
    """A task that asyncio itself cancels while its commit is on the way: whole or not at all."""
    async with opened(path) as store:
        run = await begin_run(store)
        lease = await lease_run(store, run.id)
        last = run.last
        for step in range(30):
            write = Append(
                next_lines(last, event(EventType.STEP_DECIDED, step)),
                [artifact(b"%d" % step)],
                durable=True,
            )
            task = asyncio.ensure_future(store.append(lease, write))
            for _ in range(step % 6):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])
            await store.renew(lease, START_US, 60_000_000)
            await store.post(run.id, "wake", "waits for the thread's turn")
            last = (await store.read(run.id))[-1]
        lines = await store.read(run.id)
        assert first_break(run.id, lines) is None
        assert len(await store.artifacts(run.id)) == len(lines) - 1


async def test_error_between_leaves_no_transaction(path: Path) -> None:
    """A number that SQLite cannot hold fails in the middle of a write: all of it is taken back."""
    async with opened(path) as store:
        run = await begin_run(store)
        lease = await lease_run(store, run.id)
        good = next_lines(run.last)
        huge = (replace(good[0], at_us=2**63),)
        for durable in (False, True):
            with pytest.raises(RecordFailed):
                await store.append(lease, Append(huge, [artifact(b"x")], durable=durable))
        assert await store.artifacts(run.id) == ()
        await store.append(lease, Append(good))
        assert await store.read(run.id) == (*run.lines, *good)


async def test_log_stays_small_without_durable_writes(path: Path) -> None:
    """Quick writes alone move the log into the file now and then."""
    sizes = []
    async with opened(path) as store:
        run = await begin_run(store)
        lease = await lease_run(store, run.id)
        last = run.last
        for _ in range(8):
            for _ in range(QUICK_WRITES_MAX):
                lines = next_lines(last)
                await store.append(lease, Append(lines))
                last = lines[-1]
            sizes.append(size_of(path, "-wal"))
    assert sizes[-1] < 1.1 * sizes[3]


@pytest.mark.spec("C2")
@pytest.mark.fault("F37")
async def test_expired_payloads_leave_the_disk(path: Path) -> None:
    """The file shrinks, and no byte of an expired payload can be found in it or its log."""
    async with opened(path) as store:
        live = await write_steps(store, await begin_run(store, 100), 5)
        for number in range(30):
            run = await write_steps(store, await begin_run(store, number), 5, size=40_000)
            lease = await lease_run(store, run.id)
            await store.append(lease, ending(run.last))
        with by_hand(path) as look:
            (before,) = look.execute("PRAGMA page_count").fetchone()
        assert await store.expire_artifacts(START_US + 2 * PAYLOADS_LIVE_US) == 150
        with by_hand(path) as look:
            (after,) = look.execute("PRAGMA page_count").fetchone()
            (free,) = look.execute("PRAGMA freelist_count").fetchone()
        assert free == 0
        assert after < before / 5
        assert size_of(path) == after * 4096
        assert len(await store.artifacts(live.id)) == 5
        assert size_of(path, "-wal") == 0
    assert not holds(path, b"run_0000000000000005 3 payload")
    assert holds(path, b"run_0000000000000100 3 payload")


@pytest.mark.spec("C2")
async def test_expired_payload_is_wiped_from_a_page_that_stays(path: Path) -> None:
    """A small payload between things that are kept: its bytes are overwritten."""
    kept = [artifact(b"kept %d " % number * 20, "release") for number in range(12)]
    async with opened(path) as store:
        run = await begin_run(store)
        lease = await lease_run(store, run.id)
        await store.append(lease, Append((), [*kept[:6], artifact(b"secret " * 30), *kept[6:]]))
        await store.append(lease, ending(run.last))
        assert await store.expire_artifacts(START_US + 2 * PAYLOADS_LIVE_US) == 1
    assert holds(path, b"kept 11 kept")
    assert not holds(path, b"secret secret")


@pytest.mark.spec("C2")
async def test_payloads_expire_in_a_rewritten_file_too(path: Path) -> None:
    """A file that a tool has rewritten cannot shrink; the payloads are gone all the same."""
    async with opened(path) as store:
        run = await write_steps(store, await begin_run(store), 10)
        lease = await lease_run(store, run.id)
        await store.append(lease, ending(run.last))
    with by_hand(path) as hand:
        hand.execute("PRAGMA journal_mode = DELETE")
        hand.execute("PRAGMA auto_vacuum = NONE")
        hand.execute("VACUUM")
    async with opened(path) as store:
        with anyio.fail_after(60):
            assert await store.expire_artifacts(START_US + 2 * PAYLOADS_LIVE_US) == 10
        assert await store.artifacts(run.id) == ()


@pytest.mark.spec("K8")
@pytest.mark.fault("F36")
async def test_disk_grows_with_the_steps_alone(tmp_path: Path) -> None:
    """Twice the steps, twice the space: no step writes what an earlier one has written."""
    sizes = []
    for steps in (40, 80):
        path = tmp_path / f"{steps}.db"
        async with opened(path) as store:
            await write_steps(store, await begin_run(store), steps)
        sizes.append(size_of(path))
    assert sizes[1] <= 2.3 * sizes[0]


def test_file_is_made_once_by_many(path: Path) -> None:
    """Eight that find no file at the same moment agree on one."""
    ready = threading.Barrier(8)
    failures: list[Exception] = []

    def work() -> None:
        ready.wait()
        try:
            sqlite_schema.open_database(path).close()
        except Exception as error:  # noqa: BLE001 -- whatever it is fails the test
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with by_hand(path) as look:
        assert look.execute("PRAGMA integrity_check").fetchone() == ("ok",)
