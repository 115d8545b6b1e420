"""Are all runs of a tenant still there, each in its place? Heads against files and an anchor (A4)

A head names the one before it, so a run that was taken out of the middle shows by itself. What was
cut off at the end shows only against a place that whoever cut could not reach: an anchor, which was
told of each head when its run was published. This is the check; telling is `ports.anchor`. (pure)
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from affidavit.contract.errors import InputRefused
from affidavit.core.canonical import canonical_json
from affidavit.ports.store import NO_HEAD, SealedHead

FORMAT: Final = "affidavit-anchor/1"
FIELDS: Final = frozenset({"format", "tenant", "number", "run_id", "digest", "previous"})
_HEX: Final = re.compile(r"^[0-9a-f]{64}$")


@dataclass(frozen=True, slots=True)
class Gap:
    """One thing that is wrong with a tenant's heads: which number, and what."""

    number: int
    says: str


def write_anchor_line(head: SealedHead) -> bytes:
    """One head as an anchor keeps it: one canonical line without its line break."""
    return canonical_json(
        {
            "format": FORMAT,
            "tenant": head.tenant,
            "number": head.number,
            "run_id": head.run_id,
            "digest": head.digest,
            "previous": head.previous,
        }
    )


def read_anchor(content: bytes) -> tuple[SealedHead, ...]:
    """Every head that an anchor file tells of, in its order.

    A line may carry what a log writes before it; what counts is its JSON. A last line without its
    end was being written when the machine stopped, and is left out. Raises InputRefused
    (ANCHOR_REFUSED) for a line that holds no head.
    """
    lines = content.split(b"\n")[:-1]
    return tuple(_head(number, line) for number, line in enumerate(lines, start=1) if line.strip())


def _head(number: int, line: bytes) -> SealedHead:
    start = line.find(b"{")
    try:
        raw = json.loads(line[max(start, 0) :].decode("ascii"))
        if raw.keys() != FIELDS or raw["format"] != FORMAT:
            raise ValueError("no head")
        head = SealedHead(*(raw[name] for name in SealedHead.__slots__))
        texts = (head.tenant, head.run_id, head.digest, head.previous)
        proper = type(head.number) is int and all(isinstance(text, str) for text in texts)
        if not proper or not (_HEX.match(head.digest) and _HEX.match(head.previous)):
            raise ValueError("no head")
    except (ValueError, AttributeError, RecursionError):
        raise InputRefused(
            f"line {number} of the anchor holds no sealed head",
            code="ANCHOR_REFUSED",
            hint="give the file that `signing.anchors` names, or the lines that the log kept",
        ) from None
    return head


def find_gaps(heads: Sequence[SealedHead]) -> Iterator[Gap]:
    """What is wrong with a tenant's heads by themselves: a gap, a doubled place, another link."""
    previous, number = NO_HEAD, 0
    for head in heads:
        number += 1
        if head.number != number:
            yield Gap(number, f"run {number} is missing: the next one is {head.number}")
            number, previous = head.number, head.previous
        if head.previous != previous:
            yield Gap(head.number, f"{head.run_id} does not follow the run before it")
        previous = head.digest


def find_cut(heads: Iterable[SealedHead], anchored: Iterable[SealedHead]) -> Iterator[Gap]:
    """Anchored runs that are not where they were: cut off at the end, or exchanged."""
    known = {(head.tenant, head.number): head for head in heads}
    for told in anchored:
        here = known.get((told.tenant, told.number))
        if here is None:
            yield Gap(told.number, f"{told.run_id} was anchored, and is not there any more")
        elif here != told:
            yield Gap(told.number, f"{told.run_id} was anchored here, and now it is {here.run_id}")


def find_disorder(anchored: Sequence[SealedHead]) -> Iterator[Gap]:
    """What is wrong with the anchor itself: two different heads in one place, or a broken link.

    A head that was told twice is no fault: telling is repeated when nobody knows whether it came.
    """
    seen: dict[tuple[str, int], SealedHead] = {}
    for told in anchored:
        place = (told.tenant, told.number)
        if seen.setdefault(place, told) != told:
            yield Gap(told.number, f"two runs were anchored here: {told.run_id} is the second")
    for (tenant, number), told in seen.items():
        before = seen.get((tenant, number - 1))
        if before is not None and before.digest != told.previous:
            yield Gap(number, f"{told.run_id} does not follow what was anchored before it")
