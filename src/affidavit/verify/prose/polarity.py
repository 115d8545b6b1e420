"""Does the clause say yes where the record says no, or no where it says yes?

A record denies a word when every place that holds it stands close behind a "not", is a field that
is false or zero, or is a part of a name such as OutOfSync. A denied word needs a denial close to it
in the clause; a denial in the clause needs a record that denies what stands behind it, or that
fails at it, and never one that says it outright.
"""

from __future__ import annotations

from typing import Final

from affidavit.verify.prose.binding import Binding
from affidavit.verify.prose.bounding import bound_of
from affidavit.verify.prose.clauses import Clause
from affidavit.verify.prose.desk import TOLD, Desk
from affidavit.verify.prose.lexicon import FUNCTION, SAYING, Role
from affidavit.verify.prose.tokens import Kind, Token, tokenize
from affidavit.verify.statements.denial import (
    FAILING,
    FAILING_ZH,
    denies,
    fails,
    fails_near,
    is_false_field,
)
from affidavit.verify.statements.records import RecordView
from affidavit.verify.statements.units import agrees
from affidavit.verify.statements.words import parts_of, stem, stems_of

REACH: Final = 4
"""How many tokens a "not" reaches over."""
NEAR: Final = 6
"""How many tokens around a word may hold the denial of it."""
_COMPARING: Final = frozenset(
    "more less fewer later earlier longer shorter higher lower only just 超过 低于 少于 高于 多于".split()
)


def negators_of(clause: Clause) -> tuple[int, ...]:
    """The places of the words that deny; "no more than 5" and "not only" deny nothing."""
    return tuple(
        place
        for place, token in enumerate(clause.tokens)
        if token.kind is Kind.WORD
        and token.role in {Role.NEGATION, Role.NONE}
        and (
            _is_no_longer(clause.tokens, place)
            or not any(
                item.text.casefold() in _COMPARING for item in clause.tokens[place + 1 : place + 2]
            )
        )
        and bound_of(clause.tokens, place) is None
    )


def _is_no_longer(tokens: tuple[Token, ...], place: int) -> bool:
    """Whether "no longer" denies, and compares nothing ("no longer than 3 s")."""
    words = [token.text.casefold() for token in tokens[place : place + 3]]
    return words[:2] == ["no", "longer"] and words[2:] != ["than"]


def sounds_bad(tokens: tuple[Token, ...]) -> bool:
    """Whether some tokens deny or speak of a failure, so that a denied word may stand in them."""
    return any(
        (token.kind is Kind.WORD and token.role in {Role.NEGATION, Role.NONE})
        or (token.kind in {Kind.WORD, Kind.NAME, Kind.QUOTE} and _is_failing(token))
        or (token.stated is not None and token.stated.number == 0)
        for token in tokens
    )


def _is_failing(token: Token) -> bool:
    return (
        bool(token.stems & FAILING)
        or any(stem(part) in FAILING for part in parts_of(token.text))
        or any(sign in token.text for sign in FAILING_ZH)
    )


def denied_words(desk: Desk, clause: Clause, bindings: list[Binding]) -> bool:
    """Whether the clause affirms a word that every record it speaks of denies.

    Of several things that are listed each has to affirm it. Beside a word of failure a denied word
    may stand ("failed to pull"); a field that is zero or false needs a "no" or a 0 beside it.
    """
    for place, token in enumerate(clause.tokens):
        if not _is_affirmed_word(token):
            continue
        near = clause.tokens[max(0, place - NEAR) : place + NEAR + 1]
        if says_no(near):
            continue
        bad = sounds_bad(near)
        for records in _sets(desk, token, bindings):
            if all(is_false_field(record, token.stems) for record in records):
                return True
            if not bad and all(denies(record, token.stems) for record in records):
                return True
    return False


def _is_affirmed_word(token: Token) -> bool:
    if token.kind is Kind.NAME:
        return token.text.isalpha()
    if token.kind is not Kind.WORD or token.role not in {Role.CONTENT, Role.FREE}:
        return False
    return token.role is Role.CONTENT or tells(token)


def says_no(tokens: tuple[Token, ...]) -> bool:
    """Whether some tokens deny, or give a zero or a false."""
    return any(
        (token.kind is Kind.WORD and token.role in {Role.NEGATION, Role.NONE})
        or (token.stated is not None and token.stated.number == 0)
        or token.text.casefold() in {"false", "zero", "empty", "none", "null", "unset", "free"}
        for token in tokens
    )


