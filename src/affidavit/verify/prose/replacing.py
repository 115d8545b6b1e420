"""From one value to another: does the record's old value stand for the old, and its new for the new?"""

from __future__ import annotations

import re
from typing import Final

from affidavit.verify.prose.binding import Binding
from affidavit.verify.prose.clauses import Clause
from affidavit.verify.prose.desk import TOLD
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.statements.fields import Field
from affidavit.verify.statements.records import RecordView
from affidavit.verify.statements.words import stem

_FROM: Final = frozenset("from 由 从 自".split())
_TO: Final = frozenset(
    "to 到 至 为 改为 改成 变为 变成 换成 调整为 升至 降至 升到 降到 增至 减至 设为".split()
)
_OLD: Final = frozenset(map(stem, "old before previous prior from former baseline".split()))
_NEW: Final = frozenset(map(stem, "new after current to now next value".split()))
TEXT_CHARS_MAX: Final = 40
"""How far apart "from" and "to" may stand in a record's own words."""


def is_turned(clause: Clause, bindings: list[Binding]) -> bool:
    """Whether a clause goes from a record's new value to its old one."""
    ends = _ends(clause)
    if ends is None:
        return False
    records = [
        record for item in bindings if item.call.id != TOLD for record in item.records()
    ]  # fmt: skip
    turned = [found for record in records if (found := _is_turned(record, *ends)) is not None]
    return bool(turned) and all(turned)


def _ends(clause: Clause) -> tuple[Token, Token] | None:
    """What stands behind "from", and what behind the "to" that follows it."""
    first: Token | None = None
    wanted = _FROM
    waiting = False
    for token in clause.tokens:
        low = token.text.casefold()
        if token.kind is Kind.WORD and low in wanted:
            waiting = True
        elif waiting and _is_value(token):
            if first is not None:
                return first, token
            first, wanted, waiting = token, _TO, False
        elif token.kind is Kind.WORD and first is not None and low in _TO:
            waiting = True
    return None


def _is_value(token: Token) -> bool:
    return token.kind in {Kind.NUMBER, Kind.NAME, Kind.QUOTE} or (
        token.kind is Kind.WORD and token.text.isascii()
    )


def _is_turned(record: RecordView, old: Token, new: Token) -> bool | None:
    """True where the record has the two the other way round, False where so, None for neither."""
    before = [item for item in record.fields if not item.loose and item.names & _OLD]
    after = [item for item in record.fields if not item.loose and item.names & _NEW - _OLD]
    if _any(before, old) and _any(after, new):
        return False
    if _any(before, new) and _any(after, old):
        return True
    told = record.squeezed.casefold()
    if _is_written(told, _text(old), _text(new)):
        return False
    return True if _is_written(told, _text(new), _text(old)) else None


def _any(fields: list[Field], token: Token) -> bool:
    low = _text(token)
    return any(
        item.text.strip().casefold() == low
        or (token.stated is not None and item.number == token.stated.number)
        for item in fields
    )  # fmt: skip


def _text(token: Token) -> str:
    if token.stated is not None and not token.spelled:
        return str(token.stated.number)
    return token.text.casefold()


def _is_written(told: str, old: str, new: str) -> bool:
    found = re.search(
        rf"\bfrom\b[^.;]{{0,{TEXT_CHARS_MAX}}}?{re.escape(old)}\b[^.;]{{0,{TEXT_CHARS_MAX}}}?\bto\b"
        rf"[^.;]{{0,{TEXT_CHARS_MAX}}}?{re.escape(new)}",
        told,
    )
    return found is not None
