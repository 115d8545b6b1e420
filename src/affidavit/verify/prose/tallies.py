"""Is a number how many there are? Records that hold the clause's words, things that it lists."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Final

from affidavit.contract.evidence import Row
from affidavit.verify.prose.binding import Binding
from affidavit.verify.prose.clauses import OTHERS, Clause
from affidavit.verify.prose.comparing import compares
from affidavit.verify.prose.desk import TOLD, Desk
from affidavit.verify.prose.figures import Figure, is_edge, is_end, near_words
from affidavit.verify.prose.lexicon import FUNCTION
from affidavit.verify.prose.others import spoken_of
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.statements.counting import group_sizes
from affidavit.verify.statements.fields import read_number
from affidavit.verify.statements.records import RecordView
from affidavit.verify.statements.select import kin
from affidavit.verify.statements.units import agrees, named_unit, unit_of
from affidavit.verify.statements.words import parts_of, stem, stems_of


def may_count(figure: Figure) -> bool:
    """Whether a number can count: whole, without a unit, before a noun or behind "of the"."""
    stated = figure.stated
    if stated.unit and unit_of(stated.unit) is not None:
        return False
    if stated.number != stated.number.to_integral_value() or stated.number < 0 or is_end(figure):
        return False
    tokens, place = figure.clause.tokens, figure.place
    after = next(
        (
            token
            for token in tokens[place + 1 :]
            if token.text not in {")", "("} and token.text.casefold() not in OTHERS
        ),
        None,
    )
    if after is None:
        return figure.token.spelled
    if after.kind is Kind.NUMBER:
        return True
    if after.kind in {Kind.NAME, Kind.QUOTE}:
        return after.kind is Kind.NAME
    low = after.text.casefold()
    return after.kind is Kind.WORD and (
        low in {"of", "were", "are", "was", "times", "went", "that", "which"}
        or stem(low) not in FUNCTION
    )


def by_count(
    desk: Desk, figure: Figure, binding: Binding, before: Binding | None
) -> frozenset[int] | None:
    """The records that are so many and hold the clause's words; None where no count is that."""
    if binding.call.id == TOLD or not may_count(figure):
        return None
    if _is_field(figure, binding) and not (
        _is_among(figure) and _is_one(figure, _whole(desk, figure, binding, before))
    ):
        return None
    places = counted(desk, binding, figure.clause, figure.token)
    if _is_of_others(figure):
        return places if _is_one(figure, _whole(desk, figure, binding, before)) else None
    envelope = binding.call.call.envelope
    if envelope.truncated and _counts_whole(figure):
        return places if figure.stated.number == envelope.total else None
    narrower = len(places) < len(binding.call.records) - len(binding.call.frames)
    if not envelope.truncated or narrower:
        records = tuple(binding.call.records[place] for place in sorted(places))
        if _is_one(figure, map(Decimal, group_sizes(records))):
            return places
    if not narrower and _is_one(
        figure, (Decimal(envelope.count), Decimal(envelope.total or envelope.count))
    ):
        return places
    sums = (*_whole(desk, figure, binding, before), *_sums(binding, places))
    return places if _is_one(figure, sums) else None


def _is_one(figure: Figure, sizes: Iterable[Decimal]) -> bool:
    """Whether one of some counts is the number, or stands to it as the clause compares."""
    number = figure.stated.number
    if figure.operator == "=":
        return number in tuple(sizes)
    return any(compares(size, figure.operator, number) for size in sizes)


def _counts_whole(figure: Figure) -> bool:
    """Whether the words right before a number say that it is all there is: 共有, "a total of"."""
    before = figure.clause.tokens[max(0, figure.place - 3) : figure.place]
    return any(token.text.casefold() in _WHOLE for token in before)


_WHOLE: Final = frozenset("total altogether 共 共有 一共 总共 共计 合计 总计".split())


def _is_of_others(figure: Figure) -> bool:
    """Whether the number counts "the other two", "the three others": without those named before."""
    near = figure.clause.tokens[max(0, figure.place - 1) : figure.place + 2]
    return any(token.text.casefold() in OTHERS for token in near)


_COUNTS: Final = frozenset(map(stem, "n count cnt total number num qty amount hits".split()))
"""What a column is called that counts the rows behind a group."""


def _sums(binding: Binding, places: frozenset[int]) -> frozenset[Decimal]:
    """What the counts of several rows come to together, read whole and all of them meant."""
    rows = [
        binding.call.records[place] for place in sorted(places)
        if place not in binding.call.frames
    ]  # fmt: skip
    if (
        len(rows) < 2
        or binding.call.call.envelope.truncated
        or len({row.shape for row in rows}) > 1
    ):
        return frozenset()
    columns: dict[str, list[Decimal]] = {}
    for row in rows:
        for field in row.fields:
            if field.number is not None and not field.loose and field.names & _COUNTS:
                columns.setdefault(field.name, []).append(field.number)
    return frozenset(sum(found, Decimal()) for found in columns.values() if len(found) == len(rows))


