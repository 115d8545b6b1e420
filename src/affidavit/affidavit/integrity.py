"""The bytes of a file before anything in them is believed: canonical form and chain (A4; pure)

Nothing is written down line by line. The frame of each line is known from its values, so it is
looked up where it must stand; what the frames enclose is written down in one go and compared; and
what a hash covers is cut out of the file itself. So a journal is checked at the speed of a JSON
parser (bench/sealing.py).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, NoReturn

from affidavit.contract.errors import InputRefused
from affidavit.core.canonical import SAFE_INTEGER_MAX, NotCanonical, canonical_json
from affidavit.core.chain import GENESIS

FILE_BYTES_MAX: Final = 64_000_000
"""A run's journal and cited projections are a few hundred KB; beyond this nothing is parsed."""

MEND: Final = "ask for the file again, or write it anew with `affidavit show RUN_ID --out FILE`"

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
    if not isinstance(journal, list):
        raise unreadable("the file lacks what an affidavit has (journal)")
    names = sorted(parts)
    place = names.index("journal")
    before = "".join(f"{_encode(name)}:{_encode(parts[name])}," for name in names[:place])
    after = "".join(f",{_encode(name)}:{_encode(parts[name])}" for name in names[place + 1 :])
    start = f'{{{before}"journal":['
    if not text.startswith(start):
        raise NotItsOwnBytes
    walked = _walk(journal, text, content, len(start))
    own = _encode([line["data"] for line in journal])
    if text[walked.at :] != f"]{after}}}" or f"[{','.join(walked.enclosed)}]" != own:
        raise NotItsOwnBytes
    return Opened(parts, walked.broken)


def unreadable(message: str, hint: str = MEND) -> InputRefused:
    """The error for what is no affidavit file."""
    return InputRefused(message, code="AFFIDAVIT_UNREADABLE", hint=hint)


_ENCODER: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), check_circular=False)
_encode: Final = _ENCODER.encode


@dataclass(frozen=True, slots=True)
class _Walked:
    """Where the journal's lines end, what each of them encloses, the first that is broken."""

    at: int
    enclosed: list[str]
    broken: int | None


def _walk(journal: Sequence[object], text: str, content: bytes, at: int) -> _Walked:
    """Goes along the lines as they stand in the file from `at` on, and follows their chain.

    Raises `NotItsOwnBytes` where a line does not stand as it is written. One loop over locals: a
    call a line would cost as much as its hash.
    """
    enclosed, broken, prev, run_id, comma = [], None, GENESIS, None, ""
    for seq, line in enumerate(journal, start=1):
        if not isinstance(line, dict) or line.keys() != LINE_FIELDS:
            raise unreadable(f"the file lacks what an affidavit has (journal line {seq})")
        own, run = line["hash"], line["run_id"]
        opening = f'{comma}{{"at_us":{line["at_us"]},"data":'
        mark = f',"hash":"{own}",'
        closing = (
            f'"prev":"{line["prev"]}","run_id":"{run}","seq":{line["seq"]},'
            f'"type":"{line["type"]}"}}'
        )
        data = at + len(opening)
        end = text.find(mark, data)
        tail = end + len(mark)
        if end < 0 or not (text.startswith(opening, at) and text.startswith(closing, tail)):
            raise NotItsOwnBytes
        start, at = at + len(comma), tail + len(closing)
        enclosed.append(text[data:end])
        if broken is None:
            run_id, comma = (run if seq == 1 else run_id), ","
            found = sha256(content[start : end + 1] + content[tail:at]).hexdigest()
            linked = line["prev"] == prev and line["seq"] == seq and run == run_id
            broken, prev = (None if linked and own == found else seq - 1), own
    return _Walked(at, enclosed, broken)


def _parse(content: bytes) -> tuple[Mapping[str, object], str]:
    if len(content) > FILE_BYTES_MAX:
        raise unreadable(f"the file is larger than {FILE_BYTES_MAX // 1_000_000} MB")
    try:
        text = content.decode("ascii")
        raw = json.loads(text, parse_int=_integer, parse_float=_refuse, parse_constant=_refuse)
        if not isinstance(raw, dict):
            raise unreadable("the file holds no JSON object")
        if "\\u" in text:  # only there can a key stand that is not ASCII
            canonical_json(raw)
    except (ValueError, RecursionError):
        raise unreadable("the file is no canonical JSON") from None
    return raw, text


def _integer(text: str) -> int:
    """An integer that is the same everywhere: up to 2**53 - 1, which has 16 digits."""
    number = int(text)
    return number if -SAFE_INTEGER_MAX <= number <= SAFE_INTEGER_MAX else _refuse(text)


def _refuse(text: str) -> NoReturn:
    raise NotCanonical(f"{text[:20]} has no canonical form")
