"""The catalogue: product pages and search, with a cache in front of the database."""

import json
import threading
import time
from typing import Any

from affidavit.lab.nodes.database import PRODUCTS
from affidavit.lab.nodes.node import JsonObject, Node, Refused, Request
from affidavit.lab.nodes.telemetry import Trace
from affidavit.lab.nodes.upstream import Call, UpstreamError, run_statement

_SERVICE_UNAVAILABLE = 503
_NOT_FOUND = 404
_PAGE_BYTES = 600_000  # a rendered page with its images, as one release keeps it in memory
_PRODUCT_SQL = "SELECT id, name, price_cents FROM products WHERE id = ?"
_POPULARITY_SQL = (
    "SELECT COUNT(*), SUM(quantity) FROM order_lines WHERE product_id = ? AND quantity < 100"
)
_SEARCH_SQL = "SELECT id, name FROM products WHERE name LIKE ? LIMIT 10"


class Catalog:
    """Product pages are cached; search is not."""

    def __init__(self, node: Node) -> None:
        self._node = node
        node.declare(database="shop-db", cache="catalog-cache", keep_pages=False)
        self._database = node.upstream(node.settings["database"], connections_max=8)
        self._cache = node.upstream(node.settings["cache"])
        self._pages: dict[float, bytes] = {}
        node.route("GET", "/products/{product}", self.product)
        node.route("POST", "/search", self.search)
        node.action("reindex", self.reindex)
        node.background(self._warm)

    def _warm(self) -> None:
        """Put every page into the cache once, so that customers do not meet an empty one."""
        trace = Trace.begin(sampled=False).child()
        for product in range(1, PRODUCTS + 1):
            try:
                self._page(Request({"product": str(product)}, None, trace))
            except Refused:
                return  # said so already; pages then come into the cache as they are asked for

    def _rows(self, request: Request, name: str, sql: str, *args: Any) -> list[list[Any]]:
        try:
            return run_statement(self._database, request.trace, name, sql, args)
        except UpstreamError as error:
            self._node.telemetry.log("ERROR", f"{name} failed: {error}", request.trace)
            raise Refused(_SERVICE_UNAVAILABLE, str(error)) from None

    def product(self, request: Request) -> Any:
        """One product with how often it was bought."""
        page = self._page(request)
        if self._node.settings["keep_pages"]:
            self._pages[time.monotonic()] = json.dumps(page).encode() + b" " * _PAGE_BYTES
        return page

    def _page(self, request: Request) -> Any:
        key = f"/entries/product-{request.values['product']}"
        page = self._cached(request, key)
        if page is None:
            page = self._assemble(request, int(request.values["product"]))
            self._keep(request, key, page)
        return page

    def _assemble(self, request: Request, product: int) -> Any:
        rows = self._rows(request, "SELECT product", _PRODUCT_SQL, product)
        if not rows:
            raise Refused(_NOT_FOUND, f"no product {product}")
        bought = self._rows(request, "SELECT popularity of product", _POPULARITY_SQL, product)
        return {"product": rows[0], "bought": bought[0]}

    def _cached(self, request: Request, key: str) -> Any:
        try:
            return self._cache.call(
                request.trace, Call("GET", key, label="GET entry", timeout_s=0.5)
            )["value"]
        except UpstreamError as error:
            text = f"cache lookup failed, reading the database instead: {error}"
            self._node.telemetry.log("WARN", text, request.trace)
            return None

    def _keep(self, request: Request, key: str, page: Any) -> None:
        call = Call("POST", key, {"value": page}, "POST entry", 0.5)
        try:
            self._cache.call(request.trace, call)
        except UpstreamError:
            return  # the lookup before has said so already

    def search(self, request: Request) -> Any:
        """Products whose name holds the words."""
        words = f"%{request.body['words']}%"
        return {"products": self._rows(request, "SELECT products like", _SEARCH_SQL, words)}

    def reindex(self, order: JsonObject) -> None:
        """Rebuild the search index over and over, in `threads` threads, for `for_s` seconds."""
        until = time.monotonic() + float(order["for_s"])
        for number in range(int(order["threads"])):
            threading.Thread(
                target=_rebuild, args=(until,), name=f"reindex-{number}", daemon=True
            ).start()
        text = f"rebuilding the search index with {order['threads']} threads"
        self._node.telemetry.log("INFO", text)


def _rebuild(until: float) -> None:
    while time.monotonic() < until:
        index: dict[str, list[int]] = {}
        for number in range(2_000):
            name = f"article {number * 40503:X}"
            for at in range(len(name) - 2):
                index.setdefault(name[at : at + 3], []).append(number)
