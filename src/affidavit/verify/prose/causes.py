"""A cause said in prose: does a record explain it, in one of the three ways of M5?

The record has to hold most of what the cause side says, and the effect side's subject or words; to
explain (a reason, an error, a "because"); and to be the platform's own words, or a workload's with
a second record of either end. Else the two ends' names are tried as a typed cause: abnormality,
order and a recorded path. Words that a caller could have written explain nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from affidavit.contract.statement import CauseStatement
from affidavit.contract.states import Emitter, EvidenceClass
from affidavit.contract.violations import SupportCode
from affidavit.verify.prose import polarity
from affidavit.verify.prose.clauses import Clause, split_clauses
from affidavit.verify.prose.desk import TOLD, Desk
from affidavit.verify.prose.lexicon import Role
from affidavit.verify.prose.markers import causal_in
from affidavit.verify.prose.nouns import claims
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.statements.cause import explains, explanation, is_reversed, prove_abnormal
from affidavit.verify.statements.outcome import Proved
from affidavit.verify.statements.records import CallView, RecordView
from affidavit.verify.statements.words import names_in, stem, stems_of

CAUSE_SHARE_MIN: Final = 0.6
"""Most of what is said of the cause has to stand in the record that explains."""


def unproved(desk: Desk, effect: tuple[Token, ...], cause: tuple[Token, ...]) -> SupportCode | None:
    """None where the cause is proved; else the code that says which leg is missing."""
    ends = _core(effect, telling=True), _first(cause)
    if not ends[0] or not ends[1]:
        return SupportCode.CAUSE_UNPROVED
    if all(token.kind in {Kind.NAME, Kind.NUMBER} for token in ends[1]):
        # A thing is no cause; something about it may be.
        return SupportCode.CAUSE_UNPROVED
    if _told(desk, *ends, (*effect, *cause)):
        return None
    lone = False
    for call in desk.calls:
        for record in call.records:
            if not _holds_both(desk, call, record, *ends):
                continue
            if polarity.contradicts(record, effect) or polarity.contradicts(record, cause):
                continue
            if not _is_directed(record, *ends):
                continue
            code = _weigh(desk, call, record, ends)
            if code is None:
                return None
            lone = lone or code is SupportCode.CAUSE_ONE_RECORD
    if _typed(desk, effect, cause):
        return None
    return SupportCode.CAUSE_ONE_RECORD if lone else SupportCode.CAUSE_UNPROVED


_REASONS: Final = frozenset(map(stem, "reason cause message error".split()))


def is_named_reason(desk: Desk, cause: tuple[Token, ...]) -> bool:
    """ "the reason is bad_certificate": what a record gives in a field that is called so."""
    named = [token for token in cause if token.kind is Kind.QUOTE or _is_entity(desk, token)]
    others = [token for token in _core(cause) if token not in named]
    if len(named) != 1 or others:
        return False
    low = named[0].text.casefold()
    return any(
        field.text.strip().casefold() == low and field.names & _REASONS and not field.loose
        for call in desk.calls for record in call.records for field in record.fields
    )  # fmt: skip


_HAPPENING: Final = frozenset(
    stem(word) for word in
    "start started begin end ended finish finished open close run stop complete completed continue "
    "reach move turn become".split()
)  # fmt: skip
"""Free words that say what happened, and not how it was seen."""


_ENDED: Final = frozenset(stem(word) for word in "end finish finished complete completed".split())
_ENDED_ZH: Final = frozenset("结束 完成".split())


def _happens(token: Token) -> bool:
    return bool(token.stems & _HAPPENING) or token.text in _ENDED_ZH


def _runs_out(tokens: tuple[Token, ...], place: int) -> bool:
    """ "runs out of memory": it is the memory that is told of."""
    return [token.text.casefold() for token in tokens[place + 1 : place + 3]] == ["out", "of"]


def _unended(tokens: tuple[Token, ...], place: int) -> Token:
    """What has not ended is running: said so, or said the other way."""
    token = tokens[place]
    before = tokens[max(0, place - 2) : place]
    if token.kind is not Kind.WORD or not any(item.role is Role.NEGATION for item in before):
        return token
    if token.text not in _ENDED_ZH and not token.stems & _ENDED:
        return token
    return replace(token, text="running", stems=frozenset({"run", "active"}), role=Role.CONTENT)


def _is_directed(record: RecordView, effect: tuple[Token, ...], cause: tuple[Token, ...]) -> bool:
    """Whether the record's reason speaks of the cause, and not of the effect instead."""
    text = explanation(record)
    told = stems_of(text) | names_in(text)
    words, others = _forms(cause), _forms(effect)
    held = sum(
        1 for token in cause if _forms((token,)) & told or token.text.casefold() in text.casefold()
    )
    if not held or held < len(cause) * EXPLAINED_SHARE_MIN:
        return False
    return not is_reversed(text, words - others, others - words)


