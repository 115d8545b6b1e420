"""Asking an author once, and believing nothing of the answer but numbers that were asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from affidavit.contract.errors import InternalFault, ModelFailed, RunCancelled
from affidavit.contract.journal import Event, EventType
from affidavit.contract.states import RetryFailure
from affidavit.release.examine import Examiner, examine
from affidavit.release.material import Evidence, Gathered, Supported
from affidavit.release.repair import NoRepairer
from affidavit.release.situation import Cited, Opinion
from affidavit.release.withdrawal import (
    Author,
    ConsentingAuthor,
    NoAuthor,
    WithdrawalEnd,
    WithdrawalQuestion,
)
from affidavit.verify.judges import Judge
from affidavit.verify.judges.embedded import EmbeddedJudge
from tests.unit.progress.ledgers import Book, value
from tests.unit.release.drafts import BODY, Draft, PlainDesk, concluded, draft, progress_of

WITHDRAWAL = EventType.DRAFT_WITHDRAWAL_ATTEMPT
ASIDE = "The crew was relieved about it."


@dataclass
class ScriptedAuthor:
    """Answers so, or raises; keeps what it was shown."""

    answer: object = (4,)
    name: str = "scripted"
    seen: list[WithdrawalQuestion] = field(default_factory=list)

    async def withdraw(self, question: WithdrawalQuestion) -> object:
        """The answer."""
        self.seen.append(question)
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


def with_aside(*asides: str, body: str = BODY, **parts: Any) -> Draft:
    """Three honest sentences and these asides, in one analysis; the conclusion is honest."""
    made = draft("call_0001", **parts)
    made["analyses"][0] |= {
        "body": " ".join([body, BODY, BODY, *asides]),
        "sentences": [{"text": text} for text in (body, BODY, BODY, *asides)],
    }
    return made


async def gather(
    written: Draft, author: Author, desk: PlainDesk | None = None, judge: Judge | None = None
) -> Gathered:
    """The examination of a draft about one reading."""
    book = Book()
    book.found(value())
    examiner = Examiner(judge or EmbeddedJudge(), NoRepairer(), author)
    found = concluded(written)
    return await examine(found, progress_of(book), book.ledger(), examiner, desk or PlainDesk())


@pytest.mark.spec("M6", "D2b", "A1")
async def test_an_aside_is_taken_back_and_the_rest_is_checked_again() -> None:
    """Guard, support check, withdrawal, guard, support check, judge; and the aside is gone."""
    desk, author = PlainDesk(), ScriptedAuthor()
    gathered = await gather(with_aside(ASIDE), author, desk)
    assert gathered.situation == Cited(Opinion.SUPPORTED, withdrawn=1)
    assert isinstance(gathered.material, Supported)
    assert ASIDE not in str(gathered.material.draft.candidate)
    assert desk.lines() == [
        EventType.EVIDENCE_GUARD_INITIAL,
        EventType.SUPPORT_CHECK,
        WITHDRAWAL,
        EventType.EVIDENCE_GUARD_RECHECK,
        EventType.SUPPORT_CHECK,
        EventType.SEMANTIC_GUARD_ATTEMPT,
        EventType.SEMANTIC_GUARD_DECISION,
    ]
    assert desk.data(WITHDRAWAL) == [{"result": "WITHDRAWN", "withdrawn": 1, "sentences": (4,)}]
    assert [line["result"] for line in desk.data(EventType.SUPPORT_CHECK)] == ["UNPROVED", "PASSED"]


@pytest.mark.spec("M6", "H6")
async def test_an_author_sees_its_draft_numbers_and_codes_and_is_asked_once() -> None:
    """No evidence, no reason, no verdict."""
    author = ScriptedAuthor()
    await gather(with_aside(ASIDE), author)
    (question,) = author.seen
    assert [sentence.number for sentence in question.sentences] == [1, 2, 3, 4, 5, 6]
    assert question.sentences[3].text == ASIDE
    assert dict(question.codes) == {4: ("WORDS_UNBOUND",)}


@pytest.mark.spec("M6", "N10")
@pytest.mark.parametrize(
    ("answer", "result"),
    [
        ((1,), WithdrawalEnd.UNREADABLE),
        ((4, 5), WithdrawalEnd.UNREADABLE),
        ((4, 4), WithdrawalEnd.UNREADABLE),
        ((4.0,), WithdrawalEnd.UNREADABLE),
        (("4",), WithdrawalEnd.UNREADABLE),
        ((True,), WithdrawalEnd.UNREADABLE),
        ("4", WithdrawalEnd.UNREADABLE),
        ("I withdraw sentence 4 and publish the rest.", WithdrawalEnd.UNREADABLE),
        ({"numbers": [4]}, WithdrawalEnd.UNREADABLE),
        (4, WithdrawalEnd.UNREADABLE),
        (None, WithdrawalEnd.UNREADABLE),
        ((), WithdrawalEnd.DECLINED),
        (ModelFailed("silence", code="MODEL_TIMEOUT"), WithdrawalEnd.FAILED),
    ],
)
async def test_a_lying_or_silent_author_takes_nothing_back(
    answer: object, result: WithdrawalEnd
) -> None:
    """The draft is judged as it stands, and it is not supported."""
    desk = PlainDesk()
    gathered = await gather(with_aside(ASIDE), ScriptedAuthor(answer), desk)
    assert gathered.situation == Cited(Opinion.UNSUPPORTED)
    assert isinstance(gathered.material, Evidence)
    assert desk.data(WITHDRAWAL) == [{"result": result, "withdrawn": 0, "sentences": ()}]


@pytest.mark.spec("M6")
async def test_without_an_author_nothing_is_taken_back() -> None:
    desk = PlainDesk()
    assert (await gather(with_aside(ASIDE), NoAuthor(), desk)).situation == Cited(
        Opinion.UNSUPPORTED
    )
    assert desk.data(WITHDRAWAL)[0]["result"] == "UNAVAILABLE"


REFUTED = "checkout error_rate was 95%."

NEVER: dict[str, Draft] = {
    "a contradicted sentence": with_aside(ASIDE, body=REFUTED),
    "the conclusion": with_aside(conclusion=ASIDE),
    "more than a quarter": with_aside(ASIDE, "The sea was calm.", "The moon shone."),
    "the scope": with_aside(limitations={"scope": "Payment was the cause.", "missing_info": []}),
}


@pytest.mark.spec("M6", "M4")
@pytest.mark.parametrize("written", NEVER.values(), ids=NEVER)
async def test_what_cannot_be_withdrawn_is_not_asked_for(written: Draft) -> None:
    """Not even by an author who would take back everything."""
    desk, author = PlainDesk(), ScriptedAuthor()
    gathered = await gather(written, author, desk)
    assert not isinstance(gathered.material, Supported)
    assert author.seen == []
    assert desk.data(WITHDRAWAL) == []


@pytest.mark.spec("M6")
async def test_a_negative_observation_is_never_asked_for() -> None:
    book = Book()
    book.found(value())
    empty = book.empty(query="deadlock")
    written = with_aside()
    written["analyses"].append(
        {
            "id": "A2",
            "kind": "NEGATIVE_OBSERVATION",
            "body": "No crew was relieved about it in the harbour of Lisbon.",
            "tool_call_ids": [empty],
        }
    )
    author, desk = ScriptedAuthor(), PlainDesk()
    examiner = Examiner(EmbeddedJudge(), NoRepairer(), author)
    found = concluded(written)
    gathered = await examine(found, progress_of(book), book.ledger(), examiner, desk)
    assert author.seen == []
    assert not isinstance(gathered.material, Supported)


@pytest.mark.spec("M6")
async def test_a_conclusion_does_not_lose_its_last_ground() -> None:
    """What would be left does not hold together; so nothing is taken back."""
    written = with_aside()
    written["analyses"].append(
        {"id": "A2", "kind": "NORMAL", "body": ASIDE, "tool_call_ids": ["call_0001"]}
    )
    written["conclusion"]["based_on_analysis_ids"] = ["A2"]
    desk = PlainDesk()
    gathered = await gather(written, ConsentingAuthor(), desk)
    assert not isinstance(gathered.material, Supported)
    assert [line["result"] for line in desk.data(WITHDRAWAL)] == ["REMAINDER_INVALID"]


@pytest.mark.spec("L4", "K6")
@pytest.mark.parametrize(
    "stop", [RunCancelled(), ModelFailed("over", code=str(RetryFailure.CANCELLED))]
)
async def test_a_stop_while_an_author_is_asked_passes_unchanged(stop: BaseException) -> None:
    desk = PlainDesk()
    with pytest.raises(type(stop)):
        await gather(with_aside(ASIDE), ScriptedAuthor(stop), desk)
    assert desk.data(WITHDRAWAL) == []


@pytest.mark.spec("K8", "M6")
@pytest.mark.parametrize("answer", [(4,), (), "prose"])
async def test_an_answer_on_record_is_used_again(answer: object) -> None:
    """Whoever takes the run over asks nobody, at whatever line the first driver died."""
    whole = PlainDesk()
    first = await gather(with_aside(ASIDE), ScriptedAuthor(answer), whole)
    asked_at = whole.lines().index(WITHDRAWAL)
    for known in range(asked_at + 1, len(whole.past) + 1):
        desk = PlainDesk(past=whole.past[:known], contents=dict(whole.contents))
        again = ScriptedAuthor((4,))
        if desk.lines()[-1] is EventType.SEMANTIC_GUARD_ATTEMPT:
            continue  # attempt and verdict are one append
        second = await gather(with_aside(ASIDE), again, desk)
        assert second.situation == first.situation
        assert again.seen == []
        assert desk.lines() == whole.lines()


@pytest.mark.spec("A3", "L6")
@pytest.mark.parametrize("sentences", [(1, 2, 3, 4), (99,)])
async def test_an_altered_withdrawal_is_no_withdrawal(sentences: tuple[int, ...]) -> None:
    """A record that leaves nothing, or that leaves everything, leads nowhere."""
    whole = PlainDesk()
    await gather(with_aside(ASIDE), ScriptedAuthor(), whole)
    at = whole.lines().index(WITHDRAWAL)
    forged = {"result": "WITHDRAWN", "withdrawn": len(sentences), "sentences": sentences}
    desk = PlainDesk(past=whole.past[:at])
    await desk.record((Event(WITHDRAWAL, forged),), ())
    if sentences == (99,):
        gathered = await gather(with_aside(ASIDE), NoAuthor(), desk)
        assert gathered.situation == Cited(Opinion.UNSUPPORTED, withdrawn=1)
    else:
        with pytest.raises(InternalFault):
            await gather(with_aside(ASIDE), NoAuthor(), desk)
