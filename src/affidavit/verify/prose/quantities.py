"""What a number measures: its statistic, which of several amounts it is, and its unit.

An average is no maximum, a limit is no usage, and a count is no rate: a field has to be of the kind
that the words around the number name.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from affidavit.contract.evidence import Value
from affidavit.verify.prose.figures import Figure
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.statements.fields import Field
from affidavit.verify.statements.records import RecordView
from affidavit.verify.statements.select import statistics_in
from affidavit.verify.statements.units import Stated, is_busy_time, named_unit, unit_of
from affidavit.verify.statements.words import parts_of, stem, stems_of


def statistics_of(figure: Figure) -> frozenset[str]:
    """The statistics that the words around a number name: p95, average, total."""
    clause = figure.clause
    figures = [token for token in clause.tokens if token.kind is Kind.NUMBER and not token.spelled]
    tokens = clause.tokens if len(figures) < 2 else _around(figure)
    words = frozenset(
        stem(token.text)
        for token in tokens
        if token.kind in {Kind.WORD, Kind.NAME} and not token.text.casefold().endswith("est")
    )
    words |= frozenset(
        _STATISTICS_ZH[token.text] for token in tokens if token.text in _STATISTICS_ZH
    )
    return statistics_in(words) - {"#5", "#6"}


def is_other_statistic(figure: Figure, names: frozenset[str]) -> bool:
    """Whether the words around a number name another statistic than what it is the value of."""
    own, said = statistics_in(names), statistics_of(figure)
    return bool(own and said) and not own & said


_STATISTICS_ZH: Final[Mapping[str, str]] = MappingProxyType(
    {
        "平均": "average", "均值": "average", "平均值": "average", "峰值": "max", "最大值": "max",
        "最小值": "min", "中位数": "median", "总": "total", "总计": "total", "合计": "total",
    }
)  # fmt: skip


def _around(figure: Figure) -> tuple[Token, ...]:
    """From the number before to this one, and a word behind."""
    tokens, place = figure.clause.tokens, figure.place
    start = max(
        (
            at + 1
            for at in range(place)
            if tokens[at].kind is Kind.NUMBER and not tokens[at].spelled
        ),
        default=0,
    )
    return (*tokens[start:place], *tokens[place + 1 : place + 3])


def has_statistic(
    field: Field, record: RecordView, about: frozenset[str], wanted: frozenset[str]
) -> bool:
    """Whether a field is of that statistic, by its own name, or else by what was asked."""
    names = field.names | stems_of(getattr(record.fact, "statistic", None) or "")
    held = statistics_in(names) or statistics_in(about)
    if wanted <= {"#1", "#2"} and not held and isinstance(record.fact, Value):
        return True
    return bool(held & wanted) or ("#0" in wanted and {"#3", "#6"} <= held)


_QUALIFIERS: Final = tuple(
    frozenset(stem(word) for word in group.split())
    for group in (
        "limit limits maximum max quota cap ceiling",
        "requested reserved reservation requests",
        "used usage utilization utilisation consumed occupied resident",
        "free available avail remaining",
        "desired expected wanted",
        "minimum min",
    )
)
"""Words that say which of several amounts of one thing is meant."""


LIMITING: Final = _QUALIFIERS[0]
"""The words that name what may not be exceeded."""


def qualifiers_in(words: frozenset[str]) -> frozenset[int]:
    """The kinds of amount that some words name, each as a number."""
    return frozenset(place for place, group in enumerate(_QUALIFIERS) if group & words)


_GROUP_COUNTS: Final = frozenset("n count cnt total num qty".split())


def counts_group(stated: Stated, field: Field, record: RecordView, words: frozenset[str]) -> bool:
    """Whether a column counts the group of a row that is called what is counted (result=timeout)."""
    if not field.names & _GROUP_COUNTS or stated.unit:
        return False
    return any(
        item.number is None and not item.loose and stems_of(item.text) & words
        for item in record.fields
    )


def is_unnamed(stated: Stated, field: Field, record: RecordView, about: frozenset[str]) -> bool:
    """Whether a bare number of a field may be in the stated unit, by the words beside it."""
    wanted = unit_of(stated.unit) if stated.unit else None
    if wanted is None or field.unit:
        return False
    if is_busy_time(parts_of(field.name)):
        return wanted == unit_of("cores") and "cpu" in field.names
    named = named_unit(parts_of(field.name)) or _named_in(about)
    if named and wanted.dimension != "rate":
        return unit_of(named) == wanted
    words = field.names | about | (record.stems if isinstance(record.fact, Value) else frozenset())
    if wanted.dimension == "rate":
        return _is_rated(stated.unit, words)
    if wanted.dimension == "ratio":
        return bool(words & _PERCENT)
    if words & _MEASURED.get(wanted.dimension, frozenset()) and wanted.factor == 1:
        return True
    return any(unit_of(word) == wanted for word in words)


def _named_in(about: frozenset[str]) -> str:
    """The one unit that what was asked names ("latency_p95_ms"); none where it names several."""
    units = {named_unit((word,)) for word in about} - {""}
    return next(iter(units)) if len(units) == 1 else ""


def _is_rated(unit: str, words: frozenset[str]) -> bool:
    """Whether words say that something is counted for every second or minute."""
    if unit.endswith("/s"):
        return bool(words & _PER_SECOND)
    if unit.endswith("/min"):
        return bool(words & _PER_MINUTE) or ("period" in words and "60" in words)
    return False


_MEASURED: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        dimension: frozenset(stem(word) for word in words.split())
        for dimension, words in (
            ("bytes", "memory mem maxmemory size disk space heap rss storage capacity"),
            ("time", "uptime ttl duration elapsed latency timeout wait waited age interval"),
        )
    }
)
"""What is measured in the base unit where nothing names another: bytes, seconds."""
RATIO_NAMES: Final = frozenset(stem(word) for word in "ratio fraction".split())
"""What is named so is a part of one, and not of a hundred."""
_PERCENT: Final = frozenset(
    stem(word) for word in "% percent pct percentage utilization utilisation".split()
)
_PER_SECOND: Final = frozenset(
    stem(word) for word in "rate second sec iops qps rps tps persecond".split()
)
_PER_MINUTE: Final = frozenset(stem(word) for word in "minute min rpm perminute".split())
