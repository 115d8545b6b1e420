"""A run that was left out, exchanged or cut off at the end is found (A4)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from affidavit.affidavit.anchoring import (
    find_cut,
    find_disorder,
    find_gaps,
    read_anchor,
    write_anchor_line,
)
from affidavit.contract.errors import InputRefused
from affidavit.ports.store import NO_HEAD, SealedHead

pytestmark = pytest.mark.spec("A4")


def chain(count: int, tenant: str = "local") -> tuple[SealedHead, ...]:
    heads: list[SealedHead] = []
    previous = NO_HEAD
    for number in range(1, count + 1):
        heads.append(SealedHead(tenant, number, f"run_{number:016d}", f"{number:064x}", previous))
        previous = heads[-1].digest
    return tuple(heads)


HEADS = chain(5)


def test_a_whole_chain_has_no_gap() -> None:
    assert list(find_gaps(HEADS)) == []
    assert list(find_gaps(())) == []
    assert list(find_cut(HEADS, HEADS[:4])) == []
    assert list(find_disorder((*HEADS, *HEADS))) == []


@pytest.mark.parametrize("place", range(5))
def test_every_missing_run_shows(place: int) -> None:
    """In the middle by itself, at the end against the anchor alone."""
    without = HEADS[:place] + HEADS[place + 1 :]
    assert bool(list(find_gaps(without))) == (place < 4)
    (gap,) = find_cut(without, HEADS)
    assert gap.number == place + 1


@pytest.mark.parametrize("count", range(5))
def test_a_cut_tail_shows_against_the_anchor(count: int) -> None:
    assert list(find_gaps(HEADS[:count])) == []
    assert [gap.number for gap in find_cut(HEADS[:count], HEADS)] == list(range(count + 1, 6))


@pytest.mark.parametrize("place", range(4))
def test_every_swap_shows(place: int) -> None:
    swapped = list(HEADS)
    swapped[place], swapped[place + 1] = swapped[place + 1], swapped[place]
    assert list(find_gaps(swapped))
    renumbered = [replace(head, number=number) for number, head in enumerate(swapped, start=1)]
    assert list(find_gaps(renumbered))
    assert list(find_cut(renumbered, HEADS))
    assert list(find_disorder(renumbered))


@pytest.mark.parametrize(
    "other",
    [
        replace(HEADS[2], run_id="run_f"),
        replace(HEADS[2], digest="f" * 64),
        replace(HEADS[2], previous="f" * 64),
    ],
)
def test_every_exchange_shows(other: SealedHead) -> None:
    changed = (*HEADS[:2], other, *HEADS[3:])
    assert list(find_gaps(changed)) or other.run_id == "run_f"
    assert [gap.number for gap in find_cut(changed, HEADS)] == [3]
    assert list(find_disorder((*HEADS, changed[2])))


def test_a_whole_chain_that_was_made_anew_shows() -> None:
    """Whoever holds the store and the key can make a consistent chain, but not the anchored one."""
    anew = tuple(replace(head, run_id=f"{head.run_id}x") for head in HEADS)
    assert list(find_gaps(anew)) == []
    assert len(list(find_cut(anew, HEADS))) == 5


def test_an_anchor_file_reads_back() -> None:
    content = b"".join(write_anchor_line(head) + b"\n" for head in HEADS)
    assert read_anchor(content) == HEADS
    assert read_anchor(content + b'{"half') == HEADS
    assert read_anchor(b"Dec  1 00:00:00 host affidavit[1]: " + content)[:1] == HEADS[:1]
    assert read_anchor(b"\n" + content + b"\n") == HEADS
    assert read_anchor(b"") == ()


@pytest.mark.parametrize(
    "line",
    [
        b"no head\n",
        b"{}\n",
        b"[]\n",
        write_anchor_line(replace(HEADS[0], digest="x")) + b"\n",
        write_anchor_line(HEADS[0]).replace(b'"number":1', b'"number":true') + b"\n",
        write_anchor_line(HEADS[0]).replace(b"anchor/1", b"anchor/2") + b"\n",
        write_anchor_line(HEADS[0])[:-1] + b',"more":1}\n',
    ],
)
def test_a_line_that_is_no_head_is_refused(line: bytes) -> None:
    with pytest.raises(InputRefused, match="line 1 of the anchor") as refused:
        read_anchor(line)
    assert refused.value.code == "ANCHOR_REFUSED"
