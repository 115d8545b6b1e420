"""Which proof each number, moment, state and name of a sentence is of, and whether they go together.

A name is of the proofs that it is the subject of, else of those whose records hold it. A number, a
moment or a state is of the proofs that it is the value of, else of those whose records hold it. As
a sentence puts them together ("A has 3 and B 5", "3 of A and 5 of B", "A and B have 3 and 5"), some
proof has to be of both. A name that all proofs hold tells none of them apart.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from affidavit.contract.statement import QuoteStatement
from affidavit.verify.prose.clauses import Clause
from affidavit.verify.prose.deriving import derive
from affidavit.verify.prose.desk import Desk, is_compound
from affidavit.verify.prose.figures import Figure, attached_moment, operator_at
from affidavit.verify.prose.holding import hold, numbers_of
from affidavit.verify.prose.lexicon import Role
from affidavit.verify.prose.moving import Holding, ends_fit
from affidavit.verify.prose.nouns import KINDS, is_kind
from affidavit.verify.prose.numbering import names_thing
from affidavit.verify.prose.parts import Proofs, Reading
from affidavit.verify.prose.proofs import Proof, Told, identities, part_ends
from affidavit.verify.prose.stated import (
    _is_at as is_at,
)
from affidavit.verify.prose.stated import (
    _is_meant as is_meant,
)
from affidavit.verify.prose.stated import (
    _is_spoken_of as is_spoken_of,
)
from affidavit.verify.prose.stated import (
    _stands_at as stands_at,
)
from affidavit.verify.prose.times import bounds_window
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.statements.records import CallView
from affidavit.verify.statements.units import read_duration
from affidavit.verify.statements.words import is_within, names_in, stems_of


def read(desk: Desk, clause: Clause, told: Told) -> Reading:
    """The sentence with what each of its parts is of."""
    parted = tuple(end for proof in told.proofs for end in part_ends(proof))
    reading = Reading(desk, clause, replace(told, proofs=parted), told)
    figures = {
        place: Figure(clause, place, operator_at(clause.tokens, place))
        for place, token in enumerate(clause.tokens)
        if token.kind is Kind.NUMBER
    }
    for place, token in enumerate(clause.tokens):
        named = _named(reading, place)
        if named:
            reading.names[place] = named
            continue
        of = _attributed(reading, token)
        if of:
            reading.attributes[place] = of
        valued = _valued(reading, place, figures.get(place))
        if valued:
            reading.values[place] = valued
    for place, figure in figures.items():
        if place not in reading.values and place not in reading.names:
            derived = derive(reading, figure)
            if derived:
                reading.derived[place] = derived
    return reading


def _named(reading: Reading, place: int) -> Proofs:
    """The proofs that a name is of: by their own texts, else by records, else by what was asked."""
    token = reading.tokens[place]
    if token.text.casefold() in _OWNING:
        return _pointed(reading, place)
    if token.kind is Kind.WORD and token.role is not Role.CONTENT:
        return _where(reading, lambda proof: token.text.casefold() == proof.subject.casefold())
    strong = _where(reading, lambda proof: _is_subject(proof, token))
    if strong:
        reading.strong.add(place)
        return strong
    if not names_thing(reading.tokens, place) and token.kind is not Kind.NAME:
        return frozenset()
    if _attributed(reading, token) or _where(reading, lambda proof: _is_text(proof, token)):
        return frozenset()
    held = _where(reading, lambda proof: _is_in_records(reading.desk, proof, token))
    if held:
        return held
    reading.asked.add(place)
    low = token.text.casefold()
    return _where(
        reading,
        lambda proof: any(  # what other rows are about does not say what this one is of
            low not in call.subjects and _is_about(reading.desk, call, token)
            for call in proof.calls
        ),
    )


_OWNING: Final = frozenset("it its 它 其 它的 该".split())


def _pointed(reading: Reading, place: int) -> Proofs:
    """The proofs of what "its" points back to: the thing that the sentence before was about."""
    if any(at in reading.strong for at in reading.names if at < place):
        return frozenset()
    of = _where(
        reading,
        lambda proof: any(_is_subject(proof, topic) for topic in reading.clause.topics),
    )
    if of:
        reading.strong.add(place)
    return of


def _is_about(desk: Desk, call: CallView, token: Token) -> bool:
    """Whether a call was asked of a thing, or is called by its name: `nvidia-smi` by `nvidia_smi`."""
    words = stems_of(token.text)
    return desk.is_about(call, token) or (len(words) > 1 and words <= call.source_stems)


def _where(reading: Reading, holds: object) -> Proofs:
    assert callable(holds)
    return frozenset(at for at, proof in enumerate(reading.told.proofs) if holds(proof))


def _is_subject(proof: Proof, token: Token) -> bool:
    low = token.text.casefold()
    for text in identities(proof):
        own = text.casefold()
        if low == own or low in names_in(text):
            return True
        if token.kind is Kind.NAME and (
            is_within(low, own) or own.endswith((f".{low}", f"/{low}", f"-{low}"))
        ):
            return True
    if token.kind is Kind.NUMBER or not token.text.isalpha():
        return False
    stems = stems_of(" ".join(identities(proof))) - proof.attribute
    if token.text.casefold() in KINDS:
        return False
    return bool(stems_of(token.text)) and stems_of(token.text) <= stems


def _is_text(proof: Proof, token: Token) -> bool:
    """Whether a token is a statement's whole value, or a word of its quotation."""
    low = token.text.casefold()
    value = getattr(proof.statement, "value", getattr(proof.statement, "set", None))
    ends = (getattr(proof.statement, "from_", None), getattr(proof.statement, "to", None))
    if token.kind is Kind.NAME and isinstance(proof.statement, QuoteStatement):
        return low in names_in(proof.statement.text) or _is_piece(low, proof.statement.text)
    return any(
        isinstance(item, str | bool) and (low == str(item).casefold() or low in names_in(str(item)))
        for item in (value, *ends)
    )


