"""Log lines: time, level, fields, and the lines that continue one (stacks, chains of causes).

An entry is a line with the lines that hang on it; all of them share its time, level and subject.
`key=value` pairs and JSON lines become a row of cells beside the words. Words that came in with a
request are marked as such, cell by cell, and the server's own words are kept apart from them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from affidavit.contract.evidence import Cell, Edge, Fact, Line, Row
from affidavit.contract.states import Emitter
from affidavit.tools.readers.bounds import worth_reading
from affidavit.tools.readers.documents import read_json_line
from affidavit.tools.readers.fields import read_json_object
from affidavit.tools.readers.levels import find_level, level_of, weight_of
from affidavit.tools.readers.measures import measures_of
from affidavit.tools.readers.moments import Stamp, find_stamp
from affidavit.tools.readers.numbers import to_cell
from affidavit.tools.readers.reading import Item, Source, Weight
from affidavit.tools.readers.requests import is_request_field, own_words, request_spans
from affidavit.tools.readers.words import pieces

LINE_CHARS_MAX: Final = 16_000
"""Of one line this much is searched for fields; the rest stays quotable."""

PREFIX_CHARS: Final = 300
"""A time, a level and a logger's name stand within this much of a line's front."""

SAMPLE_LINES: Final = 40
"""Lines that are looked at to tell whether a text is a log."""

_STAMP_FIELD: Final = re.compile(r"^(?:ts|time|t|timestamp|@timestamp)=\"?")
_PREFIX: Final = re.compile(
    r"\[pod/(?P<pod>[^/\]\s]{1,253})/(?P<container>[^\]\s]{1,253})\]\s"
    r"|(?P<service>[A-Za-z][\w.-]{0,100})\s{0,40}\|\s"
)
_SYSLOG: Final = re.compile(
    r"(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d{1,9})?(?: UTC| GMT)?"
    r"|\d{4}-\d\d-\d\dT\S{8,24}) "
    r"(?P<host>[\w.-]{1,253}) (?P<process>%?[\w./@-]{1,100})(?:\[(?P<pid>\d{1,10})\])?: "
)
_FIELD: Final = re.compile(
    r"(?<![\w.&?%-])([A-Za-z_@][\w.@/-]{0,63})="
    r"(\"(?:[^\"\\]|\\.){0,2000}\"|'[^']{0,2000}'|[^\s,;()\[\]{}\"']{1,500})"
)
_JSON_LEVEL: Final = re.compile(r"\"(?:level|lvl|severity|severity_text)\" ?: ?\"?(\w{1,12})")
_STACK: Final = re.compile(
    r"\s+at [\w$.<>/]{1,300}|\s*\.\.\. \d{1,6} (?:more|common)|\s*File \"|Traceback \(most recent"
    r"|Caused by:|\s+Suppressed:|goroutine \d{1,10} \[|\s+\^"
    r"|(?:During handling of|The above exception was)"
)
_INDENTED: Final = re.compile(r"\s{2,}\S|\t\S")
_EXCEPTION: Final = re.compile(
    r"(?P<cause>Caused by: )?(?:Exception in thread \"[^\"]{1,200}\" )?"
    r"(?P<type>(?:[A-Za-z_$][\w$]{0,80}\.){0,12}[A-Z]\w{0,80}"
    r"(?:Error|Exception|Failure|Fault|Timeout|Refused|Interrupt|Warning)"
    r"|(?:[a-z_][\w$]{0,80}\.){2,12}[A-Z][A-Za-z0-9]{2,80})"
    r"(?:: (?P<message>.{1,4000}))?"
)
_ACCESS: Final = re.compile(
    r"(?P<client>\S{1,100}) (?P<ident>\S{1,100}) (?P<user>\S{1,100}) "
    r"\[(?P<time>[^\]]{1,40})\] \"(?P<request>[^\"\\]{0,4000}(?:\\.[^\"\\]{0,4000}){0,40})\" "
    r"(?P<status>\d{3}|-) (?P<bytes>\d{1,18}|-)"
    r"(?: \"(?P<referer>(?:[^\"\\]|\\.){0,2000})\" \"(?P<agent>(?:[^\"\\]|\\.){0,2000})\")?"
    r"(?P<rest>.{0,4000})"
)
_NGINX: Final = re.compile(
    r", (client|server|request|upstream|host|referrer|subrequest): "
    r"(\"[^\"]{0,4000}\"|[^,\s]{1,400})"
)
_PAIR: Final = re.compile(
    r"(?:^|(?<=[,;(\[] )|(?<=[(\[])|(?<=- )|(?<=: )|(?<=; ))([A-Za-z_][\w.-]{0,60}): "
    r"([^\s,;:\"'()\[\]]{1,200})(?=[,;)\]]|\s*$)"
)
_HOST: Final = re.compile(r"(?:\w{2,10}://)?[^/\s?#]{1,255}")
_ADDRESS: Final = re.compile(r"\[?[\da-f.:]{2,45}\]?:\d{1,5}")
_FROM_CALLER: Final = frozenset({"client", "request", "host", "referrer", "subrequest"})


@dataclass(frozen=True, slots=True)
class _Entry:
    """What the lines of one entry share."""

    subject: str | None
    level: str | None = None
    at: datetime | None = None

    def line(self, text: str, emitter: Emitter | None = None) -> Iterator[Line]:
        """A text of this entry, word for word."""
        for piece in pieces(text.rstrip()):
            yield Line(
                text=piece, subject=self.subject, level=self.level, at=self.at, emitter=emitter
            )

    def row(self, cells: Sequence[Cell]) -> Iterator[Row]:
        """Cells of this entry, if there are any."""
        if cells:
            yield Row(subject=self.subject, cells=tuple(cells), at=self.at)


def is_log(lines: Sequence[str]) -> bool:
    """Whether most of the first lines begin with a time or a level, or are JSON objects.

    Lines of a stack count where the first line begins an entry; mere indentation does not.
    """
    sample = [line for line in lines if line.strip()][:SAMPLE_LINES]
    begun = [_begins_entry(line) for line in sample]
    if not any(begun):
        return False
    stacks = sum(_STACK.match(line) is not None for line in sample) if begun[0] else 0
    return (sum(begun) + stacks) * 2 >= len(sample)


def zone_notes(source: Source, lines: Sequence[str]) -> Iterator[str]:
    """What to say about times that name no zone (R26)."""
    stamps = [stamp for line in lines[:SAMPLE_LINES] if (stamp := _stamp_of(line))]
    bare = [stamp for stamp in stamps if not (stamp.has_zone and stamp.has_date)]
    if any(stamp.instant(source.window) for stamp in bare):
        yield "Times without a zone are read as UTC: they lie inside the window that was asked for."
    if any(stamp.instant(source.window) is None for stamp in bare):
        yield "Some times have no zone or date and cannot be placed."


def read_entries(
    source: Source, lines: Iterable[str], *, at: datetime | None = None, whole: bool = False
) -> tuple[Item, ...]:
    """Every entry of a log, in order; a line that continues one is part of it.

    `at` is the time of entries that carry none; `whole` says that all lines are one entry. Of a log
    with more entries than can be kept only those that would be are read for their fields.
    """
    groups = tuple(_groups(lines, whole=whole))
    weights = [_first_look(group[0]) for group in groups]
    worth = worth_reading(weights)
    return tuple(
        _read_group(source, group, at)
        if index in worth
        else Item(tuple(_Entry(source.subject).line(group[0])), weight)
        for index, (group, weight) in enumerate(zip(groups, weights, strict=True))
    )


def _groups(lines: Iterable[str], *, whole: bool) -> Iterator[list[str]]:
    """The lines of each entry, none of them empty."""
    group: list[str] = []
    for line in lines:
        if not line.strip():
            continue
        if group and not (whole or _continues(line)):
            yield group
            group = []
        group.append(line)
    if group:
        yield group


def _first_look(line: str) -> Weight:
    """The weight of an entry by its first line alone."""
    found = _JSON_LEVEL.search(line[:PREFIX_CHARS]) if line.startswith("{") else None
    return weight_of(level_of(found[1]) if found else find_level(line))


def _read_group(source: Source, group: Sequence[str], at: datetime | None) -> Item:
    entry, facts = read_line(source, group[0], at)
    more = [fact for line in group[1:] for fact in _continuation(entry, line)]
    return Item((*facts, *more), _weight(entry, facts))


def read_line(
    source: Source, line: str, at: datetime | None = None
) -> tuple[_Entry, tuple[Fact, ...]]:
    """One line that begins an entry: what its entry shares, and its facts."""
    document = read_json_object(line)
    if document is not None:
        return _json_entry(source, line, document, at)
    front = line[:LINE_CHARS_MAX]
    access = _ACCESS.match(front)
    if access:
        return _access_entry(source, line, access)
    prefix = _PREFIX.match(line[:PREFIX_CHARS])
    rest = front[prefix.end() :] if prefix else front
    stamp = _stamp_of(rest)
    named = (prefix["pod"] or prefix["service"]) if prefix and (stamp or prefix["pod"]) else None
    cells = [*_prefix_cells(prefix), *_syslog_cells(line), *_nginx_cells(front), *fields_of(front)]
    cells.extend(_listed(front))
    moment = stamp.instant(source.window) if stamp else None
    subject = named or _named_by(cells, source.subject)
    entry = _Entry(subject, find_level(rest), moment or at)
    said = rest[stamp.end :] if stamp else rest
    cells.extend(_measures(said))
    facts: list[Fact] = [*_words(entry, line, None), *entry.row(cells)]
    facts.extend(_exception(entry, said.strip()))
    facts.extend(_upstream(source, cells))
    return entry, tuple(facts)


def _begins_entry(line: str) -> bool:
    prefix = _PREFIX.match(line[:PREFIX_CHARS])
    if prefix and _stamp_of(line[prefix.end() :]) is not None:
        return True
    if _stamp_of(line) is not None or find_level(line) is not None:
        return True
    return read_json_object(line) is not None or bool(_ACCESS.match(line[:LINE_CHARS_MAX]))


def _continues(line: str) -> bool:
    """Whether a line hangs on the entry before it."""
    if _STACK.match(line) or _INDENTED.match(line):
        return find_stamp(line.strip()) is None
    return bool(_EXCEPTION.fullmatch(line.strip()[:LINE_CHARS_MAX])) and find_stamp(line) is None


def _stamp_of(line: str) -> Stamp | None:
    """The time that a line begins with, also as `ts=…` (logfmt) or behind its level."""
    front = _STAMP_FIELD.sub("", line[:PREFIX_CHARS], count=1)
    return find_stamp(front) or find_stamp(_BEFORE_STAMP.sub("", front, count=1))


_BEFORE_STAMP: Final = re.compile(
    r"\A(?:\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|ERR|FATAL|CRITICAL|PANIC)\]?:?"
    r"|\d{1,7}:[A-Z]|<\d{1,3}>)\s{0,4}"
)
"""What some loggers write before the time: a level, the process and role of Redis, a priority."""


def _weight(entry: _Entry, facts: Iterable[Fact]) -> Weight:
    for fact in facts:
        for cell in fact.cells if isinstance(fact, Row) else ():
            if cell.name == "exception" or (
                cell.name == "status" and cell.quantity is not None and cell.quantity.number >= 500
            ):
                return Weight.ALARMING
    return weight_of(entry.level)


# --- Kinds of lines ---------------------------------------------------------------------------


def _json_entry(
    source: Source, line: str, document: Mapping[str, object], at: datetime | None
) -> tuple[_Entry, tuple[Fact, ...]]:
    facts = read_json_line(source, document)
    rows = [fact for fact in facts if isinstance(fact, Row)]
    said = next((fact for fact in facts if isinstance(fact, Line)), None)
    level = said.level if said else None
    subject = rows[0].subject if rows else source.subject
    entry = _Entry(subject, level, (rows[0].at if rows else None) or at)
    asked = any(cell.emitter is Emitter.REQUEST for row in rows for cell in row.cells)
    asked = asked or bool(request_spans(line))
    return entry, (*entry.line(line, Emitter.REQUEST if asked else None), *facts)


def _access_entry(
    source: Source, line: str, found: re.Match[str]
) -> tuple[_Entry, tuple[Fact, ...]]:
    stamp = find_stamp(found["time"])
    entry = _Entry(source.subject, None, stamp.instant(source.window) if stamp else None)
    method, _, rest = found["request"].partition(" ")
    target, _, protocol = rest.rpartition(" ")
    asked = Emitter.REQUEST
    cells = [
        Cell(name="client", text=found["client"], emitter=asked),
        Cell(name="method", text=method, emitter=asked),
        Cell(name="path", text=target or rest, emitter=asked),
        Cell(name="protocol", text=protocol, emitter=asked),
        to_cell("status", found["status"]),
        to_cell("bytes", found["bytes"]),
    ]
    cells.extend(
        Cell(name=name, text=found[name], emitter=asked)
        for name in ("referer", "agent")
        if found[name] and found[name] != "-"
    )
    cells.extend(_rest(found["rest"]))
    return entry, (*entry.line(line, asked), *entry.row(cells))


def _rest(text: str) -> Iterator[Cell]:
    """The fields after an access line's known ones; a quote among them may be the caller's."""
    for cell in fields_of(text):
        asked = Emitter.REQUEST if '"' in text else cell.emitter
        yield Cell(name=cell.name, quantity=cell.quantity, text=cell.text, emitter=asked)


def _prefix_cells(found: re.Match[str] | None) -> Iterator[Cell]:
    if found and found["pod"]:
        yield Cell(name="pod", text=found["pod"])
        yield Cell(name="container", text=found["container"])


def _syslog_cells(line: str) -> Iterator[Cell]:
    found = _SYSLOG.match(line[:PREFIX_CHARS])
    if found:
        yield Cell(name="host", text=found["host"])
        yield Cell(name="process", text=found["process"])
        if found["process"].startswith("%"):
            for piece in pieces(line[found.end() :].strip()):
                yield Cell(name=found["process"].lstrip("%"), text=piece)


def _nginx_cells(line: str) -> Iterator[Cell]:
    """The tail of an nginx error line; what the client chose is marked.

    A request is printed unescaped and may hold a second `upstream:`; then neither is believed.
    """
    unique = line.count("upstream: ") == 1
    for found in _NGINX.finditer(line):
        text = found[2].strip('"')
        if found[1] == "upstream":
            host = _HOST.match(text)
            if host and unique:
                yield Cell(name="upstream", text=host[0])
            yield Cell(name="upstream.url", text=text, emitter=Emitter.REQUEST)
            continue
        emitter = Emitter.REQUEST if found[1] in _FROM_CALLER else None
        yield Cell(name=found[1], text=text, emitter=emitter)


def _listed(line: str) -> Iterator[Cell]:
    """`opcode: QUERY, status: SERVFAIL`: two or more pairs of one word each, set apart by commas.

    A line that holds a request, or names what a client sent, is left to those who mark it.
    """
    found = list(_PAIR.finditer(line))
    names = {pair[1].lower() for pair in found}
    if len(found) < LISTED_MIN or names & _FROM_CALLER or request_spans(line):
        return
    for pair in found:
        if not is_request_field(pair[1]):
            yield to_cell(pair[1], pair[2])


LISTED_MIN: Final = 2
"""One pair may be a sentence with a colon."""


def _upstream(source: Source, cells: Iterable[Cell]) -> Iterator[Edge]:
    """Proxy calls upstream, as the proxy recorded it."""
    for cell in cells:
        if cell.name == "upstream" and cell.text and source.subject:
            yield Edge(source=source.subject, target=cell.text.split("://")[-1])


# --- Words and fields -------------------------------------------------------------------------


def _words(entry: _Entry, text: str, emitter: Emitter | None) -> Iterator[Line]:
    """A line word for word, and the parts of it that no caller wrote, if it holds a request."""
    spans = request_spans(text)
    yield from entry.line(text, Emitter.REQUEST if spans else emitter)
    for part in own_words(text, spans) if spans else ():
        yield from entry.line(part, emitter)


def fields_of(line: str) -> Iterator[Cell]:
    """The `key=value` pairs of a line as cells, in order; request fields are marked."""
    spans = request_spans(line)
    for found in _FIELD.finditer(line):
        name, text = found[1], found[2]
        if text[0] in "\"'":
            text = text[1:-1].replace('\\"', '"').replace("\\\\", "\\")
        text = text.rstrip(".:") if "://" not in text else text
        place = bisect_right(spans, (found.start(), len(line)))
        inside = place > 0 and found.start() < spans[place - 1][1]
        asked = is_request_field(name) or inside
        emitter = Emitter.REQUEST if asked and not _ADDRESS.fullmatch(text) else None
        yield to_cell(name, text, emitter) if text else Cell(name=name)


def _named_by(cells: Iterable[Cell], asked: str | None) -> str | None:
    """Whose line this is: the service that it names itself, else whom the call asked about, else
    the trace that it belongs to."""
    named = {cell.name.lower(): cell.text for cell in cells if cell.text}
    own = named.get("service") or named.get("service_name") or named.get("app")
    return own or asked or named.get("traceid") or named.get("trace_id")


def _measures(text: str) -> Iterator[Cell]:
    """The numbers in a line's sentences, but for those that came in with a request."""
    spans = request_spans(text)
    for part in own_words(text, spans) if spans else (text,):
        yield from measures_of(part)


def _exception(entry: _Entry, text: str) -> Iterator[Row]:
    """The exception that a whole line names: its type, its message, and whether it is a cause."""
    found = _EXCEPTION.fullmatch(text.strip()[:LINE_CHARS_MAX])
    if found:
        cells = [Cell(name="exception", text=found["type"])]
        if found["message"]:
            cells.extend(Cell(name="message", text=piece) for piece in pieces(found["message"]))
        if found["cause"]:
            cells.append(Cell(name="role", text="cause"))
        yield from entry.row(cells)


def _continuation(entry: _Entry, line: str) -> Iterator[Fact]:
    yield from _words(entry, line, None)
    yield from _exception(entry, line)
    front = line[:LINE_CHARS_MAX]
    stack = _STACK.match(line)
    yield from entry.row((*fields_of(front), *(() if stack else _measures(front))))
