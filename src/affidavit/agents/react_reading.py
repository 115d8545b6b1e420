"""What did the model answer? Read by rule, completed never (Q4, R13, R24, R48 to R50, R53; pure).

    native tool calls                    → calls, to write, or to give up
    one JSON object in the text          → the report, or a call written as text; alone, fenced,
                                           after prose, or in an array of one
    an answer that was cut               → unreadable, whatever it holds
    anything else: a plan, an echo, two objects, a doubled key, NaN → unreadable

An unreadable answer has a stable code. It is asked for once more; nobody ever sees its text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NoReturn

from affidavit.contract.agent import ToolCallRequest
from affidavit.ports.model import Finish, ModelAnswer, ModelToolCall

WRITE_TOOL: Final = "write_report"
"""The model calls it when it has seen enough; then it is asked for the report alone."""

GIVE_UP_TOOL: Final = "give_up"
"""The model calls it when nothing can be concluded."""

CALLS_MAX: Final = 8
"""Calls of one answer that are executed side by side; the rest can be asked for again."""

OBJECTS_MAX: Final = 4
"""More JSON values in one text than this are a listing, not an answer."""


@dataclass(frozen=True, slots=True)
class Calls:
    """The model asks tools."""

    calls: tuple[ToolCallRequest, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """The model wrote its report: the text of one JSON object, as it was written."""

    text: str


@dataclass(frozen=True, slots=True)
class Writes:
    """The model has seen enough and will write."""


@dataclass(frozen=True, slots=True)
class GivesUp:
    """The model says that nothing can be concluded."""

    reason: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """No answer to go on with: the code, and what to tell the model."""

    code: str
    says: str


Reading = Calls | Report | Writes | GivesUp | Unreadable

CUT: Final = Unreadable("CUT", "it was cut off at its maximum length; answer again, shorter")
PLAN: Final = Unreadable(
    "NO_ANSWER", "it holds neither a tool call nor a report; call a tool, or write the report"
)
AMBIGUOUS: Final = Unreadable("AMBIGUOUS", "it holds more than one JSON object; send exactly one")
ARGUMENTS: Final = Unreadable("ARGUMENTS", "the arguments of a tool call are no JSON object")
FILTERED: Final = Unreadable("FILTERED", "it was withheld by a filter; state only what tools said")


def read_answer(answer: ModelAnswer, offered: frozenset[str]) -> Reading:
    """What the model wants, or why that cannot be said. `offered` are the names of the tools."""
    if answer.finish is Finish.LENGTH:
        return CUT
    if answer.finish is Finish.FILTERED:
        return FILTERED
    if answer.calls:
        return _native(answer.calls)
    return _written(answer.text, offered)


def _native(calls: tuple[ModelToolCall, ...]) -> Reading:
    """Calls by the provider's own protocol; evidence first, the two words of ours after it."""
    asked: list[ToolCallRequest] = []
    own: Reading | None = None
    for call in calls:
        arguments = _arguments(call.arguments)
        if arguments is None:
            return ARGUMENTS
        if call.name == WRITE_TOOL:
            own = own or Writes()
        elif call.name == GIVE_UP_TOOL:
            own = own or GivesUp(_reason(arguments))
        else:
            asked.append(ToolCallRequest(call.name, arguments))
    if asked:
        return Calls(tuple(asked[:CALLS_MAX]))
    return own or PLAN


def _written(text: str, offered: frozenset[str]) -> Reading:
    """An answer in words: the one object that it holds, if it holds one."""
    found = tuple(_values(text))
    if not found:
        return PLAN
    if len(found) > 1:
        return AMBIGUOUS
    source, value = found[0]
    if isinstance(value, list):
        calls = tuple(_call(item, offered) for item in value)
        if len(value) > 1 and all(calls):
            return _native(tuple(call for call in calls if call is not None))
        if len(value) != 1:
            return AMBIGUOUS if value else PLAN
        value = value[0]
        source = json.dumps(value, ensure_ascii=False)
    return _object(source, value, offered)


def _object(source: str, value: object, offered: frozenset[str]) -> Reading:
    if not isinstance(value, Mapping):
        return PLAN
    if "analyses" in value:
        return Report(source)
    if value.keys() == {"tool_calls"} and isinstance(value["tool_calls"], list):
        calls = tuple(_call(item, offered) for item in value["tool_calls"])
        known = tuple(call for call in calls if call is not None)
        return _native(known) if known and len(known) == len(calls) else PLAN
    call = _call(value, offered)
    return PLAN if call is None else _native((call,))


