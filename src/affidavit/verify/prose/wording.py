"""The words of a clause: each name, quotation and content word found where the clause speaks."""

from __future__ import annotations

from typing import Final

from affidavit.contract.violations import SupportCode
from affidavit.verify.prose import limits, nouns, told
from affidavit.verify.prose.actions import is_known
from affidavit.verify.prose.binding import Binding, content_of, together
from affidavit.verify.prose.clauses import Clause
from affidavit.verify.prose.desk import TOLD, Desk
from affidavit.verify.prose.figures import figures_of
from affidavit.verify.prose.lexicon import Role
from affidavit.verify.prose.numbering import names_thing
from affidavit.verify.prose.quantities import LIMITING
from affidavit.verify.prose.sheet import Sheet
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.sentences import Part
from affidavit.verify.statements.words import stem, stems_of


def choose(sheet: Sheet, clause: Clause, bindings: list[Binding]) -> list[Binding]:
    """The calls that the clause speaks of: those that hold all its names, most words first."""
    names = [
        token
        for place, token in enumerate(clause.tokens)
        if _has_to_stand(sheet, clause, place)
        and not nouns.is_kind(clause.tokens, place)
        and not sheet.only_asked(token)
    ]
    full = [
        binding
        for binding in bindings
        if all(token in binding.held or _grants(sheet, binding, token) for token in names)
    ]
    return sorted(full, key=lambda binding: -len(binding.held))


def _grants(sheet: Sheet, binding: Binding, token: Token) -> bool:
    """Whether a statement of the sentence brings the name; what the report told names its own."""
    return binding.call.id != TOLD and sheet.is_granted(token)


def _has_to_stand(sheet: Sheet, clause: Clause, place: int) -> bool:
    token = clause.tokens[place]
    if token.kind is Kind.QUOTE or names_thing(clause.tokens, place):
        return True
    is_word = token.kind is Kind.WORD and token.role is Role.CONTENT
    return is_word and sheet.desk.is_value(token)


def check_words(sheet: Sheet, clause: Clause, chosen: list[Binding], *, effect: bool) -> None:
    """Refuse every word that has to be found and is not."""
    content = content_of(clause)
    if not chosen:
        _unbound(sheet, content)
        return
    held = {
        token
        for binding in chosen
        for token in binding.held
        if not nouns.claims(token) or _stands_with(sheet, binding, token, content)
    }
    plain = _plain_left(sheet, clause, held)
    for place, token in enumerate(clause.tokens):
        reached = limits.is_reached(clause, place, chosen)
        if reached is False:
            sheet.refute(SupportCode.NUMBER_REFUTED, f"({token.text})")
        if reached is not None:
            continue
        if token not in content or token in held:
            continue
        if _may_stand(sheet, clause, place, effect=effect):
            continue
        if (
            plain > 0
            and nouns.is_plain(token)
            and not sheet.knows(token)
            and not _is_new_argument(sheet, clause, place)
        ):
            plain -= 1
            continue
        code = code_of(sheet.desk, token)
        if token.kind is Kind.WORD and _is_elsewhere(sheet, clause, token, chosen):
            code = SupportCode.SUBJECT_REFUTED
        sheet.refuse(code, token.text)
    for token in clause.tokens:
        if token.text.casefold() in _JUDGING and not _is_literal(sheet, token, chosen):
            sheet.refuse(SupportCode.WORDS_UNBOUND, token.text)
    for place in range(1, len(clause.tokens)):
        if _is_of_other_field(clause, place, chosen) or _was_before(clause, place, chosen):
            sheet.refuse(SupportCode.SUBJECT_REFUTED, f"({clause.tokens[place].text})")
    if content and not any(together(sheet.desk, binding) for binding in chosen):
        sheet.refuse(SupportCode.WORDS_UNBOUND, "(not together)")


def _is_of_other_field(clause: Clause, place: int, chosen: list[Binding]) -> bool:
    """Whether a name stands behind the name of a field that holds another: "version 5.2.0" of a
    record whose `version` is 5.2.1 and whose `previous_version` is 5.2.0."""
    token, label = clause.tokens[place], clause.tokens[place - 1]
    if token.kind is not Kind.NAME or label.kind is not Kind.WORD:
        return False
    low, named = token.text.casefold(), stems_of(label.text)
    if label.role is not Role.CONTENT or not named:
        return False
    said = [
        (field.text.casefold() == low, stems_of(field.name.rsplit(".", 1)[-1]) == named)
        for item in chosen
        for record in item.records()
        for field in record.fields
        if not field.loose and field.number is None
    ]
    return (False, True) in said and (True, False) in said and (True, True) not in said


_JUDGING: Final = frozenset("fast slow quick high low big large small".split())
"""What these call a reading is a judgement: that there is a reading does not show it."""


def _is_literal(sheet: Sheet, token: Token, chosen: list[Binding]) -> bool:
    """Whether a record, a proved statement or the question uses the very word."""
    own = stem(token.text)
    return (
        own in sheet.context.granted.stems
        or own in stems_of(sheet.desk.asked_text)
        or any(own in record.stems for item in chosen for record in item.records())
    )


