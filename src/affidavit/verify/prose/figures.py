"""Every number of a clause: is it the number of a fact that the clause speaks of?

A number is bound by a field of the clause's own records that holds it, in its unit, at its moment,
and whose name is no worse met by the words around the number than any other field of that record;
by counting the records that hold the clause's words; or by computing it from numbers and moments
that are bound already (shares, ratios, differences, sums). Nothing else binds a number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final

from affidavit.verify.prose.binding import Binding
from affidavit.verify.prose.clauses import OTHERS, Clause
from affidavit.verify.prose.desk import TOLD, Desk
from affidavit.verify.prose.lexicon import FUNCTION
from affidavit.verify.prose.nouns import claims
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.statements.counting import group_sizes
from affidavit.verify.statements.fields import Field, read_number
from affidavit.verify.statements.records import RecordView
from affidavit.verify.statements.select import kin
from affidavit.verify.statements.units import Stated, agrees, convert, named_unit, unit_of
from affidavit.verify.statements.words import parts_of, stem, stems_of

_BEFORE_WORDS: Final = 5
_AFTER_WORDS: Final = 3
_FREE_NUMBERS: Final = frozenset({"one", "一", "One"})
_COMPARING: Final[tuple[tuple[tuple[str, ...], str], ...]] = (
    (("no", "more", "than"), "<="), (("not", "more", "than"), "<="), (("no", "less", "than"), ">="),
    (("not", "less", "than"), ">="), (("no", "fewer", "than"), ">="), (("at", "most"), "<="),
    (("at", "least"), ">="), (("up", "to"), "<="), (("more", "than"), ">"), (("less", "than"), "<"),
    (("fewer", "than"), "<"), (("higher", "than"), ">"), (("greater", "than"), ">"),
    (("lower", "than"), "<"), (("smaller", "than"), "<"), (("larger", "than"), ">"),
    (("longer", "than"), ">"), (("shorter", "than"), "<"), (("well", "over"), ">"),
    (("above",), ">"), (("over",), ">"), (("exceeds",), ">"), (("exceeded",), ">"),
    (("exceeding",), ">"), (("exceed",), ">"), (("beyond",), ">"), (("below",), "<"),
    (("under",), "<"), (("beneath",), "<"), (("不", "超过"), "<="), (("超过",), ">"),
    (("高于",), ">"), (("大于",), ">"), (("多于",), ">"), (("超出",), ">"), (("不低于",), ">="),
    (("不少于",), ">="), (("至少",), ">="), (("低于",), "<"), (("小于",), "<"), (("少于",), "<"),
    (("不超过",), "<="), (("不高于",), "<="), (("至多",), "<="), (("最多",), "<="),
    (("不足",), "<"), (("未超过",), "<="),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pool:
    """Numbers and moments that are bound already, to compute with."""

    numbers: tuple[Stated, ...] = ()
    moments: tuple[datetime, ...] = ()


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of a clause, where it stands, and how it is compared."""

    clause: Clause
    place: int
    operator: str = "="

    @property
    def token(self) -> Token:
        """The number's token."""
        return self.clause.tokens[self.place]

    @property
    def stated(self) -> Stated:
        """The number as stated; "about" before it counts."""
        stated = self.token.stated
        assert stated is not None
        about = (
            stated.about
            or any(
                token.text.casefold() in _ABOUT
                for token in self.clause.tokens[max(0, self.place - 2) : self.place]
            )
            or (
                self.place + 1 < len(self.clause.tokens)
                and self.clause.tokens[self.place + 1].text in {"左右", "上下"}
            )
        )
        return Stated(stated.number, stated.unit, about)


_ABOUT: Final = frozenset(
    "about roughly approximately approx around circa nearly almost ca 约 大约 大概 近 将近 接近".split()
)


def figures_of(clause: Clause) -> Iterator[Figure]:
    """The numbers of a clause that claim something."""
    for place, token in enumerate(clause.tokens):
        if token.kind is Kind.NUMBER and token.text not in _FREE_NUMBERS:
            yield Figure(clause, place, operator_at(clause.tokens, place))


