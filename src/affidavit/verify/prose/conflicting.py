"""A sentence that its own statements refute: the right atoms, put together wrongly.

Words can all be found in records and still say something else than what was stated. Where every
statement of a sentence is proved, the sentence may not name another thing in place of theirs, deny
their state, turn their change round, give their number to another attribute or moment, or call the
smaller of two numbers the larger. Only able to refuse.
"""

from __future__ import annotations

import re
from datetime import datetime
from decimal import Decimal
from typing import Final

from affidavit.contract.statement import ChangeStatement, EdgeStatement
from affidavit.contract.violations import SupportCode
from affidavit.verify.prose.clauses import Clause
from affidavit.verify.prose.desk import Desk
from affidavit.verify.prose.figures import (
    Figure,
    figures_of,
    is_part,
    is_whole,
    near_words,
    up_to_sign,
)
from affidavit.verify.prose.glosses import ANTONYMS
from affidavit.verify.prose.impossible import part_above_whole, wrongly_compared
from affidavit.verify.prose.lexicon import Role
from affidavit.verify.prose.moving import way_of, ways_of
from affidavit.verify.prose.numbering import names_thing
from affidavit.verify.prose.proofs import Proof, Told
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.statements.records import CallView
from affidavit.verify.statements.select import kin
from affidavit.verify.statements.units import agrees
from affidavit.verify.statements.words import is_within, names_in, stem, stems_of

Tokens = tuple[Token, ...]


def conflict(
    desk: Desk, tokens: Tokens, told: Told, topics: Tokens
) -> tuple[SupportCode, str] | None:
    """The code against a statement that turns its own proofs, and what it is about; None for none."""
    clause = Clause(tokens, topics)
    exact = tuple(
        (figure, tuple(proof for proof in told.proofs if _is_value(figure, proof)))
        for figure in figures_of(clause)
        if not (figure.token.stems and names_thing(tokens, figure.place))
    )
    checks = (
        (SupportCode.SUBJECT_REFUTED, _other_subject(desk, clause, told)),
        (SupportCode.SUBJECT_REFUTED, _other_number(tokens, told)),
        (SupportCode.NEGATION_REFUTED, _denied(tokens, told)),
        (SupportCode.DIRECTION_REFUTED, _turned(tokens, told)),
        (SupportCode.DIRECTION_REFUTED, _against_way(tokens, exact, told)),
        (SupportCode.DIRECTION_REFUTED, _unproved_way(tokens, told)),
        (SupportCode.DIRECTION_REFUTED, _reversed(tokens, told)),
        (SupportCode.NUMBER_REFUTED, _other_attribute(exact, told)),
        (SupportCode.SUBJECT_REFUTED, _other_field(tokens, told)),
        (SupportCode.TIME_REFUTED, _other_moment(tokens, exact, told)),
        (SupportCode.NUMBER_REFUTED, part_above_whole(tokens)),
        (SupportCode.DIRECTION_REFUTED, wrongly_compared(tokens)),
    )
    return next(((code, what) for code, what in checks if what), None)


def _number_of(proof: Proof) -> Decimal | None:
    value = getattr(proof.statement, "value", None)
    return value if isinstance(value, Decimal) else None


def _is_value(figure: Figure, proof: Proof) -> bool:
    value = _number_of(proof)
    if value is None:
        return False
    stated = figure.stated
    unit = str(getattr(proof.statement, "unit", None) or "")
    return value == stated.number or (bool(unit) and agrees(stated, value, unit))


# --- Subjects ---------------------------------------------------------------------------------


