"""Identities and counters, from a driven run's journal as from the run itself (P1, K8)."""

from __future__ import annotations

import dataclasses

import pytest

from affidavit.contract.agent import ToolCallRequest
from affidavit.contract.evidence import Scope
from affidavit.contract.journal import Event, EventType
from affidavit.contract.states import EvidenceClass
from affidavit.core.pen import Stage
from affidavit.ledger.reader import take_snapshot
from affidavit.ledger.snapshot import Verified
from affidavit.ledger.writer import CallHeader, fail, intend, refuse, reuse, settle
from affidavit.progress.tracker import (
    RefusedCall,
    TrackedCall,
    TrackedStep,
    Tracker,
    retrace,
)
from tests.support.runs import TENANT, WINDOW, decide_calls, driven
from tests.unit.progress.ledgers import Book, value

pytestmark = pytest.mark.spec("P1")


def test_recording_makes_a_new_tracker() -> None:
    """The old one stays as it was."""
    first = Tracker()
    second = first.record(TrackedStep((TrackedCall("call_0001", "scan"),)))
    assert first == Tracker()
    assert second.calls_made == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        second.steps = ()  # type: ignore[misc]  # that is what is tested


def test_an_identity_stands_once() -> None:
    """Asked again, a call keeps its first place."""
    one, two = TrackedCall("call_0001", "scan"), TrackedCall("call_0002", "logs")
    tracker = Tracker().record(TrackedStep((one, two))).record(TrackedStep((one,)))
    assert tracker.calls() == (one, two)


def test_a_tracker_holds_no_payload() -> None:
    """Ids, tools, scopes and codes are all that its records have (P1)."""
    names = {
        field.name
        for record in (TrackedCall, RefusedCall, TrackedStep, Tracker)
        for field in dataclasses.fields(record)
    }
    assert names == {"tool_call_id", "tool", "scope", "code", "calls", "refused", "steps"}


@pytest.mark.spec("K8")
async def test_the_journal_tells_the_same_story() -> None:
    """A driver that takes over tracks what the first one did: found, failed, refused, reused."""
    scope = Scope(tenant=TENANT, service="checkout", window=WINDOW)
    book = Book(tenant=TENANT)
    key = book.found(value())
    read = book.ledger().read_back(key)
    assert isinstance(read, Verified)
    envelope = read.envelope
    async with driven() as run:
        header = CallHeader(1, "call_0001", "scan", {}, envelope.scope, EvidenceClass.OBSERVATION)
        other = CallHeader(1, "call_0002", "logs", {}, scope, EvidenceClass.OBSERVATION)
        await decide_calls(run, *(ToolCallRequest(tool, {}) for tool in ("scan", "logs", "none")))
        for written in (
            intend(header, 1),
            settle("call_0001", envelope),
            intend(other, 1),
            fail("call_0002", "TIMEOUT"),
            refuse(1, "call_0003", "none", "TOOL_UNKNOWN"),
        ):
            await run.record(Stage(written.events, written.artifacts))
        await decide_calls(run, ToolCallRequest("scan", {}))
        again = reuse(2, "call_0004", "call_0001")
        await run.record(Stage(again.events, again.artifacts))
        await run.note(Event(EventType.STATUS_CHANGED, {"status": "SAFETY_VALIDATING"}))
        ledger = take_snapshot(run.id, TENANT, run.view, run.contents, frozenset({"scan", "logs"}))
        tracker = retrace(run.view, ledger)
    scan = TrackedCall("call_0001", "scan", envelope.scope)
    logs = TrackedCall("call_0002", "logs", scope)
    assert tracker.steps == (
        TrackedStep((scan, logs), (RefusedCall("none", "TOOL_UNKNOWN"),)),
        TrackedStep((scan,)),
    )