def _is_piece(low: str, text: str) -> bool:
    """Whether a name with signs in it stands in a text, as `gn[05-06]` does."""
    return any(not sign.isalnum() for sign in low) and low in text.casefold()


def _is_in_records(desk: Desk, proof: Proof, token: Token) -> bool:
    low = token.text.casefold()
    if token.kind is Kind.NUMBER and token.stems:
        places = {(record.call, record.place) for record in proof.records}
        return any(
            (call.id, place) in places for call in proof.calls for place in desk.places(call, token)
        )
    if is_compound(token.text):
        return any(
            (call.id, record.place) for call in proof.calls for record in proof.records
            if record.call == call.id and record.place in desk.places(call, token)
        )  # fmt: skip
    return any(
        low in record.names
        or (token.text[:-1].isupper() and low.removesuffix("s") in record.names)
        or any(is_within(low, name) for name in record.names)
        or _is_piece(low, record.squeezed)
        for record in proof.records
    )


def _attributed(reading: Reading, token: Token) -> Proofs:
    """The proofs whose attribute a name or a word is."""
    low = token.text.casefold()
    return _where(
        reading,
        lambda proof: (
            low == str(getattr(proof.statement, "attribute", "") or "").casefold()
            or low in names_in(str(getattr(proof.statement, "attribute", "") or ""))
            or (token.text.isalpha() and bool(token.stems & proof.attribute))
        ),
    )


def _valued(reading: Reading, place: int, figure: Figure | None) -> Proofs:
    """The proofs that a number, a moment or a state is of."""
    token, told = reading.tokens[place], reading.told
    if figure is not None:
        return frozenset(told.proofs.index(proof) for proof, _ in hold(figure, told))
    if token.kind is Kind.MOMENT:
        seconds = read_duration(token.text)
        lasting = _where(
            reading,
            lambda proof: seconds is not None and any(n == seconds for n, _ in numbers_of(proof)),
        )
        edge = bounds_window(reading.clause, token)
        return lasting or _where(reading, lambda proof: stands_at(proof, token, edge=edge))
    if token.kind is Kind.QUOTE:
        wanted = " ".join(token.text.casefold().split())
        return _where(
            reading,
            lambda proof: any(
                wanted in " ".join(text.casefold().split())
                for text in (*proof.texts, *(record.text for record in proof.records))
            ),
        )
    return _where(reading, lambda proof: _is_text(proof, token))


# --- Do they go together? ---------------------------------------------------------------------


