"""A free-text answer as a draft: sentences bound to the calls whose evidence shares their atoms.

The binding is a search, not a judgement: it says where a sentence's support would have to be, and
every check afterwards treats it like any other citation. A sentence that shares nothing with any
call stays unbound, and the guard will say so.

Deliberately simple: sentences are split by code; advice becomes recommendations; the conclusion is
what claims a cause, else what sums up, else the first sentence. A sentence that shares nothing with
any call joins its neighbour, so that it is checked as a sentence and not lost in a structure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from affidavit.contract.draft import PARTS_MAX, split_sentences
from affidavit.contract.evidence import Envelope
from affidavit.contract.states import AnalysisKind, EvidenceStatus
from affidavit.ledger.snapshot import LedgerSnapshot, Verified

CALLS_PER_SENTENCE_MAX: Final = 4
"""A sentence rests on a few calls; one that would need more is a summary of other sentences."""

OPENING_WORDS_MAX: Final = 2
"""`No.`, `Short answer:`: so few words say nothing without the sentence after them."""

ATOM_WEIGHT: Final = 4
"""A number or an identifier tells more about where a sentence comes from than a word."""

MARKUP: Final = re.compile(
    r"^(?:\s{0,12}(?:#{1,6}\s+|[-*•+]\s+|\d{1,3}[.)]\s+|>\s?)){1,4}|\*\*|__|`{1,3}(?:\w{1,20}$)?",
    re.MULTILINE,
)
_HEADING: Final = re.compile(
    r"\s{0,12}(?:#{1,6}\s.*|\*\*[^*]{1,80}\*\*:?|[^.!?。！？]{1,60}[:：])\s*"
)
_ADVICE_HEADING: Final = re.compile(
    r"recommend|next step|action|remediat|mitigat|fix\b|resolution|suggest|建议|下一步|措施|处理",
    re.IGNORECASE,
)
_ADVICE: Final = re.compile(
    r"(?:please |you should |we should |i (?:would )?(?:recommend|suggest) )"
    r"|(?:restart|roll|raise|increase|decrease|check|roll back|rollback|revert|fix|add|set|update"
    r"|upgrade|scale|investigate|verify|review|consider|ask|remove|delete|replace|renew|rotate"
    r"|create|ensure|enable|disable|configure|adjust|monitor|run|use|change|reduce|correct|move)\s"
    r"|建议|请|应当|应该",
    re.IGNORECASE,
)
_CAUSE: Final = re.compile(
    r"\bbecause\b|\bcaus(?:e|es|ed|ing)\b|\bdue to\b|\bas a result\b|\btherefore\b|\bso that\b"
    r"|\bleads? to\b|\bled to\b|\broot\b|\breason\b|\bwhich is why\b"
    r"|原因|导致|因为|由于|因此|所以|引起",
    re.IGNORECASE,
)
_SUMMARY: Final = re.compile(
    r"(?:in (?:summary|short)|overall|to sum up|conclusion|summary|thus|so,)\b"
    r"|总之|综上|总的来说|结论",
    re.IGNORECASE,
)
_NEXT: Final = re.compile(r"(?<=[.!?])\s+(?=[a-z][a-z0-9]*[-_.][\w])")
_HUMP: Final = re.compile(r"([a-z0-9])([A-Z])")
_CAMEL: Final = re.compile(r"[a-z][A-Z]|[A-Z]{2,}[a-z]")
_NOTHING: Final = re.compile(
    r"\b(?:shows?|has|had|have|contains?|lists?|returned|holds?|there (?:is|are|was|were)) no \w"
    r"|\bno (?:\w{1,40}[ -]){0,4}(?:found|match|matched|logged|recorded|returned|seen|events?|logs?"
    r"|errors?|entr|results?|rows?|pods?|lines?|resources?)|\bnothing\b|\bnone\b|\bnot find\b"
    r"|\bdid not\b.{0,40}\breturn|\bempty\b|没有|未发现|未找到|无",
    re.IGNORECASE,
)
_TOKEN: Final = re.compile(r"[A-Za-z0-9_][\w.\-/:@%+]{0,300}")
_PART: Final = re.compile(r"[A-Za-z]{2,60}|\d{1,40}(?:\.\d{1,20})?")
_TIME: Final = re.compile(r"\d\d:\d\d(?::\d\d)?")
_COMMON: Final = frozenset(
    "the and for with from that this was were are has have had not but its into onto than then "
    "when which while there their they after before about also only all any one two three kind "
    "row line value cells name text number unit quantity subject emitter scope facts".split()
)


@dataclass(frozen=True, slots=True)
class _Evidence:
    """One call as the binding sees it: what it holds, and whether it found anything."""

    call_id: str
    tokens: frozenset[str]
    found: bool


@dataclass(frozen=True, slots=True)
class _Sentence:
    """One sentence of an answer with the calls that it is bound to."""

    text: str
    calls: tuple[str, ...]
    kind: AnalysisKind
    is_advice: bool

    @property
    def is_cause(self) -> bool:
        """Whether it claims a cause."""
        return bool(_CAUSE.search(self.text)) and not self.is_advice


def draft_of_answer(text: str, ledger: LedgerSnapshot) -> dict[str, object]:
    """The draft (C4) that a free-text answer amounts to; never raises, never adds a word."""
    evidence = _evidence(ledger)
    sentences = [
        _bound(sentence, advice, evidence) for sentence, advice in _sentences(text)[:PARTS_MAX]
    ]
    advice = [one for one in sentences if one.is_advice]
    said = [one for one in sentences if not one.is_advice]
    concluding = _concluding(said)
    analyses = _analyses(said, concluding)
    ids = [str(one["id"]) for one in analyses if one["kind"] == AnalysisKind.NORMAL]
    return {
        "analyses": analyses,
        "conclusion": {
            "text": " ".join(one.text for one in concluding),
            "based_on_analysis_ids": _based_on(concluding, analyses) or ids,
        }
        if concluding
        else None,
        "action_plan": [],
        "recommendations": [
            {"text": one.text, "based_on_analysis_ids": _based_on([one], analyses) or ids}
            for one in advice
        ],
        "limitations": {
            "scope": "the tool calls that came with the answer",
            "missing_info": [],
        },
    }


# --- Sentences --------------------------------------------------------------------------------


def _sentences(text: str) -> list[tuple[str, bool]]:
    """The sentences of an answer without its markup, each with whether it stands under advice.

    An opening such as `No.` stays with the sentence after it.
    """
    found: list[tuple[str, bool]] = []
    under_advice = False
    held = ""
    for line in text.split("\n"):
        if not line.strip() or set(line.strip()) <= set("-=*_|: `"):
            continue
        if _HEADING.fullmatch(line[:200]):
            under_advice = bool(_ADVICE_HEADING.search(line))
            continue
        for part in split_sentences(MARKUP.sub("", line).strip()):
            for sentence in _NEXT.split(part):
                if len(sentence.split()) <= OPENING_WORDS_MAX and not _atoms(sentence):
                    held = f"{held} {sentence}".strip()
                    continue
                found.append((f"{held} {sentence}".strip(), under_advice))
                held = ""
    return [*found, (held, under_advice)] if held else found


def _atoms(text: str) -> frozenset[str]:
    """The numbers, times and identifiers of a sentence, in lower case."""
    tokens = (token.rstrip(".,:;/-") for token in _TOKEN.findall(text))
    return frozenset(
        token.lower()
        for token in tokens
        if any(char.isdigit() for char in token)
        or re.search(r"\w[-_./:@]\w", token)
        or _CAMEL.search(token)
    )


# --- Binding ----------------------------------------------------------------------------------


def _evidence(ledger: LedgerSnapshot) -> tuple[_Evidence, ...]:
    found: list[_Evidence] = []
    for call_id in ledger.calls:
        verified = ledger.read_back(call_id)
        if isinstance(verified, Verified):
            envelope = verified.envelope
            is_found = envelope.status is EvidenceStatus.EVIDENCE_FOUND
            found.append(_Evidence(call_id, _tokens(_text(envelope)), is_found))
    return tuple(found)


def _text(envelope: Envelope) -> str:
    facts = (fact.model_dump_json(exclude_none=True) for fact in envelope.facts)
    return "\n".join((envelope.source, envelope.scope.query, envelope.scope.service or "", *facts))


def _tokens(text: str) -> frozenset[str]:
    """Every token of a text, whole and in parts, in lower case, words without a plural's s."""
    lower = text.lower()
    whole = (token.rstrip(".,:;/-") for token in _TOKEN.findall(lower))
    apart = _words(_HUMP.sub(r"\1 \2", text))
    return frozenset((*whole, *_words(lower), *apart, *_TIME.findall(lower)))


