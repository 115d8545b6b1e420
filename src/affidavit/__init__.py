"""Affidavit runs an incident-diagnosis agent inside a harness and publishes only what it can trace.

What may be read by a user is what the harness can trace, statement by statement, to tool results
that it recorded itself; everything else comes out as a bounded, honest fallback.

    from affidavit import Harness, tool

    @tool(source_type="metrics")
    async def error_rate(service: str, window: Window) -> Series: ...

    result = await Harness(tools=[error_rate], model="openai:gpt-5").run("Why is checkout failing?")

The names below are the whole public face; a name loads its module when it is first used, so that
`import affidavit` costs nothing. `affidavit.testing` is public too: scripted models, a fault plan,
a virtual clock, conformance checks. docs/python.md shows both.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from affidavit.contract.agent import (
        Act,
        AgentRequest,
        Conclude,
        GiveUp,
        GuardResult,
        Moment,
    )
    from affidavit.contract.errors import AffidavitError, ToolFailed
    from affidavit.contract.evidence import Window
    from affidavit.contract.limits import Limits
    from affidavit.contract.states import AgentStatus
    from affidavit.guards.chain import CostClass
    from affidavit.guards.permission import Permit, Policy
    from affidavit.harness.evidence import Lines, Rows, Series
    from affidavit.harness.harness import Harness
    from affidavit.harness.result import AgentResult
    from affidavit.harness.tooling import tool

__version__ = "0.1.0.dev0"

__all__ = [
    "Act",
    "AffidavitError",
    "AgentRequest",
    "AgentResult",
    "AgentStatus",
    "Conclude",
    "CostClass",
    "GiveUp",
    "GuardResult",
    "Harness",
    "Limits",
    "Lines",
    "Moment",
    "Permit",
    "Policy",
    "Rows",
    "Series",
    "ToolFailed",
    "Window",
    "tool",
]

_HOMES: Final = {
    "Act": "contract.agent",
    "AffidavitError": "contract.errors",
    "AgentRequest": "contract.agent",
    "AgentResult": "harness.result",
    "AgentStatus": "contract.states",
    "Conclude": "contract.agent",
    "CostClass": "guards.chain",
    "GiveUp": "contract.agent",
    "GuardResult": "contract.agent",
    "Harness": "harness.harness",
    "Limits": "contract.limits",
    "Lines": "harness.evidence",
    "Moment": "contract.agent",
    "Permit": "guards.permission",
    "Policy": "guards.permission",
    "Rows": "harness.evidence",
    "Series": "harness.evidence",
    "ToolFailed": "contract.errors",
    "Window": "contract.evidence",
    "tool": "harness.tooling",
}


def __getattr__(name: str) -> object:
    """A public name, from the module where it lives."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'affidavit' has no attribute {name!r}")
    value: object = getattr(import_module(f"affidavit.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names."""
    return [*__all__, "__version__"]
