"""What shows that something is not so, where no record says "not": zeros, and keys that are missing.

A field of the thing that is spoken of is zero, false or empty; or the thing is one item of a list
that was read whole, its like have the key, and it has none. Where a record names the thing several
times over (a total and its parts) only the field that the clause names best counts.
"""

from __future__ import annotations

from typing import Final

from affidavit.verify.prose.binding import Binding
from affidavit.verify.prose.clauses import Clause, speaks_of_others
from affidavit.verify.prose.desk import TOLD, Desk
from affidavit.verify.prose.lexicon import FUNCTION, Role
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.statements.denial import is_false
from affidavit.verify.statements.fields import Field
from affidavit.verify.statements.records import CallView, RecordView
from affidavit.verify.statements.select import kin
from affidavit.verify.statements.words import stem, stems_of

DENIED_TOKENS: Final = 3
"""How many words behind a "no" say what there is none of."""


def is_lacking(desk: Desk, clause: Clause, place: int, bindings: list[Binding]) -> bool:
    """Whether the records of the clause show, by a zero or a gap, what its negator denies."""
    denied = _denied(clause, place)
    if not denied:
        return _is_none_of(clause, place, bindings)
    read = [item for item in bindings if item.call.id != TOLD]
    return (
        any(_are_zero(clause, denied, item.records()) for item in read)
        or any(_is_missing(desk, clause, place, denied, item.call) for item in read)
        or _is_none_of(clause, place, bindings)
    )


def has_one(desk: Desk, clause: Clause, place: int, bindings: list[Binding]) -> bool:
    """Whether one of "the others" has what a clause says that none of them has."""
    denied = _denied(clause, place)
    if not denied or not speaks_of_others(clause):
        return False
    for item in bindings:
        apart = [desk.places(item.call, token) for token in clause.topics]
        spoken = frozenset[int]().union(*apart)
        said = [is_zero(clause, denied, one) for one in item.wider() if one.place not in spoken]
        if item.call.id != TOLD and False in said:
            return True
    return False


_HAVING: Final = frozenset("no without lacks lack lacking 没有 无".split())


def has_it(clause: Clause, place: int, bindings: list[Binding]) -> bool:
    """Whether the records have a field, with something in it, for what a clause says is not there."""
    denied = _denied(clause, place)
    if not denied or clause.tokens[place].text.casefold() not in _HAVING:
        return False
    said = [
        found
        for item in bindings if item.call.id != TOLD
        for record in item.records()
        if (found := is_zero(clause, denied, record)) is not None
    ]  # fmt: skip
    return bool(said) and not any(said)


def _denied(clause: Clause, place: int) -> tuple[Token, ...]:
    """The words behind a negator that say what is denied."""
    found: list[Token] = []
    for token in clause.tokens[place + 1 :]:
        if token.kind not in {Kind.WORD, Kind.NAME} or len(found) == DENIED_TOKENS:
            break
        if token.kind is Kind.WORD and stem(token.text) in FUNCTION:
            if found:
                break
            continue
        if token.role in {Role.NEGATION, Role.EVERY, Role.NONE}:
            break
        found.append(token)
    return tuple(found)


def _forms(token: Token) -> frozenset[str]:
    return frozenset(other for word in token.stems | stems_of(token.text) for other in kin(word))


def _own(token: Token) -> frozenset[str]:
    """The stems that a token is written with; of a Chinese one, those that it may be met by."""
    return stems_of(token.text) or token.stems


def _are_zero(clause: Clause, denied: tuple[Token, ...], records: tuple[RecordView, ...]) -> bool:
    """Whether every record that has a field for what is denied has nothing in it."""
    said = [found for item in records if (found := is_zero(clause, denied, item)) is not None]
    return bool(said) and all(said)


def is_zero(clause: Clause, denied: tuple[Token, ...], record: RecordView) -> bool | None:
    """Whether the field that the clause names best for what it denies is zero, false or empty."""
    wanted = _forms(denied[-1]) | _forms(denied[0])
    fields = [item for item in record.fields if not item.loose and item.names & wanted]
    if not fields:
        return None
    words = [_own(token) for token in clause.tokens if token.kind in {Kind.WORD, Kind.NAME}]
    scores = [sum(1 for word in words if word & item.names) for item in fields]
    most = max(scores)
    return all(is_false(item) for item, score in zip(fields, scores, strict=True) if score == most)


def _is_missing(
    desk: Desk, clause: Clause, place: int, denied: tuple[Token, ...], call: CallView
) -> bool:
    """Whether an item of a list lacks a key that another item of the list has."""
    if call.call.envelope.truncated:
        return False
    items = _items(clause, place, call)
    if not items:
        return False
    wanted = [_own(token) for token in denied]
    likes = [item for item in call.records if item.shape in {one.shape for one in items}]
    return any(_has(item, wanted) for item in likes) and not any(
        _has(item, wanted) for item in items
    )


def _has(record: RecordView, wanted: list[frozenset[str]]) -> bool:
    return any(
        all(words & item.names for words in wanted) and not is_false(item)
        for item in record.fields if not item.loose
    )  # fmt: skip


def _items(clause: Clause, place: int, call: CallView) -> tuple[RecordView, ...]:
    """The items that the last word before the negator that names any names."""
    for token in (*reversed(clause.tokens[:place]), *reversed(clause.topics)):
        low = token.text.casefold()
        found = tuple(
            item for item in call.records
            if low in {item.subject.casefold(), *_names(item.fields)}
            and len(item.fields) > 1 and item.shape not in {"line", "report"}
        )  # fmt: skip
        if found:
            return tuple(item for item in found if item.place not in call.frames) or found
    return ()


def _names(fields: tuple[Field, ...]) -> tuple[str, ...]:
    return tuple(item.text.casefold() for item in fields if item.name.casefold() in {"name", "id"})


def _is_none_of(clause: Clause, place: int, bindings: list[Binding]) -> bool:
    """ "answered none of 5": one record gives the 5, and a zero for what was not done."""
    behind = clause.tokens[place + 1 : place + 4]
    whole = next((token.stated for token in behind if token.stated is not None), None)
    if whole is None or clause.tokens[place].text.casefold() not in _NONE_OF:
        return False
    verbs = frozenset().union(
        *(
            _forms(token) | _DONE.get(stem(token.text), frozenset())
            for token in clause.tokens[:place] if token.kind is Kind.WORD
        ),
        frozenset[str](),
    )  # fmt: skip
    return any(
        any(item.number == whole.number for item in record.fields)
        and any(item.number == 0 and (item.tight | item.names) & verbs for item in record.fields)
        for binding in bindings if binding.call.id != TOLD
        for record in binding.records()
    )  # fmt: skip


_NONE_OF: Final = frozenset("none neither".split())
_DONE: Final = {
    stem(word): frozenset(map(stem, others.split()))
    for word, others in (
        ("answered", "received replied"), ("returned", "received"), ("came", "received"),
        ("arrived", "received delivered"), ("got", "received"), ("succeeded", "succeeded passed"),
    )
}  # fmt: skip
"""What an answer is counted as on the other side."""
