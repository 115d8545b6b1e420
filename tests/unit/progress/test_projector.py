"""What was verifiably seen, at every exit and without a draft (C5, P1)."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest

from affidavit.contract.evidence import Quantity, Scope, Value, Window
from affidavit.contract.report import ObservedFact
from affidavit.contract.snapshots import FACTS_MAX, DiagnosisProgressSnapshot
from affidavit.contract.states import DiagnosisStopReason, EvidenceClass, EvidenceStatus
from affidavit.ledger.snapshot import StoredCall
from affidavit.progress.coverage import Reach
from affidavit.progress.projector import LIMITATIONS_MAX, SOURCES_MAX, bounded, project_progress
from affidavit.progress.selection import SeenCall, select_facts
from affidavit.progress.tracker import TrackedCall, TrackedStep, Tracker
from tests.unit.progress.ledgers import START, WINDOW, Book, change, edge, line, onset, value

pytestmark = pytest.mark.spec("C5", "P1")


def project(book: Book, tracker: Tracker | None = None) -> DiagnosisProgressSnapshot:
    return project_progress(book.ledger(), tracker or book.tracker(), Reach())


def test_a_ready_call_is_a_fact_and_a_source() -> None:
    """With its id, its status and where it was read."""
    book = Book()
    key = book.found(value())
    progress = project(book)
    (fact,) = progress.observed_facts
    assert fact.tool_call_id == key
    assert fact.status is EvidenceStatus.EVIDENCE_FOUND
    assert (fact.source_type, fact.source) == ("metrics", "metrics.parquet")
    assert progress.verified_sources[0].scope.window == WINDOW
    assert progress.has_observed_facts()


def test_an_empty_query_counts() -> None:
    """Having looked and found nothing is a fact."""
    book = Book()
    book.empty(query="pool exhausted")
    progress = project(book)
    assert [fact.status for fact in progress.observed_facts] == [EvidenceStatus.NO_EVIDENCE]
    assert progress.has_observed_facts()


@pytest.mark.spec("N9")
@pytest.mark.parametrize(("status", "code"), [("ERROR", "TIMEOUT"), ("PROJECTING", "UNFINISHED")])
def test_a_call_that_failed_is_a_limitation_and_no_fact(status: str, code: str) -> None:
    """ERROR is never evidence; neither is a call that nobody finished."""
    book = Book()
    book.failed(status=status)  # type: ignore[arg-type]  # the two literals above
    progress = project_progress(book.ledger(), book.tracker(), Reach())
    assert not progress.has_observed_facts()
    assert progress.verified_sources == ()
    assert any(code in limit for limit in progress.limitations)


def _other_run(book: Book, key: str) -> None:
    stored = book.calls[key]
    text = stored.record.model_dump_json().replace(book.run_id, "run_ffffffffffffffff")
    book.calls[key] = StoredCall(stored.record.model_validate_json(text), stored.result)


def _altered(book: Book, key: str) -> None:
    book.calls[key] = StoredCall(book.calls[key].record, (book.calls[key].result or b"") + b" ")


def _expired(book: Book, key: str) -> None:
    book.calls[key] = StoredCall(book.calls[key].record)


def _gone(book: Book, key: str) -> None:
    del book.calls[key]


@pytest.mark.spec("N13")
@pytest.mark.parametrize(
    ("harm", "code"),
    [
        (_other_run, "INVOCATION_RUN_MISMATCH"),
        (_altered, "AGENT_RESULT_INCONSISTENT"),
        (_expired, "AGENT_RESULT_UNPARSABLE"),
        (_gone, "INVOCATION_NOT_FOUND"),
    ],
)
def test_what_fails_the_read_back_is_no_fact(harm: object, code: str) -> None:
    """Another run's record, altered bytes, expired bytes, no record: a limitation with its code."""
    book = Book()
    key = book.found(value())
    tracker = book.tracker()
    assert callable(harm)
    harm(book, key)
    progress = project(book, tracker)
    assert not progress.has_observed_facts()
    assert any(code in limit for limit in progress.limitations)
    assert [entry.status for entry in progress.coverage.lines] == ["failed"]


