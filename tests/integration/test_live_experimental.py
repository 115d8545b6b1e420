"""Loki, Elasticsearch/OpenSearch, Tempo and Jaeger on recorded answers: read, bounded, marked."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from affidavit.adapters import elasticsearch as elastic_adapter
from affidavit.adapters import loki as loki_adapter
from affidavit.adapters import newest_first
from affidavit.adapters.experimental_tables import ElasticTable, LokiTable
from affidavit.adapters.live_backends import Finding, LiveConfig, probe_backends
from affidavit.contract.agent import ToolCallRequest
from affidavit.contract.evidence import Change, Envelope, Line, Window
from affidavit.settings import Settings
from tests.support.http_stage import Reply, Seen, stage
from tests.support.live_runs import Asked, ask_live, investigate, live_settings
from tests.support.stores import Call, Told, elasticsearch, jaeger, loki, tempo

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

START = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)
WINDOW = Window(start=START, end=START + timedelta(minutes=10))
START_US = int(START.timestamp() * 1_000_000)
SECOND = 1_000_000

Answer = Callable[[Seen], Reply]
TABLES: dict[str, dict[str, object]] = {
    "loki": {"query": '{namespace="shop"}', "org-id": "shop"},
    "elasticsearch": {"index": "logs-*"},
    "tempo": {},
    "jaeger": {},
}
STORES: dict[str, Callable[[list[Told]], Answer]] = {"loki": loki, "elasticsearch": elasticsearch}


def settings(kind: str, url: str, **more: object) -> Settings:
    table = {"url": url, **TABLES[kind], **more}
    return live_settings((url.removeprefix("http://"),), **{kind: {"main": table}})


async def ask(kind: str, answer: Answer, *calls: ToolCallRequest, **more: object) -> Asked:
    with stage(answer) as there:
        return await ask_live(settings(kind, there.url, **more), WINDOW, *calls)


async def probed(kind: str, answer: Answer, **more: object) -> Finding:
    with stage(answer) as there:
        told = settings(kind, there.url, **more)
        (finding,) = await probe_backends(LiveConfig(told.backends, told.outgoing, {}))
    return finding


def search(text: str) -> ToolCallRequest:
    return ToolCallRequest("log_search", {"text": text})


def lines_of(envelope: Envelope) -> list[Line]:
    return [fact for fact in envelope.facts if isinstance(fact, Line)]


def startup(count: int, panic_s: int = 500) -> list[Told]:
    """Start-up lines, many of one and the same moment, and a panic at the end."""
    quiet = [
        Told(START_US + place // 7 * SECOND, "checkout", "info", f"loading plug-in {place}")
        for place in range(count)
    ]
    last = Told(START_US + panic_s * SECOND, "checkout", "error", "panic: index out of range")
    return [*quiet, last]


@pytest.mark.fault("R44")
@pytest.mark.parametrize("kind", ["loki", "elasticsearch"])
async def test_every_line_is_read_once_over_many_pages(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loki_adapter, "PAGE_LINES", 20)
    monkeypatch.setattr(elastic_adapter, "PAGE_LINES", 20)
    asked = await ask(kind, STORES[kind](startup(300)), search("plug-in"), search("panic"))
    plugins, panic = asked.envelope(0), asked.envelope(1)
    assert plugins.total == 300
    (line,) = lines_of(panic)
    assert (line.subject, line.level) == ("checkout", "ERROR")
    assert line.at == START + timedelta(seconds=500)
    assert not panic.truncated
    assert (f"{kind}:main (experimental)", "consulted") in asked.coverage()


@pytest.mark.fault("R44")
@pytest.mark.parametrize("kind", ["loki", "elasticsearch"])
async def test_what_is_cut_is_the_oldest_and_is_said(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The line that tells the cause comes after thousands of others."""
    monkeypatch.setattr(loki_adapter, "PAGE_LINES", 20)
    monkeypatch.setattr(elastic_adapter, "PAGE_LINES", 20)
    monkeypatch.setattr(newest_first, "LINES_MAX", 60)
    asked = await ask(kind, STORES[kind](startup(300)), search("panic"))
    envelope = asked.envelope(0)
    assert len(lines_of(envelope)) == 1
    assert envelope.truncated
    assert any(f"{kind}:main (experimental) before its last" in note for note in envelope.notes)


