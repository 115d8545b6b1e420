"""Sealing is part of the decision: without a key nothing is published, and no run is left out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

import anyio
import pytest

from affidavit.adapters.key_files import KeyFolder
from affidavit.adapters.memory_store import MemoryStore
from affidavit.adapters.sqlite_store import SqliteStore
from affidavit.affidavit.document import read_document
from affidavit.affidavit.recheck import Verdict
from affidavit.affidavit.seal import Sealer
from affidavit.affidavit.seal_checks import signed_head
from affidavit.contract.agent import AgentRequest
from affidavit.contract.errors import RecordFailed
from affidavit.contract.journal import EventType
from affidavit.contract.report import ReleaseRecord
from affidavit.contract.states import RunState
from affidavit.diagnose import drive, start, stored_release
from affidavit.ports.signer import Purpose
from affidavit.ports.store import NO_HEAD, Store
from tests.support.checking import recheck
from tests.support.runs import RUN_ID, request
from tests.support.worlds import act, conclude, world

pytestmark = pytest.mark.anyio

RUNS: Final = 12
SCRIPT: Final = (act("probe"), conclude())


async def file_of_run(store: Store, run_id: str) -> bytes:
    """The one sealed file of that run."""
    (content,) = (i.content for i in await store.artifacts(run_id) if i.kind == "affidavit")
    return content


@pytest.mark.spec("A4", "L5", "N15", "L6")
@pytest.mark.parametrize("how", ["gone", "open", "broken", "folder gone"])
async def test_without_a_key_nothing_is_published_and_the_run_goes_on_later(
    tmp_path: Path, how: str
) -> None:
    keys = KeyFolder(tmp_path / "keys")
    signer = keys.signer(Purpose.RUN_HEADS)
    place = keys.folder / "run-heads.key"
    secret = place.read_bytes()
    store = MemoryStore()
    told = replace(world(SCRIPT, store=store), seal=Sealer(signer))
    await start(told, request())
    match how:
        case "gone":
            place.unlink()
            place.symlink_to(tmp_path / "nowhere")
        case "open":
            place.chmod(0o644)
        case "broken":
            place.write_bytes(secret[:60])
        case _:
            keys.folder.chmod(0o755)
    with pytest.raises(RecordFailed) as failed:
        await drive(RUN_ID, told)
    assert failed.value.code in {"KEY_REFUSED", "KEY_UNREADABLE"}
    assert failed.value.hint
    lines = await store.read(RUN_ID)
    assert not {EventType.RELEASE_DECISION, EventType.RUN_ENDED} & {line.type for line in lines}
    assert await stored_release(store, RUN_ID) is None
    kinds = {item.kind for item in await store.artifacts(RUN_ID)}
    assert not kinds & {"release", "affidavit"}
    assert await store.last_sealed(request().tenant) is None
    head = await store.head(RUN_ID)
    assert head is not None
    assert head.state is RunState.RUNNING

    keys.folder.chmod(0o700)
    place.unlink()
    place.write_bytes(secret)
    place.chmod(0o600)
    released = await drive(RUN_ID, replace(world((), store=store), seal=Sealer(signer)))
    assert isinstance(released, ReleaseRecord)
    assert recheck(await file_of_run(store, RUN_ID)).verdict is Verdict.INTACT_SIGNER_UNKNOWN


def numbered(number: int) -> AgentRequest:
    """The n-th request of one tenant."""
    return AgentRequest.model_validate({**dict(request()), "run_id": f"run_{number:016d}"})


@pytest.mark.spec("A4", "L6")
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_runs_that_end_together_make_one_chain(tmp_path: Path, kind: str) -> None:
    """Whoever finds its place taken seals again; no head is lost, doubled or forked."""
    store: Store = MemoryStore() if kind == "memory" else SqliteStore(tmp_path / "runs.db")

    async def run(number: int) -> None:
        told = world(SCRIPT, store=store)
        await start(told, numbered(number))
        assert isinstance(await drive(numbered(number).run_id, told), ReleaseRecord)

    async with anyio.create_task_group() as tasks:
        for number in range(RUNS):
            tasks.start_soon(run, number)
    heads = await store.sealed_heads(request().tenant)
    assert [head.number for head in heads] == list(range(1, RUNS + 1))
    assert {head.run_id for head in heads} == {numbered(n).run_id for n in range(RUNS)}
    previous = NO_HEAD
    for head in heads:
        content = await file_of_run(store, head.run_id)
        signed = signed_head(read_document(content))
        assert (signed.number, signed.previous) == (head.number, head.previous)
        assert signed.digest() == head.digest
        assert head.previous == previous
        assert recheck(content).failure is None
        previous = head.digest
    await store.close()
