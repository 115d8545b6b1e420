"""Labelled answers: what the gate is scored on, one JSON object a line.

    id, label, input      always; input is the gate's own (docs/gate.schema.json)
    category, why, lang   what kind of case it is
    scenario              cases of one scenario share their evidence; else `incident`, `source`

Everything else on a line is the authors' own, and nobody here looks at it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from affidavit.contract.errors import InputRefused
from affidavit.release.reading import read_json

LINE_BYTES_MAX: Final = 32_000_000
"""As large as the gate's own input may be."""


class Label(StrEnum):
    """What an author says of a case.

    WITHDRAWABLE: publishable once one sentence is taken back. NO_CONCLUSION: nothing is concluded,
    and what was seen is shown.
    """

    SUPPORTED = "SUPPORTED"
    UNSUPPORTED = "UNSUPPORTED"
    NO_CONCLUSION = "NO_CONCLUSION"
    WITHDRAWABLE = "WITHDRAWABLE"


class Form(StrEnum):
    """How an answer says what it says.

    TYPED: every positive analysis of a draft carries typed statements (an absence is its own
    citation); PARTLY_TYPED: some do; PROSE: none does; FREE_TEXT: there is no draft.
    """

    TYPED = "typed"
    PARTLY_TYPED = "partly typed"
    PROSE = "prose"
    FREE_TEXT = "free text"


@dataclass(frozen=True, slots=True)
class GateCase:
    """One labelled answer."""

    id: str
    label: Label
    category: str
    scenario: str
    form: Form
    answer: object


def read_cases(files: tuple[Path, ...]) -> tuple[GateCase, ...]:
    """Every case of these files. Raises InputRefused (CASES_REFUSED) with file and line."""
    return tuple(case for file in files for case in _cases_of(file))


def _cases_of(file: Path) -> Iterator[GateCase]:
    try:
        lines = file.read_bytes().splitlines()
    except OSError as error:
        raise _refused(file, 0, f"cannot be read: {error.strerror}") from None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            raw = read_json(line.decode("utf-8")) if len(line) <= LINE_BYTES_MAX else None
        except ValueError:
            raw = None
        if not isinstance(raw, Mapping):
            raise _refused(file, number, "is no JSON object")
        yield _case(file, number, raw)


def _case(file: Path, number: int, raw: Mapping[str, object]) -> GateCase:
    label = raw.get("label")
    if label not in {str(known) for known in Label}:
        raise _refused(file, number, f"has no label of {', '.join(Label)}")
    if not isinstance(raw.get("id"), str) or "input" not in raw:
        raise _refused(file, number, "lacks an id or an input")
    named = (raw.get(name) for name in ("scenario", "incident", "source", "id"))
    return GateCase(
        id=str(raw["id"]),
        label=Label(str(label)),
        category=str(raw.get("category") or "none"),
        scenario=next(str(name) for name in named if name),
        form=form_of(raw["input"]),
        answer=raw["input"],
    )


def form_of(answer: object) -> Form:
    """How an answer says what it says."""
    draft = answer.get("draft") if isinstance(answer, Mapping) else None
    if not isinstance(draft, Mapping):
        return Form.FREE_TEXT
    analyses = draft.get("analyses")
    factual = [
        _is_typed(item)
        for item in (analyses if isinstance(analyses, list) else ())
        if not (isinstance(item, Mapping) and item.get("kind") == "NEGATIVE_OBSERVATION")
    ]
    if any(factual):
        return Form.TYPED if all(factual) else Form.PARTLY_TYPED
    return Form.PROSE


def _is_typed(analysis: object) -> bool:
    if not isinstance(analysis, Mapping):
        return False
    sentences = analysis.get("sentences")
    parts = [analysis, *(sentences if isinstance(sentences, list) else ())]
    return any(isinstance(part, Mapping) and part.get("statements") for part in parts)


def _refused(file: Path, line: int, what: str) -> InputRefused:
    at = f"{file}, line {line}" if line else str(file)
    return InputRefused(
        f"{at} {what}",
        code="CASES_REFUSED",
        hint="one JSON object a line with id, label and input; see docs/gate.md",
    )
