"""`[backends.alertmanager]`, …: what is asked about a cluster and what stands around it."""

from __future__ import annotations

from typing import Final

from pydantic import Field

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
