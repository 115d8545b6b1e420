"""Canonical bytes and the chain over them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.contract.journal import Entry, Event, EventType
from affidavit.core.canonical import NotCanonical, canonical_json
from affidavit.core.chain import GENESIS, extend, first_break, to_us

RUN = "run_0123456789abcdef"
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def journal(length: int) -> tuple[Entry, ...]:
    """A journal of that many lines."""
    events = [Event(EventType.STATUS_CHANGED, {"status": f"S{place}"}) for place in range(length)]
    return extend(RUN, 1, GENESIS, NOON, events)


@pytest.mark.spec("A1", "A4")
def test_an_untouched_journal_has_no_break() -> None:
    assert first_break(RUN, journal(6)) is None


@pytest.mark.spec("A4")
@pytest.mark.parametrize("place", range(6))
@pytest.mark.parametrize(
    "change",
    [
        lambda entry: replace(entry, run_id="run_ffffffffffffffff"),
        lambda entry: replace(entry, seq=entry.seq + 1),
        lambda entry: replace(entry, at_us=entry.at_us + 1),
        lambda entry: replace(entry, type=EventType.RUN_PAUSED),
        lambda entry: replace(entry, data={"status": "other"}),
        lambda entry: replace(entry, prev="f" * 64),
        lambda entry: replace(entry, hash="f" * 64),
    ],
    ids=["run", "seq", "at", "type", "data", "prev", "hash"],
)
def test_a_change_to_any_field_of_any_line_shows_at_that_line(place: int, change: object) -> None:
    entries = list(journal(6))
    assert callable(change)
    entries[place] = change(entries[place])
    assert first_break(RUN, entries) == place + 1


@pytest.mark.spec("A4")
@pytest.mark.fault("F47")
@given(st.data())
def test_deleting_doubling_or_swapping_lines_shows(data: st.DataObject) -> None:
    entries = list(journal(8))
    place = data.draw(st.integers(0, 6))
    match data.draw(st.sampled_from(["delete", "double", "swap"])):
        case "delete":
            del entries[place]
        case "double":
            entries.insert(place, entries[place])
        case _:
            entries[place], entries[place + 1] = entries[place + 1], entries[place]
    assert first_break(RUN, entries) is not None


def json_values() -> st.SearchStrategy[object]:
    """JSON values without floats, keys in ASCII."""
    leaves = st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text()
    keys = st.text(st.characters(max_codepoint=126, min_codepoint=32))
    return st.recursive(
        leaves, lambda inner: st.lists(inner) | st.dictionaries(keys, inner), max_leaves=20
    )


@pytest.mark.spec("A1")
@given(json_values())
def test_canonical_bytes_are_stable_under_reading_and_writing(value: object) -> None:
    import json

    once = canonical_json(value)
    assert canonical_json(json.loads(once)) == once
    assert once.isascii()


@pytest.mark.spec("A1")
@pytest.mark.parametrize(
    "value",
    [1.5, {"a": [0.0]}, float("nan"), 2**53, -(2**53), {"é": 1}, {1: 2}, b"bytes", {"a": {2, 3}}],
    ids=repr,
)
def test_what_another_language_would_read_differently_has_no_canonical_form(value: object) -> None:
    with pytest.raises(NotCanonical):
        canonical_json(value)


@pytest.mark.spec("A1")
def test_an_event_has_exactly_the_fields_of_its_kind() -> None:
    with pytest.raises(ValueError, match="holder"):
        Event(EventType.DRIVER_ACQUIRED, {"epoch": 1})
    with pytest.raises(ValueError, match="prompt"):
        Event(EventType.RUN_PAUSED, {"reason": "asked", "prompt": "…"})


@given(st.integers(0, 7 * 10**15), st.integers(-14, 14))
def test_microseconds_are_exact_in_every_zone(microseconds: int, hours: int) -> None:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)
    aware = moment.astimezone(timezone(timedelta(hours=hours)))
    assert to_us(aware) == microseconds
