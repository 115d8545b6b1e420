"""One sentence against results that a test writes: what the checker holds against it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from affidavit.contract.draft import read_candidate
from affidavit.tools.supplied import read_gate_input, supplied_ledger
from affidavit.verify.evidence import VerifiedDraft, check_evidence
from affidavit.verify.review import review_draft
from affidavit.verify.sentences import Part
from tests.support.runs import RUN_ID, TENANT

WINDOW = {"start": "2026-05-19T08:00:00Z", "end": "2026-05-19T12:00:00Z"}
DATA = Path(__file__).parents[1] / "data" / "sentences"
PLAIN = "The results that were read are cited."


def held_against(
    text: str,
    *calls: dict[str, Any],
    kind: str = "NORMAL",
    question: str = "What is wrong?",
    conclusion: bool = False,
) -> tuple[str, ...]:
    """Every code and note against the sentence; none when it is proved.

    It stands as the body of an analysis that cites every call, or as a conclusion on one that says
    nothing.
    """
    cited = [item["id"] for item in calls if item["status"] != "error"]
    analyses = [{"id": "A1", "kind": kind, "body": PLAIN if conclusion else text,
                 "tool_call_ids": cited}]  # fmt: skip
    read = read_gate_input(
        {
            "question": question,
            "window": WINDOW,
            "tool_calls": list(calls),
            "draft": {
                "analyses": analyses,
                "conclusion": {"text": text if conclusion else PLAIN,
                               "based_on_analysis_ids": ["A1"]},
                "limitations": {"scope": "what was read"},
            },
        }
    )  # fmt: skip
    ledger = supplied_ledger(read, RUN_ID, TENANT)
    draft = check_evidence(read_candidate(read.draft), ledger)
    assert isinstance(draft, VerifiedDraft), draft
    wanted = {Part.CONCLUSION} if conclusion else {Part.ANALYSIS, Part.NEGATIVE}
    found = [
        note
        for review in review_draft(draft.candidate, draft.snapshot, read.question)
        if review.sentence.part in wanted
        for note in (*review.notes, *(code.value for code in review.codes))
    ]
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class Said:
    """A true sentence, lies beside it, and the calls that both are held against."""

    true: str
    lies: tuple[str, ...]
    calls: tuple[dict[str, Any], ...]
    kind: str
    question: str
    conclusion: bool


def read_sayings(name: str) -> tuple[Said, ...]:
    """The sentences of a file in tests/data/sentences, each with the calls that it names."""
    read = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    calls = {item["id"]: item for item in read["calls"]}
    return tuple(
        Said(
            item["true"],
            tuple(item["lies"]),
            tuple(calls[wanted] for wanted in item.get("calls", calls)),
            item.get("kind", "NORMAL"),
            item.get("question", "What is wrong?"),
            item.get("conclusion", False),
        )
        for item in read["sentences"]
    )


def misjudged(said: Said) -> list[str]:
    """What the checker gets wrong of a true sentence and the lies beside it; none if nothing."""
    against = _against(said, said.true)
    wrong = [f"refused: {said.true} {against}"] if against else []
    return wrong + [f"passed: {lie}" for lie in said.lies if not _against(said, lie)]


def _against(said: Said, text: str) -> tuple[str, ...]:
    return held_against(
        text,
        *said.calls,
        kind=said.kind,
        question=said.question,
        conclusion=said.conclusion,
    )
