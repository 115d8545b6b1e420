"""One tool result, read: the door to every reader (T3, T4, T5).

Tried in turn: is it a failure, is it empty, is it a document, is it text of a known shape? The
first reader that knows the shape wins; what none knows stays text. Nothing here raises: a reader
that would be wrong about a result says less, not something else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Final, Literal

from affidavit.contract.evidence import Envelope, Fact, Scope
from affidavit.contract.states import Emitter, EvidenceClass, EvidenceStatus
from affidavit.tools.readers import answers, origin
from affidavit.tools.readers.bounds import NOTES_MAX, RESULT_CHARS_MAX, TEXT_LINES_MIN, keep
from affidavit.tools.readers.documents import ONE_RECORD, read_document
from affidavit.tools.readers.grids import unfold
from affidavit.tools.readers.origin import Origin
from affidavit.tools.readers.reading import Item, Reading, Source, typed
from affidavit.tools.readers.series import read_series
from affidavit.tools.readers.streams import read_streams
from affidavit.tools.readers.texts import read_text
from affidavit.tools.readers.traces import read_trace
from affidavit.tools.readers.words import clean, quotable
from affidavit.tools.readers.wrappers import LAYERS_MAX, unwrap

ERROR_CHARS_MAX: Final = 400
"""An error's text, for a person; it is never evidence (T3)."""

CALLERS_SPEAK_IN: Final = ("logs", "traces", "tool")
"""Kinds of source whose documents repeat requests; of an unknown tool one must expect it."""

LIMIT_ARGUMENTS: Final = ("limit", "tail", "max_count", "top_k", "size", "max_results", "page_size")


LIMIT_DIGITS_MAX: Final = 10
"""A limit of more digits limits nothing."""


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
    """The typed projection of one result, or why there is none. Never raises for any JSON."""
    if raw.status == "error":
        refused = answers.failure_of(raw.result, quotes_logs=False) == "SUPPLIED_FORBIDDEN"
        return _error("SUPPLIED_FORBIDDEN" if refused else "SUPPLIED_ERROR", raw.result)
    opened = _open(raw)
    source = origin.source_of(raw.tool, raw.arguments, raw.emitter, raw.evidence_class)
    kind = source.kind
    failure = opened.failure or answers.failure_of(
        opened.content, quotes_logs=kind in ("logs", "knowledge")
    )
    if failure is not None:
        return _error(failure, opened.content)
    if answers.is_empty(opened.content):
        return _envelope(raw, source, Reading("empty", ()), cut=False)
    reading = _read(raw, source, opened)
    if raw.status == "no_data":
        if not isinstance(opened.content, str) or _holds_items(reading):
            return _error("SUPPLIED_CONTRADICTORY", "no_data, and a result that holds data")
        return _envelope(raw, source, Reading("empty", ()), cut=False)
    return _envelope(raw, source, reading, cut=opened.cut or reading.cut)


def _holds_items(reading: Reading) -> bool:
    """Whether a text lists things, and does not merely say how a search went."""
    listed = {"table", "list", "log", "trace"} & set(reading.shape.split("+"))
    return bool(listed) and len(reading.items) > (1 if listed == {"log"} else 0)


@dataclass(frozen=True, slots=True)
class _Opened:
    """A result without its wrappers: a document, or text; and the text that the document was."""

    content: object
    failure: str | None = None
    text: str = ""
    cut: bool = False


def _open(raw: RawResult) -> _Opened:
    content, cut = raw.result, False
    command = " ".join(str(raw.arguments.get(key, "")) for key in ("command", "cmd"))
    failure: str | None = None
    text = ""
    for _ in range(LAYERS_MAX):
        if isinstance(content, str):
            cut = cut or len(content) > RESULT_CHARS_MAX
            content = answers.unframe(content[:RESULT_CHARS_MAX])
            document = _document(content)
            if document is None:
                break
            text, content = content, document
        unwrapped = unwrap(content, command)
        failure = failure or unwrapped.failure
        if unwrapped.content is content:
            break
        content, text = unwrapped.content, ""
    if not isinstance(content, (str, Mapping, list, tuple, type(None))):
        content = [content]
    return _Opened(content, failure, text, cut)


