"""How the statement tests check one statement against supplied results."""

from __future__ import annotations

from typing import Any

from affidavit.contract.draft import read_candidate
from affidavit.contract.violations import SupportCode
from affidavit.tools.supplied import read_gate_input, supplied_ledger
from affidavit.verify.evidence import VerifiedDraft, check_evidence
from affidavit.verify.statements import prove
from affidavit.verify.statements.outcome import Proved
from affidavit.verify.statements.records import Evidence, read_evidence
from tests.support.runs import RUN_ID, TENANT

HOUR = {"start": "2031-05-04T01:00:00Z", "end": "2031-05-04T02:00:00Z"}


def evidence_of(*calls: dict[str, Any]) -> Evidence:
    """The records of supplied calls, read as any other; ids are a, b, c."""
    named = [
        {"id": name, "status": "success", **call} for name, call in zip("abc", calls, strict=False)
    ]
    kinds = {call["id"]: call["status"] for call in named}
    read = read_gate_input(
        {
            "question": "What happened?",
            "window": HOUR,
            "tool_calls": named,
            "draft": {
                "analyses": [
                    {
                        "id": name,
                        "kind": "NEGATIVE_OBSERVATION" if kind == "no_data" else "NORMAL",
                        "body": "Something was seen.",
                        "tool_call_ids": [name],
                    }
                    for name, kind in kinds.items()
                ],
                "conclusion": {"text": "Something.", "based_on_analysis_ids": list(kinds)},
                "limitations": {"scope": "all"},
            },
        }
    )
    draft = check_evidence(read_candidate(read.draft), supplied_ledger(read, RUN_ID, TENANT))
    assert isinstance(draft, VerifiedDraft), draft
    return read_evidence(draft.snapshot.calls)


def check(evidence: Evidence, **statement: Any) -> SupportCode | None:
    """None for a proved statement, else the code against it; `from_` is the field `from`."""
    raw = {"tool_call_id": "a", **{key.rstrip("_"): value for key, value in statement.items()}}
    outcome = prove(raw, evidence, tuple(evidence.calls)).outcome
    return None if isinstance(outcome, Proved) else outcome.code
