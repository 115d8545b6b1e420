"""All settings together: what stands at the top, and one field a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from affidavit.adapters.backend_tables import Backends
from affidavit.adapters.oidc_tables import OidcTable
from affidavit.adapters.outgoing_rules import OutgoingTable
from affidavit.application.alerts import AlertRules
from affidavit.settings.agent import AgentTable
from affidavit.settings.ceilings import CeilingsTable
from affidavit.settings.chat import ChatTable, KnowledgeTable
from affidavit.settings.delivery import DeliveryTable
from affidavit.settings.models import ModelsTable
from affidavit.settings.policy import PolicyTable
from affidavit.settings.retention import RetentionTable
from affidavit.settings.server import ServerTable, state_folder
from affidavit.settings.signing import SigningTable
from affidavit.settings.table import Table


class Settings(Table):
    """Everything that can be set. `store` empty means the user's own state folder."""

    store: str = Field(
        default="",
        description="where runs live: `sqlite:PATH`, or `memory:` for this process alone; empty "
        "means `affidavit/runs.db` in the state folder",
    )
    limits: Literal["simple", "standard", "research"] = Field(
        default="standard",
        description="the profile of limits of a new run: `simple`, `standard` or `research`",
    )
    agent: AgentTable = Field(default_factory=AgentTable)
    policy: PolicyTable = Field(default_factory=PolicyTable)
    models: ModelsTable = Field(default_factory=ModelsTable)
    ceilings: CeilingsTable = Field(default_factory=CeilingsTable)
    retention: RetentionTable = Field(default_factory=RetentionTable)
    server: ServerTable = Field(default_factory=ServerTable)
    oidc: OidcTable = Field(default_factory=OidcTable)
    backends: Backends = Field(default_factory=Backends)
    outgoing: OutgoingTable = Field(default_factory=OutgoingTable)
    alerts: AlertRules = Field(default_factory=AlertRules)
    delivery: DeliveryTable = Field(default_factory=DeliveryTable)
    signing: SigningTable = Field(default_factory=SigningTable)
    chat: ChatTable = Field(default_factory=ChatTable)
    knowledge: KnowledgeTable = Field(default_factory=KnowledgeTable)

    def store_url(self, environment: Mapping[str, str]) -> str:
        """The store's address, with the default filled in from the environment (XDG)."""
        return self.store or f"sqlite:{state_folder(environment)}/runs.db"