def _sets(desk: Desk, token: Token, bindings: list[Binding]) -> list[list[RecordView]]:
    """The records that hold a token: all calls' together, or where names are listed, each one's."""
    read = [item for item in bindings if item.call.id != TOLD]
    listed = [item for item in read if len(item.allowed) > 1]
    found = [
        [item.call.records[at] for at in desk.places(item.call, token) & places]
        for item in listed
        for places in item.best
    ]
    found.append([item.call.records[at] for item in read for at in _holding(desk, item, token)])
    return [records for records in found if records]


def _holding(desk: Desk, binding: Binding, token: Token) -> frozenset[int]:
    """The records that hold a token: of those that the clause speaks of, else of the wider ones."""
    held = desk.places(binding.call, token)
    return held & frozenset().union(*binding.best) or held & frozenset().union(*binding.allowed)


def tells(token: Token) -> bool:
    """Whether a free word says that something happened: it started, 启动."""
    if token.text.isascii():
        return stem(token.text) in SAYING
    return len(token.stems) > 1


def denial_shown(clause: Clause, place: int, bindings: list[Binding]) -> bool | None:
    """Whether the records that the clause speaks of deny what stands behind a negator.

    The first token behind it that a record holds decides: one has to deny it or to fail at it.
    None where none holds any: then a failure in one may be denial enough.
    """
    behind = clause.tokens[place + 1 : place + 2]
    if any(token.text.casefold() in EVERY_WORDS for token in behind):
        return False
    if clause.tokens[place].text.casefold() == "no" and any(
        token.text.casefold() in _NOTHING_BEHIND for token in behind
    ):
        return False
    records = _records(bindings)
    behind_ = _behind(clause, place)
    never = clause.tokens[place].text.casefold() in _NEVER
    if never and not any(
        is_false_field(record, token.stems) or (_NEVER & set(record.text.casefold().split()))
        for token in behind_ for record in records
    ):  # fmt: skip
        return False
    if all(stem(token.text) in SAYING for token in behind_ if token.kind is Kind.WORD):
        behind_ = (*behind_, *_before(clause, place))
    for token in behind_:
        said = [found for record in records if (found := _says(record, token)) is not None]
        if said:
            return False in said
    return None


_NEVER: Final = frozenset("never 从未 从来没有".split())


def _before(clause: Clause, place: int) -> tuple[Token, ...]:
    """The words before a passive's negator, closest first: "errors were not seen"."""
    found = [
        token for token in reversed(clause.tokens[max(0, place - 2 * REACH) : place])
        if token.kind is Kind.WORD and token.role is Role.CONTENT
    ]  # fmt: skip
    return tuple(found)


def _records(bindings: list[Binding]) -> tuple[RecordView, ...]:
    """What the calls say of the clause; the report's own sentences only where no call does."""
    read = tuple(record for item in bindings if item.call.id != TOLD for record in item.records())
    return read or tuple(record for item in bindings for record in item.records())


def fails_at_all(bindings: list[Binding]) -> bool:
    """Whether a record that the clause speaks of reports a failure."""
    return any(fails(record) for record in _records(bindings))


def denies_failure(clause: Clause, place: int) -> bool:
    """Whether what stands behind a negator is itself a failure: "no longer fail"."""
    behind = [
        token
        for token in clause.tokens[place + 1 : place + 1 + REACH]
        if token.kind is Kind.WORD and token.role is Role.CONTENT
    ]
    return bool(behind) and _is_failing(behind[0])


def contradicts(record: RecordView, tokens: tuple[Token, ...]) -> bool:
    """Whether a record denies a word that some tokens affirm, or says one that they deny."""
    clause = Clause(tokens)
    for place, token in enumerate(tokens):
        if token.kind is not Kind.WORD or not (token.role is Role.CONTENT or tells(token)):
            continue
        if sounds_bad(tokens[max(0, place - NEAR) : place + NEAR + 1]):
            continue
        if denies(record, token.stems):
            return True
    for place in negators_of(clause):
        said = next(
            (
                found
                for token in _behind(clause, place)
                if (found := _says(record, token)) is not None
            ),
            None,
        )
        if said:
            return True
    return False


def turns_question(desk: Desk, clause: Clause) -> bool:
    """Whether an effect affirms what the question denies ("why does it not start?")."""
    if sounds_bad(clause.tokens):
        return False
    asked = Clause(tokenize(desk.asked_text))
    denied = frozenset(
        word
        for place in negators_of(asked)
        for token in _behind(asked, place)
        for word in _written(token)
    )
    said = frozenset(word for token in clause.tokens for word in _written(token))
    return bool(denied & said - FUNCTION)


