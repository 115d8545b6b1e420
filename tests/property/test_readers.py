"""Laws of the readers: total, bounded, verbatim, deterministic, linear."""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from types import FrameType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import affidavit.tools.readers
from affidavit.contract.evidence import Envelope, Line, Row, Scope, Window
from affidavit.contract.states import Emitter
from affidavit.tools.readers.bounds import CELLS_MAX, FACT_CHARS_MAX, FACTS_MAX
from affidavit.tools.readers.result import RawResult, read_result
from affidavit.tools.readers.words import clean

WINDOW = Window(start=datetime(2031, 5, 4, 1, tzinfo=UTC), end=datetime(2031, 5, 4, 3, tzinfo=UTC))
TOOLS = ("kubectl_logs", "kubectl_describe", "pg_query", "prometheus_query", "get_trace", "tool")

FRAGMENTS = (
    'a="', '\\"', '"GET ', "GET /x?", "http://", "request: ", "path=", "=", '"', " ", "  ", "\t",
    "|", "-", "---+---", "(", ")", "[", "]", "{", "}", ": ", ",", "...", "\tat a.B(C.java:1)",
    "Caused by: ", "a.BError: x", "Warning", "12:34:56 ", "2031-05-04T01:10:00Z ", "ERROR ",
    "key: v", "Name:  x", "- ", "├─ op (svc) - 5ms", "└── ", "CN = x",
    "notAfter=May  4 01:00:00 2031",
    "no results", "stdout:\n", "\x1b[31m", "%", "a,b", "NAME   READY   STATUS",
    "HTTP/1.1 200 OK", "7 rows", "(3 rows)", "5000ms", "1/2", "\n", "\n", "\n  ", "\n\n", "é",
    '{"a": 1}', "[]", "a: &x [*x]", "\u202e", "\x00",
)  # fmt: skip

scraps = st.lists(st.sampled_from(FRAGMENTS), max_size=60).map("".join)
texts = st.one_of(scraps, st.text(max_size=300))
keys = st.one_of(
    st.sampled_from(
        "name metadata items spans spanID parent durationMs message level timestamp values result "
        "metric stream data error status content text events type time url rows Datapoints".split()
    ),
    st.text(max_size=12),
)
leaves = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), texts, st.sampled_from(FRAGMENTS)
)
documents = st.recursive(
    leaves,
    lambda inner: st.one_of(st.lists(inner, max_size=5), st.dictionaries(keys, inner, max_size=5)),
    max_leaves=25,
)


def envelope_of(result: object, tool: str = "tool", **said: Any) -> Envelope | None:
    """The envelope of a result, or None where the call failed."""
    raw = RawResult(
        tool=tool,
        arguments={"service": "gate"},
        result=result,
        scope=Scope(tenant="t", window=WINDOW),
        observed_at=WINDOW.end,
        **said,
    )
    found = read_result(raw)
    return found if isinstance(found, Envelope) else None


@pytest.mark.spec("T5", "T3", "C15")
@given(
    st.one_of(documents, texts),
    st.sampled_from(TOOLS),
    st.sampled_from(["success", "no_data", "error"]),
    st.one_of(st.none(), st.integers(0, 50)),
)
@settings(max_examples=250, deadline=None)
def test_any_result_is_read_truthfully_and_within_bounds(
    result: object, tool: str, status: str, total: int | None
) -> None:
    """Whatever it is, there is an envelope that does not contradict itself, or an error."""
    envelope = envelope_of(result, tool, status=status, total=total)
    if envelope is None:
        return
    assert envelope.contradiction() is None
    assert len(envelope.facts) <= FACTS_MAX
    for fact in envelope.facts:
        if isinstance(fact, Row):
            assert len(fact.cells) <= CELLS_MAX
            assert all(len(cell.text or "") <= FACT_CHARS_MAX for cell in fact.cells)
        if isinstance(fact, Line):
            assert len(fact.text) <= FACT_CHARS_MAX
    again = Envelope.model_validate_json(envelope.model_dump_json())
    assert again == envelope


@pytest.mark.spec("T5")
@given(texts, st.sampled_from(TOOLS))
@settings(max_examples=250, deadline=None)
def test_every_line_of_a_text_stays_quotable(text: str, tool: str) -> None:
    """Word for word, whichever reader took it, but for documents, whose leaves are quotable."""
    envelope = envelope_of(text, tool)
    if envelope is None or envelope.truncated or not envelope.facts:
        return
    if envelope.notes[0] in ("shape: document", "shape: record", "shape: series"):
        return
    quotable = "\n".join(fact.text for fact in envelope.facts if isinstance(fact, Line))
    for line in clean(text).split("\n"):
        framed = line.strip() in ("", "stdout:", "stderr:") or "stdout:" in text
        assert framed or line.rstrip() in quotable


