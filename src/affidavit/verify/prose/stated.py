"""A clause whose typed statements are proved: do its words say those facts, and nothing beside?

Every number, moment, name and quotation of the clause has to be one of the statements', or stand in
a record that proves one of them; every word that claims something too. A number goes with the
statement that proved it: the name before it has to be that statement's subject, its moment that
statement's moment, and of two numbers of one subject each has to stand by its own attribute, or in
the order of the statements. Clauses that deny, quantify, compare, order or explain are for others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Final

from affidavit.contract.statement import (
    ChangeStatement,
)
from affidavit.verify.prose import nouns
from affidavit.verify.prose.clauses import Clause
from affidavit.verify.prose.desk import Desk
from affidavit.verify.prose.echoing import echoes
from affidavit.verify.prose.figures import (
    Figure,
    Near,
    attached_moment,
    figures_of,
    is_whole,
    near_words,
)
from affidavit.verify.prose.fitting import is_meant_best
from affidavit.verify.prose.holding import hold, is_same
from affidavit.verify.prose.leading import leads
from affidavit.verify.prose.lexicon import Role
from affidavit.verify.prose.moving import Holding, ends_fit, moves, way_of
from affidavit.verify.prose.numbering import names_thing
from affidavit.verify.prose.proofs import Proof, Told
from affidavit.verify.prose.quantities import is_other_statistic
from affidavit.verify.prose.relating import licensed, operates
from affidavit.verify.prose.times import bounds_window
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.statements.moments import find_moments
from affidavit.verify.statements.records import RecordView
from affidavit.verify.statements.select import kin
from affidavit.verify.statements.words import is_within, names_in, parts_of, stem, stems_of


def carries(desk: Desk, clause: Clause, told: Told) -> bool:
    """Whether the clause's statements carry it whole."""
    if not told.proofs:
        return False
    if echoes(clause, told) or leads(clause, told):
        return True
    related = licensed(clause, told)
    free = related | _named(clause, told)
    if any(operates(token) for at, token in enumerate(clause.tokens) if at not in free):
        return False
    if not moves(clause, told, related):
        return False
    figures = tuple(figures_of(clause))
    numbers = tuple(
        item
        for item in figures
        if not names_thing(clause.tokens, item.place)
        or (not item.token.stems and any(how == 2 for _, how in hold(item, told)))
    )
    moved = frozenset(at for at in range(len(clause.tokens)) if way_of(clause.tokens, at))
    places = frozenset(range(len(clause.tokens))) - related - moved
    if not all(_is_said(desk, clause, place, told) for place in places):
        return False
    matched = [(figure, hold(figure, told)) for figure in numbers]
    if not all(found for _, found in matched):
        return False
    values = _values(desk, clause, told)
    exact = any(how == 2 for _, found in matched for _, how in found)
    if values is False or not (
        exact
        or values
        or related
        or clause.of(Kind.QUOTE)
        or (moved - related and _is_told_of(clause, told))
    ):
        return False
    return (
        all(_goes_with(desk, clause, figure, found, told) for figure, found in matched)
        and _in_order(matched, told)
        and ends_fit(matched)
    )


def _named(clause: Clause, told: Told) -> frozenset[int]:
    """The places of words such as "maximum" and "last" that are part of an attribute's name."""
    names = frozenset().union(*(proof.attribute for proof in told.proofs))
    return frozenset(
        at
        for at, token in enumerate(clause.tokens)
        if token.text.casefold() in _NAMING and kin(stem(token.text)) & names
    )


_NAMING: Final = frozenset("maximum minimum peak max min first last latest total most".split())


def _is_told_of(clause: Clause, told: Told) -> bool:
    """Whether what moved is that of a statement: its attribute, and its subject or a pronoun."""
    pronoun = clause.tokens[0].text.casefold() in _POINTING
    return any(
        any(token.stems & proof.attribute for token in clause.tokens)
        and (pronoun or _is_spoken_of(clause, proof))
        for proof in told.proofs
        if proof.attribute
    )


