"""What the capture tools share: scopes, windows, and the raw form of an answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Final

from pydantic import Field

from affidavit.contract.evidence import Envelope, Fact, Quantity, Scope, Window
from affidavit.contract.record import Record
from affidavit.contract.states import Emitter, EvidenceClass, EvidenceStatus
from affidavit.core.canonical import canonical_json
from affidavit.ports.telemetry import Answer, Plain, Signal, SignalName, Telemetry
from affidavit.tools.catalogue import ToolContext

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

SERVICE_CHARS_MAX: Final = 200
"""The longest name that a table keeps."""

WHOLE_MAX: Final = 2**53 - 1
"""Beyond it not every whole number is exact in JSON (RFC 8259, 6)."""

FACTS_BYTES_MAX: Final = 48_000
"""Of one envelope's facts: a few hundred usual ones, and below what the boundary takes whole."""

LEFT_OUT: Final = "not read from the source:"
"""Begins the note of an answer whose source was read in part; such an answer is truncated (R44)."""

ZONE_UNKNOWN: Final = "the source's times carry no zone; they were read as if they were UTC"


class WindowArguments(Record):
    """A service and a window, both optional: all services, the incident's window."""

    service: str | None = Field(
        default=None,
        min_length=1,
        max_length=SERVICE_CHARS_MAX,
        description="one service; all when left out",
    )
    window: Window | None = Field(
        default=None, description="a closed span of time; the incident's window when left out"
    )


@dataclass(frozen=True, slots=True)
class Raw:
    """A raw response, read back: rows, figures over all that matched, and the rule."""

    rows: Sequence[Mapping[str, Plain]]
    figures: Mapping[str, Plain]
    rule: Mapping[str, Plain]


def write_raw(answer: Answer, rule: Mapping[str, Plain]) -> bytes:
    """The canonical bytes of an answer with the rule by which it was computed."""
    return canonical_json(
        {
            "rows": [{name: _exact(value) for name, value in row.items()} for row in answer.rows],
            "figures": dict(answer.figures),
            "rule": dict(rule) | dict(answer.source),
        }
    )


def _exact(value: Plain) -> Plain:
    """A whole number that JSON's readers would round is its digits, as a text."""
    return str(value) if isinstance(value, int) and abs(value) > WHOLE_MAX else value


def read_raw(raw: bytes) -> Raw:
    """The parts of a raw response. Raises ValueError when they are not there."""
    document = json.loads(raw)
    if not isinstance(document, dict) or set(document) != {"rows", "figures", "rule"}:
        raise ValueError("a raw response has rows, figures and a rule")
    return Raw(document["rows"], document["figures"], document["rule"])


def text(row: Mapping[str, Plain], name: str) -> str:
    """A text cell. Raises ValueError for anything else."""
    value = row.get(name)
    if not isinstance(value, str):
        raise ValueError(f"{name} is no text")
    return value


def count(row: Mapping[str, Plain], name: str) -> int:
    """A count. Raises ValueError for anything else."""
    value = row.get(name)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{name} is no count")
    return value


def number(row: Mapping[str, Plain], name: str) -> Decimal:
    """A measured number. Raises ValueError for anything else."""
    try:
        return Decimal(text(row, name))
    except InvalidOperation:
        raise ValueError(f"{name} is no number") from None


def emitter_of(word: str) -> Emitter:
    """Whose words these are; a word that we do not know gets the least trust (N16)."""
    return Emitter(word) if word in set(Emitter) else Emitter.REQUEST


def quantity(row: Mapping[str, Plain], name: str, unit: str) -> Quantity:
    """A measured number with its unit."""
    return Quantity(number=number(row, name), unit=unit)


def moment(row: Mapping[str, Plain], name: str) -> datetime:
    """A moment from microseconds since the epoch."""
    return EPOCH + timedelta(microseconds=count(row, name))


def scope_window(context: ToolContext, asked: Window | None, telemetry: Telemetry) -> Window:
    """The window of a call: as asked, else the run's, else the incident's."""
    return asked or context.window or telemetry.incident.window


def window_scope(
    telemetry: Telemetry,
    signal: SignalName,
    context: ToolContext,
    arguments: WindowArguments,
    query: str,
) -> Scope:
    """The scope of a call about a window. Its zone is None where the source named none (R26)."""
    window = scope_window(context, arguments.window, telemetry)
    found = telemetry.signals.get(signal)
    zone = found.zone if found else "UTC"
    return Scope(
        tenant=context.tenant,
        service=arguments.service,
        window=Window(start=window.start, end=window.end, zone=zone),
        query=query,
    )


def source_of(telemetry: Telemetry, signal: SignalName) -> str:
    """The file of a table; the table's own name where the incident has none."""
    found = telemetry.signals.get(signal)
    return found.source if found else signal


def signal_notes(signal: Signal | None) -> dict[str, Plain]:
    """What was done to a table, for the rule of a raw response."""
    if signal is None:
        return {}
    return {
        "zone_known": signal.zone is not None,
        "source_rows": signal.rows,
        "source_dropped": signal.dropped,
        "source_cut": signal.cut,
    }


def source_notes(rule: Mapping[str, Plain]) -> list[str]:
    """The same, for a reader."""
    notes = []
    if rule.get("zone_known") is False:
        notes.append(ZONE_UNKNOWN)
    if rule.get("source_dropped"):
        notes.append(f"{rule['source_dropped']} rows of the source hold no finite value")
    if rule.get("source_cut"):
        notes.append(f"{rule['source_cut']} rows of the source were cut to their bounds")
    if rule.get("source_left_out"):
        notes.append(f"{LEFT_OUT} {rule['source_left_out']}")
    return notes


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an envelope comes from."""

    source_type: str
    source: str
    evidence_class: EvidenceClass
    emitter: Emitter


def envelope(
    origin: Origin,
    scope: Scope,
    facts: Sequence[Fact],
    total: int,
    notes: Sequence[str],
    observed_at: datetime,
) -> Envelope:
    """An envelope whose status, count and truncation follow from its facts (T4).

    Facts are in order of weight; what does not fit the bound in bytes is left out, from the end.
    """
    kept: list[Fact] = []
    size = 0
    for fact in facts:
        size += len(canonical_json(fact.model_dump(mode="json")))
        if size > FACTS_BYTES_MAX:
            break
        kept.append(fact)
    return Envelope(
        source_type=origin.source_type,
        source=origin.source,
        evidence_class=origin.evidence_class,
        emitter=origin.emitter,
        scope=scope,
        status=EvidenceStatus.EVIDENCE_FOUND if kept else EvidenceStatus.NO_EVIDENCE,
        count=len(kept),
        total=total,
        truncated=total > len(kept) or any(note.startswith(LEFT_OUT) for note in notes),
        facts=tuple(kept),
        notes=tuple(notes),
        observed_at=observed_at,
    )
