"""`topology`: what the incident's author recorded, else what the spans show."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from affidavit.adapters.incident_folder import load_incident
from affidavit.contract.evidence import Edge, Envelope, Row
from affidavit.contract.states import EvidenceStatus
from affidavit.tools.capture.rows import FACTS_BYTES_MAX
from affidavit.tools.capture.topology import EDGES_MAX, NODES_MAX
from tests.support.incidents import Cell, call, jsonl, log_row, stamp, write_folder

pytestmark = pytest.mark.anyio

LINE = jsonl([log_row(1, "down")])


def span(span_id: str, parent: str | None, service: str, trace: str = "t1") -> dict[str, Cell]:
    return {
        "trace_id": trace,
        "span_id": span_id,
        "parent_span_id": parent,
        "service_name": service,
        "name": "GET /",
        "timestamp": stamp(1),
        "duration_us": 100,
    }


async def topology(folder: Path, **files: str) -> Envelope:
    with load_incident(write_folder(folder, **files)) as loaded:
        return await call(loaded, "topology")


def edges(envelope: Envelope) -> list[tuple[str, str, str, int | None]]:
    return [
        (fact.source, fact.target, fact.relation, fact.count)
        for fact in envelope.facts
        if isinstance(fact, Edge)
    ]


async def test_what_was_recorded(tmp_path: Path) -> None:
    """Edges with their relation, and a row for each node."""
    document = {
        "nodes": [{"name": "shop"}, {"name": "db", "kind": "database", "host": "h1"}],
        "edges": [{"from": "shop", "to": "db", "kind": "reads"}],
    }
    found = await topology(tmp_path, topology_json=json.dumps(document), logs_jsonl=LINE)
    assert edges(found) == [("shop", "db", "reads", None)]
    rows = {fact.subject: fact for fact in found.facts if isinstance(fact, Row)}
    assert [(cell.name, cell.text) for cell in rows["db"].cells] == [
        ("name", "db"),
        ("kind", "database"),
        ("host", "h1"),
    ]
    assert len(rows["shop"].cells) == 2
    assert found.source == "topology.json"


async def test_what_the_spans_show(tmp_path: Path) -> None:
    """A call is a span whose parent, in the same trace, is another service's."""
    spans = [
        span("a", None, "shop"),
        span("b", "a", "cart"),
        span("c", "a", "cart"),
        span("d", "b", "cart"),  # its own
        span("e", "d", "db"),
        span("f", "a", "lost", trace="t2"),  # the parent is in another trace
    ]
    found = await topology(tmp_path, traces_jsonl=jsonl(spans))
    assert edges(found) == [("shop", "cart", "calls", 2), ("cart", "db", "calls", 1)]
    assert (found.source, found.total) == ("traces.jsonl", 2)


@pytest.mark.spec("T4")
async def test_spans_of_one_service_have_no_edge(tmp_path: Path) -> None:
    """Nothing was called: empty, not failed."""
    found = await topology(tmp_path, traces_jsonl=jsonl([span("a", None, "shop")]))
    assert found.status is EvidenceStatus.NO_EVIDENCE


@pytest.mark.spec("C15")
@pytest.mark.parametrize("name_chars", [8, 200])
async def test_a_large_topology_is_cut_and_says_so(tmp_path: Path, name_chars: int) -> None:
    """By number and by bytes."""
    names = [f"{number:05}".ljust(name_chars, "\u00e9") for number in range(1000)]
    document = {
        "nodes": [{"name": name} for name in names],
        "edges": [{"from": names[0], "to": name} for name in names[1:]],
    }
    found = await topology(tmp_path, topology_json=json.dumps(document), logs_jsonl=LINE)
    assert found.truncated
    assert found.total == 1999
    assert found.count <= EDGES_MAX + NODES_MAX
    assert len(found.model_dump_json()) < FACTS_BYTES_MAX + 4000
