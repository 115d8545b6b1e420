"""[policy]: who may call what (H9)."""

from __future__ import annotations

from pydantic import Field

from affidavit.settings.table import Table


class PolicyTable(Table):
    """[policy]."""

    file: str = Field(
        default="",
        description="rules in Cedar's language; without them everybody may start runs and read, "
        "and nobody may do anything else",
    )