@pytest.mark.parametrize("kind", ["loki", "elasticsearch"])
async def test_a_moment_that_fills_a_page_is_left_and_the_rest_is_read(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loki_adapter, "PAGE_LINES", 20)
    monkeypatch.setattr(elastic_adapter, "PAGE_LINES", 20)
    burst = [Told(START_US + 60 * SECOND, "a", "info", f"burst {n}") for n in range(50)]
    early = [Told(START_US + SECOND, "a", "info", "early")]
    asked = await ask(kind, STORES[kind]([*early, *burst]), search("early"))
    assert len(lines_of(asked.envelope(0))) == 1
    assert any("one and the same moment" in note for note in asked.envelope(0).notes)


async def test_loki_is_asked_with_its_query_and_its_tenant_and_by_get_alone() -> None:
    with stage(loki(startup(3))) as there:
        await ask_live(settings("loki", there.url), WINDOW, search("plug-in"))
        seen = there.seen
    assert {one.method for one in seen} == {"GET"}
    assert {one.headers["x-scope-orgid"] for one in seen} == {"shop"}
    asked = [one.path for one in seen if "query_range" in one.path]
    assert asked
    assert all("%7Bnamespace%3D%22shop%22%7D" in path for path in asked)


def found_matrix(_: Seen) -> Reply:
    data = {"resultType": "matrix", "result": []}
    return Reply(body=json.dumps({"status": "success", "data": data}).encode())


@pytest.mark.fault("R15", "R75")
@pytest.mark.parametrize(
    ("kind", "answer", "code"),
    [
        ("loki", found_matrix, "SOURCE_FAILED"),
        ("elasticsearch", lambda _: Reply(body=b'{"hits": {"hits": [{}]}}'), "SOURCE_FAILED"),
        ("jaeger", lambda _: Reply(body=b'{"data": [{"spans": [1]}]}'), "SOURCE_FAILED"),
        ("tempo", lambda _: Reply(body=b'{"traces": [{}]}'), "SOURCE_FAILED"),
    ],
)
async def test_an_answer_of_another_shape_is_an_error(kind: str, answer: Answer, code: str) -> None:
    call = ToolCallRequest("trace_edges", {}) if kind in {"jaeger", "tempo"} else search("xx")
    asked = await ask(kind, answer, call)
    told = {line.source: line for line in asked.release.coverage.lines}
    line = told[f"{kind}:main (experimental)"]
    assert line.status in {"failed", "unavailable"}
    assert code in line.codes


@pytest.mark.fault("R15", "R75")
@pytest.mark.parametrize("kind", sorted(TABLES))
async def test_one_that_is_not_there_or_lacks_its_secret_is_named_with_its_mark(kind: str) -> None:
    gone = await probed(kind, lambda _: Reply(503))
    assert (gone.name, gone.code) == (f"{kind}:main (experimental)", "HTTP_503")
    missing = await probed(kind, lambda _: Reply(), credential={"bearer-env": "NOT_SET"})
    assert (missing.name, missing.code) == (f"{kind}:main (experimental)", "SECRET_MISSING")


@pytest.mark.parametrize(
    ("rights", "code", "word"),
    [
        ({"write": False, "manage": False}, "", "may write nothing"),
        ({"write": True, "delete": True, "manage": False}, "ROLE_NOT_READ_ONLY", "write, delete"),
        (None, "", "nothing proves"),
    ],
)
async def test_privileges_of_an_elasticsearch_are_proved_or_said_to_be_unproved(
    rights: dict[str, bool] | None, code: str, word: str
) -> None:
    finding = await probed("elasticsearch", elasticsearch([], rights))
    assert finding.code == code
    assert word in f"{finding.message} {finding.hint}"
    assert code or "experimental" in finding.message


async def test_shards_that_failed_are_said() -> None:
    broken = elasticsearch(startup(3), timed_out=True, _shards={"failed": 2})
    notes = (await ask("elasticsearch", broken, search("plug-in"))).envelope(0).notes
    assert any("2 shards of" in note and "had no time for" in note for note in notes)


def calls(callee: str = "orders") -> list[Call]:
    """Quiet before the window, slow and failing within it."""
    quiet = [Call(START_US - (20 * 60 - n * 10) * SECOND, "web", callee, 5_000) for n in range(100)]
    slow = [
        Call(START_US + n * 10 * SECOND, "web", callee, 400_000, failed=True) for n in range(55)
    ]
    return [*quiet, *slow]


