"""One sentence against what it cites: every atom bound, or a code that says which is not (M4)."""

from __future__ import annotations

from typing import Final

from affidavit.contract.violations import SupportCode
from affidavit.verify.prose import absences, actions, causes, markers, tallies
from affidavit.verify.prose.binding import bind
from affidavit.verify.prose.clauses import Clause, split_clauses, split_statements
from affidavit.verify.prose.desk import TOLD, Desk
from affidavit.verify.prose.lexicon import Role
from affidavit.verify.prose.logic import check_logic
from affidavit.verify.prose.measures import check_moments, check_numbers
from affidavit.verify.prose.numbering import mark_labels
from affidavit.verify.prose.sheet import Context, Findings, Sheet
from affidavit.verify.prose.sources import check_sources
from affidavit.verify.prose.tokens import Kind, Token, tokenize
from affidavit.verify.prose.wording import check_hedges, check_words, choose
from affidavit.verify.sentences import Part

SHOWN_MAX: Final = 6
"""Facts of one clause that a reader is shown."""
_ASKING: Final = frozenset("why who what whether 为何 为什么 是否".split())
"""A statement that begins with one of these asks, and tells nothing."""


def check_sentence(desk: Desk, text: str, context: Context) -> Findings:
    """Every code against one sentence, and what carries it where there is none."""
    tokens = mark_labels(tokenize(text))
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
    return findings


def _check_told(sheet: Sheet, tokens: tuple[Token, ...], text: str) -> Findings:
    """Each statement of a sentence that tells something, in order."""
    for piece in split_statements(tokens):
        start = piece[0].start
        shifted = tuple(_shift(token, start) for token in piece)
        _check_statement(sheet, piece, shifted, text[start : piece[-1].end])
        sheet.said = piece
    sheet.findings.topics = sheet.topics
    return sheet.findings


def _check_statement(
    sheet: Sheet, tokens: tuple[Token, ...], shifted: tuple[Token, ...], part: str
) -> None:
    """Check one statement: its causal link, if it says one, and each of its clauses."""
    if markers.is_open(part, shifted):
        _check_open(sheet, split_clauses(tokens))
        return
    if tokens[0].text.casefold() in _ASKING:
        sheet.refuse(SupportCode.STATEMENT_UNPROVED, "(asks)")
    causal = markers.causal_in(part, shifted)
    if causal is None:
        _check_clauses(sheet, split_clauses(tokens))
        return
    effect, cause = markers.sides(shifted, causal)
    _check_clauses(sheet, split_clauses(effect), effect=True)
    _check_clauses(sheet, split_clauses(cause))
    code = causes.unproved(sheet.desk, effect or sheet.said, cause or sheet.said)
    if code is not None:
        sheet.refuse(code)


def _check_open(sheet: Sheet, clauses: tuple[Clause, ...]) -> None:
    """What is said to be unknown claims nothing; what is named in it has to exist."""
    for clause in clauses:
        part = " ".join("" if token.kind is Kind.QUOTE else token.text for token in clause.tokens)
        unknown = any(token.role is Role.UNKNOWN for token in clause.tokens)
        if not (unknown or markers.is_open(part, ()) or markers.is_question(part)):
            _check_clause(sheet, clause, effect=False)
            continue
        for token in clause.tokens:
            if actions.is_known(sheet.desk, token):
                continue
            if token.kind is Kind.NAME:
                sheet.refuse(SupportCode.IDENTIFIER_UNKNOWN, token.text)
            elif token.kind is Kind.WORD and token.role is Role.CONTENT:
                # What is asked about is presupposed: "why it caught fire is unknown".
                sheet.refuse(SupportCode.WORDS_UNBOUND, token.text)


def _check_clauses(sheet: Sheet, clauses: tuple[Clause, ...], *, effect: bool = False) -> None:
    for clause in clauses:
        topics = clause.topics or (sheet.topics if not clause.names else ())
        _try_clause(sheet, Clause(clause.tokens, topics, clause.bound), effect=effect)
        if clause.subjects:
            sheet.topics = clause.subjects


def _try_clause(sheet: Sheet, clause: Clause, *, effect: bool) -> None:
    """Check a clause about the names before it; one with a subject of its own, also without.

    What neither way proves is refused as it was the first time.
    """
    kept, before, counted = sheet.findings.copy(), sheet.before, sheet.counted
    _check_clause(sheet, clause, effect=effect)
    first, after = sheet.findings, (sheet.before, sheet.counted)
    if not clause.topics or clause.bound or len(first.codes) == len(kept.codes):
        return
    codes = len(kept.codes)
    sheet.findings, sheet.before, sheet.counted = kept, before, counted
    _check_clause(sheet, Clause(clause.tokens), effect=effect)
    if len(sheet.findings.codes) > codes:
        sheet.findings, (sheet.before, sheet.counted) = first, after


def _check_clause(sheet: Sheet, clause: Clause, *, effect: bool) -> None:
    bindings = [found for call in sheet.desk.all for found in bind(sheet.desk, clause, call)]
    chosen = choose(sheet, clause, bindings)
    check_words(sheet, clause, chosen, effect=effect)
    if tallies.repeats(clause):
        sheet.refuse(SupportCode.SUBJECT_REFUTED, "(listed twice)")
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
