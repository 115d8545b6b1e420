"""Tool calls that came with somebody's answer: the gate's input, and the ledger made of it (C12).

The envelope is strict: an unknown or misshapen field is refused with its JSON pointer, because a
field that is silently ignored is a check silently not made. What stands under `draft` is lenient
(G0), the guard reports on it. The full form is `gate.schema.json` beside this file.

Every record made here says `supplied`, keeps the id that its author gave, and goes through the
same readers and the same read-back as a recorded one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Final, Literal, TypeVar

from affidavit.contract.errors import InputRefused
from affidavit.contract.evidence import Envelope, Scope, Window
from affidavit.contract.invocation import CanonicalToolInvocation
from affidavit.contract.record import to_utc
from affidavit.contract.states import (
    Emitter,
    EvidenceClass,
    EvidenceStatus,
    InvocationStatus,
    Provenance,
)
from affidavit.core.canonical import canonical_json, digest
from affidavit.ledger.snapshot import LedgerSnapshot, StoredCall
from affidavit.tools.readers.drafts import draft_of_answer
from affidavit.tools.readers.moments import find_stamp
from affidavit.tools.readers.origin import class_of, subject_of
from affidavit.tools.readers.result import RawResult, ReadError, read_result
from affidavit.tools.readers.windows import names_time, window_of
from affidavit.tools.readers.words import clean
from affidavit.tools.redaction import redact_json

__all__ = (
    "GateInput",
    "SuppliedCall",
    "draft_of_answer",
    "read_gate_input",
    "scope_of",
    "supplied_ledger",
)

CALLS_MAX: Final = 1_000
"""Calls of one answer; the research profile allows 200."""

QUESTION_CHARS_MAX: Final = 20_000
"""A question, with the alert that it may quote."""

ANSWER_CHARS_MAX: Final = 100_000
"""A free-text answer; each of its sentences is compared with every call."""

QUERY_CHARS_MAX: Final = 4_000
"""The arguments as the scope's query; a longer query is cut and cannot prove an absence."""

_CALL_FIELDS: Final = frozenset(
    "id tool arguments status result error started_at completed_at total truncated emitter "
    "evidence_class".split()
)
_INPUT_FIELDS: Final = frozenset("question agent window tool_calls draft answer".split())
_SURROGATE: Final = re.compile("[\ud800-\udfff]")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SuppliedCall:
    """One tool call as its author handed it over."""

    id: str
    tool: str
    arguments: Mapping[str, object]
    status: Literal["success", "no_data", "error"]
    result: object = None
    error: str | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    total: int | None = None
    truncated: bool | None = None
    emitter: Emitter | None = None
    evidence_class: EvidenceClass | None = None


@dataclass(frozen=True, slots=True)
class GateInput:
    """One report with the calls that it rests on; exactly one of draft and answer counts.

    `draft` is whatever stood there; None with `answer` None is a missing draft, for the guard.
    """

    question: str
    tool_calls: tuple[SuppliedCall, ...]
    agent: str | None = None
    window: Window | None = None
    draft: object = None
    answer: str | None = None


def read_gate_input(raw: object) -> GateInput:
    """The gate's input. Raises InputRefused, naming the JSON pointer of what does not fit."""
    top = _object(redact_json(raw).value, "")
    _known(top, _INPUT_FIELDS, "")
    if ("draft" in top) == ("answer" in top):
        raise _refused("", "give exactly one of draft and answer")
    calls = tuple(
        _call(item, f"/tool_calls/{index}")
        for index, item in enumerate(_list(_required(top, "tool_calls", ""), "/tool_calls"))
    )
    _refuse_duplicates(calls)
    return GateInput(
        question=_text(_required(top, "question", ""), "/question", QUESTION_CHARS_MAX),
        agent=_optional(top, "agent", "", lambda value, at: _text(value, at, 400)),
        window=_optional(top, "window", "", _window),
        tool_calls=calls,
        draft=top.get("draft"),
        answer=_optional(top, "answer", "", lambda value, at: _text(value, at, ANSWER_CHARS_MAX)),
    )


