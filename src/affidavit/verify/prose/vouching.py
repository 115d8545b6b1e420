"""A sentence whose typed statements are all proved: does it say those facts, and add nothing?

The whole sentence is read at once. Each number, moment, name, quotation and state has to be one of
the statements', or stand in a record that proves one; each word that claims something too. What is
said of a thing has to be stated of that thing (`pairing`), and each word that denies, quantifies,
compares, orders or explains needs a statement that says so (`licences`). Other words have to be
held by what is cited. Only able to let through what the statements carry; `conflicting` refuses.
"""

from __future__ import annotations

import re
from typing import Final

from affidavit.contract.statement import PathStatement
from affidavit.verify.prose import nouns
from affidavit.verify.prose.blaming import blames
from affidavit.verify.prose.clauses import Clause
from affidavit.verify.prose.codes import meanings
from affidavit.verify.prose.deriving import SAYING
from affidavit.verify.prose.desk import Desk
from affidavit.verify.prose.lexicon import Role
from affidavit.verify.prose.licences import EXTREME, unlicensed
from affidavit.verify.prose.markers import causal_in, is_open, sides
from affidavit.verify.prose.numbering import names_thing
from affidavit.verify.prose.pairing import misplaced, read
from affidavit.verify.prose.parts import Reading
from affidavit.verify.prose.proofs import Told
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.statements.denial import denies
from affidavit.verify.statements.words import stem, stems_of

_ASKING: Final = frozenset("why who what whether how 为何 为什么 是否".split())


def doubt(
    desk: Desk, tokens: tuple[Token, ...], told: Told, topics: tuple[Token, ...], text: str
) -> str:
    """What keeps a sentence from being vouched for by its statements; empty where nothing does."""
    if not told.proofs:
        return "no proof"
    if is_open(text, tokens) or tokens[0].text.casefold() in _ASKING:
        return "open"
    if any(isinstance(proof.statement, PathStatement) for proof in told.proofs):
        return "path"
    blamed = _unblamed(tokens, told, text)
    if blamed:
        return blamed
    reading = read(desk, Clause(tokens, topics), told)
    for place in range(len(tokens)):
        if not _stands(reading, place):
            return f"unsaid {tokens[place].text}"
    return unlicensed(reading) or misplaced(reading)


def strays(
    desk: Desk,
    tokens: tuple[Token, ...],
    told: Told,
    topics: tuple[Token, ...],
    known: tuple[str, ...],
) -> bool:
    """Whether a sentence that earlier sentences carry still turns what its own statements say.

    A word that denies, quantifies or orders may be one that an earlier sentence has; a comparison
    needs a statement, and each value its own name.
    """
    if not told.proofs:
        return False
    reading = read(desk, Clause(tokens, topics), told)
    words = frozenset(word.strip(".,;:()") for text in known for word in text.casefold().split())
    return bool(unlicensed(reading, words) or misplaced(reading))


def _unblamed(tokens: tuple[Token, ...], told: Told, text: str) -> str:
    """A causal word that no proved cause carries."""
    causal = causal_in(text, tokens)
    if causal is None or _GOING_ON.match(text[causal.start :].casefold()):
        return ""
    effect, cause = sides(tokens, causal)
    return "" if blames(told, effect, cause) else f"cause {text[causal.start : causal.end]}"


_GOING_ON: Final = re.compile(r"(?:keeps|kept) [a-z]{2,20}ing\b")
"""What goes on, and is no cause: "keeps restarting"."""


def _stands(reading: Reading, place: int) -> bool:
    """Whether a token is one of the statements', of their records, or claims nothing."""
    token = reading.tokens[place]
    if any(
        place in of for of in (reading.values, reading.names, reading.attributes, reading.derived)
    ):
        return True
    if names_thing(reading.tokens, place) or token.kind is Kind.NAME:
        return nouns.is_kind(reading.tokens, place) and _is_plain_held(reading, token)
    match token.kind:
        case Kind.NUMBER:
            return False
        case Kind.QUOTE:
            return " ".join(token.text.casefold().split()) in reading.told.text
        case Kind.MOMENT:
            return False
        case Kind.WORD if token.role is Role.CONTENT:
            return _is_held(reading, place)
        case _:
            return True


