"""Tools over recorded telemetry: what an agent may ask about an incident.

Each tool's raw response is the canonical JSON of rows as the query returned them, with the rule by
which they were computed; `project` makes the bounded envelope of those bytes alone.
"""

from __future__ import annotations

from typing import cast

from affidavit.contract.record import Record
from affidavit.ports.telemetry import SIGNALS, Telemetry
from affidavit.tools.capture.comparisons import comparison_tool
from affidavit.tools.capture.error_logs import error_logs_tool
from affidavit.tools.capture.knowledge import knowledge_tool
from affidavit.tools.capture.listings import change_events_tool, log_search_tool, series_tool
from affidavit.tools.capture.log_shifts import ERROR_RISE, TEMPLATE_CHANGES
from affidavit.tools.capture.metric_scan import metric_scan_tool, window_comparison_tool
from affidavit.tools.capture.metric_shifts import LEVEL_SHIFTS, RESOURCE_SHIFTS
from affidavit.tools.capture.span_shifts import (
    ERROR_SPANS,
    INTERRUPTIONS,
    SELF_TIME,
    TRACE_EDGES,
    edge_onsets,
)
from affidavit.tools.capture.topology import topology_tool
from affidavit.tools.catalogue import Catalogue, Tool, UnavailableSource


def capture_catalogue(folder: Telemetry) -> Catalogue:
    """The capture tools over an incident, and which of its sources are not there (C11, R15)."""
    tools = (
        topology_tool(folder),
        comparison_tool(folder, RESOURCE_SHIFTS),
        comparison_tool(folder, LEVEL_SHIFTS),
        metric_scan_tool(folder),
        window_comparison_tool(folder),
        comparison_tool(folder, TRACE_EDGES, edge_onsets(folder)),
        comparison_tool(folder, SELF_TIME),
        comparison_tool(folder, ERROR_SPANS),
        comparison_tool(folder, INTERRUPTIONS),
        comparison_tool(folder, ERROR_RISE),
        error_logs_tool(folder),
        comparison_tool(folder, TEMPLATE_CHANGES),
        change_events_tool(folder),
        log_search_tool(folder),
        series_tool(folder),
        *((knowledge_tool(folder),) if folder.pages else ()),
    )
    missing = [
        UnavailableSource(name, name, f"the incident has no table of {name}")
        for name in SIGNALS
        if name not in folder.signals
    ]
    if folder.topology is None and "traces" not in folder.signals:
        missing.append(
            UnavailableSource(
                "topology", "topology", "the incident has neither topology nor traces"
            )
        )
    return Catalogue.of((cast("Tool[Record]", tool) for tool in tools), missing)
