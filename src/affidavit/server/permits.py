"""Who may do what, as one table: every route with the role that it needs.

A route that is not in the table is refused to everybody, and the service does not start with one
(`check_table`): so a new route cannot be forgotten. What is open tells nothing about anybody.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from starlette.routing import BaseRoute, Mount, Route, compile_path

from affidavit.contract.errors import InternalFault


class Role(StrEnum):
    """What a key may be given. A role holds those that `HOLDS` says."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    APPROVER = "approver"
    DRAFT_READER = "draft-reader"
    ADMIN = "admin"


HOLDS: Final[Mapping[Role, frozenset[Role]]] = MappingProxyType(
    {
        Role.VIEWER: frozenset({Role.VIEWER}),
        Role.OPERATOR: frozenset({Role.OPERATOR, Role.VIEWER}),
        Role.APPROVER: frozenset({Role.APPROVER, Role.VIEWER}),
        Role.DRAFT_READER: frozenset({Role.DRAFT_READER, Role.VIEWER}),
        Role.ADMIN: frozenset(Role),
    }
)
"""An operator starts runs and does not approve what they do; an admin may do everything."""


class Access(StrEnum):
    """Ways to a route that ask for no role."""

    OPEN = "open"
    """Anybody: it says nothing that is not public."""

    ANYBODY_KNOWN = "known"
    """Whoever has a key, whatever its roles."""

    DRILL = "drill"
    """Nobody knows who asks: only where drills are on, and only from this machine."""


PERMITS: Final[Mapping[tuple[str, str], Role | Access]] = MappingProxyType(
    {
        ("GET", "/healthz"): Access.OPEN,
        ("GET", "/readyz"): Access.OPEN,
        ("GET", "/openapi.json"): Access.OPEN,
        ("GET", "/login"): Access.OPEN,
        ("POST", "/login"): Access.OPEN,
        ("GET", "/login/oidc"): Access.OPEN,
        ("GET", "/login/oidc/callback"): Access.OPEN,
        ("GET", "/static/{path:path}"): Access.OPEN,
        ("POST", "/logout"): Access.ANYBODY_KNOWN,
        ("GET", "/metrics"): Role.VIEWER,
        ("GET", "/"): Role.VIEWER,
        ("GET", "/runs/{run_id}"): Role.VIEWER,
        ("GET", "/runs/{run_id}/report"): Role.VIEWER,
        ("GET", "/approvals"): Role.VIEWER,
        ("GET", "/drills"): Role.VIEWER,
        ("GET", "/health"): Role.VIEWER,
        ("GET", "/api/v1/me"): Access.ANYBODY_KNOWN,
        ("GET", "/api/v1/health"): Role.VIEWER,
        ("GET", "/api/v1/incidents"): Role.VIEWER,
        ("POST", "/api/v1/runs"): Role.OPERATOR,
        ("GET", "/api/v1/runs"): Role.VIEWER,
        ("GET", "/api/v1/runs/{run_id}"): Role.VIEWER,
        ("GET", "/api/v1/runs/{run_id}/events"): Role.VIEWER,
        ("GET", "/api/v1/runs/{run_id}/timeline"): Role.VIEWER,
        ("GET", "/api/v1/runs/{run_id}/affidavit"): Role.VIEWER,
        ("GET", "/api/v1/runs/{run_id}/draft"): Role.DRAFT_READER,
        ("POST", "/api/v1/runs/{run_id}/cancel"): Role.OPERATOR,
        ("POST", "/api/v1/chat"): Role.OPERATOR,
        ("GET", "/api/v1/chat/{run_id}"): Role.VIEWER,
        ("GET", "/api/v1/approvals"): Role.VIEWER,
        ("POST", "/api/v1/approvals/{run_id}/{tool_call_id}"): Role.APPROVER,
        ("POST", "/api/v1/runs/{run_id}/calls/{tool_call_id}/outcome"): Role.OPERATOR,
        ("GET", "/api/v1/deliveries"): Role.VIEWER,
        ("POST", "/api/v1/deliveries/{delivery_id}/resend"): Role.OPERATOR,
        ("POST", "/api/v1/gate"): Role.OPERATOR,
        ("POST", "/hooks/alertmanager"): Role.OPERATOR,
        ("POST", "/hooks/pagerduty"): Role.OPERATOR,
        ("POST", "/api/agent/run"): Access.DRILL,
    }
)
"""(method, path) → what it takes. HEAD is asked as GET."""


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks: a name that is written into runs, a tenant, and what its key may do."""

    subject: str
    tenant: str
    roles: frozenset[Role]

    def holds(self, role: Role) -> bool:
        """Whether one of the roles holds that one."""
        return any(role in HOLDS[mine] for mine in self.roles)

    def may(self, needed: Role | Access) -> bool:
        """Whether this somebody may use a route that takes `needed`."""
        return self.holds(needed) if isinstance(needed, Role) else True


_COMPILED: Final = tuple(
    (method, compile_path(path)[0], needed) for (method, path), needed in PERMITS.items()
)


def permit_of(method: str, path: str) -> Role | Access | None:
    """What a request takes; None for a path that is no route of ours.

    A known path under another method takes what its methods take at least: whoever may use none of
    them need not learn which there are.
    """
    asked = "GET" if method == "HEAD" else method
    found = [(name, needed) for name, pattern, needed in _COMPILED if pattern.match(path)]
    for name, needed in found:
        if name == asked:
            return needed
    return found[0][1] if found else None


def methods_of(path: str) -> tuple[str, ...]:
    """The methods that a path takes, as an Allow header lists them (RFC 9110)."""
    found = {method for method, pattern, _ in _COMPILED if pattern.match(path)}
    return tuple(sorted(found | ({"HEAD"} if path.startswith("/static/") else set())))


def check_table(routes: Iterable[BaseRoute]) -> None:
    """Table and routes say the same. Raises InternalFault for a route that nobody permitted, or a
    permit without its route."""
    there = set()
    for route in routes:
        if isinstance(route, Mount):
            there.add(("GET", f"{route.path}/{{path:path}}"))
        elif isinstance(route, Route):
            there |= {(method, route.path) for method in (route.methods or ()) if method != "HEAD"}
    if there != set(PERMITS):
        raise InternalFault(f"routes without a permit, or the reverse: {there ^ set(PERMITS)}")