def misplaced(reading: Reading) -> str:
    """A value that stands with a name, a moment or an attribute that is not its own."""
    matched = []
    for place, of in sorted(reading.values.items()):
        token = reading.tokens[place]
        fitting = of
        for owners in owners_at(reading, place):
            if not of & owners:
                return f"owner {token.text}"
            fitting = fitting & owners or of & owners
        if token.kind is not Kind.NUMBER or token.stated is None:
            if not any(_is_spoken_of(reading, at) for at in fitting):
                return f"not spoken of {token.text}"
            continue
        figure = Figure(reading.clause, place)
        found = [(p, how) for p, how in hold(figure, reading.told)
                 if reading.told.proofs.index(p) in fitting]  # fmt: skip
        if not any(_fits(reading, figure, proof, how) for proof, how in found):
            return f"meant {token.text}"
        matched.append((figure, tuple(found)))
    other = _unattributed(reading, matched) or _unshared(reading)
    if other:
        return other
    return "" if ends_fit(matched) else "ends"


Matched = list[tuple[Figure, tuple[Holding, ...]]]


def _unattributed(reading: Reading, matched: Matched) -> str:
    """A number that stands by another attribute's name than its own, or out of order.

    The name right behind a number is its own; any other is that of the next number. Of numbers that
    no name stands by, the order has to be that of the statements.
    """
    values = sorted(reading.values)
    beside: dict[int, Proofs] = {}
    for at, of in sorted(reading.attributes.items()):
        before = [place for place in values if at - NEXT <= place < at]
        behind = [place for place in values if place > at]
        claimed = before[-1:] if before and _adjoins(reading, before[-1], at) else behind[:1]
        for place in claimed:
            beside[place] = beside.get(place, frozenset()) | of
    last: dict[str, int] = {}
    for figure, found in matched:
        fitting = {reading.told.proofs.index(proof) for proof, how in found if how == 2}
        if not fitting:
            continue
        own = beside.get(figure.place)
        if own is not None and not own & fitting:
            return f"attribute {figure.token.text}"
        for subject in {reading.told.proofs[at].subject for at in fitting}:
            if own is None and max(fitting) < last.get(subject, -1):
                return f"order {figure.token.text}"
            last[subject] = min((at for at in fitting if at >= last.get(subject, -1)),
                                default=max(fitting))  # fmt: skip
    return ""


def _unshared(reading: Reading) -> str:
    """A number that is said to be of each, of a field that is not so much for each."""
    if any(len(_run(reading, sorted(reading.names), at)) > 1 for at in reading.names):
        return ""
    for place, token in enumerate(reading.tokens):
        if token.text.casefold() not in _EACH:
            continue
        before = [at for at in reading.values if at < place and reading.tokens[at].stated]
        of = reading.values[max(before)] if before else reading.all
        if not any(reading.told.proofs[at].attribute & _PER for at in of):
            return f"each {token.text}"
    return ""


_EACH: Final = frozenset("each apiece 每个 每台".split())
_PER: Final = stems_of("per each mean average avg")
NEXT: Final = 3
"""So many words behind a number its noun may stand."""


def _adjoins(reading: Reading, place: int, at: int) -> bool:
    between = reading.tokens[place + 1 : at]
    return all(
        token.kind is Kind.WORD and token.text.casefold() not in _PARTING | {"of", "for", "in"}
        for token in between
    )


def _fits(reading: Reading, figure: Figure, proof: Proof, how: int) -> bool:
    moment = attached_moment(figure)
    return (
        _is_spoken_of(reading, reading.told.proofs.index(proof))
        and _is_meant(reading, figure, proof)
        and (moment is None or is_at(proof, figure, moment, how))
    )


def _is_spoken_of(reading: Reading, at: int) -> bool:
    """Whether the sentence names what a proof is about, or something of its record alone."""
    return is_spoken_of(reading.clause, reading.told.proofs[at]) or any(
        at in of and place not in reading.asked for place, of in reading.names.items()
    )


