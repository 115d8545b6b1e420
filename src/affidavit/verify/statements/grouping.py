"""Which facts of an envelope are one item: lines of one instant, rows with their lines."""

from __future__ import annotations

from typing import Final

from affidavit.contract.evidence import Fact, Line, Row, Value
from affidavit.contract.states import Emitter
from affidavit.verify.statements.fields import KEY_VALUE
from affidavit.verify.statements.wording import text_of


def part_asides(
    groups: list[list[int]], facts: tuple[Fact, ...]
) -> tuple[list[list[int]], dict[str, str]]:
    """The labels of a series stand beside each of its readings, and are no item of their own."""
    subjects = {fact.subject for fact in facts if isinstance(fact, Value)}
    kept: list[list[int]] = []
    asides: dict[str, str] = {}
    for group in groups:
        first = facts[group[0]]
        if (
            len(group) == 1 and isinstance(first, Row) and first.subject in subjects
            and first.subject not in asides and first.at is None
        ):  # fmt: skip
            asides[first.subject or ""] = text_of(first, own=False)
        else:
            kept.append(group)
    return kept, asides


def whole_report(groups: list[list[int]], facts: tuple[Fact, ...]) -> list[list[int]]:
    """Undated `key: value` lines of one subject, as one record beside the lines themselves."""
    lines = [group[0] for group in groups if isinstance(facts[group[0]], Line)]
    if len(lines) < REPORT_LINES_MIN or len(lines) != len(groups):
        return []
    texts = [facts[place] for place in lines]
    subjects = {getattr(fact, "subject", None) for fact in texts}
    pairs = sum(1 for fact in texts if isinstance(fact, Line) and KEY_VALUE.fullmatch(fact.text))
    dated = any(getattr(fact, "at", None) for fact in texts)
    if len(subjects) > 1 or dated or pairs * 2 < len(lines) or len(lines) > REPORT_LINES_MAX:
        return []
    return [lines]


def same_subjects(
    groups: list[list[int]], facts: tuple[Fact, ...], service: str | None
) -> list[list[int]]:
    """Undated items of different shapes about one thing, as one record beside them.

    An answer's status line and its body, a thing's state and its limits: what is said of one thing
    in several places of one result. Not of the call's own subject, which everything is about.
    """
    by_subject: dict[str, list[list[int]]] = {}
    for group in groups:
        first = facts[group[0]]
        if isinstance(first, (Line, Row)) and first.subject and first.subject != service:
            by_subject.setdefault(first.subject, []).append(group)
    found: list[list[int]] = []
    for items in by_subject.values():
        rows = [
            shape_of([facts[at]]) for item in items for at in item if isinstance(facts[at], Row)
        ]
        times = {getattr(facts[item[0]], "at", None) for item in items} - {None}
        if 2 <= len(items) <= SAME_SUBJECT_MAX and len(rows) == len(set(rows)) and len(times) < 2:
            found.append([at for item in items for at in item])
    return found


def bursts(groups: list[list[int]], facts: tuple[Fact, ...]) -> list[list[int]]:
    """Lines that one source wrote in the same instant, as one record beside them."""
    runs: list[list[list[int]]] = []
    last: tuple[object, object] = (None, None)
    for group in groups:
        first = facts[group[0]]
        key = (getattr(first, "subject", None), getattr(first, "at", None))
        if isinstance(first, Line) and key[1] is not None and key == last:
            runs[-1].append(group)
        else:
            runs.append([group])
        last = key
    return [
        [at for group in run for at in group]
        for run in runs if 1 < len(run) <= BURST_MAX and not any(_is_request(facts[at]) for group in run for at in group)
    ]  # fmt: skip


def _is_request(fact: Fact) -> bool:
    """Whether a fact holds what a caller sent: requests of one instant have nothing in common."""
    if isinstance(fact, Line):
        return fact.emitter is Emitter.REQUEST
    return isinstance(fact, Row) and any(cell.emitter is Emitter.REQUEST for cell in fact.cells)


BURST_MAX: Final = 8
"""More lines of one instant are a dump, and belong together no more than any others."""
SAME_SUBJECT_MAX: Final = 12
"""More items about one subject are a log of it."""
REPORT_LINES_MIN: Final = 3
REPORT_LINES_MAX: Final = 400
"""A longer list of lines is a file and no report about one thing."""


def joins(group: list[Fact], fact: Fact) -> bool:
    """Whether a line or a row is the same item as the facts before it."""
    first = group[0]
    if not isinstance(fact, (Line, Row)) or not isinstance(first, (Line, Row)):
        return False
    if fact.subject != first.subject and not _names_own_line(first, fact):
        return False
    if fact.at != first.at and first.at is not None:
        return False
    if isinstance(fact, Row):
        listed = any(cell.name == "list" for cell in fact.cells)
        return not listed and not any(isinstance(item, Row) for item in group)
    texts = [item.text for item in group if isinstance(item, Line)]
    if texts:
        return all(fact.text in text for text in texts)
    return any(
        fact.text in cell.text or cell.text in fact.text
        for item in group if isinstance(item, Row) for cell in item.cells
        if cell.text is not None and len(cell.text) > MESSAGE_CHARS_MIN
    )  # fmt: skip


PARTS_OF_ITEM_MAX: Final = 4
"""An item has its line, what the server said of it, and its fields; more parts are a report."""

MESSAGE_CHARS_MIN: Final = 7
"""A cell shorter than this is no message that a line would repeat."""


def _names_own_line(first: Fact, fact: Fact) -> bool:
    """Whether a row's subject stands in the line before it, which had none."""
    return (
        isinstance(first, Line) and first.subject is None and isinstance(fact, Row)
        and fact.subject is not None and fact.subject in first.text
    )  # fmt: skip


def shape_of(parts: list[Fact]) -> str:
    """What kind of item it is: a line, or a row of which list and with which first cell."""
    if any(isinstance(fact, Line) and isinstance(parts[0], Line) for fact in parts):
        return "line"
    first = parts[0]
    if isinstance(first, Value) and first.quantity is None:
        return f"text of {first.attribute}"
    if not isinstance(first, Row):
        return first.kind
    listed = next((cell.text or "" for cell in first.cells if cell.name == "list"), "")
    heading = first.cells[0].name if first.cells and not listed else ""
    return f"row {listed}{heading}"


def is_union(parts: list[Fact]) -> bool:
    """Whether parts are several items: two lines of which neither repeats the other."""
    lines = [fact.text for fact in parts if isinstance(fact, Line)]
    return any(
        one not in other and other not in one
        for place, one in enumerate(lines) for other in lines[place + 1 :]
    )  # fmt: skip


def headings_of(facts: tuple[Fact, ...]) -> dict[int, str]:
    """The key that an indented line stands below, in undated lines: `memory` below `Limits`."""
    found: dict[int, str] = {}
    above: list[tuple[int, str]] = []
    for place, fact in enumerate(facts):
        if not isinstance(fact, Line) or fact.at is not None:
            continue
        bare = fact.text.lstrip(" ")
        indent = len(fact.text) - len(bare)
        while above and above[-1][0] >= indent:
            above.pop()
        if above:
            found[place] = above[-1][1]
        key, colon, _ = bare.partition(":")
        if colon and len(key) <= HEADING_CHARS_MAX:
            above.append((indent, key.strip()))
    return found


HEADING_CHARS_MAX: Final = 40
"""A longer beginning of a line is a sentence and no key."""
