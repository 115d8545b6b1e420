"""One sentence against what it cites: every atom bound, or a code that says which is not (M4)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from affidavit.contract.states import EvidenceClass, EvidenceStatus
from affidavit.contract.violations import SupportCode
from affidavit.verify.prose import absences, actions, causes, computing, directions, figures
from affidavit.verify.prose import fitting, markers, nouns, tallies
from affidavit.verify.prose import polarity, quantifiers, roles, times
from affidavit.verify.prose.binding import Binding, bind, content_of, together
from affidavit.verify.prose.clauses import Clause, is_negative, split_clauses, split_statements
from affidavit.verify.prose.desk import TOLD, Desk
from affidavit.verify.prose.lexicon import Role
from affidavit.verify.prose.numbering import is_identity, labelled, names_thing
from affidavit.verify.prose.tokens import Kind, Token, tokenize
from affidavit.verify.sentences import Part
from affidavit.verify.statements.records import CallView, RecordView
from affidavit.verify.statements.units import Stated


@dataclass(slots=True)
class Findings:
    """What a sentence came to: codes against it, the records that carry it, what it binds."""

    codes: list[SupportCode] = field(default_factory=list)
    used: list[RecordView] = field(default_factory=list)
    numbers: list[Stated] = field(default_factory=list)
    moments: list[datetime] = field(default_factory=list)
    topics: tuple[Token, ...] = ()
    notes: list[str] = field(default_factory=list)

    def refuse(self, code: SupportCode, what: str = "") -> None:
        """Note a code once, and for the private audit every word that it is about."""
        if code not in self.codes:
            self.codes.append(code)
        self.notes.append(f"{code}: {what}" if what else code)


@dataclass(frozen=True, slots=True)
class GrantedNumber:
    """A number that a statement proved, with the call and the facts that prove it."""

    stated: Stated
    call: str
    facts: tuple[int, ...]
    counts: bool = False


@dataclass(frozen=True, slots=True)
class Granted:
    """What the sentence's own typed statements proved: numbers, moments, and words of theirs.

    A number goes with the call and the facts that prove it, so that it is granted to a clause about
    those facts alone. `whole` says that there are statements and that every one is proved.
    """

    numbers: tuple[GrantedNumber, ...] = ()
    whole: bool = False
    moments: tuple[datetime, ...] = ()
    names: frozenset[str] = frozenset()
    stems: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Context:
    """What stands around a sentence: its part, what its statements proved, what came before."""

    part: Part
    granted: Granted = field(default_factory=Granted)
    pool: computing.Pool = field(default_factory=computing.Pool)
    topics: tuple[Token, ...] = ()


def check_sentence(desk: Desk, text: str, context: Context) -> Findings:
    """Every code against one sentence, and what carries it where there is none."""
    tokens = tokenize(text)
    findings = Findings()
    if context.part is Part.NEGATIVE:
        for code in absences.check_absence(desk, split_clauses(tokens)):
            findings.refuse(code)
        return findings
    if context.part is Part.ACTION:
        for code in actions.check_action(desk, split_clauses(tokens), text):
            findings.refuse(code)
        return findings
    if context.part is Part.SCOPE:
        for code in actions.check_scope(desk, tokens, text):
            findings.refuse(code)
        return findings
    check = _Check(desk, context, findings, context.topics)
    for piece in split_statements(tokens):
        check.statement(piece, text)
    check.findings.topics = check.topics
    return check.findings


@dataclass(slots=True)
class _Check:
    """One sentence being checked."""

    desk: Desk
    context: Context
    findings: Findings
    topics: tuple[Token, ...] = ()
    before: Binding | None = None
    said: tuple[Token, ...] = ()
    counted: tuple[str, frozenset[int]] = ("", frozenset())

    def statement(self, tokens: tuple[Token, ...], text: str) -> None:
        """Check one statement: its causal link, if it says one, and each of its clauses."""
        part = text[tokens[0].start : tokens[-1].end] if tokens else ""
        shifted = tuple(_shift(token, tokens[0].start) for token in tokens)
        self._statement(tokens, shifted, part)
        self.said = tokens

    def _statement(
        self, tokens: tuple[Token, ...], shifted: tuple[Token, ...], part: str
    ) -> None:
        if markers.is_open(part, shifted):
            self._open(split_clauses(tokens))
            return
        causal = markers.causal_in(part, shifted)
        if causal is None:
            self._clauses(split_clauses(tokens))
            return
        effect, cause = markers.sides(shifted, causal)
        self._clauses(split_clauses(effect), effect=True)
        self._clauses(split_clauses(cause))
        code = causes.unproved(self.desk, effect or self.said, cause or self.said)
        if code is not None:
            self.findings.refuse(code)

    def _open(self, clauses: tuple[Clause, ...]) -> None:
        """What is said to be unknown claims nothing; what is named in it has to exist."""
        for clause in clauses:
            part = " ".join(
                "" if token.kind is Kind.QUOTE else token.text for token in clause.tokens
            )
            if not markers.is_open(part, ()) and not markers.is_question(part) and not any(
                token.role is Role.UNKNOWN for token in clause.tokens
            ):
                self._clause(clause, effect=False)
                continue
            for token in clause.tokens:
                if token.kind is Kind.NAME and not actions.is_known(self.desk, token):
                    self.findings.refuse(SupportCode.IDENTIFIER_UNKNOWN, token.text)

    def _clauses(self, clauses: tuple[Clause, ...], *, effect: bool = False) -> None:
        for clause in clauses:
            topics = clause.topics or (self.topics if not clause.names else ())
            self._tried(Clause(clause.tokens, topics, clause.bound), effect=effect)
            if clause.subjects:
                self.topics = clause.subjects

    def _tried(self, clause: Clause, *, effect: bool) -> None:
        """Check a clause about the names before it; one with a subject of its own, also without.

        What neither way proves is refused as it was the first time.
        """
        kept = replace(self.findings, **_copies(self.findings))
        self._clause(clause, effect=effect)
        if not clause.topics or clause.bound or len(self.findings.codes) == len(kept.codes):
            return
        again = _Check(
            self.desk, self.context, kept, (), self.before, self.said, self.counted
        )
        again._clause(Clause(clause.tokens), effect=effect)
        if len(kept.codes) < len(self.findings.codes):
            self.findings, self.before = kept, again.before

    def _clause(self, clause: Clause, *, effect: bool) -> None:
        desk = self.desk
        bindings = [found for call in desk.all for found in bind(desk, clause, call)]
        chosen = self._choose(clause, bindings)
        self._words(clause, chosen, effect=effect)
        if tallies.repeats(clause):
            self.findings.refuse(SupportCode.SUBJECT_REFUTED, "(listed twice)")
        self._hedges(clause)
        self._moments(clause, chosen)
        self._numbers(clause, chosen)
        self._logic(clause, chosen)
        for binding in chosen:
            if binding.call.id != TOLD:
                self.findings.used.extend(binding.records()[:SHOWN_MAX])
        self.before = chosen[0] if chosen else self.before

    def _choose(self, clause: Clause, bindings: list[Binding]) -> list[Binding]:
        """The calls that the clause speaks of: those that hold all its names, most words first."""
        names = [
            token for place, token in enumerate(clause.tokens)
            if (token.kind is Kind.QUOTE or names_thing(clause.tokens, place)
                or (token.kind is Kind.WORD and token.role is Role.CONTENT
                    and self.desk.is_value(token)))
            and not nouns.is_kind(clause.tokens, place)
            and not self._only_asked(token)
        ]  # fmt: skip
        full = [
            binding for binding in bindings
            if all(token in binding.held or self._is_granted(token) for token in names)
        ]  # fmt: skip
        return sorted(full, key=lambda binding: -len(binding.held))

    def _only_asked(self, token: Token) -> bool:
        """A conclusion may call the thing by the name that the question gave it."""
        return (
            self.context.part is Part.CONCLUSION and self.desk.restates(token)
            and not self._known(token)
        )  # fmt: skip

    def _is_granted(self, token: Token) -> bool:
        return token.text.casefold() in self.context.granted.names

    # --- words

    def _words(self, clause: Clause, chosen: list[Binding], *, effect: bool) -> None:
        content = content_of(clause)
        if not chosen:
            self._unbound(content)
            return
        held = {token for binding in chosen for token in binding.held}
        asked = effect or self.context.part is Part.CONCLUSION
        plain = self._plain_left(clause, held)
        for place, token in enumerate(clause.tokens):
            if token not in content or token in held or self._is_granted(token):
                continue
            if token.kind is Kind.WORD and token.stems & self.context.granted.stems:
                continue
            if nouns.is_kind(clause.tokens, place) and actions.is_known(self.desk, token):
                continue
            if plain > 0 and nouns.is_plain(token) and not self._known(token):
                plain -= 1
                continue
            if asked and token.kind is Kind.WORD and self.desk.restates(token):
                continue
            if self._only_asked(token):
                continue
            if nouns.is_label(clause.tokens, place) and not self._known(token):
                continue
            if self._is_linking(token):
                continue
            code = _code_of(self.desk, token)
            if token.kind is Kind.WORD and self._is_elsewhere(clause, token, chosen):
                code = SupportCode.SUBJECT_REFUTED
            self.findings.refuse(code, token.text)
        if content and not any(together(self.desk, binding) for binding in chosen):
            self.findings.refuse(SupportCode.WORDS_UNBOUND, "(not together)")

    def _plain_left(self, clause: Clause, held: set[Token]) -> int:
        """How many words may stand unbound: none where nothing strong is bound in the clause."""
        strong = any(
            token.kind in {Kind.NAME, Kind.QUOTE, Kind.NUMBER, Kind.MOMENT} for token in clause.tokens
        )
        if self.context.granted.whole:
            return nouns.PLAIN_STATED_MAX
        return min(len(held), nouns.PLAIN_MAX) if strong else 0

    def _is_elsewhere(self, clause: Clause, token: Token, chosen: list[Binding]) -> bool:
        """Whether the word is said of another thing of the same kind, and not of this one."""
        if not clause.names or not (nouns.claims(token) or token.proper):
            return False
        for item in chosen:
            shapes = {record.shape for record in item.records()}
            if any(
                item.call.records[place].shape in shapes
                for place in self.desk.places(item.call, token)
            ):
                return True
        return False

    def _is_linking(self, token: Token) -> bool:
        """A conclusion may join what was told apart, with words that claim nothing themselves."""
        return (
            self.context.part is Part.CONCLUSION and token.kind is Kind.WORD
            and not nouns.claims(token) and self._known(token)
        )  # fmt: skip

    def _known(self, token: Token) -> bool:
        return any(self.desk.places(call, token) for call in self.desk.all)

    def _unbound(self, content: tuple[Token, ...]) -> None:
        """No call holds the clause's names together."""
        unknown = [token for token in content if not actions.is_known(self.desk, token)]
        for token in unknown:
            self.findings.refuse(_code_of(self.desk, token), token.text)
        if not unknown:
            self.findings.refuse(SupportCode.SUBJECT_REFUTED, "(names not together)")

    def _hedges(self, clause: Clause) -> None:
        """What may be, should be or has to be is no fact; nor is "since" what has no moment."""
        words = [token.text.casefold() for token in clause.tokens]
        for place, word in enumerate(words[:-1]):
            if word in {"has", "have", "needs", "need"} and words[place + 1] == "to":
                self.findings.refuse(SupportCode.WORDS_UNBOUND, "(has to)")
            if word == "since" and not any(
                token.kind in {Kind.MOMENT, Kind.NUMBER} for token in clause.tokens[place + 1 : place + 4]
            ):
                self.findings.refuse(SupportCode.STATEMENT_UNPROVED, "(since)")
        for token in clause.tokens:
            if token.kind is Kind.WORD and token.role is Role.HEDGE and not self._known(token):
                self.findings.refuse(SupportCode.WORDS_UNBOUND, token.text)

    # --- numbers and moments

    def _numbers(self, clause: Clause, chosen: list[Binding]) -> None:
        for figure in figures.figures_of(clause):
            if self._number(figure, clause, chosen):
                self.findings.numbers.append(figure.stated)
                continue
            known = any(
                field_.number == figure.stated.number
                for call in self.desk.all for record in call.records for field_ in record.fields
            )  # fmt: skip
            code = SupportCode.NUMBER_REFUTED if known else SupportCode.NUMBER_UNKNOWN
            self.findings.refuse(code, figure.token.text)

    def _number(self, figure: figures.Figure, clause: Clause, chosen: list[Binding]) -> bool:
        """Whether a statement, a field, a count or a computation binds the number."""
        if self._is_granted_number(figure, chosen):
            return True
        pool = computing.Pool(
            (*self.context.pool.numbers, *self.findings.numbers),
            (*self.context.pool.moments, *self.findings.moments),
        )
        top = self._speaking(chosen)
        records = tuple(record for item in top for record in item.records())[:RECORDS_MAX]
        if computing.is_difference(figure) or computing.is_multiple(figure):
            return computing.by_computing(figure, pool, records)
        if is_identity(clause.tokens, figure.place) or labelled(clause.tokens, figure.place):
            return any(
                fitting.by_label(figure, item, self.desk.places(item.call, figure.token))
                for item in top
            )
        if tallies.by_listing(figure):
            return True
        said = [self._by_field(figure, clause, binding) for binding in top]
        if True in said or False in said:
            return True in said or computing.by_computing(figure, pool, records)
        return self._by_count(figure, top) or computing.by_computing(figure, pool, records)

    def _speaking(self, chosen: list[Binding]) -> list[Binding]:
        """The calls that hold as much as the best of them: every word, or every claim and name."""
        if not chosen:
            return []
        most = len(chosen[0].held)
        named = bool(chosen[0].named)
        claimed = {token for token in chosen[0].held if nouns.claims(token)}
        return [
            item for item in chosen
            if len(item.held) == most or (named and item.named and claimed <= set(item.held))
        ]

    def _by_count(self, figure: figures.Figure, top: list[Binding]) -> bool:
        if any(
            tallies.by_question(figure, item) or tallies.by_distinct(figure, item) for item in top
        ):
            return True
        for item in top[:CALLS_COUNTED_MAX]:
            places = tallies.by_count(self.desk, figure, item, self.before)
            if places is not None:
                self.counted = item.call.id, places
                return True
        return False

    def _is_granted_number(self, figure: figures.Figure, chosen: list[Binding]) -> bool:
        """Whether a statement proved the number, about records that the clause speaks of."""
        stated = figure.stated
        moment = figures.attached_moment(figure)
        for item in self.context.granted.numbers:
            if item.stated.number != stated.number or item.stated.unit not in {stated.unit, ""}:
                continue
            for binding in chosen:
                spoken = {place for record in binding.wider() for place in record.facts}
                at = [
                    record for record in binding.wider()
                    if set(record.facts) & set(item.facts) and fitting.is_timed(record, moment, None)
                ]  # fmt: skip
                if binding.call.id == item.call and at and (
                    not item.counts or set(item.facts) <= spoken
                ):
                    return True
        return False

    def _by_field(self, figure: figures.Figure, clause: Clause, binding: Binding) -> bool | None:
        window = self._window(clause, binding, figure)
        if figure.operator != "=":
            said = fitting.by_comparison(figure, binding, window, self.before)
            if said is not None:
                return said
            if not fitting.stands_beside(figure):
                return False
        return fitting.by_field(figure, binding, window)

    def _window(
        self, clause: Clause, binding: Binding, figure: figures.Figure | None = None
    ) -> tuple[datetime, datetime] | None:
        scope = binding.call.call.envelope.scope.window
        others = tuple(record.at for record in binding.wider() if record.at)
        if figure is not None and figures.stays(figure):
            return times.from_last(clause, figure.token, scope, others)
        return times.span_of(clause, scope, others)

    def _moments(self, clause: Clause, chosen: list[Binding]) -> None:
        for token in clause.of(Kind.MOMENT):
            moment = token.moment
            assert moment is not None
            granted = any(moment.matches(at) for at in self.context.granted.moments)
            scope = chosen[0].call.call.envelope.scope.window if chosen else None
            if times.is_backwards(clause, scope):
                self.findings.refuse(SupportCode.WINDOW_REFUTED, token.text)
                continue
            if granted or any(
                times.bound_moment(self.desk, clause, token, binding) for binding in chosen
            ):
                self._keep_moment(token, chosen)
                continue
            known = any(
                record.stands_at(moment) for call in self.desk.calls for record in call.records
            )
            code = SupportCode.TIME_REFUTED if known else SupportCode.TIME_UNKNOWN
            self.findings.refuse(code, token.text)

    def _keep_moment(self, token: Token, chosen: list[Binding]) -> None:
        for binding in chosen:
            scope = binding.call.call.envelope.scope.window
            at = times.resolve(token.moment, scope, tuple(r.at for r in binding.wider() if r.at))
            if at is not None:
                self.findings.moments.append(at)
                return

    # --- negation, quantifiers, directions, classes

    def _logic(self, clause: Clause, chosen: list[Binding]) -> None:
        if not chosen:
            return
        top = [item for item in chosen if len(item.held) == len(chosen[0].held)]
        if polarity.denied_words(self.desk, clause, chosen):
            self.findings.refuse(SupportCode.NEGATION_REFUTED, "(denied)")
        if is_negative(clause) and not any(
            polarity.denial_shown(clause, item)
            or quantifiers.holds_for_none(clause, item, self.desk, self.counted)
            for item in top
        ):
            self.findings.refuse(SupportCode.NEGATION_REFUTED, "(not denied)")
        self._quantity_words(clause, chosen)
        if roles.are_swapped(clause, chosen):
            self.findings.refuse(SupportCode.DIRECTION_REFUTED, "(roles)")
        direction = directions.direction_in(clause)
        if direction is not None:
            said = [
                directions.moves_so(clause, item, direction, self._window(clause, item))
                for item in chosen
            ]
            if True not in said:
                code = SupportCode.DIRECTION_REFUTED if False in said else SupportCode.WORDS_UNBOUND
                self.findings.refuse(code, direction)
        self._classes(clause, chosen)

    def _quantity_words(self, clause: Clause, chosen: list[Binding]) -> None:
        place = quantifiers.universal_of(clause)
        if place is not None and not any(
            quantifiers.holds_for_all(self.desk, clause, item, place, self.counted)
            for item in chosen
        ):
            self.findings.refuse(SupportCode.QUANTIFIER_REFUTED, "all")
        if quantifiers.only_of(clause) is not None and not any(
            quantifiers.holds_for_only(self.desk, clause, item) for item in chosen
        ):
            self.findings.refuse(SupportCode.QUANTIFIER_REFUTED, "only")

    def _classes(self, clause: Clause, chosen: list[Binding]) -> None:
        """Guidance may only be quoted as what it is (C13, N17)."""
        if any(_observes(item.call) for item in chosen):
            return
        words = {stem_ for token in clause.tokens for stem_ in token.stems}
        kinds = {item.call.call.envelope.evidence_class for item in chosen}
        if EvidenceClass.GUIDANCE in kinds and not words & _GUIDANCE_WORDS:
            self.findings.refuse(SupportCode.GUIDANCE_CITED)


