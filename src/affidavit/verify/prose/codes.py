"""Codes that a record may hold for a word, as their own manuals gloss them. Field-wide ones only.

Short states of a process or a job (ps(1), squeue(1)), classes of HTTP answers (RFC 9110), ready
counts `0/1`, and shortened words. A code means its word; the word never means another code.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from affidavit.verify.prose.proofs import Proof
from affidavit.verify.statements.fields import Field
from affidavit.verify.statements.words import stem, stems_of

_STATES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "pd": "pending waiting queued", "r": "running", "cg": "completing", "cd": "completed",
        "f": "failed", "ca": "cancelled", "to": "timeout", "oom": "memory", "nf": "failed node",
        "s": "suspended sleeping", "d": "uninterruptible", "z": "zombie", "t": "stopped",
        "up": "up available", "down": "down unavailable", "ok": "ok", "err!": "error",
        "err": "error", "pf": "preempted", "st": "status state",
    }
)  # fmt: skip
"""Values of a state column, whole cells only."""
_COLUMNS: Final = frozenset(map(stem, "st s stat state status".split()))
_ANYWHERE: Final = frozenset({"err!", "err", "up", "down", "oom"})
_HTTP: Final[Mapping[str, str]] = MappingProxyType(
    {
        "400": "bad", "401": "unauthorized unauthenticated", "403": "forbidden denied",
        "404": "missing", "408": "timeout", "409": "conflict", "429": "throttled limited",
        "500": "internal", "502": "gateway", "503": "unavailable", "504": "timeout gateway",
    }
)  # fmt: skip
_STATUS: Final = frozenset(map(stem, "status code http response".split()))
_READY: Final = re.compile(r"(\d{1,5})/(\d{1,5})")


_EXITING: Final = frozenset(map(stem, "exit exitcode exited".split()))
_EXITED: Final = frozenset(map(stem, "ended exited".split()))
_QUANTILES: Final[Mapping[str, str]] = MappingProxyType(
    {"0.5": "median p50", "0.9": "p90", "0.95": "p95", "0.99": "p99"}
)


def meanings(proof: Proof) -> frozenset[str]:
    """The stems that the codes in a proof's records and in its own value stand for."""
    found: set[str] = set()
    stated = str(getattr(proof.statement, "attribute", "") or "").casefold()
    if "quantile" in stated:
        found.update(stem(word) for number, words in _QUANTILES.items()
                     if number in stated.split() for word in words.split())  # fmt: skip
    for text in proof.texts:
        found |= _meant(text, frozenset())
    value = getattr(proof.statement, "value", getattr(proof.statement, "set", None))
    if value is not None:
        found |= _meant(str(value), proof.attribute)
    where = getattr(proof.statement, "where", None) or {}
    for name, wanted in where.items():
        found |= _meant(str(wanted), stems_of(str(name)))
    for record in proof.records:
        if record.stems & _EXITING:
            found |= _EXITED
        for field in record.fields:
            if not field.loose:
                found |= _of_field(field)
    return frozenset(found)


def _of_field(field: Field) -> frozenset[str]:
    return _meant(field.text, field.names)


def _meant(text: str, names: frozenset[str]) -> frozenset[str]:
    low = text.strip().casefold()
    words = ""
    if low in {"/"}:
        words = "root"
    elif low in _STATES and (low in _ANYWHERE or names & _COLUMNS):
        words = _STATES[low]
    elif low in _HTTP and names & _STATUS:
        words = _HTTP[low]
    return frozenset(map(stem, words.split()))