def operator_at(tokens: tuple[Token, ...], place: int) -> str:
    """How the words before a number compare with it."""
    before: list[str] = []
    for token in reversed(tokens[max(0, place - 5) : place]):
        if token.kind is Kind.NUMBER or token.kind is Kind.SIGN:
            break
        before.insert(0, token.text.casefold())
    trimmed = [
        word
        for word in before
        if word not in _ABOUT and word not in {"the", "its", "a", "of", "their"}
    ]
    for words, operator in _COMPARING:
        for end in (len(trimmed), len(trimmed) - 1):
            if end >= len(words) and tuple(trimmed[end - len(words) : end]) == words:
                return operator
    after = tokens[place + 1].text if place + 1 < len(tokens) else ""
    return {"以上": ">=", "以下": "<=", "以内": "<="}.get(after, "=")


@dataclass(frozen=True, slots=True)
class Near:
    """The stems of the words around a number; `next` are those closest, `counted` the noun behind."""

    all: frozenset[str]
    next: frozenset[str]
    counted: tuple[Token, ...]


def near_words(figure: Figure) -> Near:
    """The words around a number, up to the next number that is not listed with it.

    The names of things are left out: they say whose number it is, not which.
    """
    tokens, place = figure.clause.tokens, figure.place
    before = _reach(tuple(reversed(tokens[:place])), _BEFORE_WORDS)
    after = _reach(tokens[place + 1 :], _AFTER_WORDS)
    return Near(
        all=_stems((*before, *after)),
        next=_stems((*before[:1], *after[:1])),
        counted=tuple(token for token in after[:2] if token.kind is Kind.WORD),
    )


def _stems(tokens: Iterable[Token]) -> frozenset[str]:
    found: set[str] = set()
    for token in tokens:
        if token.kind is Kind.WORD or (token.kind is Kind.NAME and token.text.isalpha()):
            found |= token.stems | stems_of(token.text)
    return frozenset(found) - FUNCTION


def _reach(tokens: tuple[Token, ...], words: int) -> list[Token]:
    near: list[Token] = []
    listing, joined = True, False
    for token in tokens:
        if len(near) >= words or token.text in {";", "；"}:
            break
        if token.kind is Kind.NUMBER:
            if not listing:
                break
            joined = False
            continue
        low = token.text.casefold()
        if joined and low not in _LISTED:
            break
        joined = joined or low in {"and", "or", ",", "but", "和"}
        listing = listing and low in _LISTED
        if token.kind is not Kind.SIGN and token.text.casefold() not in _LISTED:
            near.append(token)
    return near


_LISTED: Final = frozenset("and or , 、 和 与 及 次 个 条 台 名 of / out".split())


def bound_by_field(
    desk: Desk, figure: Figure, binding: Binding, window: tuple[datetime, datetime] | None
) -> tuple[RecordView, ...]:
    """The records of the clause that hold the number in a fitting field."""
    near = near_words(figure)
    moment = attached_moment(desk, figure)
    found: list[RecordView] = []
    for records, strict in ((binding.records(), False), (binding.wider(), True)):
        for record in records:
            if record.call == TOLD:
                if not all(record.stands_at(m.moment) for m in figure.clause.of(Kind.MOMENT) if m.moment):
                    continue
            elif not _timed(record, moment, window):
                continue
            if _fits(figure, record, near, binding.call.about_stems, strict=strict):
                found.append(record)
        if found:
            break
    return tuple(found)


def stands_beside(figure: Figure) -> bool:
    """Whether a compared number stands so to the number before it: "-31 dBm, below -18 dBm"."""
    stated = figure.stated
    for token in reversed(figure.clause.tokens[: figure.place]):
        if token.stated is None:
            continue
        other = token.stated
        number = convert(other.number, other.unit, stated.unit) if stated.unit else other.number
        if number is None:
            return True
        return _compares(number, figure.operator, stated.number)
    return True


def _compares(left: Decimal, operator: str, right: Decimal) -> bool:
    match operator:
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
        case _:
            return left >= right


def _fits(
    figure: Figure,
    record: RecordView,
    near: Near,
    about: frozenset[str],
    *,
    strict: bool,
) -> bool:
    """Whether a field of the record is the number, and is the field that the words mean."""
    stated = figure.stated
    numeric = [field for field in record.fields if field.number is not None]
    scores = [(_overlap(field, near), field) for field in numeric]
    most = max((score for score, _ in scores), default=0)
    named = max((score for score, field in scores if not field.loose), default=0)
    counts = any(claims(token) for token in near.counted)
    for score, field in scores:
        if field.number is None or not _is(stated, field, record, about):
            continue
        if score == most and score > 0:
            return True
        if strict or counts:
            continue
        if field.loose and named == 0 and _distinctive(stated):
            return True
        if most == 0 and (_distinctive(stated) or len(numeric) == 1):
            return True
    return _in_name(figure, record)


