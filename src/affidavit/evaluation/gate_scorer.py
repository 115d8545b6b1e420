"""Scoring the gate: every case is a whole run, on a store of its own, through the real release.

Each answer is handed in as it stands, and once more with its author's consent to withdrawal where
the run says that an author would have been asked (M6); the two are never mixed in one figure.

What the scorer cannot evaluate, because something of ours broke, is *not evaluated*: it is listed,
and it is neither a success nor a zero.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from affidavit.adapters.ed25519_signer import MemorySigner
from affidavit.adapters.memory_store import MemoryStore
from affidavit.application.gate import gate_request, order_of
from affidavit.application.minds import ModelMind
from affidavit.contract.decisions import DecisionId
from affidavit.contract.draft import DraftUnreadable
from affidavit.contract.errors import AffidavitError, InputRefused
from affidavit.contract.ids import LOCAL_TENANT
from affidavit.contract.journal import Entry, EventType
from affidavit.contract.report import ReleaseRecord
from affidavit.contract.states import ReleaseOutcome
from affidavit.diagnose import drive, start
from affidavit.evaluation.gate_cases import Form, GateCase, Label
from affidavit.evaluation.proportions import Share
from affidavit.ports.store import Store
from affidavit.release.reading import read_draft
from affidavit.verify.sentences import number_sentences
from affidavit.wiring import gate_world, new_run_id


class Finding(StrEnum):
    """What became of one case.

    REFUSED: the input itself was refused, so nothing was published. BROKEN: not evaluated.
    """

    PUBLISHED = "PUBLISHED"
    HELD = "HELD"
    FACTS_ONLY = "FACTS_ONLY"
    REFUSED = "REFUSED"
    BROKEN = "BROKEN"


JUDGE_FAILED: Final = frozenset({"ANSWER_INVALID", "ANSWER_MALFORMED", "MODEL_ANSWER_MALFORMED"})
"""Results of an attempt at a verdict in which a judge answered, and its answer was none."""

WEIGHED: Final = frozenset(
    {DecisionId.D1, DecisionId.D2, DecisionId.D2B, DecisionId.D4, DecisionId.D5}
)
"""The decisions about the words of a validly cited draft."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One answer, handed in once. `codes` say why it was held, each once; `why` what broke."""

    finding: Finding
    decision: str = ""
    withdrawn: int = 0
    askable: bool = False
    codes: tuple[str, ...] = ()
    statements: int = 0
    elapsed_ms: float = 0.0
    why: str = ""


@dataclass(frozen=True, slots=True)
class CaseScore:
    """A case, handed in as it stands and with its author's consent to withdrawal."""

    case: GateCase
    plain: Trial
    consenting: Trial

    @property
    def evaluated(self) -> bool:
        """Whether anything can be said of it."""
        return Finding.BROKEN not in {self.plain.finding, self.consenting.finding}

    @property
    def is_false(self) -> bool:
        """Published as it stands although something in it is not supported."""
        published = self.plain.finding is Finding.PUBLISHED
        return published and self.case.label is not Label.SUPPORTED

    @property
    def is_false_after_withdrawal(self) -> bool:
        """Published less a sentence although something in the rest is not supported."""
        return bool(self.consenting.withdrawn) and self.case.label in {
            Label.UNSUPPORTED,
            Label.NO_CONCLUSION,
        }

    @property
    def is_right(self) -> bool:
        """Whether the case came out as its author says it must."""
        match self.case.label:
            case Label.SUPPORTED:
                return self.plain.finding is Finding.PUBLISHED
            case Label.UNSUPPORTED:
                return self.plain.finding is not Finding.PUBLISHED
            case Label.NO_CONCLUSION:
                return self.plain.finding is Finding.FACTS_ONLY
            case Label.WITHDRAWABLE:
                return not self.is_false and bool(self.consenting.withdrawn)


@dataclass(frozen=True, slots=True)
class GateScore:
    """All cases, and the figures that are read off them."""

    cases: tuple[CaseScore, ...]

    @property
    def evaluated(self) -> tuple[CaseScore, ...]:
        """The cases of which something can be said."""
        return tuple(item for item in self.cases if item.evaluated)

    def of(self, label: Label, *forms: Form) -> tuple[CaseScore, ...]:
        """The evaluated cases of a label, of these forms or of any."""
        return tuple(
            item
            for item in self.evaluated
            if item.case.label is label and (not forms or item.case.form in forms)
        )

    def recall(self, label: Label, *forms: Form) -> Share:
        """How many of a label came out right."""
        return _share(self.of(label, *forms), lambda item: item.is_right)

    def false_supported(self) -> Share:
        """UNSUPPORTED answers that were published as they stood."""
        return _share(self.of(Label.UNSUPPORTED), lambda item: item.is_false)

    def false_by_scenario(self) -> Share:
        """Scenarios with at least one such answer: cases of one scenario share their evidence."""
        unsupported = self.of(Label.UNSUPPORTED)
        scenarios = {item.case.scenario for item in unsupported}
        false = {item.case.scenario for item in unsupported if item.is_false}
        return Share(len(false), len(scenarios))

    def false_after_withdrawal(self) -> Share:
        """Of the answers that may not be published, those that consent to withdrawal got out."""
        may_not = (*self.of(Label.UNSUPPORTED), *self.of(Label.NO_CONCLUSION))
        return _share(may_not, lambda item: item.is_false_after_withdrawal)

    def asides_published(self) -> Share:
        """WITHDRAWABLE answers that were published with the sentence that nothing proves."""
        return _share(self.of(Label.WITHDRAWABLE), lambda item: item.is_false)

    def supported_after_withdrawal(self) -> Share:
        """SUPPORTED answers that got out whole, or with consent less a sentence."""
        return _share(
            self.of(Label.SUPPORTED),
            lambda item: item.is_right or bool(item.consenting.withdrawn),
        )

    def balanced_accuracy(self) -> float | None:
        """The mean of recall over SUPPORTED and of refusal over UNSUPPORTED answers."""
        let_out = self.recall(Label.SUPPORTED).value
        held = self.recall(Label.UNSUPPORTED).value
        return None if let_out is None or held is None else (let_out + held) / 2

    def ms_per_statement(self) -> float | None:
        """Wall time of whole runs by sentences and typed statements, or None of nothing."""
        statements = sum(item.plain.statements for item in self.evaluated)
        elapsed_ms = sum(item.plain.elapsed_ms for item in self.evaluated)
        return elapsed_ms / statements if statements else None


