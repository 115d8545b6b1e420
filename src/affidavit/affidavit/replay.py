"""The same decisions again, from what was recorded, by the code that made them (A3).

    chain            each line follows the one before
    examination      guard, support check, withdrawal, judge, line by line: what the code finds now
                     is held against what stands there
    answer           the whole record of the release, and the two lines that end the run

A model is not asked again: what it answered stands on record and is used, as a driver that takes a
run over uses it (K8). The embedded judge is no model, and judges again. What has expired cannot be
replayed, and is named.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, TypeVar

from affidavit.contract.agent import AgentRequest
from affidavit.contract.errors import InternalFault
from affidavit.contract.journal import Entry, Event, EventType
from affidavit.contract.report import ReleaseRecord
from affidavit.contract.states import AgentStatus, Provenance
from affidavit.core.canonical import canonical_json, digest
from affidavit.core.chain import first_break
from affidavit.core.fold import RunView, fold
from affidavit.diagnose import final_events, findings_of, stopped_findings
from affidavit.ledger.reader import take_snapshot
from affidavit.ledger.snapshot import LedgerSnapshot
from affidavit.ports.store import Artifact
from affidavit.progress.coverage import Reach
from affidavit.progress.projector import project_progress
from affidavit.progress.tracker import retrace
from affidavit.release.desk import EXAMINATION
from affidavit.release.examine import Examiner, examine, gather_stopped
from affidavit.release.material import Gathered
from affidavit.release.publish import Frame, release_record
from affidavit.release.repair import NoRepairer
from affidavit.verify.judges.embedded import EmbeddedJudge

T = TypeVar("T")

ANSWERS: Final = frozenset(
    {
        EventType.EVIDENCE_REPAIR_ATTEMPT,
        EventType.DRAFT_WITHDRAWAL_ATTEMPT,
        EventType.SEMANTIC_GUARD_ATTEMPT,
    }
)
"""Lines that say what somebody answered who is not asked again."""

OF_CATALOGUE: Final = frozenset({"coverage", "limitations"})
"""Parts of an answer that say what was not asked, which only the catalogue of tools knows."""

ENDS: Final = 2
"""The last lines of a run: its decision and its end, in one append."""

CHAIN: Final = "chain"
EXAMINATION_STEP: Final = "examination"
ANSWER: Final = "answer"

VALUE_CHARS_MAX: Final = 80
"""Of a value that differs; the pointer leads to the whole of it."""


class Same(StrEnum):
    """What a replay came to."""

    SAME = "SAME"
    DIFFERENT = "DIFFERENT"
    EXPIRED = "EXPIRED"


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a replay. `pointer` is a JSON pointer to the first thing that differs."""

    name: str
    result: Same
    pointer: str = ""
    says: str = ""


@dataclass(frozen=True, slots=True)
class Replay:
    """Every step, in order; the first that differs is the last that was made."""

    steps: tuple[Step, ...]

    @property
    def result(self) -> Same:
        """DIFFERENT as soon as one step is; else EXPIRED where one could not be made."""
        for result in (Same.DIFFERENT, Same.EXPIRED):
            if any(step.result is result for step in self.steps):
                return result
        return Same.SAME


@dataclass(frozen=True, slots=True)
class Recording:
    """A decided run as its store holds it. `reach` is None where its catalogue is gone."""

    journal: tuple[Entry, ...]
    contents: Mapping[str, bytes]
    reach: Reach | None = None


class _Differs(Exception):
    """Something came out otherwise than it is recorded."""

    def __init__(self, pointer: str, says: str) -> None:
        super().__init__(says)
        self.pointer = pointer
        self.says = says


class _Asked(Exception):
    """The examination wants an answer of somebody who is not asked again."""


class _Wrote(Exception):
    """The examination writes lines that the record given to it does not hold yet."""

    def __init__(self, events: tuple[Event, ...]) -> None:
        super().__init__()
        self.events = events


async def replay(recording: Recording) -> Replay:
    """Every step that what is left of the run allows, up to the first that differs."""
    steps: list[Step] = []
    name = CHAIN
    try:
        _check_chain(recording.journal)
        steps.append(Step(CHAIN, Same.SAME, "", f"{len(recording.journal)} lines"))
        gone = expired_of(recording)
        if gone:
            words = f"gone: {', '.join(gone)}"
            late = (Step(each, Same.EXPIRED, "", words) for each in (EXAMINATION_STEP, ANSWER))
            return Replay((*steps, *late))
        name = EXAMINATION_STEP
        again = _again(recording)
        gathered = await again.gather()
        steps.append(Step(name, Same.SAME, "", f"{len(again.examined)} lines"))
        name = ANSWER
        steps.extend(again.answer(gathered))
    except _Differs as differs:
        steps.append(Step(name, Same.DIFFERENT, differs.pointer, differs.says))
    except InternalFault as fault:
        steps.append(Step(name, Same.DIFFERENT, "", fault.message))
    return Replay(tuple(steps))


