"""Is what is said said of the thing that the record says it of?

A line is its speaker's: who "logged" it is its subject, and not a name in its text. What a row
tells it tells of the thing that the row is about, and not of the node or the user beside it. And
what stands in a line about somebody else is not the speaker's own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from affidavit.contract.evidence import Line, Value
from affidavit.verify.prose.binding import Binding, is_output_of
from affidavit.verify.prose.clauses import Clause
from affidavit.verify.prose.desk import TOLD
from affidavit.verify.prose.lexicon import Role
from affidavit.verify.prose.nouns import claims
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.statements.fields import Field
from affidavit.verify.statements.records import CallView, RecordView
from affidavit.verify.statements.words import is_within, names_in, parts_of

_SPEAKING: Final = frozenset(
    "log logs logged report reports reported print prints printed say says said write writes wrote record "
    "records recorded emit emits emitted call calls called 记录 记录了 打印 报告 报出 输出 写明 写道 调用".split()
)
_TOWARDS: Final = frozenset("对 向 在 为 将 把 由".split())
_BEING: Final = frozenset(
    "is are was were be been went goes became remains stays 处于 是 为 已 被 均 都 仍 turned came".split()
)
_IDENTITY: Final = frozenset(
    "name id identifier key pid uid object resource entity subject".split()
)


def misattributed(clause: Clause, bindings: list[Binding]) -> str:
    """The name that a clause says something of which its records say of another; or nothing."""
    read = [item for item in bindings if item.call.id != TOLD]
    speaker = _speaker(clause)
    if speaker is not None and _all(
        read, lambda call, record: not _is_speaker(call, record, speaker)
    ):
        return speaker.text
    subject = _subject(clause)
    if subject is not None and _all(
        read,
        lambda call, record: (
            _is_beside(record, subject, clause) or _is_others(call, record, subject)
        ),
    ):
        return subject.text
    owner = _owner(clause)
    if owner is not None and _all(read, lambda call, record: _is_others(call, record, owner)):
        return owner.text
    return ""


def _all(bindings: list[Binding], wrong: Callable[[CallView, RecordView], bool]) -> bool:
    """Whether there are records, and each is wrong."""
    records = [(item.call, record) for item in bindings for record in item.records()]
    return bool(records) and all(wrong(call, record) for call, record in records)


def _speaker(clause: Clause) -> Token | None:
    """The name right before a verb of speaking: who logged it."""
    for place, token in enumerate(clause.tokens):
        if token.kind is not Kind.WORD or token.text.casefold() not in _SPEAKING:
            continue
        before = [item for item in clause.tokens[:place] if item.kind is Kind.NAME]
        passive = place and clause.tokens[place - 1].text.casefold() in {
            "was",
            "were",
            "is",
            "are",
            "be",
            "been",
            "被",
        }
        if not before or passive:
            return None
        spoken = before[-1] if token.text.isascii() else before[0]
        at = clause.tokens.index(spoken)
        near = {item.text for item in clause.tokens[max(0, at - 2) : at]}
        return None if near & _TOWARDS else spoken
    return None


def _is_speaker(call: CallView, record: RecordView, name: Token) -> bool:
    low = name.text.casefold()
    spoken = names_in(record.subject) | call.about_names
    if is_output_of(call, name) or low in spoken or any(is_within(low, other) for other in spoken):
        return True
    if not isinstance(record.fact, Line) and low in {
        field.text.casefold() for field in record.fields
    }:
        return True
    head = record.text[:HEAD_CHARS].casefold()
    return low in names_in(head)


HEAD_CHARS: Final = 60
"""Who speaks stands at the beginning of a line, behind its time and level."""


def _subject(clause: Clause) -> Token | None:
    """The name before a form of "to be" and a state: what the clause says to be so."""
    tokens = clause.tokens
    for place, token in enumerate(tokens):
        if token.text.casefold() not in _BEING or not place:
            continue
        before = [item for item in tokens[:place] if item.kind is Kind.NAME]
        behind = tokens[place + 1 : place + 4]
        if before and any(_is_state(item) for item in behind):
            return before[-1] if len(before) == 1 else None
        return None
    return None


def _is_state(token: Token) -> bool:
    if token.kind is Kind.NAME:
        return token.text.isalpha()
    return token.kind is Kind.WORD and token.role is Role.CONTENT and claims(token)


def _is_beside(record: RecordView, name: Token, clause: Clause) -> bool:
    """Whether a name only stands in a field beside the one that says what the row is about."""
    low = name.text.casefold()
    own = [field for field in record.fields if _is_identity(field)]
    held = [field for field in record.fields if field.text.casefold() == low and not field.loose]
    if not own or not held or any(field in own for field in held):
        return False
    said = {token.text.casefold() for token in clause.tokens}
    values = {field.text.strip().casefold() for field in own}
    return not values & said and not any(is_within(low, value) or low in value for value in values)


def _is_identity(field: Field) -> bool:
    if field.loose or not field.text.strip():
        return False
    last = parts_of(field.name.rsplit(".", 1)[-1])
    return last in {(word,) for word in _IDENTITY}


def _owner(clause: Clause) -> Token | None:
    """The name whose something a clause speaks of: "the certificate of X", X 的证书."""
    tokens = clause.tokens
    for place, token in enumerate(tokens):
        if token.kind is not Kind.NAME:
            continue
        before = tokens[place - 1].text.casefold() if place else ""
        behind = tokens[place + 1].text if place + 1 < len(tokens) else ""
        if (before == "of" and place > 1 and _is_thing(tokens[place - 2])) or (
            behind == "的" and place + 2 < len(tokens) and _is_thing(tokens[place + 2])
        ):
            return token
    return None


def _is_thing(token: Token) -> bool:
    return token.kind is Kind.WORD and token.role is Role.CONTENT


def _is_others(call: CallView, record: RecordView, name: Token) -> bool:
    """Whether a line of the named one's own speaks of another by name, and not of itself."""
    low = name.text.casefold()
    if any(_is_identity(field) and low in field.text.casefold() for field in record.fields):
        return False
    own = " ".join(field.text for field in record.fields if field.text.casefold() != low)
    told = record.fact.text if isinstance(record.fact, Line) else own
    head, found, rest = told.casefold().partition(low)
    said = names_in(rest if found and len(head) < HEAD_CHARS else told)
    if isinstance(record.fact, Value) or record.at is None or low in said:
        return False
    return any(_is_thing_name(other) for other in said - call.about_names)


def _is_thing_name(name: str) -> bool:
    """Whether a name looks like that of a host, a unit or an object, and not like a number or a word."""
    joined = any(sign in name for sign in ".-") and any(sign.isalpha() for sign in name)
    return joined and len(name) > 5 and not name[:4].isdigit()
