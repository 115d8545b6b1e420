"""What a clause says of its words: denied or not, of all or of one, up or down, more or less."""

from __future__ import annotations

from typing import Final

from affidavit.contract.states import EvidenceClass, EvidenceStatus
from affidavit.contract.violations import SupportCode
from affidavit.verify.prose import (
    attribution,
    directions,
    each,
    extremes,
    lacking,
    lasting,
    measuring,
    members,
    opposites,
    polarity,
    quantifiers,
    replacing,
    roles,
    vague,
)
from affidavit.verify.prose.binding import Binding
from affidavit.verify.prose.clauses import Clause, speaks_of_others
from affidavit.verify.prose.measures import window_of
from affidavit.verify.prose.sheet import Sheet
from affidavit.verify.statements.records import CallView

_GUIDANCE_WORDS: Final = frozenset(
    "runbook guid catalog catalogue document docum wiki handbook knowledg 手册 文档".split()
)


def check_logic(
    sheet: Sheet, clause: Clause, chosen: list[Binding], *, effect: bool = False
) -> None:
    """Refuse what a record denies, what not every record holds, what moves the other way."""
    if not chosen:
        return
    top = [item for item in chosen if len(item.held) == len(chosen[0].held)]
    if polarity.denied_words(sheet.desk, clause, chosen):
        sheet.refuse(SupportCode.NEGATION_REFUTED, "(denied)")
    if polarity.succeeded_elsewhere(sheet.desk, clause, chosen):
        sheet.refuse(SupportCode.NEGATION_REFUTED, "(no success)")
    for place in polarity.negators_of(clause):
        shown = polarity.denial_shown(clause, place, top)
        if shown is None and not (effect and not polarity.is_denial_asked(sheet.desk, clause)):
            gone = (
                not lacking.has_it(clause, place, top)
                and not polarity.denies_failure(clause, place)
                and polarity.fails_at_all(top)
            )
            shown = gone or any(
                quantifiers.holds_for_none(clause, item, sheet.desk, sheet.counted) for item in top
            )
        shown = shown or lacking.is_lacking(sheet.desk, clause, place, top)
        shown = shown and all(each.is_none(sheet.desk, clause, place, item) for item in top)
        if not shown or lacking.has_one(sheet.desk, clause, place, top):
            wide = clause.tokens[place].text.casefold() in _NOTHING
            say = sheet.refute if wide else sheet.refuse
            say(SupportCode.NEGATION_REFUTED, "(not denied)")
    if effect and polarity.turns_question(sheet.desk, clause):
        sheet.refuse(SupportCode.NEGATION_REFUTED, "(asked as denied)")
    if speaks_of_others(clause) and sheet.before is None and not clause.topics and not clause.names:
        sheet.refuse(SupportCode.SUBJECT_REFUTED, "(others than whom)")
    if roles.are_swapped(clause, chosen):
        sheet.refuse(SupportCode.DIRECTION_REFUTED, "(roles)")
    other = attribution.misattributed(clause, top)
    if other:
        sheet.refuse(SupportCode.SUBJECT_REFUTED, f"({other})")
    turned = opposites.turned(clause, top)
    if turned:
        sheet.refuse(SupportCode.DIRECTION_REFUTED, f"({turned})")
    if _stands_still(clause):
        sheet.refute(SupportCode.DIRECTION_REFUTED, "(from and to are one)")
    if replacing.is_turned(clause, top):
        sheet.refuse(SupportCode.DIRECTION_REFUTED, "(from, to)")
    side = measuring.unsaid(clause, top)
    if side:
        sheet.refuse(SupportCode.WORDS_UNBOUND, f"({side})")
    _members(sheet, clause, chosen, top)
    lasts = lasting.unproved(sheet.desk, clause, top)
    if lasts:
        sheet.refuse(SupportCode.WINDOW_REFUTED, f"({lasts})")
    _quantity_words(sheet, clause, top)
    _directions(sheet, clause, chosen)
    _classes(sheet, clause, chosen)


