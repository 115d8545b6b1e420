"""From a decided run to its signed file, before the decision is stored (A4, A5).

The bytes go into the same append as the decision itself, so that a published answer always has its
file, and a file never an unpublished answer. Where nothing can be signed there is no file, and with
it no answer (L5).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from affidavit.affidavit.document import (
    CitedCall,
    Document,
    PartStatements,
    digest_of,
    write_document,
)
from affidavit.affidavit.dsse import RUN_HEAD_OF, sign_payload
from affidavit.affidavit.exact import write_exact
from affidavit.affidavit.head import Head, question_digest
from affidavit.contract.agent import AgentRequest
from affidavit.contract.draft import AnalysisCandidate, BoundCandidate, DraftCandidate
from affidavit.contract.errors import InternalFault
from affidavit.contract.evidence import Envelope
from affidavit.contract.journal import Entry, EventType
from affidavit.contract.report import (
    PublishedAnalysis,
    PublishedBound,
    PublishedReport,
    ReleaseRecord,
    SourceRef,
)
from affidavit.contract.states import Provenance
from affidavit.core.canonical import canonical_json, digest
from affidavit.core.fold import CallView, RunView, fold
from affidavit.ports.signer import Signer
from affidavit.ports.store import NO_HEAD, SealedHead
from affidavit.release.reading import read_draft
from affidavit.release.remainder import draft_without
from affidavit.release.repair import apply_patch, read_patch


@dataclass(frozen=True, slots=True)
class Sealer:
    """Seals decided runs with one signer's key (`diagnose.Seal`)."""

    signer: Signer

    def ready(self) -> None:
        """Raises RecordFailed where nothing could be signed."""
        self.signer.ready()

    def __call__(
        self,
        entries: Sequence[Entry],
        contents: Mapping[str, bytes],
        release: ReleaseRecord,
        last: SealedHead | None,
    ) -> tuple[bytes, SealedHead]:
        """The file of a run with these lines, these artifacts and this answer; its head follows
        the tenant's last one.

        Raises InternalFault when something that the answer rests on is not there, RecordFailed
        when it cannot be signed: then there is no file, and with it no answer.
        """
        document = draw_up(entries, contents, release)
        number, previous = (last.number + 1, last.digest) if last else (1, NO_HEAD)
        head = head_of(document, number, previous)
        content = write_document(sign(document, head, self.signer))
        return content, SealedHead(head.tenant, number, head.run_id, head.digest(), previous)


def sign(document: Document, head: Head, signer: Signer) -> Document:
    """The document, closed by its signed head. Raises `RecordFailed`."""
    signed = sign_payload(signer, RUN_HEAD_OF[head.provenance], head.payload())
    return replace(document, signed=signed)


def head_of(document: Document, number: int, previous: str) -> Head:
    """The head that this document must be closed with, at that place among its tenant's."""
    release, first, last = document.release, document.journal[0].data, document.journal[-1]
    return Head(
        run_id=release.run_id,
        tenant=release.tenant,
        number=number,
        previous=previous,
        lines=len(document.journal),
        last_line=last.hash,
        content=digest_of(document),
        release=digest(canonical_json(release.model_dump(mode="json"))),
        provenance=release.provenance,
        question=question_digest(release.question),
        incident=document.request.incident,
        catalogue=str(first.get("catalogue_digest", UNKNOWN)),
        policy=str(first.get("policy_digest", UNKNOWN)),
        version=str(first.get("version", "")),
        sealed_us=last.at_us,
    )


UNKNOWN: Final = "0" * 64
"""What a first line does not name: that of a run which began before runs named their policy."""


def draw_up(
    entries: Sequence[Entry], contents: Mapping[str, bytes], release: ReleaseRecord
) -> Document:
    """All of the file but its signature. Raises InternalFault as `Sealer` does."""
    view = fold(entries)
    keys = dict.fromkeys((*cited_calls(release), *_source_calls(view, contents, release)))
    return Document(
        release=release,
        request=AgentRequest.model_validate_json(
            _content(contents, entries[0].data["request_digest"])
        ),
        calls=tuple(_call(view.calls[key], contents) for key in keys),
        statements=tuple(_statements(entries, contents, release)),
        journal=tuple(entries),
    )


