"""The bytes of a file before anything in them is believed: canonical form and chain (A4; pure)

A whole file is told from an altered one by one comparison. What the file's own values say is
written down as a proper file has it, canonical, each line counted and hashed after the one before;
if these are the bytes that came, everything holds at once. So a journal is checked at the speed of
a JSON parser (bench/sealing.py). Only of bytes that differ anybody asks where, and takes his time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, NoReturn

from affidavit.contract.errors import InputRefused
from affidavit.core.canonical import (
    SAFE_INTEGER_MAX,
    NotCanonical,
    canonical_json,
    digest,
    encode_plain,
)
from affidavit.core.chain import GENESIS

FILE_BYTES_MAX: Final = 64_000_000
"""A run's journal and cited projections are a few hundred KB; beyond this nothing is parsed."""

MEND: Final = "ask for the file again, or write it anew with `affidavit show RUN_ID --out FILE`"

DEPTH_MAX: Final = 100
"""So many lists and objects stand within one another at most; in a run's file it is some ten. With
a bound of its own a file is read, or refused, whatever the recursion limit of its reader is."""

LINE_FIELDS: Final = frozenset({"run_id", "seq", "at_us", "type", "data", "prev", "hash"})


class NotItsOwnBytes(Exception):
    """The content can be read, but these are not its canonical bytes: the file was altered."""


@dataclass(frozen=True, slots=True)
class Opened:
    """The parts of a file that equals its own canonical bytes.

    `broken` is the place (from 0) of the first journal line whose hash, place or link is wrong.
    """

    parts: Mapping[str, object]
    broken: int | None


def open_file(content: bytes) -> Opened:
    """The parts of the file in these bytes.

    Raises InputRefused (AFFIDAVIT_UNREADABLE) when they are no JSON object of the kind that has
    canonical bytes, and `NotItsOwnBytes` when they are other bytes than those.
    """
    parts, text = _parse(content)
    journal = parts.get("journal")
    if isinstance(journal, list) and journal and _is_proper(parts, journal, text):
        return Opened(parts, None)
    return _look_closely(parts, content)


def unreadable(message: str, hint: str = MEND) -> InputRefused:
    """The error for what is no affidavit file."""
    return InputRefused(message, code="AFFIDAVIT_UNREADABLE", hint=hint)


BETWEEN: Final = ',"|",'
"""Stands between the data of two lines while that of many is written down in one go."""

LINES_AT_ONCE: Final = 256
"""So many lines are written and compared at a time: some 100 KB, which stay in a core's cache."""

_SHAPE: Final = bytes.maketrans(b"0123456789[,-", b"0000000000:::")
_LONG: Final = b":" + b"0" * 16
"""How an integer of 16 digits looks when all digits are zeros; 2**53 - 1 has as many."""
_LONGER: Final = re.compile(r"[:\[,-](?:9[0-9]{15}|[0-9]{17})")
"""Such an integer that is no time in microseconds; looked for only where there is one at all."""


def _is_proper(parts: Mapping[str, object], journal: Sequence[object], text: str) -> bool:
    """Whether these are the bytes of a whole file; what is in doubt is not (yet)."""
    names = sorted(parts)
    place = names.index("journal")
    try:
        rest = {name: encode_plain(parts[name]) for name in names if name != "journal"}
        before = "".join(f"{encode_plain(name)}:{rest[name]}," for name in names[:place])
        after = "".join(f",{encode_plain(name)}:{rest[name]}" for name in names[place + 1 :])
        start = f'{{{before}"journal":['
        if _may_be_long(before, after) or _is_deep([parts[name] for name in rest]):
            return False
        if not text.startswith(start):
            return False
        at = _follow(journal, text, len(start))
    except (TypeError, KeyError, ValueError, AttributeError, RecursionError):
        return False
    return at is not None and text[at:] == f"]{after}}}"