def _share(cases: Sequence[CaseScore], hit: Callable[[CaseScore], bool]) -> Share:
    return Share(sum(hit(item) for item in cases), len(cases))


# --- Running ----------------------------------------------------------------------------------


async def score_gate(
    cases: Sequence[GateCase], told: Callable[[CaseScore], None] | None = None
) -> GateScore:
    """Every case, one after the other; `told` hears of each when it is done."""
    scored: list[CaseScore] = []
    for case in cases:
        item = await score_case(case)
        if told is not None:
            told(item)
        scored.append(item)
    return GateScore(tuple(scored))


async def score_case(
    case: GateCase, mind: Callable[[], ModelMind | None] = lambda: None
) -> CaseScore:
    """One case as it stands, and with consent where its author would be asked.

    `mind` makes the judge of each run anew; without one the embedded judge judges.
    """
    plain = await _try(case, mind(), withdraw=False)
    if not plain.askable or plain.finding is Finding.PUBLISHED:
        return CaseScore(case, plain, plain)
    return CaseScore(case, plain, await _try(case, mind(), withdraw=True))


async def _try(case: GateCase, mind: ModelMind | None, *, withdraw: bool) -> Trial:
    """One whole run. Whatever breaks in it is this trial's, and no other's."""
    store = MemoryStore()
    try:
        return await _run(store, case, mind, withdraw=withdraw)
    except InputRefused as refused:
        return Trial(Finding.REFUSED, codes=(refused.code,), why=refused.message)
    except AffidavitError as error:
        return Trial(Finding.BROKEN, why=f"{error.code}: {error.message}")
    except Exception as error:  # noqa: BLE001 - a fault of ours is no score (not evaluated)
        return Trial(Finding.BROKEN, why=type(error).__name__)
    finally:
        await store.close()


async def _run(store: Store, case: GateCase, mind: ModelMind | None, *, withdraw: bool) -> Trial:
    began_s = time.perf_counter()
    order = order_of(case.answer, withdraw=withdraw)
    request = gate_request(order, new_run_id(), LOCAL_TENANT)
    world = gate_world(order, store, signer=MemorySigner())
    world = mind.named(world, request) if mind is not None else world
    await start(world, request, (order.artifact,))
    release = await drive(request.run_id, world)
    elapsed_ms = (time.perf_counter() - began_s) * 1000
    if not isinstance(release, ReleaseRecord) or release.decision is DecisionId.D15:
        return Trial(Finding.BROKEN, why="the run broke inside")
    journal = await store.read(request.run_id)
    lost = lost_verdict(release.decision, _attempts(journal))
    if lost:
        return Trial(Finding.BROKEN, str(release.decision), why=lost)
    return Trial(
        finding=_finding(release),
        decision=str(release.decision),
        withdrawn=release.result.withdrawn if release.result else 0,
        askable=any(e.type is EventType.DRAFT_WITHDRAWAL_ATTEMPT for e in journal),
        codes=_codes(release),
        statements=await _statements(store, request.run_id, journal),
        elapsed_ms=elapsed_ms,
    )


def _attempts(journal: Sequence[Entry]) -> tuple[str, ...]:
    """What became of each attempt at a verdict."""
    attempts = (e for e in journal if e.type is EventType.SEMANTIC_GUARD_ATTEMPT)
    return tuple(str(entry.data["result"]) for entry in attempts)


def lost_verdict(decision: DecisionId, attempts: Sequence[str]) -> str:
    """Why a case without a verdict cannot be evaluated; "" where it can.

    A judge that answers nonsense has failed, and that counts. One that was never reached has not.
    """
    reached = any(code in JUDGE_FAILED for code in attempts)
    if decision is not DecisionId.D5 or reached:
        return ""
    return f"no answer of the judge: {', '.join(dict.fromkeys(attempts))}"


def _finding(release: ReleaseRecord) -> Finding:
    if release.outcome is ReleaseOutcome.SUCCESS:
        return Finding.PUBLISHED
    unconcluded = release.decision in {DecisionId.D6, DecisionId.D9, DecisionId.D10}
    facts = release.fallback is not None and release.fallback.observed_facts
    return Finding.FACTS_ONLY if unconcluded and facts else Finding.HELD


def _codes(release: ReleaseRecord) -> tuple[str, ...]:
    issues = release.fallback.validation_issues if release.fallback else ()
    return tuple(sorted({issue.code for issue in issues}))


async def _statements(store: Store, run_id: str, journal: Sequence[Entry]) -> int:
    """Sentences, and the typed statements that their author bound to them."""
    ended = next(entry for entry in journal if entry.type is EventType.COLLECTION_ENDED)
    content = await store.artifact(run_id, str(ended.data["draft_digest"]))
    try:
        sentences = number_sentences(read_draft(content or b""))
    except DraftUnreadable:
        return 0
    typed = {id(statement) for sentence in sentences for statement in sentence.statements}
    return len(sentences) + len(typed)
