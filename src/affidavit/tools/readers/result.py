"""One tool result, read: the door to every reader (T3, T4, T5).

Tried in turn: is it a failure, is it empty, is it a document, is it text of a known shape? The
first reader that knows the shape wins; what none knows stays text. Nothing here raises: a reader
that would be wrong about a result says less, not something else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final, Literal

from affidavit.contract.evidence import Envelope, Scope
from affidavit.contract.states import Emitter, EvidenceClass, EvidenceStatus
from affidavit.tools.readers import answers, origin
from affidavit.tools.readers.bounds import NOTES_MAX, RESULT_CHARS_MAX, keep
from affidavit.tools.readers.documents import read_document
from affidavit.tools.readers.reading import Reading, Source
from affidavit.tools.readers.series import read_series
from affidavit.tools.readers.texts import read_text
from affidavit.tools.readers.traces import read_trace
from affidavit.tools.readers.words import clean

ERROR_CHARS_MAX: Final = 400
"""An error's text, for a person; it is never evidence (T3)."""

LIMIT_ARGUMENTS: Final = ("limit", "tail", "max_count", "top_k", "size", "max_results", "page_size")


@dataclass(frozen=True, slots=True)
class RawResult:
    """One result with what is known about its call.

    `status` is what its caller said; `truncated` None where the caller said nothing. `emitter` and
    `evidence_class` win over what the tool's name suggests; words of a request stay such.
    """

    tool: str
    arguments: Mapping[str, object]
    result: object
    scope: Scope
    observed_at: datetime
    status: Literal["success", "no_data", "error"] = "success"
    emitter: Emitter | None = None
    evidence_class: EvidenceClass | None = None
    total: int | None = None
    truncated: bool | None = None


@dataclass(frozen=True, slots=True)
class ReadError:
    """A result that is no evidence: the call failed. The text is for a person's eyes only."""

    code: str
    text: str = ""


def read_result(raw: RawResult) -> Envelope | ReadError:
    """The typed projection of one result, or why there is none. Total: never raises for any JSON."""
    if raw.status == "error":
        refused = answers.failure_of(raw.result, quotes_logs=False) == "SUPPLIED_FORBIDDEN"
        return _error("SUPPLIED_FORBIDDEN" if refused else "SUPPLIED_ERROR", raw.result)
    result, cut = _bounded(raw.result)
    document = _document(result)
    content = result if document is None else document
    evidence_class = raw.evidence_class or origin.class_of(raw.tool, raw.arguments)
    kind = origin.source_type_of(raw.tool, evidence_class)
    failure = answers.failure_of(content, quotes_logs=kind in ("logs", "knowledge"))
    if failure is not None:
        return _error(failure, content)
    if answers.is_empty(content):
        return _envelope(raw, evidence_class, Reading("empty", ()), cut=False)
    if raw.status == "no_data":
        if document is not None:
            return _error("SUPPLIED_CONTRADICTORY", "no_data, and a result that holds data")
        return _envelope(raw, evidence_class, Reading("empty", ()), cut=False)
    source = Source(
        tool=raw.tool,
        arguments=raw.arguments,
        emitter=raw.emitter or origin.emitter_of(raw.tool, raw.arguments, evidence_class),
        subject=origin.subject_of(raw.arguments),
        window=raw.scope.window,
        observed_at=raw.observed_at,
    )
    if document is not None:
        reading = (
            read_series(source, document)
            or read_trace(source, document)
            or read_document(source, document, marks_requests=kind in ("logs", "traces"))
        )
    else:
        reading = read_text(
            source, answers.unframe(content) if isinstance(content, str) else str(content)
        )
    return _envelope(raw, evidence_class, reading, cut=cut or reading.cut)


def _error(code: str, text: object) -> ReadError:
    return ReadError(
        code,
        clean(text if isinstance(text, str) else json.dumps(text, default=str))[:ERROR_CHARS_MAX],
    )


def _bounded(result: object) -> tuple[object, bool]:
    if isinstance(result, str) and len(result) > RESULT_CHARS_MAX:
        return result[:RESULT_CHARS_MAX], True
    return result, False


def _document(result: object) -> object | None:
    """The JSON document that a result is, given as JSON or as text; None where it is text."""
    if isinstance(result, (Mapping, list, tuple)):
        return result
    if not isinstance(result, str):
        return None if result is None else [result]
    text = answers.unframe(result).strip()
    if not text or text[0] + text[-1] not in ("{}", "[]"):
        return None
    try:
        return json.loads(text, parse_float=Decimal, parse_constant=str)
    except (ValueError, RecursionError):
        return None


def _envelope(
    raw: RawResult, evidence_class: EvidenceClass, reading: Reading, *, cut: bool
) -> Envelope:
    kept = keep(reading)
    count = len(reading.items) or (1 if kept.facts else 0)
    total, notes = _total(raw, reading, count)
    if total is not None and total < count:
        total, notes = None, (*notes, "The caller's total is smaller than what it returned.")
    truncated = cut or kept.cut or bool(raw.truncated) or (total is not None and total > count)
    if raw.truncated is None and total is None and _is_at_limit(raw, count):
        truncated, notes = True, (*notes, "As many items as were asked for: there may be more.")
    return Envelope(
        source_type=origin.source_type_of(raw.tool, evidence_class),
        source=raw.tool,
        evidence_class=evidence_class,
        emitter=raw.emitter or origin.emitter_of(raw.tool, raw.arguments, evidence_class),
        scope=raw.scope,
        status=EvidenceStatus.EVIDENCE_FOUND if kept.facts else EvidenceStatus.NO_EVIDENCE,
        count=count,
        total=total,
        read=kept.read if kept.read != count else None,
        truncated=truncated,
        facts=kept.facts,
        notes=(f"shape: {reading.shape}", *reading.notes, *notes)[:NOTES_MAX],
        observed_at=raw.observed_at,
    )


def _total(raw: RawResult, reading: Reading, count: int) -> tuple[int | None, tuple[str, ...]]:
    if raw.total is not None and raw.total >= 0:
        return raw.total, ()
    return reading.total, ()


def _is_at_limit(raw: RawResult, count: int) -> bool:
    for name in LIMIT_ARGUMENTS:
        limit = raw.arguments.get(name)
        if isinstance(limit, int) and not isinstance(limit, bool) and 0 < limit <= count:
            return True
    return False
