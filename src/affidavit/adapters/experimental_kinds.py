"""How the experimental back ends are made of their tables; `live_kinds` has all the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from affidavit.adapters.elasticsearch import ElasticSource
from affidavit.adapters.experimental_tables import (
    ElasticTable,
    JaegerTable,
    LokiTable,
    TempoTable,
    experimental,
)
from affidavit.adapters.jaeger import JaegerSource
from affidavit.adapters.json_api import JsonApi
from affidavit.adapters.live_parts import Ground, Wired
from affidavit.adapters.live_rows import Read, rows_feed
from affidavit.adapters.loki import LokiSource
from affidavit.adapters.outgoing_http import Credential, authorization, read_secret
from affidavit.adapters.prometheus import Span
from affidavit.adapters.tempo import TempoSource
from affidavit.ports.lookups import Proof
from affidavit.ports.telemetry import SignalName


class _Source(Protocol):
    """What all of them are."""

    name: str

    async def probe(self) -> Proof: ...

    async def capture(self, span: Span) -> Read: ...


class _Reached(Protocol):
    """What all of their tables have."""

    @property
    def url(self) -> str: ...

    @property
    def credential(self) -> Credential: ...

    @property
    def timeout_s(self) -> float: ...


def wire_loki(name: str, table: LokiTable, ground: Ground) -> Wired:
    """Log lines."""
    told = experimental(f"loki:{name}")
    return _wired(LokiSource(told, table, _api(told, table, ground, _org(table.org_id))), "logs")


def wire_elasticsearch(name: str, table: ElasticTable, ground: Ground) -> Wired:
    """Log lines."""
    told = experimental(f"elasticsearch:{name}")
    own: dict[str, str] = {}
    if table.api_key_env or table.api_key_file:
        key = read_secret(table.api_key_env, table.api_key_file, ground.environment)
        own["authorization"] = f"ApiKey {key}"
    return _wired(ElasticSource(told, table, _api(told, table, ground, own)), "logs")


def wire_tempo(name: str, table: TempoTable, ground: Ground) -> Wired:
    """Spans."""
    told = experimental(f"tempo:{name}")
    return _wired(TempoSource(told, table, _api(told, table, ground, _org(table.org_id))), "traces")


def wire_jaeger(name: str, table: JaegerTable, ground: Ground) -> Wired:
    """Spans."""
    told = experimental(f"jaeger:{name}")
    return _wired(JaegerSource(told, table, _api(told, table, ground, {})), "traces")


def _wired(source: _Source, signal: SignalName) -> Wired:
    feed = rows_feed(source.name, signal, source.capture)
    return Wired(source.name, signal, source.probe, (feed,))


def _api(what: str, table: _Reached, ground: Ground, own: Mapping[str, str]) -> JsonApi:
    headers = {**authorization(table.credential, ground.environment), **own}
    return JsonApi(what, table.url, ground.http, table.timeout_s, headers)


def _org(org_id: str) -> dict[str, str]:
    return {"x-scope-orgid": org_id} if org_id else {}