def _in_name(figure: Figure, record: RecordView) -> bool:
    """Whether the number is part of what is measured: 503 of `HTTPCode_ELB_503_Count`."""
    text = figure.token.text
    return (
        text.isdigit() and len(text) >= 3 and record.fact.kind == "value" and text in record.stems
    )


def _overlap(field: Field, near: Near) -> int:
    """How well a field is meant: words next to the number count double, next in the text too."""
    names = field.tight if field.loose else field.names
    score = 2 * sum(1 for word in near.next if kin(word) & names)
    score += sum(1 for word in near.all if kin(word) & names)
    if field.loose:
        score += sum(1 for word in near.all if kin(word) & field.names - names)
    return score


def _is(stated: Stated, field: Field, record: RecordView, about: frozenset[str]) -> bool:
    assert field.number is not None
    if agrees(stated, field.number, field.unit):
        return True
    if not stated.unit or field.unit or unit_of(stated.unit) is None:
        return False
    wanted = unit_of(stated.unit)
    assert wanted is not None
    words = record.stems | field.names | about
    named = any(unit_of(word) == wanted for word in words)
    named = named or (wanted.dimension == "rate" and stem("rate") in words)
    return named and agrees(Stated(stated.number, "", stated.about), field.number, "")


def _distinctive(stated: Stated) -> bool:
    digits = len(stated.number.as_tuple().digits)
    return bool(stated.unit and unit_of(stated.unit)) or digits >= 3 or stated.step < 1


def attached_moment(desk: Desk, figure: Figure) -> Token | None:
    """The moment that a number is said to be at: after it ("5 at 06:45"), or the clause's only one."""
    tokens, place = figure.clause.tokens, figure.place
    for offset, token in enumerate(tokens[place + 1 : place + 5]):
        if token.kind is Kind.NUMBER:
            break
        if token.kind is Kind.MOMENT:
            between = [item.text.casefold() for item in tokens[place + 1 : place + 1 + offset]]
            if any(word in _AT for word in between) and not any(word in _RANGE for word in between):
                return token
    moments = figure.clause.of(Kind.MOMENT)
    if len(moments) == 1 and not _is_window(figure.clause, moments[0]):
        numbers = figure.clause.of(Kind.NUMBER)
        if len(numbers) == 1 or moments[0].start < figure.token.start:
            return moments[0]
    return None


_AT: Final = frozenset("at on of for 在 于 时 by @ in".split())
_RANGE: Final = frozenset("from to between and until till since after before 从 到 至 起".split())


def _is_window(clause: Clause, moment: Token) -> bool:
    place = clause.tokens.index(moment)
    before = clause.tokens[place - 1].text.casefold() if place else ""
    after = clause.tokens[place + 1].text.casefold() if place + 1 < len(clause.tokens) else ""
    return before in _RANGE or after in {"起", "之后", "以后", "以来", "on", "onwards"}


def _timed(
    record: RecordView, moment: Token | None, window: tuple[datetime, datetime] | None
) -> bool:
    if moment is not None and moment.moment is not None and record.is_dated:
        return record.stands_at(moment.moment)
    if window is not None and record.when is not None:
        return window[0] <= record.when <= window[1]
    return True


def bound_by_comparison(
    figure: Figure,
    binding: Binding,
    window: tuple[datetime, datetime] | None,
    before: Binding | None,
) -> bool:
    """Whether every reading that the clause speaks of stands in the stated relation.

    "the others" are the records that the clause before did not speak of.
    """
    near = near_words(figure)
    apart = _spoken_of(figure.clause, binding, before)
    readings = [
        field
        for record in binding.wider()
        if _timed(record, None, window) and record.call != TOLD and record.place not in apart
        for field in _meant(record, near)
    ]
    return len(readings) > 0 and all(_stands(figure, field) for field in readings)


def _meant(record: RecordView, near: Near) -> list[Field]:
    numeric = [field for field in record.fields if field.number is not None and not field.loose]
    scores = [_overlap(field, near) for field in numeric]
    most = max(scores, default=0)
    if most == 0 and len(numeric) != 1:
        return []
    return [field for score, field in zip(scores, numeric, strict=True) if score == most]