def _members(sheet: Sheet, clause: Clause, chosen: list[Binding], top: list[Binding]) -> None:
    """Refuse what the other members of a list speak against: of how many, the most, several."""
    other = members.refuted(sheet.desk, clause, top)
    if other:
        sheet.refuse(SupportCode.QUANTIFIER_REFUTED, f"({other} of how many)")
    extreme = extremes.unproved(sheet.desk, clause, chosen)
    if extreme:
        sheet.refuse(SupportCode.QUANTIFIER_REFUTED, f"({extreme})")
    much = vague.unproved(sheet.desk, clause, chosen)
    if much:
        sheet.refuse(SupportCode.QUANTIFIER_REFUTED, f"({much})")


def _directions(sheet: Sheet, clause: Clause, chosen: list[Binding]) -> None:
    direction = directions.direction_in(clause)
    if direction is None:
        return
    said = [
        directions.moves_so(clause, item, direction, window_of(clause, item)) for item in chosen
    ]
    if _is_denied(clause):
        if True in said or False not in said:
            sheet.refuse(SupportCode.DIRECTION_REFUTED, f"(not {direction})")
    elif True not in said:
        code = SupportCode.DIRECTION_REFUTED if False in said else SupportCode.WORDS_UNBOUND
        sheet.refuse(code, direction)


_NOTHING: Final = frozenset("nothing nobody nowhere never 从未 从来没有 一切".split())
"""What denies everything is no reading that a judge might finish: no result shows it (G9)."""
_MOVING: Final = frozenset(
    "went go goes rose rise fell fall dropped climbed grew moved changed increased decreased jumped".split()
)


def _stands_still(clause: Clause) -> bool:
    """Whether a clause says that something moved, from a number to the same."""
    tokens = clause.tokens
    texts = [token.text.casefold() for token in tokens]
    if not _MOVING & set(texts) or "from" not in texts or "to" not in texts:
        return False
    ends = [
        token.stated.number
        for place, token in enumerate(tokens)
        if place and token.stated is not None and texts[place - 1] in {"from", "to"}
    ]
    return len(ends) == 2 and ends[0] == ends[1]


def _is_denied(clause: Clause) -> bool:
    """Whether a "not" stands before the word of direction: "did not fall"."""
    word = directions.direction_word(clause)
    at = clause.tokens.index(word) if word is not None else 0
    return any(at - polarity.REACH <= place < at for place in polarity.negators_of(clause))


def _quantity_words(sheet: Sheet, clause: Clause, chosen: list[Binding]) -> None:
    place = quantifiers.universal_of(clause)
    if place is not None and not any(
        quantifiers.holds_for_all(sheet.desk, clause, item, place, sheet.counted)
        and each.holds(clause, item, place)
        for item in chosen
    ):
        sheet.refuse(SupportCode.QUANTIFIER_REFUTED, "all")
    if quantifiers.only_of(clause) is not None and not any(
        quantifiers.holds_for_only(sheet.desk, clause, item) for item in chosen
    ):
        sheet.refuse(SupportCode.QUANTIFIER_REFUTED, "only")


def _classes(sheet: Sheet, clause: Clause, chosen: list[Binding]) -> None:
    """Guidance may only be quoted as what it is (C13, N17)."""
    if any(_observes(item.call) for item in chosen):
        return
    words = {word for token in clause.tokens for word in token.stems}
    kinds = {item.call.call.envelope.evidence_class for item in chosen}
    if EvidenceClass.GUIDANCE in kinds and not words & _GUIDANCE_WORDS:
        sheet.refuse(SupportCode.GUIDANCE_CITED)


def _observes(call: CallView) -> bool:
    envelope = call.call.envelope
    return (
        envelope.evidence_class is not EvidenceClass.GUIDANCE
        and envelope.status is EvidenceStatus.EVIDENCE_FOUND
    )
