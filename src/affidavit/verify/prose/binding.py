"""Where a clause stands in a call: the records that hold its names, and how well they hold its words.

The names of a clause have to stand together in a record, or, when they are listed, each with the
rest of the clause. Among the records that are left, those that hold most of the clause's words are
the ones it speaks of: a true number beside another subject is found in a worse record, and refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from affidavit.contract.evidence import Line
from affidavit.verify.prose.clauses import Clause, is_negative, speaks_of_others
from affidavit.verify.prose.desk import Desk
from affidavit.verify.prose.lexicon import Role
from affidavit.verify.prose.nouns import claims, is_kind
from affidavit.verify.prose.numbering import names_thing
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.statements.records import CallView, RecordView

_LISTING: Final = frozenset("and or , 、 和 与 及 以及 或 as well".split())
WORDS_SHARE_MIN: Final = 0.6
"""Without a name, so much of a clause has to stand in one record."""


@dataclass(frozen=True, slots=True)
class Binding:
    """A clause in one call.

    `allowed` are the sets of records that it may speak of (several where names are listed), `best`
    the records among them that hold most of its words, `held` and `unheld` its content tokens that
    the call does and does not hold there.
    """

    call: CallView
    allowed: tuple[frozenset[int], ...]
    best: tuple[frozenset[int], ...]
    held: tuple[Token, ...]
    unheld: tuple[Token, ...]
    named: bool

    def records(self) -> tuple[RecordView, ...]:
        """The records that the clause speaks of."""
        places = sorted(frozenset().union(*self.best))
        return tuple(self.call.records[place] for place in places)

    def wider(self) -> tuple[RecordView, ...]:
        """Every record that holds the clause's names."""
        places = sorted(frozenset().union(*self.allowed))
        return tuple(self.call.records[place] for place in places)


def content_of(clause: Clause) -> tuple[Token, ...]:
    """The tokens of a clause that have to be found: names, quotations and content words."""
    return tuple(
        token for place, token in enumerate(clause.tokens)
        if token.kind is Kind.QUOTE or names_thing(clause.tokens, place)
        or (token.kind is Kind.WORD and token.role is Role.CONTENT)
    )  # fmt: skip


def bind(desk: Desk, clause: Clause, call: CallView) -> tuple[Binding, ...]:
    """The clause in one call: among its items, and among what stands around them.

    None at all where its names stand in no record together.
    """
    everything = frozenset(range(len(call.records)))
    items = everything - call.frames or everything
    sets = (items, call.frames) if call.frames and items != everything else (items,)
    found = (_bind(desk, clause, call, places) for places in sets)
    return tuple(binding for binding in found if binding is not None)


def _bind(desk: Desk, clause: Clause, call: CallView, everything: frozenset[int]) -> Binding | None:
    groups = _groups(clause, call, desk, everything)
    allowed = _allowed(groups, everything)
    if allowed is None:
        return None
    if (
        clause.bound
        and clause.topics
        and not any(
            desk.places(call, token) or desk.is_about(call, token) for token in clause.topics
        )
    ):
        return None
    topics = frozenset[int]() if speaks_of_others(clause) else _topics(desk, clause, call)
    narrowed = tuple(found & topics for found in allowed) if topics else allowed
    if all(narrowed):
        allowed = narrowed
    elif clause.bound:
        return None
    named = any(
        desk.places(call, token) or desk.is_about(call, token)
        for token in (*clause.names, *clause.topics)
    )
    states = is_negative(clause) or clause.measures
    held, unheld = _words(desk, clause, call, allowed)
    best = tuple(
        _at_moment(clause, call, _best(desk, held, call, found, named=states)) for found in allowed
    )
    return Binding(call, allowed, best, held, unheld, named)


def _topics(desk: Desk, clause: Clause, call: CallView) -> frozenset[int]:
    found: frozenset[int] | None = None
    for token in clause.topics:
        places = desk.places(call, token) | call.by_owner.get(token.text.casefold(), frozenset())
        if places and not places <= call.frames:
            both = places if found is None else found & places
            found = both or found
    return found or frozenset()


def _groups(
    clause: Clause, call: CallView, desk: Desk, everything: frozenset[int]
) -> list[list[frozenset[int]]]:
    """The clause's names that the call's records hold, listed ones together."""
    groups: list[list[frozenset[int]]] = []
    listing = False
    negative = is_negative(clause) or clause.measures
    kinds = frozenset(place for place in range(len(clause.tokens)) if is_kind(clause.tokens, place))
    for place, token in enumerate(clause.tokens):
        named = names_thing(clause.tokens, place) or (
            token.kind is Kind.WORD and token.role is Role.CONTENT and desk.is_value(token)
        )
        if place in kinds:
            continue
        if named:
            places = desk.places(call, token, named=negative)
            if places and is_output_of(call, token):
                places = places | _unowned(call)
            if places and not places & everything and places <= call.frames:
                continue
            if places and listing and groups:
                groups[-1].append(places)
            elif places:
                groups.append([places])
            listing = bool(places)
        elif token.text.casefold() not in _LISTING and token.text not in {",", "(", ")"}:
            listing = False
    return groups


