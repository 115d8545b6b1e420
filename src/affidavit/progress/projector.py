"""What was verifiably seen when the agent ended, draft or no draft (C5, P1; pure)

Every tracked call is read back by the ledger's one reader under its own identity. What reads back
is a fact or an empty answer; what does not is a limitation and no fact. Nothing of a draft, a
request or a raw response can get here: this room is never given one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from affidavit.contract.report import Coverage, SourceRef
from affidavit.contract.snapshots import DiagnosisProgressSnapshot
from affidavit.contract.states import DiagnosisStopReason, IntentType
from affidavit.ledger.snapshot import LedgerSnapshot
from affidavit.progress.coverage import Reach, read_coverage
from affidavit.progress.leads import find_leads
from affidavit.progress.reading import read_tracked
from affidavit.progress.selection import FACT_CLASSES, SeenCall, select_facts
from affidavit.progress.tracker import Tracker
from affidavit.progress.wording import name

SOURCES_MAX: Final = 60
"""Sources with their scopes: one for each call that the standard profile allows."""

LIMITATIONS_MAX: Final = 12
"""As many limits as facts; beyond that the coverage table is the better reading."""


def project_progress(
    ledger: LedgerSnapshot,
    tracker: Tracker,
    reach: Reach,
    *,
    stop_reason: DiagnosisStopReason | None = None,
    symptom: str | None = None,
    intent: IntentType | None = IntentType.DIAGNOSIS,
) -> DiagnosisProgressSnapshot:
    """The progress snapshot of a run.

    `symptom` is the service whose trouble was asked about, for the leads; it is never proved by
    being asked about. `intent` is what was asked for: it decides what counts as a fact.
    """
    seen = tuple(_seen(ledger, tracker))
    selection = select_facts(seen, intent=intent)
    coverage = read_coverage(ledger, tracker, reach)
    sources = tuple(dict.fromkeys(_source(call) for call in seen))
    limits = (
        *_left_out(selection.left_out, max(0, len(sources) - SOURCES_MAX)),
        *_disputed(selection.disputed),
        *_no_facts(seen),
        *_cut(seen),
        *_zoneless(seen),
        *_gaps(coverage),
    )
    return DiagnosisProgressSnapshot(
        verified_sources=sources[:SOURCES_MAX],
        observed_facts=selection.facts,
        facts_left_out=selection.left_out,
        limitations=bounded(limits),
        leads=find_leads(seen, symptom),
        stop_reason=stop_reason,
        coverage=coverage,
    )


def bounded(limits: tuple[str, ...]) -> tuple[str, ...]:
    """At most twelve limitations, each once; the last says how many more there are."""
    distinct = tuple(dict.fromkeys(limits))
    if len(distinct) <= LIMITATIONS_MAX:
        return distinct
    kept = distinct[: LIMITATIONS_MAX - 1]
    return (*kept, f"{len(distinct) - len(kept)} further limits are in the coverage.")


def _seen(ledger: LedgerSnapshot, tracker: Tracker) -> Iterator[SeenCall]:
    for call in tracker.calls():
        read = read_tracked(call, ledger)
        if not isinstance(read, str):
            yield SeenCall(call.tool_call_id, read.envelope)


def _source(call: SeenCall) -> SourceRef:
    envelope = call.envelope
    return SourceRef(source_type=envelope.source_type, source=envelope.source, scope=envelope.scope)


def _left_out(facts: int, sources: int) -> Iterator[str]:
    if facts:
        yield f"{_count(facts, 'further recorded fact')} left out here for brevity."
    if sources:
        yield f"{_count(sources, 'further source')} left out here for brevity."


def _count(number: int, what: str) -> str:
    return f"1 {what} is" if number == 1 else f"{number} {what}s are"


def _disputed(topics: int) -> Iterator[str]:
    if topics:
        yield f"Recorded results disagree about {topics} reading{'s' if topics > 1 else ''}."


def _no_facts(seen: tuple[SeenCall, ...]) -> Iterator[str]:
    others = sum(call.envelope.evidence_class not in FACT_CLASSES for call in seen)
    if others:
        calls = "1 result is" if others == 1 else f"{others} results are"
        yield f"{calls} an alert's own text or guidance, which is no observation."


def _cut(seen: tuple[SeenCall, ...]) -> Iterator[str]:
    for call in seen:
        envelope = call.envelope
        if envelope.truncated:
            source = name(f"{envelope.source_type} {envelope.source}")
            total = "an unknown number" if envelope.total is None else str(envelope.total)
            facts = f", and {len(envelope.facts)} of their facts kept" if envelope.read else ""
            yield (
                f"The answer of {source} to {call.tool_call_id} was cut: "
                f"{envelope.count} of {total} items were read{facts}."
            )


def _zoneless(seen: tuple[SeenCall, ...]) -> Iterator[str]:
    for call in seen:
        window = call.envelope.scope.window
        if window is not None and window.zone is None:
            source = name(f"{call.envelope.source_type} {call.envelope.source}")
            yield f"{source} does not say in which time zone it speaks; its times are ambiguous."


def _gaps(coverage: Coverage) -> Iterator[str]:
    for line in coverage.lines:
        source, codes = name(f"{line.source_type} {line.source}"), ", ".join(line.codes)
        match line.status:
            case "unavailable":
                yield f"{source} was not available."
            case "failed":
                calls = "one call" if line.calls == 1 else f"{line.calls} calls"
                yield f"{source}: {calls} gave no citable result ({codes}) and count for nothing."
            case "refused":
                yield f"{source} could not be asked ({codes})."
            case _:
                pass
