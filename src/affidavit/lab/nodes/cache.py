"""The cache server: values by key in memory, the oldest leaves first."""

import threading
from collections import OrderedDict
from typing import Any

from affidavit.lab.instruments import CACHE_ENTRIES, CACHE_HITS, CACHE_LOOKUPS
from affidavit.lab.nodes.node import Node, Request


class CacheServer:
    """At most `entries_max` entries."""

    def __init__(self, node: Node) -> None:
        self._node = node
        node.declare(entries_max=1000)
        self._entries: OrderedDict[str, Any] = OrderedDict()
        self._lock = threading.Lock()
        node.telemetry.count(CACHE_LOOKUPS, 0)
        node.telemetry.count(CACHE_HITS, 0)
        node.telemetry.gauge(CACHE_ENTRIES, lambda: len(self._entries))
        node.route("GET", "/entries/{key}", self.get)
        node.route("POST", "/entries/{key}", self.put)

    def get(self, request: Request) -> Any:
        """The value under a key; a miss is an answer too, null."""
        key = request.values["key"]
        self._node.telemetry.count(CACHE_LOOKUPS)
        with self._lock:
            if key not in self._entries:
                return {"value": None}
            self._entries.move_to_end(key)
            value = self._entries[key]
        self._node.telemetry.count(CACHE_HITS)
        return {"value": value}

    def put(self, request: Request) -> Any:
        """Keep a value."""
        with self._lock:
            self._entries[request.values["key"]] = request.body["value"]
            while len(self._entries) > int(self._node.settings["entries_max"]):
                self._entries.popitem(last=False)
        return {}