def _other_subject(desk: Desk, clause: Clause, told: Told) -> str:
    """A thing of the evidence that is named where the statements are about other things.

    Either their calls hold none of the things named, or none of their subjects is named and what is
    named stands in none of their records.
    """
    named = [
        token
        for token in clause.tokens
        if any(token.text.casefold() in call.subjects for call in desk.wide)
    ]
    if not named:
        return ""
    calls = tuple(call for proof in told.proofs for call in proof.calls)
    known = [
        token
        for place, token in enumerate(clause.tokens)
        if names_thing(clause.tokens, place) and any(_holds(call, token) for call in desk.wide)
    ]
    if not any(_holds(call, token) for call in calls for token in (*known, *named)):
        return named[0].text
    subjects = [proof.subject.casefold() for proof in told.proofs]
    if not all(subjects) or any(_is_said(subject, clause) for subject in subjects):
        return ""
    asked = any(subject in call.about_names for subject in subjects for call in calls)
    listed = frozenset[str]().union(*(call.subjects for call in calls))
    for token in named:
        low = token.text.casefold()
        if asked and low not in listed:
            continue
        if low not in told.names and not any(is_within(low, name) for name in told.names):
            return token.text
    return ""


def _holds(call: CallView, token: Token) -> bool:
    low = token.text.casefold()
    if low in call.by_name or low in call.by_owner or low in call.about_names:
        return True
    return len(low) >= SAID_CHARS and any(
        name.endswith((f".{low}", f"/{low}")) for name in call.by_name
    )


def _is_said(subject: str, clause: Clause) -> bool:
    """Whether a clause names a subject: whole, by what owns it or ends it, or by a plain word."""
    tokens = (*clause.tokens, *clause.topics)
    said = " ".join(token.text for token in tokens).casefold()
    for word in subject.split():
        if word in said:
            return True
        for token in tokens:
            low = token.text.casefold()
            if len(low) >= SAID_CHARS and (is_within(low, word) or word.endswith(f".{low}")):
                return True
            if word.isalpha() and stems_of(word) & (token.stems | stems_of(low)):
                return True
    return False


SAID_CHARS: Final = 3
"""A shorter beginning of a name names nothing."""


_NUMBERED: Final = re.compile(r"(?:[A-Za-z]{1,30}[ .#:_-])?(\d{1,12})")


def _other_number(tokens: Tokens, told: Told) -> str:
    """A thing's number ("partition 5") that no statement has, where all are about numbered things."""
    found = [_NUMBERED.fullmatch(proof.subject.strip()) for proof in told.proofs]
    numbers = {match[1] for match in found if match}
    if not found or not all(found):
        return ""
    held = names_in(" ".join(text for proof in told.proofs for text in proof.texts)) | numbers
    said = {token.text for token in tokens}
    for place, token in enumerate(tokens):
        labelled = token.kind is Kind.NUMBER and token.stems and names_thing(tokens, place)
        if labelled and token.text.casefold() not in held and not numbers <= said:
            return token.text
    return ""


# --- States and directions --------------------------------------------------------------------

_DENIAL_REACH: Final = 2
"""A "not" stands within so many words before the state that it denies."""


def _denied(tokens: Tokens, told: Told) -> str:
    """A proved state with a "not" before it."""
    for proof in told.proofs:
        statement = proof.statement
        value = getattr(statement, "value", getattr(statement, "set", None))
        if value is False:
            value = next((word for word, other in ANTONYMS.items()
                          if stem(other) in proof.attribute), None)  # fmt: skip
        if not isinstance(value, str) or getattr(statement, "operator", "=") != "=":
            continue
        for place, token in enumerate(tokens):
            before = tokens[max(0, place - _DENIAL_REACH) : place]
            if token.text.casefold() == value.casefold() and any(
                item.kind is Kind.WORD and item.text.casefold() in _NOT for item in before
            ):
                return token.text
    return ""


_NOT: Final = frozenset("not never isn't wasn't aren't weren't 不 未 没有 并非 不是".split())


def _turned(tokens: Tokens, told: Told) -> str:
    """A change told from its end to its beginning: "from on to off" of one from off to on."""
    for proof in told.proofs:
        statement = proof.statement
        if not isinstance(statement, ChangeStatement):
            continue
        ends = _end_of(tokens, _FROM), _end_of(tokens, _TO)
        if not all(ends) or statement.from_ is None or statement.to is None:
            continue
        first, last = ends
        assert first is not None
        assert last is not None
        if statement.from_ == statement.to:
            continue
        if _is_end(first, statement.to) and _is_end(last, statement.from_):
            return first.text
    return _replaced(tokens, told) or _told_turned(tokens, told)


