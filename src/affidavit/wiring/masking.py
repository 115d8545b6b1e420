"""A run whose names are masked: its world and request at the start, and again later (T7)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from affidavit.contract.agent import AgentRequest
from affidavit.contract.errors import InputRefused
from affidavit.core.canonical import digest
from affidavit.diagnose import World
from affidavit.ports.store import Artifact, Store
from affidavit.ports.telemetry import Topology
from affidavit.tools.masked import masked_catalogue
from affidavit.tools.redaction.names import NameMask, draw_names, read_names

KIND: Final = "names"
"""The artifact that holds the list. Nothing names it, by digest or otherwise."""


@dataclass(frozen=True, slots=True)
class MaskedRun:
    """What a run with masked names is started with; `kept` goes to the store beside its request."""

    world: World
    request: AgentRequest
    kept: tuple[Artifact, ...]


def mask_run(
    world: World, request: AgentRequest, names: Iterable[str], topology: Topology | None
) -> MaskedRun:
    """The run with these names masked, those of its topology, and that of the service in trouble.

    Raises InputRefused (NAMES_REFUSED).
    """
    nodes = topology.nodes if topology else ()
    known = [name for node in nodes for name in (node.name, node.host) if name]
    symptom = [request.symptom_service] if request.symptom_service else []
    mask = draw_names((*known, *symptom, *names))
    content = mask.write()
    kept = Artifact(digest(content), KIND, content)
    return MaskedRun(mask_world(world, mask), mask_request(request, mask), (kept,))


def mask_world(world: World, mask: NameMask) -> World:
    """The world with tools that speak of pseudonyms."""
    masked = masked_catalogue(world.collection.catalogue, mask)
    return replace(world, collection=replace(world.collection, catalogue=masked))


def mask_request(request: AgentRequest, mask: NameMask) -> AgentRequest:
    """The request as it is recorded: what was asked, of what, and where its data lie, masked."""
    fields = dict(request)
    for name in ("question", "symptom_service", "incident", "source"):
        if fields[name] is not None:
            fields[name] = mask.mask(fields[name])
    return AgentRequest.model_validate(fields)


async def mask_of_run(store: Store, run_id: str) -> NameMask | None:
    """The names of a stored run, or None where none are masked. Raises InputRefused
    (NAMES_REFUSED) for a list that cannot be read."""
    for artifact in await store.artifacts(run_id):
        if artifact.kind == KIND:
            try:
                return read_names(artifact.content)
            except (ValueError, AttributeError, TypeError):
                raise InputRefused(
                    f"the names of run {run_id} cannot be read",
                    code="NAMES_REFUSED",
                    hint="restore the store from a copy",
                ) from None
    return None
