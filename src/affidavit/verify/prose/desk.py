"""What a sentence is checked against: the calls that it cites, and what has been told before.

`told` are the sentences of the analyses that a conclusion or an action rests on, as records beside
the calls': only those that were themselves proved. The question lends its names, never its claims.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache
from typing import Final

from affidavit.contract.evidence import Envelope, Line, Scope
from affidavit.contract.snapshots import VerifiedCall
from affidavit.contract.states import Emitter, EvidenceClass, EvidenceStatus
from affidavit.verify.prose.clauses import split_clauses, split_statements
from affidavit.verify.prose.glosses import ANTONYMS
from affidavit.verify.prose.markers import causal_in
from affidavit.verify.prose.nouns import claims
from affidavit.verify.prose.numbering import is_whole_at, read_tokens
from affidavit.verify.prose.tables import Table, tables_of
from affidavit.verify.prose.tokens import Kind, Token, tokenize
from affidavit.verify.statements.denial import denies
from affidavit.verify.statements.fields import Field
from affidavit.verify.statements.records import CallView, RecordView
from affidavit.verify.statements.select import kin
from affidavit.verify.statements.words import names_in, parts_of, stem, stems_of

TOLD: Final = "(report)"
"""The id of the records that are the report's own proved sentences."""

WHOLE: Final = "(whole)"
"""The name of a told number that something else is a part of: four in "three of the four"."""

_NEAR: Final = 5
"""How many tokens around a number in a told sentence speak of it."""


@dataclass(frozen=True)
class Desk:
    """The evidence of one sentence, and a memory of where each token stands in it."""

    calls: tuple[CallView, ...]
    wide: tuple[CallView, ...] = ()
    told: CallView | None = None
    told_tokens: tuple[tuple[Token, ...], ...] = ()
    asked_names: frozenset[str] = frozenset()
    asked_stems: frozenset[str] = frozenset()
    asked_text: str = ""
    polar: bool = False
    zone: timedelta = timedelta()
    _places: dict[tuple[str, str, str], frozenset[int]] = field(default_factory=dict)
    _tables: dict[str, tuple[Table, ...]] = field(default_factory=dict)

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables of the calls, kept for the sentences after."""
        for call in self.calls:
            if call.id not in self._tables:
                self._tables[call.id] = tables_of(call)
        return tuple(table for call in self.calls for table in self._tables[call.id])

    @property
    def all(self) -> tuple[CallView, ...]:
        """The calls, and the told sentences as one more."""
        return (*self.calls, self.told) if self.told else self.calls

    def places(self, call: CallView, token: Token, *, named: bool = True) -> frozenset[int]:
        """Which records of a call hold a token; none where no record does.

        Without `named` a word of state has to be a value, and not only the name of a column.
        """
        label = "".join(sorted(token.stems)) if token.kind is Kind.NUMBER else ""
        key = (call.id, f"{token.kind}{named}{label}", token.text)
        known = self._places.get(key)
        if known is None:
            known = self._places[key] = find_places(call, token, named=named)
        return known

    def is_value(self, token: Token) -> bool:
        """Whether the word is a whole value or a subject somewhere in the evidence: it names."""
        return any(token.text.casefold() in call.values for call in self.wide or self.calls)

    def is_about(self, call: CallView, token: Token) -> bool:
        """Whether what was asked of a call holds the token."""
        low = token.text.casefold()
        if low in call.about_names or low in call.framed or low in call.about_tails:
            return True
        if token.kind is Kind.NAME:
            pieces = names_in(low)
            if len(pieces) > 1 and all(piece in call.about_names for piece in pieces):
                return True
            if not token.text.replace("_", "").isalpha():
                return False
            words = stems_of(token.text)
            return bool(words) and words <= call.about_stems
        if token.stems & call.about_stems:
            return True
        return self.is_called(call, token)

    def is_called(self, call: CallView, token: Token) -> bool:
        """Whether a word begins as a name of what was asked does: a source is called so."""
        low = token.text.casefold()
        return len(low) > PREFIX_CHARS and any(
            low[:PREFIX_CHARS] == name[:PREFIX_CHARS] for name in call.source_stems
        )

    def is_asked(self, token: Token) -> bool:
        """Whether the question holds the token."""
        low = token.text.casefold()
        if low in self.asked_names or bool(token.stems & self.asked_stems):
            return True
        return not low.isascii() and low in self.asked_text

    def restates(self, token: Token) -> bool:
        """Whether a conclusion may say the word because the question told it: never of a yes or no."""
        if (
            claims(token)
            and token.text.isascii()
            and stem(token.text) not in stems_of(self.asked_text)
        ):
            return False
        return self.is_asked(token) and not self.polar


SMALL: Final = frozenset("to from by at in on off no not of out as first back".split())
"""What a word may be called as a field or a value ("receiver" as `to`), and that any text holds."""
PREFIX_CHARS: Final = 4
"""A source is called by its name's beginning: Kubernetes by `kubectl`, Argo by `argocd`."""