def supplied_ledger(
    gate_input: GateInput, run_id: str, tenant: str, received_at: datetime | None = None
) -> LedgerSnapshot:
    """The supplied calls as one frozen ledger; its records say `supplied` (C12).

    A call without times of its own counts as read at the end of its window, or at `received_at`.
    An ill-formed id is kept as the key, so that the guard can report it.
    """
    stored = {
        call.id: _stored(call, gate_input.window, run_id, tenant, received_at)
        for call in gate_input.tool_calls
    }
    return LedgerSnapshot(
        run_id=run_id,
        tenant=tenant,
        calls=MappingProxyType(stored),
        tools=frozenset(call.tool for call in gate_input.tool_calls),
    )


def scope_of(call: SuppliedCall, window: Window | None, tenant: str) -> Scope:
    """What a call speaks about, by its arguments.

    The report's window stands in where they name no time at all. Where they name one that cannot
    be placed (`since: 5m` without a time of the call) there is no window: an absence must never
    reach further than the search did (G9).
    """
    read_at = call.completed_at or call.started_at
    query = json.dumps(call.arguments, sort_keys=True, ensure_ascii=False, default=str)
    return Scope(
        tenant=tenant,
        service=subject_of(call.arguments),
        window=window_of(call.arguments, read_at) if names_time(call.arguments) else window,
        query=clean(query)[:QUERY_CHARS_MAX],
    )


# --- From call to record ----------------------------------------------------------------------


def _stored(
    call: SuppliedCall,
    window: Window | None,
    run_id: str,
    tenant: str,
    received_at: datetime | None,
) -> StoredCall:
    scope = scope_of(call, window, tenant)
    read_at = call.completed_at or call.started_at or received_at
    observed_at = read_at or (
        scope.window.end if scope.window else datetime(1970, 1, 1, tzinfo=UTC)
    )
    reading = read_result(
        RawResult(
            tool=call.tool,
            arguments=call.arguments,
            result=call.result if call.status != "error" else call.error or call.result,
            scope=scope,
            observed_at=observed_at,
            status=call.status,
            emitter=call.emitter,
            evidence_class=call.evidence_class,
            total=call.total,
            truncated=call.truncated,
        )
    )
    content = None if isinstance(reading, ReadError) else _bytes(reading)
    envelope = None if isinstance(reading, ReadError) else reading
    record = CanonicalToolInvocation(
        run_id=run_id,
        tenant=tenant,
        tool_call_id=call.id,
        tool=call.tool,
        scope=scope,
        status=InvocationStatus.ERROR if envelope is None else InvocationStatus.READY,
        evidence_status=EvidenceStatus.ERROR if envelope is None else envelope.status,
        evidence_class=envelope.evidence_class
        if envelope
        else call.evidence_class or class_of(call.tool, call.arguments),
        provenance=Provenance.SUPPLIED,
        error_code=reading.code if isinstance(reading, ReadError) else None,
        request_digest=digest(_json_bytes({"tool": call.tool, "arguments": call.arguments})),
        raw_digest=None if call.result is None else digest(_json_bytes(call.result)),
        result_digest=None if content is None else digest(content),
        started_at=call.started_at or observed_at,
        completed_at=call.completed_at or observed_at,
        truncated=envelope.truncated if envelope else False,
    )
    return StoredCall(record, content)


def _bytes(envelope: Envelope) -> bytes:
    return canonical_json(json.loads(envelope.model_dump_json()))


def _json_bytes(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=str).encode()


# --- Strict reading ---------------------------------------------------------------------------


def _refused(pointer: str, what: str) -> InputRefused:
    return InputRefused(
        f"gate input, {pointer or '/'}: {what}",
        code="GATE_INPUT_REFUSED",
        hint="the form: docs/gate.md and docs/gate.schema.json",
    )


def _object(value: object, pointer: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise _refused(pointer, "must be an object")
    return value


def _list(value: object, pointer: str) -> Sequence[object]:
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes)):
        raise _refused(pointer, "must be an array")
    if len(value) > CALLS_MAX:
        raise _refused(pointer, f"holds {len(value)} entries, at most {CALLS_MAX}")
    return value


