"""What a clause says of members of a list, against the members that it does not speak of.

"Three of the three are open", "2 of 2 replicas", "only x is above 50", "x and y hold 9921": one row
that bears a clause out is not enough, where the clause says of how many, or of whom alone, it is so.
Each rule may only refuse, and says nothing where the rows do not tell.
"""

from __future__ import annotations

from typing import Final

from affidavit.verify.prose.binding import Binding
from affidavit.verify.prose.clauses import Clause, is_negative
from affidavit.verify.prose.desk import TOLD, Desk
from affidavit.verify.prose.figures import Figure, figures_of, near_words
from affidavit.verify.prose.fitting import fits, meant, stands
from affidavit.verify.prose.lexicon import NUMBERS, Role
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.statements.counting import group_sizes
from affidavit.verify.statements.denial import denies
from affidavit.verify.statements.records import RecordView
from affidavit.verify.statements.units import agrees


def refuted(desk: Desk, clause: Clause, bindings: list[Binding]) -> str:
    """The number or the name that the rows of a call refute; or nothing."""
    for binding in bindings:
        if binding.call.id == TOLD or not binding.held:
            continue
        rows = _rows(binding)
        if len(rows) < MEMBERS_MIN:
            continue
        found = (
            _part_of_all(desk, clause, binding, rows)
            or _part_of_field(clause, binding, rows)
            or _only(clause, binding, rows)
            or _each_of_two(clause, binding)
        )
        if found:
            return found
    return ""


MEMBERS_MIN: Final = 2
"""Fewer rows are no list."""


def _rows(binding: Binding) -> tuple[RecordView, ...]:
    """The rows of the shape that the clause speaks of, read whole."""
    call = binding.call
    shapes = {row.shape for row in binding.records() if row.place not in call.frames}
    if call.call.envelope.truncated or len(shapes) != 1:
        return ()
    return call.rows_of[next(iter(shapes))]


# --- Three of the three are open -----------------------------------------------------------------

_SMALL: Final = frozenset("of the these those its all".split())


def _part_of_all(desk: Desk, clause: Clause, binding: Binding, rows: tuple[RecordView, ...]) -> str:
    """The part, where another number of the whole's rows is in the state that is said of it."""
    tokens = clause.tokens
    for place, token in enumerate(tokens[:-2]):
        part = _spelled(token)
        whole = next(
            (at for at in range(place + 2, min(place + 4, len(tokens))) if tokens[at].stated), None
        )
        if part is None or tokens[place + 1].text.casefold() != "of" or whole is None:
            continue
        stated = tokens[whole].stated
        if stated is None or stated.number != len(rows) or is_negative(clause):
            return ""
        said = [
            item for item in tokens[whole + 1 :]
            if item.kind is Kind.WORD and item.role is Role.CONTENT
            and 0 < len(_holding(desk, binding, item, rows)) < len(rows)
        ]  # fmt: skip
        if not said or any(item.stated for item in tokens[whole + 1 :]):
            return ""
        held = frozenset.intersection(*(_holding(desk, binding, item, rows) for item in said))
        return token.text if len(held) != part else ""
    return ""


def _spelled(token: Token) -> int | None:
    if token.stated is not None and token.stated.number == int(token.stated.number):
        return int(token.stated.number)
    return NUMBERS.get(token.text.casefold())


def _holding(
    desk: Desk, binding: Binding, token: Token, rows: tuple[RecordView, ...]
) -> frozenset[int]:
    found = desk.places(binding.call, token, named=False)
    return frozenset(
        row.place for row in rows if row.place in found and not denies(row, token.stems)
    )


# --- 2 of 2 replicas -----------------------------------------------------------------------------


def _part_of_field(clause: Clause, binding: Binding, rows: tuple[RecordView, ...]) -> str:
    """The whole, where the part is in the row and no further field of it holds the whole."""
    tokens = clause.tokens
    for place in range(len(tokens) - 2):
        part, of, whole = tokens[place : place + 3]
        if of.text.casefold() != "of" or part.spelled or whole.spelled:
            continue
        if part.stated is None or whole.stated is None or whole.stated.unit:
            continue
        if whole.stated.number in {len(rows), *group_sizes(binding.call.records)}:
            continue
        spoken = binding.records()
        if any(_holds_pair(row, part, whole) for row in spoken):
            continue
        if any(_hold(row, part) for row in spoken):
            return whole.text
    return ""


def _holds_pair(row: RecordView, part: Token, whole: Token) -> bool:
    assert part.stated is not None
    assert whole.stated is not None
    texts = (
        f"{part.text}/{whole.text}",
        f"{part.text} of {whole.text}",
        f"{part.text} / {whole.text}",
    )
    if any(text in row.text for text in texts):
        return True
    fields = [item for item in row.fields if item.number is not None and not item.loose]
    return any(
        one is not other
        and one.number == part.stated.number
        and other.number == whole.stated.number
        for one in fields
        for other in fields
    )


def _hold(row: RecordView, token: Token) -> bool:
    assert token.stated is not None
    return any(item.number == token.stated.number for item in row.fields if not item.loose)


# --- Only x is above 50 --------------------------------------------------------------------------


def _only(clause: Clause, binding: Binding, rows: tuple[RecordView, ...]) -> str:
    """The name that only this is said of, where another row stands to the number as well."""
    low = [token.text.casefold() for token in clause.tokens]
    if "only" not in low or not clause.names:
        return ""
    behind = low.index("only") + 1
    if behind >= len(low) or clause.tokens[behind].kind is not Kind.NAME:
        return ""
    spoken = {row.place for row in binding.wider()}
    about = binding.call.about_stems
    for figure in figures_of(clause):
        if figure.operator == "=":
            continue
        near = near_words(figure)
        for row in rows:
            fields = meant(row, near) if row.place not in spoken else []
            if any(stands(figure, field, row, about) for field in fields):
                return clause.names[0].text
    return ""


# --- x and y hold 9921 ---------------------------------------------------------------------------

_TOGETHER: Final = frozenset(
    "together total sum altogether combined both between respectively and/or average 共 合计 分别".split()
)


def _each_of_two(clause: Clause, binding: Binding) -> str:
    """The number that is said of two listed names, where one of them has another."""
    if len(binding.allowed) < MEMBERS_MIN or len(clause.of(Kind.NUMBER)) != 1:
        return ""
    if _TOGETHER & {token.text.casefold() for token in clause.tokens}:
        return ""
    if any(token.role in {Role.UP, Role.DOWN} for token in clause.tokens):
        return ""
    figure = next(figures_of(clause), None)
    if figure is None or figure.operator != "=":
        return ""
    said = [_is_in(figure, binding, places) for places in binding.allowed]
    return figure.token.text if True in said and False in said else ""


def _is_in(figure: Figure, binding: Binding, places: frozenset[int]) -> bool | None:
    """Whether some rows hold the number where it is meant; None where they give no such number."""
    near, about = near_words(figure), binding.call.about_stems
    rows = [binding.call.records[place] for place in sorted(places)]
    if any(fits(figure, row, near, about, strict=False) for row in rows):
        return True
    given = [field for row in rows for field in meant(row, near) if field.number is not None]
    return (
        False
        if given
        and not any(
            agrees(figure.stated, field.number, field.unit)
            for field in given
            if field.number is not None
        )
        else None
    )
