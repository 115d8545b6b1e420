"""One self-contained page: every sentence opens its evidence, and no text is markup."""

from __future__ import annotations

import ast
import base64
import json
import re
import unicodedata
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.adapters.memory_store import MemoryStore
from affidavit.affidavit import markup
from affidavit.affidavit.document import read_document
from affidavit.affidavit.markup import Markup, data, inline, join, tag, text, visible
from affidavit.affidavit.page import Standing, policy, render_page
from affidavit.affidavit.page_custody import LINK_CHARS_MAX, _file
from affidavit.affidavit.page_style import SCRIPT, STYLE
from affidavit.affidavit.seal import parts_of
from affidavit.contract.agent import GiveUp
from affidavit.contract.report import ReleaseRecord
from affidavit.contract.states import ReleaseOutcome
from affidavit.diagnose import drive, start
from tests.simulation.test_release_table import CASES, Case
from tests.support.checking import recheck
from tests.support.pages import HARMLESS, HOSTILE, page_of, structure_of, worded
from tests.support.runs import RUN_ID
from tests.support.runs import request as asked_for
from tests.support.worlds import act, conclude, world
from tests.unit.affidavit.files import file_in, sealed_by

PACKAGE = Path(markup.__file__).parents[1]


@pytest.fixture(scope="module")
def published() -> bytes:
    """A published file with a positive analysis and an absence that was looked for."""
    return sealed_by([act("probe"), conclude()])


@pytest.fixture(scope="module")
def fallen_back() -> bytes:
    """A fallback with facts."""
    return sealed_by([act("probe", "search", "down"), GiveUp("nothing more to ask")])


def page(content: bytes, standing: Standing | None = None) -> str:
    return render_page(content, recheck(content), standing)


@pytest.mark.spec("A5", "C10")
def test_each_sentence_opens_its_chain_down_to_the_fact(published: bytes) -> None:
    """sentence → statement → call → fact, with source, window, class and whose words."""
    shown = " ".join(" ".join(structure_of(page(published)).texts).split())
    for words in ("The errors of checkout were 5.", "statement: value", "call_0001", "fact #0"):
        assert words in shown
    for words in ("OBSERVATION", "whose words", "recorded: we executed this call", "Conclusion"):
        assert words in shown
    sentences = len(re.findall(r'<details class="sentence">', page(published)))
    report = read_document(published).release.result
    assert report is not None
    assert sentences == sum(len(part.sentences) for _, part in parts_of(report))


@pytest.mark.spec("A5", "C9", "C11", "N6")
def test_a_fallback_is_as_clear_as_a_result(fallen_back: bytes) -> None:
    shown = " ".join(structure_of(page(fallen_back)).texts)
    assert "No root cause is confirmed" in shown
    assert "Verified facts" in shown
    assert "Looked for and not found" in shown
    assert "Nothing matched" in shown
    assert "What to do next" in shown
    assert "Not looked at: " in shown, "a source that failed stands in plain view"
    assert "Conclusion" not in shown


@pytest.mark.spec("A5", "E7")
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.decision} {case.name}")
def test_every_row_of_the_release_table_has_its_page(case: Case) -> None:
    content = anyio.run(_file_of_case, case)
    release = read_document(content).release
    shown = page(content)
    structure = structure_of(shown)
    assert f"word {release.outcome}" in [value for _, name, value in structure.attributes]
    assert ("id", "answer") in [(name, value) for _, name, value in structure.attributes]
    if release.outcome is not ReleaseOutcome.SUCCESS:
        assert "Conclusion" not in structure.texts
    assert "RELEASE_DECISION" in shown


async def _file_of_case(case: Case) -> bytes:
    store = MemoryStore()
    told = world(case.script, store=store, judge=case.judge(), repairer=case.repairer)
    await start(told, asked_for(limits=case.limits))
    await drive(RUN_ID, told)
    return await file_in(store)


@pytest.mark.spec("A5")
def test_the_page_says_that_it_is_not_signed_and_holds_the_file(published: bytes) -> None:
    shown = page(published)
    assert "This page itself is not signed." in shown
    (held,) = re.findall(r'href="data:application/octet-stream;base64,([^"]+)"', shown)
    assert base64.b64decode(held, validate=True) == published
    assert 'download="run_0123456789abcdef.affidavit"' in shown


@pytest.mark.spec("A5")
def test_a_file_too_long_for_an_address_waits_in_a_block() -> None:
    content = b"x" * LINK_CHARS_MAX
    shown = join(*_file(content, "run_1"))
    (held,) = re.findall(r'<script type="application/octet-stream" id="held">([^<]+)<', shown)
    assert base64.b64decode(held, validate=True) == content
    assert "href" not in shown
    assert "<noscript>" in shown


