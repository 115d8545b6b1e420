"""From a decided run to its file, before the decision is stored (A5).

The bytes go into the same append as the decision itself, so that a published answer always has its
file, and a file never an unpublished answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from affidavit.affidavit.document import CitedCall, Document, write_document
from affidavit.contract.journal import Entry
from affidavit.contract.report import ReleaseRecord
from affidavit.core.fold import fold


def seal(
    entries: Sequence[Entry], contents: Mapping[str, bytes], release: ReleaseRecord
) -> bytes:
    """The file of a run with these lines, these artifacts and this answer."""
    view = fold(entries)
    calls = []
    for key in cited_calls(release):
        call = view.calls[key]
        if call.result_digest is not None:
            calls.append(
                CitedCall(key, call.tool, str(release.provenance), contents[call.result_digest])
            )
    return write_document(Document(release, tuple(calls), tuple(entries)))


def cited_calls(release: ReleaseRecord) -> tuple[str, ...]:
    """Every call that the answer rests on, each once, in order of first mention."""
    cited: list[str] = []
    if release.result is not None:
        for analysis in release.result.analyses:
            cited.extend(analysis.tool_call_ids)
        bounds = (
            release.result.conclusion,
            *release.result.action_plan,
            *release.result.recommendations,
        )
        for part in (*release.result.analyses, *bounds):
            for sentence in part.sentences:
                cited.extend(sentence.tool_call_ids)
                cited.extend(item.tool_call_id for item in sentence.statements)
    if release.fallback is not None:
        cited.extend(fact.tool_call_id for fact in release.fallback.observed_facts)
        cited.extend(lead.tool_call_id for lead in release.fallback.leads)
    return tuple(dict.fromkeys(cited))
