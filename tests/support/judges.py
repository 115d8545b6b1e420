"""Models that judge: they read the request as a model would, and fill a worksheet, true or not."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from affidavit.ports.model import ModelAnswer, ModelRequest
from affidavit.testing.scripted_model import say

Sheet = dict[str, Any]

_ROW = re.compile(r'^(\d+) \[(\w+); evidence: (.*?)\] (".*")$', re.MULTILINE)


def sentences_in(request: ModelRequest) -> list[tuple[int, list[str], str]]:
    """Number, listed evidence and text of every sentence that the judge was shown."""
    shown = request.messages[0].text.rpartition("\nSentences:\n")[2]
    return [
        (int(row[1]), [] if row[3] == "none" else row[3].split(", "), json.loads(row[4]))
        for row in _ROW.finditer(shown)
    ]


def sheet_of(request: ModelRequest, against: Mapping[str, str] | None = None) -> Sheet:
    """A lawful worksheet: each sentence is supported by all that it cites, but for those in
    `against`, which names some words of a sentence and what is wrong with them."""
    rows = []
    for number, calls, text in sentences_in(request):
        found = [(words, issue) for words, issue in (against or {}).items() if words in text]
        rows.append(
            {
                "id": number,
                "evidence_ids": [] if found else calls,
                "unsupported_parts": [words for words, _ in found],
                "issue": found[0][1] if found else "NONE",
                "verdict": "UNSUPPORTED" if found else "SUPPORTED",
            }
        )
    over_all = {row["verdict"] for row in rows} == {"SUPPORTED"}
    verdict = "SUPPORTED" if over_all else "UNSUPPORTED"
    return {"sentences": rows, "verdict": verdict, "reason": "as the lines say"}


def judging(
    against: Mapping[str, str] | None = None,
    then: Callable[[Sheet], object] = lambda sheet: sheet,
) -> Callable[[ModelRequest], ModelAnswer]:
    """One answer of a judge, as a line of a `ScriptedModel`; `then` bends the worksheet, or says
    something else in its place."""

    def answer(request: ModelRequest) -> ModelAnswer:
        said = then(sheet_of(request, against))
        return say(said if isinstance(said, (str, dict)) else json.dumps(said))

    return answer
