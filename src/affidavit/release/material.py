"""What was gathered beside the situation: the stuff that an answer is built from (L8).

Each kind belongs to the rows that may use it: a refused draft leaves codes and no text, a judged
one its evidence, and only a supported one itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from affidavit.contract.snapshots import DiagnosisProgressSnapshot, VerifiedEvidenceSnapshot
from affidavit.contract.states import IntentType, Provenance
from affidavit.contract.violations import Refusal, Violation
from affidavit.release.requests import Requests
from affidavit.release.situation import Situation
from affidavit.verify.support import SentenceProof, SupportedDraft


@dataclass(frozen=True, slots=True)
class NoMaterial:
    """Nothing beside the progress (D8 to D15)."""


@dataclass(frozen=True, slots=True)
class AskedFor:
    """What a draft without a conclusion asks for (D6, D7)."""

    requests: Requests


@dataclass(frozen=True, slots=True)
class Refusals:
    """Why a draft's citations do not hold (D3): codes and pointers, none of its words."""

    violations: tuple[Violation, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a draft's citations really hold, and which of its statements were proved (D4, D5)."""

    snapshot: VerifiedEvidenceSnapshot
    proofs: tuple[SentenceProof, ...] = ()
    refusals: tuple[Refusal, ...] = ()


@dataclass(frozen=True, slots=True)
class Supported:
    """The draft that may be published (D1, D2, D2b)."""

    draft: SupportedDraft


Material = NoMaterial | AskedFor | Refusals | Evidence | Supported


@dataclass(frozen=True, slots=True)
class Gathered:
    """All that a release needs, before anything is decided. `intent` is None where no branch was
    found."""

    situation: Situation
    material: Material
    progress: DiagnosisProgressSnapshot
    provenance: Provenance = Provenance.RECORDED
    intent: IntentType | None = IntentType.DIAGNOSIS