def test_an_identity_is_part_of_the_read_back() -> None:
    """A record of another tool or scope than the tracked call's is no fact (P1)."""
    book = Book()
    key = book.found(value())
    book.found(value(number="9"))
    other = book.calls["call_0002"].record.scope
    wrong_tool = Tracker((TrackedStep((TrackedCall(key, "logs"),)),))
    assert not project(book, wrong_tool).has_observed_facts()
    right = Tracker((TrackedStep((TrackedCall(key, "scan", other),)),))
    assert project(book, right).has_observed_facts()
    elsewhere = Scope(tenant=other.tenant, service="payment", window=other.window)
    wrong_scope = Tracker((TrackedStep((TrackedCall(key, "scan", elsewhere),)),))
    assert not project(book, wrong_scope).has_observed_facts()


def test_duplicates_are_dropped() -> None:
    """One fact that two questions returned is one fact, and nothing was left out."""
    book = Book()
    book.found(value())
    book.found(value(), service=None)
    progress = project(book)
    assert len(progress.observed_facts) == 1
    assert progress.facts_left_out == 0


@pytest.mark.spec("C15")
@pytest.mark.parametrize("extra", [0, 1, 40])
def test_at_most_twelve_and_the_rest_is_declared(extra: int) -> None:
    """The number left out stands in the snapshot and among the limitations."""
    book = Book()
    book.found(*(value(f"service-{n:03d}") for n in range(FACTS_MAX + extra)))
    progress = project(book)
    assert len(progress.observed_facts) == FACTS_MAX
    assert progress.facts_left_out == extra
    assert any("left out" in limit for limit in progress.limitations) == bool(extra)


def _texts(facts: tuple[ObservedFact, ...]) -> list[str]:
    return [fact.text for fact in facts]


def test_contradictions_first_negatives_last() -> None:
    """What records disagree about, then what is abnormal, then the rest, then empty answers."""
    book = Book()
    book.empty(query="panic")
    book.found(value("cart", "3", at_min=5), edge("cart", "payment"))
    book.found(change(), onset("payment", 3, 4))
    book.found(line("timeout"), tool="logs")
    book.found(value("cart", "700", at_min=5), tool="logs")
    texts = _texts(project(book).observed_facts)
    assert "cart: error_rate was" in texts[0]
    assert "cart: error_rate was" in texts[1]
    assert all("payment" in text for text in texts[2:5])
    assert "cart calls payment" in texts[5]
    assert texts[6].startswith("Nothing matched")
    assert "Recorded results disagree about 1 reading." in project(book).limitations


def test_a_reading_in_another_unit_is_no_contradiction() -> None:
    """5 s and 5000 ms are not compared; equal readings agree."""
    book = Book()
    for number, unit in (("5", "s"), ("5000", "ms"), ("5", "s")):
        reading = Value(
            subject="cart",
            attribute="latency",
            quantity=Quantity(number=Decimal(number), unit=unit),
            at=START,
        )
        book.found(reading, query=number + unit)
    assert not any("disagree" in limit for limit in project(book).limitations)


def test_two_sources_that_agree_disagree_about_nothing() -> None:
    """Equal readings of two sources stand beside each other as what they are."""
    book = Book()
    book.found(value("cart", "3", at_min=5))
    book.found(value("cart", "3", at_min=5), tool="logs")
    progress = project(book)
    assert len(progress.observed_facts) == 2
    assert not any("disagree" in limit for limit in progress.limitations)


def test_no_entity_takes_all_the_room() -> None:
    """Every entity's strongest change comes before anybody's second."""
    book = Book()
    loud = [change("loud", attribute=f"m{n}", score=str(900 - n)) for n in range(30)]
    book.found(*loud, *(change(f"quiet-{n}", score="5") for n in range(5)))
    texts = _texts(project(book).observed_facts)
    assert sum(text.startswith("quiet") for text in texts) == 5
    assert texts[0].startswith("loud: m0 ")


