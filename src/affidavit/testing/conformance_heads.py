"""What every store must do with sealed heads: one chain a tenant, without a gap (A4)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final, TypeAlias

from affidavit.contract.errors import RecordFailed
from affidavit.contract.states import ReleaseOutcome, RunState
from affidavit.ports.store import NO_HEAD, Append, SealedHead, Store
from affidavit.testing.conformance import refusal, require
from affidavit.testing.journals import Begun, begin_run, ending, lease_run

OpenStore: TypeAlias = Callable[[], Store]


def head_after(run: Begun, last: SealedHead | None) -> SealedHead:
    """The head of a run, next after the last one of its tenant."""
    number, previous = (last.number + 1, last.digest) if last else (1, NO_HEAD)
    return SealedHead(run.head.tenant, number, run.id, f"{number:064x}", previous)


def sealed_end(run: Begun, head: SealedHead) -> Append:
    """The end of that run, with its head."""
    end = ending(run.last)
    return Append(end.entries, ended=(RunState.SUCCESS, ReleaseOutcome.SUCCESS), head=head)


async def chains_sealed_heads(open_store: OpenStore) -> None:
    """Each head follows its tenant's last; every handle sees the same chain, in order."""
    store, other = open_store(), open_store()
    require(await store.last_sealed("local") is None, "a tenant begins without a head")
    require(await store.sealed_heads("local") == (), "and with an empty chain")
    heads: list[SealedHead] = []
    for number in (1, 2, 3):
        run = await begin_run(store, number)
        head = head_after(run, await other.last_sealed(run.head.tenant))
        await store.append(await lease_run(store, run.id), sealed_end(run, head))
        heads.append(head)
    tenant = heads[0].tenant
    for handle in (store, other):
        require(await handle.last_sealed(tenant) == heads[-1], "the newest head is the last")
        require(await handle.sealed_heads(tenant) == tuple(heads), "the chain is in order")
        require(await handle.sealed_heads(tenant, 2) == (heads[2],), "it can be read on")
        require(await handle.last_sealed("another") is None, "tenants have chains of their own")
        await handle.close()


async def refuses_a_head_out_of_place(open_store: OpenStore) -> None:
    """A head that is not the next one is refused, with the whole end that it came with."""
    store = open_store()
    first, second = await begin_run(store, 1), await begin_run(store, 2)
    one = head_after(first, None)
    await store.append(await lease_run(store, first.id), sealed_end(first, one))
    lease = await lease_run(store, second.id)
    good = head_after(second, one)
    wrong = {
        "a place that is taken": head_after(second, None),
        "a gap": replace(good, number=3),
        "another link": replace(good, previous="f" * 64),
    }
    for what, head in wrong.items():
        with refusal(RecordFailed, "HEAD_TAKEN", f"{what} is refused"):
            await store.append(lease, sealed_end(second, head))
    for head in (replace(good, tenant="another"), replace(good, run_id=first.id)):
        with refusal(RecordFailed, "HEAD_REFUSED", "a head is of its own run and tenant"):
            await store.append(lease, sealed_end(second, head))
    require(await store.read(second.id) == second.lines, "a refused end leaves no line")
    require(await store.sealed_heads(first.head.tenant) == (one,), "and no head")
    await store.append(lease, sealed_end(second, good))
    require(await store.last_sealed(first.head.tenant) == good, "a right one goes on")
    await store.close()


HEAD_CHECKS: Final[tuple[Callable[[OpenStore], Awaitable[None]], ...]] = (
    chains_sealed_heads,
    refuses_a_head_out_of_place,
)
