"""The bytes of a file before anything in them is believed: canonical form and chain (A4; pure)

A whole file is told from an altered one by one comparison. What the file's own values say is
written down as a proper file has it, canonical, each line counted and hashed after the one before;
if these are the bytes that came, everything holds at once. So a journal is checked at the speed of
a JSON parser (bench/sealing.py). Only of bytes that differ anybody asks where, and takes his time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import accumulate
from types import MappingProxyType
from typing import Any, Final, NoReturn

from affidavit.contract.errors import InputRefused
from affidavit.core.canonical import (
    SAFE_INTEGER_MAX,
    NotCanonical,
    canonical_json,
    digest,
    encode_plain,
    refuse_uncanonical,
)
from affidavit.core.chain import GENESIS

FILE_BYTES_MAX: Final = 64_000_000
"""A run's journal and cited projections are a few hundred KB; beyond this nothing is parsed."""

MEND: Final = "ask for the file again, or write it anew with `affidavit show RUN_ID --out FILE`"

DEPTH_MAX: Final = 100
"""So many lists and objects stand within one another at most; in a run's file it is some ten. With
a bound of its own a file is read, or refused, whatever the recursion limit of its reader is."""

LINE_FIELDS: Final = frozenset({"run_id", "seq", "at_us", "type", "data", "prev", "hash"})


SEAL_OF: Final[Mapping[object, str]] = MappingProxyType(
    {"affidavit/1": "signature", "affidavit/0": "digest"}
)
"""What closes a file of each version that is known here; the other parts are the same."""


class Altered(Exception):
    """The bytes are a file of a known version, and not one that any run can have written."""


class NotItsOwnBytes(Altered):
    """The content can be read, but these are not its canonical bytes."""


class Misshapen(Altered):
    """A part is missing, is too much, or is not what such a part is; `says` which."""

    def __init__(self, says: str) -> None:
        super().__init__(says)
        self.says = says


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
    canonical bytes, or of no version that is known here; `Misshapen` when there is no journal of
    lines in it, and `NotItsOwnBytes` when they are other bytes than their content's own.
    """
    parts, text = _parse(content)
    journal = parts.get("journal")
    is_known = isinstance(parts.get("format"), str) and parts["format"] in SEAL_OF
    if is_known and isinstance(journal, list) and journal and _is_proper(parts, journal, text):
        return Opened(parts, None)
    return _look_closely(text, content)


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


def _is_proper(parts: Mapping[str, object], journal: Sequence[object], text: str) -> bool:
    """Whether these are the bytes of a whole file; what is in doubt is not (yet)."""
    names = sorted(parts)
    place = names.index("journal")
    try:
        rest = {name: encode_plain(parts[name]) for name in names if name != "journal"}
        before = "".join(f"{encode_plain(name)}:{rest[name]}," for name in names[:place])
        after = "".join(f",{encode_plain(name)}:{rest[name]}" for name in names[place + 1 :])
        start = f'{{{before}"journal":['
        if not text.startswith(start) or _is_deep(f"{start}]{after}}}"):
            return False
        _refuse_doubtful(before + after, {name: parts[name] for name in rest})
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
        if len(enclosed) != len(lines):
            return None
        _refuse_doubtful(spread, [line["data"] for line in lines])
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


def _refuse_doubtful(text: str, value: object) -> None:
    """Raises NotCanonical for what only a look at each value can tell: a key beyond ASCII, or an
    integer beyond 2**53 - 1. Most texts hold neither an escape nor so long a number at all."""
    is_escaped = "\\" in text and "\\u" in text
    if is_escaped or _LONG in text.encode("ascii").translate(_SHAPE):
        refuse_uncanonical(value)


def _may_be_deep(data: str) -> bool:
    """Whether a line's data, three levels down, may be nested too deep."""
    return data.count("[") + data.count("{") > DEPTH_MAX - 3


def _is_deep(text: str) -> bool:
    """Whether more than `DEPTH_MAX` lists and objects stand within one another in a JSON text."""
    if text.count("[") + text.count("{") <= DEPTH_MAX:
        return False
    level = accumulate(1 if mark in "[{" else -1 for mark in _NO_BRACKET.sub("", text))
    return any(depth > DEPTH_MAX for depth in level)


_NO_BRACKET: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[^][{}"]+')


def _look_closely(text: str, content: bytes) -> Opened:
    """What `_is_proper` says of a whole file, step by step, for any file.

    The text is parsed anew: what stands under a key that comes twice was not seen yet.
    """
    if _is_deep(text):
        raise unreadable(f"the file is nested deeper than {DEPTH_MAX} levels")
    try:
        parts = json.loads(
            text, parse_int=_integer, parse_float=_refuse, object_pairs_hook=_with_ascii_keys
        )
    except ValueError:
        raise unreadable("the file is no canonical JSON") from None
    if not isinstance(parts.get("format"), str) or parts["format"] not in SEAL_OF:
        raise unreadable("this is no affidavit file", "was it written by another version?")
    journal = parts.get("journal")
    if not isinstance(journal, list):
        raise Misshapen("the file lacks what an affidavit has (journal)")
    for seq, line in enumerate(journal, start=1):
        if not isinstance(line, dict) or line.keys() != LINE_FIELDS:
            raise Misshapen(f"the file lacks what an affidavit has (journal line {seq})")
    if canonical_json(parts) != content:
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
    except (ValueError, RecursionError):
        raise unreadable("the file is no canonical JSON") from None
    if not isinstance(raw, dict):
        raise unreadable("the file holds no JSON object")
    return raw, text


def _integer(text: str) -> int:
    """An integer that is the same everywhere: up to 2**53 - 1."""
    number = int(text)
    return number if abs(number) <= SAFE_INTEGER_MAX else _refuse(text)


def _with_ascii_keys(items: list[tuple[str, object]]) -> dict[str, object]:
    return dict(items) if all(key.isascii() for key, _ in items) else _refuse("a key")


def _refuse(text: str) -> NoReturn:
    raise NotCanonical(f"{text[:20]} has no canonical form")
