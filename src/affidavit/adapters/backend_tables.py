"""`[backends.*]`: the live back ends that are configured, as plain records.

What each needs at least, and no more, stands in docs/backends.md. Credentials are named by variable
or file and never written down. `tenants` are whose runs may read a back end; empty means every
tenant's. Nothing in an alert chooses a back end.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Final, Literal

from pydantic import Field, field_validator, model_validator

from affidavit.adapters.cluster_tables import (
    AlertmanagerTable,
    HttpTable,
    JournaldTable,
    KubernetesTable,
)
from affidavit.adapters.experimental_tables import (
    ElasticTable,
    JaegerTable,
    LokiTable,
    TempoTable,
)
from affidavit.adapters.option_table import TENANTS, OptionTable, Seconds
from affidavit.adapters.outgoing_http import Credential
from affidavit.ports.telemetry import SignalName

BACKENDS_MAX: Final = 16
"""Of one kind; each costs a probe at the start of a run."""

Word = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")]

SERVICE_LABELS: Final = ("service_name", "service", "app", "container", "job")
INSTANCE_LABELS: Final = ("pod", "instance")

EXCLUDED: Final = r"^(go_|promhttp_|prometheus_|scrape_|net_conntrack_|ALERTS|python_)"
"""What an exporter tells about itself: in every target, and about no incident."""


class Measure(OptionTable):
    """One series by its own PromQL: a ratio, a recording rule, whatever names do not tell."""

    name: str = Field(min_length=1, max_length=200, description="its name as a metric")
    query: str = Field(min_length=1, max_length=4000, description="the PromQL")
    unit: str = Field(default="", max_length=40, description="UCUM, for example `ms`")
    statistic: str = Field(default="mean", max_length=40, description="what it is of many")


class PrometheusTable(OptionTable):
    """`[backends.prometheus.NAME]`: a Prometheus, or a VictoriaMetrics, by its HTTP API."""

    url: str = Field(description="where it listens, with its path prefix")
    credential: Credential = Credential()
    tenants: tuple[str, ...] = Field(default=(), description=TENANTS)
    selector: str = Field(
        default="", max_length=2000, description='which series, for example `{plant="shop"}`'
    )
    service_labels: tuple[str, ...] = Field(
        default=SERVICE_LABELS, description="labels that name the service, the first there"
    )
    instance_labels: tuple[str, ...] = Field(
        default=INSTANCE_LABELS, description="labels that name the instance, the first there"
    )
    exclude: str = Field(default=EXCLUDED, description="metrics that are not read, by a pattern")
    units: Mapping[str, str] = Field(
        default_factory=lambda: MappingProxyType({}), description="units by a metric's name"
    )
    measures: tuple[Measure, ...] = Field(
        default=(), max_length=50, description="series by PromQL: `name`, `query`, `unit`"
    )
    timeout_s: Seconds = Field(default=10.0, gt=0, le=25, description="of one request")

    @field_validator("selector")
    @classmethod
    def _is_selector(cls, selector: str) -> str:
        if selector and not (selector.startswith("{") and selector.endswith("}")):
            raise ValueError('a selector stands in braces: {plant="shop"}')
        return selector

    @field_validator("exclude")
    @classmethod
    def _is_pattern(cls, exclude: str) -> str:
        try:
            re.compile(exclude)
        except re.error as error:
            raise ValueError(f"no regular expression: {error}") from None
        return exclude


class FilesTable(OptionTable):
    """`[backends.files.NAME]`: logs, spans or changes as lines in files.

    `form` json: one object a line, whose keys `fields` translates to our columns
    (docs/incident-folder.md); text: a line begins with an RFC 3339 time. `service` is whose lines
    these are, where they do not say so.
    """

    signal: SignalName = Field(description="`metrics`, `logs`, `traces` or `events`")
    paths: tuple[str, ...] = Field(min_length=1, max_length=64, description="with `*` and `?`")
    tenants: tuple[str, ...] = Field(default=(), description=TENANTS)
    form: Literal["json", "text"] = Field(
        default="json", description="one object a line, or lines that begin with a time"
    )
    fields: Mapping[str, str] = Field(
        default_factory=lambda: MappingProxyType({}), description="our columns by their keys"
    )
    service: str = Field(default="", description="whose lines these are, where they do not say")


class PostgresTable(OptionTable):
    """`[backends.postgres.NAME]`: a server that fixed, read-only queries are put to.

    `service` is its name in the topology. `tls`: verify-full checks the certificate and the name;
    require encrypts alone.
    """

    host: str = Field(description="a name or an address")
    port: int = Field(default=5432, ge=1, le=65535, description="its port")
    database: str = Field(default="postgres", description="to connect to")
    user: str = Field(description="a role that can write nothing")
    password_env: str = Field(default="", description="the variable that holds its password")
    password_file: str = Field(default="", description="the file that holds it")
    service: str = Field(default="", description="its name in the topology")
    tenants: tuple[str, ...] = Field(default=(), description=TENANTS)
    tls: Literal["verify-full", "require", "off"] = Field(
        default="verify-full", description="`verify-full`, `require` (unchecked) or `off`"
    )
    timeout_s: Seconds = Field(default=5.0, gt=0, le=25, description="of a statement")


class Backends(OptionTable):
    """`[backends]`: each kind by the names that its back ends have here."""

    prometheus: Mapping[Word, PrometheusTable] = Field(
        default_factory=lambda: MappingProxyType({}),
        max_length=BACKENDS_MAX,
        description="metrics, by the HTTP API of a Prometheus or VictoriaMetrics",
    )
    files: Mapping[Word, FilesTable] = Field(
        default_factory=lambda: MappingProxyType({}),
        max_length=BACKENDS_MAX,
        description="logs, spans or changes as lines in files",
    )
    postgres: Mapping[Word, PostgresTable] = Field(
        default_factory=lambda: MappingProxyType({}),
        max_length=BACKENDS_MAX,
        description="a PostgreSQL server, by fixed read-only queries",
    )
    alertmanager: Mapping[Word, AlertmanagerTable] = Field(
        default_factory=lambda: MappingProxyType({}),
        max_length=BACKENDS_MAX,
        description="alerts and silences, by the API of an Alertmanager",
    )
    kubernetes: Mapping[Word, KubernetesTable] = Field(
        default_factory=lambda: MappingProxyType({}),
        max_length=BACKENDS_MAX,
        description="pods, events, rollouts and nodes, by the API of a Kubernetes cluster",
    )
    http: Mapping[Word, HttpTable] = Field(
        default_factory=lambda: MappingProxyType({}),
        max_length=BACKENDS_MAX,
        description="named checks over HTTP: status, latency, certificate, a text in the body",
    )
    journald: Mapping[Word, JournaldTable] = Field(
        default_factory=lambda: MappingProxyType({}),
        max_length=BACKENDS_MAX,
        description="log lines of a systemd journal, or of exported ones",
    )
    loki: Mapping[Word, LokiTable] = Field(
        default_factory=lambda: MappingProxyType({}),
        max_length=BACKENDS_MAX,
        description="log lines of a Loki (experimental)",
    )
    elasticsearch: Mapping[Word, ElasticTable] = Field(
        default_factory=lambda: MappingProxyType({}),
        max_length=BACKENDS_MAX,
        description="log lines of an Elasticsearch or OpenSearch (experimental)",
    )
    tempo: Mapping[Word, TempoTable] = Field(
        default_factory=lambda: MappingProxyType({}),
        max_length=BACKENDS_MAX,
        description="spans of a Grafana Tempo (experimental)",
    )
    jaeger: Mapping[Word, JaegerTable] = Field(
        default_factory=lambda: MappingProxyType({}),
        max_length=BACKENDS_MAX,
        description="spans of a Jaeger (experimental)",
    )
    topology: str = Field(default="", description="a topology.json, where spans show no calls")
    lookback_s: int = Field(
        default=1800, ge=300, le=6 * 3600, description="quiet time read before the window"
    )

    @model_validator(mode="after")
    def _are_told_apart(self) -> Backends:
        """A back end's tool bears its name, in lower case and with underscores."""
        plain = [(kind, re.sub(r"[^a-z0-9]", "_", name.lower())) for kind, name in self.names]
        twice = [" ".join(one) for one in plain if plain.count(one) > 1]
        if twice:
            raise ValueError(f"two back ends are called {twice[0]}, or too alike")
        return self

    @property
    def names(self) -> tuple[tuple[str, str], ...]:
        """Kind and name of each back end that is configured."""
        kinds = {kind: found for kind, found in self if isinstance(found, Mapping)}
        return tuple((kind, name) for kind, tables in kinds.items() for name in tables)
