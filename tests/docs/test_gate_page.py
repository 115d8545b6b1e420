"""docs/gate.md and its schema are what the gate reads."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest

import affidavit.tools
from affidavit.application.gate import read_order
from tests.support.gates import gated

DOCS: Final = Path(__file__).parents[2] / "docs"
SCHEMA: Final = DOCS / "gate.schema.json"


def example() -> str:
    """The input that the page shows."""
    (shown,) = re.findall(r"```json\n(.*?)```", (DOCS / "gate.md").read_text("utf-8"), re.DOTALL)
    assert isinstance(shown, str)
    return shown


def test_the_schema_on_the_page_is_the_one_that_ships() -> None:
    """Two copies, one content."""
    shipped = Path(affidavit.tools.__file__).parent / "gate.schema.json"
    assert json.loads(SCHEMA.read_text("utf-8")) == json.loads(shipped.read_text("utf-8"))


@pytest.mark.spec("C4")
async def test_the_example_is_read_and_goes_through() -> None:
    """Whoever copies it gets an answer."""
    order = read_order(example().encode())
    assert order.answer.answer is not None
    run = await gated(json.loads(example()))
    assert str(run.release.outcome) == "SUCCESS"


@pytest.mark.spec("C4")
def test_the_schema_and_the_reader_know_the_same_fields() -> None:
    """Each field of the schema is read; one that it does not know is refused."""
    schema: dict[str, Any] = json.loads(SCHEMA.read_text("utf-8"))
    call = schema["properties"]["tool_calls"]["items"]
    values: dict[str, object] = {
        "arguments": {},
        "status": "success",
        "error": None,
        "started_at": "2026-03-02T10:00:00Z",
        "completed_at": "2026-03-02T10:00:01Z",
        "total": 1,
        "truncated": False,
        "emitter": "platform",
        "evidence_class": "OBSERVATION",
    }
    whole = {name: values.get(name, "x") for name in call["properties"]}
    top = {"question": "q", "agent": "a", "answer": "x", "tool_calls": [whole]}
    known = {*top, "window", "draft"}
    assert set(schema["properties"]) == known
    read = read_order(json.dumps(top).encode()).answer
    assert read.tool_calls[0].total == 1
