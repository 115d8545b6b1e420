"""The format of an `*.affidavit` file, version 1 (docs/affidavit-file.md).

One JSON object that equals its own canonical bytes (see `core.canonical`), or it is refused: so
there is no duplicate key, no whitespace, no float, nothing trailing, and two readers cannot see two
things.

    release      the answer itself
    request      what was asked, as the journal's first line names it by digest
    calls        the projections that the answer rests on
    statements   what the report's author bound to each sentence, to be proved again
    journal      every line of the run
    signature    the head of the run: a digest of all of the above, signed

Version 0 had a plain `digest` in place of the signature; it can still be read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from pydantic import ValidationError

from affidavit.affidavit.dsse import Signed, read_plain, to_plain
from affidavit.affidavit.integrity import (
    SEAL_OF,
    Misshapen,
    NotItsOwnBytes,
    Opened,
    open_file,
)
from affidavit.contract.agent import AgentRequest
from affidavit.contract.journal import Entry, EventType
from affidavit.contract.report import ReleaseRecord
from affidavit.contract.states import Provenance
from affidavit.core.canonical import canonical_json, digest

FORMAT: Final = "affidavit/1"
UNSIGNED: Final = "affidavit/0"

PARTS: Final = frozenset(
    {"format", "release", "request", "calls", "statements", "journal", *SEAL_OF.values()}
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
    """A whole file, read. `signed` closes it, in version 0 `digest`."""

    release: ReleaseRecord
    request: AgentRequest
    calls: tuple[CitedCall, ...]
    statements: tuple[PartStatements, ...]
    journal: tuple[Entry, ...]
    digest: str = ""
    signed: Signed | None = None
    format: str = FORMAT

    def call(self, tool_call_id: str) -> CitedCall | None:
        """The call in the file with that id, or None."""
        return next((call for call in self.calls if call.tool_call_id == tool_call_id), None)


def sealed_unsigned(document: Document) -> Document:
    """The document as version 0 closed it: with the plain digest of everything else in it."""
    bare = replace(document, format=UNSIGNED, signed=None)
    return replace(bare, digest=digest_of(bare))


def digest_of(document: Document) -> str:
    """The digest of everything in the document but its digest or signature."""
    return digest(canonical_json(_content(document)))


def write_document(document: Document) -> bytes:
    """The file's bytes. Raises NotCanonical for content that has no canonical form."""
    seal = document.digest if document.signed is None else to_plain(document.signed)
    return canonical_json({**_content(document), SEAL_OF[document.format]: seal})


def _content(document: Document) -> dict[str, object]:
    return {
        "format": document.format,
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
    """The document in these bytes; raises as `open_file` and `read_opened` do."""
    return read_opened(open_file(content), content)


def read_opened(opened: Opened, content: bytes) -> Document:
    """The document in a file that was opened.

    Raises `Misshapen` when a part is missing or is not what such a part is, and `NotItsOwnBytes`
    when the file holds more than a document has.
    """
    raw = opened.parts
    version = str(raw["format"])
    try:
        seal = raw[SEAL_OF[version]]
        document = Document(
            release=ReleaseRecord.model_validate_json(json.dumps(raw["release"])),
            request=AgentRequest.model_validate_json(json.dumps(raw["request"])),
            calls=tuple(_call(item) for item in _objects(raw["calls"])),
            statements=tuple(_part(item) for item in _objects(raw["statements"])),
            journal=tuple(_entry(item) for item in _objects(raw["journal"])),
            digest=_text(seal) if version == UNSIGNED else "",
            signed=None if version == UNSIGNED else read_plain(seal),
            format=version,
        )
        own = write_document(document)
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise Misshapen(f"the file lacks what an affidavit has ({_where(error)})") from None
    if own != content:
        raise NotItsOwnBytes
    return document


def _where(error: Exception) -> str:
    """Which part is missing or misshapen: names of ours, and nothing of the content."""
    if isinstance(error, ValidationError):
        known = (str(part) for part in error.errors()[0]["loc"])
        return ".".join(part for part in known if part.isascii() and part.isidentifier())
    if isinstance(error, KeyError) and error.args[0] in PARTS:
        return str(error.args[0])
    return "a misshapen part"


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
