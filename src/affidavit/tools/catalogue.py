"""Which tools there are. No projector, no registration (T5); no registration, no call (H9).

A tool is a few small functions around one typed argument record. `scope_of` is pure and says what
the call will speak about before anything is read; `fetch` reads the raw response, or `perform` acts
and returns it; `project` turns raw bytes into the bounded envelope, again purely, so that a
projection can be checked and repeated without the back end.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from types import MappingProxyType
from typing import Final, Generic, Literal, TypeVar

from pydantic import ValidationError

from affidavit.contract.agent import ToolSpec
from affidavit.contract.evidence import Envelope, Scope, Window
from affidavit.contract.record import Record
from affidavit.contract.states import EvidenceClass
from affidavit.core.breaker import Outcome
from affidavit.core.canonical import canonical_json, digest

A = TypeVar("A", bound=Record)

TOOL_TIMEOUT_S = 30.0
"""One call of a read-only tool; a query that needs more is asked too widely."""

POLLS_MAX = 20
"""How often a polling tool may give the same answer in a row, unless it says otherwise."""

IDENTITY_FIELDS: Final = ("tenant", "run_id", "user")
"""Arguments of these names are never an agent's: they come from the context (H9)."""

_CALLERS_FAULT: Final = re.compile(
    r"HTTP_4\d\d|BAD_REQUEST|CONFLICT|FORBIDDEN|NOT_FOUND|RESULT_LIMIT|UNAUTHORIZED|CANCELLED"
)
"""Codes that say nothing about a back end's health: it answered, and the question was wrong."""


SCHEMAS_KEPT: Final = 256
"""Argument schemas that are worked out once: more tools than that no process has."""


@lru_cache(maxsize=SCHEMAS_KEPT)
def _schema_of(arguments: type[Record]) -> Mapping[str, object]:
    """The JSON Schema of an argument record; one costs a millisecond, and a world asks for ten."""
    return MappingProxyType(arguments.model_json_schema())


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What the framework, never the agent, gives to a call: identity, window, time."""

    run_id: str
    tenant: str
    window: Window | None
    now: datetime
    user: str = ""


class ArgumentsRefused(ValueError):
    """The arguments do not fit the tool; the agent is told, nothing is executed."""


@dataclass(frozen=True, slots=True)
class Tool(Generic[A]):
    """One registered tool.

    `fetch` raises `ToolFailed` with a stable code (`SOURCE_UNAVAILABLE` where the source is not
    there at all); `project` raises ValueError when the raw response is not what the tool promises.
    An empty answer is an envelope with NO_EVIDENCE, never an error (T4).

    A tool with an effect acts in `perform`, whose last argument is the call's idempotency key: the
    same for the same call, for ever (K9). It raises `ToolFailed` only when it knows that nothing
    has happened; whatever else it raises leaves the outcome unknown. `destructive` marks an effect
    that cannot be taken back: its approval expires within minutes.
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
    perform: Callable[[A, Scope, str], Awaitable[bytes]] | None = None
    destructive: bool = False
    polls_max: int = POLLS_MAX

    def spec(self) -> ToolSpec:
        """The tool as an agent sees it."""
        return ToolSpec(
            name=self.name,
            description=self.description,
            source_type=self.source_type,
            evidence_class=self.evidence_class,
            arguments=dict(_schema_of(self.arguments)),
            effect=self.effect,
            polling=self.polling,
            polls_max=self.polls_max if self.polling else 0,
            destructive=self.destructive,
        )

    @property
    def dependency(self) -> str:
        """The name of its back end among the circuits: tools of one source share one (H8)."""
        return f"tool:{self.source}"

    def run(self, arguments: A, scope: Scope, idempotency_key: str) -> Awaitable[bytes]:
        """Ask the back end; only the boundary does."""
        if self.perform is not None:
            return self.perform(arguments, scope, idempotency_key)
        return self.fetch(arguments, scope)

    def identify(self, raw: Mapping[str, object], context: ToolContext) -> Mapping[str, object]:
        """The arguments with identity from the context, whatever the agent wrote there (H9)."""
        own = {"tenant": context.tenant, "run_id": context.run_id, "user": context.user}
        declared = [name for name in IDENTITY_FIELDS if name in self.arguments.model_fields]
        return {**raw, **{name: own[name] for name in declared}}

    def read_arguments(self, raw: Mapping[str, object]) -> A:
        """The typed arguments. Raises ArgumentsRefused, naming fields and never values."""
        try:
            return self.arguments.model_validate_json(canonical_json(raw))
        except ValidationError as error:
            fields = sorted(
                {".".join(str(part) for part in item["loc"]) for item in error.errors()}
            )
            raise ArgumentsRefused(f"arguments do not fit: {', '.join(fields)}") from None


def definition_digest(spec: ToolSpec) -> str:
    """A digest over all that a person approves of a tool: a tool that changed is another (H10)."""
    definition = [
        spec.name,
        spec.description,
        spec.source_type,
        str(spec.evidence_class),
        spec.effect,
        spec.destructive,
        spec.arguments,
    ]
    # A schema may hold floats (a minimum of 0.5), so it has no canonical form of ours.
    return digest(json.dumps(definition, sort_keys=True, allow_nan=False).encode("ascii"))


def blame(code: str) -> Outcome:
    """What a tool's failure says of its back end: a caller's own fault says nothing (H8)."""
    return Outcome.NEITHER if _CALLERS_FAULT.fullmatch(code) else Outcome.FAILURE


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
    _specs: dict[str, ToolSpec] = field(default_factory=dict, compare=False, repr=False)
    _definitions: dict[str, str] = field(default_factory=dict, compare=False, repr=False)

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
        return tuple(self.spec(name) for name in self.tools)

    def spec(self, name: str) -> ToolSpec:
        """One tool as an agent sees it; its schema is drawn once."""
        if name not in self._specs:
            self._specs[name] = self.tools[name].spec()
        return self._specs[name]

    def definition(self, name: str) -> str:
        """The digest of one tool's definition; see `definition_digest`."""
        if name not in self._definitions:
            self._definitions[name] = definition_digest(self.spec(name))
        return self._definitions[name]

    def digest(self) -> str:
        """A digest over names and argument schemas: which tools a run had (A5)."""
        return digest(
            canonical_json(
                [[tool.name, tool.source_type, tool.effect] for tool in self.tools.values()]
            )
        )
