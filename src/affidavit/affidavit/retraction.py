"""What was said of an answer since it was published: retracted, or superseded by another (L9).

A retraction is a record of its own beside the run; the run, its journal and its file stay as they
are. It is linked by digest to the very file that it speaks of, and to the retraction before it. It
can be signed, by a key that signs retractions and nothing else; one that is not signed says so.
Whoever has the file alone cannot know of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal

from pydantic import Field, ValidationError, model_validator

from affidavit.affidavit import dsse
from affidavit.contract.errors import InputRefused
from affidavit.contract.ids import is_run_id
from affidavit.contract.record import Instant, Record
from affidavit.core.canonical import canonical_json, digest
from affidavit.ports.signer import CheckSignature
from affidavit.ports.store import Artifact

RETRACTION: Final = "retraction"
"""The kind of artifact that a retraction is kept as."""

REASON_CHARS_MAX: Final = 500
"""A reason is a sentence or two; what is longer is a report of its own."""

_DIGEST: Final = r"^[0-9a-f]{64}$"


class Word(StrEnum):
    """What became of an answer."""

    RETRACTED = "RETRACTED"
    SUPERSEDED = "SUPERSEDED"


class RetractionRecord(Record):
    """One retraction. `affidavit` is the SHA-256 of the file that it speaks of, `previous` that of
    the retraction before it, `superseded_by` the run whose answer takes its place."""

    format: Literal["affidavit-retraction/0"] = "affidavit-retraction/0"
    run_id: str
    affidavit: str = Field(pattern=_DIGEST)
    word: Word
    reason: str = Field(min_length=1, max_length=REASON_CHARS_MAX)
    by: str = Field(min_length=1, max_length=100)
    at: Instant
    superseded_by: str | None = None
    superseding_affidavit: str | None = Field(default=None, pattern=_DIGEST)
    previous: str | None = Field(default=None, pattern=_DIGEST)

    @model_validator(mode="after")
    def _linked(self) -> RetractionRecord:
        if (self.word is Word.SUPERSEDED) != (self.superseded_by is not None):
            raise ValueError("an answer is superseded by a run, and retracted without one")
        if (self.superseded_by is None) != (self.superseding_affidavit is None):
            raise ValueError("the run that supersedes is named with its file")
        if self.superseded_by == self.run_id:
            raise ValueError("no answer supersedes itself")
        return self


@dataclass(frozen=True, slots=True)
class Retraction:
    """A retraction as a store keeps it: the record, and its signed envelope if it has one."""

    record: RetractionRecord
    address: str
    envelope: bytes | None = None


Sign = Callable[[bytes], bytes]
"""From a record's canonical bytes to a signed envelope's, by the key for retractions.

Raises RecordFailed where there is no key that may be used: then nothing is retracted (L5)."""


def write_retraction(record: RetractionRecord, sign: Sign | None = None) -> Artifact:
    """The record as it is kept: canonical JSON, with the envelope where it is signed."""
    body = record.model_dump(mode="json")
    envelope = None if sign is None else json.loads(sign(canonical_json(body)))
    content = canonical_json({"record": body, "envelope": envelope})
    return Artifact(digest(content), RETRACTION, content)


def read_retraction(item: Artifact) -> Retraction:
    """The retraction in these bytes. Raises InputRefused (RETRACTION_UNREADABLE)."""
    raw: dict[str, object] = {"envelope": None}
    try:
        raw = json.loads(item.content)
        record = RetractionRecord.model_validate_json(json.dumps(raw["record"]))
        own: bytes | None = canonical_json({"record": raw["record"], "envelope": raw["envelope"]})
    except (KeyError, TypeError, ValueError, RecursionError, ValidationError):
        own = None
    if own != item.content:
        raise InputRefused(
            "a retraction of this run cannot be read",
            code="RETRACTION_UNREADABLE",
            hint="somebody altered the store; do not rely on this answer",
        )
    envelope = None if raw["envelope"] is None else canonical_json(raw["envelope"])
    return Retraction(record, item.digest, envelope)


def is_truly_signed(retraction: Retraction, check: CheckSignature) -> bool:
    """Whether its envelope, if it has one, is a key's word over exactly this record (L9)."""
    if retraction.envelope is None:
        return True
    try:
        signed = dsse.read_plain(json.loads(retraction.envelope))
    except ValueError:
        return False
    body = canonical_json(retraction.record.model_dump(mode="json"))
    fits = signed.payload_type == dsse.RETRACTION and signed.payload == body
    return fits and dsse.holds(signed, check)


def retractions_in(artifacts: Sequence[Artifact], file: bytes) -> tuple[Retraction, ...]:
    """Every retraction of the run with this file, oldest first.

    Raises InputRefused (RETRACTION_UNREADABLE) for one that cannot be read or speaks of another
    file: an answer that may be retracted is not shown as one that stands.
    """
    found = [read_retraction(item) for item in artifacts if item.kind == RETRACTION]
    address = digest(file)
    for each in found:
        if each.record.affidavit != address:
            raise InputRefused(
                "a retraction of this run speaks of another file",
                code="RETRACTION_UNREADABLE",
                hint="somebody altered the store; do not rely on this answer",
            )
    return tuple(sorted(found, key=lambda each: (each.record.at, each.address)))


def check_reason(reason: str, superseded_by: str | None) -> None:
    """Refuse a retraction without a reason, or by what is no run (RETRACTION_REFUSED)."""
    wrong = ""
    if not reason.strip() or len(reason) > REASON_CHARS_MAX:
        wrong = f"a reason has 1 to {REASON_CHARS_MAX} characters"
    if superseded_by is not None and not is_run_id(superseded_by):
        wrong = f"{superseded_by!r} is no run's id"
    if wrong:
        raise InputRefused(
            f"nothing was retracted: {wrong}",
            code="RETRACTION_REFUSED",
            hint="give --reason TEXT, and with --superseded-by an id of `affidavit runs list`",
        )