EXPLAINED_SHARE_MIN: Final = 0.5
"""So much of the cause has to stand in what the record gives as its reason."""


def _forms(tokens: tuple[Token, ...]) -> frozenset[str]:
    found: set[str] = set()
    for token in tokens:
        found |= token.stems | names_in(token.text)
        if token.kind is Kind.QUOTE:
            found |= stems_of(token.text)
    return frozenset(found)


def _core(tokens: tuple[Token, ...], *, telling: bool = False) -> tuple[Token, ...]:
    """What some tokens are about; with `telling` also verbs such as "started" and 启动."""
    return tuple(
        _unended(tokens, place) for place, token in enumerate(tokens)
        if not _runs_out(tokens, place)
        and (token.kind in {Kind.NAME, Kind.QUOTE}
        or (telling and token.role is Role.FREE and _happens(token))
        or (token.kind is Kind.NUMBER and len(token.text) >= 3 and not token.spelled)
        or (token.kind is Kind.WORD and token.role is Role.CONTENT))
    )  # fmt: skip


def _first(cause: tuple[Token, ...]) -> tuple[Token, ...]:
    """What the cause is: its first clause that says anything. What follows it is told beside it."""
    for clause in split_clauses(cause):
        core = _core(_before_aside(clause.tokens), telling=True)
        if core:
            return core
    return ()


_ASIDES: Final = frozenset("after before when while where which who".split())


