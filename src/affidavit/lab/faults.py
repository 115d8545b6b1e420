"""What can be broken, as a table: each fault is a list of steps that really happen to a plant.

A fault is never written into the telemetry. The steps change settings, release versions, run
jobs, or kill processes; whatever shows in metrics, logs and spans is what the processes then do.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Deploy:
    """Replace `component` by `version`, with `settings`; written to the change log as `note`."""

    component: str
    version: str
    note: str
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Act:
    """Ask `component` for `action` through its control door.

    With `event_name` the change log gets `note`; without one nobody wrote it down.
    """

    component: str
    action: str
    order: Mapping[str, Any]
    event_name: str | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Kill:
    """Kill `component`; it stays down."""

    component: str


@dataclass(frozen=True, slots=True)
class Restart:
    """Start `component` again after a kill."""

    component: str
    note: str


@dataclass(frozen=True, slots=True)
class ScaleLoad:
    """Multiply the rate of arriving customers."""

    factor: float


@dataclass(frozen=True, slots=True)
class Send:
    """One checkout at the edge with this body, as a customer sends it."""

    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Delay:
    """Slow the link from `caller` to `callee` down by `delay_s`, each way."""

    caller: str
    callee: str
    delay_s: float


Do = Deploy | Act | Kill | Restart | ScaleLoad | Send | Delay


@dataclass(frozen=True, slots=True)
class Step:
    """`do` at `after_s` seconds: after the injection for a fault, of the window if innocent."""

    after_s: float
    do: Do


@dataclass(frozen=True, slots=True)
class Fault:
    """One row of the table.

    `component` is where the fault is (None: nothing is broken), `steps` make it, `ending` ends
    it inside the window, `innocent` happens too and has no part in it. `lead_s` is how long it
    needs to reach the edge, where that is long. `link` goes through a relay. `notes` go to the
    scorer's truth.
    """

    name: str
    plant: str
    component: str | None
    notes: str
    steps: tuple[Step, ...] = ()
    ending: tuple[Step, ...] = ()
    innocent: tuple[Step, ...] = ()
    lead_s: float = 0.0
    link: tuple[str, str] | None = None


def _innocent(after_s: float, do: Do) -> tuple[Step, ...]:
    return (Step(after_s, do),)


_BANNER = _innocent(
    -100.0,
    Act(
        "storefront",
        "set",
        {"banner": "spring sale"},
        "flag",
        "flag spring_banner switched on for everyone",
    ),
)
_STOREFRONT_RELEASE = _innocent(
    25.0, Deploy("storefront", "5.1.1", "storefront 5.1.1 (was 5.1.0): footer links and wording")
)
_CATALOG_RELEASE = _innocent(
    35.0, Deploy("catalog", "4.2.1", "catalog 4.2.1 (was 4.2.0): new words for empty results")
)
_PAYMENTS_RELEASE = _innocent(
    -60.0, Deploy("payments", "1.9.3", "payments 1.9.3 (was 1.9.2): receipts in two languages")
)
_AUTHORISATION = _innocent(
    20.0,
    Act(
        "payments",
        "set",
        {"authorisation_ms": 8.0},
        "config",
        "payments: authorisation profile re-applied, no value changed",
    ),
)


def _change(component: str, order: Mapping[str, Any], event_name: str, note: str) -> Step:
    return Step(0.0, Act(component, "set", order, event_name, note))


def _release(component: str, version: str, note: str, settings: Mapping[str, Any]) -> Step:
    return Step(0.0, Deploy(component, version, note, settings))


_ON_THE_PAIR = (
    Fault(
        "slow_query",
        "pair",
        "orders-db",
        "An index that order history needs was dropped: each lookup scans the whole table.",
        steps=(
            Step(
                0.0,
                Act(
                    "orders-db",
                    "migrate",
                    {"sql": "DROP INDEX orders_by_customer"},
                    "config",
                    "migration 0042 applied: reclaim space, drop index orders_by_customer",
                ),
            ),
        ),
        innocent=_BANNER + _STOREFRONT_RELEASE,
    ),
    Fault(
        "pool_exhaustion",
        "pair",
        "orders",
        "Release 2.5.0 takes a database connection for its audit trail and never gives it back.",
        steps=(
            _release(
                "orders",
                "2.5.0",
                "orders 2.5.0 (was 2.4.3): audit trail for placed orders",
                {"audit_session_every": 20},
            ),
        ),
        innocent=_BANNER,
        lead_s=60.0,
    ),
)

_BY_A_CHANGE = (
    Fault(
        "error_burst",
        "shop",
        "orders",
        "A flag switches code on that fails for customers without a tier (KeyError).",
        steps=(
            _change(
                "orders", {"loyalty_points": True}, "flag", "flag loyalty_points on for everyone"
            ),
        ),
        innocent=_STOREFRONT_RELEASE,
    ),
    Fault(
        "bad_deploy",
        "shop",
        "orders",
        "Release 2.5.0 reads each order's lines and state one by one: two hundred small queries.",
        steps=(
            _release(
                "orders",
                "2.5.0",
                "orders 2.5.0 (was 2.4.3): order lines in the order history",
                {"lines_in_history": True},
            ),
        ),
        innocent=_BANNER + _CATALOG_RELEASE,
    ),
    Fault(
        "config_error",
        "shop",
        "orders",
        "The time limit for payments was set to 2 ms instead of 2 s; payments itself is well.",
        steps=(
            _change(
                "orders",
                {"payments_timeout_s": 0.002},
                "config",
                "orders: payments_timeout_s 2.0 -> 0.002",
            ),
        ),
        innocent=_PAYMENTS_RELEASE,
    ),
    Fault(
        "memory_leak",
        "shop",
        "catalog",
        "Release 4.3.0 keeps every rendered page in memory; the platform kills it at its limit.",
        steps=(
            _release(
                "catalog",
                "4.3.0",
                "catalog 4.3.0 (was 4.2.0): faster product pages",
                {"keep_pages": True},
            ),
        ),
        innocent=_BANNER,
        lead_s=90.0,
    ),
)

_BY_ITSELF = (
    Fault(
        "lock",
        "shop",
        "shop-db",
        "A maintenance job holds the write lock for 6 s at a time: placing orders fails.",
        steps=(
            Step(
                0.0,
                Act(
                    "shop-db",
                    "maintain",
                    {"job": "archive_old_orders", "hold_s": 6.0, "rest_s": 0.5, "for_s": 600.0},
                ),
            ),
        ),
        innocent=_STOREFRONT_RELEASE,
    ),
    Fault(
        "dependency_down",
        "shop",
        "payments",
        "The process was killed and stays down.",
        steps=(Step(0.0, Kill("payments")),),
        innocent=_CATALOG_RELEASE,
    ),
    Fault(
        "cpu_burn",
        "shop",
        "catalog",
        "Rebuilding the search index takes the processor from the requests of the same process.",
        steps=(Step(0.0, Act("catalog", "reindex", {"threads": 4, "for_s": 600.0})),),
        innocent=_BANNER + _STOREFRONT_RELEASE,
    ),
    Fault(
        "slow_edge",
        "shop",
        "payments",
        "The link from orders to payments delays each way by 150 ms; both ends are well.",
        steps=(Step(0.0, Delay("orders", "payments", 0.15)),),
        innocent=_CATALOG_RELEASE,
        link=("orders", "payments"),
    ),
    Fault(
        "cache_gone",
        "shop",
        "catalog-cache",
        "The cache was killed and stays down: every product page is read from the database.",
        steps=(Step(0.0, Kill("catalog-cache")),),
        innocent=_BANNER + _STOREFRONT_RELEASE,
    ),
    Fault(
        "poison_message",
        "shop",
        "fulfilment",
        "One order with the quantity 'two' fails at each delivery and holds up all behind it.",
        steps=(Step(0.0, Send({"customer": 17, "total_cents": 1999, "quantity": "two"})),),
        innocent=_PAYMENTS_RELEASE,
        lead_s=30.0,
    ),
)

_WELL = (
    Fault("healthy", "shop", None, "Nothing was changed; an ordinary window."),
    Fault(
        "red_herring",
        "shop",
        None,
        "A release, a flag, a re-applied configuration and 1.6 times the customers: all is well.",
        innocent=(
            *_BANNER,
            *_AUTHORISATION,
            *_CATALOG_RELEASE,
            Step(50.0, ScaleLoad(1.6)),
        ),
    ),
    Fault(
        "recovered",
        "shop",
        "payments",
        "The process was killed, and started again inside the window.",
        steps=(Step(0.0, Kill("payments")),),
        ending=(Step(0.0, Restart("payments", "payments-1 started again by hand")),),
        innocent=_BANNER,
        lead_s=60.0,
    ),
)

FAULTS: Final[Mapping[str, Fault]] = {
    fault.name: fault for fault in (*_ON_THE_PAIR, *_BY_A_CHANGE, *_BY_ITSELF, *_WELL)
}
"""Every fault by its name; those without a component are windows in which nothing is broken."""