def _copies(findings: Findings) -> dict[str, list[object]]:
    """Fresh lists, so that a second try does not write into the first."""
    return {
        name: list(getattr(findings, name))
        for name in ("codes", "used", "numbers", "moments", "notes")
    }


SHOWN_MAX: Final = 6
"""Facts of one clause that a reader is shown."""
CALLS_COUNTED_MAX: Final = 2
"""Counting in more calls than the two that hold most of a clause meets small numbers by chance."""
RECORDS_MAX: Final = 40
"""Records between whose moments a span is looked for."""
_GUIDANCE_WORDS: Final = frozenset(
    "runbook guid catalog catalogue document docum wiki handbook knowledg 手册 文档".split()
)


def _observes(call: CallView) -> bool:
    envelope = call.call.envelope
    return (
        envelope.evidence_class is not EvidenceClass.GUIDANCE
        and envelope.status is EvidenceStatus.EVIDENCE_FOUND
    )


def _code_of(desk: Desk, token: Token) -> SupportCode:
    if token.kind is Kind.QUOTE:
        return SupportCode.QUOTE_NOT_FOUND
    if token.kind is Kind.WORD:
        return SupportCode.WORDS_UNBOUND
    if actions.is_known(desk, token):
        return SupportCode.SUBJECT_REFUTED
    return SupportCode.URL_UNKNOWN if "://" in token.text else SupportCode.IDENTIFIER_UNKNOWN


def _shift(token: Token, by: int) -> Token:
    return Token(
        token.kind, token.text, token.start - by, token.end - by, token.role, token.stems,
        token.stated, token.moment, token.spelled, token.proper,
    )  # fmt: skip