_POINTING: Final = frozenset("it its this that these 其 该 它".split())


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


def _is_said(desk: Desk, clause: Clause, place: int, told: Told) -> bool:
    """Whether a token that is no number is one of the statements' or of their records."""
    token = clause.tokens[place]
    low = token.text.casefold()
    if token.kind is Kind.NUMBER and token.stems and names_thing(clause.tokens, place):
        return any(_is_labelled(desk, proof, token) for proof in told.proofs)
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


def _is_labelled(desk: Desk, proof: Proof, token: Token) -> bool:
    """Whether a thing's number is the one that a statement is about: the 2 of "partition 2"."""
    subject = names_in(" ".join(proof.texts))
    if any(char.isdigit() for char in proof.subject):
        return token.text.casefold() in subject
    places = {(record.call, record.place) for record in proof.records}
    return token.text.casefold() in subject or any(
        (call.id, place) in places for call in proof.calls for place in desk.places(call, token)
    )


def _is_asked(desk: Desk, told: Told, token: Token) -> bool:
    return any(desk.is_about(call, token) for proof in told.proofs for call in proof.calls)


def _stands_at(proof: Proof, token: Token, *, edge: bool = False) -> bool:
    """Whether a moment is the statement's, its records', or an end of what its call looked at."""
    moment = token.moment
    assert moment is not None
    if any(moment.matches(at) for at in _moments(proof, edge=edge)):
        return True
    return any(record.stands_at(moment) for record in (*proof.records, *_readings(proof)))


def _readings(proof: Proof) -> Iterator[RecordView]:
    """The readings between the ends of a change: those of its subject and attribute."""
    if not isinstance(proof.statement, ChangeStatement):
        return
    subjects = {record.subject for record in proof.records}
    for call in proof.calls:
        for record in call.records:
            if (
                record.at is not None
                and record.subject in subjects
                and any(
                    item.number is not None and proof.attribute & item.names
                    for item in record.fields
                )
            ):
                yield record


def _moments(proof: Proof, *, edge: bool) -> Iterator[datetime]:
    at = getattr(proof.statement, "at", None)
    window = getattr(proof.statement, "window", None)
    if at is not None:
        yield at
    for call in proof.calls if edge else ():
        for _, text in call.arguments:
            asked = (moment.instant() for moment in find_moments(text))
            yield from (moment for moment in asked if moment is not None)
    scopes = (call.call.envelope.scope.window for call in proof.calls) if edge else ()
    for one in (window, *scopes):
        if one is not None:
            yield from (one.start, one.end)


def _goes_with(
    desk: Desk, clause: Clause, figure: Figure, found: tuple[Holding, ...], told: Told
) -> bool:
    """Whether the name and the moment that stand with a number are those of a proof of it."""
    moment = attached_moment(figure)
    beside = _name_beside(desk, clause, figure.place, told)
    return any(
        (_is_subject(desk, proof, beside) or _is_told_apart(figure, proof, told))
        and _is_spoken_of(clause, proof)
        and _is_meant(figure, proof)
        and (moment is None or _is_at(proof, figure, moment, how))
        for proof, how in found
    )


def _is_told_apart(figure: Figure, proof: Proof, told: Told) -> bool:
    """Whether the words right behind a number name its statement's subject and no other's.

    "2688 attempts with timeout and 1204 approved": the name before 1204 is the first number's.
    """
    words = frozenset(word for token in near_words(figure).counted for word in token.stems)
    others = (stems_of(other.subject) for other in told.proofs if other.subject != proof.subject)
    return bool(words & (stems_of(proof.subject) - frozenset().union(*others)))


def _is_meant(figure: Figure, proof: Proof) -> bool:
    """Whether the words beside a number mean its statement's attribute, and no other field.

    Of a whole ("4 of its 5 nodes hold data") only the words that it counts: what follows is of the
    part.
    """
    if is_other_statistic(figure, proof.attribute):
        return False
    if not proof.attribute or not proof.records:
        return True
    near = _near(figure)
    return any(
        is_meant_best(proof.attribute | _called(figure, proof, record), record, near, figure.stated)
        for record in proof.records
    )


