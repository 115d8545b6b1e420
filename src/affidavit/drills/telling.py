"""A run's journal as a drill shows it: each gate with every guard's word, and nothing that varies.

Times, ids, digests and token counts are left out, so that the lines of one fault are the same each
time: golden.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from affidavit.affidavit.timeline import LEADING
from affidavit.contract.journal import Entry, EventType

ORDER: Final = ("budget", "loop", "timeout", "circuit-breaker", "permission", "approval")
"""The global order of the guards, as every log has to show it (H11); audit stands around them."""

DETAILS: Final = (
    "tool",
    "model",
    "purpose",
    "attempt",
    "decision",
    "fallback_type",
    "failure_code",
)
"""What stands beside a line's word, where the line has it."""

LEFT_OUT: Final = frozenset({EventType.DRIVER_ACQUIRED, EventType.MODEL_CALL_INTENDED})
"""Lines that say nothing of a gate."""


def tell_journal(journal: Sequence[Entry]) -> tuple[str, ...]:
    """One line a gate."""
    return tuple(line for entry in journal for line in _lines(entry))


def guards_asked(journal: Sequence[Entry]) -> Iterator[tuple[str, ...]]:
    """The names of the guards that each gate asked, in the order in which they were."""
    for entry in journal:
        if entry.type is EventType.GUARDS_CHECKED:
            yield tuple(name for name, _, _ in _words(entry.data["verdicts"]))
        elif entry.type is EventType.CALLS_CHECKED:
            for _, way in _ways(entry.data["calls"]):
                yield tuple(name for name, _, _ in way)


def keeps_order(names: Sequence[str]) -> bool:
    """Whether these guards were asked in the global order."""
    places = [ORDER.index(name) for name in names if name in ORDER]
    return places == sorted(places)


def _lines(entry: Entry) -> Iterator[str]:
    data = entry.data
    if entry.type in LEFT_OUT:
        return
    if entry.type is EventType.GUARDS_CHECKED:
        yield f"GUARDS_CHECKED step={data['step']}: {_chain(_words(data['verdicts']))}"
    elif entry.type is EventType.CALLS_CHECKED:
        for key, way in _ways(data["calls"]):
            yield f"CALLS_CHECKED {key}: {_chain(way)}"
    else:
        yield " ".join(_parts(entry.type, data))


def _parts(kind: EventType, data: Mapping[str, object]) -> Iterator[str]:
    leading = LEADING.get(kind)
    yield f"{kind}={data[leading]}" if leading else str(kind)
    if "tool_call_id" in data:
        yield str(data["tool_call_id"])
    for name in DETAILS:
        if name != leading and data.get(name) is not None:
            yield f"{name}={data[name]}"
    codes = data.get("codes")
    if isinstance(codes, (list, tuple)) and codes:
        yield f"codes={','.join(map(str, codes))}"


def _chain(words: Sequence[tuple[str, str, str]]) -> str:
    return " → ".join(" ".join(part for part in word if part) for word in words)


def _words(value: object) -> tuple[tuple[str, str, str], ...]:
    items = value if isinstance(value, (list, tuple)) else ()
    return tuple((str(name), str(word), str(reason)) for name, word, reason in items)


def _ways(value: object) -> Iterator[tuple[str, tuple[tuple[str, str, str], ...]]]:
    for key, way in value if isinstance(value, (list, tuple)) else ():
        yield str(key), _words(way)
