"""What is a draft, and what is none (G0, Q4, D10)."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from affidavit.contract.draft import DraftUnreadable
from affidavit.release.reading import DRAFT_BYTES_MAX, concludes, read_draft, read_json

DRAFT = {
    "analyses": [{"id": "A1", "kind": "NORMAL", "body": "It broke.", "tool_call_ids": ["c1"]}],
    "conclusion": {"text": "It broke.", "based_on_analysis_ids": ["A1"]},
    "limitations": {"scope": "all"},
}
TEXT = json.dumps(DRAFT)


@pytest.mark.spec("G0")
@pytest.mark.fault("R49")
@pytest.mark.parametrize(
    "written",
    [
        TEXT,
        f"\n  {TEXT}\n",
        f"Now I have all I need.\n\n```json\n{TEXT}\n```\nDone.",
        f"```\n{TEXT}\n```",
    ],
)
def test_one_object_is_a_draft(written: str) -> None:
    """Alone, or in the one fenced block of a text; the prose around it reaches nobody."""
    candidate = read_draft(written.encode())
    assert candidate == read_draft(TEXT.encode())
    assert concludes(candidate)


@pytest.mark.spec("Q4", "D10")
@pytest.mark.fault("R13", "R24", "R48", "R50")
@pytest.mark.parametrize(
    "written",
    [
        "",
        "I will look at the logs next.",
        TEXT[: len(TEXT) // 2],
        f"[{TEXT}]",
        f"{TEXT}{TEXT}",
        f"```json\n{TEXT}\n```\n```json\n{TEXT}\n```",
        f"Prose before {TEXT}",
        f"```json\n{TEXT[:-5]}\n```",
        '{"analyses": [], "analyses": []}',
        '{"analyses": NaN}',
        '{"limitations": {"scope": "\\ud800"}}',
        "[" * 5_000,
        '{"a":' * 5_000,
        "null",
        '"text"',
    ],
)
def test_anything_else_is_none(written: str) -> None:
    """Cut short, doubled, wrapped, ambiguous, or no JSON at all: nothing is completed by rule."""
    with pytest.raises(DraftUnreadable):
        read_draft(written.encode())


@pytest.mark.spec("C15")
@pytest.mark.parametrize("content", [b" " * (DRAFT_BYTES_MAX + 1), b'{"a": "\xff"}'])
def test_size_and_encoding_are_bounded(content: bytes) -> None:
    """Before anything is parsed."""
    with pytest.raises(DraftUnreadable):
        read_draft(content)


@pytest.mark.spec("L3")
@pytest.mark.parametrize("conclusion", [None, "", "  ", {}, {"text": ""}, {"text": None}, []])
def test_an_empty_conclusion_concludes_nothing(conclusion: object) -> None:
    """It is neither repaired nor judged."""
    written = json.dumps({**DRAFT, "conclusion": conclusion})
    assert not concludes(read_draft(written.encode()))


@pytest.mark.fault("R53")
def test_a_tool_call_written_as_text_concludes_nothing() -> None:
    """It is an object without analyses or conclusion."""
    assert not concludes(read_draft(b'{"name": "get_logs", "arguments": {}}'))


def test_decimals_stay_exact() -> None:
    """A number in a statement is the decimal that was written."""
    assert read_json("[0.1, 1e400]") == [Decimal("0.1"), Decimal("1e400")]
