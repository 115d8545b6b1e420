"""Which tools there are. No projector, no registration (T5); no registration, no call (H9).

A tool is five small functions around one typed argument record. `scope_of` is pure and says what
the call will speak about before anything is read; `fetch` reads the raw response; `project` turns
raw bytes into the bounded envelope, again purely, so that a projection can be checked and repeated
without the back end.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Generic, Literal, TypeVar

from pydantic import ValidationError

from affidavit.contract.agent import ToolSpec
from affidavit.contract.evidence import Envelope, Scope, Window
from affidavit.contract.record import Record
from affidavit.contract.states import EvidenceClass
from affidavit.core.canonical import canonical_json, digest

A = TypeVar("A", bound=Record)

TOOL_TIMEOUT_S = 30.0
"""One call of a read-only tool; a query that needs more is asked too widely."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What the framework, never the agent, gives to a call: identity, window, time."""

    run_id: str
    tenant: str
    window: Window | None
    now: datetime


class ArgumentsRefused(ValueError):
    """The arguments do not fit the tool; the agent is told, nothing is executed."""


@dataclass(frozen=True, slots=True)
class Tool(Generic[A]):
    """One registered tool.

    `fetch` raises `ToolFailed` with a stable code (`SOURCE_UNAVAILABLE` where the source is not
    there at all); `project` raises ValueError when the raw response is not what the tool promises.
    An empty answer is an envelope with NO_EVIDENCE, never an error (T4).
    """

    name: str
    description: str
    source_type: str
    source: str
    evidence_class: EvidenceClass
    arguments: type[A]
    scope_of: Callable[[A, ToolContext], Scope]
    fetch: Callable[[A, Scope], Awaitable[bytes]]
    project: Callable[[bytes, A, Scope, datetime], Envelope]
    effect: Literal["read", "write"] = "read"
    polling: bool = False
    timeout_s: float = TOOL_TIMEOUT_S

    def spec(self) -> ToolSpec:
        """The tool as an agent sees it."""
        return ToolSpec(
            name=self.name,
            description=self.description,
            source_type=self.source_type,
            evidence_class=self.evidence_class,
            arguments=self.arguments.model_json_schema(),
            effect=self.effect,
            polling=self.polling,
        )

    def read_arguments(self, raw: Mapping[str, object]) -> A:
        """The typed arguments. Raises ArgumentsRefused, naming fields and never values."""
        try:
            return self.arguments.model_validate_json(canonical_json(raw))
        except ValidationError as error:
            fields = sorted(
                {".".join(str(part) for part in item["loc"]) for item in error.errors()}
            )
            raise ArgumentsRefused(f"arguments do not fit: {', '.join(fields)}") from None


@dataclass(frozen=True, slots=True)
class UnavailableSource:
    """A source that was expected and is not there; it shows in coverage (C11, R15)."""

    source_type: str
    source: str
    reason: str


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Every tool of a run by name, and what is not available to it."""

    tools: Mapping[str, Tool[Record]]
    unavailable: tuple[UnavailableSource, ...] = ()

    @classmethod
    def of(
        cls, tools: Iterable[Tool[Record]], unavailable: Iterable[UnavailableSource] = ()
    ) -> Catalogue:
        """A catalogue. Raises ValueError when two tools share a name."""
        by_name: dict[str, Tool[Record]] = {}
        for tool in tools:
            if tool.name in by_name:
                raise ValueError(f"two tools are called {tool.name}")
            by_name[tool.name] = tool
        return cls(MappingProxyType(by_name), tuple(unavailable))

    def specs(self) -> tuple[ToolSpec, ...]:
        """What the agent may ask, in the order of registration."""
        return tuple(tool.spec() for tool in self.tools.values())

    def digest(self) -> str:
        """A digest over names and argument schemas: which tools a run had (A5)."""
        return digest(
            canonical_json(
                [[tool.name, tool.source_type, tool.effect] for tool in self.tools.values()]
            )
        )