@pytest.mark.parametrize(("kind", "store"), [("jaeger", jaeger), ("tempo", tempo)])
async def test_spans_become_edges_self_time_and_failures(
    kind: str, store: Callable[[list[Call]], Answer]
) -> None:
    tools = [ToolCallRequest(name, {}) for name in ("topology", "self_time", "error_spans")]
    asked = await ask(kind, store(calls()), *tools)
    assert '"source":"web","target":"orders"' in asked.envelope(0).model_dump_json()
    for place in (1, 2):
        first = asked.envelope(place).facts[0]
        assert isinstance(first, Change)
        assert (first.subject, first.anomalous) == ("orders", True)


@pytest.mark.fault("R44")
@pytest.mark.parametrize(("kind", "store"), [("jaeger", jaeger), ("tempo", tempo)])
async def test_a_sample_of_traces_says_that_it_is_one_and_holds_the_quiet_time_too(
    kind: str, store: Callable[[list[Call]], Answer]
) -> None:
    traces = ToolCallRequest("error_spans", {})
    asked = await ask(kind, store(calls()), traces, **{"traces-max": 60})
    envelope = asked.envelope(0)
    assert envelope.truncated
    assert any("beyond a sample" in note for note in envelope.notes)
    (first,) = [f for f in envelope.facts if isinstance(f, Change)][:1]
    assert first.subject == "orders"
    assert first.before.number == 0


async def test_the_playbook_diagnoses_from_experimental_sources_alone() -> None:
    slow = [
        Told(START_US + n * SECOND, "orders", "error", "statement cancelled by time-out")
        for n in range(0, 500, 5)
    ]
    with stage(loki(slow)) as logs, stage(jaeger(calls())) as traces:
        told = live_settings(
            tuple(one.url.removeprefix("http://") for one in (logs, traces)),
            loki={"main": {"url": logs.url, **TABLES["loki"]}},
            jaeger={"main": {"url": traces.url}},
        )
        release = await investigate(told, WINDOW, service="web")
    lines = {(line.source, line.status) for line in release.coverage.lines}
    assert ("loki:main (experimental)", "consulted") in lines
    assert ("jaeger:main (experimental)", "consulted") in lines
    answer = release.result or release.fallback
    assert answer is not None
    assert "orders" in answer.model_dump_json()


@pytest.mark.parametrize("index", ["_all", "logs/_doc", "a?b", "../x", "a,,b", ""])
def test_an_index_is_a_name_or_a_pattern_and_nothing_else(index: str) -> None:
    with pytest.raises(ValueError, match="index"):
        ElasticTable(url="http://x", index=index)


def test_a_log_query_begins_with_a_selector_and_fields_are_ours() -> None:
    with pytest.raises(ValueError, match="begins with a selector"):
        LokiTable(url="http://x", query="sum(rate({a=~'b'}[1m]))")
    with pytest.raises(ValueError, match="there is no column"):
        ElasticTable(url="http://x", index="a", fields={"text": "message"})
    kept = ElasticTable(url="http://x", index="a", fields={"body": "msg"}).columns
    assert (kept["body"], kept["timestamp"]) == ("msg", "@timestamp")


async def test_an_api_key_is_sent_and_not_shown() -> None:
    key = base64.b64encode(b"id:secret").decode()
    with stage(elasticsearch([], {"write": False})) as there:
        told = settings("elasticsearch", there.url, **{"api-key-env": "KEY"})
        config = LiveConfig(told.backends, told.outgoing, {"KEY": key})
        (finding,) = await probe_backends(config)
    assert finding.ok
    assert there.seen[0].headers["authorization"] == f"ApiKey {key}"
    assert key not in str(finding)


@pytest.mark.fault("R44")
@pytest.mark.parametrize("kind", ["loki", "elasticsearch"])
async def test_a_line_without_end_is_cut_and_costs_no_other(kind: str) -> None:
    long = Told(START_US + SECOND, "a", "error", "long " + "x" * 3_000_000)
    asked = await ask(kind, STORES[kind]([long, *startup(3)]), search("long"), search("panic"))
    assert asked.envelope(0).count == 1
    assert any("cut to their bounds" in note for note in asked.envelope(0).notes)
    assert asked.envelope(1).count == 1