def _check_chain(journal: Sequence[Entry]) -> None:
    broken = first_break(journal[0].run_id, journal) if journal else 0
    if broken is not None:
        raise _Differs(f"/journal/{max(0, broken - 1)}", "the line does not follow the one before")
    if len(journal) < ENDS or journal[-1].type is not EventType.RUN_ENDED:
        raise _Differs("/journal", "the run has no end")


def expired_of(recording: Recording) -> tuple[str, ...]:
    """What the release rested on and is gone, in words; empty while all of it is there."""
    journal, contents = recording.journal, recording.contents
    view = fold(journal)
    gone: list[str] = []
    if str(journal[0].data["request_digest"]) not in contents:
        gone.append("the request")
    if view.draft_digest is not None and view.draft_digest not in contents:
        gone.append("the agent's report")
    for call in view.calls.values():
        needed = [call.request_digest, *([call.result_digest] if call.result_digest else [])]
        if call.attempts and not all(address in contents for address in needed):
            gone.append(f"the record of {call.tool_call_id}")
    for entry in journal:
        patch = entry.data.get("patch_digest")
        if patch is not None and str(patch) not in contents:
            gone.append("the patch of the citations")
    return tuple(gone)


@dataclass(frozen=True, slots=True)
class _Again:
    """A decided run, at the moment when its collection had ended."""

    recording: Recording
    request: AgentRequest
    release: ReleaseRecord
    view: RunView
    ledger: LedgerSnapshot

    @property
    def examined(self) -> tuple[tuple[int, Entry], ...]:
        """The lines of the examination, with their places in the journal."""
        lines = enumerate(self.recording.journal)
        return tuple((place, entry) for place, entry in lines if entry.type in EXAMINATION)

    async def gather(self) -> Gathered:
        """What the decision rests on, gathered again. Raises _Differs where a line differs."""
        progress = project_progress(
            self.ledger,
            retrace(self.view, self.ledger),
            self.recording.reach or Reach(),
            stop_reason=self.view.stop_reason,
            symptom=self.request.symptom_service,
            intent=self.view.intent,
        )
        stopped = self.view.release_stopped
        if stopped is not None:
            findings = stopped_findings(self.request.question, stopped)
            return self._supplied(gather_stopped(findings, progress, self.ledger))
        findings = findings_of(self.request.question, self.view, self.recording.contents)
        lines = self.examined
        known = 0
        while True:
            desk = _Desk(tuple(entry for _, entry in lines[:known]), self.recording.contents)
            desk.judges = self._judges_again(known)
            try:
                gathered = await examine(findings, progress, self.ledger, _EXAMINER, desk)
            except _Wrote as wrote:
                known = self._same(wrote.events, known)
            except _Asked:
                known = self._answered(known)
            else:
                self._over(known)
                return self._supplied(gathered)

    def _judges_again(self, known: int) -> bool:
        line = self.examined[known][1] if known < len(self.examined) else None
        asks_judge = line is not None and line.type is EventType.SEMANTIC_GUARD_ATTEMPT
        return asks_judge and line is not None and line.data["judge"] == EmbeddedJudge.name

    def _same(self, events: tuple[Event, ...], known: int) -> int:
        """Hold what the code writes now against the lines that stand there."""
        for event in events:
            if known >= len(self.examined):
                raise _Differs("/journal", f"{event.type} is found now, and was not recorded")
            place, entry = self.examined[known]
            at = f"/journal/{place}"
            if entry.type is not event.type:
                raise _Differs(f"{at}/type", f"recorded {entry.type}, found {event.type}")
            differs = first_difference(entry.data, event.data)
            if differs is not None:
                raise _Differs(f"{at}/data{differs.pointer}", differs.says)
            known += 1
        return known

    def _answered(self, known: int) -> int:
        """An answer on record is used as it stands, with the verdict that came with it."""
        if known >= len(self.examined):
            raise _Differs("/journal", "an answer is needed now, and none was recorded")
        place, entry = self.examined[known]
        if entry.type not in ANSWERS:
            says = f"recorded {entry.type}, and an answer is needed now"
            raise _Differs(f"/journal/{place}/type", says)
        following = self.examined[known + 1 : known + 2]
        decided = following and following[0][1].type is EventType.SEMANTIC_GUARD_DECISION
        return known + (2 if decided else 1)

    def _over(self, known: int) -> None:
        if known < len(self.examined):
            place, entry = self.examined[known]
            raise _Differs(f"/journal/{place}", f"{entry.type} was recorded, and is not found now")

    def _supplied(self, gathered: Gathered) -> Gathered:
        """An answer that came with its calls says so also where it has none of them (C12)."""
        gathered = replace(gathered, intent=self.view.intent)
        if self.release.provenance is Provenance.SUPPLIED and not self.ledger.calls:
            return replace(gathered, provenance=Provenance.SUPPLIED)
        return gathered

    def answer(self, gathered: Gathered) -> Iterator[Step]:
        """The answer, made again, against the one that was published."""
        view, release = self.view, self.release
        frame = Frame(
            run_id=release.run_id,
            tenant=release.tenant,
            question=self.request.question,
            decided_at=release.decided_at,
            usage=release.usage,
            agent_status=view.agent_status or AgentStatus.FAILED,
            stop_reason=view.stop_reason,
        )
        found = release_record(frame, gathered).model_dump(mode="json")
        recorded = release.model_dump(mode="json")
        known = self.recording.reach is not None
        parts = recorded if known else {k: v for k, v in recorded.items() if k not in OF_CATALOGUE}
        differs = first_difference(parts, {key: found[key] for key in parts})
        if differs is not None:
            raise _Differs(f"/release{differs.pointer}", differs.says)
        self._check_end()
        yield Step(ANSWER, Same.SAME, "", f"{release.decision}: {release.outcome}")
        if not known:
            says = "the incident and its tools are not there: coverage is taken as recorded"
            yield Step("coverage", Same.EXPIRED, "", says)

    def _check_end(self) -> None:
        """The last two lines say of the answer what the answer says of itself."""
        content = canonical_json(self.release.model_dump(mode="json"))
        place = len(self.recording.journal) - ENDS
        for event in final_events(self.release, digest(content)):
            differs = first_difference(self.recording.journal[place].data, event.data)
            if differs is not None:
                raise _Differs(f"/journal/{place}/data{differs.pointer}", differs.says)
            place += 1


