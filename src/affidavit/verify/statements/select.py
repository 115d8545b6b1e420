"""Which records of a call is a statement about, and which field of them?

A subject's words are looked for in the records by name, then as the owner of a longer name, then
as plain words; what only the question asked of the tool names (its scope) narrows nothing. A word
that no record and no scope holds names nothing here, and nothing is proved about it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from affidavit.contract.violations import SupportCode
from affidavit.verify.statements.fields import Field
from affidavit.verify.statements.records import CallView, RecordView
from affidavit.verify.statements.words import names_in, parts_of, stem, stems_of

_SMALL: Final = frozenset(
    "a an the of in on at to for by with from and or its it is are was be as per this that 的 在".split()
)
_STATISTICS: Final = (
    {"average", "avg", "mean"},
    {"max", "maximum", "peak", "highest"},
    {"min", "minimum", "lowest"},
    {"sum", "total"},
    {"median", "p50"},
    {"rate"},
    {"count"},
    {"stddev", "stdev"},
)
_ALIKE: Final = (
    {"duration", "time", "latency", "took", "elapsed", "dur", "seconds"},
    {"memory", "mem"},
    {"count", "number", "num", "total"},
    {"connections", "conns", "connection"},
    {"utilization", "utilisation", "usage", "used"},
    {"errors", "error", "failures", "failed", "failure"},
    {"requests", "req", "reqs", "request"},
    {"messages", "msgs", "message", "msg"},
    {"avg", "average", "mean"},
    {"max", "maximum"},
    {"min", "minimum"},
    {"version", "ver"},
    {"replicas", "replica"},
    {"percent", "pct", "percentage"},
    {"configuration", "config"},
    {"database", "db"},
    {"milliseconds", "ms"},
)
"""Words that technical names use for one another; general, and no product's."""

_KIN: Final = {
    stem(word): frozenset(stem(other) for other in group) for group in _ALIKE for word in group
}
_STATISTIC_OF: Final = {
    stem(word): place for place, group in enumerate(_STATISTICS) for word in group
}


def kin(word: str) -> frozenset[str]:
    """The stems that stand for the same thing in technical names, itself among them."""
    return _KIN.get(word, frozenset({word}))


def statistics_in(stems: frozenset[str]) -> frozenset[str]:
    """The statistics that a set of word stems names, each under one name: p95, average, max."""
    found = {f"#{_STATISTIC_OF[word]}" for word in stems if word in _STATISTIC_OF}
    found |= {
        word for word in stems
        if word[0] == "p" and word[1:].isdigit() and len(word) > 2 and word != "p50"
    }  # fmt: skip
    return frozenset(found)


def select(call: CallView, subject: str | None) -> tuple[RecordView, ...] | SupportCode:
    """The records about a subject, or the code that says why there are none."""
    if not subject:
        return call.records
    places: frozenset[int] | None = None
    for name in sorted(_subject_words(subject)):
        held = _places(call, name)
        if held is None:
            if not _in_scope(call, name):
                return SupportCode.IDENTIFIER_UNKNOWN
            continue
        places = held if places is None else places & held
    if places is None:
        return call.records
    if not places:
        return SupportCode.SUBJECT_REFUTED
    return tuple(call.records[place] for place in sorted(places))


def _subject_words(subject: str) -> frozenset[str]:
    words = {word.strip(".:!?*=~").casefold() for word in subject.split()}
    words = {word.strip("\"'`()[]{},;") for word in words}
    return frozenset(words - _SMALL - {""})


def _places(call: CallView, name: str) -> frozenset[int] | None:
    """The places of the records that hold a name, an owned name, or its words; None for none."""
    exact = call.by_name.get(name)
    if exact:
        return exact
    owned = call.by_owner.get(name)
    if owned:
        return owned
    pieces = names_in(name)
    if len(pieces) > 1 and all(piece in call.by_name for piece in pieces):
        return frozenset.intersection(*(call.by_name[piece] for piece in pieces))
    words = [stem(part) for part in parts_of(name)]
    if words and all(word in call.by_stem for word in words):
        held = frozenset.intersection(*(call.by_stem[word] for word in words))
        if len(words) > 1 and not name.isalpha():
            held = frozenset(place for place in held if _in_row(words, call.records[place]))
        return held or None
    return None


