"""Laws of redaction: JSON stays JSON, masks stay masks, ids stay, work grows with the text."""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
import sys
from collections.abc import Iterator
from types import FrameType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import affidavit.tools.redaction
from affidavit.core.canonical import canonical_json
from affidavit.tools.redaction import MASK_PATTERN, redact_bytes, redact_json, redact_text

OPAQUE = "q8Zk2Lw0Vx7Rt5Nb3Mc9Yd1F"
FRAGMENTS = (
    "password=", "password: ", '"password":', "token", "secret", "api_key=", "--password ",
    "Authorization: ", "Bearer ", "Cookie: a=", "://", "://u:", "@", "%40", "eyJ", "eyJhbGci",
    "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----", "AKIA", "sk-", "ghp_",
    "kind: Secret\n", "data:\n", "apiVersion: v1\n", '"kind":"Secret"', '"data":{', "- ", "  ",
    '"', "'", "\\", '\\"', "\n", "\\n", "{", "}", "[", "]", ",", ";", "=", ":", " ", "|\n", "a",
    "A1b2C3d4", "4242424242424242", "4242 4242 ", "[masked:", "[masked:token:1]", "é", "\x00", "<",
    "LS0tLS1CRUdJTi", "name: DB_PASSWORD\n", "value: x", '{"password":"x"}', "hunter2", "...",
)  # fmt: skip

scraps = st.lists(st.sampled_from(FRAGMENTS), max_size=40).map("".join)
texts = st.one_of(scraps, st.text(max_size=60))
names = st.one_of(
    st.sampled_from("password token kind data stringData name value auth Authorization".split()),
    st.text(max_size=8),
)
leaves = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**53) + 1, 2**53 - 1), texts, st.just("Secret")
)
documents = st.recursive(
    leaves,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(names, inner, max_size=4)),
    max_leaves=20,
)


@pytest.mark.spec("T7")
@given(texts)
@settings(max_examples=300, deadline=None)
def test_a_text_is_masked_once_and_for_all(text: str) -> None:
    once = redact_text(text)
    if not _is_json(text):
        left = once.text.encode("utf-8", "surrogatepass")
        assert redact_bytes(text.encode("utf-8", "surrogatepass")) == left
    assert (once.text == text) == (not once.masks)
    shown = {int(found[2]) for found in MASK_PATTERN.finditer(once.text)}
    assert {mask.number for mask in once.masks} <= shown


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


@given(documents, st.sampled_from([None, 1]), st.booleans())
@settings(max_examples=300, deadline=None)
def test_json_stays_json_of_the_same_shape(value: object, indent: int | None, plain: bool) -> None:
    raw = json.dumps(value, indent=indent, ensure_ascii=plain).encode("utf-8", "surrogatepass")
    out = json.loads(redact_bytes(raw).decode("utf-8", "surrogatepass"))
    assert _shape(out) == _shape(value)


def _shape(value: object) -> object:
    if isinstance(value, dict):
        return len(value), [_shape(item) for item in value.values()]
    return [_shape(item) for item in value] if isinstance(value, list) else None


objects = st.dictionaries(st.sampled_from(["password", "a", "kind", "data"]), documents)


@given(st.lists(objects, max_size=3))
@settings(max_examples=150, deadline=None)
def test_canonical_bytes_stay_canonical(value: list[object]) -> None:
    try:
        raw = canonical_json(value)
    except ValueError:
        return
    out = redact_bytes(raw)
    assert out == canonical_json(json.loads(out))


@given(documents, names, st.sampled_from(["api_key", "password", "clientSecret"]))
@settings(max_examples=150, deadline=None)
def test_a_planted_secret_is_in_no_byte(value: object, name: str, key: str) -> None:
    planted = {"before": value, "x": {name: [{key: OPAQUE}]}, "log": f"saw {OPAQUE} again"}
    assert OPAQUE not in json.dumps(redact_json(planted).value)
    assert OPAQUE.encode() not in redact_bytes(json.dumps(planted).encode())


@given(scraps.filter(lambda text: "-----" not in text), st.data())
@settings(max_examples=200, deadline=None)
def test_a_bearer_token_is_masked_among_anything(text: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(text)))
    out = redact_text(f"{text[:place]}\nAuthorization: Bearer {OPAQUE}\n{text[place:]}")
    assert OPAQUE not in out.text


@given(
    st.lists(
        st.one_of(
            st.from_regex(r"[a-z]{3,12}-[0-9a-f]{9}-[a-z0-9]{5}", fullmatch=True),
            st.from_regex(r"trace_id=[0-9a-f]{32} span_id=[0-9a-f]{16}", fullmatch=True),
            st.from_regex(r"sha256:[0-9a-f]{64}", fullmatch=True),
            st.uuids().map(str),
        ),
        max_size=6,
    )
)
@settings(max_examples=200, deadline=None)
def test_ids_are_left_alone(ids: list[str]) -> None:
    raw = " ".join(ids).encode()
    assert redact_bytes(raw) is raw


def work_of(text: str) -> int:
    """Calls of Python and C functions that a redaction makes."""
    calls = 0

    def count(_frame: FrameType, event: str, _arg: object) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        redact_text(text)
    finally:
        sys.setprofile(before)
    return calls


@given(st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=4).map("".join))
@settings(max_examples=60, deadline=None)
def test_four_times_the_text_is_about_four_times_the_work(unit: str) -> None:
    """Work grows with the text: eight times for four times is the most that noise may make."""
    times = max(1, 1_500 // len(unit))
    small, large = work_of(unit * times), work_of(unit * times * 4)
    assert large <= 8 * small + 2_000


def patterns() -> Iterator[tuple[str, str]]:
    """Every regular expression of the room, with where it stands."""
    for module in pkgutil.iter_modules(affidavit.tools.redaction.__path__):
        loaded = importlib.import_module(f"affidavit.tools.redaction.{module.name}")
        for name, value in vars(loaded).items():
            if isinstance(value, re.Pattern):
                source = value.pattern
                yield (
                    f"{module.name}.{name}",
                    source.decode("latin-1") if isinstance(source, bytes) else source,
                )


def test_no_pattern_repeats_a_repetition_that_may_be_split() -> None:
    """A group that repeats and ends in an open repetition can be split in many ways."""
    seen = list(patterns())
    assert len(seen) > 30
    splitting = re.compile(r"\((?:\?:)?(?:\[[^\]]+\]|\\?\w)[*+]\)[*+](?!\+)")
    assert not [name for name, pattern in seen if splitting.search(pattern)]
