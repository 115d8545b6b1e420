"""Bytes and chain of a file, held against the slow and plain definition of both (A4)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.affidavit.integrity import (
    BETWEEN,
    DEPTH_MAX,
    FILE_BYTES_MAX,
    LINES_AT_ONCE,
    Misshapen,
    NotItsOwnBytes,
    open_file,
)
from affidavit.contract.errors import InputRefused
from affidavit.core.canonical import NotCanonical, canonical_json, digest
from affidavit.core.chain import GENESIS

RUN: Final = "run_0123456789abcdef"
NAMES: Final = ["at_us", "data", "hash", "prev", "run_id", "seq", "type"]


def chained(*data: object, run_id: object = RUN) -> list[dict[str, Any]]:
    """Lines with these data, each chained to the one before."""
    lines: list[dict[str, Any]] = []
    prev = GENESIS
    for seq, enclosed in enumerate(data, start=1):
        body = {
            "run_id": run_id,
            "seq": seq,
            "at_us": 1_772_445_600_000_000 + seq,
            "type": "STATUS_CHANGED",
            "data": enclosed,
            "prev": prev,
        }
        prev = digest(canonical_json(body))
        lines.append({**body, "hash": prev})
    return lines


def proper(*data: object, **more: object) -> bytes:
    """A file with such a journal, and other parts before and after it."""
    rest = {"calls": [], "format": "affidavit/1", "statements": [None, "x", 7]}
    return canonical_json({**rest, **more, "journal": chained(*data)})


def say_plainly(content: bytes) -> str:
    """What a file is, by the definition: parsed strictly, written again, hashed line by line."""

    def refuse(text: str) -> Any:
        raise ValueError(text)

    def integer(text: str) -> int:
        return int(text) if abs(int(text)) < 2**53 else refuse(text)

    def ascii_keys(items: list[tuple[str, Any]]) -> dict[str, Any]:
        return dict(items) if all(key.isascii() for key, _ in items) else refuse("a key")

    try:
        text = content.decode("ascii")
        if depth_of(text) > DEPTH_MAX:
            return "unreadable"
        raw = json.loads(
            text,
            parse_int=integer,
            parse_float=refuse,
            parse_constant=refuse,
            object_pairs_hook=ascii_keys,
        )
    except (ValueError, RecursionError):
        return "unreadable"
    if not isinstance(raw, dict) or raw.get("format") not in ("affidavit/0", "affidavit/1"):
        return "unreadable"
    journal = raw.get("journal")
    if not isinstance(journal, list):
        return "misshapen"
    if any(not isinstance(line, dict) or sorted(line) != NAMES for line in journal):
        return "misshapen"
    if json.dumps(raw, sort_keys=True, separators=(",", ":")).encode() != content:
        return "other bytes"
    prev = GENESIS
    for place, line in enumerate(journal):
        body = {name: line[name] for name in NAMES if name != "hash"}
        placed = type(line["seq"]) is int and line["seq"] == place + 1 and line["prev"] == prev
        same_run = line["run_id"] == journal[0]["run_id"]
        if not (placed and same_run and line["hash"] == digest(canonical_json(body))):
            return f"broken at {place}"
        prev = line["hash"]
    return "whole"


def depth_of(text: str) -> int:
    """How many lists and objects stand within one another, letter by letter."""
    deepest = level = 0
    quoted = escaped = False
    for letter in text:
        if quoted:
            quoted, escaped = escaped or letter != '"', letter == "\\" and not escaped
        elif letter == '"':
            quoted = True
        elif letter in "[{":
            level += 1
            deepest = max(deepest, level)
        elif letter in "]}":
            level -= 1
    return deepest


def say(content: bytes) -> str:
    """The same, as it is said by the check itself."""
    try:
        opened = open_file(content)
    except InputRefused as refused:
        return {"AFFIDAVIT_UNREADABLE": "unreadable"}[refused.code]
    except Misshapen:
        return "misshapen"
    except NotItsOwnBytes:
        return "other bytes"
    return "whole" if opened.broken is None else f"broken at {opened.broken}"


DATA: Final = (
    {"status": "ROUTING"},
    {"limits": {"tokens": 80_000, "money": None}, "on": True, "calls": ["call_0001", "call_0002"]},
    {"b": [], "a": {}, "c": 2**53 - 1, "d": -(2**53) + 1},
    {"expires_us": 1_772_445_600_000_000, "lowest": -1_772_445_600_000_000},
    {"text": 'é\u2028"\\\x7f\x00'},
    {"hash": "x", "prev": "y", "seq": 9},
    {"list": ["|"], "more": ["a", "|", "b"], "between": BETWEEN},
)


@pytest.mark.spec("A4")
@pytest.mark.parametrize("data", DATA, ids=lambda data: json.dumps(data)[:30])
def test_a_whole_file_is_whole_whatever_its_lines_hold(data: dict[str, object]) -> None:
    for lines in ((data,), (data, data), (*DATA, data)):
        assert say(proper(*lines)) == say_plainly(proper(*lines)) == "whole"


JSON: Final = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "at_us", "data", "|", "hash"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@pytest.mark.spec("A4")
@given(st.lists(JSON, min_size=1, max_size=5), JSON)
def test_any_json_in_any_place_is_whole(data: list[object], other: object) -> None:
    assert say(proper(*data, zebra=other, actor=other)) == "whole"


BITS: Final = (0x01, 0x20, 0x80)


@pytest.mark.spec("A4")
@pytest.mark.fault("F47")
@pytest.mark.parametrize("bit", BITS)
def test_every_changed_byte_is_judged_as_by_the_definition(bit: int) -> None:
    """No byte of a small file can be changed in any of these bits and be taken."""
    content = proper(*DATA[:5])
    journal = range(content.index(b"[{"), content.index(b'],"statements"'))
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= bit
        verdict = say(bytes(changed))
        assert verdict == say_plainly(bytes(changed)), bytes(changed[max(0, place - 20) :])[:50]
        assert verdict != "whole" or place not in journal


SEAMS: Final = (LINES_AT_ONCE, LINES_AT_ONCE + 1)


@pytest.mark.spec("A4")
@pytest.mark.fault("F47")
@pytest.mark.parametrize("lines", SEAMS)
def test_where_lines_are_compared_many_at_a_time_no_byte_is_left_out(lines: int) -> None:
    """Every byte about the seam of two portions, and about the journal's two ends."""
    content = proper(*({"status": str(n)} for n in range(lines)))
    assert say(content) == "whole"
    text = content.decode()
    seams = [f'"seq":{seam},' for seam in range(LINES_AT_ONCE, lines, LINES_AT_ONCE)]
    about = [text.index(mark) for mark in ("[{", *seams)]
    about.append(text.index('],"statements"') - 120)
    for start in about:
        for place in range(start, min(start + 90, len(content))):
            for bit in (0x01, 0x20):
                changed = bytearray(content)
                changed[place] ^= bit
                assert say(bytes(changed)) != "whole", text[place - 20 : place + 20]


