"""Numbers that follow from what statements prove: ratios, differences, sums, means, and counts.

Each needs the word that says what it is ("on average", "short of", "twice"), and comes from the
values of the statements themselves or from the rows that their calls list. Which way a difference
or a ratio goes has to be the way that the sentence names its ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from itertools import permutations
from typing import Final

from affidavit.verify.prose.figures import Figure
from affidavit.verify.prose.holding import numbers_of
from affidavit.verify.prose.lexicon import Role
from affidavit.verify.prose.nouns import claims
from affidavit.verify.prose.parts import Proofs, Reading
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.statements.records import CallView
from affidavit.verify.statements.units import Stated, convert, unit_of
from affidavit.verify.statements.words import stems_of

VALUES_MAX: Final = 8
"""A sentence of more values is a listing; nothing is computed from it."""
_REACH: Final = 6
_SHARE: Final = frozenset("ratio share percent percentage rate fraction 比例 占 比率 率".split())
_MANY: Final = frozenset("twice times double fold thrice 倍".split())
_LESS: Final = frozenset(
    "short fewer less below behind under smaller lower missing 少 低 差".split()
)
_MORE: Final = frozenset("more above ahead over beyond larger higher greater exceeds 多 高".split())
_APART: Final = frozenset("difference gap apart between 相差 差 差距".split())
_SUM: Final = frozenset(
    "total together sum combined altogether overall all 合计 共 总共 一共".split()
)
_MEAN: Final = frozenset("average mean averages averaging 平均".split())

SAYING: Final = _SHARE | _MANY | _LESS | _MORE | _APART | _SUM | _MEAN
"""Words that say how a number follows from others."""

Value = tuple[int, Decimal, str]
"""A proof, and a number that it gives as its own with its unit."""


def derive(reading: Reading, figure: Figure) -> Proofs:
    """The proofs that a number follows from; none where it follows from none."""
    return _computed(reading, figure) or _counted(reading, figure)


# --- From values --------------------------------------------------------------------------------


def _computed(reading: Reading, figure: Figure) -> Proofs:
    values = [
        (at, number, unit)
        for at, proof in enumerate(reading.told.proofs)
        for number, unit in numbers_of(proof)
    ]
    if not 1 < len(values) <= VALUES_MAX:
        return frozenset()
    said = _near(figure)
    for number, used in _results(reading, figure, values, said):
        if _is(figure, number):
            return used
    return frozenset()


def _near(figure: Figure) -> frozenset[str]:
    tokens, place = figure.clause.tokens, figure.place
    near = (*tokens[max(0, place - _REACH) : place], *tokens[place : place + 1 + _REACH])
    return frozenset(word for token in near for word in token.text.casefold().split())


def _results(
    reading: Reading, figure: Figure, values: list[Value], said: frozenset[str]
) -> Iterator[tuple[Decimal, Proofs]]:
    """Every number that the words beside the figure say and the values give."""
    if said & _MEAN:
        yield from _mean(values)
    if said & _SUM:
        used = frozenset(at for at, _, _ in values)
        if len({unit for _, _, unit in values}) == 1:
            yield sum((number for _, number, _ in values), Decimal(0)), used
    for (one, left, unit), (two, right, other) in permutations(values, 2):
        used = frozenset({one, two})
        scaled = convert(right, other, unit) if unit != other else right
        if scaled is None:
            continue
        if said & (_LESS | _MORE | _APART) and _goes(reading, figure, one, two, said):
            yield left - scaled, used
        if left <= 0 or scaled <= 0:
            continue
        if figure.stated.unit == "%" or said & _SHARE:
            yield from ((part, used) for part in _shares(figure, left, scaled))
    if said & _MANY:
        yield from _multiples(reading, values)


def _shares(figure: Figure, left: Decimal, right: Decimal) -> Iterator[Decimal]:
    scale = Decimal(100) if figure.stated.unit == "%" else Decimal(1)
    if left <= right:
        yield scale * left / right
    yield scale * left / (left + right)


def _mean(values: list[Value]) -> Iterator[tuple[Decimal, Proofs]]:
    units = {unit for _, _, unit in values}
    if len(units) == 1:
        total = sum((number for _, number, _ in values), Decimal(0))
        yield total / len(values), frozenset(at for at, _, _ in values)


def _multiples(reading: Reading, values: list[Value]) -> Iterator[tuple[Decimal, Proofs]]:
    """How many times the first-named of two things is the other: plain, or each by its own count."""
    proofs = reading.told.proofs
    of: dict[str, list[Value]] = {}
    for value in values:
        of.setdefault(proofs[value[0]].subject, []).append(value)
    order = [subject for subject in of if subject]
    order.sort(key=lambda subject: _first_said(reading, subject))
    if len(order) != 2:
        return
    one, two = of[order[0]], of[order[1]]
    used = frozenset(at for at, _, _ in (*one, *two))
    if len(one) == len(two) == 1 and two[0][1] > 0:
        yield one[0][1] / two[0][1], used
    per = [token.text.casefold() for token in reading.tokens]
    if len(one) == len(two) == 2 and {"per", "each"} & set(per):
        for first in (0, 1):
            (_, top, _), (_, low, _) = one[first], one[1 - first]
            rival = {proofs[at].attribute: number for at, number, _ in two}
            names = [proofs[one[place][0]].attribute for place in (first, 1 - first)]
            other = [rival.get(name) for name in names]
            counted = reading.tokens[per.index("per") + 1] if "per" in per[:-1] else None
            if not all(other) or low <= 0 or (counted and not counted.stems & names[1]):
                continue
            assert other[0] is not None
            assert other[1] is not None
            yield (top / low) / (other[0] / other[1]), used


def _first_said(reading: Reading, subject: str) -> int:
    said = " ".join(token.text for token in reading.tokens).casefold()
    return said.find(subject.casefold()) % (len(said) + 1)


def _goes(reading: Reading, figure: Figure, one: int, two: int, said: frozenset[str]) -> bool:
    """Whether "short of", "more than" stand as the values do: what is named behind is the other."""
    if said & _APART:
        return True
    more, less = bool(said & _MORE), bool(said & _LESS)
    if more == less:
        return False
    behind = [
        of
        for at, of in sorted((*reading.values.items(), *reading.attributes.items(),
                              *reading.names.items()))
        if at > figure.place and len(of & {one, two}) == 1
    ]  # fmt: skip
    if not behind:
        return False
    return (two if more else one) in behind[0]


def _is(figure: Figure, number: Decimal) -> bool:
    stated = figure.stated
    if number <= 0:
        return False
    if figure.operator in {">", ">="}:
        return stated.number < number < stated.number + _whole(stated)
    if figure.operator in {"<", "<="}:
        return stated.number - _whole(stated) < number < stated.number
    slack = max(stated.step / 2, stated.number * Decimal("0.05") if stated.about else Decimal(0))
    return abs(number - stated.number) <= slack


def _whole(stated: Stated) -> Decimal:
    return max(Decimal(1), stated.number / 10)


# --- From lists ---------------------------------------------------------------------------------

COUNT_MAX: Final = 50
_STOPS: Final = frozenset({Role.UP, Role.DOWN, Role.NEGATION})
_KINDS_REACH: Final = 4


def _counted(reading: Reading, figure: Figure) -> Proofs:
    stated = figure.stated
    if stated.about or figure.operator != "=" or stated.number % 1 or stated.number > COUNT_MAX:
        return frozenset()
    if stated.unit and unit_of(stated.unit) is not None:
        return frozenset()
    number = int(stated.number)
    return (
        _sharing(reading, figure.place, number)
        or _run_of(reading, figure.place, number)
        or _listed(reading, figure.place, number)
    )


def _sharing(reading: Reading, place: int, number: int) -> Proofs:
    """Things of which one and the same is stated in the number's own part of the sentence."""
    tokens = reading.tokens
    if number < 1 or (place and tokens[place - 1].text.casefold() in {"of"}):
        return frozenset()
    for at in range(place + 1, len(tokens)):
        if tokens[at].text in {";", ",", "，", "；"} or tokens[at].text.casefold() in {
            "but",
            "while",
        }:
            break
        of = reading.values.get(at, reading.attributes.get(at, frozenset()))
        subjects = {reading.told.proofs[proof].subject for proof in of}
        if len(subjects) == number and all(subjects) and _alike(reading, of):
            return of
    return frozenset()


