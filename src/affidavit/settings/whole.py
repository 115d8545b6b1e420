"""All settings together: what stands at the top, and one field a table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field

from affidavit.settings.agent import AgentTable
from affidavit.settings.ceilings import CeilingsTable
from affidavit.settings.models import ModelsTable
from affidavit.settings.retention import RetentionTable
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
    models: ModelsTable = Field(default_factory=ModelsTable)
    ceilings: CeilingsTable = Field(default_factory=CeilingsTable)
    retention: RetentionTable = Field(default_factory=RetentionTable)

    def store_url(self, environment: Mapping[str, str]) -> str:
        """The store's address, with the default filled in from the environment (XDG)."""
        if self.store:
            return self.store
        state = Path(environment.get("XDG_STATE_HOME", ""))
        if not state.is_absolute():  # as the XDG base directory specification has it
            state = Path(environment.get("HOME") or "~").expanduser() / ".local" / "state"
        return f"sqlite:{state}/affidavit/runs.db"
