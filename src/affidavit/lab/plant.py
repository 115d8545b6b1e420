"""What the rig is made of: components, who calls whom, and the load at its door, as data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

Kind = Literal["service", "database", "cache", "queue"]


@dataclass(frozen=True, slots=True)
class Component:
    """One process: `program` is its entry in the nodes' table, `calls` are its neighbours."""

    name: str
    kind: Kind
    program: str
    version: str
    calls: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    memory_max_bytes: int = 512 * 2**20  # far above what a healthy process of the rig takes


@dataclass(frozen=True, slots=True)
class Plant:
    """A whole system. `edge` is the component where requests come in.

    Components stand in starting order: a neighbour before whoever calls it. `mix` maps an
    operation of the load generator to its share of `rate_per_s`.
    """

    name: str
    edge: str
    components: tuple[Component, ...]
    rate_per_s: float
    mix: Mapping[str, float]

    def component(self, name: str) -> Component:
        """The component of that name. Raises `KeyError`, naming those that exist."""
        for component in self.components:
            if component.name == name:
                return component
        known = ", ".join(component.name for component in self.components)
        raise KeyError(f"plant {self.name} has no component {name}; it has {known}")

    def topology(self) -> dict[str, Any]:
        """The content of the incident folder's `topology.json`."""
        kinds = {component.name: component.kind for component in self.components}
        return {
            "nodes": [{"name": name, "kind": kind} for name, kind in kinds.items()],
            "edges": [
                {
                    "from": component.name,
                    "to": callee,
                    "kind": "reads" if kinds[callee] in ("database", "cache") else "calls",
                }
                for component in self.components
                for callee in component.calls
            ],
        }


PAIR = Plant(
    name="pair",
    edge="storefront",
    components=(
        Component("orders-db", "database", "database", "15.4"),
        Component("orders", "service", "orders", "2.4.3", ("orders-db",)),
        Component("storefront", "service", "storefront", "5.1.0", ("orders",)),
    ),
    rate_per_s=10.0,
    mix={"history": 0.45, "order": 0.2, "checkout": 0.35},
)
"""Two services and a database."""

SHOP = Plant(
    name="shop",
    edge="storefront",
    components=(
        Component(
            "shop-db",
            "database",
            "database",
            "15.4",
            settings={"orders": 400_000, "lines": 1_500_000},
        ),
        Component("catalog-cache", "cache", "cache", "7.0"),
        Component("order-queue", "queue", "broker", "3.12"),
        Component("payments", "service", "payments", "1.9.2"),
        Component("fulfilment", "service", "fulfilment", "3.0.4", ("order-queue", "shop-db")),
        Component(
            "catalog",
            "service",
            "catalog",
            "4.2.0",
            ("catalog-cache", "shop-db"),
            memory_max_bytes=224 * 2**20,  # some eight times what it takes when well
        ),
        Component(
            "orders",
            "service",
            "orders",
            "2.4.3",
            ("shop-db", "payments", "order-queue"),
            {"database": "shop-db"},
        ),
        Component("storefront", "service", "storefront", "5.1.0", ("orders", "catalog")),
    ),
    rate_per_s=12.0,
    mix={
        "product": 0.35,
        "history": 0.2,
        "checkout": 0.15,
        "search": 0.1,
        "order": 0.08,
        "confirmation": 0.12,
    },
)
"""Five services, a database, a cache and a queue."""

PLANTS: Final[Mapping[str, Plant]] = {plant.name: plant for plant in (PAIR, SHOP)}
"""Every plant by its name."""