def find_places(call: CallView, token: Token, *, named: bool = True) -> frozenset[int]:
    """The places of the records that hold a token, by name, by owner, by stem, or letter by letter."""
    low = token.text.casefold()
    match token.kind:
        case Kind.NAME:
            return _name_places(call, low, token)
        case Kind.QUOTE:
            wanted = " ".join(token.text.split())
            return _holding(call, wanted) or _holding(call, wanted.casefold(), fold=True)
        case Kind.NUMBER:
            return _numbered(call, low, token)
        case Kind.WORD:
            found = call.by_name.get(low, frozenset())
            if low in call.values and not (token.start == 0 and low.endswith("ing")):
                return found
            happens = low.endswith(_VERB_ENDINGS)
            plain = named or not (claims(token) or happens)
            index = call.by_stem if plain else call.by_event if happens else call.by_claim
            found = found if plain else found & index.get(stem(low), frozenset())
            for word in token.stems:
                if word in SMALL and word != stem(low):
                    found = found | call.by_small.get(word, frozenset())
                    continue
                found = found | index.get(word, frozenset())
                if plain and word not in index:
                    found = found | call.by_name.get(word, frozenset())
            if plain and not found and low in call.by_owner:
                found = call.by_owner[low]
            if not found and not low.isascii():
                found = _holding(call, low, fold=True)
            return found or _denied_places(call, low)
        case _:
            return frozenset()


_VERB_ENDINGS: Final = ("ed", "ing")
"""What happened has to be said, and not only to be a column's name."""


def _numbered(call: CallView, low: str, token: Token) -> frozenset[int]:
    """The records that hold a number; of a labelled one, those that hold it under its label."""
    found = call.by_name.get(low, frozenset())
    if not found or not token.stems:
        return found
    under: set[int] = set()
    named = False
    for record in call.records:
        for field in record.fields:
            if not field.loose and _is_label(field, token.stems):
                named = True
                if low in {field.text.casefold(), str(field.number)}:
                    under.add(record.place)
    if named:
        return frozenset(under)
    beside = frozenset(place for place in found if _stands_beside(call.records[place], token))
    return beside or found


def _is_label(field: Field, stems: frozenset[str]) -> bool:
    last = stems_of(field.name.rsplit(".", 1)[-1])
    return any(kin(word) & last for word in stems)


def _stands_beside(record: RecordView, token: Token) -> bool:
    parts = [stem(part) for part in parts_of(record.text)]
    digits = [part for part in parts_of(token.text)]
    for place in range(len(parts) - len(digits)):
        if parts[place] in token.stems and parts[place + 1 : place + 1 + len(digits)] == digits:
            return True
    return False


_UN: Final = re.compile(r"(?:un|in|im|non-?|dis|not-?)([a-z]{4,})")


def _denied_places(call: CallView, low: str) -> frozenset[int]:
    """`inactive`, `unhealthy`: the records that deny what it denies."""
    negated = _UN.fullmatch(low)
    if negated is None and low not in ANTONYMS:
        return frozenset()
    base = stem(ANTONYMS[low] if negated is None else negated[1])
    return frozenset(
        place for place in call.by_stem.get(base, frozenset())
        if denies(call.records[place], frozenset({base}))
    )  # fmt: skip


def _name_places(call: CallView, low: str, token: Token) -> frozenset[int]:
    found = call.by_name.get(low, frozenset())
    pieces = names_in(low) - {low}
    telling = any(len(piece) > 2 and not piece.isdigit() for piece in pieces)
    if telling and all(piece in call.by_name for piece in pieces):
        found |= frozenset.intersection(*(call.by_name[piece] for piece in pieces))
    found = found or call.by_owner.get(low) or call.by_tail.get(low) or frozenset()
    if not found and token.text.replace("_", "").isalpha():
        words = [_singular(part) for part in parts_of(token.text)]
        if words and all(word in call.by_part for word in words):
            found = frozenset.intersection(*(call.by_part[word] for word in words))
    if not found and is_compound(token.text):
        found = frozenset(
            record.place for record in call.records if _stands_joined(record, low.split("-"))
        )
    return found


_COMPOUND: Final = re.compile(r"[a-z]{2,20}(?:-[a-z]{2,20}){1,2}")


def is_compound(text: str) -> bool:
    """Whether a name may be but plain words that a hyphen joins: per-try, start-up."""
    return _COMPOUND.fullmatch(text) is not None


