"""Whether an answer still stands, as its store knows it (L9)."""

from __future__ import annotations

from collections.abc import Sequence

from affidavit.adapters.ed25519_signer import check_ed25519
from affidavit.affidavit.page import Standing
from affidavit.affidavit.retraction import Retraction, is_truly_signed, retractions_in
from affidavit.contract.errors import InputRefused
from affidavit.contract.record import format_instant
from affidavit.ports.store import Artifact


def true_retractions(artifacts: Sequence[Artifact], file: bytes) -> tuple[Retraction, ...]:
    """Every retraction of the run with this file, oldest first, each signature checked.

    Raises InputRefused (RETRACTION_UNREADABLE) for one that cannot be believed: an answer that may
    be retracted is not shown as one that stands.
    """
    found = retractions_in(artifacts, file)
    if not all(is_truly_signed(each, check_ed25519) for each in found):
        raise InputRefused(
            "a retraction of this run carries a signature that is none of it",
            code="RETRACTION_UNREADABLE",
            hint="somebody altered the store; do not rely on this answer",
        )
    return found


def standing_of(retractions: Sequence[Retraction]) -> Standing:
    """The newest word about an answer, for a page."""
    if not retractions:
        return Standing(known=True)
    record = retractions[-1].record
    return Standing(
        known=True,
        word=str(record.word),
        reason=record.reason,
        by=record.by,
        at=format_instant(record.at),
        superseded_by=record.superseded_by,
    )
