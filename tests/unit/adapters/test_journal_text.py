"""The text of a line: canonical, whole, and refused when somebody else wrote it."""

from __future__ import annotations

from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.adapters.journal_text import Row, read_line, write_line
from affidavit.contract.errors import RecordFailed
from affidavit.contract.journal import Entry, EventType
from affidavit.core.canonical import SAFE_INTEGER_MAX, canonical_json
from affidavit.core.chain import first_break
from affidavit.testing.journals import event, first_lines

KEYS = st.text(st.characters(max_codepoint=127), max_size=5)
LEAVES = st.none() | st.booleans() | st.integers(-SAFE_INTEGER_MAX, SAFE_INTEGER_MAX) | st.text()
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(KEYS, inner),
    max_leaves=20,
)


def line_of(value: object) -> Entry:
    """A chained line that holds the value."""
    (line,) = first_lines("run_0000000000000001", value=value)
    return line


@pytest.mark.spec("A1", "A4")
@given(VALUES)
def test_line_survives_the_round_trip(value: object) -> None:
    """What is read has the same canonical bytes, and its chain holds, whatever JSON it holds."""
    line = line_of(value)
    read = read_line(write_line(line))
    assert canonical_json(read.data) == canonical_json(line.data)
    assert first_break(line.run_id, [read]) is None
    assert read_line(write_line(read)) == read


@pytest.mark.spec("A4")
@given(VALUES)
def test_text_is_canonical(value: object) -> None:
    """The store writes the very bytes that the chain hashed."""
    line = line_of(value)
    assert write_line(line)[4].encode() == canonical_json(line.data)


def test_mapping_of_any_kind_is_written() -> None:
    """A read-only mapping is a mapping."""
    line = line_of(MappingProxyType({"b": 1, "a": (2,)}))
    assert read_line(write_line(line)).data["tenant"] == {"a": (2,), "b": 1}


@pytest.mark.parametrize("value", [{1, 2}, b"bytes", object(), float("nan")])
def test_value_that_json_lacks_is_refused(value: object) -> None:
    """No text, no line: nothing is written in another shape than it had."""
    data = event(EventType.RUN_STARTED, value).data
    line = Entry("run_0000000000000001", 1, 0, EventType.RUN_STARTED, data, "0" * 64, "0" * 64)
    with pytest.raises(RecordFailed, match="line 1 of run run_0000000000000001 cannot") as refused:
        write_line(line)
    assert refused.value.code == "LINE_UNWRITABLE"


@pytest.mark.spec("A4")
@pytest.mark.fault("F47")
@pytest.mark.parametrize(
    ("place", "value"),
    [
        (3, "RUN_IMAGINED"),
        (4, ""),
        (4, "[]"),
        (4, "{"),
        (4, '{"a": 1}'),
        (4, '{"b":1,"a":1}'),
        (4, '{"a":1,"a":1}'),
        (4, '{"a":NaN}'),
        (4, '{"a":"\\u00E9"}'),
        (4, '{"a":"é"}'),
        (4, '{"a":' + "[" * 100_000 + "]" * 100_000 + "}"),
        (4, None),
        (4, b"{}"),
    ],
)
def test_row_of_another_hand_is_refused(place: int, value: object) -> None:
    """A row that `write_line` cannot have made is damage, also when its value would be equal."""
    row: list[object] = list(write_line(line_of("x")))
    row[place] = value
    run_id, seq, at_us, type_, text, prev, hash_ = row
    with pytest.raises(RecordFailed, match="is not what was written") as refused:
        read_line((run_id, seq, at_us, type_, text, prev, hash_))  # type: ignore[arg-type]  # on purpose
    assert refused.value.code == "STORE_DAMAGED"
    assert refused.value.hint


def test_row_is_plain_values() -> None:
    """Seven columns, none of them ours alone."""
    row: Row = write_line(line_of("x"))
    assert [type(value) for value in row] == [str, int, int, str, str, str, str]
