"""Is what is said of all so in every row? The numbers and the moments behind a universal.

"All belts have 1840 boxes" holds where every row has them, and not where one has. The words beside
are for `quantifiers`; a comparison ("all above 900") looks at every reading already (`fitting`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from affidavit.verify.prose.binding import Binding
from affidavit.verify.prose.clauses import Clause, has_verb, is_negative
from affidavit.verify.prose.desk import TOLD, Desk
from affidavit.verify.prose.figures import Figure, figures_of, near_words
from affidavit.verify.prose.fitting import fits
from affidavit.verify.prose.lacking import is_zero
from affidavit.verify.prose.lexicon import Role
from affidavit.verify.prose.times import bounds_window
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.statements.denial import denies
from affidavit.verify.statements.records import RecordView

_BEFORE_COUNT: Final = frozenset("of the these those its their".split())
"""Only these stand between "all" and the number that says how many they are: "all of the 3"."""


def holds(clause: Clause, binding: Binding, place: int) -> bool:
    """Whether no row denies what the clause says of each: a number that it reads in one row is in
    every row, and the rows that stand at its moment are rows of everything there is."""
    if binding.call.id == TOLD:
        return True
    named = any(binding.call.by_name.get(token.text.casefold()) for token in clause.names)
    spoken = binding.wider() if named else _like(binding.wider(), binding.call.records)
    rows = tuple(record for record in spoken if record.place not in binding.call.frames)
    for token in clause.of(Kind.MOMENT):
        if bounds_window(clause, token):
            continue
        at = tuple(row for row in rows if token.moment and row.stands_at(token.moment))
        if at and _subjects(at) < _subjects(_like(at, rows)):
            return False
        rows = at or rows
    figures = [
        figure
        for figure in figures_of(clause)
        if figure.operator == "=" and not _says_how_many(clause, place, figure)
    ]
    states = () if figures else _states(clause, place)
    if any(_lacks(clause, token, row) for token in states for row in rows):
        return False
    return all(_is_in_each(listed, binding, rows) for listed in _lists(clause, figures))


def _states(clause: Clause, place: int) -> Iterator[Token]:
    """The words of state behind a universal that nothing in the clause denies: "all are ready"."""
    if is_negative(clause):
        return
    for token in clause.tokens[place + 1 :]:
        if token.kind is Kind.WORD and token.role is Role.CONTENT:
            yield token


def _lacks(clause: Clause, token: Token, row: RecordView) -> bool:
    """Whether a row has nothing in the field that a word names, or says that it is not so."""
    return is_zero(clause, (token,), row) is True or denies(row, token.stems)


_LISTING: Final = frozenset(", 、 and or 和 与 及 或".split())


def _lists(clause: Clause, figures: list[Figure]) -> list[list[Figure]]:
    """The numbers that are listed with nothing between: "0, 3, 0 and 1" are one row's each."""
    lists: list[list[Figure]] = []
    for figure in figures:
        between = clause.tokens[lists[-1][-1].place + 1 : figure.place] if lists else ()
        if lists and all(token.text.casefold() in _LISTING for token in between):
            lists[-1].append(figure)
        else:
            lists.append([figure])
    return lists


_FLOATING_MAX: Final = 3
"""How far behind its number a floating "all" stands: "the 388 refused orders all came"."""
_PARTING: Final = frozenset("in on of at from to for by with are is was were have has had".split())


def _says_how_many(clause: Clause, place: int, figure: Figure) -> bool:
    """Whether a number only says how many are meant: "all of the 3", "the 388 refused ones all"."""
    if place < figure.place:
        between = clause.tokens[place + 1 : figure.place]
        return all(token.text.casefold() in _BEFORE_COUNT for token in between)
    between = clause.tokens[figure.place + 1 : place]
    return len(between) <= _FLOATING_MAX and not any(
        token.text.casefold() in _PARTING for token in between
    )


def is_none(desk: Desk, clause: Clause, place: int, binding: Binding) -> bool:
    """Whether "no belt has missing boxes" holds: no row has what is said behind the verb.

    True too where the clause does not begin so, or the call has no rows that could say it.
    """
    if binding.call.id == TOLD or clause.tokens[place].text.casefold() not in _NONE:
        return True
    if any(token.role is Role.CONTENT for token in clause.tokens[:place]):
        return True
    behind = clause.tokens[place + 1 :]
    verb = next((at for at, token in enumerate(behind) if has_verb((token,))), len(behind))
    said = [
        token for token in behind[verb:] if token.kind is Kind.WORD and token.role is Role.CONTENT
    ]
    rows = [row for row in binding.wider() if row.place not in binding.call.frames]
    return not any(_has(desk, clause, binding, row, token) for row in rows for token in said)


_NONE: Final = frozenset("no none neither".split())


def _has(desk: Desk, clause: Clause, binding: Binding, row: RecordView, token: Token) -> bool:
    """Whether a row has something in the field that a word names, or says the word itself."""
    empty = is_zero(clause, (token,), row)
    if empty is not None:
        return not empty
    says = row.place in desk.places(binding.call, token, named=False)
    return says and not denies(row, token.stems)


def _is_in_each(listed: list[Figure], binding: Binding, rows: tuple[RecordView, ...]) -> bool:
    about = binding.call.about_stems
    holding = tuple(
        row
        for row in rows
        if any(fits(figure, row, near_words(figure), about, strict=False) for figure in listed)
    )
    return not holding or len(holding) == len(_like(holding, rows))


def _like(some: tuple[RecordView, ...], rows: tuple[RecordView, ...]) -> tuple[RecordView, ...]:
    shapes = {row.shape for row in some}
    return tuple(row for row in rows if row.shape in shapes)


def _subjects(rows: tuple[RecordView, ...]) -> frozenset[str]:
    return frozenset(row.subject for row in rows)
