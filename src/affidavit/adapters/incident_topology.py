"""Reads `topology.json`, which may come from anybody."""

from __future__ import annotations

import json
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from affidavit.contract.errors import InputRefused
from affidavit.ports.telemetry import Link, Node, Topology

TOPOLOGY_FILE: Final = "topology.json"

NODES_MAX: Final = 5_000
LINKS_MAX: Final = 20_000
"""Far above the largest published service graphs; an answer is cut much earlier."""

HINT: Final = "docs/incident-folder.md shows the shape: nodes with a name, edges with from and to"

Name = Annotated[str, Field(min_length=1, max_length=200)]


class _NodeEntry(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    name: Name
    kind: Literal["service", "database", "cache", "queue", "host", "external"] = "service"
    host: Name | None = None


class _LinkEntry(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    source: Name = Field(alias="from")
    target: Name = Field(alias="to")
    kind: Literal["calls", "runs_on", "reads"] = "calls"


class _Document(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    nodes: list[_NodeEntry] = Field(max_length=NODES_MAX)
    edges: list[_LinkEntry] = Field(default_factory=list, max_length=LINKS_MAX)


def parse_topology(content: bytes, where: str) -> Topology:
    """The topology, each node and edge once. Raises InputRefused, naming the place."""
    try:
        document = _Document.model_validate(json.loads(content))
    except RecursionError:
        raise InputRefused(f"{where} is nested too deeply", hint=HINT) from None
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputRefused(f"{where} is no JSON: {error}", hint=HINT) from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the document"
        raise InputRefused(f"{where}: {place}: {first['msg']}", hint=HINT) from None
    nodes = {entry.name: Node(entry.name, entry.kind, entry.host) for entry in document.nodes}
    if len(nodes) < len(document.nodes):
        raise InputRefused(f"{where}: two nodes have the same name", hint="remove one of them")
    links = {Link(entry.source, entry.target, entry.kind) for entry in document.edges}
    return Topology(
        source=TOPOLOGY_FILE,
        nodes=tuple(sorted(nodes.values(), key=lambda node: node.name)),
        links=tuple(sorted(links, key=lambda link: (link.source, link.target, link.kind))),
    )
