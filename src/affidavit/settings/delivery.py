"""[delivery]: where results go, and which go where (R70, R71)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pydantic import Field, model_validator

from affidavit.adapters.delivery_tables import DestinationTable
from affidavit.application.deliveries import DeliveryPlan, Destination, Route
from affidavit.settings.table import Table


class DeliveryTable(Table):
    """[delivery]: without a route that fits, a run is on record and nobody is told."""

    destinations: Mapping[str, DestinationTable] = Field(
        default_factory=lambda: MappingProxyType({}),
        description="`webhook` or `slack`, by the names that routes use; docs/delivery.md",
    )
    routes: tuple[Route, ...] = Field(
        default=(),
        description="labels to destinations, the first that fits; `record-only` tells nobody",
    )

    @model_validator(mode="after")
    def _leads_somewhere(self) -> DeliveryTable:
        for route in self.routes:
            unknown = sorted(set(route.to) - set(self.destinations))
            if unknown:
                raise ValueError(f"a route leads to {unknown[0]!r}, which is no destination")
        return self

    def plan(self) -> DeliveryPlan:
        """The routes and destinations as the courier knows them."""
        places = tuple(
            Destination(name, table.type, table.tenants)
            for name, table in self.destinations.items()
        )
        return DeliveryPlan(self.routes, places)