def _follow(journal: Sequence[Any], text: str, at: int) -> int | None:
    """The place after the journal, written as it must be, where it begins at `at`; else None.

    Raises whatever a line of another shape leads to. One loop over locals: a call a line would
    cost as much as its hash.
    """
    run, prev, seq = encode_plain(journal[0]["run_id"]), GENESIS, 0
    for first in range(0, len(journal), LINES_AT_ONCE):
        lines = journal[first : first + LINES_AT_ONCE]
        spread = encode_plain([part for line in lines for part in (line["data"], "|")])
        enclosed = spread[1 : -len(BETWEEN)].split(BETWEEN)
        if len(enclosed) != len(lines) or _may_be_long(spread):
            return None
        own: list[str] = []
        for line, data in zip(lines, enclosed, strict=True):
            at_us, _, _, _, _, _, kind = line.values()
            if type(at_us) is not int or abs(at_us) > SAFE_INTEGER_MAX:
                return None
            if len(data) > 2 * DEPTH_MAX and _may_be_deep(data):
                return None
            seq += 1
            opening = f'{{"at_us":{at_us},"data":{data},'
            closing = f'"prev":"{prev}","run_id":{run},"seq":{seq},"type":"{kind}"}}'
            prev = sha256(f"{opening}{closing}".encode("ascii")).hexdigest()
            own.append(f'{opening}"hash":"{prev}",{closing}')
        written = ",".join(own)
        if not text.startswith(written if first == 0 else f",{written}", at):
            return None
        at += len(written) + (first != 0)
    return at


def _may_be_long(*texts: str) -> bool:
    """Whether some integer in these canonical texts may be beyond 2**53 - 1."""
    return any(
        _LONG in text.encode("ascii").translate(_SHAPE) and _LONGER.search(text) is not None
        for text in texts
    )


def _may_be_deep(data: str) -> bool:
    """Whether a line's data, three levels down, may be nested too deep."""
    return data.count("[") + data.count("{") > DEPTH_MAX - 3


def _is_deep(value: object) -> bool:
    """Whether more than `DEPTH_MAX` lists and objects stand within one another. Level by level, so
    that no depth is too deep to be looked at."""
    level = [value]
    for _ in range(DEPTH_MAX + 1):
        level = [part for whole in level for part in _parts_within(whole)]
        if not level:
            return False
    return True


def _parts_within(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _look_closely(parts: Mapping[str, object], content: bytes) -> Opened:
    """What `_own_text` says of a whole file, step by step, for any file."""
    journal = parts.get("journal")
    if not isinstance(journal, list):
        raise unreadable("the file lacks what an affidavit has (journal)")
    if _is_deep(parts):
        raise unreadable(f"the file is nested deeper than {DEPTH_MAX} levels")
    try:
        own = canonical_json(parts)
    except NotCanonical:
        raise unreadable("the file is no canonical JSON") from None
    for seq, line in enumerate(journal, start=1):
        if not isinstance(line, dict) or line.keys() != LINE_FIELDS:
            raise unreadable(f"the file lacks what an affidavit has (journal line {seq})")
    if own != content:
        raise NotItsOwnBytes
    return Opened(parts, _first_break(journal))


def _first_break(journal: Sequence[Mapping[str, object]]) -> int | None:
    """The place of the first line whose hash, place or link is wrong."""
    prev: object = GENESIS
    for place, line in enumerate(journal):
        must = {**line, "seq": place + 1, "prev": prev, "run_id": journal[0]["run_id"]}
        own = must.pop("hash")
        if {**must, "hash": own} != line or digest(canonical_json(must)) != own:
            return place
        prev = own
    return None


def _parse(content: bytes) -> tuple[Mapping[str, object], str]:
    if len(content) > FILE_BYTES_MAX:
        raise unreadable(f"the file is larger than {FILE_BYTES_MAX // 1_000_000} MB")
    try:
        text = content.decode("ascii")
        raw = json.loads(text, parse_float=_refuse, parse_constant=_refuse)
        if not isinstance(raw, dict):
            raise unreadable("the file holds no JSON object")
        if "\\" in text and "\\u" in text:  # only there can a key stand that is not ASCII
            canonical_json(raw)
    except (ValueError, RecursionError):
        raise unreadable("the file is no canonical JSON") from None
    return raw, text


def _refuse(text: str) -> NoReturn:
    raise NotCanonical(f"{text[:20]} has no canonical form")
