"""Laws of progress that hold for any ledger (P1, P2, C5)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affidavit.contract.evidence import Fact
from affidavit.contract.snapshots import FACT_CHARS_MAX, FACTS_MAX, DiagnosisProgressSnapshot
from affidavit.contract.states import EvidenceClass
from affidavit.ledger.snapshot import Verified
from affidavit.progress.coverage import Reach
from affidavit.progress.leads import LEADS_MAX
from affidavit.progress.projector import LIMITATIONS_MAX, SOURCES_MAX, project_progress
from affidavit.progress.saturation import Patience, saturation
from affidavit.progress.selection import SeenCall, word
from affidavit.progress.tracker import TrackedCall, TrackedStep, Tracker
from tests.unit.progress.ledgers import Book, change, edge, line, onset, value

LAW = settings(deadline=None)
"""Speed is measured in benchmarks, never asserted by a clock in a test."""

names = st.sampled_from(["checkout", "payment", "cart", "x" * 90, "a\u202eb", "", "服务"])
numbers = st.sampled_from(
    ["0", "5", "5.01", "-7", "1E+40", "1E-999999", "1E+999999999", "123456789.123456789"]
)
texts = st.text(max_size=400)
facts = st.one_of(
    st.builds(value, names, numbers, at_min=st.none() | st.integers(0, 3)),
    st.builds(change, names, score=st.none() | numbers, anomalous=st.booleans()),
    st.builds(onset, names, st.integers(0, 3), st.integers(3, 6)),
    st.builds(line, texts.filter(bool), names),
    st.builds(edge, names, names),
)
Move = Callable[[Book], str]


def found(said: list[Fact], kind: EvidenceClass, truncated: bool, service: str | None) -> Move:
    return lambda book: book.found(*said, evidence_class=kind, truncated=truncated, service=service)


moves: st.SearchStrategy[Move] = st.one_of(
    st.builds(
        found,
        st.lists(facts, max_size=8),
        st.sampled_from(EvidenceClass),
        st.booleans(),
        st.none() | names,
    ),
    st.sampled_from(["TIMEOUT", "FORBIDDEN", "not a code: /etc/passwd"]).map(
        lambda code: lambda book: book.failed(code)
    ),
    st.just(lambda book: book.failed(status="PROJECTING")),
)
histories = st.lists(moves, max_size=12)


def write(history: list[Move]) -> Book:
    book = Book()
    for move in history:
        move(book)
    return book


def project(book: Book, tracker: Tracker | None = None) -> DiagnosisProgressSnapshot:
    return project_progress(book.ledger(), tracker or book.tracker(), Reach(), symptom="checkout")


@pytest.mark.spec("C5", "C15")
@LAW
@given(histories)
def test_a_snapshot_is_bounded(history: list[Move]) -> None:
    """Facts, their lengths, sources, limitations and leads; and what is left out is said."""
    progress = project(write(history))
    assert len(progress.observed_facts) <= FACTS_MAX
    assert all(0 < len(fact.text) <= FACT_CHARS_MAX for fact in progress.observed_facts)
    assert len(progress.verified_sources) <= SOURCES_MAX
    assert len(progress.limitations) <= LIMITATIONS_MAX
    assert len(progress.leads) <= LEADS_MAX
    if progress.facts_left_out:
        assert any("left out" in limit for limit in progress.limitations)
    assert "passwd" not in progress.model_dump_json()


@pytest.mark.spec("P1", "C9", "N9")
@LAW
@given(histories)
def test_every_fact_is_a_recorded_one(history: list[Move]) -> None:
    """Its call reads back, and one of the call's own facts is worded exactly so."""
    book = write(history)
    ledger = book.ledger()
    for fact in project(book).observed_facts:
        read = ledger.read_back(fact.tool_call_id)
        assert isinstance(read, Verified)
        call = SeenCall(fact.tool_call_id, read.envelope)
        assert fact in [word(call, item) for item in (*read.envelope.facts, None)]
        assert read.envelope.evidence_class in {EvidenceClass.OBSERVATION, EvidenceClass.CHANGE}


@pytest.mark.spec("C5")
@LAW
@given(histories)
def test_asking_again_shows_nothing_new(history: list[Move]) -> None:
    """The same calls tracked twice give the same facts, sources, leads and limits."""
    book = write(history)
    tracker = book.tracker()
    for step in book.steps:
        tracker = tracker.record(step)
    assert project(book, tracker) == project(book)


@pytest.mark.spec("P2")
@LAW
@given(histories)
def test_failures_change_no_streak(history: list[Move]) -> None:
    """However many sources fail in between, the gain stands where it stood."""
    book = write(history)
    before = saturation(book.ledger(), book.tracker())
    for _ in range(3):
        book.failed()
    assert saturation(book.ledger(), book.tracker()) == before


@pytest.mark.spec("P2")
@LAW
@given(histories, st.integers(1, 5), st.integers(1, 5))
def test_saturation_is_what_its_counters_say(history: list[Move], steps: int, calls: int) -> None:
    """And a streak never outgrows the steps that answered."""
    book = write(history)
    state = saturation(book.ledger(), book.tracker(), Patience(steps, calls))
    assert state.saturated == (state.streak >= steps and state.evidence_calls >= calls)
    read = [book.ledger().read_back(key) for key in book.calls]
    assert state.evidence_calls == sum(isinstance(item, Verified) for item in read)
    assert 0 <= state.streak <= state.evidence_calls


@pytest.mark.spec("P2")
@LAW
@given(histories, st.randoms(use_true_random=False))
def test_calls_side_by_side_have_no_order(history: list[Move], random: object) -> None:
    """In one step, the order of the calls changes nothing."""
    book = write(history)
    calls = [TrackedCall(key, stored.record.tool) for key, stored in book.calls.items()]
    mixed = list(calls)
    random.shuffle(mixed)  # type: ignore[attr-defined]  # hypothesis gives a random.Random
    first = saturation(book.ledger(), Tracker((TrackedStep(tuple(calls)),)))
    assert saturation(book.ledger(), Tracker((TrackedStep(tuple(mixed)),))) == first