def _in_row(words: list[str], record: RecordView) -> bool:
    """Whether a record holds the parts of a name one behind the other: `web-a` in "web a"."""
    text = parts_of(f"{record.subject} {record.text}")
    if words[0] not in record.stems:
        return False
    stems = [stem(part) for part in text]
    size = len(words)
    return any(stems[place : place + size] == words for place in range(len(stems) - size + 1))


def _in_scope(call: CallView, name: str) -> bool:
    if name in call.about_names:
        return True
    words = stems_of(name)
    return bool(words) and words <= call.about_stems


@dataclass(frozen=True, slots=True)
class Candidate:
    """A field of a record, and how much of the attribute's words its name holds (0 to 1)."""

    record: RecordView
    field: Field
    score: float


ATTRIBUTE_SCORE_MIN: Final = 0.5
"""Half of an attribute's words have to be the field's; less is another field."""


def candidates(
    call: CallView, records: tuple[RecordView, ...], attribute: str
) -> tuple[Candidate, ...]:
    """The fields that an attribute may mean: those whose names hold most of its words."""
    wanted = frozenset(stem(part) for part in parts_of(attribute)) - _SMALL
    plain = wanted - frozenset(word for word in wanted if statistics_in(frozenset({word})))
    plain = plain or wanted
    found: list[Candidate] = []
    for record in records:
        for field in record.fields:
            score = _score(call, record, field, plain)
            if wanted == field.names - _SMALL:
                score = 3.0
            elif wanted == stems_of(field.name.rpartition(".")[2]) - _SMALL:
                score = max(score, 1.5)
            if score >= ATTRIBUTE_SCORE_MIN:
                found.append(Candidate(record, field, score))
    best = max((item.score for item in found), default=0.0)
    return tuple(item for item in found if item.score == best)


def narrow(found: tuple[Candidate, ...], subject: str) -> tuple[Candidate, ...]:
    """Of several fields of one record, those whose names hold most of the subject's words.

    Where a record holds `errors.eu` and `errors.us`, the errors of eu are the former's.
    """
    words = frozenset(stem(part) for part in parts_of(subject)) - _SMALL
    most: dict[int, int] = {}
    for item in found:
        held = len(words & item.field.names)
        most[item.record.place] = max(held, most.get(item.record.place, 0))
    return tuple(item for item in found if len(words & item.field.names) == most[item.record.place])


def _score(call: CallView, record: RecordView, field: Field, wanted: frozenset[str]) -> float:
    if not wanted:
        return 0.0
    names = field.names
    if wanted and wanted == names:
        return 2.0
    own = sum(1 for word in wanted if kin(word) & names)
    if own == len(wanted):
        return 1.0 + 0.001 / (1 + len(names))
    beside = sum(
        1 for word in wanted if not kin(word) & names and kin(word) & _beside(call, record)
    )
    return (own + 0.9 * beside) / len(wanted)


def _beside(call: CallView, record: RecordView) -> frozenset[str]:
    """Words that speak of a reading without naming its field: its subject, what was asked."""
    return (
        stems_of(record.subject)
        | call.about_stems
        | (record.stems if len(record.fields) == 1 else frozenset())
    )


def statistic_clash(call: CallView, candidate: Candidate, attribute: str) -> bool:
    """Whether an attribute names one statistic and the field is another (p95 is not average)."""
    wanted = statistics_in(frozenset(stem(part) for part in parts_of(attribute)))
    if not wanted:
        return False
    held = statistics_in(candidate.field.names) or statistics_in(call.about_stems)
    if {"#3", "#6"} <= held and "#0" in wanted:
        return False  # a sum over a count is a mean
    return bool(held) and not wanted & held
