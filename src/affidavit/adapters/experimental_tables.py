"""`[backends.loki]`, `[backends.elasticsearch]`, `[backends.tempo]`, `[backends.jaeger]`.

Experimental: none of these servers was at hand, so that their readers are tested on recorded
answers alone. Their names say so wherever they stand, in doctor's lines and in coverage.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from pydantic import Field, field_validator

from affidavit.adapters.option_table import TENANTS, OptionTable, Seconds
from affidavit.adapters.outgoing_http import Credential

URL: Final = "where it listens, with its path prefix"
ORG: Final = "the tenant of its own that is read (`X-Scope-OrgID`)"

ECS_FIELDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "timestamp": "@timestamp",
        "body": "message",
        "service_name": "service.name",
        "severity_text": "log.level",
        "instance": "host.name",
        "trace_id": "trace.id",
        "span_id": "span.id",
    }
)
"""Our columns by the names of the Elastic Common Schema."""


def experimental(name: str) -> str:
    """The name of such a back end, wherever it is shown."""
    return f"{name} (experimental)"


class LokiTable(OptionTable):
    """`[backends.loki.NAME]`: log lines by LogQL."""

    url: str = Field(description=URL)
    credential: Credential = Credential()
    org_id: str = Field(default="", max_length=200, description=ORG)
    query: str = Field(max_length=2000, description='which lines, as LogQL: `{namespace="shop"}`')
    service_labels: tuple[str, ...] = Field(
        default=("service_name", "app", "container", "job"),
        description="labels that name the service, the first there",
    )
    instance_labels: tuple[str, ...] = Field(
        default=("pod", "instance", "host"), description="labels that name the instance"
    )
    level_labels: tuple[str, ...] = Field(
        default=("level", "detected_level", "severity"), description="labels that name the level"
    )
    tenants: tuple[str, ...] = Field(default=(), description=TENANTS)
    timeout_s: Seconds = Field(default=10.0, gt=0, le=20, description="of one request")

    @field_validator("query")
    @classmethod
    def _is_a_log_query(cls, query: str) -> str:
        if not query.startswith("{"):
            raise ValueError('a log query begins with a selector: {namespace="shop"}')
        return query


class ElasticTable(OptionTable):
    """`[backends.elasticsearch.NAME]`: log lines of an Elasticsearch or OpenSearch."""

    url: str = Field(description=URL)
    credential: Credential = Credential()
    api_key_env: str = Field(default="", description="the variable that holds an API key, encoded")
    api_key_file: str = Field(default="", description="the file that holds it, on one line")
    index: str = Field(
        pattern=r"^[a-z0-9*][a-z0-9_.*-]{0,200}(,[a-z0-9*][a-z0-9_.*-]{0,200}){0,9}$",
        description="which indices: `logs-*`",
    )
    query: str = Field(
        default="", max_length=2000, description="which of their documents, as a query string"
    )
    fields: Mapping[str, str] = Field(
        default_factory=lambda: MappingProxyType({}),
        description="our columns by their fields; those that are not there, as in ECS",
    )
    tenants: tuple[str, ...] = Field(default=(), description=TENANTS)
    timeout_s: Seconds = Field(default=10.0, gt=0, le=20, description="of one request")

    @field_validator("fields")
    @classmethod
    def _are_ours(cls, fields: Mapping[str, str]) -> Mapping[str, str]:
        unknown = sorted(set(fields) - set(ECS_FIELDS))
        if unknown:
            raise ValueError(f"there is no column {unknown[0]}; there are {', '.join(ECS_FIELDS)}")
        return fields

    @property
    def columns(self) -> Mapping[str, str]:
        """Every column of ours, by its field."""
        return {**ECS_FIELDS, **self.fields}


class TempoTable(OptionTable):
    """`[backends.tempo.NAME]`: spans by TraceQL."""

    url: str = Field(description=URL)
    credential: Credential = Credential()
    org_id: str = Field(default="", max_length=200, description=ORG)
    query: str = Field(default="{}", max_length=2000, description="which traces, as TraceQL")
    traces_max: int = Field(default=120, ge=6, le=600, description="read whole, over the span")
    tenants: tuple[str, ...] = Field(default=(), description=TENANTS)
    timeout_s: Seconds = Field(default=10.0, gt=0, le=20, description="of one request")


class JaegerTable(OptionTable):
    """`[backends.jaeger.NAME]`: spans by the API of Jaeger's query service."""

    url: str = Field(description=URL)
    credential: Credential = Credential()
    services: tuple[str, ...] = Field(
        default=(), max_length=50, description="whose traces are read; all that it knows"
    )
    traces_max: int = Field(default=60, ge=6, le=600, description="of one service, over the span")
    tenants: tuple[str, ...] = Field(default=(), description=TENANTS)
    timeout_s: Seconds = Field(default=10.0, gt=0, le=20, description="of one request")
