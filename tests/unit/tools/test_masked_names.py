"""Names masked with a way back: every place, one pseudonym, and back to the same text (T7)."""

from __future__ import annotations

import json
import re
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.contract.errors import InputRefused
from affidavit.contract.masking import holds_mask
from affidavit.tools.redaction import redact_bytes
from affidavit.tools.redaction.names import NAMES_MAX, draw_names, read_names

pytestmark = [pytest.mark.spec("T7"), pytest.mark.fault("R65")]

GIVEN: Final = ("checkout", "payment-db", "db", "node-7.corp.example")


def test_a_name_is_masked_wherever_it_stands() -> None:
    mask = draw_names(GIVEN)
    text = (
        "pod checkout-7d9f8c6b5-x2x4z on node-7.corp.example: CheckoutService cannot reach db; "
        "CHECKOUT_URL=http://checkout:8080/payment-db, standby stays"
    )
    masked = mask.mask(text)
    assert not re.search(r"checkout|payment|corp|\bdb\b", masked, re.IGNORECASE)
    assert "-7d9f8c6b5-x2x4z" in masked, "what a diagnosis consists of is left"
    assert "standby stays" in masked, "a short name is no part of a word"
    assert len(set(re.findall(r"name-[a-z]+", masked))) == 4
    assert mask.mask(masked) == masked, "to mask twice does nothing"
    assert mask.unmask(masked).lower() == text.lower()


@given(st.lists(st.sampled_from([*GIVEN, "stand", " ", "-", "x", '"', "\\n", "é"]), max_size=12))
def test_whatever_is_around_it_comes_back(parts: list[str]) -> None:
    mask = draw_names(GIVEN)
    text = "".join(parts)
    assert mask.unmask(mask.mask(text)) == text
    raw = json.dumps({"said": [text, {"deep": text}], "n": [1, 0.25, None, True]}).encode()
    masked = mask.mask_bytes(raw)
    assert json.loads(mask.unmask(masked.decode())) == json.loads(raw)
    assert b"checkout" not in masked
    assert b"payment" not in masked


def test_a_document_is_masked_by_its_texts_and_keys_and_nothing_else() -> None:
    """A letter of an escape before a name hides nothing, nor does a document within a text."""
    mask = draw_names(GIVEN)
    inner = json.dumps({"checkout": "a\ncheckout\tb"})
    masked = mask.mask_bytes(json.dumps({"body": inner, "at": 1.5}).encode())
    assert b"checkout" not in masked
    assert json.loads(json.loads(masked)["body"])
    assert json.loads(masked)["at"] == 1.5
    plain = mask.mask_bytes(b"checkout \xff\xfe died")
    assert b"checkout" not in plain
    assert plain.endswith(b" \xff\xfe died")


def test_pseudonyms_are_drawn_anew_and_are_no_secrets() -> None:
    """Two runs cannot be laid side by side; and what looks random beside `key` is not masked."""
    assert draw_names(GIVEN).mask("checkout") != draw_names(GIVEN).mask("checkout")
    pseudonym = draw_names(GIVEN).mask("checkout")
    assert redact_bytes(f"pod {pseudonym} has key={pseudonym}".encode()).count(b"name-") >= 1
    assert not holds_mask(pseudonym), "a conclusion may rest on it"


def test_the_list_is_read_back_as_it_was_written() -> None:
    mask = draw_names(GIVEN)
    again = read_names(mask.write())
    assert again.mask("checkout on db") == mask.mask("checkout on db")
    for wrong in (b"[]", b"{}", b'{"format":"affidavit-names/1","names":{}}', b"x"):
        with pytest.raises(ValueError, match=r"."):
            read_names(wrong)


@pytest.mark.parametrize(
    "names",
    [(), ("x",), ("a b",), ('a"b',), ("é" * 4,), ("n" * 101,), ("name",), ("NAME-",), ("",)],
    ids=repr,
)
def test_what_cannot_be_masked_is_refused(names: tuple[str, ...]) -> None:
    with pytest.raises(InputRefused) as refused:
        draw_names(names)
    assert refused.value.code == "NAMES_REFUSED"


def test_too_many_names_are_refused() -> None:
    with pytest.raises(InputRefused, match=str(NAMES_MAX + 1)):
        draw_names(f"service-{n}" for n in range(NAMES_MAX + 1))
