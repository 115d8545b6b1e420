"""A model as judge, scored beside the checker: alone, and both together (M3, M4, M8).

    checker alone    support check and embedded judge: what nothing proves is refused
    judge alone      EvidenceGuard, then the model's verdict; no support check, nothing withdrawn
    both together    as in production: what the evidence refutes is refused, the model says the rest

A model is asked each question once, however many of the three need its answer.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from affidavit.affidavit.exact import write_exact
from affidavit.application.gate import GateOrder, gate_request, order_of
from affidavit.application.minds import ModelMind
from affidavit.contract.decisions import DecisionId
from affidavit.contract.errors import ModelFailed
from affidavit.contract.ids import LOCAL_TENANT
from affidavit.contract.states import SemanticVerdict
from affidavit.core.canonical import digest
from affidavit.evaluation.gate_cases import GateCase
from affidavit.evaluation.gate_scorer import (
    WEIGHED,
    CaseScore,
    Finding,
    GateScore,
    Trial,
    lost_verdict,
    score_case,
)
from affidavit.models.roster import Roster
from affidavit.ports.model import Model, ModelAnswer, ModelRequest, Price, encode_request
from affidavit.release.examine import JUDGE_ATTEMPTS_MAX
from affidavit.release.reading import read_draft
from affidavit.tools.supplied import draft_of_answer, supplied_ledger
from affidavit.verify.evidence import VerifiedDraft, check_evidence
from affidavit.verify.judges.model import model_judge

UNSUPPORTED_BY_JUDGE = "JUDGE_UNSUPPORTED"
"""Why the judge alone held an answer: it has no codes, and its reason is private."""


@dataclass(frozen=True, slots=True)
class JudgedScore:
    """The same answers, decided in three ways."""

    checker: GateScore
    judge: GateScore
    both: GateScore

    def named(self) -> Iterator[tuple[str, GateScore]]:
        """Each score with its heading."""
        yield "checker alone", self.checker
        yield "judge alone", self.judge
        yield "both together", self.both


@dataclass(slots=True)
class AnswerBook:
    """What a model said to each request, the first time and the second."""

    model: Model
    answers: dict[tuple[str, int], ModelAnswer | ModelFailed] = field(default_factory=dict)

    def opened(self) -> RecalledModel:
        """The model as one trial sees it, asked nothing yet."""
        return RecalledModel(self)


@dataclass(slots=True)
class RecalledModel:
    """A model that is asked each request once over all trials (`ports.model.Model`)."""

    book: AnswerBook
    asked: Counter[str] = field(default_factory=Counter)

    @property
    def name(self) -> str:
        """The model's own."""
        return self.book.model.name

    @property
    def vendor(self) -> str:
        """The model's own."""
        return self.book.model.vendor

    @property
    def window_tokens(self) -> int:
        """The model's own."""
        return self.book.model.window_tokens

    @property
    def price(self) -> Price | None:
        """The model's own."""
        return self.book.model.price

    @property
    def answer_timeout_s(self) -> float:
        """The model's own."""
        return self.book.model.answer_timeout_s

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """The answer to this request, at this attempt. Raises ModelFailed as the model did."""
        address = digest(encode_request(request))
        self.asked[address] += 1
        key = (address, self.asked[address])
        if key not in self.book.answers:
            try:
                self.book.answers[key] = await self.book.model.complete(request)
            except ModelFailed as failed:
                self.book.answers[key] = failed
        answer = self.book.answers[key]
        if isinstance(answer, ModelFailed):
            raise answer
        return answer

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        """As a door without a run (`ports.model.Door`)."""
        return await self.complete(request)


async def score_judged(
    cases: Sequence[GateCase],
    judges: Sequence[Model],
    told: Callable[[CaseScore], None] | None = None,
) -> JudgedScore:
    """Every case in the three ways; `told` hears of each as it came out with both together.

    Of several judges the further ones take over, and alone the first one judges.
    """
    books = tuple(AnswerBook(model) for model in judges)
    checker, judge, both = [], [], []
    for case in cases:
        by_rules = await score_case(case)
        alone = await _judge_alone(case, by_rules.plain, books[0])
        together = await score_case(case, lambda: _mind(books))
        if told is not None:
            told(together)
        checker.append(by_rules)
        judge.append(CaseScore(case, alone, alone))
        both.append(together)
    return JudgedScore(GateScore(tuple(checker)), GateScore(tuple(judge)), GateScore(tuple(both)))


def _mind(books: Sequence[AnswerBook]) -> ModelMind:
    return ModelMind(Roster((), tuple(book.opened() for book in books)))


async def _judge_alone(case: GateCase, checked: Trial, book: AnswerBook) -> Trial:
    """What the model alone would publish; where no words were weighed, it is not asked."""
    if checked.decision not in WEIGHED:
        return checked
    began_s = time.perf_counter()
    verdict = await _verdict(order_of(case.answer), book.opened())
    elapsed_ms = (time.perf_counter() - began_s) * 1000
    if not isinstance(verdict, SemanticVerdict):
        lost = lost_verdict(DecisionId.D5, (verdict,))
        finding = Finding.BROKEN if lost else Finding.HELD
        return Trial(finding, str(DecisionId.D5), codes=(verdict,), why=lost)
    supported = verdict is SemanticVerdict.SUPPORTED
    return Trial(
        finding=Finding.PUBLISHED if supported else Finding.HELD,
        decision=str(DecisionId.D1 if supported else DecisionId.D4),
        codes=() if supported else (UNSUPPORTED_BY_JUDGE,),
        statements=checked.statements,
        elapsed_ms=elapsed_ms,
    )


async def _verdict(order: GateOrder, model: RecalledModel) -> SemanticVerdict | str:
    """The model's verdict on the draft as it stands, or the code that says why there is none."""
    answer, request = order.answer, gate_request(order, "run_alone", LOCAL_TENANT)
    read_at = None if answer.window else datetime.now(UTC)
    ledger = supplied_ledger(answer, request.run_id, request.tenant, read_at)
    draft = answer.draft if answer.answer is None else draft_of_answer(answer.answer, ledger)
    checked = check_evidence(read_draft(write_exact(draft).encode("ascii")), ledger)
    if not isinstance(checked, VerifiedDraft):
        return "EVIDENCE_REFUSED"
    judge = model_judge(model, request.limits, model.window_tokens, model.name)
    code = "NO_VERDICT"
    for _ in range(JUDGE_ATTEMPTS_MAX):
        try:
            said = await judge.review(request.question, checked.candidate, checked.snapshot)
        except ModelFailed as failed:
            code = failed.code
            continue
        return said.verdict
    return code
