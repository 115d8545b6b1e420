"""`[backends.alertmanager]`, `[backends.kubernetes]`, …: what is asked about a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Final, Literal

from pydantic import Field, model_validator

from affidavit.adapters.option_table import TENANTS, OptionTable, Seconds
from affidavit.adapters.outgoing_http import Credential

ALERT_SERVICE_LABELS: Final = ("service_name", "service", "app", "job")


class AlertmanagerTable(OptionTable):
    """`[backends.alertmanager.NAME]`: what fires and what is silenced, by its v2 API."""

    url: str = Field(description="where it listens, with its path prefix")
    credential: Credential = Credential()
    tenants: tuple[str, ...] = Field(default=(), description=TENANTS)
    matchers: tuple[str, ...] = Field(
        default=(),
        max_length=20,
        description='only alerts with these labels, as Alertmanager writes them: `team="web"`',
    )
    service_labels: tuple[str, ...] = Field(
        default=ALERT_SERVICE_LABELS, description="labels that name the service, the first there"
    )
    timeout_s: Seconds = Field(default=5.0, gt=0, le=25, description="of one request")


NAMESPACES_MAX: Final = 50
"""Each costs a review of rights and a few listings."""

Namespace = Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")]
"""As Kubernetes names one (RFC 1123): nothing else ever becomes part of a path."""

POD_SERVICE_LABELS: Final = ("app.kubernetes.io/name", "app", "k8s-app")


class KubernetesTable(OptionTable):
    """`[backends.kubernetes.NAME]`: pods, events, rollouts, last words of containers, nodes.

    Either `url` with `credential` and files, or `kubeconfig`.
    """

    url: str = Field(default="", description="of the API server; with `kubeconfig`, none")
    kubeconfig: str = Field(
        default="", description="a kubeconfig with a token or a client certificate in it"
    )
    context: str = Field(default="", description="of the kubeconfig; its current one")
    credential: Credential = Credential()
    ca_file: str = Field(default="", description="whose server certificates are believed, PEM")
    client_certificate_file: str = Field(default="", description="who we are, PEM")
    client_key_file: str = Field(default="", description="its private key, PEM")
    tenants: tuple[str, ...] = Field(default=(), description=TENANTS)
    namespaces: tuple[Namespace, ...] = Field(
        min_length=1, max_length=NAMESPACES_MAX, description="those that are read, and no other"
    )
    nodes: bool = Field(
        default=True, description="whether nodes are read: that needs a ClusterRole"
    )
    previous_logs: bool = Field(
        default=True, description="whether the last words of ended containers are read"
    )
    service_labels: tuple[str, ...] = Field(
        default=POD_SERVICE_LABELS, description="labels of a pod that name its service"
    )
    timeout_s: Seconds = Field(default=5.0, gt=0, le=25, description="of one request")

    @model_validator(mode="after")
    def _one_way_in(self) -> KubernetesTable:
        if bool(self.url) == bool(self.kubeconfig):
            raise ValueError("either url or kubeconfig says where the API server is")
        return self


CHECKS_MAX: Final = 30
"""Of one group: each is a request when all of them are asked for."""


class CheckTable(OptionTable):
    """One check: a request that changes nothing, and what its answer has to be like."""

    url: str = Field(description="what is asked for, over http or https")
    method: Literal["GET", "HEAD"] = Field(default="GET", description="`GET` or `HEAD`")
    service: str = Field(default="", description="whose it is, by its name in the topology")
    statuses: tuple[int, ...] = Field(default=(), description="that are well; empty: 200 to 299")
    contains: str = Field(default="", max_length=1000, description="a text that the body must hold")
    latency_max_ms: int = Field(default=0, ge=0, description="slower is not well; 0: any")
    certificate_days_min: int = Field(
        default=0, ge=0, description="a certificate that ends sooner is not well"
    )
    credential: Credential = Credential()
    ca_file: str = Field(default="", description="whose certificates are believed, PEM")

    @model_validator(mode="after")
    def _has_a_body(self) -> CheckTable:
        if self.method == "HEAD" and self.contains:
            raise ValueError("the answer to HEAD has no body that could hold a text")
        return self


class HttpTable(OptionTable):
    """`[backends.http.NAME]`: a group of named checks over HTTP.

    Their hosts are listed in `outgoing.hosts`, as every other.
    """

    checks: Mapping[Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")], CheckTable] = (
        Field(min_length=1, max_length=CHECKS_MAX, description="each by its name: `url`, `method`")
    )
    tenants: tuple[str, ...] = Field(default=(), description=TENANTS)
    timeout_s: Seconds = Field(default=5.0, gt=0, le=10, description="of one check")


Unit = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9:_.@\\-]{0,200}$")]
"""A systemd unit by its whole name; no pattern, and nothing that could be an option."""


class JournaldTable(OptionTable):
    """`[backends.journald.NAME]`: the lines of a systemd journal, or of exported ones."""

    units: tuple[Unit, ...] = Field(
        default=(), max_length=100, description="only lines of these units and about them; all"
    )
    directory: str = Field(default="", description="journal files of another place or machine")
    exports: tuple[str, ...] = Field(
        default=(),
        max_length=64,
        description="exported journals instead (`journalctl -o export` or `-o json`), with `*`",
    )
    services: Mapping[str, str] = Field(
        default_factory=lambda: MappingProxyType({}),
        description="a service's name by its unit; else the unit's, without `.service`",
    )
    tenants: tuple[str, ...] = Field(default=(), description=TENANTS)
    timeout_s: Seconds = Field(default=10.0, gt=0, le=20, description="of one reading")
