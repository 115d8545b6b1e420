"""Which row of the release table do a run's lines imply? (spec section 10, read backwards; pure)

Derived from the journal alone, apart from the code that decided, so that a file whose answer was
exchanged shows although every digest in it was made anew. What lines cannot say (whether a draft
asked for something) is taken from the answer itself.

    how it ended                     RELEASE_STOPPED, else COLLECTION_ENDED
    was there a conclusion?          a repair or a support check follows the first guard line
    are the citations real?          EVIDENCE_GUARD_INITIAL, or RECHECK after an applied repair
    do they carry the words?         SUPPORT_CHECK, then SEMANTIC_GUARD_DECISION
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from affidavit.affidavit.journal_checks import EXAMINING
from affidavit.contract.agent import Ending
from affidavit.contract.decisions import DecisionId
from affidavit.contract.journal import Entry, EventType
from affidavit.contract.states import AgentStatus, DiagnosisStopReason
from affidavit.release.examine import JUDGE_ATTEMPTS_MAX
from affidavit.release.findings import ENDINGS


class NothingImplied(ValueError):
    """The lines of the examination do not follow each other as section 10 has them."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What only the answer says: verified facts, and something that the agent asks for."""

    facts: bool
    asks: bool


_Data = Mapping[str, object]

_STOPPED: Final = frozenset({Ending.GAVE_UP, Ending.PROTOCOL_VIOLATED, Ending.LOOP_DETECTED})
_OUTLIVE_A_CANCEL: Final = frozenset({DecisionId.D12, DecisionId.D13, DecisionId.D15})
"""Ends that can stand on record before a cancel arrives; every other row comes after the check."""


def implied_decision(journal: Sequence[Entry], seen: Seen) -> frozenset[DecisionId]:
    """The row that these lines imply; two where lines cannot tell them apart.

    Raises NothingImplied when they imply none: a line is missing, doubled or out of place.
    """
    lines = _Lines.of(journal)
    rows = _rows(lines, seen)
    if lines.cancelled and not rows <= _OUTLIVE_A_CANCEL:
        return frozenset({DecisionId.D14})
    return rows


@dataclass(frozen=True, slots=True)
class _Lines:
    """The lines that a decision rests on."""

    ending: Ending
    lawful: bool
    saturated: bool
    cancelled: bool
    examination: tuple[tuple[EventType, _Data], ...]

    @property
    def is_without_end(self) -> bool:
        """A draft of a saturated run that nobody examined."""
        concluded = self.ending is Ending.CONCLUDED and self.lawful
        return concluded and self.saturated and not self.examination

    @classmethod
    def of(cls, journal: Sequence[Entry]) -> _Lines:
        """The lines of a run. Raises NothingImplied unless its collection ended once."""
        ended = [entry for entry in journal if entry.type is EventType.COLLECTION_ENDED]
        if len(ended) != 1:
            raise NothingImplied("the collection of evidence did not end once")
        data = ended[0].data
        ending = Ending(str(data["ending"]))
        reason = data["stop_reason"]
        stop_reason = None if reason is None else DiagnosisStopReason(str(reason))
        status = AgentStatus(str(data["agent_status"]))
        stops = [entry for entry in journal if entry.type is EventType.RELEASE_STOPPED]
        if len(stops) > 1:
            raise NothingImplied("the release was stopped twice")
        return cls(
            ending=Ending(str(stops[0].data["ending"])) if stops else ending,
            lawful=(status, stop_reason) in ENDINGS[ending],
            saturated=stop_reason is DiagnosisStopReason.INFORMATION_SATURATED,
            cancelled=any(entry.type is EventType.CANCEL_REQUESTED for entry in journal),
            examination=tuple((e.type, e.data) for e in journal if e.type in EXAMINING),
        )


def _rows(lines: _Lines, seen: Seen) -> frozenset[DecisionId]:
    if lines.is_without_end and seen.facts:
        # Saturated without a conclusion, or unreadable on closer look: no line tells which.
        return frozenset({DecisionId.D9, DecisionId.D10})
    return frozenset({_row(lines, seen)})


def _row(lines: _Lines, seen: Seen) -> DecisionId:
    match lines.ending:
        case Ending.CANCELLED:
            return DecisionId.D14
        case Ending.INTERNAL_FAILURE:
            return DecisionId.D15
        case Ending.BUDGET_EXHAUSTED | Ending.TIMED_OUT:
            return DecisionId.D12 if seen.facts else DecisionId.D13
        case _ if not lines.lawful:
            return DecisionId.D15
        case Ending.NO_MODEL_LEFT | Ending.UNROUTED:
            return DecisionId.D11
        case Ending.REPLIED:
            return DecisionId.S1
        case ending if ending in _STOPPED:
            return DecisionId.D9 if seen.facts else DecisionId.D11
        case Ending.UNREADABLE:
            return DecisionId.D10 if seen.facts else DecisionId.D11
        case _:
            return _concluded(lines, seen)


