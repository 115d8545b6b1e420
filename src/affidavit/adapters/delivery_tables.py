"""`[delivery.destinations.NAME]`: where results go. An unknown type refuses the start (R70)."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from affidavit.adapters.option_table import OptionTable, Seconds


class WebhookTable(OptionTable):
    """A signed POST of versioned JSON. Several secrets sign side by side while one is changed."""

    type: Literal["webhook"]
    url: str
    secret_env: tuple[str, ...] = ()
    secret_file: tuple[str, ...] = ()
    tenants: tuple[str, ...] = ()
    timeout_s: Seconds = Field(default=10.0, gt=0, le=60)


class SlackTable(OptionTable):
    """Messages in a channel, by Slack's Web API with a bot's token (scope chat:write)."""

    type: Literal["slack"]
    channel: str = Field(min_length=1, max_length=100)
    token_env: str = ""
    token_file: str = ""
    api: str = "https://slack.com/api"
    tenants: tuple[str, ...] = ()
    timeout_s: Seconds = Field(default=10.0, gt=0, le=60)


DestinationTable: TypeAlias = Annotated[WebhookTable | SlackTable, Field(discriminator="type")]
