"""Whole runs in which an author takes sentences back: what leaves, what stays, what never."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import pytest

from affidavit.adapters.memory_store import MemoryStore
from affidavit.affidavit.document import read_document
from affidavit.affidavit.recheck import Verdict
from affidavit.contract.decisions import DecisionId
from affidavit.contract.journal import Entry, EventType
from affidavit.contract.report import ReleaseRecord
from affidavit.core.run import LEASE_TTL_S
from affidavit.diagnose import drive
from affidavit.release.withdrawal import WithdrawalQuestion
from affidavit.testing.faulty_store import Effect, Fault, FaultyStore, Killed, Moment
from affidavit.testing.virtual_clock import VirtualClock
from tests.support.checking import recheck
from tests.support.gates import (
    ASIDE,
    PODS,
    Report,
    begin,
    changed,
    gated,
    read_run,
    report,
    said,
    world_of,
)
from tests.support.runs import RUN_ID
from tests.unit.affidavit.files import Forgery

pytestmark = pytest.mark.anyio

LIE = said("gates-1", 90)
"""The pod is there, and the number is not."""


@dataclass
class CountingAuthor:
    """Takes back whatever it is asked for, and counts."""

    name: str = "counting"
    asked: int = 0

    async def withdraw(self, question: WithdrawalQuestion) -> object:
        """Every number."""
        self.asked += 1
        return tuple(question.codes)


@pytest.mark.spec("D2b", "M6", "L2", "C10")
async def test_a_supported_report_with_an_aside_is_published_without_it() -> None:
    """Metamorphic: the report alone is published; with the aside it is, less the aside; and the
    two say the same."""
    plain, taken = await gated(report()), await gated(report(ASIDE), withdraw=True)
    assert plain.release.decision is DecisionId.D1
    assert taken.release.decision is DecisionId.D2B
    assert plain.release.result is not None
    assert taken.release.result is not None
    assert taken.release.result.withdrawn == 1
    assert ASIDE not in taken.texts()
    assert ASIDE not in taken.file.decode()
    same = taken.release.result.model_dump(mode="json") | {"withdrawn": 0}
    assert same == plain.release.result.model_dump(mode="json")
    assert recheck(taken.file).verdict is Verdict.INTACT_SIGNER_UNKNOWN


@pytest.mark.spec("M6")
async def test_without_consent_the_aside_holds_the_report_back() -> None:
    """Nobody else may take a sentence back: not the gate, not the judge."""
    held = await gated(report(ASIDE))
    assert held.release.decision is DecisionId.D4
    assert held.lines(EventType.DRAFT_WITHDRAWAL_ATTEMPT) == [
        {"result": "UNAVAILABLE", "withdrawn": 0, "sentences": ()}
    ]
    assert ASIDE not in held.release.model_dump_json()


NEVER: dict[str, Report] = {
    "a lie in the conclusion": report(conclusion=LIE),
    "a lie in the conclusion and an aside": report(ASIDE, conclusion=LIE),
    "an aside as the conclusion": report(conclusion={"text": ASIDE}),
    "a lie among the findings": report("gates-1 had 90 restarts."),
    "two asides in six sentences": report(ASIDE, "The moon was full over the quay."),
}


@pytest.mark.spec("M6", "D4")
@pytest.mark.parametrize("raw", NEVER.values(), ids=NEVER)
async def test_a_lie_is_never_withdrawn_into_a_publication(raw: Report) -> None:
    """Whatever its author consents to."""
    run = await gated(raw, withdraw=True)
    assert run.release.decision is DecisionId.D4
    assert run.release.result is None
    assert recheck(run.file).verdict is Verdict.INTACT_SIGNER_UNKNOWN


@pytest.mark.spec("M6")
async def test_an_action_that_rests_on_the_aside_alone_goes_with_it() -> None:
    """And an action on what stands stays."""
    raw = report()
    aside = {"id": "A2", "kind": "NORMAL", "body": ASIDE, "tool_call_ids": ["pods"]}
    actions = [
        {"text": "Look at gates-1.", "based_on_analysis_ids": ["A1"]},
        {"text": "Look at boarding-1.", "based_on_analysis_ids": ["A2"]},
    ]
    raw = changed(
        raw, analyses=[*raw["draft"]["analyses"], aside], action_plan=actions, recommendations=[]
    )
    run = await gated(raw, withdraw=True)
    assert run.release.result is not None, run.lines(EventType.SUPPORT_CHECK)
    assert [item.text for item in run.release.result.action_plan] == ["Look at gates-1."]
    assert [item.id for item in run.release.result.analyses] == ["A1"]
    assert run.release.result.withdrawn == 1
    assert recheck(run.file).verdict is Verdict.INTACT_SIGNER_UNKNOWN


@pytest.mark.spec("K8", "M6", "L6")
@pytest.mark.parametrize("moment", list(Moment))
@pytest.mark.parametrize("at", range(1, 13))
async def test_a_run_killed_at_any_write_asks_its_author_once(at: int, moment: Moment) -> None:
    """The answer on record is used again, and the run ends in the same row."""
    inner, clock, author = MemoryStore(), VirtualClock(), CountingAuthor()
    raw = report(ASIDE)

    async def go(store: MemoryStore | FaultyStore) -> ReleaseRecord:
        world = world_of(raw, store, author=author, clock=clock)
        if await store.head(RUN_ID) is None:
            await begin(raw, world)
        release = await drive(RUN_ID, world)
        assert isinstance(release, ReleaseRecord)
        return release

    try:
        await go(FaultyStore(inner, Fault(at, moment, Effect.KILL)))
    except* Killed:
        pass
    answered = any(
        entry.type is EventType.DRAFT_WITHDRAWAL_ATTEMPT for entry in await inner.read(RUN_ID)
    )
    before = author.asked
    clock.shift(LEASE_TTL_S + 1)
    again = inner.reopen()
    release = await go(again)
    assert release.decision is DecisionId.D2B
    assert not answered or author.asked == before
    run = await read_run(again, release)
    assert run.kinds().count(EventType.DRAFT_WITHDRAWAL_ATTEMPT) == 1
    assert run.kinds().count(EventType.RELEASE_DECISION) == 1
    assert recheck(run.file).verdict is Verdict.INTACT_SIGNER_UNKNOWN


@pytest.mark.spec("M6", "C10", "A5")
async def test_a_file_that_tells_another_withdrawal_is_altered() -> None:
    """The journal names the sentences, and the report counts them; a forger makes digests anew."""
    run = await gated(report(ASIDE), withdraw=True)
    (line,) = run.lines(EventType.DRAFT_WITHDRAWAL_ATTEMPT)
    assert line == {"result": "WITHDRAWN", "withdrawn": 1, "sentences": (len(PODS) + 1,)}
    document = read_document(run.file)
    result = document.release.model_dump(mode="json")["result"]
    assert result["withdrawn"] == 1
    for number in (0, 2):
        forged = Forgery(document, release={"result": {**result, "withdrawn": number}}).make()
        failure = recheck(forged).failure
        assert failure is not None
        assert (failure.name, failure.pointer) == ("counts", "/release/result/withdrawn")
    for told in (
        {"withdrawn": 1, "sentences": (5, 1)},
        {"withdrawn": 1, "sentences": ()},
        {"withdrawn": 0, "sentences": ()},
    ):
        forged = Forgery(document, line=partial(telling, told)).make()
        assert recheck(forged).failure is not None


def telling(said: Mapping[str, object], entry: Entry) -> Mapping[str, object] | None:
    """The withdrawal's line, telling this instead."""
    is_withdrawal = entry.type is EventType.DRAFT_WITHDRAWAL_ATTEMPT
    return {**entry.data, **said} if is_withdrawal else None
