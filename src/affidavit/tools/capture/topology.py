"""`topology`: what calls, reads or runs on what, as recorded; never inferred from timing."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from affidavit.contract.errors import ToolFailed
from affidavit.contract.evidence import Cell, Edge, Envelope, Fact, Row, Scope
from affidavit.contract.record import Record
from affidavit.contract.states import Emitter, EvidenceClass
from affidavit.ports.telemetry import Answer, Plain, Telemetry, Topology, TraceEdges
from affidavit.tools.capture.rows import (
    Origin,
    count,
    envelope,
    read_raw,
    source_of,
    text,
    write_raw,
)
from affidavit.tools.catalogue import Tool, ToolContext

EDGES_MAX: Final = 200
NODES_MAX: Final = 100
"""The largest system that we measured on has 60 services and under 150 edges."""


class TopologyArguments(Record):
    """Nothing to ask: the whole topology."""


def topology_tool(telemetry: Telemetry) -> Tool[TopologyArguments]:
    """The tool over an incident's topology, or over its spans where it has none."""
    recorded = telemetry.topology
    source = recorded.source if recorded else source_of(telemetry, "traces")
    origin = Origin("topology", source, EvidenceClass.OBSERVATION, Emitter.PLATFORM)

    async def fetch(_: TopologyArguments, __: Scope) -> bytes:
        if recorded is not None:
            return write_raw(_recorded(recorded), {"origin": "recorded"})
        if "traces" not in telemetry.signals:
            raise ToolFailed(
                "the incident has neither topology nor traces", code="SOURCE_UNAVAILABLE"
            )
        return write_raw(await telemetry.ask(TraceEdges(EDGES_MAX)), {"origin": "spans"})

    def project(raw: bytes, _: TopologyArguments, scope: Scope, now: datetime) -> Envelope:
        return _project(raw, origin, scope, now)

    return Tool(
        name="topology",
        description="Which services, databases and hosts there are, and which of them call, read "
        "or run on which.",
        source_type=origin.source_type,
        source=origin.source,
        evidence_class=origin.evidence_class,
        arguments=TopologyArguments,
        scope_of=_scope_of,
        fetch=fetch,
        project=project,
    )


def _scope_of(_: TopologyArguments, context: ToolContext) -> Scope:
    return Scope(tenant=context.tenant, query="topology")


def _recorded(topology: Topology) -> Answer:
    """Edges, then nodes, as rows; bounded here, for the document may be large."""
    edges: list[Mapping[str, Plain]] = [
        {"source": link.source, "target": link.target, "relation": link.kind}
        for link in topology.links[:EDGES_MAX]
    ]
    nodes: list[Mapping[str, Plain]] = [
        {"node": node.name, "node_kind": node.kind, "host": node.host}
        for node in topology.nodes[:NODES_MAX]
    ]
    return Answer((*edges, *nodes), {"edges": len(topology.links), "nodes": len(topology.nodes)})


def _project(raw: bytes, origin: Origin, scope: Scope, now: datetime) -> Envelope:
    answer = read_raw(raw)
    facts: list[Fact] = [_fact(row) for row in answer.rows]
    total = count(answer.figures, "edges")
    notes = []
    if text(answer.rule, "origin") == "spans":
        notes.append("edges are counted over recorded spans whose parent is another service's")
    else:
        total += count(answer.figures, "nodes")
        notes.append("as the incident's author recorded it")
    return envelope(origin, scope, facts, total, notes, now)


def _fact(row: Mapping[str, Plain]) -> Fact:
    if "node" in row:
        host = row.get("host")
        cells = [
            Cell(name="name", text=text(row, "node")),
            Cell(name="kind", text=text(row, "node_kind")),
        ]
        if isinstance(host, str):
            cells.append(Cell(name="host", text=host))
        return Row(subject=text(row, "node"), cells=tuple(cells))
    calls = count(row, "calls") if "calls" in row else None
    relation = text(row, "relation") if "relation" in row else "calls"
    return Edge(
        source=text(row, "source"), target=text(row, "target"), relation=relation, count=calls
    )
