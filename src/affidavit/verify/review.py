"""Every sentence of a draft against the verified evidence: the one prover.

Pure and deterministic; used by the support check, which sees the whole run, and by the embedded
judge, which sees the cited evidence only. A sentence is refused by its typed statements, by its
prose, or because the run contradicts it; a sentence without a code is proved.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Final

from affidavit.contract.draft import DraftCandidate
from affidavit.contract.report import StatementChain
from affidavit.contract.snapshots import VerifiedCall, VerifiedEvidenceSnapshot
from affidavit.contract.statement import Statement
from affidavit.contract.violations import SupportCode
from affidavit.verify.contradiction import Opposed, Stage, oppose
from affidavit.verify.masks import masked_in, rests_on_mask
from affidavit.verify.prose.check import check_sentence
from affidavit.verify.prose.computing import Pool
from affidavit.verify.prose.deciding import Derived, decide
from affidavit.verify.prose.desk import Desk, ask, tell
from affidavit.verify.prose.numbering import read_tokens
from affidavit.verify.prose.proofs import Proof, gather, prove_from
from affidavit.verify.prose.sheet import Context, Findings, Granted, GrantedNumber
from affidavit.verify.prose.tokens import Token
from affidavit.verify.prose.vouching import strays
from affidavit.verify.sentences import Part, Sentence, number_sentences
from affidavit.verify.statements import Checked, prove
from affidavit.verify.statements.outcome import Proved
from affidavit.verify.statements.records import Evidence, read_evidence
from affidavit.verify.statements.units import Stated
from affidavit.verify.statements.words import names_in, parts_of, stems_of


@dataclass(frozen=True, slots=True)
class SentenceReview:
    """One sentence: the codes against it, the facts that carry it, notes for the audit, and facts
    of the run that say otherwise."""

    sentence: Sentence
    codes: tuple[SupportCode, ...]
    chains: tuple[StatementChain, ...]
    notes: tuple[str, ...] = ()
    against: tuple[StatementChain, ...] = ()


def review_draft(
    draft: DraftCandidate,
    snapshot: VerifiedEvidenceSnapshot,
    question: str = "",
    run: tuple[VerifiedCall, ...] = (),
) -> tuple[SentenceReview, ...]:
    """Every sentence, in order. `run` are further calls that may contradict, and never prove."""
    evidence = read_evidence(snapshot.calls)
    stage, hidden = Stage.of(_whole(evidence, run)), masked_in(evidence)
    asking = ask(question, ())
    reviews: list[SentenceReview] = []
    memory = _Memory()
    checked: dict[tuple[int, str], Checked] = {}
    derived: dict[tuple[str, ...], Derived] = {}
    for sentence in number_sentences(draft):
        proofs = _statements(sentence, evidence, checked)
        context = Context(
            part=sentence.part,
            granted=_granted(
                sentence, proofs, memory.told_to(sentence), evidence, memory.stated_to(sentence)
            ),
            pool=memory.pool(sentence),
            topics=memory.topics.get(_group(sentence), ()),
            named=memory.named.get(_group(sentence), ()),
        )
        desk = _desk(sentence, evidence, asking)
        found = check_sentence(desk, sentence.text, context)
        if found.codes and (known := memory.told_to(sentence)):
            found = _check_told(desk, known, sentence, context, found)
        opposed = oppose(sentence, proofs, evidence.of(sentence.calls), stage)
        masked = rests_on_mask(sentence, proofs, hidden, found.used, desk.calls)
        said = decide(desk, found.notes, sentence.text, derived)
        codes = _codes(proofs, said, opposed, masked=masked)
        reviews.append(
            SentenceReview(
                sentence, codes, _chains(proofs, found), _notes(proofs, found), opposed.shown
            )
        )
        memory.keep(sentence, codes, found)
        memory.keep_stated(sentence, proofs)
    return tuple(reviews)


def _check_told(
    desk: Desk, known: tuple[str, ...], sentence: Sentence, context: Context, alone: Findings
) -> Findings:
    """The sentence with those proved before: they may carry it, and never turn its statements."""
    found = check_sentence(_tell(desk, known), sentence.text, context)
    own = context.granted.own
    if not found.codes and context.granted.whole and own.proofs:
        tokens = read_tokens(sentence.text)
        if strays(desk, tokens, context.granted.told, context.topics, known):
            return alone
    return found


def _whole(evidence: Evidence, run: tuple[VerifiedCall, ...]) -> Evidence:
    """The cited calls and every further one of the run."""
    further = tuple(call for call in run if call.tool_call_id not in evidence.calls)
    return Evidence({**evidence.calls, **read_evidence(further).calls})


def _desk(sentence: Sentence, evidence: Evidence, asking: Desk) -> Desk:
    """What the sentence may rest on: its calls, and the run around them."""
    calls = evidence.of(sentence.calls)
    return replace(asking, calls=calls, wide=tuple(evidence.calls.values()), _places={})


def _tell(desk: Desk, known: tuple[str, ...]) -> Desk:
    """The same with the sentences proved before: looked at only where the calls do not carry it."""
    if not desk.calls:
        return desk
    record, tokens = tell(known, desk.calls[0])
    return replace(desk, told=record, told_tokens=tokens, _places={})


def _group(sentence: Sentence) -> str:
    """What a sentence goes on with those before it in: its analysis, or its part."""
    return sentence.pointer.split("/sentences/")[0]


@dataclass(slots=True)
class _Memory:
    """What the draft has said and proved so far, by analysis."""

    told: dict[int, list[str]] = field(default_factory=dict)
    pools: dict[int, Pool] = field(default_factory=dict)
    topics: dict[str, tuple[Token, ...]] = field(default_factory=dict)
    named: dict[str, tuple[Token, ...]] = field(default_factory=dict)
    stated: dict[int, dict[int, Checked]] = field(default_factory=dict)
    last: tuple[datetime, ...] = ()

    def stated_to(self, sentence: Sentence) -> tuple[Checked, ...]:
        """The statements of the analyses that a conclusion rests on."""
        if sentence.part is not Part.CONCLUSION:
            return ()
        kept = (self.stated.get(place, {}) for place in sentence.analyses)
        return tuple(item for items in kept for item in items.values())

    def keep_stated(self, sentence: Sentence, proofs: tuple[Checked, ...]) -> None:
        """Remember the statements of an analysis."""
        if sentence.part in {Part.ANALYSIS, Part.NEGATIVE} and sentence.analyses:
            known = self.stated.setdefault(sentence.analyses[0], {})
            known.update((id(item), item) for item in proofs)  # each is checked once, and kept

    def told_to(self, sentence: Sentence) -> tuple[str, ...]:
        """The proved sentences of the analyses that a sentence belongs to or rests on."""
        if sentence.part is Part.NEGATIVE:
            return ()
        return tuple(text for place in sentence.analyses for text in self.told.get(place, ()))

    def pool(self, sentence: Sentence) -> Pool:
        """The numbers and moments of those sentences."""
        pools = [self.pools.get(place, Pool()) for place in sentence.analyses]
        return Pool(
            tuple(item for pool in pools for item in pool.numbers),
            tuple(item for pool in pools for item in pool.moments),
            self.last,
        )

    def keep(self, sentence: Sentence, codes: tuple[SupportCode, ...], found: Findings) -> None:
        """Remember a proved sentence, and what any sentence was about."""
        self.topics[_group(sentence)] = found.topics
        if found.named:
            self.named[_group(sentence)] = found.named
        self.last = () if codes else tuple(found.moments)
        if codes or sentence.part not in {Part.ANALYSIS, Part.NEGATIVE}:
            return
        place = sentence.analyses[0]
        self.told.setdefault(place, []).append(sentence.text)
        known = self.pools.get(place, Pool())
        self.pools[place] = Pool((*known.numbers, *found.numbers), (*known.moments, *found.moments))


def _statements(
    sentence: Sentence, evidence: Evidence, known: dict[tuple[int, str], Checked]
) -> tuple[Checked, ...]:
    """The sentence's typed statements, each checked once; those of a whole body once a body."""
    found: list[Checked] = []
    for raw in sentence.statements:
        key = (id(raw), ",".join(sentence.calls))
        if key not in known:
            known[key] = prove(raw, evidence, sentence.calls)
        found.append(known[key])
    return tuple(found)


def _codes(
    proofs: tuple[Checked, ...], said: tuple[SupportCode, ...], opposed: Opposed, *, masked: bool
) -> tuple[SupportCode, ...]:
    stated = [item.outcome.code for item in proofs if not isinstance(item.outcome, Proved)]
    whole = (opposed.code,) if opposed.code else ()
    hidden = (SupportCode.MASK_CITED,) if masked else ()
    return tuple(dict.fromkeys((*stated, *said, *whole, *hidden)))


def _notes(proofs: tuple[Checked, ...], found: Findings) -> tuple[str, ...]:
    """What each code is about; never leaves the private audit."""
    typed = (
        f"{item.outcome.code}: statement {item.statement}"
        for item in proofs if not isinstance(item.outcome, Proved)
    )  # fmt: skip
    return (*typed, *(str(note) for note in found.notes))


def _granted(
    sentence: Sentence,
    proofs: tuple[Checked, ...],
    earlier: tuple[str, ...],
    evidence: Evidence,
    before: tuple[Checked, ...] = (),
) -> Granted:
    """What proved statements say, so that the prose may say it too."""
    numbers: list[GrantedNumber] = []
    moments: list[datetime] = []
    words: list[str] = []
    for item in proofs:
        if item.statement is None or not isinstance(item.outcome, Proved):
            continue
        fields = item.statement.model_dump()
        subject = str(fields.get("subject") or "")
        wide = any(subject.casefold() == about for about in _scopes(evidence, item))
        if not wide and not _speaks_of(sentence.text, subject, earlier):
            continue
        unit = str(fields.get("unit") or "")
        numbers.extend(
            GrantedNumber(
                Stated(value, unit),
                call,
                _facts_of(item.statement.kind, key, facts),
                str(fields.get("operator") or "="),
                item.statement.kind == "count",
                stems_of(str(fields.get("attribute") or "")),
                _window(item.statement),
            )
            for key in ("value", "from_", "to")
            if isinstance(value := fields.get(key), Decimal)
            for call, facts in item.outcome.facts
        )
        moments.extend(_moments(item.statement))
        words.extend(
            str(fields[key]) for key in ("subject", "attribute", "object", "set", "text")
            if fields.get(key)
        )  # fmt: skip
    joined = " ".join(words)
    own, more = _proofs(proofs, evidence), _proofs(before, evidence)
    whole = (
        bool(proofs)
        and not sentence.shared
        and all(isinstance(item.outcome, Proved) for item in proofs)
    )
    return Granted(
        tuple(numbers),
        whole,
        tuple(moments),
        names_in(joined),
        stems_of(joined),
        gather((*own, *more)),
        gather(own),
    )


def _proofs(checked: tuple[Checked, ...], evidence: Evidence) -> tuple[Proof, ...]:
    """The proved among some statements, each with the records that prove it."""
    return tuple(
        prove_from(item.statement, evidence.of(item.statement.calls()), item.outcome.facts)
        for item in checked
        if item.statement is not None and isinstance(item.outcome, Proved)
    )


def _scopes(evidence: Evidence, item: Checked) -> tuple[str, ...]:
    """What the statement's calls are about as a whole; what they say is said of it."""
    assert item.statement is not None
    calls = evidence.of(item.statement.calls())
    return tuple((call.call.envelope.scope.service or "").casefold() for call in calls)


def _speaks_of(text: str, subject: str, earlier: tuple[str, ...]) -> bool:
    """Whether a sentence names what a statement is about: else the statement licenses none of it.

    Any word of the subject will do, since a subject may say more than the sentence repeats; a
    sentence that names nothing of it speaks of something else. One that points back ("it", 该)
    speaks of what the sentence before named.
    """
    said = text.casefold()
    if said.startswith(_POINTING_BACK) and earlier:
        said = f"{earlier[-1].casefold()} {said}"
    words = [word for word in subject.casefold().split() if word not in _SMALL_WORDS]
    parts = [part for part in parts_of(subject) if len(part) >= PART_CHARS_MIN]
    return not words or any(word in said for word in (*words, *parts))


PART_CHARS_MIN: Final = 3
"""A shorter part of a name stands in too many words to name anything."""
_POINTING_BACK: Final = (
    "it ",
    "its ",
    "they ",
    "their ",
    "this ",
    "that ",
    "these ",
    "该",
    "其",
    "它",
)


_SMALL_WORDS: Final = frozenset("a an the of in on at to for by with from and or".split())


def _facts_of(kind: str, key: str, facts: tuple[int, ...]) -> tuple[int, ...]:
    """The facts of one end of a change: its first is `from`, its last `to`."""
    if kind != "change" or len(facts) < 2:
        return facts
    return facts[:1] if key == "from_" else facts[-1:]


def _window(statement: Statement) -> tuple[datetime, datetime] | None:
    window = getattr(statement, "window", None)
    return (window.start, window.end) if window else None


def _moments(statement: Statement) -> list[datetime]:
    window = getattr(statement, "window", None)
    at = getattr(statement, "at", None)
    return [moment for moment in (at, *((window.start, window.end) if window else ())) if moment]


def _chains(proofs: tuple[Checked, ...], found: Findings) -> tuple[StatementChain, ...]:
    typed = [
        StatementChain(kind=item.statement.kind, tool_call_id=call, facts=facts)
        for item in proofs
        if item.statement is not None and isinstance(item.outcome, Proved)
        for call, facts in item.outcome.facts
    ]
    if typed:
        return tuple(typed)
    by_call: dict[str, list[int]] = {}
    for record in found.used:
        by_call.setdefault(record.call, []).extend(record.facts)
    return tuple(
        StatementChain(kind="prose", tool_call_id=call, facts=tuple(dict.fromkeys(places)))
        for call, places in by_call.items()
    )
