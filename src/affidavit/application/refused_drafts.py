"""A refused draft, opened for a person with the role for it (L1).

It is no result: nothing of it is published, streamed or listed, and it says so about itself. The
access is recorded before a word is shown, beside the run, linked by digest to the draft and to the
access before; where that cannot be recorded, nothing is shown (L5). The draft is checked again as
the release checked it, and each sentence carries its mark:

    carried    nothing speaks against it, and what it cites carries it
    unproved   nothing that it cites licenses the words (coverage class, M4)
    refuted    what it cites, or the run, says otherwise (contradiction class)
    miscited   a citation of its part is not real (EvidenceGuard, G10)
    unweighed  its words were not weighed, because citations elsewhere are not real

A judge's reason is not among them (M2). Deliberately absent: a way to publish from here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from pydantic import ValidationError

from affidavit.contract.agent import AgentRequest
from affidavit.contract.draft import DraftCandidate, DraftUnreadable
from affidavit.contract.errors import InputRefused, RecordFailed
from affidavit.contract.journal import Entry
from affidavit.contract.record import Instant, Record
from affidavit.contract.report import ReleaseRecord
from affidavit.contract.states import ReleaseOutcome
from affidavit.contract.violations import (
    Refusal,
    RefusalClass,
    Violation,
    meaning_of,
    remedy_of,
)
from affidavit.core.canonical import canonical_json, digest
from affidavit.core.fold import RunView, fold
from affidavit.diagnose import stored_release
from affidavit.ledger.reader import take_snapshot
from affidavit.ledger.snapshot import LedgerSnapshot
from affidavit.ports.store import Artifact, RunHead, Store
from affidavit.release.reading import concludes, read_draft
from affidavit.verify.evidence import Refused, check_evidence, check_references
from affidavit.verify.sentences import Sentence, number_sentences
from affidavit.verify.support import check_support

ACCESS: Final = "draft_access"
"""The kind of artifact that an access is kept as."""

TEXT_CHARS_MAX: Final = 20_000
"""Of a draft that is no report at all; what is longer is cut, and said so."""

Mark = Literal["carried", "unproved", "refuted", "miscited", "unweighed"]


class AccessRecord(Record):
    """One reading of one refused draft. `previous` is the digest of the access before it."""

    format: Literal["affidavit-draft-access/0"] = "affidavit-draft-access/0"
    run_id: str
    tenant: str
    draft: str
    by: str
    at: Instant
    previous: str | None = None


class Finding(Record):
    """Why a sentence was refused: the code, what it means, and what would prove it."""

    code: str
    pointer: str
    means: str
    would_prove: str


class MarkedSentence(Record):
    """One sentence of the draft, numbered by the harness, with its mark."""

    number: int
    pointer: str
    text: str
    tool_call_ids: tuple[str, ...]
    mark: Mark
    findings: tuple[Finding, ...] = ()


class RefusedDraft(Record):
    """What a person is shown: never a result. `text` stands where the draft is no report at all."""

    run_id: str
    published: Literal[False] = False
    outcome: ReleaseOutcome
    decision: str
    sentences: tuple[MarkedSentence, ...] = ()
    findings: tuple[Finding, ...] = ()
    text: str | None = None
    text_cut: bool = False
    access: AccessRecord
    accesses: tuple[AccessRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class _Sealed:
    """A decided run with the draft that its release refused."""

    release: ReleaseRecord
    journal: tuple[Entry, ...]
    contents: Mapping[str, bytes]
    address: str
    draft: bytes


async def open_refused_draft(store: Store, head: RunHead, by: str, at: datetime) -> RefusedDraft:
    """The draft that the run's release refused, and the record that `by` has read it.

    Raises InputRefused for a run that is not decided (RUN_UNDECIDED), has no refused draft
    (DRAFT_NOT_THERE), whose draft or records have expired (DRAFT_EXPIRED), or that was read too
    often (ATTACHED_FULL); RecordFailed where the access cannot be recorded. Then nothing is shown.
    """
    artifacts = await store.artifacts(head.run_id)
    sealed = await _sealed(store, head, artifacts)
    before = _accesses(artifacts)
    access = AccessRecord(
        run_id=head.run_id,
        tenant=head.tenant,
        draft=sealed.address,
        by=by,
        at=at,
        previous=_address(before[-1]) if before else None,
    )
    shown = _show(sealed, access, before)
    content = canonical_json(access.model_dump(mode="json"))
    await store.attach(head.run_id, Artifact(digest(content), ACCESS, content))
    return shown


async def _sealed(store: Store, head: RunHead, artifacts: Sequence[Artifact]) -> _Sealed:
    release = await stored_release(store, head.run_id)
    if release is None:
        raise InputRefused(
            f"run {head.run_id} is not decided yet",
            code="RUN_UNDECIDED",
            hint="a draft is opened after its release, never before",
        )
    journal = await store.read(head.run_id)
    view = fold(journal)
    published = release.result is not None and not release.result.withdrawn
    if view.draft_digest is None or published:
        raise InputRefused(
            f"run {head.run_id} has no refused draft",
            code="DRAFT_NOT_THERE",
            hint="what was published is the draft itself" if published else "its agent wrote none",
        )
    contents = {item.digest: item.content for item in artifacts}
    draft = contents.get(view.draft_digest)
    if draft is None or str(journal[0].data["request_digest"]) not in contents:
        raise InputRefused(
            f"the draft of run {head.run_id} has expired",
            code="DRAFT_EXPIRED",
            hint="payloads live as long as [retention] says",
        )
    return _Sealed(release, journal, contents, view.draft_digest, draft)


def _accesses(artifacts: Sequence[Artifact]) -> tuple[AccessRecord, ...]:
    """Who has read it before, oldest first. Raises RecordFailed for a record that is none."""
    found = []
    for item in artifacts:
        if item.kind != ACCESS:
            continue
        try:
            found.append(AccessRecord.model_validate_json(item.content))
        except ValidationError:
            raise RecordFailed(
                "an access to a draft cannot be read", code="STORE_DAMAGED"
            ) from None
    return tuple(sorted(found, key=lambda each: (each.at, _address(each))))


def _address(access: AccessRecord) -> str:
    return digest(canonical_json(access.model_dump(mode="json")))


def _show(sealed: _Sealed, access: AccessRecord, before: tuple[AccessRecord, ...]) -> RefusedDraft:
    release = sealed.release
    bare = RefusedDraft(
        run_id=release.run_id,
        outcome=release.outcome,
        decision=str(release.decision),
        access=access,
        accesses=before,
    )
    try:
        candidate = read_draft(sealed.draft)
    except DraftUnreadable as error:
        text = sealed.draft.decode("utf-8", "replace")
        told = {
            "text": text[:TEXT_CHARS_MAX],
            "text_cut": len(text) > TEXT_CHARS_MAX,
            "findings": (
                Finding(code="DRAFT_MISSING", pointer="", means=str(error), would_prove=""),
            ),
        }
        return RefusedDraft.model_validate({**dict(bare), **told})
    sentences, elsewhere = mark_sentences(candidate, _ledger(sealed), release.question)
    return RefusedDraft.model_validate(
        {**dict(bare), "sentences": sentences, "findings": elsewhere}
    )


def _ledger(sealed: _Sealed) -> LedgerSnapshot:
    """The run's records, as its release saw them."""
    view: RunView = fold(sealed.journal)
    content = sealed.contents[str(sealed.journal[0].data["request_digest"])]
    request = AgentRequest.model_validate_json(content)
    tools = frozenset(call.tool for call in view.calls.values() if call.attempts)
    return take_snapshot(request.run_id, request.tenant, view, sealed.contents, tools)