def _words(text: str) -> frozenset[str]:
    """The words and plain numbers of a text, in lower case."""
    parts = (part.rstrip("s") if len(part) > 3 else part for part in _PART.findall(text.lower()))
    return frozenset(parts) - _COMMON


def _bound(text: str, under_advice: bool, evidence: Sequence[_Evidence]) -> _Sentence:
    scores = {one.call_id: _score(one, text, evidence) for one in evidence}
    found = _best([one for one in evidence if one.found], text, scores)
    empty = _best([one for one in evidence if not one.found], text, scores)[:1]
    nearer = not found or (empty and scores[empty[0].call_id] >= scores[found[0].call_id])
    negative = bool(empty) and nearer and bool(_NOTHING.search(text))
    return _Sentence(
        text,
        tuple(one.call_id for one in (empty if negative else found)),
        AnalysisKind.NEGATIVE_OBSERVATION if negative else AnalysisKind.NORMAL,
        is_advice=under_advice or bool(_ADVICE.match(text)),
    )


def _best(
    candidates: Sequence[_Evidence], text: str, scores: Mapping[str, float]
) -> list[_Evidence]:
    """The call that shares most with a sentence, and others while they hold what it lacks."""
    ranked = sorted(candidates, key=lambda one: -scores[one.call_id])
    chosen: list[_Evidence] = []
    missing = _words(text) | _atoms(text)
    for one in ranked:
        if scores[one.call_id] <= 0 or len(chosen) == CALLS_PER_SENTENCE_MAX:
            break
        held = missing & (_held(one, text) | one.tokens)
        if held:
            chosen.append(one)
            missing -= held
    further = (one for one in ranked if scores[one.call_id] > 0 and one not in chosen)
    return [*chosen, *further][:CALLS_PER_SENTENCE_MAX]