def _before_aside(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """A cause without what came before it ("was disabled after b failed"), which is told beside it."""
    end = next(
        (
            place for place, token in enumerate(tokens)
            if token.text.casefold() in _ASIDES and _core(tokens[:place])
        ),
        len(tokens),
    )  # fmt: skip
    return tokens[:end]


def _same_sense(told: tuple[Token, ...], said: tuple[Token, ...]) -> bool:
    """Whether both deny something, or neither."""
    return bool(polarity.negators_of(Clause(told))) == bool(polarity.negators_of(Clause(said)))


def _told(
    desk: Desk, effect: tuple[Token, ...], cause: tuple[Token, ...], said: tuple[Token, ...]
) -> bool:
    """Whether a proved sentence already says this cause, in the same direction or in one record."""
    if desk.told is None:
        return False
    for record in desk.told.records:
        tokens = desk.told_tokens[record.place]
        if causal_in(record.text, tokens) is None or not _same_sense(tokens, said):
            continue
        if _share(desk, desk.told, record, cause) >= CAUSE_SHARE_MIN and (
            _share(desk, desk.told, record, effect) >= CAUSE_SHARE_MIN
        ):
            return True
    return False


def _share(
    desk: Desk,
    call: CallView,
    record: RecordView,
    tokens: tuple[Token, ...],
    beside: tuple[Token, ...] = (),
) -> float:
    """How much of some tokens a record holds.

    A name that this call does not hold is left out where another record links it with a name of
    the other side: `/healthz` is the health check of the target group that is spoken of.
    """
    counted = [
        token for token in tokens
        if desk.places(call, token) or not (token.kind is Kind.NAME and _linked(desk, token, beside))
    ]  # fmt: skip
    held = sum(1 for token in counted if record.place in desk.places(call, token))
    return held / len(counted) if counted else 0.0


def _is_known(desk: Desk, token: Token) -> bool:
    return any(desk.places(call, token) or desk.is_about(call, token) for call in desk.calls)


def _linked(desk: Desk, token: Token, beside: tuple[Token, ...]) -> bool:
    return any(
        desk.places(call, token) & desk.places(call, other)
        for call in desk.all
        for other in beside
        if other.kind is Kind.NAME
    )


def _holds_both(
    desk: Desk, call: CallView, record: RecordView,
    effect: tuple[Token, ...], cause: tuple[Token, ...],
) -> bool:  # fmt: skip
    if _share(desk, call, record, cause, effect) < CAUSE_SHARE_MIN:
        return False
    strong = [token for token in cause if token.kind is not Kind.WORD]
    if any(
        desk.places(call, token) and record.place not in desk.places(call, token)
        for token in strong
    ):
        return False
    return _touches(desk, call, record, effect)


def _touches(desk: Desk, call: CallView, record: RecordView, effect: tuple[Token, ...]) -> bool:
    """Whether the record speaks of the effect: its names, or half of its words, one in itself."""
    words = [token for token in effect if token.kind is Kind.WORD]
    if words and not any(
        record.place in desk.places(call, token) or desk.is_asked(token) for token in effect
    ):
        return False
    if any(
        claims(token) and record.place not in desk.places(call, token) and not desk.is_asked(token)
        for token in words
    ):
        return False
    names = [token for token in effect if token.kind is Kind.NAME and _is_known(desk, token)]
    if names:
        return all(
            record.place in desk.places(call, token) or desk.is_about(call, token)
            for token in names
        )
    here = sum(
        1 for token in effect
        if record.place in desk.places(call, token) or desk.is_about(call, token)
        or desk.is_asked(token)
    )  # fmt: skip
    return here * 2 >= len(effect)


def _weigh(
    desk: Desk, call: CallView, record: RecordView,
    ends: tuple[tuple[Token, ...], tuple[Token, ...]],
) -> SupportCode | None:  # fmt: skip
    """None where the record's words may prove a cause, and do."""
    envelope = call.call.envelope
    if envelope.evidence_class is EvidenceClass.GUIDANCE:
        return SupportCode.GUIDANCE_CITED
    if record.emitter is Emitter.REQUEST:
        return SupportCode.REQUEST_TEXT_CITED
    if envelope.evidence_class is not EvidenceClass.OBSERVATION or not explains(record):
        return SupportCode.CAUSE_UNPROVED
    if record.emitter is Emitter.PLATFORM:
        return None
    tokens = (*ends[0], *ends[1])
    return None if _second(desk, call, tokens) else SupportCode.CAUSE_ONE_RECORD


def _second(desk: Desk, call: CallView, tokens: tuple[Token, ...]) -> bool:
    """Whether another call holds a record of either end."""
    for other in desk.wide or desk.calls:
        if other.id == call.id or other.call.envelope.evidence_class is EvidenceClass.GUIDANCE:
            continue
        for token in tokens:
            if any(
                other.records[place].emitter is not Emitter.REQUEST
                for place in desk.places(other, token)
            ):
                return True
    return False


def _typed(desk: Desk, effect: tuple[Token, ...], cause: tuple[Token, ...]) -> bool:
    """Way (c): an abnormality, an order and a path between a name of either side."""
    calls = tuple(call for call in desk.calls if call.id != TOLD)
    if not calls:
        return False
    for subject, symptom in _pairs(desk, effect, cause):
        statement = CauseStatement(tool_call_id=calls[0].id, subject=subject, object=symptom)
        if isinstance(prove_abnormal(statement, calls), Proved):
            return True
    return False


def _is_entity(desk: Desk, token: Token) -> bool:
    return token.kind is Kind.NAME or (token.kind is Kind.WORD and desk.is_value(token))


NAMES_TRIED_MAX: Final = 4
"""A sentence that names more entities on one side does not say which one it means."""


def _pairs(
    desk: Desk, effect: tuple[Token, ...], cause: tuple[Token, ...]
) -> Iterator[tuple[str, str]]:
    causes = [token.text for token in cause if _is_entity(desk, token)][:NAMES_TRIED_MAX]
    effects = [token.text for token in effect if _is_entity(desk, token)][:NAMES_TRIED_MAX]
    for subject in causes:
        for symptom in effects:
            if subject.casefold() != symptom.casefold():
                yield subject, symptom