def _is_field(figure: Figure, binding: Binding) -> bool:
    """Whether the records name what the number says in a field of their own: `queued`, `restarts`.

    Then the field has to hold the number, and no count stands for it. A field whose number the
    clause gives elsewhere ("3 requests with status 502") is not meant.
    """
    near = near_words(figure)
    meant = frozenset(other for word in near.all for other in kin(word))
    given = {token.stated.number for token in figure.clause.tokens if token.stated is not None}
    rows = [
        record for record in binding.records() if isinstance(record.fact, Row) or _is_row(record)
    ]
    return any(
        field.number is not None and not field.loose and field.number not in given
        and stems_of(field.name.rsplit(".", 1)[-1]) <= meant
        for record in rows
        for field in record.fields
    )  # fmt: skip


def _is_row(record: RecordView) -> bool:
    """Whether a line is a row of a table: several named cells, and no running text beside them."""
    named = [field for field in record.fields if not field.loose]
    return len(named) > 2 and len(named) * 2 > len(record.fields)


def _is_among(figure: Figure) -> bool:
    """三个分区中: the number says how many there are, of which something is told."""
    behind = figure.clause.tokens[figure.place + 1 : figure.place + 4]
    return any(token.text in {"中", "之中", "里"} for token in behind)


def _named_before(desk: Desk, figure: Figure, binding: Binding) -> frozenset[int]:
    """The records of what the sentence before named, that "the others" are without."""
    found = [desk.places(binding.call, token) for token in figure.clause.topics]
    narrow = [item for item in found if 0 < len(item) < len(binding.call.records)]
    return frozenset.intersection(*narrow) if narrow else frozenset()


def _whole(
    desk: Desk, figure: Figure, binding: Binding, before: Binding | None
) -> frozenset[Decimal]:
    """How many there are in all ("of the three runners"), or all but those before ("the others")."""
    tokens = figure.clause.tokens[max(0, figure.place - 2) : figure.place + 2]
    words = {token.text.casefold() for token in tokens}
    if binding.call.call.envelope.truncated:
        return frozenset()
    spoken = spoken_of(figure.clause, binding, before) if words & OTHERS else frozenset[int]()
    if words & OTHERS and not spoken:
        spoken = _named_before(desk, figure, binding)
        kind = (
            counted(desk, binding, Clause(figure.clause.tokens), figure.token) if spoken else None
        )
        if kind is not None:
            return frozenset({Decimal(len(kind - spoken - binding.call.frames))})
    if not spoken and not (words & {"of", "共", "这", "all", "in"}) and not _is_among(figure):
        return frozenset()
    left = tuple(
        item for item in binding.call.records
        if item.place not in spoken and item.place not in binding.call.frames
    )  # fmt: skip
    return frozenset(Decimal(size) for size in group_sizes(left))


def counted(desk: Desk, binding: Binding, clause: Clause, number: Token) -> frozenset[int]:
    """The records that hold the clause's distinguishing words and other numbers, at its moment."""
    call = binding.call
    places = frozenset().union(*binding.allowed)
    for token in binding.held:
        found = desk.places(call, token)
        if token.kind in {Kind.WORD, Kind.QUOTE} and 0 < len(found) < len(call.records):
            places = (places & found) or places
    for token in clause.of(Kind.NUMBER):
        found = desk.places(call, token)
        if token is not number and not token.spelled and 0 < len(found) < len(call.records):
            places = (places & found) or places
    moments = clause.of(Kind.MOMENT)
    if len(moments) == 1 and moments[0].moment and not is_edge(clause, moments[0]):
        moment = moments[0].moment
        at = frozenset(place for place in places if call.records[place].stands_at(moment))
        places = at or places
    return places


_ASKED_COUNTS: Final = frozenset("count n times attempts samples repeat packets probes".split())


def _is_asked_count(desk: Desk, figure: Figure, binding: Binding) -> bool:
    """ "5 pings" where a tool that pings was told to do it 5 times."""
    nouns = near_words(figure).counted
    if not any(desk.is_called(binding.call, token) or desk.is_about(binding.call, token)
               for token in nouns if token.kind is Kind.WORD):  # fmt: skip
        return False
    return any(
        name.casefold() in _ASKED_COUNTS
        and value.isdigit()
        and Decimal(value) == figure.stated.number
        for name, value in binding.call.arguments
    )


