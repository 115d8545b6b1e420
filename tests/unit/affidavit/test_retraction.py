"""What was said of an answer since: a linked record, never an edit (L9)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from affidavit.adapters.ed25519_signer import MemorySigner, check_ed25519
from affidavit.affidavit.dsse import RETRACTION, RUN_HEAD_RECORDED, sign_payload, to_plain
from affidavit.affidavit.retraction import (
    Retraction,
    RetractionRecord,
    Word,
    check_reason,
    is_truly_signed,
    read_retraction,
    retractions_in,
    write_retraction,
)
from affidavit.contract.errors import InputRefused, RecordFailed
from affidavit.core.canonical import canonical_json, digest
from affidavit.ports.signer import Purpose
from affidavit.ports.store import Artifact

FILE = b"the sealed file"
AT = datetime(2026, 3, 2, tzinfo=UTC)

pytestmark = pytest.mark.spec("L9")


def record(**changes: Any) -> RetractionRecord:
    told: dict[str, Any] = {
        "run_id": "run_0123456789abcdef",
        "affidavit": digest(FILE),
        "word": Word.RETRACTED,
        "reason": "the clock was off",
        "by": "ada",
        "at": AT,
    }
    return RetractionRecord(**{**told, **changes})


def test_it_reads_back_as_it_was_written() -> None:
    item = write_retraction(record())
    assert item.digest == digest(item.content)
    assert read_retraction(item) == Retraction(record(), item.digest)


def test_a_signed_one_carries_its_envelope_over_exactly_the_record() -> None:
    asked: list[bytes] = []

    def sign(message: bytes) -> bytes:
        asked.append(message)
        return b'{"payload":"x","signatures":[]}'

    item = write_retraction(record(), sign)
    assert asked == [canonical_json(record().model_dump(mode="json"))]
    assert read_retraction(item).envelope == b'{"payload":"x","signatures":[]}'


def test_without_a_key_that_may_be_used_nothing_is_written() -> None:
    def refuse(message: bytes) -> bytes:
        raise RecordFailed("the key cannot be read", code="KEY_UNREADABLE")

    with pytest.raises(RecordFailed, match="key"):
        write_retraction(record(), refuse)


def test_they_are_read_oldest_first() -> None:
    first = write_retraction(record())
    later = record(at=AT + timedelta(days=1), previous=first.digest, reason="again")
    second = write_retraction(later)
    other = Artifact(digest(b"x"), "release", b"x")
    found = retractions_in((second, other, first), FILE)
    assert [each.record.reason for each in found] == ["the clock was off", "again"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"[]",
        b'{"record":{},"envelope":null}',
        write_retraction(record()).content.replace(b"ada", b"bob") + b" ",
        write_retraction(record()).content.replace(b'"format"', b'"word":"RETRACTED","format"'),
    ],
)
def test_one_that_cannot_be_read_is_no_silence(content: bytes) -> None:
    """An answer that may be retracted is not shown as one that stands."""
    with pytest.raises(InputRefused, match="cannot be read"):
        retractions_in((Artifact(digest(content), "retraction", content),), FILE)


def test_one_that_speaks_of_another_file_is_refused() -> None:
    with pytest.raises(InputRefused, match="another file"):
        retractions_in((write_retraction(record()),), b"another file")


OTHER = {"superseded_by": "run_fedcba9876543210", "superseding_affidavit": digest(b"other")}


@pytest.mark.parametrize(
    "changes",
    [
        {"word": Word.SUPERSEDED},
        OTHER,
        {**OTHER, "word": Word.SUPERSEDED, "superseding_affidavit": None},
        {**OTHER, "word": Word.SUPERSEDED, "superseded_by": "run_0123456789abcdef"},
        {"reason": ""},
        {"by": ""},
        {"affidavit": "x"},
    ],
)
def test_a_record_that_says_half_of_it_cannot_be_made(changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        record(**changes)
    assert record(**{**OTHER, "word": Word.SUPERSEDED}).superseded_by == OTHER["superseded_by"]


@pytest.mark.parametrize(
    ("reason", "other"), [("", None), (" \n", None), ("x" * 501, None), ("fine", "nobody")]
)
def test_a_reason_is_a_sentence_and_a_run_is_a_run(reason: str, other: str | None) -> None:
    with pytest.raises(InputRefused, match="nothing was retracted"):
        check_reason(reason, other)
    check_reason("fine", "run_fedcba9876543210")


@pytest.mark.spec("A4")
def test_a_signature_counts_over_exactly_its_record_and_for_its_purpose_alone() -> None:
    signer = MemorySigner(Purpose.RETRACTIONS)

    def sign(message: bytes) -> bytes:
        return canonical_json(to_plain(sign_payload(signer, RETRACTION, message)))

    good = read_retraction(write_retraction(record(), sign))
    assert is_truly_signed(good, check_ed25519)
    assert is_truly_signed(read_retraction(write_retraction(record())), check_ed25519)
    other = replace(good, record=record(reason="another"))
    assert not is_truly_signed(other, check_ed25519)
    assert not is_truly_signed(replace(good, envelope=b"{}"), check_ed25519)
    heads = MemorySigner()
    message = canonical_json(record().model_dump(mode="json"))
    borrowed = canonical_json(to_plain(sign_payload(heads, RUN_HEAD_RECORDED, message)))
    assert not is_truly_signed(replace(good, envelope=borrowed), check_ed25519)
