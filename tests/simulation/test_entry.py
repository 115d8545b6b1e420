"""Before anything is spent: legality, permission, budget; and the audit at every exit (K0)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from affidavit.adapters.memory_store import MemoryStore
from affidavit.contract.agent import AgentRequest, GiveUp, GuardResult
from affidavit.contract.errors import AffidavitError, InputRefused, RecordFailed
from affidavit.contract.report import ReleaseRecord
from affidavit.core.legality import QUESTION_CHARS_MAX
from affidavit.diagnose import World, drive, start
from affidavit.guards.audit import AuditGuard, AuditLine
from affidavit.guards.chain import in_order
from affidavit.guards.permission import PermissionGuard, Permit, Policy
from affidavit.testing import Fault, FaultyStore
from tests.support.runs import RUN_ID, request
from tests.support.worlds import act, world


@dataclass
class Auditor:
    """A place of an auditor's own; `down_at` is the line that it cannot take."""

    lines: list[AuditLine] = field(default_factory=list)
    down_at: int | None = None

    async def take(self, line: AuditLine) -> None:
        if self.down_at == len(self.lines):
            raise OSError("canary")
        self.lines.append(line)

    @property
    def words(self) -> list[str]:
        return [f"{line.word} {line.tool} {line.code}".strip() for line in self.lines]


def watched(auditor: Auditor, store: MemoryStore | FaultyStore, policy: Policy) -> World:
    told = world([act("probe"), GiveUp("done")], store=store)
    guards = in_order((PermissionGuard(policy), AuditGuard(auditor.take)))
    return replace(told, collection=replace(told.collection, guards=guards))


ANYBODY = Policy((Permit("probe"),))
ONCALL = Policy((Permit("probe"),), may_start=frozenset({"oncall"}))


def changed(**changes: object) -> AgentRequest:
    return AgentRequest.model_validate({**request().model_dump(), **changes})


@pytest.mark.spec("K0", "H2", "A1")
async def test_the_audit_sees_a_run_from_its_request_to_its_end() -> None:
    auditor, store = Auditor(), MemoryStore()
    told = watched(auditor, store, ANYBODY)
    await start(told, request())
    release = await drive(RUN_ID, told)
    assert isinstance(release, ReleaseRecord)
    assert auditor.words == ["ENTERED", "ENTERED probe", "EXECUTED probe", "ENDED  DONE/FALLBACK"]


ILLEGAL: dict[str, dict[str, object]] = {
    "a blank question": {"question": " \n"},
    "a question without end": {"question": "x" * (QUESTION_CHARS_MAX + 1)},
    "half a character": {"question": "why \ud800?"},
    "a run id of somebody's own": {"run_id": "mine"},
    "no tenant": {"tenant": " "},
    "a requester without end": {"requested_by": "a" * 500},
    "a blank role": {"roles": ("oncall", "")},
}


@pytest.mark.spec("K0")
@pytest.mark.parametrize("what", ILLEGAL)
async def test_a_request_that_is_not_legal_starts_nothing_and_is_audited(what: str) -> None:
    auditor, store = Auditor(), MemoryStore()
    asked = changed(**ILLEGAL[what])
    with pytest.raises(InputRefused) as refused:
        await start(watched(auditor, store, ANYBODY), asked)
    assert refused.value.code == "REQUEST_ILLEGAL"
    assert await store.head(asked.run_id) is None
    assert auditor.words == ["ENTERED", "BLOCKED  REQUEST_ILLEGAL"]


@pytest.mark.spec("K0", "H9")
async def test_whoever_may_not_start_runs_is_refused_before_anything_exists() -> None:
    auditor, store = Auditor(), MemoryStore()
    told = watched(auditor, store, ONCALL)
    with pytest.raises(InputRefused) as refused:
        await start(told, request())
    assert refused.value.code == "START_DENIED"
    assert await store.head(RUN_ID) is None
    assert auditor.words[-1] == "BLOCKED  START_DENIED"
    await start(told, changed(roles=("viewer", "oncall")))
    assert await store.head(RUN_ID) is not None


class Broken(PermissionGuard):
    """A gatekeeper that breaks."""

    def admit(self, request: AgentRequest) -> GuardResult:
        raise OSError("canary")


@pytest.mark.spec("K0", "H4")
async def test_a_gatekeeper_that_breaks_lets_nobody_in() -> None:
    store = MemoryStore()
    told = world([GiveUp("x")], store=store)
    guards = in_order((Broken(ANYBODY), AuditGuard()))
    told = replace(told, collection=replace(told.collection, guards=guards))
    with pytest.raises(InputRefused) as refused:
        await start(told, request())
    assert refused.value.code == "GUARD_FAILED"
    assert "canary" not in refused.value.message
    assert await store.head(RUN_ID) is None


@pytest.mark.spec("K0", "L5")
async def test_a_start_that_the_store_cannot_take_is_audited_as_failed() -> None:
    auditor = Auditor()
    store = FaultyStore(MemoryStore(), Fault(1))
    with pytest.raises(AffidavitError) as failed:
        await start(watched(auditor, store, ANYBODY), request())
    assert auditor.words == ["ENTERED", f"BLOCKED  {failed.value.code}"]


@pytest.mark.spec("N15", "K0", "L5")
async def test_an_end_that_cannot_be_audited_is_not_published_until_it_can_be() -> None:
    auditor, store = Auditor(down_at=3), MemoryStore()
    told = watched(auditor, store, ANYBODY)
    await start(told, request())
    with pytest.raises(RecordFailed) as failed:
        await drive(RUN_ID, told)
    assert failed.value.code == "AUDIT_FAILED"
    head = await store.head(RUN_ID)
    assert head is not None
    assert head.outcome is None
    auditor.down_at = None
    assert isinstance(await drive(RUN_ID, told), ReleaseRecord)
    assert auditor.words[-1] == "ENDED  DONE/FALLBACK"