def _is_held(reading: Reading, place: int) -> bool:
    token = reading.tokens[place]
    low = token.text.casefold()
    if low in EXTREME or _says_how(reading, place) or _results_in(reading, place):
        return True
    if low in _MOVED_UP | _MOVED_DOWN:
        return _moves(reading, place, up=low in _MOVED_UP)
    if low == "up" and place and reading.tokens[place - 1].stems & _COMING:
        return True
    if happens(token):
        return _is_labelled(reading, place) or claimed_by(reading, place) != frozenset()
    return (
        token.text.casefold() in _EVIDENCE
        or nouns.is_label(reading.tokens, place)
        or _is_plain_held(reading, token)
    )


_COMING: Final = stems_of("come start get")
_SAID_REACH: Final = 4


def _says_how(reading: Reading, place: int) -> bool:
    """Whether a word only says how a number beside it follows from others: "on average"."""
    return reading.tokens[place].text.casefold() in SAYING and any(
        abs(at - place) <= _SAID_REACH for at in reading.derived
    )


_MOVED_UP: Final = frozenset("raised lifted bumped".split())
_MOVED_DOWN: Final = frozenset("lowered cut reduced".split())


def _moves(reading: Reading, place: int, *, up: bool) -> bool:
    """Whether "raised" stands before "from 10 to 50" of a stated change; its ends are checked."""
    said = [
        (at, token.stated.number) for at, token in enumerate(reading.tokens)
        if at > place and token.stated is not None and at in reading.values
        and reading.tokens[at - 1].text.casefold() in {"from", "to"}
    ]  # fmt: skip
    return len(said) == 2 and (said[0][1] < said[1][1]) is up


_RESULTING: Final = frozenset("ended finished returned answered responded came exited".split())
_RESULTS: Final = stems_of("status code exit rcode result reason state outcome http response")
_RESULT_REACH: Final = 4


def _results_in(reading: Reading, place: int) -> bool:
    """Whether a verb only says what came of it, and that is stated: "ended with 504"."""
    if reading.tokens[place].text.casefold() not in _RESULTING:
        return False
    return any(
        reading.told.proofs[at].attribute & _RESULTS
        for behind in range(place + 1, place + 1 + _RESULT_REACH)
        for at in reading.values.get(behind, frozenset())
    )


def _is_labelled(reading: Reading, place: int) -> bool:
    """Whether a record gives a word as the label of the name beside it: `pool: xl` of "xl pool"."""
    low = reading.tokens[place].text.casefold()
    beside = {
        reading.tokens[at].text.casefold()
        for at in (place - 1, place + 1)
        if 0 <= at < len(reading.tokens) and at in reading.names
    }
    return any(
        f"{low} {name}" in record.squeezed.casefold()
        for name in beside
        for proof in reading.told.proofs
        for record in proof.records
    )


_EVIDENCE: Final = frozenset(
    "scan scans listing listings table tables output outputs result results sample samples datapoint "
    "datapoints point points reading readings row rows line lines entry entries column columns field "
    "value values page report record records document snapshot dump excerpt message messages answer "
    "answers use uses unit units degree degrees".split()
)
"""What evidence consists of, and is measured in; the words that join a measure."""


def happens(token: Token) -> bool:
    """Whether a word says that something is so or was done: then a record has to say it."""
    low = token.text.casefold()
    return nouns.claims(token) or token.proper or low.endswith("ed")


def claimed_by(reading: Reading, place: int) -> frozenset[int]:
    """The proofs whose statement or records say a word, undenied."""
    token = reading.tokens[place]
    found: set[int] = set()
    for at, proof in enumerate(reading.told.proofs):
        stated = stems_of(" ".join(proof.texts))
        said = any(
            (token.stems & record.claimed and not denies(record, token.stems & record.claimed))
            for record in proof.records
        )
        if said or token.stems & stated or token.stems & meanings(proof):
            found.add(at)
    return frozenset(found)


def _is_plain_held(reading: Reading, token: Token) -> bool:
    desk = reading.desk
    return (
        bool(token.stems & reading.told.stems)
        or any(token.stems & meanings(proof) for proof in reading.told.proofs)
        or stem(token.text) in stems_of(desk.asked_text)
        or any(desk.is_about(call, token) for call in desk.wide)
    )
