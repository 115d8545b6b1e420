"""True statements under false prose: the words must say no more than the facts do (M4)."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from affidavit.contract.draft import read_candidate
from affidavit.contract.evidence import Envelope, Line, Quantity, Scope, Value
from affidavit.contract.invocation import CanonicalToolInvocation
from affidavit.contract.states import Emitter, EvidenceClass, EvidenceStatus, InvocationStatus
from affidavit.core.canonical import canonical_json, digest
from affidavit.ledger.snapshot import LedgerSnapshot, StoredCall
from affidavit.verify.evidence import VerifiedDraft, check_evidence
from affidavit.verify.support import check_support
from tests.support.runs import RUN_ID, TENANT, WINDOW
from tests.support.worlds import true_draft

NOW = datetime(2026, 3, 2, 11, tzinfo=UTC)


def ledger() -> LedgerSnapshot:
    """One result: five errors of checkout, none of cart, and a line of checkout about payment."""
    facts = (
        Value(subject="checkout", attribute="errors", quantity=Quantity(number=Decimal(5))),
        Value(subject="cart", attribute="errors", quantity=Quantity(number=Decimal(0))),
        Line(
            text="payment timeout after 5000 ms",
            subject="checkout",
            level="ERROR",
            count=3,
            emitter=Emitter.WORKLOAD,
        ),
    )
    scope = Scope(tenant=TENANT, window=WINDOW)
    envelope = Envelope(
        source_type="probe",
        source="probe",
        evidence_class=EvidenceClass.OBSERVATION,
        emitter=Emitter.PLATFORM,
        scope=scope,
        status=EvidenceStatus.EVIDENCE_FOUND,
        count=len(facts),
        facts=facts,
        observed_at=NOW,
    )
    result = canonical_json(envelope.model_dump(mode="json"))
    record = CanonicalToolInvocation(
        run_id=RUN_ID,
        tenant=TENANT,
        tool_call_id="call_0001",
        tool="probe",
        scope=scope,
        status=InvocationStatus.READY,
        evidence_status=EvidenceStatus.EVIDENCE_FOUND,
        request_digest="0" * 64,
        result_digest=digest(result),
        started_at=NOW,
    )
    calls = {"call_0001": StoredCall(record, result)}
    return LedgerSnapshot(RUN_ID, TENANT, calls, frozenset({"probe"}))


def refused(text: str) -> bool:
    """Whether the sentence, with its true statement about checkout's errors, is refused."""
    draft: dict[str, Any] = true_draft()
    analysis = draft["analyses"][0]
    sentence = {**analysis["sentences"][0], "text": text}
    analysis["sentences"] = [sentence]
    draft["conclusion"] = {"text": text, "sentences": [sentence], "based_on_analysis_ids": ["A1"]}
    known = ledger()
    checked = check_evidence(read_candidate(draft), known)
    assert isinstance(checked, VerifiedDraft)
    return bool(check_support(checked, known, "Why is checkout failing?").refusals)


@pytest.mark.spec("M4")
@pytest.mark.parametrize(
    "text",
    ["The errors of checkout were 5.", "checkout had 5 errors."],
)
def test_what_the_fact_says_may_be_said(text: str) -> None:
    assert not refused(text)


@pytest.mark.spec("M4", "M5")
@pytest.mark.fault("R1", "R12")
@pytest.mark.parametrize(
    "text",
    [
        "The errors of payment were 5.",
        "The errors of cart were 5.",
        "The errors of checkout were 6.",
        "The errors of checkout were 5 per second.",
        "All services failed.",
        "The errors of checkout were 5 and payment crashed.",
        "checkout errors were 5, the database died.",
        "The errors of checkout were 5 yesterday in production.",
        "The errors of checkout were 5 after the deploy.",
        "The errors of checkout rose to 5.",
        "checkout is down: 5 errors.",
        "The errors of checkout were 5 and the cart was unaffected.",
        "The fatal errors of checkout were 5.",
        "The errors of checkout were 5 in Frankfurt.",
        "checkout leaked memory; its errors were 5.",
        "Users lost money; checkout errors were 5.",
        "payment 的错误数为 5。",
        "checkout 的错误数为 5，数据库已崩溃。",
        "数据库连接池耗尽导致 checkout 的错误数为 5。",
    ],
)
def test_what_the_fact_does_not_say_is_refused(text: str) -> None:
    assert refused(text)
