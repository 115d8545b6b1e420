"""One sentence against what it cites: every atom bound, or a code that says which is not (M4)."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Final

from affidavit.contract.statement import ValueStatement
from affidavit.contract.violations import SupportCode
from affidavit.verify.prose import (
    absences,
    actions,
    causes,
    extremes,
    markers,
    orders,
    passing,
    quantifiers,
    tallies,
    unknowns,
)
from affidavit.verify.prose.binding import bind, content_of
from affidavit.verify.prose.blaming import blames
from affidavit.verify.prose.clauses import (
    Clause,
    has_verb,
    is_negative,
    split_clauses,
    split_statements,
)
from affidavit.verify.prose.conflicting import conflict
from affidavit.verify.prose.contrasts import read_contrast
from affidavit.verify.prose.desk import TOLD, Desk
from affidavit.verify.prose.dividing import divide, pair
from affidavit.verify.prose.lexicon import Role
from affidavit.verify.prose.logic import check_logic
from affidavit.verify.prose.measures import check_moments, check_numbers
from affidavit.verify.prose.nouns import claims
from affidavit.verify.prose.numbering import read_tokens
from affidavit.verify.prose.placing import place
from affidavit.verify.prose.proofs import Told
from affidavit.verify.prose.rowwise import read_off
from affidavit.verify.prose.sheet import Context, Findings, Mark, Sheet
from affidavit.verify.prose.sources import check_sources
from affidavit.verify.prose.stated import carries
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.prose.vouching import doubt
from affidavit.verify.prose.wording import check_hedges, check_words, choose
from affidavit.verify.sentences import Part
from affidavit.verify.statements.records import RecordView
from affidavit.verify.statements.words import stem, stems_of

_POINTING: Final = frozenset("it they its their 它 它们 该 其 这".split())
"""What points back: then the effect is one of what the sentence before named."""
SHOWN_MAX: Final = 6
"""Facts of one clause that a reader is shown."""
_ASKING: Final = frozenset("why who what whether 为何 为什么 是否".split())
"""A statement that begins with one of these asks, and tells nothing."""


def check_sentence(desk: Desk, text: str, context: Context) -> Findings:
    """Every code against one sentence, and what carries it where there is none."""
    tokens = read_tokens(text)
    findings = Findings()
    match context.part:
        case Part.NEGATIVE:
            codes = absences.check_absence(desk, split_clauses(tokens))
        case Part.ACTION:
            codes = actions.check_action(desk, split_clauses(tokens), text)
        case Part.SCOPE:
            codes = actions.check_scope(desk, tokens, text)
        case _:
            return _check_told(Sheet(desk, context, findings, context.topics), tokens, text)
    for code in codes:
        findings.refuse(code)
    told = {Part.ACTION: passing.told_in, Part.SCOPE: passing.told_in_scope}.get(context.part)
    if told is not None:
        _check_clauses(Sheet(desk, context, findings), tuple(told(tokens)))
    return findings


def _check_told(sheet: Sheet, tokens: tuple[Token, ...], text: str) -> Findings:
    """Each statement of a sentence that tells something, in order."""
    granted = sheet.context.granted
    for piece in split_statements(tokens):
        before = sheet.topics
        _check_statement(sheet, piece, text)
        sheet.said = piece
        refuted = conflict(sheet.desk, piece, granted.own, before) if granted.whole else None
        if refuted is not None:
            sheet.refute(*refuted)
    sheet.findings.topics = sheet.topics
    sheet.findings.named = Clause(tokens).subjects[:1]
    if sheet.findings.codes and _is_vouched(sheet, tokens, text):
        return sheet.vouched(tokens)
    return sheet.findings


def _is_vouched(sheet: Sheet, tokens: tuple[Token, ...], text: str) -> bool:
    """Whether the sentence's statements are all proved, and it says them and nothing beside."""
    granted, context = sheet.context.granted, sheet.context
    if not granted.whole:
        return False
    before = context.topics
    for piece in split_statements(tokens):
        if conflict(sheet.desk, piece, granted.own, before) is not None:
            return False
        before = before or tuple(token for token in piece if token.kind is Kind.NAME)
    return not doubt(sheet.desk, tokens, granted.told, context.topics, text)


