"""The author takes back what nothing recorded proves (M6, D2b).

Asked once, and only for sentences that `verify.withdrawal` names: never a contradicted one, the
conclusion, a negative observation or the limitations. The author sees its own draft, numbers and
codes, and answers numbers. What it may not do, it cannot do: an answer that is anything else than
some of the numbers asked counts for nothing, and the draft is judged as it stands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from affidavit.contract.draft import DraftCandidate
from affidavit.contract.errors import InternalFault, ModelFailed
from affidavit.contract.journal import Event, EventType
from affidavit.contract.violations import Refusal, SupportCode
from affidavit.ledger.snapshot import LedgerSnapshot
from affidavit.release.desk import Trail
from affidavit.release.findings import STOP_CODES
from affidavit.release.remainder import Remainder, draft_without
from affidavit.verify.evidence import Refused, VerifiedDraft, check_evidence
from affidavit.verify.sentences import Sentence, number_sentences
from affidavit.verify.withdrawal import withdrawable


class AuthorUnavailable(ModelFailed):
    """There is nobody who could take a sentence back."""

    code = "AUTHOR_UNAVAILABLE"


class WithdrawalEnd(StrEnum):
    """What became of the one question to the author.

    REMAINDER_INVALID: what would be left does not hold together, such as a conclusion whose every
    analysis is gone; then nothing is withdrawn.
    """

    WITHDRAWN = "WITHDRAWN"
    DECLINED = "DECLINED"
    UNAVAILABLE = "UNAVAILABLE"
    FAILED = "FAILED"
    UNREADABLE = "UNREADABLE"
    REMAINDER_INVALID = "REMAINDER_INVALID"


@dataclass(frozen=True, slots=True)
class WithdrawalQuestion:
    """All that an author is shown: its draft, numbered, and the codes against some sentences.

    The keys of `codes` are the numbers that it may take back; no other.
    """

    sentences: tuple[Sentence, ...]
    codes: Mapping[int, tuple[SupportCode, ...]]


class Author(Protocol):
    """Whoever wrote the draft, or has the right to take parts of it back."""

    @property
    def name(self) -> str:
        """What an audit calls this author."""
        ...

    async def withdraw(self, question: WithdrawalQuestion) -> object:
        """The numbers that are taken back: some of those asked, or none; an array of integers.

        Raises ModelFailed when there is no answer, AuthorUnavailable when there is nobody to ask.
        """
        ...


class NoAuthor:
    """Nobody may take anything back."""

    name = "none"

    async def withdraw(self, question: WithdrawalQuestion) -> object:
        """Always unavailable."""
        raise AuthorUnavailable("there is no author to ask")


class ConsentingAuthor:
    """An author that takes back whatever nothing recorded proves, and has said so beforehand.

    The playbook's word, and that of a submitter who hands a report in with `--withdraw`.
    """

    name = "consent"

    async def withdraw(self, question: WithdrawalQuestion) -> object:
        """Every number that is asked for."""
        return tuple(question.codes)


class AnswerRefused(ValueError):
    """The author's answer is no list of numbers that it was asked for."""


def question_of(
    draft: DraftCandidate, refusals: Sequence[Refusal], numbers: Sequence[int]
) -> WithdrawalQuestion:
    """What the author is shown about these sentences of its draft."""
    codes = {
        number: tuple(item.code for item in refusals if item.sentence == number)
        for number in numbers
    }
    return WithdrawalQuestion(number_sentences(draft), codes)


def read_numbers(answer: object, question: WithdrawalQuestion) -> tuple[int, ...]:
    """The numbers taken back, in order. Raises AnswerRefused for anything but some of those asked.

    One wrong number makes the whole answer void: nothing is guessed about what was meant.
    """
    if not isinstance(answer, (list, tuple, set, frozenset)):
        raise AnswerRefused("no array of numbers")
    if not all(type(number) is int and number in question.codes for number in answer):
        raise AnswerRefused("a number that was not asked for")
    if len(set(answer)) != len(answer):
        raise AnswerRefused("a number stands twice")
    return tuple(sorted(answer))


# --- Asking once ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """The sentences that left, what is left of the draft, and the guard's word on it."""

    numbers: tuple[int, ...]
    left: Remainder
    verified: VerifiedDraft


async def withdraw(
    trail: Trail,
    author: Author,
    draft: VerifiedDraft,
    ledger: LedgerSnapshot,
    refusals: tuple[Refusal, ...],
) -> Withdrawn | None:
    """What is left after the author has taken sentences back; None where it took none (M6).

    Asked once a run: an answer on record is used again (K8). Whatever is left has passed the
    guard; support check and judge are still to come. Raises RunStopped unchanged (L4).
    """
    numbers = withdrawable(refusals, draft.candidate)
    if not numbers:
        return None
    known = trail.take(EventType.DRAFT_WITHDRAWAL_ATTEMPT)
    if known is not None:
        return _withdrawn_before(draft, ledger, known)
    question = question_of(draft.candidate, refusals, numbers)
    taken = await _ask(trail, author, question)
    left = taken if isinstance(taken, WithdrawalEnd) else _leave(draft, ledger, taken)
    if isinstance(left, WithdrawalEnd):
        await trail.write(_attempt(left, ()))
        return None
    await trail.write(_attempt(WithdrawalEnd.WITHDRAWN, left.numbers))
    return left


async def _ask(
    trail: Trail, author: Author, question: WithdrawalQuestion
) -> tuple[int, ...] | WithdrawalEnd:
    """The numbers that the author takes back, at least one, or why there are none."""
    try:
        answer = await trail.desk.ask(lambda: author.withdraw(question))
        return read_numbers(answer, question) or WithdrawalEnd.DECLINED
    except AuthorUnavailable:
        return WithdrawalEnd.UNAVAILABLE
    except AnswerRefused:
        return WithdrawalEnd.UNREADABLE
    except ModelFailed as failed:
        if failed.code in STOP_CODES:
            raise
        return WithdrawalEnd.FAILED


def _withdrawn_before(
    draft: VerifiedDraft, ledger: LedgerSnapshot, known: Mapping[str, object]
) -> Withdrawn | None:
    """What an earlier driver's question came to: the same sentences leave again."""
    numbers = known["sentences"]
    if known["result"] != WithdrawalEnd.WITHDRAWN:
        return None
    left = _leave(draft, ledger, tuple(numbers) if isinstance(numbers, (list, tuple)) else ())
    if isinstance(left, WithdrawalEnd):
        raise InternalFault("the withdrawal on record leaves no draft that holds together")
    return left


def _leave(
    draft: VerifiedDraft, ledger: LedgerSnapshot, numbers: tuple[int, ...]
) -> Withdrawn | WithdrawalEnd:
    """The draft less those sentences, looked at by the guard anew."""
    left = draft_without(draft.candidate, numbers)
    verified = check_evidence(left.draft, ledger)
    if isinstance(verified, Refused):
        return WithdrawalEnd.REMAINDER_INVALID
    return Withdrawn(numbers, left, verified)


def _attempt(result: WithdrawalEnd, numbers: tuple[int, ...]) -> Event:
    data = {"result": str(result), "withdrawn": len(numbers), "sentences": numbers}
    return Event(EventType.DRAFT_WITHDRAWAL_ATTEMPT, data)
