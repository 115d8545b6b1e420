"""Changes as a tool recorded them, named exactly: no words to match, only names and numbers.

Where a statement's subject and attribute are letter for letter those of a recorded Change (its
statistic before the attribute, where it has one), that fact alone decides. Everything else is left
to the reading of names in `select`.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from affidavit.contract.evidence import Change, Quantity
from affidavit.contract.statement import ChangeStatement, MembershipStatement
from affidavit.contract.violations import SupportCode
from affidavit.verify.statements.outcome import FACTS_SHOWN_MAX, Outcome, Proved, Unproved
from affidavit.verify.statements.records import CallView
from affidavit.verify.statements.units import Stated, agrees


def prove_recorded(statement: ChangeStatement, call: CallView) -> Outcome | None:
    """Whether a recorded change of that very name shows it; None where none has that name."""
    named = [
        (place, fact)
        for place, fact in enumerate(call.call.envelope.facts)
        if isinstance(fact, Change)
        and fact.subject == statement.subject
        and statement.attribute in names_of(fact)
    ]
    if not named or statement.at is not None or statement.window is not None:
        return None
    proofs = [place for place, fact in named if _shows(statement, fact)]
    if proofs:
        return Proved(((call.id, (proofs[0],)),))
    turned = all(statement.direction not in (None, fact.direction) for _, fact in named)
    return Unproved(SupportCode.DIRECTION_REFUTED if turned else SupportCode.NUMBER_REFUTED)


ABNORMAL: Final = frozenset({"abnormal", "anomalous"})
"""The set that a scan puts a signal in by its own recorded rule (`Change.anomalous`)."""


def prove_abnormal(statement: MembershipStatement, call: CallView) -> Outcome | None:
    """Whether a scan called the subject (or that signal of it) abnormal; None for other sets.

    Proves the scan's own word, and no cause.
    """
    if statement.set.casefold() not in ABNORMAL or statement.where:
        return None
    named = [
        (place, fact)
        for place, fact in enumerate(call.call.envelope.facts)
        if isinstance(fact, Change)
        and fact.subject == statement.subject
        and (statement.attribute is None or statement.attribute in names_of(fact))
    ]
    if not named:
        return None
    places = tuple(place for place, fact in named if fact.anomalous)
    if not places:
        return Unproved(SupportCode.EVIDENCE_CONTRADICTS)
    return Proved(((call.id, places[:FACTS_SHOWN_MAX]),))


def names_of(fact: Change) -> frozenset[str]:
    """What an author may call the signal: with its statistic, or without one where the tool's
    statistic only says how it was sampled."""
    if fact.statistic is None:
        return frozenset({fact.attribute})
    named = f"{fact.statistic} {fact.attribute}"
    sampled = {"gauge", "value"}
    return frozenset({named, fact.attribute} if fact.statistic in sampled else {named})


def _shows(statement: ChangeStatement, fact: Change) -> bool:
    if statement.direction is not None and statement.direction != fact.direction:
        return False
    if statement.from_ is None and statement.to is None and statement.direction is None:
        return False
    unit = statement.unit or ""
    pairs = ((statement.from_, fact.before), (statement.to, fact.after))
    return all(number is None or _is(number, unit, told) for number, told in pairs)


def _is(number: Decimal | bool | str, unit: str, told: Quantity) -> bool:
    return isinstance(number, Decimal) and agrees(Stated(number, unit), told.number, told.unit)