def _check_statement(sheet: Sheet, tokens: tuple[Token, ...], text: str) -> None:
    """Check one statement: its causal link, if it says one, and each of its clauses."""
    start = tokens[0].start
    shifted = tuple(_shift(token, start) for token in tokens)
    part = text[start : tokens[-1].end]
    whole = (Clause(tokens, sheet.topics),) if unknowns.opens(tokens, text) else ()
    if _check_unknown(sheet, whole or split_clauses(tokens), text):
        return
    if tokens[0].text.casefold() in _ASKING:
        sheet.refuse(SupportCode.STATEMENT_UNPROVED, "(asks)")
    order = orders.unproved(sheet, tokens)
    if order is not None:
        sheet.refuse(order, "(order)")
    causal = markers.causal_in(part, shifted)
    told = sheet.context.granted.told
    if causal is None or _is_field(part[causal.start : causal.end], told):
        _check_clauses(sheet, split_clauses(tokens))
        return
    effect, cause = markers.sides(shifted, causal)
    about = sheet.topics if effect and effect[0].text.casefold() in _POINTING else ()
    _check_clauses(sheet, split_clauses(effect), effect=True)
    _check_clauses(sheet, split_clauses(cause))
    if not effect and causes.is_named_reason(sheet.desk, cause):
        return
    sides = (*about, *effect) or sheet.said, cause or sheet.said
    code = None if blames(told, *sides) else causes.unproved(sheet.desk, *sides)
    if code is not None:
        sheet.refuse(code)


def _is_field(marker: str, told: Told) -> bool:
    """Whether a causal word only names a stated field: "the reason is X" of a reason that is X."""
    named = _BLAMING & stems_of(marker)
    return bool(named) and any(
        named & proof.attribute and isinstance(proof.statement, ValueStatement)
        for proof in told.proofs
    )


_BLAMING: Final = stems_of("reason cause")


def _check_unknown(sheet: Sheet, clauses: tuple[Clause, ...], text: str) -> bool:
    """Whether the statement says that something is not known; then its clauses are checked here."""
    found = [unknowns.read_unknown(clause, text) for clause in clauses]
    for place, unknown in enumerate(found):
        if unknown is not None and not unknown.said and not unknown.beside:
            beside = place - 1 if place and found[place - 1] is None else place + 1
            if 0 <= beside < len(clauses) and found[beside] is None:
                found[beside] = unknowns.asks(clauses[beside].tokens)
    if not any(found):
        return False
    for clause, unknown in zip(clauses, found, strict=True):
        if unknown is None:
            _check_clauses(sheet, (clause,))
            continue
        if unknown.beside:
            _check_clauses(sheet, (Clause(unknown.beside, clause.topics),))
        code = _against(sheet, clause, unknown)
        if code is not None:
            sheet.refuse(code, f"({unknown.ask} not known)")
    return True


def _against(sheet: Sheet, clause: Clause, unknown: unknowns.Unknown) -> SupportCode | None:
    """What speaks against saying that this is not known."""
    said = Clause(unknown.said, clause.topics, clause.bound)
    said = said if said.names else replace(said, bound=bool(clause.topics))
    if any(
        token.kind is Kind.NAME and not actions.is_known(sheet.desk, token) for token in said.tokens
    ):
        return SupportCode.IDENTIFIER_UNKNOWN
    if not content_of(said) and not said.has(Role.UP, Role.DOWN):
        return None
    if unknown.ask in {unknowns.Ask.WHY, unknowns.Ask.WHO}:
        _check_clauses(sheet, (said,), effect=True)
        return None
    if unknown.ask in {unknowns.Ask.WHETHER, unknowns.Ask.THAT}:
        answered = not unknown.unread and _claims(said) and _is_answered(sheet, said, unknown.ask)
        return SupportCode.EVIDENCE_CONTRADICTS if answered else None
    if any(not _is_spoken_of(sheet, token) for token in content_of(said)):
        return SupportCode.WORDS_UNBOUND
    return SupportCode.EVIDENCE_CONTRADICTS if _is_answered(sheet, said, unknown.ask) else None