def mark_sentences(
    candidate: DraftCandidate, ledger: LedgerSnapshot, question: str
) -> tuple[tuple[MarkedSentence, ...], tuple[Finding, ...]]:
    """Each sentence with its mark; and what is wrong with the draft outside of its sentences."""
    sentences = number_sentences(candidate)
    if not concludes(candidate):
        violations = check_references(candidate, ledger).violations
        return _marked(sentences, violations, None)
    checked = check_evidence(candidate, ledger)
    if isinstance(checked, Refused):
        return _marked(sentences, checked.violations, None)
    return _marked(sentences, (), check_support(checked, ledger, question).refusals)


def _marked(
    sentences: tuple[Sentence, ...],
    violations: tuple[Violation, ...],
    refusals: tuple[Refusal, ...] | None,
) -> tuple[tuple[MarkedSentence, ...], tuple[Finding, ...]]:
    """`refusals` is None where the words were not weighed."""
    marked, placed = [], set()
    for sentence in sentences:
        here = [item for item in violations if _concerns(item.pointer, sentence.pointer)]
        own = [item for item in refusals or () if item.sentence == sentence.number]
        placed |= {id(item) for item in here}
        marked.append(
            MarkedSentence(
                number=sentence.number,
                pointer=sentence.pointer,
                text=sentence.text,
                tool_call_ids=sentence.calls,
                mark=_mark(bool(here), None if refusals is None else own),
                findings=(
                    *(_finding(str(item.code), item.pointer) for item in here),
                    *(_finding(str(item.code), item.pointer) for item in own),
                ),
            )
        )
    elsewhere = (item for item in violations if id(item) not in placed)
    return tuple(marked), tuple(_finding(str(item.code), item.pointer) for item in elsewhere)


def _mark(miscited: bool, refusals: Sequence[Refusal] | None) -> Mark:
    if miscited:
        return "miscited"
    if refusals is None:
        return "unweighed"
    classes = {item.refusal_class for item in refusals}
    if RefusalClass.CONTRADICTION in classes:
        return "refuted"
    return "unproved" if classes else "carried"


def _concerns(violation: str, sentence: str) -> bool:
    """Whether a violation is about the part that a sentence stands in, or the sentence itself."""
    wrong, own = violation.split("/"), sentence.split("/")
    if "sentences" in wrong:
        place = wrong.index("sentences") + 2
        return wrong[:place] == own[:place]
    part = 3 if own[1] in {"analyses", "action_plan", "recommendations"} else 2
    return wrong[:part] == own[:part]


def _finding(code: str, pointer: str) -> Finding:
    return Finding(
        code=code,
        pointer=pointer,
        means=meaning_of(code) or "",
        would_prove=remedy_of(code) or "",
    )
