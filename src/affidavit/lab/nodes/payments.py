"""Payments: charges a card, which takes as long as a card network takes."""

import random
import time
from typing import Any

from affidavit.lab.nodes.node import Node, Request


class Payments:
    """Every charge is authorised; the time it takes is the point."""

    def __init__(self, node: Node) -> None:
        self._node = node
        node.declare(authorisation_ms=8.0)
        node.route("POST", "/charges", self.charge)

    def charge(self, request: Request) -> Any:
        """Charge a customer."""
        usual_s = float(self._node.settings["authorisation_ms"]) / 1000
        time.sleep(usual_s * random.uniform(0.8, 1.4))  # noqa: S311 - a network's mood
        return {"charged": request.body["cents"]}