@pytest.mark.spec("T5")
@given(st.one_of(documents, texts), st.sampled_from(TOOLS))
@settings(max_examples=60, deadline=None)
def test_reading_twice_gives_the_same(result: object, tool: str) -> None:
    """No order of a set, no clock, no chance."""
    assert envelope_of(result, tool) == envelope_of(result, tool)


@pytest.mark.spec("C13", "N16")
@given(st.from_regex(r"[a-z]{3,8}(_because_[a-z]{3,8}){1,3}", fullmatch=True), st.integers(0, 4))
@settings(max_examples=80, deadline=None)
def test_a_caller_s_words_are_marked_wherever_they_stand(words: str, place: int) -> None:
    """In a path, a query, an agent, a referrer, a field."""
    line = (
        f'192.0.2.7 - - [04/May/2031:01:10:00 +0000] "GET /{words} HTTP/1.1" 404 7 "-" "x"',
        f"2031-05-04T01:10:00Z INFO served GET /a?q={words} 200",
        f'192.0.2.7 - - [04/May/2031:01:10:00 +0000] "GET / HTTP/1.1" 404 7 "-" "{words}"',
        f'192.0.2.7 - - [04/May/2031:01:10:00 +0000] "GET / HTTP/1.1" 404 7 "{words}" "x"',
        f'2031-05-04T01:10:00Z INFO done user_agent="{words}"',
    )[place]
    envelope = envelope_of(line, "kubectl_logs")
    assert envelope is not None
    for fact in envelope.facts:
        if isinstance(fact, Line):
            assert fact.emitter is Emitter.REQUEST or words not in fact.text
        if isinstance(fact, Row):
            assert all(
                cell.emitter is Emitter.REQUEST or words not in (cell.text or "")
                for cell in fact.cells
            )


def work_of(text: str, tool: str) -> int:
    """Calls of Python functions that one reading takes: a clock that no machine disturbs."""
    calls = 0

    def count(_frame: FrameType, event: str, _arg: object) -> None:
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        envelope_of(text, tool)
    finally:
        sys.setprofile(before)
    return calls


@given(
    st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=4).map("".join),
    st.sampled_from(TOOLS),
)
@settings(max_examples=40, deadline=None)
def test_four_times_the_text_is_about_four_times_the_work(unit: str, tool: str) -> None:
    """Work grows with the text: eight times for four times is the most that noise may make."""
    times = max(1, 1_500 // len(unit))
    small, large = work_of(unit * times, tool), work_of(unit * times * 4, tool)
    assert large <= 8 * small + 2_000


def patterns() -> Iterator[tuple[str, str]]:
    """Every regular expression of the readers, with where it stands."""
    for module in pkgutil.iter_modules(affidavit.tools.readers.__path__):
        loaded = importlib.import_module(f"affidavit.tools.readers.{module.name}")
        for name, value in vars(loaded).items():
            for one in value if isinstance(value, tuple) else (value,):
                if isinstance(one, re.Pattern):
                    yield f"{module.name}.{name}", one.pattern


def nested_repeats(node: Any, inside: bool = False) -> bool:
    """Whether a parsed pattern repeats without bound something that itself repeats."""
    for op, value in node:
        name = str(op)
        parts: list[Any] = []
        repeats = name in ("MAX_REPEAT", "MIN_REPEAT") and value[1] > 1
        if name in ("MAX_REPEAT", "MIN_REPEAT"):
            unbounded = str(value[1]) == "MAXREPEAT"
            if inside and repeats:
                return True
            if nested_repeats(value[2], inside or unbounded):
                return True
        elif name == "SUBPATTERN":
            parts = [value[3]]
        elif name == "BRANCH":
            parts = value[1]
        elif name in ("ASSERT", "ASSERT_NOT"):
            parts = [value[1]]
        if any(nested_repeats(part, inside) for part in parts):
            return True
    return False


@pytest.mark.parametrize(("where", "pattern"), list(patterns()))
def test_no_pattern_repeats_a_repeat_without_bound(where: str, pattern: str) -> None:
    """The form from which exponential matching comes stands nowhere."""
    parser = importlib.import_module("re._parser")
    assert not nested_repeats(parser.parse(pattern)), where


def test_the_pattern_law_can_fail() -> None:
    """`(a+)+` is what it forbids."""
    parser = importlib.import_module("re._parser")
    assert nested_repeats(parser.parse("(a+)+"))
    assert not nested_repeats(parser.parse("(ab)+c{2,5}"))