def _stands(figure: Figure, field: Field) -> bool:
    stated = figure.stated
    number = field.number
    if number is None:
        return False
    if stated.unit and unit_of(stated.unit):
        converted = convert(number, field.unit, stated.unit)
        if converted is None:
            return False
        number = converted
    return _compares(number, figure.operator, stated.number)


def _spoken_of(clause: Clause, binding: Binding, before: Binding | None) -> frozenset[int]:
    """The records of the clause before, where this one speaks of "the others"."""
    words = {token.text.casefold() for token in clause.tokens}
    if before is None or before.call.id != binding.call.id or not words & OTHERS:
        return frozenset()
    return frozenset().union(*before.best)


OTHERS: Final = frozenset("other others rest remaining remainder 其他 其余 另外 其它".split())


def bound_by_count(
    desk: Desk, figure: Figure, binding: Binding, before: Binding | None
) -> bool | None:
    """Whether so many records hold the clause's words; None where counting says nothing."""
    stated = figure.stated
    if stated.unit and unit_of(stated.unit) is not None:
        return None
    if stated.number != stated.number.to_integral_value() or stated.number < 0:
        return None
    if binding.call.id == TOLD or _is_end(figure):
        return None
    sizes = counted(desk, binding, figure.clause) | _whole(figure, binding, before)
    if stated.number in sizes:
        return True
    return False if sizes else None


def _is_end(figure: Figure) -> bool:
    """Whether a number is an end of a movement ("from 4", "to 20"): a reading, and no count."""
    before = figure.clause.tokens[figure.place - 1].text.casefold() if figure.place else ""
    return before in {"from", "to", "从", "到", "至"}


def _whole(figure: Figure, binding: Binding, before: Binding | None) -> frozenset[Decimal]:
    """"of the three runners": how many there are in all; "the other three": all but those before."""
    tokens = figure.clause.tokens[max(0, figure.place - 2) : figure.place]
    words = {token.text.casefold() for token in tokens}
    envelope = binding.call.call.envelope
    if envelope.truncated:
        return frozenset()
    spoken = _spoken_of(figure.clause, binding, before) if words & OTHERS else frozenset()
    if not spoken and not (words & {"of", "共", "这", "all"}):
        return frozenset()
    left = tuple(item for item in binding.call.records if item.place not in spoken)
    return frozenset(Decimal(size) for size in group_sizes(left))


def counted(desk: Desk, binding: Binding, clause: Clause) -> frozenset[Decimal]:
    """How many records hold all of the clause's distinguishing words, by shape of record."""
    call = binding.call
    places = frozenset().union(*binding.allowed)
    for token in binding.held:
        found = desk.places(call, token)
        if token.kind is Kind.WORD and 0 < len(found) < len(call.records):
            places = (places & found) or places
    moments = [token.moment for token in clause.of(Kind.MOMENT) if token.moment]
    if len(moments) == 1 and not _is_window(clause, clause.of(Kind.MOMENT)[0]):
        at = frozenset(
            place for place in places
            if call.records[place].stands_at(moments[0])
        )  # fmt: skip
        places = at or places
    records = tuple(call.records[place] for place in sorted(places))
    envelope = call.call.envelope
    sizes: set[int] = set()
    if not envelope.truncated or len(records) < len(call.records):
        sizes.update(group_sizes(records))
    if len(records) == len(call.records):
        sizes.update(size for size in (envelope.count, envelope.total) if size is not None)
    return frozenset(Decimal(size) for size in sizes)


def bound_by_question(figure: Figure, binding: Binding) -> bool:
    """Whether what was asked of the call holds the number: "traces of at least 3 s"."""
    stated = figure.stated
    for name, value in binding.call.arguments:
        number, unit = read_number(value)
        if number is not None and agrees(stated, number, unit or named_unit(parts_of(name))):
            return True
    window = binding.call.call.envelope.scope.window
    if window is None or not stated.unit:
        return False
    return agrees(stated, Decimal(str((window.end - window.start).total_seconds())), "s")


def bound_by_distinct(figure: Figure, binding: Binding) -> bool:
    """Whether so many different things of the counted kind stand in the clause's records."""
    number = figure.stated.number
    kinds = frozenset().union(*(token.stems for token in near_words(figure).counted[:2]), frozenset())
    if figure.stated.unit or not kinds or number < 2 or binding.call.id == TOLD:
        return False
    values: dict[str, set[str]] = {}
    for record in binding.wider():
        for field in record.fields:
            if field.number is None and field.names & kinds:
                values.setdefault(field.name, set()).add(field.text)
    return any(len(found) == number for found in values.values())


