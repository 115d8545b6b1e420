"""The edge: what a customer's browser talks to."""

from typing import Any

from affidavit.lab.nodes.node import Node, Refused, Request
from affidavit.lab.nodes.upstream import Call, Upstream, UpstreamError, UpstreamRefused

_BAD_GATEWAY = 502
_OVERDUE = 504


class Storefront:
    """Hands requests on, and says so when the other side fails."""

    def __init__(self, node: Node) -> None:
        self._node = node
        node.declare(banner="winter sale", upstream_timeout_s=2.5, confirmation_due_s=5.0)
        self._orders = node.upstream("orders")
        node.route("GET", "/my-orders/{customer}", self.history)
        node.route("GET", "/orders/{order}", self.order)
        node.route("GET", "/orders/{order}/confirmation", self.confirmation)
        node.route("POST", "/checkout", self.checkout)
        if node.has_upstream("catalog"):
            self._catalog = node.upstream("catalog")
            node.route("GET", "/products/{product}", self.product)
            node.route("GET", "/search", self.search)

    def _ask(self, request: Request, upstream: Upstream, template: str, body: Any = None) -> Any:
        """Hand the request on to `template`, filled from the request's own path."""
        method, _, path = template.partition(" ")
        timeout_s = float(self._node.settings["upstream_timeout_s"])
        call = Call(method, path.format(**request.values), body, template, timeout_s)
        try:
            return upstream.call(request.trace, call)
        except UpstreamRefused as refusal:
            if refusal.status < _BAD_GATEWAY - 2:  # the customer's own mistake, as in 404
                raise Refused(refusal.status, str(refusal)) from None
            failure: UpstreamError = refusal
        except UpstreamError as error:
            failure = error
        self._node.telemetry.log("ERROR", f"{template} failed: {failure}", request.trace)
        raise Refused(_BAD_GATEWAY, str(failure))

    def history(self, request: Request) -> Any:
        """A customer's latest orders."""
        return self._ask(request, self._orders, "GET /customers/{customer}/orders")

    def order(self, request: Request) -> Any:
        """One order."""
        return self._ask(request, self._orders, "GET /orders/{order}")

    def checkout(self, request: Request) -> Any:
        """Place an order."""
        return self._ask(request, self._orders, "POST /orders", request.body)

    def confirmation(self, request: Request) -> Any:
        """The order's state; an order that is still pending long after checkout is a failure."""
        order = self.order(request)
        due_s = float(self._node.settings["confirmation_due_s"])
        if order["status"] == "pending" and order["age_s"] > due_s:
            text = f"order {order['id']} is still pending after {order['age_s']:.0f} s"
            self._node.telemetry.log("ERROR", text, request.trace)
            raise Refused(_OVERDUE, text)
        return order

    def product(self, request: Request) -> Any:
        """One product's page."""
        return self._ask(request, self._catalog, "GET /products/{product}")

    def search(self, request: Request) -> Any:
        """Product search; the words are the customer's, and logged as such."""
        words = request.values.get("q", "")
        found = self._ask(request, self._catalog, "POST /search", {"words": words})
        if not found["products"]:
            text = f"no product found for query: {words}"
            self._node.telemetry.log("INFO", text, request.trace, "request")
        return found