def _stands_joined(record: RecordView, words: list[str]) -> bool:
    """Whether a record holds some words one right after the other: `perTryTimeout`, `per_try`."""
    if any(word not in record.text.casefold() for word in words):
        return False
    parts = [_singular(part) for part in parts_of(record.text[:COMPOUND_CHARS_MAX])]
    wanted = [_singular(word) for word in words]
    return any(parts[at : at + len(wanted)] == wanted for at in range(len(parts)))


COMPOUND_CHARS_MAX: Final = 4_000
"""Of a record; a longer one is a text, and its words stand in it as they are."""


def _singular(word: str) -> str:
    return word[:-1] if word.endswith("s") and len(word) > 3 and not word.endswith("ss") else word


def _holding(call: CallView, wanted: str, *, fold: bool = False) -> frozenset[int]:
    return frozenset(
        record.place
        for record in call.records
        if wanted in (record.squeezed.casefold() if fold else record.squeezed)
    )


TOLD_KEPT: Final = 256
"""Sentences whose tokens are kept: each sentence of an analysis is read beside all before it, of
which a draft has at most 200."""


def tell(
    sentences: tuple[str, ...], like: CallView
) -> tuple[CallView, tuple[tuple[Token, ...], ...]]:
    """Proved sentences as the records of one more call, one a clause, and their tokens.

    What two clauses of a sentence say of two things is not said of either together.
    """
    clauses = tuple(clause for text in sentences for clause in _told_clauses(text))
    records = tuple(_told_record(place, clause) for place, clause in enumerate(clauses))
    envelope = Envelope(
        source_type="report",
        source="report",
        evidence_class=EvidenceClass.OBSERVATION,
        emitter=Emitter.WORKLOAD,
        scope=Scope(tenant=like.call.envelope.scope.tenant),
        status=EvidenceStatus.EVIDENCE_FOUND,
        count=max(1, len(clauses)),
        facts=tuple(Line(text=record.text) for record in records) or (Line(text="-"),),
        observed_at=like.call.envelope.observed_at,
    )
    call = VerifiedCall(tool_call_id=TOLD, tool="report", envelope=envelope)
    return CallView(call, records), clauses


@lru_cache(maxsize=TOLD_KEPT)
def _told_clauses(text: str) -> tuple[tuple[Token, ...], ...]:
    """The tokens of each clause of a sentence, with the names that it goes on about."""
    found: list[tuple[Token, ...]] = []
    topics: tuple[Token, ...] = ()
    for statement in split_statements(read_tokens(text)):
        if causal_in(text, statement):
            found.append(statement)
            continue
        for clause in split_clauses(statement):
            about = clause.topics or (topics if not clause.subjects else ())
            topics = clause.subjects or topics
            found.append((*about, *clause.tokens))
    return tuple(found)


def _told_record(place: int, tokens: tuple[Token, ...]) -> RecordView:
    text = " ".join(f'"{t.text}"' if t.kind is Kind.QUOTE else t.text for t in tokens)
    fields = tuple(
        Field(
            name=WHOLE if is_whole_at(tokens, index) else "",
            names=_near(tokens, index),
            text=token.text,
            number=token.stated.number,
            unit=token.stated.unit,
            loose=True,
            tight=_near(tokens[max(0, index - 1) : index + 4], min(index, 1)),
        )
        for index, token in enumerate(tokens)
        if token.stated is not None
    )
    return RecordView(
        call=TOLD, place=place, facts=(place,), fact=Line(text=text), subject="", at=None,
        emitter=Emitter.WORKLOAD, fields=fields, text=text, own=text, shape="told", stated=text,
    )  # fmt: skip


def _near(tokens: tuple[Token, ...], place: int) -> frozenset[str]:
    near = tokens[max(0, place - _NEAR) : place + _NEAR + 1]
    return frozenset(
        word for token in near if token.kind in {Kind.WORD, Kind.NAME}
        for word in (token.stems | stems_of(token.text))
    )  # fmt: skip


_POLAR: Final = re.compile(
    r"^\W*(?:is|are|was|were|does|do|did|has|have|had|can|could|will|would|should)\b"
    r"|(?<=[.!?] )(?:Is|Are|Was|Were|Does|Do|Did|Has|Have|Had|Can)\b|吗|是否|有没有|是不是",
    re.IGNORECASE,
)


def ask(question: str, calls: tuple[CallView, ...]) -> Desk:
    """A desk for a question: its names, its stems, and whether it asks for a yes or a no."""
    stems: frozenset[str] = frozenset()
    for token in tokenize(question):
        stems = stems | token.stems
    return Desk(
        calls=calls,
        asked_names=names_in(question),
        asked_stems=stems | stems_of(question),
        asked_text=question.casefold(),
        polar=_POLAR.search(question) is not None,
    )


Index = Mapping[str, frozenset[int]]
