"""[chat] and [knowledge]: which branches a turn may take, and where indexed pages lie (I1, I2)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field

from affidavit.contract.states import IntentType
from affidavit.settings.server import state_folder
from affidavit.settings.table import Table


class ChatTable(Table):
    """[chat]."""

    intents: tuple[Literal["DIAGNOSIS", "KNOWLEDGE", "SYSTEM_CHAT"], ...] = Field(
        default=("DIAGNOSIS", "KNOWLEDGE", "SYSTEM_CHAT"),
        description="the branches that a chat turn may take; a question that belongs to another is "
        "not answered",
    )
    router: Literal["rules", "model"] = Field(
        default="model",
        description="who chooses a branch where the rules find none: `model`, the first of "
        "`models.author`, if one is set; or `rules`, nobody",
    )

    def allowed(self) -> tuple[IntentType, ...]:
        """The branches, as the router knows them."""
        return tuple(IntentType(name) for name in self.intents)


class KnowledgeTable(Table):
    """[knowledge]."""

    folder: str = Field(
        default="",
        description="where indexed pages lie, a file a tenant; empty means `affidavit/knowledge` "
        "in the state folder",
    )
    embedder: str = Field(
        default="",
        description="a plug-in of an installed package that finds passages by meaning, too; empty "
        "means by words alone",
    )

    def index_folder(self, environment: Mapping[str, str]) -> Path:
        """The folder of all indexes, with the default filled in from the environment (XDG)."""
        if self.folder:
            return Path(self.folder).expanduser()
        return state_folder(environment) / "knowledge"