_FORMER: Final = stems_of("from old previous prior before former")
_INTO: Final = stems_of("to new current after now")
_FORMERLY: Final = frozenset(
    "from old previous previously prior before former formerly replaced replacing instead earlier "
    "back rolled reverted 从 由 旧 之前 原".split()
)


def _was_before(clause: Clause, place: int, chosen: list[Binding]) -> bool:
    """Whether a value is what a change record gives as before, in a clause that speaks of no before:
    "version 7.1 was deployed" of a change from 7.1 to 7.2."""
    low = clause.tokens[place].text.casefold()
    if clause.tokens[place].kind not in {Kind.NAME, Kind.NUMBER} or _FORMERLY & {
        token.text.casefold() for token in clause.tokens
    }:
        return False
    fields = [
        field for item in chosen for record in item.records() for field in record.fields
        if not field.loose
    ]  # fmt: skip
    last = [(stems_of(field.name.rsplit(".", 1)[-1]), field.text.casefold()) for field in fields]
    before = any(names <= _FORMER and names and text == low for names, text in last)
    other = any(text == low and not names <= _FORMER for names, text in last)
    return before and not other and any(names and names <= _INTO for names, _ in last)


def _stands_with(sheet: Sheet, binding: Binding, token: Token, content: tuple[Token, ...]) -> bool:
    """Whether a claim stands in a call that holds half of the clause, beside another word of it."""
    if len(binding.held) < len(content) / 2:
        return False
    if binding.named or len(content) < 2:
        return True
    places = sheet.desk.places(binding.call, token)
    beside = [item for item in binding.held if item is not token and item.text != token.text]
    return not beside or any(places & sheet.desk.places(binding.call, item) for item in beside)


_BEFORE_ARGUMENT: Final = frozenset(
    "of in at on for from by to with into onto via between among across under over and or than".split()
)
_ARTICLES: Final = frozenset(
    "the a an this that these those its their our all each every any".split()
)


_POINTING: Final = frozenset("that this these those".split())


def _is_new_argument(sheet: Sheet, clause: Clause, place: int) -> bool:
    """Whether a word names something that nothing speaks of: no call, no question, no pointing."""
    token = clause.tokens[place]
    if not _is_argument(clause, place) or token.text.casefold().endswith("est"):
        return False
    before = clause.tokens[place - 1].text.casefold() if place else ""
    if before in _POINTING or sheet.desk.is_asked(token):
        return False
    return not any(sheet.desk.is_called(call, token) for call in sheet.desk.calls)


def _is_argument(clause: Clause, place: int) -> bool:
    """Whether a word stands where a sentence names what it is about: first, or after a preposition.

    Who or what something is said of has to be found, however plain the word is.
    """
    before = [
        token.text.casefold()
        for token in clause.tokens[:place]
        if token.text.casefold() not in _ARTICLES
    ]
    return not before or before[-1] in _BEFORE_ARGUMENT


def _may_stand(sheet: Sheet, clause: Clause, place: int, *, effect: bool) -> bool:
    """Whether a token that no chosen call holds may stand all the same."""
    token = clause.tokens[place]
    if sheet.is_granted(token) or sheet.only_asked(token):
        return True
    if nouns.is_kind(clause.tokens, place) and is_known(sheet.desk, token):
        return True
    if nouns.is_label(clause.tokens, place) and not sheet.knows(token):
        return True
    if token.kind is not Kind.WORD:
        return False
    if _qualifies_limit(clause, place) or _is_in_told_phrase(sheet, clause, token):
        return True
    if token.stems & sheet.context.granted.stems:
        return True
    asked = effect or sheet.context.part is Part.CONCLUSION
    return (asked and sheet.desk.restates(token)) or _is_known_plain(sheet, token)


_GRANTED: Final = frozenset(
    "configured allowed permitted specified set given defined declared assigned granted".split()
)


def _qualifies_limit(clause: Clause, place: int) -> bool:
    """Whether a word only says that a limit is one: "a configured maximum of 40"."""
    behind = clause.tokens[place + 1 : place + 3]
    return clause.tokens[place].text.casefold() in _GRANTED and any(
        stem(token.text) in LIMITING for token in behind if token.kind is Kind.WORD
    )


def _is_in_told_phrase(sheet: Sheet, clause: Clause, token: Token) -> bool:
    """Whether a word belongs to a phrase that a conclusion takes whole from what was told."""
    return sheet.context.part is Part.CONCLUSION and any(
        token in told.phrase_of(figure) and told.holds_phrase(sheet.desk, figure)
        for figure in figures_of(clause)
    )


def _plain_left(sheet: Sheet, clause: Clause, held: set[Token]) -> int:
    """How many words may stand unbound: none where nothing strong is bound in the clause."""
    strong = any(
        token.kind in {Kind.NAME, Kind.QUOTE, Kind.NUMBER, Kind.MOMENT} for token in clause.tokens
    )
    if sheet.context.granted.whole:
        return nouns.PLAIN_STATED_MAX
    return min(len(held), nouns.PLAIN_MAX) if strong else 0