def exchanged(change: Callable[[dict[str, Any]], object]) -> bytes:
    """A proper file with a change to what it says, in canonical bytes."""
    plain = json.loads(proper(*DATA[:5]))
    change(plain)
    return json.dumps(plain, sort_keys=True, separators=(",", ":")).encode()


def textual(old: str, new: str, count: int = 1) -> bytes:
    """A proper file with a change to its text."""
    text = proper(*DATA[:5]).decode()
    assert old in text
    return text.replace(old, new, count).encode()


def rechained(**more: object) -> bytes:
    """A chain that holds over a line with another value in one field."""
    lines = chained(*DATA[:3])
    body = {**{name: lines[2][name] for name in NAMES if name != "hash"}, **more}
    own = hashlib_of(body)
    plain = {"format": "affidavit/1", "journal": [*lines[:2], {**body, "hash": own}]}
    return json.dumps(plain, sort_keys=True, separators=(",", ":")).encode()


def hashlib_of(body: object) -> str:
    """The digest of a value as it would be written, canonical or not."""
    return digest(json.dumps(body, sort_keys=True, separators=(",", ":")).encode())


HOSTILE: Final[dict[str, bytes]] = {
    "nothing": b"",
    "a list": b"[]",
    "no version": canonical_json({"journal": chained(*DATA)}),
    "a version to come": proper(*DATA).replace(b"affidavit/1", b"affidavit/2"),
    "a version that is no text": canonical_json({"format": ["affidavit/1"], "journal": []}),
    "a huge integer under a doubled key": textual('"on":true', '"on":9007199254740993,"on":true'),
    "a key beyond ASCII under a doubled key": textual('"on":true', '"on":{"\\u00e9":1},"on":true'),
    "depth under a doubled key": textual(
        '"on":true', f'"on":{"[" * DEPTH_MAX}{"]" * DEPTH_MAX},"on":true'
    ),
    "brackets in a text that hide depth": textual(
        '"on":true', '"on":' + '["]",' * 150 + "1" + ',"["]' * 150
    ),
    "no journal": canonical_json({"format": "affidavit/1"}),
    "a journal that is none": canonical_json({"format": "affidavit/1", "journal": {"0": 1}}),
    "lines that are lists": canonical_json(
        {"format": "affidavit/1", "journal": [[1, 2, 3, 4, 5, 6, 7]]}
    ),
    "a huge integer in the data": textual("80000", "9007199254740992"),
    "a huger integer in the data": textual("80000", "80000000000000000"),
    "a huge negative integer": textual("-9007199254740991", "-9007199254740992"),
    "a huge integer outside": textual('"x",7', '"x",9007199254740993'),
    "a huge integer first in a list": textual("[null,", "[9007199254740993,null,"),
    "too many digits for an integer": textual("80000", "8" * 5_000),
    "a huge time": rechained(at_us=2**53),
    "a negative huge time": rechained(at_us=-(2**53)),
    "a number as a truth": rechained(seq=True),
    "a number as text": rechained(seq="3"),
    "another run": rechained(run_id="run_other"),
    "a run that is no text": rechained(run_id=None),
    "another number": rechained(seq=4),
    "a type with a raw DEL": rechained(type="A").replace(b'"type":"A"', b'"type":"A\x7f"'),
    "a space in a list": textual("[null,", "[null, "),
    "a space in the data": textual('{"status":', '{ "status":'),
    "a float": textual("80000", "80000.0"),
    "an exponent": textual("80000", "8e4"),
    "minus nought": textual("80000", "-0"),
    "not a number": textual("80000", "NaN"),
    "a leading nought": textual("80000", "080000"),
    "a doubled key": textual('"on":true', '"on":false,"on":true'),
    "a doubled key, equal": textual('"on":true', '"on":true,"on":true'),
    "a doubled key of a line": textual('"seq":2,', '"seq":1,"seq":2,'),
    "keys out of order": textual('"money":null,"tokens":80000', '"tokens":80000,"money":null'),
    "keys of a line out of order": textual(
        '"seq":2,"type":"STATUS_CHANGED"', '"type":"STATUS_CHANGED","seq":2'
    ),
    "a field more": exchanged(lambda plain: plain["journal"][1].update(zebra=1)),
    "a field less": exchanged(lambda plain: plain["journal"][1].pop("type")),
    "a field of another name": exchanged(
        lambda plain: plain["journal"][1].update(tipe=plain["journal"][1].pop("type"))
    ),
    "an escape that need not be": textual("ROUTING", "\\u0052OUTING"),
    "an escape in capitals": textual("\\u00e9", "\\u00E9"),
    "an escaped slash": textual("affidavit/1", "affidavit\\/1"),
    "a raw DEL": textual("ROUTING", "ROUTING\x7f"),
    "a raw control character": textual("ROUTING", "ROU\x01TING"),
    "a key beyond ASCII": exchanged(lambda plain: plain["journal"][0]["data"].update({"é": 1})),
    "half of a pair": textual("ROUTING", "\\ud800"),
    "no UTF-8": proper(*DATA[:2]).replace(b"ROUTING", b"ROUT\xffNG"),
    "something after it": proper(*DATA[:2]) + b"\n",
    "something before it": b" " + proper(*DATA[:2]),
    "twice": proper(*DATA[:2]) * 2,
    "cut": proper(*DATA[:2])[:-1],
    "too deep": b'{"a":' + b"[" * 100_000,
    "deep": b'{"format":"affidavit/1","journal":[],"z":' + b"[" * 900 + b"]" * 900 + b"}",
}