def _replaced(tokens: Tokens, told: Told) -> str:
    """ "from 9 to 20" of a change from 4 to 20: one end is proved, and the other is another's."""
    first, last = _end_of(tokens, _FROM), _end_of(tokens, _TO)
    if first is None or last is None or first.stated is None or last.stated is None:
        return ""
    fits = [
        (_is_end(first, item.statement.from_), _is_end(last, item.statement.to))
        for item in told.proofs
        if isinstance(item.statement, ChangeStatement)
        and isinstance(item.statement.from_, Decimal)
        and isinstance(item.statement.to, Decimal)
    ]
    if any(map(all, fits)):
        return ""
    return first.text if any(map(any, fits)) else ""


def _told_turned(tokens: Tokens, told: Told) -> str:
    """ "from 48 to 32" where a record of the proof tells "from 32 to 48"."""
    first, last = _end_of(tokens, _FROM), _end_of(tokens, _TO)
    if first is None or last is None:
        return ""
    turned = f"from {last.text} to {first.text}".casefold()
    straight = f"from {first.text} to {last.text}".casefold()
    texts = [record.squeezed.casefold() for proof in told.proofs for record in proof.records]
    return first.text if any(turned in text and straight not in text for text in texts) else ""


_FROM: Final = frozenset("from 从 由".split())
_TO: Final = frozenset("to 到 至 为 成 升至 降至".split())
_SKIPPED: Final = frozenset("a an the about its value baseline of average roughly".split())


def _end_of(tokens: Tokens, marks: frozenset[str]) -> Token | None:
    for place, token in enumerate(tokens):
        if token.text.casefold() not in marks:
            continue
        for behind in tokens[place + 1 : place + 6]:
            if behind.text.casefold() not in _SKIPPED and behind.kind is not Kind.SIGN:
                return behind
    return None


def _is_end(token: Token, end: object) -> bool:
    if isinstance(end, Decimal):
        return token.stated is not None and token.stated.number == end
    return token.text.casefold() == str(end).casefold()


def _against_way(
    tokens: Tokens, exact: tuple[tuple[Figure, tuple[Proof, ...]], ...], told: Told
) -> str:
    """ "up from 9" of two proved readings of which the later is the smaller."""
    held = tuple(proof for _, proofs in exact for proof in proofs)
    ways = set(ways_of(Told(held)))
    for place, token in enumerate(tokens):
        way = way_of(tokens, place)
        said = {Role.UP: "up", Role.DOWN: "down"}.get(way) if way else None
        if said and len(ways) == 1 and said not in ways and token.role is not way:
            return token.text
    return ""


def _unproved_way(tokens: Tokens, told: Told) -> str:
    """ "and fell again" beside statements that all went up, with no number of its own."""
    ways = set(ways_of(told))
    for place, token in enumerate(tokens):
        said = {Role.UP: "up", Role.DOWN: "down"}.get(token.role)
        if token.kind is not Kind.WORD or said is None or not ways or said in ways:
            continue
        if not any(item.kind in {Kind.NUMBER, Kind.NAME} for item in tokens[place + 1 :]):
            return token.text
    return ""


def _reversed(tokens: Tokens, told: Told) -> str:
    """An edge whose ends are named the wrong way round: "b depends on a" of a that depends on b."""
    for proof in told.proofs:
        statement = proof.statement
        if not isinstance(statement, EdgeStatement):
            continue
        ends = (statement.subject.casefold(), statement.object.casefold())
        found = [[at for at, token in enumerate(tokens) if token.text.casefold() == end]
                 for end in ends]  # fmt: skip
        if not all(found) or ends[0] == ends[1]:
            continue
        first, second = found[0][0], found[1][0]
        between = tokens[min(first, second) + 1 : max(first, second)]
        passive = any(token.text.casefold() in _PASSIVE for token in between)
        if (first < second) is passive:
            return tokens[first].text
    return ""


