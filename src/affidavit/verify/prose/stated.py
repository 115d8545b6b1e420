"""A clause whose typed statements are proved: do its words say those facts, and nothing beside?

Every number, moment, name and quotation of the clause has to be one of the statements', or stand in
a record that proves one of them; every word that claims something too. A number goes with the
statement that proved it: the name before it has to be that statement's subject, its moment that
statement's moment, and of two numbers of one subject each has to stand by its own attribute, or in
the order of the statements. Clauses that deny, quantify, compare, order or explain are for others.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import Final

from affidavit.contract.statement import (
    ChangeStatement,
    CountStatement,
    TrendStatement,
    ValueStatement,
)
from affidavit.verify.prose import nouns
from affidavit.verify.prose.clauses import Clause
from affidavit.verify.prose.desk import Desk
from affidavit.verify.prose.figures import Figure, attached_moment, figures_of, near_words
from affidavit.verify.prose.fitting import is_meant_best
from affidavit.verify.prose.lexicon import EVERY, HIGHEST, LOWEST, ONLY, VAGUE, Role
from affidavit.verify.prose.numbering import names_thing
from affidavit.verify.prose.proofs import Proof, Told
from affidavit.verify.prose.times import bounds_window
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.statements.fields import read_number
from affidavit.verify.statements.select import kin
from affidavit.verify.statements.units import Stated, agrees, unit_of
from affidavit.verify.statements.words import is_within, names_in, parts_of, stem, stems_of

_OPERATING: Final = frozenset(
    {
        Role.NEGATION,
        Role.NONE,
        Role.HEDGE,
        Role.UNKNOWN,
        Role.CAUSED_BY,
        Role.CAUSES,
        Role.EVERY,
        Role.ONLY,
    }
)
_LASTING: Final = frozenset(
    "before after then since still now currently always never constantly throughout repeatedly first last "
    "earliest latest again only alone until till 之前 之后 以前 以后 先 后 起 以来 仍 仍然 依然 一直 始终 目前 再次".split()
)


def carries(desk: Desk, clause: Clause, told: Told) -> bool:
    """Whether the clause's statements carry it whole."""
    if not told.proofs or any(_operates(token) for token in clause.tokens):
        return False
    if not _moves(clause, told):
        return False
    figures = tuple(figures_of(clause))
    labels = {place for place in range(len(clause.tokens)) if names_thing(clause.tokens, place)}
    numbers = tuple(item for item in figures if item.place not in labels)
    if not all(_is_said(desk, clause, place, told) for place in range(len(clause.tokens))):
        return False
    matched = [(figure, _holding(figure, told)) for figure in numbers]
    if not all(found for _, found in matched):
        return False
    values = _values(desk, clause, told)
    exact = any(how == 2 for _, found in matched for _, how in found)
    if values is False or not (exact or values or clause.of(Kind.QUOTE)):
        return False
    return all(
        _goes_with(desk, clause, figure, found, told) for figure, found in matched
    ) and _in_order(matched, told)


def _operates(token: Token) -> bool:
    if token.kind is not Kind.WORD:
        return False
    low = token.text.casefold()
    base = stem(low)
    return (
        token.role in _OPERATING
        or low in _LASTING | VAGUE
        or base in EVERY | ONLY
        or (low.endswith("est") and base in HIGHEST | LOWEST)
        or low in {"peak", "maximum", "minimum", "most", "least", "above", "below", "over", "under",
                   "exceeds", "exceeded", "exceeding", "than", "within", "超过", "高于", "低于"}
    )  # fmt: skip


def _values(desk: Desk, clause: Clause, told: Told) -> bool | None:
    """Whether each state or text that the clause gives goes with the name before it; None for none."""
    found: bool | None = None
    for place, token in enumerate(clause.tokens):
        low = token.text.casefold()
        proofs = [proof for proof in told.proofs if _text_of(proof) == low]
        if not proofs:
            continue
        before = Clause(clause.tokens[: place + 1], clause.topics)
        beside = _name_beside(desk, before, place, told)
        if not any(_is_subject(desk, proof, beside) for proof in proofs):
            return False
        found = True
    return found


def _text_of(proof: Proof) -> str:
    value = getattr(proof.statement, "value", getattr(proof.statement, "set", None))
    return str(value).casefold() if isinstance(value, str | bool) else ""


def _moves(clause: Clause, told: Told) -> bool:
    """Whether "rose", "fell" go the way of a proved change, trend, or pair of readings."""
    said = {token.role for token in clause.tokens if token.kind is Kind.WORD} & {
        Role.UP,
        Role.DOWN,
        Role.FLAT,
    }
    if not said:
        return True
    if len(said) > 1 or Role.FLAT in said:
        return False
    wanted = "up" if Role.UP in said else "down"
    ways = {way for proof in told.proofs if (way := _way(proof))}
    return ways == {wanted}