def _concluded(lines: _Lines, seen: Seen) -> DecisionId:
    """A draft was handed over: what the examination's lines say about it."""
    if not lines.examination:  # unreadable on closer look
        return DecisionId.D10 if seen.facts else DecisionId.D11
    examination = list(lines.examination)
    first = _take(examination, EventType.EVIDENCE_GUARD_INITIAL)
    if first is None:
        raise NothingImplied("an examination begins with the evidence guard")
    if not examination:
        return _without_conclusion(seen, references_hold=_passed(first))
    repaired = False
    if not _passed(first):
        if not _is_repaired(examination):
            return _last(DecisionId.D3, examination)
        repaired = True
    return _weighed(examination, repaired=repaired)


def _without_conclusion(seen: Seen, *, references_hold: bool) -> DecisionId:
    if seen.facts:
        return DecisionId.D6
    return DecisionId.D7 if seen.asks and references_hold else DecisionId.D8


def _is_repaired(examination: list[tuple[EventType, _Data]]) -> bool:
    """Takes the repair's lines; whether the guard let the repaired draft through."""
    attempt = _take(examination, EventType.EVIDENCE_REPAIR_ATTEMPT)
    if attempt is None:
        raise NothingImplied("refused citations lead to a repair")
    if attempt["result"] != "APPLIED":
        return False
    recheck = _take(examination, EventType.EVIDENCE_GUARD_RECHECK)
    if recheck is None:
        raise NothingImplied("a repair is followed by the guard")
    return _passed(recheck)


def _weighed(examination: list[tuple[EventType, _Data]], *, repaired: bool) -> DecisionId:
    """The citations are real: support check, withdrawal, judge."""
    support = _take(examination, EventType.SUPPORT_CHECK)
    if support is None:
        raise NothingImplied("valid citations lead to the support check")
    if support["result"] == "REFUTED":
        return _last(DecisionId.D4, examination)
    withdrawal = _take(examination, EventType.DRAFT_WITHDRAWAL_ATTEMPT)
    withdrawn = withdrawal is not None and withdrawal["withdrawn"] != 0
    if withdrawn and not _is_checked_again(examination):
        return _last(DecisionId.D4, examination)
    match _verdict(examination):
        case None:
            return _last(DecisionId.D5, examination)
        case "SUPPORTED" if withdrawn:
            return _last(DecisionId.D2B, examination)
        case "SUPPORTED":
            return _last(DecisionId.D2 if repaired else DecisionId.D1, examination)
        case _:
            return _last(DecisionId.D4, examination)


def _is_checked_again(examination: list[tuple[EventType, _Data]]) -> bool:
    """Takes the lines after a withdrawal: the guard passes what is left, then the support check."""
    recheck = _take(examination, EventType.EVIDENCE_GUARD_RECHECK)
    if recheck is None or not _passed(recheck):
        raise NothingImplied("a withdrawal is followed by the guard, which lets the rest through")
    support = _take(examination, EventType.SUPPORT_CHECK)
    if support is None:
        raise NothingImplied("after a withdrawal the support check runs again")
    return support["result"] != "REFUTED"


def _verdict(examination: list[tuple[EventType, _Data]]) -> object:
    """Takes the judge's lines; the verdict, or None where there was no answer (M3)."""
    answers: list[bool] = []
    while (attempt := _take(examination, EventType.SEMANTIC_GUARD_ATTEMPT)) is not None:
        answers.append(attempt["result"] == "ANSWERED")
    decision = _take(examination, EventType.SEMANTIC_GUARD_DECISION)
    if not 1 <= len(answers) <= JUDGE_ATTEMPTS_MAX or any(answers[:-1]):
        raise NothingImplied("a judge is asked, and again only when it did not answer")
    if answers[-1] != (decision is not None):
        raise NothingImplied("an answer and a verdict belong together")
    return None if decision is None else decision["verdict"]


def _take(examination: list[tuple[EventType, _Data]], type_: EventType) -> _Data | None:
    """The next line, if it is of that kind."""
    if not examination or examination[0][0] is not type_:
        return None
    return examination.pop(0)[1]


def _last(row: DecisionId, examination: list[tuple[EventType, _Data]]) -> DecisionId:
    if examination:
        raise NothingImplied(f"nothing follows where {row} is decided")
    return row


def _passed(line: _Data) -> bool:
    return line["result"] == "PASSED" and line["violations"] == 0