def _run_of(reading: Reading, place: int, number: int) -> Proofs:
    """As many numbers of different things as are listed behind: "three report 61, 64 and 58"."""
    found: list[Proofs] = []
    for at in range(place + 1, len(reading.tokens)):
        token = reading.tokens[at]
        if token.kind is Kind.NUMBER:
            found.append(reading.values.get(at, frozenset()))
        elif (found and token.text.casefold() not in {",", "and", "or"}) or token.text in {
            ";",
            "；",
        }:
            break
    subjects = {reading.told.proofs[at].subject for of in found for at in of}
    fits = number > 1 and len(found) == number == len(subjects) and all(found)
    return frozenset().union(*found) if fits else frozenset()


def _alike(reading: Reading, of: Proofs) -> bool:
    values = {str(getattr(reading.told.proofs[at].statement, "value", "")) for at in of}
    return len(values) == 1


def _listed(reading: Reading, place: int, number: int) -> Proofs:
    """The rows of a call that hold the words behind the number: "of the four xl runners"."""
    before = reading.tokens[place - 1].text.casefold() if place else ""
    if before not in {"of", "the", "all", "its"}:
        return frozenset()
    words = _counted_words(reading.tokens, place)
    for call in {proof.calls[0].id: proof.calls[0] for proof in reading.told.proofs}.values():
        rows = _rows(call)
        for word in words:
            held = reading.desk.places(call, word) & rows
            if held:
                rows = held
            elif not _is_kind(reading, call, word):
                rows = frozenset()
        if len(rows) == number:
            return frozenset(
                at for at, proof in enumerate(reading.told.proofs)
                if any(item.id == call.id for item in proof.calls)
            )  # fmt: skip
    return frozenset()


def _counted_words(tokens: tuple[Token, ...], place: int) -> list[Token]:
    found: list[Token] = []
    for token in tokens[place + 1 : place + 1 + _KINDS_REACH]:
        if token.kind not in {Kind.WORD, Kind.NAME} or token.role is not Role.CONTENT:
            if token.kind is Kind.WORD and token.text.casefold().endswith("s") and not found:
                continue
            break
        found.append(token)
    return found


def _rows(call: CallView) -> frozenset[int]:
    shapes: dict[str, set[int]] = {}
    for record in call.records:
        if record.subject and record.shape != "report" and record.place not in call.frames:
            shapes.setdefault(record.shape, set()).add(record.place)
    largest: set[int] = max(shapes.values(), key=len, default=set())
    return frozenset(largest)


def _is_kind(reading: Reading, call: CallView, token: Token) -> bool:
    """Whether a word only says what kind of thing the rows are."""
    if claims(token) or token.text.casefold().endswith("ed"):
        return False
    stems = stems_of(token.text) | token.stems
    return (
        reading.desk.is_about(call, token)
        or reading.desk.is_asked(token)
        or any(stems & stems_of(field.name) for record in call.records for field in record.fields)
    )