def _claims(clause: Clause) -> bool:
    """Whether a clause says what a record could hold whole: a number, a quotation, a state."""
    return any(
        token.kind in {Kind.NUMBER, Kind.MOMENT, Kind.QUOTE}
        or (token.kind is Kind.WORD and claims(token))
        or (token.kind is Kind.NAME and token.text.isalpha())
        for token in clause.tokens
    )


def _is_spoken_of(sheet: Sheet, token: Token) -> bool:
    return actions.is_known(sheet.desk, token) or any(
        sheet.desk.is_about(call, token) for call in sheet.desk.wide
    )


def _is_answered(sheet: Sheet, said: Clause, ask: unknowns.Ask) -> bool:
    """Whether the evidence shows it: a fact that holds, or a thing with all its words in a record."""
    if ask is unknowns.Ask.NOUN:
        bindings = [found for call in sheet.desk.calls for found in bind(sheet.desk, said, call)]
        return any(
            not item.unheld and (item.held or item.named) for item in choose(sheet, said, bindings)
        )
    trial = Sheet(sheet.desk, sheet.context, Findings(), sheet.topics, sheet.before)
    _check_clauses(trial, (said,))
    return not trial.findings.codes


def _check_clauses(sheet: Sheet, clauses: tuple[Clause, ...], *, effect: bool = False) -> None:
    first, before = sheet.mark(), sheet.topics
    for clause in clauses:
        goes_on = not clause.names and not quantifiers.is_quantified(clause)
        topics = clause.topics or (sheet.topics if goes_on else ())
        start = sheet.mark()
        _try_clause(sheet, Clause(clause.tokens, topics, clause.bound), effect=effect)
        if len(sheet.findings.notes) > start.notes:
            _read_rows(sheet, start, clause.tokens, topics)
        if len(sheet.findings.notes) > start.notes:
            _try_placed(sheet, start, Clause(clause.tokens, topics, clause.bound), effect=effect)
        if clause.subjects:
            sheet.topics = clause.subjects
    if len(sheet.findings.notes) > first.notes:
        whole = tuple(token for clause in clauses for token in clause.tokens)
        about = ((), before, sheet.context.named)
        any(_read_rows(sheet, first, whole, topics) for topics in dict.fromkeys(about))


def _read_rows(
    sheet: Sheet, start: Mark, tokens: tuple[Token, ...], topics: tuple[Token, ...]
) -> bool:
    """Whether what was refused is read off the rows of a table, word by word; then it stands."""
    if any(note.firm or note.code is SupportCode.DIRECTION_REFUTED for note in sheet.since(start)):
        return False
    proof = read_off(sheet.desk, tokens, topics)
    if proof is None or not _is_said(tokens, proof.records):
        return False
    sheet.reset(start)
    sheet.findings.numbers.extend(proof.numbers)
    sheet.findings.moments.extend(_moments(tokens, proof.records))
    sheet.findings.used.extend(proof.records[:SHOWN_MAX])
    return True


def _moments(tokens: tuple[Token, ...], records: tuple[RecordView, ...]) -> tuple[datetime, ...]:
    """The moments that some tokens say, as the records have them."""
    said = [token.moment for token in tokens if token.moment is not None]
    held = dict.fromkeys(at for record in records for at in record.moments)
    return tuple(at for at in held if any(moment.matches(at) for moment in said))


_HAPPENING: Final = ("ed", "ing")


def _is_said(tokens: tuple[Token, ...], records: tuple[RecordView, ...]) -> bool:
    """Whether the rows say themselves what a verb says: a column that a word may stand for does not
    tell that a limit was reached, or that something crashes."""
    said = frozenset[str]().union(*(record.stems for record in records))
    if _lasts(tokens) and any(record.subject and _AGE & record.stems for record in records):
        return False
    return all(
        stem(token.text) in said
        for token in tokens
        if token.kind is Kind.WORD
        and token.role is Role.CONTENT
        and token.text.casefold().endswith(_HAPPENING)
    )


_AGE: Final = stems_of("age")


def _lasts(tokens: tuple[Token, ...]) -> bool:
    """Whether a statement says for how long something went on: how old a thing is does not tell."""
    return any(
        before.text.casefold() == "for" and token.stated is not None and bool(token.stated.unit)
        for before, token in zip(tokens, tokens[1:], strict=False)
    )