def _held(one: _Evidence, text: str) -> frozenset[str]:
    """The atoms of a sentence that a call holds, whole or part by part."""
    return frozenset(
        atom
        for atom in _atoms(text)
        if atom in one.tokens or (_words(atom) or {atom}) <= one.tokens
    )


def _score(one: _Evidence, text: str, evidence: Sequence[_Evidence]) -> float:
    """How much a call shares with a sentence; what many calls hold counts little."""
    atoms = _held(one, text)
    shared = (_words(text) & one.tokens) | atoms
    return sum(
        (ATOM_WEIGHT if token in atoms else 1)
        / max(1, sum(token in other.tokens for other in evidence))
        for token in shared
    )


# --- The draft --------------------------------------------------------------------------------


def _concluding(said: Sequence[_Sentence]) -> list[_Sentence]:
    """What the answer claims in the end."""
    causes = [one for one in said if one.is_cause]
    return causes or [one for one in said if _SUMMARY.match(one.text)] or list(said[:1])


def _analyses(
    said: Sequence[_Sentence], concluding: Sequence[_Sentence]
) -> list[dict[str, object]]:
    """Every sentence but those that only conclude from calls which other sentences cite.

    An unbound sentence joins the one before it, or the one after where it is the first.
    """
    others = [one for one in said if one not in concluding]
    covered = {call for one in others for call in one.calls}
    kept = [one for one in said if one not in concluding or not set(one.calls) <= covered] or said
    groups: list[list[_Sentence]] = []
    for one in kept:
        if groups and (not one.calls or not groups[-1][-1].calls):
            groups[-1].append(one)
        else:
            groups.append([one])
    return [_analysis(number, group) for number, group in enumerate(groups, start=1)]


def _analysis(number: int, group: Sequence[_Sentence]) -> dict[str, object]:
    calls = dict.fromkeys(call for one in group for call in one.calls)
    kind = next((one.kind for one in group if one.calls), AnalysisKind.NORMAL)
    return {
        "id": f"S{number}",
        "kind": str(kind),
        "body": " ".join(one.text for one in group),
        "tool_call_ids": list(calls),
    }


def _based_on(
    sentences: Iterable[_Sentence], analyses: Sequence[Mapping[str, object]]
) -> list[str]:
    """The analyses that cite a call of these sentences."""
    calls = {call for one in sentences for call in one.calls}
    return [
        str(analysis["id"])
        for analysis in analyses
        if any(call in calls for call in _listed(analysis["tool_call_ids"]))
    ]


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []
