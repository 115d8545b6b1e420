"""No byte of a small file can be another one, and no entry of it be moved, unseen by either (A4).

Every other value of every byte is three million files: `make exhaust` judges all of them, some
quarter of an hour on two cores. The suite takes each `STRIDE`th, at every byte, by the same code.
"""

from __future__ import annotations

import copy
import itertools
import json
import os
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any, Final

import pytest

from affidavit.adapters.ed25519_signer import check_ed25519
from affidavit.affidavit import recheck as room
from affidavit.affidavit.recheck import Verdict
from affidavit.affidavit.trust import Trust
from affidavit.contract.agent import GiveUp
from tests.support.checking import KEY_ID
from tests.support.second_verifier import SECOND
from tests.support.worlds import act, conclude
from tests.unit.affidavit.files import sealed_by

pytestmark = [pytest.mark.spec("A4", "A5"), pytest.mark.fault("F47"), pytest.mark.slow]

STRIDE: Final = int(os.environ.get("AFFIDAVIT_TEST_STRIDE", "64"))
"""One of so many is judged; 1: all of them."""
SHARES: Final = 16
"""So many tests share them, for as many workers."""

PINNED: Final = Trust(lru_cache(maxsize=64)(check_ed25519), frozenset({KEY_ID}))
"""Pins the tests' key. Most of these files have the same signature, which is checked once: a check
is a function of its three arguments."""


def judged(content: bytes) -> tuple[int, int]:
    """What the two verifiers say: 0 trusted, 1 altered, 2 unreadable, 3 intact."""
    order = (
        Verdict.INTACT_TRUSTED,
        Verdict.ALTERED,
        Verdict.UNREADABLE,
        Verdict.INTACT_SIGNER_UNKNOWN,
    )
    return order.index(room.recheck(content, PINNED).verdict), SECOND.verify(content, {KEY_ID})[0]


def is_refused(content: bytes) -> bool:
    """By both, and by both as altered, or by both as unreadable."""
    return judged(content) in {(1, 1), (2, 2)}


@cache
def smallest() -> bytes:
    """The file of a run that ended at once: eleven lines, 6.6 KB."""
    content = sealed_by([GiveUp("nothing to see")])
    assert len(content) < 7_000
    assert judged(content) == (0, 0)
    return content


@cache
def small() -> bytes:
    """The file of a published report, with everything that a file can hold: 13 KB."""
    content = sealed_by([act("probe", "search"), conclude()])
    assert judged(content) == (0, 0)
    return content


def other_bytes(content: bytes, share: int) -> Iterator[bytes]:
    """The content with one byte changed to another, for this share of places and values."""
    for place, own in enumerate(content):
        for value in range(share, 256, SHARES):
            if value != own and (value + 5 * place) % STRIDE == 0:
                yield content[:place] + bytes([value]) + content[place + 1 :]


@pytest.mark.parametrize("share", range(SHARES))
def test_no_byte_can_be_any_other(share: int) -> None:
    content, count = smallest(), 0
    for damaged in other_bytes(content, share):
        assert is_refused(damaged), where(content, damaged)
        count += 1
    assert count >= len(content) * 255 // STRIDE // SHARES * 9 // 10


@pytest.mark.parametrize("share", range(SHARES))
def test_no_byte_of_a_whole_report_can_be_its_neighbour_or_in_the_other_case(share: int) -> None:
    content = small()
    for place in range(share, len(content), SHARES * max(1, STRIDE // 8)):
        for bit in (0x01, 0x20):
            damaged = bytearray(content)
            damaged[place] ^= bit
            assert is_refused(bytes(damaged)), where(content, bytes(damaged))


def where(content: bytes, damaged: bytes) -> bytes:
    """The surroundings of the first byte that differs."""
    pairs = enumerate(zip(content, damaged, strict=False))
    place = next((at for at, (own, other) in pairs if own != other), len(damaged))
    return damaged[max(0, place - 30) : place + 30]


@pytest.mark.parametrize("share", range(SHARES))
def test_no_byte_can_be_taken_out_doubled_swapped_or_be_the_last(share: int) -> None:
    content = smallest()
    for place in range(share, len(content), SHARES * max(1, STRIDE // 16)):
        here, rest = content[place : place + 1], content[place + 1 :]
        for damaged in (
            content[:place] + rest,
            content[: place + 1] + here + rest,
            content[:place] + rest[:1] + here + rest[1:],
            content[:place],
            content[:place] + b" " + here + rest,
        ):
            assert damaged == content or is_refused(damaged), where(content, damaged)


# --- Entries -------------------------------------------------------------------------------------


def holders(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every list and object within this value, itself among them."""
    if isinstance(value, (dict, list)):
        yield at
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from holders(inner, (*at, key))


def within(value: Any, way: tuple[Any, ...]) -> Any:
    """What stands there."""
    for key in way:
        value = value[key]
    return value


def disordered(listed: list[Any]) -> Iterator[tuple[str, list[Any]]]:
    """A list with an entry taken out, doubled, cut after, and with each two exchanged."""
    for place in range(len(listed)):
        yield f"{place} taken out", listed[:place] + listed[place + 1 :]
        yield f"{place} doubled", listed[: place + 1] + listed[place:]
        yield f"cut before {place}", listed[:place]
    for first, second in itertools.combinations(range(len(listed)), 2):
        swapped = list(listed)
        swapped[first], swapped[second] = listed[second], listed[first]
        yield f"{first} and {second} exchanged", swapped


def remade(named: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """An object with a field taken out, and with the values of each two exchanged."""
    for name in named:
        yield f"{name} taken out", {key: item for key, item in named.items() if key != name}
    for first, second in itertools.combinations(named, 2):
        yield f"{first} and {second}", named | {first: named[second], second: named[first]}


def rearranged(content: bytes) -> Iterator[tuple[str, bytes]]:
    """The file with every entry of every list and object moved, in its own canonical bytes."""
    plain = json.loads(content)
    for way in holders(plain):
        own = within(plain, way)
        for how, other in disordered(own) if isinstance(own, list) else remade(own):
            if not way:
                yield f"/: {how}", encoded(other)
                continue
            changed = copy.deepcopy(plain)
            within(changed, way[:-1])[way[-1]] = other
            yield f"/{'/'.join(map(str, way))}: {how}", encoded(changed)


def encoded(value: object) -> bytes:
    """Canonical bytes."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


@pytest.mark.parametrize("make", [smallest, small], ids=["smallest", "small"])
def test_no_entry_can_be_taken_out_doubled_exchanged_or_cut(make: Any) -> None:
    content, seen = make(), 0
    stride = max(1, STRIDE // 16)
    assert encoded(json.loads(content)) == content
    for place, (how, damaged) in enumerate(rearranged(content)):
        if damaged != content and place % stride == 0:
            assert is_refused(damaged), how
            seen += 1
    assert seen > 150
