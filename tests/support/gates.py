"""Answers that somebody hands in at the gate, and whole runs of them through the real release."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from affidavit.adapters.memory_store import MemoryStore
from affidavit.application.gate import gate_request, order_of
from affidavit.contract.journal import Entry, EventType
from affidavit.contract.report import ReleaseRecord
from affidavit.diagnose import World, drive, start
from affidavit.ports.clock import Clock
from affidavit.ports.store import Store
from affidavit.release.withdrawal import Author
from affidavit.verify.judges import Judge
from affidavit.wiring import gate_world
from tests.support.checking import SIGNER
from tests.support.runs import RUN_ID, TENANT

Report = dict[str, Any]

PODS = (("boarding-1", 7), ("boarding-2", 4), ("seats-1", 2), ("gates-1", 9))
ASIDE = "The crew was relieved about it."
"""A sentence that nothing recorded proves and nothing refutes."""


def call(**changes: object) -> Report:
    """One call that lists the pods and their restarts."""
    rows = [{"name": name, "restarts": restarts} for name, restarts in PODS]
    return {
        "id": "pods",
        "tool": "kubectl_get_pods",
        "arguments": {"namespace": "harbour"},
        "status": "success",
        "result": {"pods": rows},
        "total": len(rows),
        **changes,
    }


def said(pod: str, restarts: int) -> Report:
    """One sentence about the restarts of one pod, with its proof."""
    statement = {
        "kind": "value",
        "tool_call_id": "pods",
        "subject": pod,
        "attribute": "restarts",
        "value": restarts,
    }
    text = f"{pod} had {restarts} restarts."
    return {"text": text, "tool_call_ids": ["pods"], "statements": [statement]}


def report(*asides: str, conclusion: Report | None = None, **changes: Any) -> Report:
    """A report that is true to its one call; `asides` stand at the end of its analysis."""
    sentences = [said(pod, restarts) for pod, restarts in PODS]
    sentences += [{"text": text, "tool_call_ids": ["pods"]} for text in asides]
    concluded = conclusion or said(*PODS[3])
    draft = {
        "analyses": [
            {"id": "A1", "kind": "NORMAL", "sentences": sentences, "tool_call_ids": ["pods"]}
        ],
        "conclusion": {
            "text": concluded["text"],
            "sentences": [concluded],
            "based_on_analysis_ids": ["A1"],
        },
        "action_plan": [],
        "recommendations": [],
        "limitations": {"scope": "harbour", "missing_info": []},
    }
    return {
        "question": "Which pods of the harbour restarted?",
        "agent": "harbour-agent",
        "window": {"start": "2031-05-04T01:00:00Z", "end": "2031-05-04T02:00:00Z"},
        "tool_calls": [call()],
        "draft": draft,
        **changes,
    }


def changed(raw: Mapping[str, Any], **draft: object) -> Report:
    """A report with changes to its draft."""
    other = copy.deepcopy(dict(raw))
    other["draft"].update(draft)
    return other


@dataclass(frozen=True)
class Gated:
    """A whole run of one answer: what came out, its lines and its bytes."""

    release: ReleaseRecord
    journal: tuple[Entry, ...]
    contents: Mapping[str, bytes]
    file: bytes

    def lines(self, type_: EventType) -> list[Mapping[str, object]]:
        """What the lines of one kind say."""
        return [entry.data for entry in self.journal if entry.type is type_]

    def kinds(self) -> list[EventType]:
        """The kinds of all lines."""
        return [entry.type for entry in self.journal]

    def texts(self) -> str:
        """Every published word."""
        assert self.release.result is not None
        return self.release.result.model_dump_json()


def world_of(
    raw: object,
    store: Store,
    *,
    withdraw: bool = False,
    author: Author | None = None,
    judge: Judge | None = None,
    clock: Clock | None = None,
) -> World:
    """The world of an answer, with another author, judge or clock in it."""
    world = gate_world(order_of(raw, withdraw=withdraw), store, signer=SIGNER)
    if clock is not None:
        world = replace(world, driver=replace(world.driver, clock=clock))
    examiner = world.examiner
    if author is not None:
        examiner = replace(examiner, author=author)
    if judge is not None:
        examiner = replace(examiner, judge=judge)
    return replace(world, examiner=examiner)


async def begin(raw: object, world: World, *, withdraw: bool = False) -> None:
    """The run exists."""
    order = order_of(raw, withdraw=withdraw)
    await start(world, gate_request(order, RUN_ID, TENANT), (order.artifact,))


async def gated(
    raw: object,
    *,
    withdraw: bool = False,
    author: Author | None = None,
    judge: Judge | None = None,
) -> Gated:
    """The whole run of an answer."""
    store = MemoryStore()
    world = world_of(raw, store, withdraw=withdraw, author=author, judge=judge)
    await begin(raw, world, withdraw=withdraw)
    release = await drive(RUN_ID, world)
    assert isinstance(release, ReleaseRecord)
    return await read_run(store, release)


async def read_run(store: Store, release: ReleaseRecord) -> Gated:
    """The run as its store holds it; beside its file may lie the orphan of a torn write."""
    kept = await store.artifacts(RUN_ID)
    file = [item.content for item in kept if item.kind == "affidavit"][-1]
    return Gated(
        release=release,
        journal=await store.read(RUN_ID),
        contents={item.digest: item.content for item in kept},
        file=file,
    )
