"""A run's spans: made from its journal alone, with its own times, and without a word of content."""

from __future__ import annotations

import json

import anyio
import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from affidavit.adapters.memory_store import MemoryStore
from affidavit.contract.journal import Entry
from affidavit.diagnose import drive, start
from affidavit.server.traces import spans_of, trace_run
from tests.support.runs import RUN_ID, request
from tests.support.worlds import act, conclude, world


def journal() -> tuple[Entry, ...]:
    """A run that asked three tools, one of which is down, and concluded."""

    async def run() -> tuple[Entry, ...]:
        store = MemoryStore()
        own = world(
            [act("probe", service="checkout"), act("down", "search"), conclude()], store=store
        )
        await start(own, request())
        await drive(RUN_ID, own)
        return await store.read(RUN_ID)

    return anyio.run(run)


@pytest.fixture
def exported(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """What an SDK in this process is given."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    return exporter


@pytest.mark.spec("N2", "A1")
def test_a_run_becomes_one_tree_of_spans(exported: InMemorySpanExporter) -> None:
    """The run above, its calls below, each from its own line to its own line."""
    lines = journal()
    trace_run(lines)
    spans = {span.name: span for span in exported.get_finished_spans()}
    root = spans["invoke_agent scripted"]
    assert root.attributes is not None
    assert root.attributes["gen_ai.conversation.id"] == RUN_ID
    assert root.attributes["affidavit.outcome"] == "SUCCESS"
    assert (root.start_time, root.end_time) == (lines[0].at_us * 1000, lines[-1].at_us * 1000)
    tools = [span for name, span in spans.items() if name.startswith("execute_tool ")]
    assert {span.name for span in tools} == {
        f"execute_tool {t}" for t in ("probe", "down", "search")
    }
    for span in tools:
        assert span.parent is not None
        assert span.parent.span_id == root.context.span_id
        times = [root.start_time, span.start_time, span.end_time, root.end_time]
        assert times == sorted(times, key=lambda moment: moment or 0)
        assert None not in times
    down = spans["execute_tool down"]
    assert down.status.status_code is StatusCode.ERROR
    assert down.attributes is not None
    assert down.attributes["error.type"]
    assert spans["execute_tool probe"].status.status_code is StatusCode.UNSET


@pytest.mark.spec("N2")
def test_no_content_is_in_any_span(exported: InMemorySpanExporter) -> None:
    """Neither the question, nor arguments, nor results, nor the report, nor what broke."""
    trace_run(journal())
    said = json.dumps([json.loads(span.to_json()) for span in exported.get_finished_spans()])
    for word in ("checkout", "errors", "canary", "Why"):
        assert word not in said


def test_a_run_under_way_is_not_traced(exported: InMemorySpanExporter) -> None:
    """Its end is missing; it is traced once, when it has ended."""
    trace_run(journal()[:-1])
    trace_run(())
    assert exported.get_finished_spans() == ()
    assert len(list(spans_of(journal()))) == 3