def _written(token: Token) -> frozenset[str]:
    """The stem that a word is written with; of a Chinese one also those that it may be met by."""
    own = frozenset({stem(token.text)})
    return own if token.text.isascii() else own | token.stems


def is_denial_asked(desk: Desk, clause: Clause) -> bool:
    """Whether an effect denies something, and the question did too."""
    return not negators_of(clause) or bool(negators_of(Clause(tokenize(desk.asked_text))))


_NOTHING_BEHIND: Final = frozenset("of with for in time times".split())
"""What cannot stand behind "no" in a sentence that says something."""
EVERY_WORDS: Final = frozenset("all every each both 都 全 全部 所有 每个".split())
SUCCEEDING: Final = frozenset(
    stem(word) for word in
    "succeed succeeds succeeded succeeding success successful successfully pass passed complete "
    "completed ok fine healthy recovered resolved".split()
)  # fmt: skip


def succeeded_elsewhere(desk: Desk, clause: Clause, bindings: list[Binding]) -> bool:
    """Whether a success is said of names of which no single item says it."""
    if not clause.names:
        return False
    for at, token in enumerate(clause.tokens):
        if not succeeds(token) or _is_denied(clause.tokens, at):
            continue
        places = [
            (item, place)
            for item in bindings
            for name in clause.names
            for place in desk.places(item.call, name)
            if item.call.records[place].shape != "report"
        ]
        if places and not any(
            place in desk.places(item.call, token)
            and _tells_success(item.call.records[place], token)
            for item, place in places
        ):
            return True
    return False


_SUCCEEDING_ZH: Final = frozenset("成功 恢复 通过 正常 健康 完成 修复 已恢复".split())


def succeeds(token: Token) -> bool:
    """Whether a word itself says that something went well; what merely ended did not."""
    if token.kind is not Kind.WORD:
        return False
    return stem(token.text) in SUCCEEDING if token.text.isascii() else token.text in _SUCCEEDING_ZH


def _tells_success(record: RecordView, token: Token) -> bool:
    """Whether a record says itself that something went well, and not only that it ended."""
    return bool(record.stems & SUCCEEDING) or token.text in record.text


def _is_denied(tokens: tuple[Token, ...], place: int) -> bool:
    """Whether a "not" stands close before a word."""
    near = tokens[max(0, place - REACH) : place]
    return any(token.role in {Role.NEGATION, Role.NONE} for token in near)


def _behind(clause: Clause, place: int) -> tuple[Token, ...]:
    """The tokens that a negator reaches over; in Chinese 不通过 holds its own."""
    found: list[Token] = []
    for token in clause.tokens[place + 1 : place + 1 + REACH]:
        if token.kind is Kind.SIGN:
            break
        if token.role is Role.FREE and stem(token.text) in FUNCTION:
            continue
        found.append(token)
    return tuple(found)


def _says(record: RecordView, token: Token) -> bool | None:
    """True where a record says what a token says, False where it denies it, None for neither."""
    match token.kind:
        case Kind.WORD:
            return _word(record, token)
        case Kind.NUMBER:
            assert token.stated is not None
            stated = token.stated
            held = any(
                field.number is not None and agrees(stated, field.number, field.unit)
                for field in record.fields
            )
            return True if held else None
        case Kind.MOMENT:
            assert token.moment is not None
            return True if record.stands_at(token.moment) else None
        case Kind.QUOTE:
            return True if " ".join(token.text.split()) in record.squeezed else None
        case Kind.NAME:
            return _name(record, token)
        case _:
            return None


def _name(record: RecordView, token: Token) -> bool | None:
    """A name that is a value of the record is what the record says, unless it speaks of failure."""
    low = token.text.casefold()
    told = f"{record.squeezed.casefold()} "
    given = any(
        f"{sign}{low}{end}" in told for sign in ("= ", "=", ": ") for end in (" ", ",", ";")
    )
    if not given and not any(field.text.strip().casefold() == low for field in record.fields):
        return None
    rest = record.stems - stems_of(token.text)
    return None if rest & FAILING and not stems_of(token.text) & FAILING else True


def _word(record: RecordView, token: Token) -> bool | None:
    base = frozenset({stem(token.text)}) if token.text.isascii() else token.stems
    here = base & record.stems
    if not here:
        wider = token.stems & record.stems
        return False if wider and _denies(record, wider) else None
    if _denies(record, here):
        return False
    return True if here & record.claimed else None


def _denies(record: RecordView, stems: frozenset[str]) -> bool:
    if any(denies(record, frozenset({word})) for word in stems):
        return True
    return not stems & FAILING and any(fails_near(record, word) for word in stems)