def bound_by_listing(figure: Figure) -> bool:
    """Whether the clause itself lists so many names or moments: "two errors, at 06:00 and 07:00"."""
    number = figure.stated.number
    if figure.stated.unit and unit_of(figure.stated.unit) is not None:
        return False
    runs = listed(figure.clause.tokens[figure.place + 1 :])
    return number >= 2 and any(number == run for run in runs)


def listed(tokens: Iterable[Token]) -> tuple[int, ...]:
    """The lengths of the lists of names, moments or ids in some tokens."""
    runs: list[int] = []
    kind: Kind | None = None
    for token in tokens:
        if token.kind in {Kind.NAME, Kind.MOMENT, Kind.QUOTE} or (
            token.kind is Kind.NUMBER and token.text.isdigit() and len(token.text) > 1
        ):
            if token.kind is kind and runs:
                runs[-1] += 1
            else:
                runs.append(1)
            kind = token.kind
        elif token.text.casefold() not in {"and", "or", ",", "(", "和", "、", "与", "及", "at"}:
            kind = None
    return tuple(runs)


def bound_by_computing(figure: Figure, pool: Pool, records: tuple[RecordView, ...]) -> bool:
    """Whether the number is a share, a ratio, a difference, a sum or a span of bound ones."""
    stated = figure.stated
    words = {token.text.casefold() for token in figure.clause.tokens}
    unit = unit_of(stated.unit) if stated.unit else None
    if unit is not None and unit.dimension == "ratio":
        return _ratio(stated, pool, Decimal(100) if stated.unit != "ratio" else Decimal(1))
    after = figure.clause.tokens[figure.place + 1 : figure.place + 2]
    folded = figure.token.text.casefold() in {"twice", "thrice"} or stated.unit in {"x", "×"}
    if folded or (after and after[0].text.casefold() in {"times", "倍", "fold", "time"}):
        return _ratio(Stated(stated.number, "", stated.about or folded), pool, Decimal(1))
    if unit is not None and unit.dimension == "time":
        return _span(stated, pool, records)
    if words & _SUMMING:
        return _sum(stated, pool)
    return bool(words & _DIFFERING) and _difference(stated, pool)


_SUMMING: Final = frozenset("total together sum altogether combined 合计 共 总共 一共 共计".split())
_DIFFERING: Final = frozenset("difference more less fewer by gap apart 差 相差 多 少".split())
POOL_MAX: Final = 60
"""Numbers to compute with; pairs of more would meet any number by chance."""


def _ratio(stated: Stated, pool: Pool, scale: Decimal) -> bool:
    numbers = pool.numbers[-POOL_MAX:]
    for left in numbers:
        for right in numbers:
            base = convert(right.number, right.unit, left.unit)
            if left is right or base is None or base == 0:
                continue
            if agrees(Stated(stated.number, "", stated.about), left.number / base * scale, ""):
                return True
    return False


def _difference(stated: Stated, pool: Pool) -> bool:
    numbers = pool.numbers[-POOL_MAX:]
    return any(
        left is not right
        and (other := convert(right.number, right.unit, left.unit)) is not None
        and agrees(stated, left.number - other, left.unit)
        for left in numbers for right in numbers
    )  # fmt: skip


def _sum(stated: Stated, pool: Pool) -> bool:
    numbers = pool.numbers[-POOL_MAX:]
    for start in range(len(numbers)):
        total = numbers[start].number
        for item in numbers[start + 1 :]:
            other = convert(item.number, item.unit, numbers[start].unit)
            if other is None:
                break
            total += other
            if agrees(stated, total, numbers[start].unit):
                return True
    return False


def _span(stated: Stated, pool: Pool, records: tuple[RecordView, ...]) -> bool:
    """A time between two moments: of one record, or one that was told and one of the records."""
    for record in records:
        if _apart(stated, record.moments, record.moments):
            return True
    near = tuple(moment for record in records for moment in record.moments)
    return _apart(stated, pool.moments, (*pool.moments, *near))


def _apart(stated: Stated, left: Iterable[datetime], right: Iterable[datetime]) -> bool:
    others = tuple(right)[: POOL_MAX * 4]
    return any(
        agrees(stated, Decimal(str((other - one).total_seconds())), "s")
        for one in tuple(left)[:POOL_MAX] for other in others if other > one
    )  # fmt: skip
