"""Real files of whole runs, and a forger who makes every digest in them anew."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import anyio

from affidavit.adapters.memory_store import MemoryStore
from affidavit.affidavit.document import (
    CitedCall,
    Document,
    PartStatements,
    read_document,
    write_document,
)
from affidavit.affidavit.seal import head_of, sign
from affidavit.affidavit.seal_checks import signed_head
from affidavit.contract.agent import AgentRequest
from affidavit.contract.journal import Entry, EventType
from affidavit.contract.report import ReleaseRecord
from affidavit.core.canonical import canonical_json, digest
from affidavit.core.chain import GENESIS, entry_hash
from affidavit.diagnose import drive, start
from tests.support.checking import SIGNER
from tests.support.runs import RUN_ID, request
from tests.support.worlds import Script, world


async def file_of(script: Script, **options: Any) -> bytes:
    """The sealed file of a whole run through the real harness."""
    store = MemoryStore()
    told = world(script, store=store, **options)
    await start(told, request())
    await drive(RUN_ID, told)
    return await file_in(store)


def sealed_by(script: Script, **options: Any) -> bytes:
    """As `file_of`, for a test that is not async."""
    return anyio.run(partial(file_of, script, **options))


async def file_in(store: MemoryStore) -> bytes:
    """The one sealed file of a store."""
    (content,) = (
        item.content for item in await store.artifacts(RUN_ID) if item.kind == "affidavit"
    )
    return content


@dataclass
class Forgery:
    """What a forger changes. Everything that follows from it is made anew: digests, chain, file.

    `line` may change any line's data, after what follows from calls and release was put in.
    """

    document: Document
    release: Mapping[str, Any] | None = None
    request: Mapping[str, Any] | None = None
    calls: Sequence[CitedCall] | None = None
    statements: tuple[PartStatements, ...] | None = None
    journal: Sequence[Entry] | None = None
    line: Callable[[Entry], Mapping[str, object] | None] = lambda entry: None

    def make(self) -> bytes:
        """The forged file."""
        before = self.document
        release = ReleaseRecord.model_validate_json(
            json.dumps({**before.release.model_dump(mode="json"), **(self.release or {})})
        )
        asked = AgentRequest.model_validate_json(
            json.dumps({**before.request.model_dump(mode="json"), **(self.request or {})})
        )
        calls = tuple(before.calls if self.calls is None else self.calls)
        results = {call.tool_call_id: call.result for call in calls}
        lines = [
            self._line(entry, release, asked, results)
            for entry in (before.journal if self.journal is None else self.journal)
        ]
        return write_document(
            closed(
                Document(
                    release=release,
                    request=asked,
                    calls=calls,
                    statements=before.statements if self.statements is None else self.statements,
                    journal=chained(lines),
                ),
                before,
            )
        )

    def _line(
        self,
        entry: Entry,
        release: ReleaseRecord,
        asked: AgentRequest,
        results: Mapping[str, bytes],
    ) -> Entry:
        data = dict(entry.data)
        match entry.type:
            case EventType.RUN_STARTED:
                data["request_digest"] = digest(canonical_json(asked.model_dump(mode="json")))
            case EventType.TOOL_CALL_READY if data["tool_call_id"] in results:
                result = results[str(data["tool_call_id"])]
                envelope = json.loads(result)
                data |= {key: envelope[key] for key in ("count", "total", "truncated")}
                data |= {"result_digest": digest(result), "evidence_status": envelope["status"]}
            case EventType.RELEASE_DECISION:
                shown = release.model_dump(mode="json")
                data |= {key: shown[key] for key in ("decision", "outcome", "failure_code")}
                data["fallback_type"] = shown["fallback"] and shown["fallback"]["type"]
                data["release_digest"] = digest(canonical_json(shown))
            case EventType.RUN_ENDED:
                shown = release.model_dump(mode="json")
                data |= {key: shown[key] for key in ("run_state", "agent_status", "stop_reason")}
            case _:
                pass
        changed = replace(entry, data=data)
        own = self.line(changed)
        return changed if own is None else replace(changed, data=own)


def closed(document: Document, before: Document) -> Document:
    """The document as the tests' own key closes it, at the place of the one before."""
    head = signed_head(before)
    return sign(document, head_of(document, head.number, head.previous), SIGNER)


def chained(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """The lines numbered and chained anew."""
    prev, out = GENESIS, []
    for seq, entry in enumerate(entries, start=1):
        bare = replace(entry, seq=seq, prev=prev, hash="")
        prev = entry_hash(bare)
        out.append(replace(bare, hash=prev))
    return tuple(out)


def opened(content: bytes) -> Document:
    """The document in these bytes."""
    return read_document(content)


def with_result(call: CitedCall, change: Callable[[dict[str, Any]], None]) -> CitedCall:
    """The call with another projection."""
    envelope = json.loads(call.result)
    change(envelope)
    return replace(call, result=canonical_json(envelope))
