"""`[backends.alertmanager]`, `[backends.kubernetes]`, …: what is asked about a cluster."""

from __future__ import annotations

from typing import Annotated, Final

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