@dataclass(slots=True)
class _Desk:
    """Lends the examination what is recorded so far, and stops it at whatever is not (Desk)."""

    past: tuple[Entry, ...]
    contents: Mapping[str, bytes]
    judges: bool = False

    async def record(self, events: tuple[Event, ...], artifacts: tuple[Artifact, ...]) -> None:
        """Nothing is written; the caller sees what would be."""
        raise _Wrote(events)

    async def ask(self, work: Callable[[], Awaitable[T]]) -> T:
        """Only a judge that is no model is asked again."""
        if not self.judges:
            raise _Asked
        return await work()


_EXAMINER: Final = Examiner(judge=EmbeddedJudge(), repairer=NoRepairer())
"""Whoever answered stands on record; the embedded judge alone is asked again."""


def _again(recording: Recording) -> _Again:
    """The run as its release found it. Raises _Differs where its answer cannot be read."""
    journal, contents = recording.journal, recording.contents
    decided = journal[-ENDS]
    content = contents.get(str(decided.data.get("release_digest")))
    if content is None:
        raise _Differs(f"/journal/{len(journal) - ENDS}/data/release_digest", "it is not there")
    request = AgentRequest.model_validate_json(contents[str(journal[0].data["request_digest"])])
    view = fold(journal[:-ENDS])
    tools = frozenset(call.tool for call in view.calls.values() if call.attempts)
    ledger = take_snapshot(journal[0].run_id, request.tenant, view, contents, tools)
    release = ReleaseRecord.model_validate_json(content)
    return _Again(recording, request, release, view, ledger)


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two values first differ, and how."""

    pointer: str
    says: str


def first_difference(recorded: object, found: object) -> Difference | None:
    """The first place at which two JSON values differ, or None. A tuple is a list."""
    if isinstance(recorded, Mapping) and isinstance(found, Mapping):
        for key in sorted({*recorded, *found}):
            if key not in recorded or key not in found:
                return Difference(f"/{key}", "only recorded" if key in recorded else "only found")
            if (inner := first_difference(recorded[key], found[key])) is not None:
                return replace(inner, pointer=f"/{key}{inner.pointer}")
        return None
    if isinstance(recorded, list | tuple) and isinstance(found, list | tuple):
        for place, (one, other) in enumerate(zip(recorded, found, strict=False)):
            if (inner := first_difference(one, other)) is not None:
                return replace(inner, pointer=f"/{place}{inner.pointer}")
        if len(recorded) != len(found):
            return Difference("", f"recorded {len(recorded)} items, found {len(found)}")
        return None
    if recorded == found:
        return None
    return Difference("", f"recorded {_short(recorded)}, found {_short(found)}")


def _short(value: object) -> str:
    words = str(value)
    return words if len(words) <= VALUE_CHARS_MAX else words[:VALUE_CHARS_MAX] + "…"