def _way(proof: Proof) -> str:
    statement = proof.statement
    if isinstance(statement, TrendStatement):
        return statement.direction
    if isinstance(statement, ChangeStatement):
        if isinstance(statement.from_, Decimal) and isinstance(statement.to, Decimal):
            return "up" if statement.to > statement.from_ else "down"
        return statement.direction or ""
    return ""


def _is_said(desk: Desk, clause: Clause, place: int, told: Told) -> bool:
    """Whether a token that is no number is one of the statements' or of their records."""
    token = clause.tokens[place]
    low = token.text.casefold()
    if names_thing(clause.tokens, place) or token.kind is Kind.NAME:
        return (
            low in told.names
            or any(is_within(low, name) or name.endswith(f".{low}") for name in told.names)
            or _is_asked(desk, told, token)
            or (
                token.text.isalpha()
                and bool(stems_of(token.text))
                and stems_of(token.text) <= told.stems
            )
        )
    match token.kind:
        case Kind.QUOTE:
            return " ".join(token.text.casefold().split()) in told.text
        case Kind.MOMENT:
            return any(
                _stands_at(proof, token, edge=bounds_window(clause, token)) for proof in told.proofs
            )
        case Kind.WORD if token.role is Role.CONTENT:
            if nouns.claims(token) or token.proper:
                return bool(token.stems & told.claimed)
            return (
                bool(token.stems & told.stems)
                or _is_asked(desk, told, token)
                or any(desk.places(call, token) or desk.is_about(call, token) for call in desk.wide)
            )
        case _:
            return True


def _is_asked(desk: Desk, told: Told, token: Token) -> bool:
    return any(desk.is_about(call, token) for proof in told.proofs for call in proof.calls)


def _stands_at(proof: Proof, token: Token, *, edge: bool = False) -> bool:
    """Whether a moment is the statement's, its records', or an end of what its call looked at."""
    moment = token.moment
    assert moment is not None
    if any(moment.matches(at) for at in _moments(proof, edge=edge)):
        return True
    return any(record.stands_at(moment) for record in proof.records)


def _moments(proof: Proof, *, edge: bool) -> Iterator[datetime]:
    at = getattr(proof.statement, "at", None)
    window = getattr(proof.statement, "window", None)
    if at is not None:
        yield at
    scopes = (call.call.envelope.scope.window for call in proof.calls) if edge else ()
    for one in (window, *scopes):
        if one is not None:
            yield from (one.start, one.end)


Holding = tuple[Proof, int]
"""A proof that holds a number, and how: 2 as its value, 1 in a record of its own."""


def _holding(figure: Figure, told: Told) -> tuple[Holding, ...]:
    stated = figure.stated
    found: list[Holding] = []
    for proof in told.proofs:
        if any(_same(stated, number, unit) for number, unit in _numbers(proof)):
            found.append((proof, 2))
        elif _in_records(figure, proof):
            found.append((proof, 1))
    exact = tuple(item for item in found if item[1] == 2)
    return exact or tuple(found)


def _same(stated: Stated, number: Decimal, unit: str) -> bool:
    if stated.unit and unit:
        return agrees(stated, number, unit)
    if stated.unit and unit_of(stated.unit):
        return False
    return agrees(Stated(stated.number, "", stated.about), number, "")


def _numbers(proof: Proof) -> Iterator[tuple[Decimal, str]]:
    """The numbers that a statement gives as its own, each with its unit, or its records' unit."""
    statement = proof.statement
    unit = str(getattr(statement, "unit", None) or "") or _unit_held(proof)
    if isinstance(statement, ValueStatement | CountStatement):
        value = statement.value
        if isinstance(value, Decimal):
            yield value, unit
        elif isinstance(value, str):
            number, own = read_number(value)
            if number is not None:
                yield number, own or unit
    if isinstance(statement, ChangeStatement):
        for end in (statement.from_, statement.to):
            if isinstance(end, Decimal):
                yield end, unit


def _unit_held(proof: Proof) -> str:
    """The one unit of the attribute's fields in the records that prove it."""
    units = {
        item.unit
        for record in proof.records
        for item in record.fields
        if item.number is not None and not item.loose and item.names & proof.attribute
    }
    return next(iter(units)) if len(units) == 1 else ""


def _in_records(figure: Figure, proof: Proof) -> bool:
    """Whether a record of the proof holds the number in a field that the words beside it name."""
    near = near_words(figure)
    words = frozenset(other for word in near.all for other in kin(word))
    for record in proof.records:
        for item in record.fields:
            if item.number is None or not _same(figure.stated, item.number, item.unit):
                continue
            if item.names & words or item.tight & words:
                return True
    return False


