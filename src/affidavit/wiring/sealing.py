"""By which key this installation seals, whom it tells, and whose signature it trusts."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from affidavit.adapters.anchors import open_anchors
from affidavit.adapters.ed25519_signer import check_ed25519
from affidavit.adapters.key_files import KeyFolder
from affidavit.affidavit.dsse import RETRACTION, sign_payload, to_plain
from affidavit.affidavit.recheck import Recheck, recheck
from affidavit.affidavit.retraction import Sign
from affidavit.affidavit.seal import Sealer
from affidavit.affidavit.trust import Trust, TrustList
from affidavit.application.anchoring import Teller
from affidavit.contract.errors import InputRefused, RecordFailed
from affidavit.core.canonical import canonical_json
from affidavit.diagnose import Tell
from affidavit.ports.signer import Purpose, Signer
from affidavit.settings import Settings, read_settings

_LOG = logging.getLogger("affidavit.anchor")


def head_signer(settings: Settings | None = None) -> Signer:
    """Who signs this installation's run heads: its own key, made when the first run begins.

    Raises InputRefused (KEY_REFUSED, KEY_UNREADABLE, SIGNING_MISSING) for a key that is there and
    cannot be used: before anything else is made.
    """
    return _signer(settings, Purpose.RUN_HEADS)


def _signer(settings: Settings | None, purpose: Purpose) -> Signer:
    signing = (settings or read_settings(os.environ, Path.cwd())).signing
    try:
        return KeyFolder(signing.key_folder(os.environ)).signer_later(purpose)
    except RecordFailed as failed:
        raise InputRefused(failed.message, code=failed.code, hint=failed.hint) from failed


def head_teller(settings: Settings | None = None) -> Tell | None:
    """Who tells this installation's anchors of each sealed run; None where none is set.

    Raises InputRefused (ANCHOR_REFUSED).
    """
    signing = (settings or read_settings(os.environ, Path.cwd())).signing
    anchors = open_anchors(signing.anchors)
    return Teller(anchors, _complain) if anchors else None


def _complain(failed: RecordFailed) -> None:
    _LOG.warning("%s (%s)", failed.message, failed.hint)


@dataclass(frozen=True, slots=True)
class Sealing:
    """How a world's runs are sealed, and who is told of it."""

    seal: Sealer
    tell: Tell | None


def sealing_of(settings: Settings | None, signer: Signer | None = None) -> Sealing:
    """By that signer, telling nobody; else by this installation's key, telling its anchors.

    Raises InputRefused as `head_signer` and `head_teller` do.
    """
    if signer is not None:
        return Sealing(Sealer(signer), None)
    return Sealing(Sealer(head_signer(settings)), head_teller(settings))


def retraction_sign(settings: Settings | None = None) -> Sign:
    """How this installation signs retractions: by a key that signs nothing else.

    Raises InputRefused as `head_signer` does; the function that is returned, RecordFailed.
    """
    signer = _signer(settings, Purpose.RETRACTIONS)

    def sign(body: bytes) -> bytes:
        return canonical_json(to_plain(sign_payload(signer, RETRACTION, body)))

    return sign


def trust_in(pinned: Iterable[str] = (), known: TrustList | None = None) -> Trust:
    """What a reader trusts: nobody, if nothing is given."""
    return Trust(check_ed25519, frozenset(pinned), known or TrustList())


def recheck_file(content: bytes, trust: Trust | None = None) -> Recheck:
    """Every check of an affidavit file, with signatures checked by the library in use."""
    return recheck(content, trust or trust_in())
