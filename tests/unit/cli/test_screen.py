"""What leaves the command is inert, and exactly one object where one is promised."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.cli.screen import (
    LeftAtOnce,
    error_body,
    inert,
    is_obeyed,
    leave_refused,
    one_line,
    say,
    say_json,
    tell,
    to_json,
)
from affidavit.contract.errors import (
    AffidavitError,
    InputRefused,
    InternalFault,
    LeaseLost,
    RecordFailed,
)

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=40)


@pytest.mark.spec("T6", "N2")
@given(text=ANY_TEXT)
def test_nothing_obeyed_is_left_in_inert_text(text: str) -> None:
    kept = inert(text)
    assert not [char for char in kept if char not in "\n\t" and is_obeyed(char)]
    assert inert(kept) == kept
    assert [c for c in text if c in "\n\t" or not is_obeyed(c)] == list(kept)


@pytest.mark.spec("T6")
@pytest.mark.parametrize(
    "char",
    [
        *("\x1b", "\x07", "\r", "\x7f", "\x9b", "\x85", "\u202e", "\u2066", "\u200f", "\u200b"),
        *("\u2028", "\ufeff", "\U000e0041", "\ue000", "\ud800"),
    ],
    ids=lambda char: f"{ord(char):x}",
)
def test_what_a_terminal_or_an_eye_obeys_is_taken_out(char: str) -> None:
    assert inert(f"a{char}b") == "ab"
    assert char not in to_json({"a": char})
    assert json.loads(to_json({"a": char})) == {"a": char}


def test_ordinary_text_of_any_script_stays() -> None:
    text = "订单服务 was slow — ±5 µs, naïve [/foo] <b> 🙂"
    assert inert(text) == text
    assert json.loads(to_json(text)) == text
    assert "订单" in to_json(text)


@pytest.mark.spec("T6")
@given(value=st.recursive(ANY_TEXT | st.integers() | st.none(), st.lists, max_leaves=5))
def test_json_loses_nothing_and_holds_nothing_obeyed(value: object) -> None:
    text = to_json({"value": value})
    assert json.loads(text) == {"value": value}
    assert "\n" not in text
    assert not [char for char in text if is_obeyed(char)]


def test_json_without_a_number_that_is_none() -> None:
    with pytest.raises(ValueError, match="JSON"):
        to_json(float("nan"))


def test_a_line_is_one_line_with_its_indentation(capsys: pytest.CaptureFixture[str]) -> None:
    assert one_line("  a\nb\r\n c\u2028d") == "  a b cd"
    tell("  a\nspoofed: b")
    assert capsys.readouterr().err == "  a spoofed: b\n"


def test_an_answer_keeps_its_lines(capsys: pytest.CaptureFixture[str]) -> None:
    say("a\n\x1b[31mb")
    say_json({"b": 1, "a": "ü"})
    assert capsys.readouterr().out == 'a\n[31mb\n{"a": "ü", "b": 1}\n'


REFUSALS = [
    (InputRefused("no", code="X", hint="do"), 2, "X"),
    (RecordFailed("full"), 4, "RUN_PERSISTENCE_FAILED"),
    (LeaseLost("gone"), 4, "RUN_PERSISTENCE_FAILED"),
    (InternalFault("ours"), 4, "INTERNAL_FAILURE"),
    (LeftAtOnce("left"), 130, "INTERRUPTED"),
]


@pytest.mark.spec("L5", "E20")
@pytest.mark.parametrize(("error", "code", "public"), REFUSALS, ids=str)
def test_each_refusal_has_its_code(
    error: AffidavitError, code: int, public: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        leave_refused(error, as_json=True)
    assert left.value.code == code
    told = capsys.readouterr()
    body = json.loads(told.out)["error"]
    assert body["code"] == public
    assert body["message"] == error.message
    assert told.err.startswith(f"affidavit: {error.message}")


@pytest.mark.spec("L5")
def test_a_store_s_own_code_is_the_reason() -> None:
    body = error_body(RecordFailed("full", code="STORE_DAMAGED", hint="mend"))
    assert body == {
        "code": "RUN_PERSISTENCE_FAILED",
        "message": "full",
        "hint": "mend",
        "reason": "STORE_DAMAGED",
    }


def test_without_json_standard_output_stays_empty(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        leave_refused(InputRefused("no"), as_json=False)
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "affidavit: no\n")


def test_every_direction_character_is_a_format_character() -> None:
    """So that a new one of Unicode is caught by its category."""
    for char in "\u061c\u200e\u200f\u202a\u202e\u2066\u2069":
        assert unicodedata.category(char) == "Cf"
        assert is_obeyed(char)