def test_news_comes_before_repetition() -> None:
    """A reading that moved in its third digit gives way to one that says something new."""
    book = Book()
    book.found(*(value("a", str(10_000 + n), at_min=n) for n in range(20)))
    book.found(value("b"), query="b")
    texts = _texts(project(book).observed_facts)
    assert texts[1].startswith("b:")
    book = Book()
    book.found(value("a", "10000"), value("a", "10001"), value("b", "1"), value("b", "50"))
    texts = _texts(project(book).observed_facts)
    assert [text.split(" was ")[1].split("%")[0] for text in texts] == ["10000", "1", "50", "10001"]


@pytest.mark.spec("C13", "N17")
@pytest.mark.parametrize("other", [EvidenceClass.GUIDANCE, EvidenceClass.ALERT])
@pytest.mark.fault("R10")
def test_guidance_and_alert_text_are_no_facts(other: EvidenceClass) -> None:
    """They are sources that were read; nothing can be published from them alone."""
    book = Book()
    book.found(line("DB pool exhausted"), tool="runbook", evidence_class=other)
    progress = project(book)
    assert not progress.has_observed_facts()
    assert len(progress.verified_sources) == 1
    assert any("no observation" in limit for limit in progress.limitations)
    assert progress.leads == ()


@pytest.mark.fault("R44")
def test_a_cut_answer_says_so() -> None:
    """How much was read of how much stands among the limitations."""
    book = Book()
    book.found(line("Starting"), tool="logs", truncated=True, total=5_000)
    (limit,) = project(book).limitations
    assert "1 of 5000 items" in limit
    assert project(book).coverage.lines[0].truncated


@pytest.mark.fault("R26")
def test_a_source_without_a_zone_is_ambiguous() -> None:
    """Its times are not taken for UTC without a word."""
    book = Book()
    zoneless = Window(start=START, end=START + timedelta(minutes=1), zone=None)
    book.found(line("x"), tool="logs", window=zoneless)
    assert any("time zone" in limit for limit in project(book).limitations)


def test_limitations_are_bounded_and_distinct() -> None:
    """The last one counts the rest."""
    assert bounded(("a", "a", "b")) == ("a", "b")
    many = bounded(tuple(str(n) for n in range(40)))
    assert len(many) == LIMITATIONS_MAX
    assert many[-1] == f"{40 - LIMITATIONS_MAX + 1} further limits are in the coverage."


def test_sources_are_bounded_and_declared() -> None:
    """More sources than the standard profile's calls are counted, not listed."""
    book = Book()
    for n in range(SOURCES_MAX + 2):
        book.found(value(), query=str(n))
    progress = project(book)
    assert len(progress.verified_sources) == SOURCES_MAX
    assert any("2 further sources" in limit for limit in progress.limitations)


def test_the_stop_reason_travels() -> None:
    """The snapshot says why collection stopped."""
    reason = DiagnosisStopReason.INFORMATION_SATURATED
    book = Book()
    progress = project_progress(book.ledger(), book.tracker(), Reach(), stop_reason=reason)
    assert progress.stop_reason is reason
    assert not progress.has_observed_facts()


def test_numbers_beyond_any_range_are_still_ordered() -> None:
    """A hostile score neither raises nor hides anything."""
    book = Book()
    book.found(change("a", score="1E+999999999"), change("b", score="-1E-999999999"))
    assert len(project(book).observed_facts) == 2


def test_given_facts_come_first_and_once() -> None:
    """Facts that were proved stand before the rest (C9)."""
    book = Book()
    book.found(change(), value())
    read = book.ledger().read_back("call_0001")
    calls = [SeenCall("call_0001", read.envelope)]  # type: ignore[union-attr]  # it is READY
    plain = select_facts(calls).facts
    assert _texts(plain)[0].startswith("payment")
    turned = select_facts(calls, (plain[1],)).facts
    assert turned == (plain[1], plain[0])
