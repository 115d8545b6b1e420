"""still, remains, is: what is said to go on has to be the last that was seen of it.

A dated record says how a thing was at its moment. That it is so now, or stayed so, is only told by
a record after which none speaks of the thing again; a state that a source lists without a moment is
its state. "always" has to hold in every record, "repeatedly" in more than one.
"""

from __future__ import annotations

from typing import Final

from affidavit.contract.evidence import Value
from affidavit.verify.prose.binding import Binding
from affidavit.verify.prose.clauses import Clause
from affidavit.verify.prose.desk import TOLD, Desk
from affidavit.verify.prose.figures import figures_of
from affidavit.verify.prose.lexicon import Role
from affidavit.verify.prose.nouns import claims
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.statements.denial import fails
from affidavit.verify.statements.records import RecordView
from affidavit.verify.statements.words import parts_of, stem

_NOW: Final = frozenset(
    "still now currently remain remains remained stay stays stayed 仍 仍然 依然 目前 现在 当前 如今 此刻 停在 卡在".split()
)
_WAS: Final = frozenset("was were had".split())
"""With a moment these say how a thing was then: "was still waiting at 02:11"."""
_BEING: Final = frozenset("is are isn't aren't 处于 是 为 在".split())
_ALWAYS: Final = frozenset(
    "always constantly continuously permanently throughout 一直 始终 全程 持续".split()
)
_OFTEN: Final = frozenset("repeatedly 反复 多次 反复地 屡次".split())
_BETWEEN: Final = frozenset(
    "not now still already also both all currently 仍 仍然 已 都 均 目前".split()
)


def unproved(desk: Desk, clause: Clause, bindings: list[Binding]) -> str:
    """The word that says how long something holds and that no call bears out; or nothing."""
    said = [token.text.casefold() for token in clause.tokens]
    words = frozenset(said)
    read = [item for item in bindings if item.call.id != TOLD]
    if not read:
        return ""
    if words & _OFTEN and not any(_is_repeated(item) for item in read):
        return "repeatedly"
    if (
        words & _ALWAYS
        and not _denies_behind(clause)
        and not _is_measured(clause)
        and not any(_holds_always(desk, clause, item) for item in read)
    ):
        return "always"
    then = bool(clause.of(Kind.MOMENT)) and bool(words & _WAS)
    goes_on = (bool(words & _NOW) and not then) or (words & _ALWAYS and _denies_behind(clause))
    if (goes_on or _states(clause)) and not any(_is_last(desk, clause, item) for item in read):
        return "now"
    return ""


def _denies_behind(clause: Clause) -> bool:
    """一直没有: that something never happened so far, and not that it always did."""
    return any(
        token.text.casefold() in _ALWAYS
        and any(item.role is Role.NEGATION for item in clause.tokens[place + 1 : place + 2])
        for place, token in enumerate(clause.tokens)
    )


def _is_measured(clause: Clause) -> bool:
    """ "stayed above 60 throughout": a compared number is held against every reading."""
    return any(figure.operator != "=" for figure in figures_of(clause))


def _states(clause: Clause) -> bool:
    """Whether the clause tells a state in the present: "neighbor 10.0.0.1 is Down"."""
    if any(token.kind in {Kind.MOMENT, Kind.QUOTE} for token in clause.tokens):
        return False
    tokens = clause.tokens
    for place, token in enumerate(tokens):
        if token.text.casefold() not in _BEING:
            continue
        behind = [
            item for item in tokens[place + 1 : place + 4] if item.text.casefold() not in _BETWEEN
        ]
        if behind and _is_state(behind[0]):
            return True
    return False


def _is_state(token: Token) -> bool:
    if token.kind is Kind.NAME:
        return token.text.isalpha()
    return token.kind is Kind.WORD and token.role is Role.CONTENT and claims(token)


def _is_last(desk: Desk, clause: Clause, binding: Binding) -> bool:
    """Whether what the clause says stands in the last record of the things that it names."""
    best = binding.records()
    if best and _denies(clause) and not fails(max(best, key=_when)):
        return False
    if not best or any(isinstance(record.fact, Value) or record.at is None for record in best):
        return True
    last = max(record.at for record in best if record.at is not None)
    return not any(
        record.at is not None and record.at > last for record in _named(desk, clause, binding)
    )


def _denies(clause: Clause) -> bool:
    return any(token.role in {Role.NEGATION, Role.NONE} for token in clause.tokens)


def _when(record: RecordView) -> float:
    return record.at.timestamp() if record.at is not None else 0.0


def _named(desk: Desk, clause: Clause, binding: Binding) -> tuple[RecordView, ...]:
    """The records of the things that a clause names, whatever they say of them."""
    call = binding.call
    places = frozenset(range(len(call.records)))
    for token in (*clause.names, *clause.topics):
        held = desk.places(call, token)
        if held and not _is_state_of(clause, token):
            places = places & held or places
    return tuple(call.records[place] for place in sorted(places))


def _is_state_of(clause: Clause, token: Token) -> bool:
    place = clause.tokens.index(token) if token in clause.tokens else 0
    before = clause.tokens[place - 1].text.casefold() if place else ""
    return before in _BEING | _BETWEEN


def _is_repeated(binding: Binding) -> bool:
    told = [
        frozenset(part for part in parts_of(record.text) if part.isalpha())
        for record in binding.records()
        if record.shape != "report"
    ]
    counted = any(
        field.number is not None
        and field.number > 1
        and not field.loose
        and field.names & _COUNTING
        for record in binding.records()
        for field in record.fields
    )
    return counted or len(told) > len(set(told))


_COUNTING: Final = frozenset(
    stem(word) for word in "restarts count retries attempts times failures".split()
)


def _holds_always(desk: Desk, clause: Clause, binding: Binding) -> bool:
    """Whether every record of what is named holds what is said of it, and there are several."""
    named = [
        record for record in _named(desk, clause, binding)
        if record.shape == (binding.records()[0].shape if binding.records() else "")
    ]  # fmt: skip
    said = [token for token in binding.held if token.kind is Kind.WORD and claims(token)]
    if len(named) < 2 or not said:
        return False
    return all(
        record.place in desk.places(binding.call, token) for token in said for record in named
    )
