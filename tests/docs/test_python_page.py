"""docs/python.md: the code on the page runs, and does what the page says."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any, Final

import pytest

import affidavit
import affidavit.testing

PAGE: Final = Path(__file__).parents[2] / "docs" / "python.md"


def blocks(page: str) -> list[str]:
    """The Python of a page, in its order."""
    return re.findall(r"(?ms)^```python\n(.*?)^```$", page)


async def execute(code: str, names: dict[str, Any]) -> None:
    """Run one block, which may await, over the names of those before it."""
    compiled = compile(code, str(PAGE), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    running = eval(compiled, names)  # with top-level await this gives a coroutine
    if inspect.iscoroutine(running):
        await running


@pytest.mark.spec("H1", "H3", "H10")
async def test_the_code_on_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    *story, scripted = blocks(PAGE.read_text(encoding="utf-8"))
    assert len(story) >= 5
    names: dict[str, Any] = {}
    await execute(scripted, names)
    for code in story:
        await execute(code, names)
    said = capsys.readouterr().out
    assert "DONE\nSUCCESS\nFALLBACK\n" in said
    assert "failed requests" in said
    names["model"].asked.clear()  # the script from its beginning
    ten, frozen = names["TEN"], names["frozen"]
    done = await frozen.run("Why?", window=names["Window"](start=ten, end=ten))
    lines = [str(entry.data) for entry in await frozen.journal(done.run_id)]
    assert any("NIGHT_FREEZE" in line for line in lines), "the page's guard takes part"


def test_the_page_names_the_whole_public_face() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for name in (*affidavit.__all__, *affidavit.testing.__all__):
        assert f"`{name}`" in page, name