_NAMES: Final = ("name", "tool", "tool_name")
_ARGUMENTS: Final = ("arguments", "parameters", "args", "input")


def _call(value: object, offered: frozenset[str]) -> ModelToolCall | None:
    """A tool call that was written as text; only of a tool that was offered (R53)."""
    if not isinstance(value, Mapping):
        return None
    inner = value.get("function")
    body: Mapping[str, object] = inner if isinstance(inner, Mapping) else value
    names = (body[key] for key in _NAMES if key in body)
    name = next((item for item in names if isinstance(item, str)), None)
    if name is None or name not in offered | {WRITE_TOOL, GIVE_UP_TOOL}:
        return None
    given: object = next((body[key] for key in _ARGUMENTS if key in body), {})
    arguments = given if isinstance(given, str) else json.dumps(given)
    return ModelToolCall(id="", name=name, arguments=arguments)


def _arguments(text: str) -> Mapping[str, object] | None:
    """The arguments of a call; no text at all means none were given."""
    try:
        value = strict_json(text) if text.strip() else {}
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _reason(arguments: Mapping[str, object]) -> str:
    reason = arguments.get("reason")
    return reason[:REASON_CHARS_MAX] if isinstance(reason, str) and reason else "no reason given"


REASON_CHARS_MAX: Final = 300
"""What a model may say about giving up; it goes to the audit alone."""

_FENCED: Final = re.compile(
    r"^[ \t]*```(?:json)?[ \t]*\n(.*?)^[ \t]*```[ \t]*$", re.MULTILINE | re.DOTALL
)


def _values(text: str) -> Iterator[tuple[str, object]]:
    """Every JSON object or array in the text, outermost, with its source.

    The whole text; else what stands in fences; else what begins after prose.
    """
    whole = text.strip()
    for candidates in ((whole,), tuple(part.strip() for part in _FENCED.findall(text))):
        found = [(part, value) for part in candidates if (value := _container(part)) is not None]
        if found:
            yield from found[:OBJECTS_MAX]
            return
    yield from _embedded(whole)


def _container(text: str) -> object | None:
    if not text.startswith(("{", "[")):
        return None
    try:
        return strict_json(text)
    except ValueError:
        return None


def _embedded(text: str) -> Iterator[tuple[str, object]]:
    """Objects amid prose. A square bracket that begins no array of objects is prose.

    A curly bracket that begins no whole object ends the search: what stands inside a broken object
    is a part of it, and no part is taken for the whole.
    """
    place, found = 0, 0
    for _ in range(STARTS_MAX):
        start = min((at for sign in "{[" if (at := text.find(sign, place)) >= 0), default=-1)
        if start < 0 or found == OBJECTS_MAX:
            return
        try:
            _, end = _DECODER.raw_decode(text, start)
            value = strict_json(text[start:end])
        except (ValueError, RecursionError):
            if text[start] == "{":
                return
            place = start + 1
            continue
        place = end
        items = value if isinstance(value, list) else [value]
        if items and all(isinstance(item, dict) for item in items):
            found += 1
            yield text[start:end], value


_DECODER: Final = json.JSONDecoder()
STARTS_MAX: Final = 200
"""Brackets that are tried as the beginning of an object; bounds the work on hostile text."""


def strict_json(text: str) -> object:
    """Any JSON value: no doubled key, no NaN, no lone surrogate, bounded. Raises ValueError."""
    try:
        value: object = json.loads(
            text, object_pairs_hook=_distinct, parse_constant=_refuse_constant
        )
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode("utf-8")
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not _is_shallow(value):
        raise ValueError("nested too deeply")
    return value


def _is_shallow(value: object) -> bool:
    """Level by level, so that no depth can exhaust the stack of whoever reads it next."""
    level = [value]
    for _ in range(DEPTH_MAX):
        below: list[object] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(item.values())
            elif isinstance(item, list):
                below.extend(item)
        if not below:
            return True
        level = below
    return False


DEPTH_MAX: Final = 40
"""A report nests some ten levels; arguments nest fewer."""


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")