def _goes_with(
    desk: Desk, clause: Clause, figure: Figure, found: tuple[Holding, ...], told: Told
) -> bool:
    """Whether the name and the moment that stand with a number are those of a proof of it."""
    moment = attached_moment(figure)
    beside = _name_beside(desk, clause, figure.place, told)
    return any(
        _is_subject(desk, proof, beside)
        and _is_spoken_of(clause, proof)
        and _is_meant(figure, proof)
        and (moment is None or _is_at(proof, figure, moment, how))
        for proof, how in found
    )


def _is_meant(figure: Figure, proof: Proof) -> bool:
    """Whether the words beside a number mean its statement's attribute, and no other field."""
    if not proof.attribute or not proof.records:
        return True
    near = near_words(figure)
    return any(
        is_meant_best(proof.attribute, record, near, figure.stated) for record in proof.records
    )


def _is_spoken_of(clause: Clause, proof: Proof) -> bool:
    """Whether the clause names what the statement is about, or any word of it."""
    subject = proof.subject.casefold()
    if not subject:
        return True
    said = " ".join(token.text for token in (*clause.tokens, *clause.topics)).casefold()
    words = [word for word in (*subject.split(), *parts_of(subject)) if len(word) >= NAMING_CHARS]
    return not words or any(word in said for word in words)


NAMING_CHARS: Final = 3
"""A shorter part of a name stands in too many words to name anything."""


def _name_beside(desk: Desk, clause: Clause, place: int, told: Told) -> Token | None:
    """The name before a number; where there is none, the one behind it, or what went before.

    A plain word that is a value or a subject of the evidence names too; an attribute names nothing.
    """
    tokens = clause.tokens
    places: list[int] = [*range(place - 1, -1, -1), *range(place + 1, len(tokens))]
    for at in places:
        if _names(desk, tokens, at) and not _is_attribute(tokens[at], told):
            return tokens[at]
    return clause.topics[-1] if clause.topics else None


def _names(desk: Desk, tokens: tuple[Token, ...], place: int) -> bool:
    token = tokens[place]
    return names_thing(tokens, place) or (
        token.kind is Kind.WORD and token.role is Role.CONTENT and desk.is_value(token)
    )


def _is_attribute(token: Token, told: Told) -> bool:
    low = token.text.casefold()
    return any(
        low == str(getattr(proof.statement, "attribute", None) or "").casefold()
        for proof in told.proofs
    )


def _is_subject(desk: Desk, proof: Proof, name: Token | None) -> bool:
    if name is None:
        return True
    low = name.text.casefold()
    words = names_in(" ".join(proof.texts))
    if low in words or any(is_within(low, word) or is_within(word, low) for word in words):
        return True
    if any(low in record.names for record in proof.records):
        return True
    if name.text.isalpha() and stems_of(name.text) <= stems_of(" ".join(proof.texts)):
        return True
    held = any(desk.places(call, name) for call in proof.calls)
    return not held and any(desk.is_about(call, name) for call in proof.calls)


def _is_at(proof: Proof, figure: Figure, moment: Token, how: int) -> bool:
    assert moment.moment is not None
    at = getattr(proof.statement, "at", None)
    if isinstance(at, datetime) and how == 2:
        return moment.moment.matches(at)
    holding = [
        record
        for record in proof.records
        if any(
            item.number is not None and _same(figure.stated, item.number, item.unit)
            for item in record.fields
        )
    ]
    if holding and any(record.is_dated for record in holding):
        return any(record.stands_at(moment.moment) for record in holding)
    return _stands_at(proof, moment)


def _in_order(matched: list[tuple[Figure, tuple[Holding, ...]]], told: Told) -> bool:
    """Whether each number stands by its own attribute, or else in the order of the statements."""
    last = -1
    for figure, found in matched:
        places = [told.proofs.index(proof) for proof, how in found if how == 2]
        if not places:
            continue
        leads = {place: _lead(figure, told.proofs[place], told) for place in places}
        best = max(leads.values())
        if best < 0:
            return False
        if best == 0 and max(places) < last:
            return False
        ahead = [place for place in places if leads[place] == best and place >= last]
        last = min(ahead, default=max(places))
    return True


def _lead(figure: Figure, proof: Proof, told: Told) -> int:
    """How many more words beside a number speak for its statement than for a rival of one subject."""
    near = near_words(figure)
    words = frozenset(other for word in near.all for other in kin(word))
    rivals = [
        other
        for other in told.proofs
        if other.subject == proof.subject and other.attribute != proof.attribute
    ]
    own = [len(words & (proof.attribute - other.attribute)) for other in rivals]
    theirs = [len(words & (other.attribute - proof.attribute)) for other in rivals]
    return min((mine - yours for mine, yours in zip(own, theirs, strict=True)), default=0)
