"""The format of an `*.affidavit` file, version 0.

One JSON object that equals its own canonical bytes (see `core.canonical`), or it is refused: so
there is no duplicate key, no whitespace, no float, nothing trailing, and two readers cannot see two
things. `journal` holds the run's lines, `calls` the projections that the answer rests on,
`release` the answer itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pydantic import ValidationError

from affidavit.contract.errors import InputRefused
from affidavit.contract.journal import Entry, EventType
from affidavit.contract.report import ReleaseRecord
from affidavit.core.canonical import NotCanonical, canonical_json

FORMAT: Final = "affidavit/0"

FILE_BYTES_MAX: Final = 64_000_000
"""A run's journal and cited projections are a few hundred KB; beyond this nothing is parsed."""


@dataclass(frozen=True, slots=True)
class CitedCall:
    """One call that the answer rests on: its identity, and the canonical bytes of its projection."""

    tool_call_id: str
    tool: str
    provenance: str
    result: bytes


@dataclass(frozen=True, slots=True)
class Document:
    """A whole file, read."""

    release: ReleaseRecord
    calls: tuple[CitedCall, ...]
    journal: tuple[Entry, ...]


def write_document(document: Document) -> bytes:
    """The file's bytes."""
    return canonical_json(
        {
            "format": FORMAT,
            "release": document.release.model_dump(mode="json"),
            "calls": [
                {
                    "tool_call_id": call.tool_call_id,
                    "tool": call.tool,
                    "provenance": call.provenance,
                    "result": json.loads(call.result),
                }
                for call in document.calls
            ],
            "journal": [_line(entry) for entry in document.journal],
        }
    )


def read_document(content: bytes) -> Document:
    """The document in these bytes.

    Raises InputRefused (AFFIDAVIT_UNREADABLE) when they are no affidavit at all, and
    `NotItsOwnBytes` when they hold one but are not its canonical bytes.
    """
    raw = _parse(content)
    if raw.get("format") != FORMAT:
        raise _unreadable(f"this is no {FORMAT} file", "was it written by another version?")
    try:
        document = Document(
            release=ReleaseRecord.model_validate_json(json.dumps(raw["release"])),
            calls=tuple(_call(item) for item in _list(raw["calls"])),
            journal=tuple(_entry(item) for item in _list(raw["journal"])),
        )
    except (KeyError, TypeError, ValueError, NotCanonical) as error:
        where = _where(error)
        raise _unreadable(f"the file lacks what an affidavit has ({where})", _MEND) from None
    if write_document(document) != content:
        raise NotItsOwnBytes
    return document


class NotItsOwnBytes(Exception):
    """The content can be read, but these are not its canonical bytes: the file was altered."""


_MEND: Final = "ask for the file again, or write it anew with `affidavit show RUN_ID --out FILE`"


def _unreadable(message: str, hint: str) -> InputRefused:
    return InputRefused(message, code="AFFIDAVIT_UNREADABLE", hint=hint)


def _where(error: Exception) -> str:
    if isinstance(error, ValidationError):
        return ".".join(str(part) for part in error.errors()[0]["loc"])
    return str(error).strip("'")[:80] if isinstance(error, KeyError) else "a misshapen part"


def _parse(content: bytes) -> Mapping[str, object]:
    if len(content) > FILE_BYTES_MAX:
        raise _unreadable(f"the file is larger than {FILE_BYTES_MAX // 1_000_000} MB", _MEND)
    try:
        raw = json.loads(content.decode("ascii"))
    except (ValueError, RecursionError):
        raise _unreadable("the file is no canonical JSON", _MEND) from None
    if not isinstance(raw, dict):
        raise _unreadable("the file holds no JSON object", _MEND)
    return raw


def _list(raw: object) -> list[Mapping[str, object]]:
    if not isinstance(raw, list) or not all(isinstance(item, dict) for item in raw):
        raise ValueError("a list of objects was expected")
    return raw


def _call(raw: Mapping[str, object]) -> CitedCall:
    return CitedCall(
        tool_call_id=str(raw["tool_call_id"]),
        tool=str(raw["tool"]),
        provenance=str(raw["provenance"]),
        result=canonical_json(raw["result"]),
    )


def _line(entry: Entry) -> dict[str, object]:
    return {
        "run_id": entry.run_id,
        "seq": entry.seq,
        "at_us": entry.at_us,
        "type": str(entry.type),
        "data": entry.data,
        "prev": entry.prev,
        "hash": entry.hash,
    }


def _entry(raw: Mapping[str, object]) -> Entry:
    seq, at_us, data = raw["seq"], raw["at_us"], raw["data"]
    if not (isinstance(seq, int) and isinstance(at_us, int) and isinstance(data, dict)):
        raise ValueError("a journal line is misshapen")
    return Entry(
        run_id=str(raw["run_id"]),
        seq=seq,
        at_us=at_us,
        type=EventType(str(raw["type"])),
        data=data,
        prev=str(raw["prev"]),
        hash=str(raw["hash"]),
    )