_PASSIVE: Final = frozenset("by 被 由".split())


def _other_field(tokens: Tokens, told: Told) -> str:
    """A proved state behind the name of another field of its kind, or another field's state behind
    its own: "the open reason is X" for "the refusal reason is X"."""
    for proof in told.proofs:
        value = getattr(proof.statement, "value", None)
        if not isinstance(value, str) or not proof.attribute:
            continue
        wanted = value.casefold()
        given = any(token.text.casefold() == wanted for token in tokens)
        rivals = [
            (field.text.casefold(), stems_of(field.name.rpartition(".")[2]))
            for record in proof.records
            for field in record.fields
            if not field.loose and field.number is None and field.text.casefold() != wanted
        ]
        for place, token in enumerate(tokens):
            low = token.text.casefold()
            said = _said_before(tokens, place)
            for text, names in rivals:
                apart = names - proof.attribute
                if not apart or not names & proof.attribute:
                    continue
                own = proof.attribute - names
                swapped = low == wanted and apart <= said and not own & said
                replaced = not given and low == text and proof.attribute <= said
                if swapped or (replaced and not apart & said):
                    return token.text
    return ""


def _said_before(tokens: Tokens, place: int) -> frozenset[str]:
    """The words before a place, back to the last sign, number or joining word."""
    said: set[str] = set()
    for token in reversed(tokens[:place]):
        if token.kind in {Kind.SIGN, Kind.NUMBER} or token.text.casefold() in _PARTING:
            break
        if token.kind is Kind.WORD:
            said |= stems_of(token.text)
    return frozenset(said)


# --- Numbers ----------------------------------------------------------------------------------


def _other_attribute(exact: tuple[tuple[Figure, tuple[Proof, ...]], ...], told: Told) -> str:
    """A proved number right beside the name of another proved number of the same subject."""
    for figure, proofs in exact:
        if len(proofs) != 1 or is_whole(figure) or is_part(figure):
            continue
        own = proofs[0]
        near = near_words(up_to_sign(figure))
        words = frozenset(other for word in near.next for other in kin(word))
        rivals = [
            proof
            for proof in told.proofs
            if proof.subject == own.subject
            and _number_of(proof) not in {None, _number_of(own)}
            and proof.attribute != own.attribute
        ]
        for rival in rivals:
            mine, theirs = own.attribute - rival.attribute, rival.attribute - own.attribute
            if mine and theirs and words & theirs and not words & mine:
                return figure.token.text
    return ""


def _other_moment(
    tokens: Tokens, exact: tuple[tuple[Figure, tuple[Proof, ...]], ...], told: Told
) -> str:
    """A proved number beside the moment of another proved number of the same subject."""
    for figure, proofs in exact:
        if len(proofs) != 1 or (at := _at(proofs[0])) is None:
            continue
        moment = _moment_behind(tokens, figure.place)
        if moment is None or moment.moment is None or moment.moment.matches(at):
            continue
        others = (
            _at(proof)
            for proof in told.proofs
            if proof.subject == proofs[0].subject and proof is not proofs[0]
        )
        if any(other is not None and moment.moment.matches(other) for other in others):
            return f"{figure.token.text} at {moment.text}"
    return ""


def _at(proof: Proof) -> datetime | None:
    at = getattr(proof.statement, "at", None)
    return at if isinstance(at, datetime) else None


def _moment_behind(tokens: Tokens, place: int) -> Token | None:
    """The first moment behind a number, before the next number, sign or joining word."""
    for token in tokens[place + 1 : place + 7]:
        if token.kind is Kind.MOMENT:
            return token
        if token.kind in {Kind.NUMBER, Kind.SIGN} or token.text.casefold() in _PARTING:
            return None
    return None


_PARTING: Final = frozenset(
    "and but while whereas after before then since 和 而 但 后 之后".split()
)
