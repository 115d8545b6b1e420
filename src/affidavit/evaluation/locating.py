"""Which one place does a published answer name? Read off its sealed file, by rule (pure).

The rule. Only the conclusion is read, and of it only the typed statements that the harness proved.

1. A file that does not verify names nothing.
2. A sentence that denies or calls well ("is not", "without", "healthy") names nothing, quoted text
   aside.
3. Where causes are proved, the causes that are nobody's effect are named.
4. Else every subject of a proved value, count, change, trend, onset, membership or quotation is
   named, as the proving *fact* spells it; a fact that the tool itself calls normal names nothing.
5. Relations (edge, path, order, comparison) and absences name nothing: they have two ends, or none.
6. Exactly one name is an answer. Several are a hedge and count as no answer.

So a list of all services, a name in a recommendation, a limitation or the question, a right word
inside a denial, and a statement without a subject earn nothing. Prose without typed statements
locates nothing either: code cannot tell a sentence's subject from whatever else it mentions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from affidavit.affidavit.answer_checks import envelope_of
from affidavit.affidavit.document import Document
from affidavit.affidavit.recheck import Recheck
from affidavit.contract.evidence import Change, Edge, Fact
from affidavit.contract.report import PublishedSentence
from affidavit.contract.statement import CauseStatement, Statement, read_statement
from affidavit.release.reading import read_json
from affidavit.verify.prose.lexicon import NEGATION
from affidavit.verify.statements.words import stem

LOCATING: Final = frozenset("value count change trend onset membership quote".split())
"""Kinds of statement that have one subject."""

WELL: Final = frozenset(
    stem(word)
    for word in "healthy normal fine unaffected innocent unrelated ruled excluded".split()
)
"""Words by which a sentence clears what it names, besides plain negations."""

QUOTED: Final = re.compile(r"\"[^\"]*\"|“[^”]*”")
WORD: Final = re.compile(r"[A-Za-z'’]+")

NOT_INTACT: Final = "its file does not verify"
UNPUBLISHED: Final = "nothing was published"
NAMELESS: Final = "its conclusion names no single place"
HEDGED: Final = "its conclusion names several places"


@dataclass(frozen=True, slots=True)
class Located:
    """The one place that was named, or None and why not. `named` holds all names, sorted."""

    entity: str | None
    why: str = ""
    named: tuple[str, ...] = ()


def locate(checked: Recheck) -> Located:
    """The place that the answer in a re-checked file names, by the rule above."""
    document = checked.document
    if document is None or not checked.verdict.is_intact:
        return Located(None, NOT_INTACT)
    if document.release.result is None:
        return Located(None, UNPUBLISHED)
    proved = tuple(_proved(document))
    named = _causes(proved) or {name for item in proved for name in item.names}
    if not named:
        return Located(None, NAMELESS)
    if len({name.casefold() for name in named}) > 1:
        return Located(None, HEDGED, tuple(sorted(named)))
    first = min(named)
    return Located(first, named=(first,))


@dataclass(frozen=True, slots=True)
class _Proved:
    """One proved statement of the conclusion, and the places that its facts are about."""

    statement: Statement
    names: frozenset[str]


def _proved(document: Document) -> Iterator[_Proved]:
    report = document.release.result
    bound = next((part for part in document.statements if part.at == "/conclusion"), None)
    if report is None or bound is None:
        return
    for sentence, texts in zip(report.conclusion.sentences, bound.sentences, strict=True):
        if is_denial(sentence.text):
            continue
        for text in texts:
            raw = read_json(text)
            statement = read_statement(raw) if isinstance(raw, dict) else None
            facts = None if statement is None else _facts(document, sentence, statement)
            if statement is not None and facts is not None:
                yield _Proved(statement, frozenset(_names(statement, facts)))


def is_denial(text: str) -> bool:
    """Whether a sentence denies something or clears what it names; quoted words aside."""
    words = {stem(word) for word in WORD.findall(QUOTED.sub(" ", text))}
    return bool(words & (NEGATION | WELL))


def _facts(
    document: Document, sentence: PublishedSentence, statement: Statement
) -> tuple[Fact, ...] | None:
    """The facts that prove a statement; None where none of the sentence's chains is its own."""
    chains = [
        chain
        for chain in sentence.statements
        if chain.kind == statement.kind and chain.tool_call_id in statement.calls()
    ]
    if not chains:
        return None
    found: list[Fact] = []
    for chain in chains:
        call = document.call(chain.tool_call_id)
        if call is not None:
            facts = envelope_of(call).facts
            found.extend(facts[place] for place in chain.facts if place < len(facts))
    return tuple(found)


def _names(statement: Statement, facts: tuple[Fact, ...]) -> Iterator[str]:
    """As the facts spell it; the statement's own word only where no fact has a subject."""
    if statement.kind not in LOCATING:
        return
    if any(isinstance(fact, Change) and not fact.anomalous for fact in facts):
        return
    subjects = {_subject(fact) for fact in facts} - {None, ""}
    own = getattr(statement, "subject", None)
    yield from (name for name in subjects or {own} if name)


def _subject(fact: Fact) -> str | None:
    return None if isinstance(fact, Edge) else fact.subject


def _causes(proved: tuple[_Proved, ...]) -> set[str]:
    """The causes that no other cause explains."""
    causes = [item.statement for item in proved if isinstance(item.statement, CauseStatement)]
    effects = {cause.object.casefold() for cause in causes}
    return {cause.subject for cause in causes if cause.subject.casefold() not in effects}
