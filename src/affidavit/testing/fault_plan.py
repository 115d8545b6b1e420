"""What goes wrong in one run, and where: models, tools and the store, each behind its real port.

    plan = FaultPlan(models_down=frozenset({"primary"}), tools_hang=frozenset({"error_logs"}))
    Harness(model=[plan.model(primary), plan.model(backup)], tools=[plan.tool(error_logs)],
            store=plan.store(MemoryStore()))

What the plan does not name is untouched; everything between the ports is the real thing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import anyio

from affidavit.contract.errors import ToolFailed
from affidavit.contract.evidence import Scope
from affidavit.contract.record import Record
from affidavit.ports.model import Model, ModelAnswer, ModelRequest, model_failure
from affidavit.ports.store import Store
from affidavit.ports.wrapped_model import WrappedModel
from affidavit.testing.faulty_store import Fault, FaultyStore
from affidavit.tools.catalogue import Tool


@dataclass(frozen=True, slots=True)
class FaultPlan:
    """The faults of one run, by the names of models and tools, and the writes of the store."""

    models_down: frozenset[str] = frozenset()
    tools_down: frozenset[str] = frozenset()
    tools_hang: frozenset[str] = frozenset()
    store_faults: tuple[Fault, ...] = ()

    def model(self, model: Model) -> Model:
        """The model, or one in its place that always fails as a provider's server does."""
        return DownModel(model) if model.name in self.models_down else model

    def tool(self, tool: Tool[Record]) -> Tool[Record]:
        """The tool, or the same with a back end that is down or never answers."""
        if tool.name in self.tools_down:
            return replace(tool, fetch=_fail)
        if tool.name in self.tools_hang:
            return replace(tool, fetch=_hang)
        return tool

    def store(self, store: Store) -> Store:
        """The store, with its faults."""
        return FaultyStore(store, *self.store_faults) if self.store_faults else store


@dataclass(frozen=True, slots=True)
class DownModel(WrappedModel):
    """A model whose provider answers 500, always (`ports.model.Model`)."""

    inner: Model

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """No answer."""
        raise model_failure("MODEL_SERVER_ERROR")


async def _fail(_: Record, __: Scope) -> bytes:
    raise ToolFailed("the back end is down", code="SOURCE_UNAVAILABLE")


async def _hang(_: Record, __: Scope) -> bytes:
    await anyio.sleep_forever()
    raise AssertionError("nobody wakes it")
