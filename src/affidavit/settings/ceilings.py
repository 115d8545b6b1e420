"""[ceilings]: what a tenant, and everybody together, may spend in a day (K3)."""

from __future__ import annotations

from pydantic import Field

from affidavit.ports.ceiling import CeilingRule
from affidavit.settings.table import Money, Table


class CeilingsTable(Table):
    """[ceilings]: days are those of UTC; a key that is not set is no ceiling."""

    tenant_tokens: int | None = Field(
        default=None, ge=0, description="tokens a day of one tenant's runs"
    )
    tenant_money: Money | None = Field(
        default=None, ge=0, description="money a day of one tenant's runs"
    )
    all_tokens: int | None = Field(default=None, ge=0, description="tokens a day of all runs")
    all_money: Money | None = Field(default=None, ge=0, description="money a day of all runs")

    def rule(self) -> CeilingRule:
        """The ceilings as the store keeps them."""
        return CeilingRule(
            tenant_tokens=self.tenant_tokens,
            tenant_micros=self.tenant_money,
            global_tokens=self.all_tokens,
            global_micros=self.all_money,
        )