def _is_meant(reading: Reading, figure: Figure, proof: Proof) -> bool:
    """Whether the words beside a number mean its attribute, or a field whose own number is said.

    What a share is of ("63.7% of the bytes") is no name of it.
    """
    behind = reading.tokens[figure.place + 1 : figure.place + 2]
    if figure.stated.unit == "%" and any(token.text.casefold() == "of" for token in behind):
        figure = replace(figure, clause=Clause(reading.tokens[: figure.place + 1]))
    if is_meant(figure, proof):
        return True
    said = {token.stated.number for at, token in enumerate(reading.tokens)
            if token.stated is not None and at != figure.place}  # fmt: skip
    trimmed = replace(
        proof,
        records=tuple(
            replace(record, fields=tuple(f for f in record.fields if f.number not in said))
            for record in proof.records
        ),
    )
    return is_meant(figure, trimmed)


_LISTING: Final = frozenset(", and or & 、 和 与 及 against versus vs".split())
_ARTICLES: Final = frozenset("the a an its of both each".split())


def owners_at(reading: Reading, place: int) -> tuple[Proofs, ...]:
    """The proofs of each name that a value is said of; none where no name tells proofs apart."""
    telling = [
        at
        for at, of in sorted(reading.names.items())
        if of != reading.all and (at in reading.strong or _together(reading, at, place))
    ]
    if not telling:
        return ()
    run = _run(reading, sorted(reading.values), place)
    behind = _of_name(reading, place, telling)
    if behind is not None and len(run) == 1:
        return tuple(reading.names[at] for at in _run(reading, telling, behind))
    values = sorted(reading.values)
    first = max((at for at in values if at < run[0] and at not in run), default=-1)
    last = min((at for at in values if at > run[-1]), default=len(reading.tokens))
    for listed in (
        [at for at in telling if first < at < run[0]],
        [at for at in telling if run[-1] < at < last],
    ):
        if len(run) > 1 and len(listed) == len(run):
            return (reading.names[listed[run.index(place)]],)
    before = [at for at in telling if at < place]
    nearest = before[-1] if before else telling[0]
    return tuple(reading.names[at] for at in _run(reading, telling, nearest))


def said_of(reading: Reading, place: int) -> Proofs:
    """The proofs of the name that a word is said of: the last before it; else every one."""
    before = [at for at in reading.names if at < place and reading.names[at] != reading.all]
    return reading.names[max(before)] if before else reading.all


_PARTING: Final = frozenset("and but while whereas ; , ( ) : — – ， ； （ ）".split())


def _together(reading: Reading, one: int, two: int) -> bool:
    """Whether two places stand in one part of the sentence, lists aside."""
    first, last = min(one, two), max(one, two)
    return not any(
        reading.tokens[at].text.casefold() in _PARTING
        and reading.tokens[at - 1].kind is not reading.tokens[at + 1].kind
        for at in range(first + 1, last)
        if at + 1 < len(reading.tokens)
    )


def _run(reading: Reading, places: list[int], place: int) -> list[int]:
    """The places around one that are listed with it."""
    at = places.index(place)
    first = last = at
    while first and _listed(reading, places[first - 1], places[first]):
        first -= 1
    while last + 1 < len(places) and _listed(reading, places[last], places[last + 1]):
        last += 1
    return places[first : last + 1]


def _listed(reading: Reading, one: int, two: int) -> bool:
    between = [token.text.casefold() for token in reading.tokens[one + 1 : two]]
    joined = [word for word in between if word not in _ARTICLES]
    return (
        bool(joined)
        and any(word in _LISTING for word in joined[:2])
        and all(word in _LISTING for word in joined[:1])
        and len(joined) <= 3
        and not any(
            token.kind in {Kind.NUMBER, Kind.MOMENT}
            or (token.kind is Kind.NAME and not is_kind(reading.tokens, at))
            for at, token in enumerate(reading.tokens[one + 1 : two], one + 1)
        )
    )


_OF: Final = frozenset("of for in under on at by from with per".split())
_OF_REACH: Final = 7


def _of_name(reading: Reading, place: int, telling: list[int]) -> int | None:
    """The name that a value is said to be of behind it: "15042 ms of /pay", "5 keys under sess:*"."""
    joined = False
    for at in range(place + 1, min(place + 1 + _OF_REACH, len(reading.tokens))):
        token = reading.tokens[at]
        if at in telling:
            return at if joined else None
        if token.kind is Kind.SIGN or at in reading.values:
            return None
        if token.text.casefold() in {"and", "or", "but", "while", "whereas", "than", "as"}:
            return None
        joined = joined or token.text.casefold() in _OF
    return None
