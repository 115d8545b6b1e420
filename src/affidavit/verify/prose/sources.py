"""Whose words a clause rests on: what a caller wrote proves nothing but itself (C13, N16).

A clause that speaks in its own voice may not rest on request text alone; it may quote it. That a
thing is well is said by a platform about itself, and by nobody else: an application's line, or a
line that somebody sent through it, is no state.
"""

from __future__ import annotations

from typing import Final

from affidavit.contract.states import Emitter
from affidavit.contract.violations import SupportCode
from affidavit.verify.prose.binding import Binding
from affidavit.verify.prose.clauses import Clause, is_negative
from affidavit.verify.prose.desk import TOLD
from affidavit.verify.prose.sheet import Sheet
from affidavit.verify.prose.tokens import Kind

WELL: Final = frozenset(
    "healthy well fine ok okay normal normally recovered unaffected intact sound good "
    "健康 正常 恢复 良好 完好".split()
)
"""Words that call a thing well, of any system."""


def check_sources(sheet: Sheet, clause: Clause, chosen: list[Binding]) -> None:
    """Refuse a clause in its own voice that rests on words which cannot carry it."""
    if any(token.kind is Kind.QUOTE for token in clause.tokens):
        return
    records = [
        record for binding in chosen if binding.call.id != TOLD for record in binding.records()
    ]
    if not records:
        return
    emitters = {record.emitter for record in records}
    if emitters == {Emitter.REQUEST}:
        sheet.refuse(SupportCode.REQUEST_TEXT_CITED, "(request text)")
    elif _calls_well(clause) and Emitter.PLATFORM not in emitters:
        sheet.refuse(SupportCode.STATEMENT_UNPROVED, "(called well by a workload)")


def _calls_well(clause: Clause) -> bool:
    words = {token.text.casefold() for token in clause.tokens}
    return bool(words & WELL) and not is_negative(clause)
