"""The format of an `*.affidavit` file, version 0 (docs/affidavit-file.md).

One JSON object that equals its own canonical bytes (see `core.canonical`), or it is refused: so
there is no duplicate key, no whitespace, no float, nothing trailing, and two readers cannot see two
things.

    release      the answer itself
    request      what was asked, as the journal's first line names it by digest
    calls        the projections that the answer rests on
    statements   what the report's author bound to each sentence, to be proved again
    journal      every line of the run
    digest       of all of the above, so that no change by accident goes unseen
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from pydantic import ValidationError

from affidavit.contract.agent import AgentRequest
from affidavit.contract.errors import InputRefused
from affidavit.contract.journal import Entry, EventType
from affidavit.contract.report import ReleaseRecord
from affidavit.contract.states import Provenance
from affidavit.core.canonical import canonical_json, digest

FORMAT: Final = "affidavit/0"

FILE_BYTES_MAX: Final = 64_000_000
"""A run's journal and cited projections are a few hundred KB; beyond this nothing is parsed."""

PARTS: Final = frozenset(
    {"format", "release", "request", "calls", "statements", "journal", "digest"}
)


@dataclass(frozen=True, slots=True)
class CitedCall:
    """One call that the answer rests on: its identity, and its projection as canonical bytes."""

    tool_call_id: str
    tool: str
    provenance: Provenance
    result: bytes


@dataclass(frozen=True, slots=True)
class PartStatements:
    """What an author bound to the sentences of one part of the report, as exact JSON texts.

    `at` points at the part (`/analyses/0`, `/conclusion`). `written` says whether the sentences are
    the author's own; else code split them off one body, and all statements stand on each of them.
    """

    at: str
    written: bool
    sentences: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A whole file, read."""

    release: ReleaseRecord
    request: AgentRequest
    calls: tuple[CitedCall, ...]
    statements: tuple[PartStatements, ...]
    journal: tuple[Entry, ...]
    digest: str = ""

    def call(self, tool_call_id: str) -> CitedCall | None:
        """The call in the file with that id, or None."""
        return next((call for call in self.calls if call.tool_call_id == tool_call_id), None)


class NotItsOwnBytes(Exception):
    """The content can be read, but these are not its canonical bytes: the file was altered."""


def sealed(document: Document) -> Document:
    """The document with the digest of everything else in it."""
    return replace(document, digest=digest_of(document))


def digest_of(document: Document) -> str:
    """The digest of everything in the document but its digest."""
    return digest(canonical_json(_content(document)))


def write_document(document: Document) -> bytes:
    """The file's bytes. Raises NotCanonical for content that has no canonical form."""
    return canonical_json({**_content(document), "digest": document.digest})


def _content(document: Document) -> dict[str, object]:
    return {
        "format": FORMAT,
        "release": document.release.model_dump(mode="json"),
        "request": document.request.model_dump(mode="json"),
        "calls": [
            {
                "tool_call_id": call.tool_call_id,
                "tool": call.tool,
                "provenance": str(call.provenance),
                "result": json.loads(call.result),
            }
            for call in document.calls
        ],
        "statements": [
            {"at": part.at, "written": part.written, "sentences": part.sentences}
            for part in document.statements
        ],
        "journal": [_line(entry) for entry in document.journal],
    }


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
            request=AgentRequest.model_validate_json(json.dumps(raw["request"])),
            calls=tuple(_call(item) for item in _objects(raw["calls"])),
            statements=tuple(_part(item) for item in _objects(raw["statements"])),
            journal=tuple(_entry(item) for item in _objects(raw["journal"])),
            digest=_text(raw["digest"]),
        )
        own = write_document(document)
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        where = _where(error)
        raise _unreadable(f"the file lacks what an affidavit has ({where})", _MEND) from None
    if own != content:
        raise NotItsOwnBytes
    return document


_MEND: Final = "ask for the file again, or write it anew with `affidavit show RUN_ID --out FILE`"


def _unreadable(message: str, hint: str) -> InputRefused:
    return InputRefused(message, code="AFFIDAVIT_UNREADABLE", hint=hint)


def _where(error: Exception) -> str:
    """Which part is missing or misshapen: names of ours, and nothing of the content."""
    if isinstance(error, ValidationError):
        known = (str(part) for part in error.errors()[0]["loc"])
        return ".".join(part for part in known if part.isascii() and part.isidentifier())
    if isinstance(error, KeyError) and error.args[0] in PARTS:
        return str(error.args[0])
    return "a misshapen part"


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


def _objects(raw: object) -> list[Mapping[str, object]]:
    if not isinstance(raw, list) or not all(isinstance(item, dict) for item in raw):
        raise ValueError("a list of objects was expected")
    return raw


def _text(raw: object) -> str:
    if not isinstance(raw, str):
        raise ValueError("a text was expected")
    return raw


def _call(raw: Mapping[str, object]) -> CitedCall:
    return CitedCall(
        tool_call_id=_text(raw["tool_call_id"]),
        tool=_text(raw["tool"]),
        provenance=Provenance(_text(raw["provenance"])),
        result=canonical_json(raw["result"]),
    )


def _part(raw: Mapping[str, object]) -> PartStatements:
    written, sentences = raw["written"], raw["sentences"]
    if not isinstance(written, bool) or not isinstance(sentences, list):
        raise ValueError("statements are misshapen")
    return PartStatements(
        at=_text(raw["at"]),
        written=written,
        sentences=tuple(tuple(_text(one) for one in sentence) for sentence in sentences),
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
    if not (type(seq) is int and type(at_us) is int and isinstance(data, dict)):
        raise ValueError("a journal line is misshapen")
    return Entry(
        run_id=_text(raw["run_id"]),
        seq=seq,
        at_us=at_us,
        type=EventType(_text(raw["type"])),
        data=data,
        prev=_text(raw["prev"]),
        hash=_text(raw["hash"]),
    )