def _read(raw: RawResult, origin_: Origin, opened: _Opened) -> Reading:
    """The reading of whichever reader knows the content's shape."""
    source = Source(
        tool=raw.tool,
        arguments=raw.arguments,
        emitter=origin_.emitter,
        subject=origin.subject_of(raw.arguments),
        window=raw.scope.window,
        observed_at=raw.observed_at,
    )
    if isinstance(opened.content, str):
        return read_text(source, opened.content)
    document = unfold(opened.content)
    if origin_.kind == "logs" and _is_log_line(document, opened.text):
        return read_text(source, opened.text)
    reading = (
        read_streams(source, document)
        or read_series(source, document)
        or read_trace(source, document)
        or read_document(source, document, marks_requests=origin_.kind in CALLERS_SPEAK_IN)
    )
    return _with_words(source, reading, document, opened.text)


def _is_log_line(document: object, text: str) -> bool:
    """Whether a text that is one JSON object is one line of a log, and no answer around lines."""
    if not isinstance(document, Mapping) or "\n" in text.strip() or not text:
        return False
    return bool({"msg", "message", "log"} & document.keys())


def _with_words(source: Source, reading: Reading, document: object, text: str) -> Reading:
    """The reading with what its words say: a log inside a field, and the lines of its own text."""
    items: list[Item] = []
    words: list[Fact] = []
    for value in document.values() if isinstance(document, Mapping) else ():
        if isinstance(value, str) and value.count("\n") >= TEXT_LINES_MIN:
            inner = read_text(source, value)
            facts = [fact for item in inner.items for fact in item.facts]
            items.extend(inner.items if typed(inner) else ())
            words.extend((*(() if typed(inner) else facts), *inner.context))
    if "\n" in text.strip():
        words.extend(quotable(clean(text), source.subject))
    if items and reading.shape == ONE_RECORD:
        words.extend(fact for item in reading.items for fact in item.facts)
        return replace(reading, items=tuple(items), context=tuple(words))
    return replace(reading, items=(*reading.items, *items), context=(*reading.context, *words))


def _error(code: str, text: object) -> ReadError:
    return ReadError(
        code,
        clean(text if isinstance(text, str) else json.dumps(text, default=str))[:ERROR_CHARS_MAX],
    )


def _document(text: str) -> object | None:
    """The JSON document that a text is, or None; numbers stay as they were written."""
    text = text.strip()
    if not text or text[0] + text[-1] not in ("{}", "[]"):
        return None
    try:
        document: object = json.loads(text, parse_float=Decimal, parse_constant=str)
    except (ValueError, RecursionError):
        return None
    return document


def _envelope(raw: RawResult, source: Origin, reading: Reading, *, cut: bool) -> Envelope:
    kept = keep(reading)
    count = max(1, len(reading.items)) if kept.facts else 0
    total = reading.total if raw.total is None or raw.total < 0 else raw.total
    notes = reading.notes
    if total is not None and total < count:
        total, notes = None, (*notes, "The caller's total is smaller than what it returned.")
    truncated = cut or kept.cut or bool(raw.truncated) or (total is not None and total > count)
    if raw.truncated is None and total is None and _is_at_limit(raw, source.kind, count):
        truncated, notes = True, (*notes, "As many items as were asked for: there may be more.")
    return Envelope(
        source_type=source.kind,
        source=raw.tool,
        evidence_class=source.evidence_class,
        emitter=source.emitter,
        scope=raw.scope,
        status=EvidenceStatus.EVIDENCE_FOUND if kept.facts else EvidenceStatus.NO_EVIDENCE,
        count=count,
        total=total,
        read=kept.read if kept.read != count else None,
        truncated=truncated,
        facts=kept.facts,
        notes=(f"shape: {reading.shape}", *notes)[:NOTES_MAX],
        observed_at=raw.observed_at,
    )


def _is_at_limit(raw: RawResult, kind: str, count: int) -> bool:
    """Whether as much came back as was asked for; a limit of a log may count lines or entries."""
    text = raw.result if kind == "logs" and isinstance(raw.result, str) else ""
    most = max(count, sum(1 for line in text.split("\n") if line.strip()))
    for name in LIMIT_ARGUMENTS:
        limit = raw.arguments.get(name)
        if isinstance(limit, str) and limit.isdecimal() and len(limit) < LIMIT_DIGITS_MAX:
            limit = int(limit)
        if isinstance(limit, int) and not isinstance(limit, bool) and 0 < limit <= most:
            return True
    return False