@pytest.mark.spec("A4")
@pytest.mark.fault("F47")
@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE.keys())
def test_what_is_bent_is_judged_as_by_the_definition(content: bytes) -> None:
    assert say(content) == say_plainly(content) != "whole"


STRANGE: Final[dict[str, bytes]] = {
    "an empty journal": canonical_json({"format": "affidavit/1", "journal": []}),
    "a negative time": rechained(at_us=-5),
    "a time as a list": rechained(at_us=[1, 2]),
    "a time as text": rechained(at_us="5"),
    "a time as a truth": rechained(at_us=True),
    "a type that is no text": rechained(type=None),
    "a type with an escape": rechained(type='A"B'),
    "data that are no object": rechained(data="|"),
    "data that look like the next line": rechained(data=[{"at_us": 1, "data": {}}, "|", {}]),
}


@pytest.mark.spec("A4")
@pytest.mark.parametrize("content", STRANGE.values(), ids=STRANGE.keys())
def test_strange_values_in_canonical_bytes_are_left_to_whoever_reads_them(content: bytes) -> None:
    """They are what a holder of the key signed; that they are no line says the next check."""
    assert say(content) == say_plainly(content) == "whole"


def nested(levels: int, place: str) -> bytes:
    """A file with lists and objects within one another, so many in all."""
    value: object = 1
    around = 4 if place == "data" else 1  # file, journal, line, data; or the file alone
    for level in range(levels - around):
        value = [value] if level % 2 else {"a": value}
    return proper({"x": value}) if place == "data" else proper({"x": 1}, zebra=value)


@pytest.mark.spec("A4")
@pytest.mark.parametrize("place", ["data", "zebra"])
def test_depth_is_bounded_by_a_number_of_its_own(place: str) -> None:
    assert say(nested(DEPTH_MAX, place)) == "whole"
    assert say(nested(DEPTH_MAX + 1, place)) == "unreadable"


@pytest.mark.spec("A4")
def test_of_a_file_that_is_too_large_nothing_is_parsed() -> None:
    with pytest.raises(InputRefused, match="larger than 64 MB"):
        open_file(b"x" * (FILE_BYTES_MAX + 1))


def test_the_definition_itself_refuses() -> None:
    """What the check is held against is no rubber stamp."""
    with pytest.raises(NotCanonical):
        canonical_json({"a": 1.5})
    assert say_plainly(proper({"a": 1})) == "whole"
    assert say_plainly(proper({"a": 1}).replace(b'"a":1', b'"a":2')) == "broken at 0"