@pytest.mark.spec("A5")
def test_nothing_is_loaded_and_nothing_runs_but_what_the_policy_names(published: bytes) -> None:
    structure = structure_of(page(published))
    assert policy().startswith("default-src 'none';")
    assert "unsafe" not in policy()
    assert ("http-equiv", "Content-Security-Policy") in [
        (name, value) for _, name, value in structure.attributes
    ]
    for element, name, value in structure.attributes:
        assert not name.startswith("on"), "no inline handler"
        assert name not in {"style", "src", "srcset", "action", "formaction", "ping"}
        if name == "href":
            assert value is not None
            assert value.startswith(("#", "data:application/octet-stream;base64,")), element
    assert structure.elements.count("<script >") == 1
    assert structure.elements.count("<style >") == 1
    assert not re.search(r"url\(|@import|https?:", STYLE + SCRIPT)


@pytest.mark.spec("A5")
@pytest.mark.fault("R74")
@pytest.mark.parametrize("word", HOSTILE)
@pytest.mark.parametrize("kind", ["published", "fallen_back"])
def test_no_text_is_ever_markup(word: str, kind: str, request: pytest.FixtureRequest) -> None:
    """Whatever the words, the page has the same elements as with harmless ones."""
    content = request.getfixturevalue(kind)
    hostile = structure_of(page_of(worded(content, word)))
    harmless = structure_of(page_of(worded(content, HARMLESS)))
    assert hostile.elements == harmless.elements
    assert [item[:2] for item in hostile.attributes] == [item[:2] for item in harmless.attributes]
    everything = "".join(hostile.texts) + "".join(str(item[2]) for item in hostile.attributes)
    steering = {
        char
        for char in everything
        if unicodedata.category(char)[0] == "C" or unicodedata.category(char) in {"Zl", "Zp"}
    }
    assert steering <= {"\n", "\t"}
    assert visible(word)[:300] in "".join(hostile.texts)


@pytest.mark.fault("R74")
@given(st.text())
def test_a_text_reads_back_as_what_is_seen(words: str) -> None:
    """Escaping loses nothing, and makes no element, for any text."""
    structure = structure_of(join(tag("p", words, title=words), data(words)))
    assert structure.elements == ["<p title>", "</p>", "<bdi >", "</bdi>"]
    lines = visible(words)
    assert "".join(structure.texts) == lines * 2
    assert structure.attributes == [("p", "title", lines)]


@pytest.mark.fault("R74")
def test_only_one_file_makes_markup() -> None:
    """Every other module gets it from there, so that nothing unescaped can call itself safe."""
    makers = [
        module.relative_to(PACKAGE).as_posix()
        for module in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and "Markup" in {getattr(node.func, "id", ""), getattr(node.func, "attr", "")}
    ]
    assert set(makers) == {"affidavit/markup.py"}


def test_a_style_that_would_end_itself_is_refused() -> None:
    with pytest.raises(ValueError, match="end itself"):
        inline("style", "a{}</style>")


def test_markup_joins_as_it_is_and_text_does_not() -> None:
    assert join(text("<b>"), "<b>", None, tag("b")) == "&lt;b&gt;&lt;b&gt;<b></b>"
    assert isinstance(join("x"), Markup)
    assert tag("p", hidden=True, title=None, open=False) == "<p hidden></p>"


@pytest.mark.spec("L9")
def test_a_retracted_answer_says_so_above_everything(published: bytes) -> None:
    standing = Standing(True, "SUPERSEDED", "the clock was off", "ada", "2026-03-02", "run_2")
    shown = page(published, standing)
    assert shown.index("SUPERSEDED") < shown.index('id="answer"')
    assert "the clock was off" in shown
    assert "In its place: run " in shown


@pytest.mark.spec("L9")
def test_a_bare_file_says_that_it_cannot_know(published: bytes) -> None:
    assert "a file cannot know" in page(published)
    assert "a file cannot know" not in page(published, Standing(known=True))


@pytest.mark.spec("A5")
def test_of_an_altered_file_there_is_no_page(published: bytes) -> None:
    altered = published.replace(b"checkout were 5.", b"checkout were 9.")
    with pytest.raises(ValueError, match="intact"):
        page(altered)


@pytest.mark.spec("C12", "N18")
def test_supplied_evidence_is_called_so_above_the_answer(published: bytes) -> None:
    document = worded(published, HARMLESS)
    supplied = document.release.model_dump(mode="json") | {"provenance": "supplied"}
    release = ReleaseRecord.model_validate_json(json.dumps(supplied))
    shown = page_of(replace(document, release=release))
    assert shown.index("Supplied evidence.") < shown.index('id="answer"')
