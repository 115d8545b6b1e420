"""Run one process of the rig: `python -m affidavit.lab.nodes`, told what by standard input."""

import sys
from collections.abc import Callable, Mapping
from typing import Final

from affidavit.lab.lifeline import bind_to_parent, watch_parent
from affidavit.lab.nodes.broker import Broker
from affidavit.lab.nodes.cache import CacheServer
from affidavit.lab.nodes.catalog import Catalog
from affidavit.lab.nodes.database import DatabaseServer
from affidavit.lab.nodes.fulfilment import Fulfilment
from affidavit.lab.nodes.node import Node, NodeSpec
from affidavit.lab.nodes.orders import Orders
from affidavit.lab.nodes.payments import Payments
from affidavit.lab.nodes.storefront import Storefront

PROGRAMS: Final[Mapping[str, Callable[[Node], object]]] = {
    "storefront": Storefront,
    "orders": Orders,
    "database": DatabaseServer,
    "broker": Broker,
    "cache": CacheServer,
    "catalog": Catalog,
    "fulfilment": Fulfilment,
    "payments": Payments,
}


def main() -> None:
    """Read the spec, serve until told to stop."""
    bind_to_parent()
    spec = NodeSpec.from_line(sys.stdin.readline())
    watch_parent(sys.stdin)
    node = Node(spec)
    program = PROGRAMS[spec.program](node)
    node.run()
    del program


if __name__ == "__main__":
    main()
