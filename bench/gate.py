"""The gate's checks over many statements: how long, and is it linear?

    python bench/gate.py [STATEMENTS…]

One report of so many sentences, each with one typed statement, over as many records of one call:
EvidenceGuard and support check, the embedded judge's whole work. The spec asks for 1 000 statements
over 1 000 records in at most one second.
"""

# ruff: noqa: INP001 -- a script

from __future__ import annotations

import json
import sys
import time

from affidavit.affidavit.exact import write_exact
from affidavit.release.reading import read_draft
from affidavit.tools.supplied import read_gate_input, supplied_ledger
from affidavit.verify.evidence import VerifiedDraft, check_evidence
from affidavit.verify.support import check_support

SIZES = (250, 500, 1_000)
PART = 100
"""Sentences of one analysis; a list in a draft has at most 200."""

ROUNDS = 3
"""The best of so many; another process may have had the machine."""


def report(size: int) -> dict[str, object]:
    """So many sentences about as many rows."""
    rows = [{"name": f"pod-{place}", "restarts": place % 97 + 1} for place in range(size)]
    sentences = [
        {
            "text": f"{row['name']} had {row['restarts']} restarts.",
            "statements": [
                {
                    "tool_call_id": "pods",
                    "subject": row["name"],
                    "attribute": "restarts",
                    "value": row["restarts"],
                }
            ],
        }
        for row in rows
    ]
    draft = {
        "analyses": [
            {
                "id": f"A{start}",
                "kind": "NORMAL",
                "sentences": sentences[start : start + PART],
                "tool_call_ids": ["pods"],
            }
            for start in range(0, size, PART)
        ],
        "conclusion": {
            "text": str(sentences[0]["text"]),
            "sentences": sentences[:1],
            "based_on_analysis_ids": ["A0"],
        },
        "limitations": {"scope": "harbour"},
    }
    call = {"id": "pods", "tool": "get_pods", "status": "success", "result": {"pods": rows}}
    return {"question": "Which pods restarted?", "tool_calls": [call], "draft": draft}


def measure(size: int) -> tuple[float, int]:
    """Seconds of the checks, and how many sentences were refused."""
    raw = report(size)
    given = read_gate_input(raw)
    ledger = supplied_ledger(given, "run_1", "acme")
    candidate = read_draft(write_exact(raw["draft"]).encode("ascii"))
    best_s, refused = float("inf"), 0
    for _ in range(ROUNDS):
        began_s = time.perf_counter()
        verified = check_evidence(candidate, ledger)
        if not isinstance(verified, VerifiedDraft):
            raise SystemExit(f"the report is no report: {verified.violations[0]}")
        found = check_support(verified, ledger, given.question)
        best_s = min(best_s, time.perf_counter() - began_s)
        refused = len({item.sentence for item in found.refusals})
    return best_s, refused


def main() -> None:
    """Print one JSON line a size."""
    for size in tuple(map(int, sys.argv[1:])) or SIZES:
        seconds, refused = measure(size)
        line = {
            "statements": size,
            "records": size,
            "seconds": round(seconds, 3),
            "ms_per_statement": round(1000 * seconds / size, 3),
            "refused": refused,
        }
        print(json.dumps(line), flush=True)  # noqa: T201 - a script's output


if __name__ == "__main__":
    main()