def by_question(desk: Desk, figure: Figure, binding: Binding) -> bool:
    """Whether what was asked of the call holds the number: "traces of at least 3 s"."""
    stated = figure.stated
    if not stated.unit and _is_asked_count(desk, figure, binding):
        return True
    if not stated.unit or unit_of(stated.unit) is None:
        return False
    for name, value in binding.call.arguments:
        number, unit = read_number(value)
        if number is not None and agrees(stated, number, unit or named_unit(parts_of(name))):
            return True
    window = binding.call.call.envelope.scope.window
    if window is None:
        return False
    return agrees(stated, Decimal(str((window.end - window.start).total_seconds())), "s")


_STEPS = frozenset(("period", "step", "interval", "resolution", "granularity", "bucket"))
_SPACED = frozenset("the those these each every last first next per a 每 这 该".split())
GAPS_MIN = 2
"""A gap that comes once is no step."""


def by_step(figure: Figure, binding: Binding) -> bool:
    """Whether a span of time is the step of what was asked: "in the five minutes from 18:00"."""
    stated = figure.stated
    unit = unit_of(stated.unit) if stated.unit else None
    before = figure.clause.tokens[figure.place - 1].text.casefold() if figure.place else ""
    if unit is None or unit.dimension != "time" or before not in _SPACED:
        return False
    for name, value in binding.call.arguments:
        number, written = read_number(value)
        if number is not None and set(parts_of(name)) & _STEPS:
            return agrees(stated, number, written or "s")
    moments = sorted({record.at for record in binding.call.records if record.at is not None})
    gaps = {later - one for one, later in zip(moments, moments[1:], strict=False)}
    return (
        len(moments) > GAPS_MIN
        and len(gaps) == 1
        and any(agrees(stated, Decimal(str(gap.total_seconds())), "s") for gap in gaps)
    )


_READINGS = frozenset(
    "sample samples reading readings point points measurement measurements".split()
)


def by_readings(figure: Figure, binding: Binding) -> bool:
    """Whether a number is how many readings a call returned: "in the five samples"."""
    tokens, place = figure.clause.tokens, figure.place
    behind = tokens[place + 1].text.casefold() if place + 1 < len(tokens) else ""
    if behind not in _READINGS or binding.call.id == TOLD:
        return False
    dated = [record for record in binding.call.records if record.at is not None]
    return not binding.call.call.envelope.truncated and len(dated) == figure.stated.number


def by_distinct(figure: Figure, binding: Binding) -> bool:
    """Whether so many different things of the counted kind stand in the clause's records."""
    number = figure.stated.number
    words = [token.stems for token in near_words(figure).counted if token.kind is Kind.WORD]
    kinds = frozenset().union(*words, frozenset[str]())
    if figure.stated.unit or not kinds or number < 2 or binding.call.id == TOLD:
        return False
    values: dict[str, set[str]] = {}
    for record in binding.wider():
        for field in record.fields:
            if field.number is None and field.names & kinds:
                values.setdefault(field.name, set()).add(field.text)
    return any(len(found) == number for found in values.values())


def by_listing(figure: Figure) -> bool:
    """Whether the clause itself lists so many names or moments: "two errors, at 06:00 and 07:00"."""
    number = figure.stated.number
    if not may_count(figure) or is_end(figure):
        return False
    behind = figure.clause.tokens[figure.place + 1 :]
    if any(token.text.casefold() in {"between", "from", "从"} for token in behind[:4]):
        return False
    runs = listed(behind)
    return number >= 2 and any(number == run for run in runs)


_JOINS = frozenset("and or , ( 和 、 与 及 at 以及".split())


def listed(tokens: Iterable[Token]) -> tuple[int, ...]:
    """The lengths of the lists of names, moments or ids in some tokens; a repeated one ends a list."""
    runs: list[list[str]] = []
    kind: Kind | None = None
    for token in tokens:
        if token.kind in {Kind.NAME, Kind.MOMENT, Kind.QUOTE} or (
            token.kind is Kind.NUMBER and len(token.text) > 1
        ):
            if token.kind is kind and runs and token.text not in runs[-1]:
                runs[-1].append(token.text)
            else:
                runs.append([token.text])
            kind = token.kind
        elif token.text.casefold() not in _JOINS:
            kind = None
    return tuple(len(run) for run in runs)


def repeats(clause: Clause) -> bool:
    """Whether a list names the same thing twice ("a-1 and a-1"): then it lists something else."""
    run: list[str] = []
    named = [token.text.casefold() for token in clause.names if not token.text.isalpha()]
    if any(named.count(name) > 1 for name in named):
        return True
    for token in clause.tokens:
        if token.kind in {Kind.NAME, Kind.MOMENT, Kind.QUOTE}:
            if token.text.casefold() in run:
                return True
            run.append(token.text.casefold())
        elif token.text.casefold() not in _JOINS:
            run = []
    return False
