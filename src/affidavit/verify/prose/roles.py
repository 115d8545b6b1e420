"""Who does what to whom: are the two sides of a verb the sides that the record gives them?

"X is blocked by Y", "Y blocks X" and "X waits for Y" say one thing. Where the evidence tells the
sides apart (a recorded edge, or fields such as `blocked_pid` and `blocking_pid`), they have to
agree. Where it does not, nothing is said here.
"""

from __future__ import annotations

from typing import Final

from affidavit.contract.evidence import Edge
from affidavit.verify.prose.binding import Binding
from affidavit.verify.prose.clauses import Clause
from affidavit.verify.prose.lexicon import alike
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.statements.records import RecordView
from affidavit.verify.statements.words import stem, stems_of

_BE: Final = frozenset("is are was were be been being gets got".split())
_YIELDING: Final = frozenset(
    {stem(word) for word in "wait waits waiting depend depends queue hang hangs".split()}
)
"""Verbs whose subject suffers: to wait for is to be blocked by."""
_YIELDING_ZH: Final = frozenset({"等待"})
_BY_ZH: Final = frozenset({"被"})


def are_swapped(clause: Clause, bindings: list[Binding]) -> bool:
    """Whether the evidence gives the two sides of the clause's verb the other way round."""
    things = frozenset[str]().union(*(_things(binding) for binding in bindings))
    said = _sides(clause.tokens, _names(clause.topics), things)
    if said is None:
        return False
    verb, agents, patients = said
    straight = reverse = False
    for binding in bindings:
        for record in binding.call.records:
            straight = straight or _gives(record, verb, agents, patients)
            reverse = reverse or _gives(record, verb, patients, agents)
    return reverse and not straight


def _things(binding: Binding) -> frozenset[str]:
    """The ends of a call's edges: plain words may name them."""
    return binding.call.ends


def _sides(
    tokens: tuple[Token, ...], topics: frozenset[str], things: frozenset[str]
) -> tuple[frozenset[str], frozenset[str], frozenset[str]] | None:
    """The verb's stems, the names of who does it, and the names of whom it is done to."""
    for place, token in enumerate(tokens):
        low = token.text.casefold()
        if token.kind is not Kind.WORD:
            continue
        before, after = (
            _names(tokens[:place], things) or topics,
            _names(tokens[place + 1 :], things),
        )
        if low in _BY_ZH:
            return _chinese_passive(tokens, place)
        if not before or not after:
            continue
        behind = [item.text.casefold() for item in tokens[place + 1 : place + 3]]
        if low.endswith("ed") and "by" in behind:
            return alike(stem(low)), after, before
        if (stem(low) in _YIELDING and ("for" in behind or "on" in behind)) or low in _YIELDING_ZH:
            return alike(stem("block")), after, before
        if _is_active(tokens, place):
            return alike(stem(low)), before, after
    return None


def _is_active(tokens: tuple[Token, ...], place: int) -> bool:
    """A verb with its object: "50377 blocks 50912", "web calls db"."""
    low = tokens[place].text.casefold()
    before = tokens[place - 1].text.casefold() if place else ""
    return low.isascii() and low.endswith(("s", "ed", "ing")) and before not in _BE and len(low) > 3


def _chinese_passive(
    tokens: tuple[Token, ...], place: int
) -> tuple[frozenset[str], frozenset[str], frozenset[str]] | None:
    patients = _names(tokens[:place])
    agents = _names(tokens[place + 1 :])
    verbs = [token for token in tokens[place + 1 :] if token.kind is Kind.WORD and token.stems]
    if not patients or not agents or not verbs:
        return None
    return (
        frozenset().union(*(alike(word) for token in verbs for word in token.stems)),
        agents,
        patients,
    )


def _names(tokens: tuple[Token, ...], things: frozenset[str] = frozenset()) -> frozenset[str]:
    return frozenset(
        token.text.casefold() for token in tokens
        if token.kind is Kind.NAME or token.text.casefold() in things
        or (token.kind is Kind.NUMBER and token.text.isdigit())
        or (token.kind is Kind.WORD and not token.spelled and "_" in token.text)
    )  # fmt: skip


def _gives(
    record: RecordView, verb: frozenset[str], agents: frozenset[str], patients: frozenset[str]
) -> bool:
    fact = record.fact
    if isinstance(fact, Edge):
        if not stems_of(fact.relation) & verb:
            return False
        return fact.source.casefold() in agents and fact.target.casefold() in patients
    doing = _held(record, verb, "ing")
    done = _held(record, verb, "ed")
    return bool(doing & agents) and bool(done & patients)


def _held(record: RecordView, verb: frozenset[str], ending: str) -> frozenset[str]:
    """The values of the fields whose name holds the verb with that ending."""
    return frozenset(
        field.text.casefold() for field in record.fields
        if any(part.endswith(ending) and stem(part) in verb for part in _parts(field.name))
    )  # fmt: skip


def _parts(name: str) -> list[str]:
    return [part for part in name.casefold().replace("-", "_").replace(".", "_").split("_") if part]