def is_output_of(call: CallView, token: Token) -> bool:
    """Whether what was asked for is the output of the named thing: its logs, its events."""
    service = (call.call.envelope.scope.service or "").casefold()
    low = token.text.casefold()
    return token.kind is Kind.NAME and (low == service or service.endswith(f"-{low}"))


def _unowned(call: CallView) -> frozenset[int]:
    """The lines that name no subject of their own: they are of what the call is about."""
    return frozenset(
        record.place for record in call.records
        if isinstance(record.fact, Line) and not record.subject
    )  # fmt: skip


def _allowed(
    groups: list[list[frozenset[int]]], everything: frozenset[int]
) -> tuple[frozenset[int], ...] | None:
    base = everything
    spread: list[frozenset[int]] | None = None
    for group in groups:
        joint = frozenset.intersection(*group)
        if joint & base:
            base = base & joint
        elif len(group) > 1 and spread is None:
            spread = group
        else:
            return None
    if spread is None:
        return (base,)
    sets = tuple(places & base for places in spread)
    return sets if all(sets) else None


def _words(
    desk: Desk, clause: Clause, call: CallView, allowed: tuple[frozenset[int], ...]
) -> tuple[tuple[Token, ...], tuple[Token, ...]]:
    held: list[Token] = []
    unheld: list[Token] = []
    named = is_negative(clause) or clause.measures
    listed = listed_words(desk, clause) if len(allowed) > 1 else frozenset()
    for token in content_of(clause):
        places = desk.places(call, token, named=named)
        if (
            (places and all(places & found for found in allowed))
            or (
                places
                and (token.kind is not Kind.WORD or token in listed)
                and any(places & found for found in allowed)
            )
            or (places and places <= call.frames)
            or (not places and desk.is_about(call, token) and not _happens(token))
        ):
            held.append(token)
        else:
            unheld.append(token)
    return tuple(held), tuple(unheld)


def listed_words(desk: Desk, clause: Clause) -> frozenset[Token]:
    """The words of a list of things that are called by words ("borealis and calanthe")."""
    found: set[Token] = set()
    for place, token in enumerate(clause.tokens):
        if token.text.casefold() not in _LISTING | {","} or not place:
            continue
        sides = clause.tokens[place - 1], *clause.tokens[place + 1 : place + 2]
        if len(sides) > 1 and all(
            item.kind is Kind.NAME or (item.kind is Kind.WORD and desk.is_value(item))
            for item in sides
        ):
            found.update(sides)
    return frozenset(found)


def _happens(token: Token) -> bool:
    """Whether a word tells an event: what was asked of a tool tells none."""
    return token.kind is Kind.WORD and token.text.casefold().endswith("ed") and not claims(token)


def _at_moment(clause: Clause, call: CallView, found: frozenset[int]) -> frozenset[int]:
    """Of the best records those that stand at the clause's moments, where some do."""
    moments = [token.moment for token in clause.of(Kind.MOMENT) if token.moment]
    if not moments:
        return found
    at = frozenset(
        place for place in found
        if any(call.records[place].stands_at(moment) for moment in moments)
    )  # fmt: skip
    return at or found


def _best(
    desk: Desk,
    held: tuple[Token, ...],
    call: CallView,
    found: frozenset[int],
    *,
    named: bool,
) -> frozenset[int]:
    """The records that hold most of the words."""
    scores = dict.fromkeys(found, 0)
    for token in held:
        places = desk.places(call, token, named=named)
        if token.kind is Kind.WORD and not claims(token) and desk.is_about(call, token):
            continue
        for place in places & found:
            scores[place] += 1
    most = max(scores.values(), default=0)
    return frozenset(place for place, score in scores.items() if score == most)


def together(desk: Desk, binding: Binding) -> bool:
    """Whether enough of the clause's words stand in one record, where no name ties them."""
    narrow = [
        token for token in binding.held
        if token.kind is Kind.WORD
        and 0 < len(desk.places(binding.call, token)) < len(binding.call.records)
    ]  # fmt: skip
    if binding.named or len(narrow) < 2:
        return True
    for found in binding.best:
        for place in found:
            here = sum(1 for token in narrow if place in desk.places(binding.call, token))
            if here >= len(narrow) * WORDS_SHARE_MIN:
                return True
            break
    return False