def _is_elsewhere(sheet: Sheet, clause: Clause, token: Token, chosen: list[Binding]) -> bool:
    """Whether the word is said of another thing of the same kind, and not of this one."""
    if not clause.names or not (nouns.claims(token) or token.proper):
        return False
    for item in chosen:
        shapes = {record.shape for record in item.records()}
        if any(
            item.call.records[place].shape in shapes
            for place in sheet.desk.places(item.call, token)
        ):
            return True
    return False


def _is_known_plain(sheet: Sheet, token: Token) -> bool:
    """Whether a word that claims nothing itself is one that the cited results or the run speak of."""
    if nouns.claims(token) or token.proper or _is_owner(sheet, token):
        return False
    return sheet.knows(token) or any(
        sheet.desk.places(call, token) or sheet.desk.is_about(call, token)
        for call in sheet.desk.wide
    )


def _is_owner(sheet: Sheet, token: Token) -> bool:
    """Whether a plain word is what things of the evidence are called by: `manifest` of its pods."""
    low = token.text.casefold()
    return any(low in call.by_owner or low in call.subjects for call in sheet.desk.wide)


def _unbound(sheet: Sheet, content: tuple[Token, ...]) -> None:
    """No call holds the clause's names together."""
    unknown = [token for token in content if not is_known(sheet.desk, token)]
    for token in unknown:
        sheet.refuse(code_of(sheet.desk, token), token.text)
    if not unknown:
        sheet.refuse(SupportCode.SUBJECT_REFUTED, "(names not together)")


def check_hedges(sheet: Sheet, clause: Clause) -> None:
    """What may be, should be or has to be is no fact; nor is "since" what has no moment."""
    words = [token.text.casefold() for token in clause.tokens]
    for place, word in enumerate(words[:-1]):
        if word in {"has", "have", "needs", "need"} and words[place + 1] == "to":
            sheet.refuse(SupportCode.WORDS_UNBOUND, "(has to)")
        behind = clause.tokens[place + 1 : place + 4]
        if word == "since" and not any(
            token.kind in {Kind.MOMENT, Kind.NUMBER} for token in behind
        ):
            sheet.refuse(SupportCode.STATEMENT_UNPROVED, "(since)")
    if _is_ended_whole(sheet, clause):
        sheet.refuse(SupportCode.WORDS_UNBOUND, "(the whole)")
    if is_unmeasured(clause):
        sheet.refuse(SupportCode.WINDOW_REFUTED, "(how long)")
    for token in clause.tokens:
        if token.kind is Kind.WORD and token.role is Role.HEDGE and not sheet.knows(token):
            sheet.refuse(SupportCode.WORDS_UNBOUND, token.text)


_WHOLES: Final = frozenset("incident outage issue problem disruption situation emergency".split())
_ENDED: Final = frozenset(
    map(
        stem,
        "over resolved solved fixed mitigated recovered ended ongoing contained closed".split(),
    )
)


def _is_ended_whole(sheet: Sheet, clause: Clause) -> bool:
    """Whether a clause says of the incident as a whole what one record says of one thing in it."""
    words = [token for token in clause.tokens if token.kind is Kind.WORD]
    first = next((token for token in words if token.text.casefold() not in _ARTICLES), None)
    if first is None or clause.names or first.text.casefold() not in _WHOLES:
        return False
    ended = {stem(token.text) for token in words} & _ENDED
    return bool(ended) and not any(
        stem(first.text) in record.stems and ended & record.happened
        for call in sheet.desk.all
        for record in call.records
    )


_SPANS: Final = frozenset(
    "minute minutes hour hours day days week weeks month months year years night nights ages".split()
)
_SPANS_ZH: Final = frozenset("数小时 数天 几小时 几天 几个月 数月 多年 数分钟 几分钟".split())


def is_unmeasured(clause: Clause) -> bool:
    """Whether a clause says "for hours" or "every minute", where no number measures it."""
    words = [token.text.casefold() for token in clause.tokens]
    for place, word in enumerate(words):
        before = words[place - 1] if place else ""
        if word in _SPANS and (
            (before in {"for", "within", "over", "since", "during"} and word.endswith("s"))
            or before == "every"
        ):
            return True
        if (
            place == len(words) - 1
            and word in {"before", "earlier", "previously"}
            and (before not in _SPANS)
        ):
            return True
    return any(token.text in _SPANS_ZH for token in clause.tokens)


def code_of(desk: Desk, token: Token) -> SupportCode:
    """The code that says what a token is that nothing holds."""
    if token.kind is Kind.QUOTE:
        return SupportCode.QUOTE_NOT_FOUND
    if token.kind is Kind.WORD:
        return SupportCode.WORDS_UNBOUND
    if is_known(desk, token):
        return SupportCode.SUBJECT_REFUTED
    return SupportCode.URL_UNKNOWN if "://" in token.text else SupportCode.IDENTIFIER_UNKNOWN
