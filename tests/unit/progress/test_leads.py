"""Where a scan stood out, and what is missing to call it a cause (C9)."""

from __future__ import annotations

import pytest

from affidavit.contract.report import Lead
from affidavit.contract.states import Emitter, EvidenceClass
from affidavit.progress.coverage import Reach
from affidavit.progress.leads import (
    LEADS_MAX,
    NO_CAUSE,
    NO_ORDER,
    NO_PATH,
    NO_SYMPTOM,
    ONE_RECORD,
    OWN_SYMPTOM,
)
from affidavit.progress.projector import project_progress
from tests.unit.progress.ledgers import Book, change, edge, line, onset, value

pytestmark = pytest.mark.spec("C9")


def leads(book: Book, symptom: str | None = "checkout") -> tuple[Lead, ...]:
    return project_progress(book.ledger(), book.tracker(), Reach(), symptom=symptom).leads


def test_nothing_abnormal_no_lead() -> None:
    """Readings, edges and normal changes make no suspect."""
    book = Book()
    book.found(value(), edge("checkout", "payment"), change(anomalous=False))
    assert leads(book) == ()


def test_a_lead_names_signal_size_and_call() -> None:
    """From the recorded scan, and with the legs that nobody recorded."""
    book = Book()
    key = book.found(change())
    assert leads(book) == (
        Lead(
            entity="payment",
            signal="latency (p95)",
            size="up from 120 ms to 5000 ms (score 9.5)",
            missing=f"{NO_PATH}; {NO_ORDER}; {ONE_RECORD}",
            tool_call_id=key,
        ),
    )


def test_three_at_most_and_the_strongest_first() -> None:
    """By the scan's own score; an entity stands once."""
    book = Book()
    book.found(*(change(f"s{n}", score=str(n + 1)) for n in range(6)))
    book.found(change("s5", attribute="cpu", score="2"))
    assert [lead.entity for lead in leads(book)] == ["s5", "s4", "s3"]
    assert len(leads(book)) == LEADS_MAX


def test_error_lines_come_after_scans_and_by_their_number() -> None:
    """A log's own errors are a signal of the second rank."""
    book = Book()
    book.found(line("a", "few", count=2), line("b", "many", count=90), tool="logs")
    book.found(change("scanned", score="1"))
    found = leads(book)
    assert [lead.entity for lead in found] == ["scanned", "many", "few"]
    assert found[1].size == "90 lines"


@pytest.mark.spec("N16")
def test_a_callers_text_makes_no_suspect() -> None:
    """Whoever writes a request cannot choose whom we suspect; nor can a mere warning."""
    book = Book()
    book.found(line("x", "victim", emitter=Emitter.REQUEST), tool="logs")
    book.found(line("x", "warned", level="WARN"), tool="logs")
    book.found(line("x", "advised"), tool="runbook", evidence_class=EvidenceClass.GUIDANCE)
    assert leads(book) == ()


def test_every_leg_can_be_there() -> None:
    """A path, an order and a second record still do not make a cause, and the lead says so."""
    book = Book()
    book.found(edge("checkout", "cart"), edge("cart", "payment"), tool="map")
    book.found(change(), onset("payment", 1, 2), onset("checkout", 3, 4))
    book.found(line("pool exhausted"), tool="logs")
    assert leads(book)[0].missing == NO_CAUSE


@pytest.mark.spec("M5")
def test_overlapping_onsets_prove_no_order() -> None:
    """Order is there only when the intervals are disjoint."""
    book = Book()
    book.found(edge("checkout", "payment"), tool="map")
    book.found(change(), onset("payment", 1, 3), onset("checkout", 3, 4))
    assert leads(book)[0].missing == f"{NO_ORDER}; {ONE_RECORD}"


def test_the_symptoms_own_service_and_an_unknown_symptom() -> None:
    """Each has its own words."""
    book = Book()
    book.found(change("checkout"))
    assert leads(book)[0].missing == OWN_SYMPTOM
    assert leads(book, None)[0].missing == NO_SYMPTOM


@pytest.mark.spec("N6")
def test_a_lead_never_claims_a_cause() -> None:
    """The only place in which the word may stand is the leg that is missing."""
    book = Book()
    book.found(change(), line("everything failed because of payment"), tool="logs")
    for lead in leads(book):
        assert "caus" not in f"{lead.signal} {lead.size}"