def cited_calls(release: ReleaseRecord) -> tuple[str, ...]:
    """Every call that the answer names, each once, in order of first mention."""
    cited: list[str] = []
    if release.result is not None:
        for analysis in release.result.analyses:
            cited.extend(analysis.tool_call_ids)
        for _, part in parts_of(release.result):
            for sentence in part.sentences:
                cited.extend(sentence.tool_call_ids)
                chains = (*sentence.statements, *sentence.against)
                cited.extend(item.tool_call_id for item in chains)
    if release.fallback is not None:
        cited.extend(fact.tool_call_id for fact in release.fallback.observed_facts)
        cited.extend(lead.tool_call_id for lead in release.fallback.leads)
    return tuple(dict.fromkeys(cited))


def parts_of(
    report: PublishedReport,
) -> Iterator[tuple[str, PublishedAnalysis | PublishedBound]]:
    """Every part of a report that holds sentences, with the JSON pointer to it."""
    for place, analysis in enumerate(report.analyses):
        yield f"/analyses/{place}", analysis
    yield "/conclusion", report.conclusion
    for place, action in enumerate(report.action_plan):
        yield f"/action_plan/{place}", action
    for place, advice in enumerate(report.recommendations):
        yield f"/recommendations/{place}", advice


def source_of(envelope: Envelope) -> SourceRef:
    """The source that a projection was read from."""
    return SourceRef(source_type=envelope.source_type, source=envelope.source, scope=envelope.scope)


def _content(contents: Mapping[str, bytes], address: object) -> bytes:
    content = contents.get(str(address))
    if content is None:
        raise InternalFault("the file cannot be sealed: something that the answer needs is gone")
    return content


def _source_calls(
    view: RunView, contents: Mapping[str, bytes], release: ReleaseRecord
) -> Iterator[str]:
    """The calls behind the sources that a fallback lists: it says that they were read."""
    listed = set(release.fallback.verified_sources) if release.fallback is not None else set()
    if not listed:
        return
    for key, call in view.calls.items():
        result = contents.get(call.result_digest or "")
        is_ready = call.settled is EventType.TOOL_CALL_READY
        if is_ready and result is not None and source_of(_envelope(result)) in listed:
            yield key


def _envelope(result: bytes) -> Envelope:
    return Envelope.model_validate_json(result)


def _call(call: CallView, contents: Mapping[str, bytes]) -> CitedCall:
    header = json.loads(_content(contents, call.request_digest))
    return CitedCall(
        tool_call_id=call.tool_call_id,
        tool=call.tool,
        provenance=Provenance(header["provenance"]),
        result=_content(contents, call.result_digest),
    )


def _statements(
    entries: Sequence[Entry], contents: Mapping[str, bytes], release: ReleaseRecord
) -> Iterator[PartStatements]:
    """What the author of a published report bound to its sentences, ids as they were repaired."""
    if release.result is None:
        return
    candidate = _examined(entries, contents)
    for at, part in _parts_of(candidate):
        yield PartStatements(
            at=at,
            written=part.written,
            sentences=tuple(
                tuple(write_exact(statement) for statement in sentence.statements)
                for sentence in part.sentences
            ),
        )


def _examined(entries: Sequence[Entry], contents: Mapping[str, bytes]) -> DraftCandidate:
    """The draft as the guard let it through: the author's, patched, less what it took back."""
    ended = next(entry for entry in entries if entry.type is EventType.COLLECTION_ENDED)
    candidate = read_draft(_content(contents, ended.data["draft_digest"]))
    for entry in entries:
        if entry.type is EventType.EVIDENCE_REPAIR_ATTEMPT and entry.data["patch_digest"]:
            patch = _content(contents, entry.data["patch_digest"]).decode("utf-8")
            candidate = apply_patch(candidate, read_patch(patch))
        if entry.type is EventType.DRAFT_WITHDRAWAL_ATTEMPT:
            candidate = draft_without(candidate, withdrawn_sentences(entry)).draft
    return candidate


def withdrawn_sentences(entry: Entry) -> tuple[int, ...]:
    """The numbers that a withdrawal's line says were taken back."""
    numbers = entry.data["sentences"]
    return tuple(numbers) if isinstance(numbers, (list, tuple)) else ()


def _parts_of(
    candidate: DraftCandidate,
) -> Iterator[tuple[str, AnalysisCandidate | BoundCandidate]]:
    """As `parts_of`, for a draft."""
    for place, analysis in enumerate(candidate.analyses or ()):
        yield f"/analyses/{place}", analysis
    if candidate.conclusion is not None:
        yield "/conclusion", candidate.conclusion
    for place, action in enumerate(candidate.action_plan):
        yield f"/action_plan/{place}", action
    for place, advice in enumerate(candidate.recommendations):
        yield f"/recommendations/{place}", advice