def _known(value: Mapping[str, object], fields: frozenset[str], pointer: str) -> None:
    for key in value:
        if key not in fields:
            name = re.sub(r"[^\w.-]", "?", str(key))[:60]
            raise _refused(f"{pointer}/{name}", "is no field of this form")


def _required(value: Mapping[str, object], key: str, pointer: str) -> object:
    if key not in value:
        raise _refused(f"{pointer}/{key}", "is missing")
    return value[key]


def _optional(
    value: Mapping[str, object], key: str, pointer: str, read: Callable[[object, str], T]
) -> T | None:
    if value.get(key) is None:
        return None
    return read(value[key], f"{pointer}/{key}")


def _text(value: object, pointer: str, chars_max: int) -> str:
    if not isinstance(value, str):
        raise _refused(pointer, "must be a text")
    if len(value) > chars_max:
        raise _refused(pointer, f"has {len(value)} characters, at most {chars_max}")
    if not value.isascii() and _SURROGATE.search(value):
        raise _refused(pointer, "holds half a character (a lone surrogate)")
    return value


def _instant(value: object, pointer: str) -> datetime:
    stamp = find_stamp(value) if isinstance(value, str) else None
    if not isinstance(value, str) or stamp is None or stamp.end != len(value):
        raise _refused(pointer, "must be a time such as 2026-03-02T10:00:00Z")
    if not (stamp.has_zone and stamp.has_date and stamp.has_year):
        raise _refused(pointer, "needs a date and a zone, for example 2026-03-02T10:00:00Z")
    return to_utc(stamp.moment)


def _window(value: object, pointer: str) -> Window:
    window = _object(value, pointer)
    _known(window, frozenset({"start", "end"}), pointer)
    start = _instant(_required(window, "start", pointer), f"{pointer}/start")
    end = _instant(_required(window, "end", pointer), f"{pointer}/end")
    if end < start:
        raise _refused(pointer, "ends before it starts")
    return Window(start=start, end=end)


def _one_of(value: object, pointer: str, names: Iterable[str]) -> str:
    known = tuple(names)
    if not isinstance(value, str) or value not in known:
        raise _refused(pointer, f"must be one of {', '.join(known)}")
    return value


def _integer(value: object, pointer: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**53:
        raise _refused(pointer, "must be a whole number, not negative")
    return value


def _boolean(value: object, pointer: str) -> bool:
    if not isinstance(value, bool):
        raise _refused(pointer, "must be true or false")
    return value


def _call(raw: object, pointer: str) -> SuppliedCall:
    call = _object(raw, pointer)
    _known(call, _CALL_FIELDS, pointer)
    status = _one_of(
        _required(call, "status", pointer), f"{pointer}/status", ("success", "no_data", "error")
    )
    emitter = _optional(call, "emitter", pointer, lambda v, at: _one_of(v, at, Emitter))
    class_ = _optional(call, "evidence_class", pointer, lambda v, at: _one_of(v, at, EvidenceClass))
    return SuppliedCall(
        id=_text(_required(call, "id", pointer), f"{pointer}/id", 1_000),
        tool=_text(_required(call, "tool", pointer), f"{pointer}/tool", 400),
        arguments=_optional(call, "arguments", pointer, _object) or {},
        status=status,  # type: ignore[arg-type]  # _one_of has looked
        result=call.get("result"),
        error=_optional(call, "error", pointer, lambda value, at: _text(value, at, 100_000)),
        started_at=_optional(call, "started_at", pointer, _instant),
        completed_at=_optional(call, "completed_at", pointer, _instant),
        total=_optional(call, "total", pointer, _integer),
        truncated=_optional(call, "truncated", pointer, _boolean),
        emitter=None if emitter is None else Emitter(emitter),
        evidence_class=None if class_ is None else EvidenceClass(class_),
    )


def _refuse_duplicates(calls: Sequence[SuppliedCall]) -> None:
    seen: set[str] = set()
    for index, call in enumerate(calls):
        if call.id in seen:
            raise _refused(f"/tool_calls/{index}/id", "is the id of an earlier call")
        seen.add(call.id)