def _near(figure: Figure) -> Near:
    near = near_words(figure)
    if not is_whole(figure):
        return near
    words = frozenset(word for token in near.counted[:1] for word in token.stems)
    return replace(near, all=words, next=words)


def _called(figure: Figure, proof: Proof, record: RecordView) -> frozenset[str]:
    """The whole name of the fields that hold the number and are called as the attribute is."""
    names = (
        item.names
        for item in record.fields
        if item.number is not None
        and not item.loose
        and proof.attribute <= item.names
        and is_same(figure.stated, item.number, item.unit)
    )
    return frozenset().union(*names)


def _is_spoken_of(clause: Clause, proof: Proof) -> bool:
    """Whether the clause names what the statement is about, or any word of it.

    What a call was asked about need not be named again.
    """
    subject = proof.subject.casefold()
    if not subject or any(subject in call.about_names for call in proof.calls):
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
    behind = _of_name(tokens, place)
    if behind is not None:
        return behind
    places: list[int] = [*range(place - 1, -1, -1), *range(place + 1, len(tokens))]
    for at in places:
        if _names(desk, tokens, at) and not _is_attribute(tokens[at], told):
            return tokens[at]
    subjects = {proof.subject.casefold() for proof in told.proofs}
    meant = (token for token in reversed(clause.topics) if token.text.casefold() in subjects)
    return next(meant, clause.topics[-1] if clause.topics else None)


def _of_name(tokens: tuple[Token, ...], place: int) -> Token | None:
    """The name that a number is said to be of: "15042 ms of /pay"."""
    behind = [token for token in tokens[place + 1 : place + 4] if token.text.casefold() != "the"]
    if len(behind) > 1 and behind[0].text.casefold() == "of" and behind[1].kind is Kind.NAME:
        return behind[1]
    return None


def _names(desk: Desk, tokens: tuple[Token, ...], place: int) -> bool:
    token = tokens[place]
    if token.kind is Kind.NUMBER and not token.stems:
        return False
    return names_thing(tokens, place) or (
        token.kind is Kind.WORD and token.role is Role.CONTENT and desk.is_value(token)
    )


def _is_attribute(token: Token, told: Told) -> bool:
    """Whether a name is an attribute of a statement, or the value of one: that names nothing."""
    low = token.text.casefold()
    return any(
        low == str(getattr(proof.statement, "attribute", None) or "").casefold()
        or low == _text_of(proof)
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
    kind = not any(
        low == record.subject.casefold() for call in desk.wide for record in call.records
    )
    about = any(desk.is_about(call, name) for call in proof.calls)
    return about and (not held or (kind and name.text.isalpha()))


def _is_at(proof: Proof, figure: Figure, moment: Token, how: int) -> bool:
    assert moment.moment is not None
    at = getattr(proof.statement, "at", None)
    if isinstance(at, datetime) and how == 2:
        return moment.moment.matches(at)
    holding = [
        record
        for record in (*proof.records, *_readings(proof))
        if any(
            item.number is not None and is_same(figure.stated, item.number, item.unit)
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
    near = _near(figure)
    words = frozenset(other for word in near.all for other in kin(word))
    rivals = [
        other
        for other in told.proofs
        if other.subject == proof.subject and other.attribute != proof.attribute
    ]
    close = frozenset(other for word in near.next for other in kin(word))
    own = [_weight(words, close, proof.attribute - other.attribute) for other in rivals]
    theirs = [_weight(words, close, other.attribute - proof.attribute) for other in rivals]
    return min((mine - yours for mine, yours in zip(own, theirs, strict=True)), default=0)


def _weight(words: frozenset[str], close: frozenset[str], names: frozenset[str]) -> int:
    """How much some words speak for a name; those right beside the number count three times."""
    return len(words & names) + 2 * len(close & names)
