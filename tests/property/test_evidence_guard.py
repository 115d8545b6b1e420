"""EvidenceGuard against a lying agent: every hop of every citation, and the right code (G0 to G11).

Drafts are generated whole and then told one lie each, at a random place; the code that must come
out is derived from the lie, not from the guard.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affidavit.contract.draft import read_candidate
from affidavit.contract.evidence import Envelope, Scope
from affidavit.contract.invocation import CanonicalToolInvocation
from affidavit.contract.states import (
    Emitter,
    EvidenceClass,
    EvidenceStatus,
    InvocationStatus,
)
from affidavit.contract.violations import EXPLANATIONS, EvidenceCode
from affidavit.core.canonical import canonical_json, digest
from affidavit.ledger.snapshot import LedgerSnapshot, StoredCall
from affidavit.verify.evidence import Refused, VerifiedDraft, check_evidence
from tests.support.runs import RUN_ID, TENANT, WINDOW, reading

NOW = datetime(2026, 3, 2, 11, tzinfo=UTC)
SCOPE = Scope(tenant=TENANT, window=WINDOW, query="q")


def envelope(*, found: bool) -> Envelope:
    facts = (reading(),) if found else ()
    status = EvidenceStatus.EVIDENCE_FOUND if found else EvidenceStatus.NO_EVIDENCE
    return Envelope(
        source_type="probe",
        source="probe",
        evidence_class=EvidenceClass.OBSERVATION,
        emitter=Emitter.PLATFORM,
        scope=SCOPE,
        status=status,
        count=len(facts),
        facts=facts,
        observed_at=NOW,
    )


def stored(key: str, *, found: bool = True, **changes: Any) -> StoredCall:
    """A READY record with its projection, but for the changes; `result` replaces the bytes."""
    result = changes.pop("result", None)
    if result is None:
        result = canonical_json(envelope(found=found).model_dump(mode="json"))
    values: dict[str, Any] = {
        "run_id": RUN_ID,
        "tenant": TENANT,
        "tool_call_id": key,
        "tool": "probe",
        "scope": SCOPE,
        "status": InvocationStatus.READY,
        "evidence_status": EvidenceStatus.EVIDENCE_FOUND if found else EvidenceStatus.NO_EVIDENCE,
        "request_digest": "0" * 64,
        "result_digest": digest(result),
        "started_at": NOW,
        **changes,
    }
    return StoredCall(CanonicalToolInvocation(**values), result)


def contradictory() -> bytes:
    """A projection that says it found something and holds nothing."""
    body = envelope(found=True).model_dump(mode="json")
    return canonical_json({**body, "facts": []})


FOREIGN = {
    "another run": (stored("call_0003", run_id="run_ffffffffffffffff"), "INVOCATION_RUN_MISMATCH"),
    "another tenant": (stored("call_0003", tenant="other"), "INVOCATION_RUN_MISMATCH"),
    "an error": (
        stored(
            "call_0003",
            status=InvocationStatus.ERROR,
            evidence_status=EvidenceStatus.ERROR,
            error_code="FORBIDDEN",
        ),
        "INVOCATION_NOT_READY",
    ),
    "still projecting": (
        stored("call_0003", status=InvocationStatus.PROJECTING, evidence_status=None),
        "INVOCATION_NOT_READY",
    ),
    "another id": (stored("call_0004"), "INVOCATION_ID_MISMATCH"),
    "an unknown tool": (stored("call_0003", tool="rm"), "TOOL_UNSUPPORTED"),
    "no JSON": (stored("call_0003", result=b"{"), "AGENT_RESULT_UNPARSABLE"),
    "a contradiction": (stored("call_0003", result=contradictory()), "AGENT_RESULT_INCONSISTENT"),
    "altered bytes": (stored("call_0003", result_digest="1" * 64), "AGENT_RESULT_INCONSISTENT"),
    "another status": (
        stored("call_0003", evidence_status=EvidenceStatus.NO_EVIDENCE),
        "AGENT_RESULT_INCONSISTENT",
    ),
    "a negative": (stored("call_0003", found=False), "EVIDENCE_KIND_MISMATCH"),
}


def ledger(third: StoredCall | None = None) -> LedgerSnapshot:
    """Two honest records, one found and one empty, and a third as told."""
    calls = {"call_0001": stored("call_0001"), "call_0002": stored("call_0002", found=False)}
    if third is not None:
        calls["call_0003"] = third
    return LedgerSnapshot(RUN_ID, TENANT, calls, frozenset({"probe"}))


words = st.text("abc xyz", min_size=1, max_size=12).filter(str.strip)


@st.composite
def honest_drafts(draw: st.DrawFn) -> dict[str, Any]:
    """A draft of one to four analyses whose every citation is real."""
    count = draw(st.integers(1, 4))
    kinds = ["NORMAL", *draw(st.lists(st.sampled_from(["NORMAL", "NEGATIVE_OBSERVATION"]),
             min_size=count - 1, max_size=count - 1))]  # fmt: skip
    analyses = [
        {
            "id": f"A{place}",
            "kind": kind,
            "body": draw(words),
            "tool_call_ids": ["call_0001" if kind == "NORMAL" else "call_0002"],
        }
        for place, kind in enumerate(kinds, start=1)
    ]
    ids = st.lists(st.sampled_from([item["id"] for item in analyses]), min_size=1, unique=True)

    def bound() -> dict[str, Any]:
        return {"text": draw(words), "based_on_analysis_ids": draw(ids)}

    return {
        "analyses": analyses,
        "conclusion": bound(),
        "action_plan": [bound() for _ in range(draw(st.integers(0, 2)))],
        "recommendations": [bound() for _ in range(draw(st.integers(0, 2)))],
        "limitations": {"scope": draw(words), "missing_info": []},
    }


def codes(draft: object, known: LedgerSnapshot) -> set[str]:
    """The codes that the guard gives; empty for a verified draft."""
    checked = check_evidence(read_candidate(draft), known)
    if isinstance(checked, VerifiedDraft):
        return set()
    return {str(item.code) for item in checked.violations}


@pytest.mark.spec("G0", "G1", "G6", "G7", "L7")
@settings(max_examples=300)
@given(honest_drafts())
def test_an_honest_draft_is_verified_and_its_evidence_is_the_ledgers(draft: dict[str, Any]) -> None:
    checked = check_evidence(read_candidate(draft), ledger())
    assert isinstance(checked, VerifiedDraft)
    assert {call.tool_call_id for call in checked.snapshot.calls} <= {"call_0001", "call_0002"}
    assert all(call.envelope.scope == SCOPE for call in checked.snapshot.calls)


@pytest.mark.spec("G7", "G8", "G10", "N8", "N9", "N13", "C3")
@pytest.mark.fault("R4", "R69")
@pytest.mark.parametrize("lie", FOREIGN)
@settings(max_examples=100)
@given(data=st.data())
def test_a_record_that_may_not_be_cited_is_refused_by_its_own_code(
    lie: str, data: st.DataObject
) -> None:
    draft = data.draw(honest_drafts())
    record, code = FOREIGN[lie]
    normal = [item for item in draft["analyses"] if item["kind"] == "NORMAL"]
    data.draw(st.sampled_from(normal))["tool_call_ids"].append("call_0003")
    assert codes(draft, ledger(record)) == {code}


@pytest.mark.spec("G7", "G10")
@settings(max_examples=300)
@given(honest_drafts(), st.text(max_size=80), st.data())
def test_an_id_that_was_never_given_is_unknown_or_malformed(
    draft: dict[str, Any], invented: str, data: st.DataObject
) -> None:
    look_alike = st.sampled_from(["саll_0001", "call_０００1", "call_0001\u200b", " call_0001"])
    id_ = data.draw(st.just(invented) | look_alike | st.just("call_9999"))
    if id_ in {"call_0001", "call_0002"}:
        return
    data.draw(st.sampled_from(draft["analyses"]))["tool_call_ids"].append(id_)
    assert codes(draft, ledger()) <= {"TOOL_CALL_ID_MALFORMED", "INVOCATION_NOT_FOUND"}
    assert codes(draft, ledger())


Lie = Callable[[dict[str, Any]], object]

STRUCTURAL: dict[str, tuple[Lie, str]] = {
    "no analyses": (lambda d: d.update(analyses=[]), "ANALYSES_MISSING"),
    "no id": (lambda d: d["analyses"][0].pop("id"), "ANALYSIS_ID_MISSING"),
    "twice the same id": (
        lambda d: d["analyses"].append(copy.deepcopy(d["analyses"][0])),
        "ANALYSIS_ID_DUPLICATE",
    ),
    "an invented kind": (
        lambda d: d["analyses"][0].update(kind="PROVED"),
        "ANALYSIS_KIND_INVALID",
    ),
    "no body": (lambda d: d["analyses"][0].pop("body"), "ANALYSIS_BODY_MISSING"),
    "no citation": (lambda d: d["analyses"][0].update(tool_call_ids=[]), "ANALYSIS_UNBOUND"),
    "an unbound conclusion": (
        lambda d: d["conclusion"].update(based_on_analysis_ids=[]),
        "CONCLUSION_UNBOUND",
    ),
    "an unbound action": (
        lambda d: d["action_plan"].append({"text": "a", "based_on_analysis_ids": []}),
        "ACTION_UNBOUND",
    ),
    "an unbound recommendation": (
        lambda d: d["recommendations"].append({"text": "a", "based_on_analysis_ids": []}),
        "RECOMMENDATION_UNBOUND",
    ),
    "an unknown analysis": (
        lambda d: d["conclusion"]["based_on_analysis_ids"].append("A9"),
        "ANALYSIS_REF_UNKNOWN",
    ),
    "no limitations": (lambda d: d.pop("limitations"), "LIMITATIONS_MISSING"),
    "no scope": (lambda d: d["limitations"].pop("scope"), "LIMITATIONS_SCOPE_MISSING"),
}


@pytest.mark.spec("G1", "G2", "G3", "G4", "G5", "G6", "G10")
@pytest.mark.parametrize("lie", STRUCTURAL)
@settings(max_examples=60)
@given(draft=honest_drafts())
def test_a_broken_structure_is_refused_by_its_own_code(lie: str, draft: dict[str, Any]) -> None:
    tell, code = STRUCTURAL[lie]
    tell(draft)
    assert code in codes(draft, ledger())


@pytest.mark.spec("G0", "G10")
def test_every_violation_is_reported_at_once_and_every_code_is_explained() -> None:
    broken = {"analyses": [{"kind": "x"}], "conclusion": {"text": "a"}, "action_plan": [{}]}
    found = codes(broken, ledger())
    assert {
        "ANALYSIS_ID_MISSING",
        "ANALYSIS_KIND_INVALID",
        "ANALYSIS_BODY_MISSING",
        "ANALYSIS_UNBOUND",
        "CONCLUSION_UNBOUND",
        "ACTION_UNBOUND",
        "LIMITATIONS_MISSING",
    } <= found
    assert set(EXPLANATIONS) == set(EvidenceCode)


@pytest.mark.spec("G8")
def test_a_mixed_analysis_is_refused() -> None:
    draft = {
        "analyses": [
            {"id": "A1", "kind": "NORMAL", "body": "b", "tool_call_ids": ["call_0001", "call_0002"]}
        ],
        "conclusion": {"text": "c", "based_on_analysis_ids": ["A1"]},
        "limitations": {"scope": "s"},
    }
    assert codes(draft, ledger()) == {"EVIDENCE_KIND_MISMATCH"}


@pytest.mark.spec("G11")
def test_a_record_cited_many_times_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    known, reads = ledger(), []
    parse = Envelope.model_validate_json

    def counted(content: bytes) -> Envelope:
        reads.append(content)
        return parse(content)

    monkeypatch.setattr(Envelope, "model_validate_json", counted)
    analyses = [
        {"id": f"A{n}", "kind": "NORMAL", "body": "b", "tool_call_ids": ["call_0001"]}
        for n in range(50)
    ]
    draft = {
        "analyses": analyses,
        "conclusion": {"text": "c", "based_on_analysis_ids": ["A1"]},
        "limitations": {"scope": "s"},
    }
    assert codes(draft, known) == set()
    assert len(reads) == 1


@pytest.mark.spec("L7")
def test_a_verified_draft_cannot_be_made_copied_or_changed_elsewhere() -> None:
    draft = {
        "analyses": [{"id": "A1", "kind": "NORMAL", "body": "b", "tool_call_ids": ["call_0001"]}],
        "conclusion": {"text": "c", "based_on_analysis_ids": ["A1"]},
        "limitations": {"scope": "s"},
    }
    checked = check_evidence(read_candidate(draft), ledger())
    assert isinstance(checked, VerifiedDraft)
    for forge in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError):
            forge(checked)
    with pytest.raises(AttributeError):
        checked.candidate = read_candidate({})
    with pytest.raises(TypeError):
        VerifiedDraft(object(), checked.candidate, checked.snapshot)
    assert not isinstance(Refused(()), VerifiedDraft)