def _try_placed(sheet: Sheet, start: Mark, clause: Clause, *, effect: bool) -> None:
    """Check a clause once more with "two seconds later" as the moment that it is."""
    pool = sheet.context.pool
    moments = (*(pool.moments or pool.last), *sheet.findings.moments)
    tokens = place(clause.tokens, moments[-1]) if moments else None
    if tokens is None:
        return
    first = sheet.mark()
    sheet.reset(start)
    _try_clause(sheet, replace(clause, tokens=tokens), effect=effect)
    if len(sheet.findings.notes) > start.notes and not _read_rows(
        sheet, start, tokens, clause.topics
    ):
        sheet.reset(first)


def _try_clause(sheet: Sheet, clause: Clause, *, effect: bool) -> None:
    """Check a clause about the names before it; one with a subject of its own, also without.

    What neither way proves is refused as it was the first time.
    """
    contrast = read_contrast(clause)
    if contrast is not None:
        for part in contrast.sides:
            _check_part(sheet, part, effect=effect)
        if not contrast.holds:
            sheet.refuse(SupportCode.DIRECTION_REFUTED, "(compared)")
        return
    pairs = tuple(pair(clause))
    if pairs:
        for part in pairs:
            _check_part(sheet, part, effect=effect)
        return
    start = sheet.mark()
    _check_clause(sheet, clause, effect=effect)
    if len(sheet.findings.notes) == start.notes:
        return
    first = sheet.mark()
    if carries(sheet.desk, clause, sheet.context.granted.told):
        sheet.reset(start)
        sheet.keep_stated(clause)
        return
    if clause.topics and not clause.bound:
        sheet.reset(start)
        _check_clause(sheet, Clause(clause.tokens), effect=effect)
        if len(sheet.findings.notes) == start.notes:
            return
    parts = divide(clause)
    if parts and not _parts_subject(parts) and not any(map(extremes.stands_alone, parts)):
        sheet.reset(start)
        for part in parts:
            _check_part(sheet, part, effect=effect)
        if len(sheet.findings.notes) == start.notes:
            return
    sheet.reset(first)
    if _is_absence(sheet, clause):
        sheet.reset(start)


def _parts_subject(parts: tuple[Clause, ...]) -> bool:
    """Whether a part is only who has what the next one gives: 稳定版 v3 | 有 2 个 Pod."""
    return any(
        part.tokens[0].text == "有"
        and not before.measures
        and not before.of(Kind.QUOTE)
        and not has_verb(before.tokens)
        for before, part in zip(parts, parts[1:], strict=False)
    )


def _is_absence(sheet: Sheet, clause: Clause) -> bool:
    """Whether a clause only says that a search found nothing, within what was asked."""
    if not is_negative(clause):
        return False
    return not absences.check_absence(sheet.desk, (Clause((*clause.topics, *clause.tokens)),))


def _check_part(sheet: Sheet, part: Clause, *, effect: bool) -> None:
    """A part of a clause, about its own names or those before it; else as its statements say it."""
    start = sheet.mark()
    _check_clause(sheet, part, effect=effect)
    if len(sheet.findings.notes) > start.notes and carries(
        sheet.desk, part, sheet.context.granted.told
    ):
        sheet.reset(start)
        sheet.keep_stated(part)


def _check_clause(sheet: Sheet, clause: Clause, *, effect: bool) -> None:
    bindings = [found for call in sheet.desk.all for found in bind(sheet.desk, clause, call)]
    chosen = choose(sheet, clause, bindings)
    check_words(sheet, clause, chosen, effect=effect)
    if tallies.repeats(clause):
        sheet.refute(SupportCode.SUBJECT_REFUTED, "(listed twice)")
    check_hedges(sheet, clause)
    check_moments(sheet, clause, chosen)
    check_numbers(sheet, clause, chosen)
    check_logic(sheet, clause, chosen, effect=effect)
    check_sources(sheet, clause, chosen)
    for binding in chosen:
        if binding.call.id != TOLD:
            sheet.findings.used.extend(binding.records()[:SHOWN_MAX])
    sheet.before = chosen[0] if chosen else sheet.before


def _shift(token: Token, by: int) -> Token:
    return Token(
        token.kind, token.text, token.start - by, token.end - by, token.role, token.stems,
        token.stated, token.moment, token.spelled, token.proper,
    )  # fmt: skip
