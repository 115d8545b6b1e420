"""[agent]: limits by profile, the seven guards, and the guards of others (H3, H5, K3)."""

from __future__ import annotations

from pydantic import Field

from affidavit.contract.limits import PROFILES, Limits
from affidavit.guards.toggles import GuardToggles
from affidavit.settings.table import Duration, Money, Table


class ProfileLimits(Table):
    """What a run of one profile may spend; a key that is left out keeps the profile's figure."""

    max_iterations: int | None = Field(default=None, ge=1, description="turns of the agent")
    budget_tokens: int | None = Field(default=None, ge=0, description="tokens of all its models")
    timeout: Duration | None = Field(
        default=None, ge=1, description="working time; waiting for a person is none"
    )
    tool_calls: int | None = Field(default=None, ge=1, description="tool calls")
    concurrency: int | None = Field(default=None, ge=1, description="tool calls side by side")
    budget_money: Money | None = Field(
        default=None,
        ge=0,
        description="money of all its models; one whose price is not known is then refused",
    )

    def over(self, own: Limits) -> Limits:
        """The limits of a run: the profile's own, but for what is set here."""
        timeout_s = None if self.timeout is None else int(self.timeout)
        said = {
            "iterations": self.max_iterations,
            "tokens": self.budget_tokens,
            "timeout_s": timeout_s,
            "tool_calls": self.tool_calls,
            "concurrency": self.concurrency,
            "money_micros": self.budget_money,
        }
        kept = {name: value for name, value in said.items() if value is not None}
        return Limits.model_validate({**own.model_dump(), **kept})


class LimitsTable(Table):
    """[agent.limits]: one table a profile."""

    simple: ProfileLimits = Field(default_factory=ProfileLimits)
    standard: ProfileLimits = Field(default_factory=ProfileLimits)
    research: ProfileLimits = Field(default_factory=ProfileLimits)

    def of(self, profile: str) -> Limits:
        """The limits of a profile. Raises KeyError for one that there is not."""
        own = PROFILES[profile]
        table: ProfileLimits = getattr(self, profile)
        return table.over(own)


class AgentTable(Table):
    """[agent]."""

    limits: LimitsTable = Field(default_factory=LimitsTable)
    guard: GuardToggles = Field(default_factory=GuardToggles)
    guard_plugins: tuple[str, ...] = Field(
        default=(),
        description="guards of installed packages that take part, by the names of their entry "
        "points (group `affidavit.guards`); what is not named is not even imported",
    )
