"""`@tool`: a function with typed arguments and typed evidence becomes a registered tool (H1, T5).

    signature → the argument record, and by it the JSON Schema that a model is offered
    return    → facts (`harness.evidence`), bounded here, redacted and projected by the boundary

Three parameters have a meaning of their own: `service` and `window` become the scope, so that an
empty answer says over what it is silent (G9), and a window that the agent leaves out is the run's;
`tenant`, `run_id` and `user` are given by the framework, whatever an agent writes there (H9).
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import accumulate
from typing import Any, Final, Generic, Literal, ParamSpec, TypeVar, cast, get_type_hints

import anyio.to_thread
from pydantic import Field, create_model

from affidavit.contract.errors import InputRefused
from affidavit.contract.evidence import Envelope, Fact, Scope, Window
from affidavit.contract.record import Record
from affidavit.contract.states import Emitter, EvidenceClass, EvidenceStatus
from affidavit.core.canonical import canonical_json
from affidavit.harness.evidence import facts_of
from affidavit.tools.catalogue import IDENTITY_FIELDS, TOOL_TIMEOUT_S, Tool, ToolContext

P = ParamSpec("P")
R = TypeVar("R")

FACTS_BYTES_MAX: Final = 48_000
"""Of one answer: a few hundred usual facts, and below what the boundary takes whole."""

KEY: Final = "idempotency_key"
"""A tool with an effect may have a parameter of this name: the same for the same call, for ever."""

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")
"""What every vendor takes as a tool's name."""


@dataclass(frozen=True, slots=True)
class ToolOptions:
    """What a function's signature does not say of its tool; see `tool`."""

    source_type: str
    source: str = ""
    name: str = ""
    evidence_class: EvidenceClass = EvidenceClass.OBSERVATION
    emitter: Emitter = Emitter.WORKLOAD
    effect: Literal["read", "write"] = "read"
    destructive: bool = False
    polling: bool = False
    timeout_s: float = TOOL_TIMEOUT_S


@dataclass(frozen=True, slots=True)
class FunctionTool(Generic[P, R]):
    """A function and the tool that it became. Calling it calls the function, as in a unit test."""

    function: Callable[P, R]
    tool: Tool[Record] = field(repr=False)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """The function itself: no guard, no record."""
        return self.function(*args, **kwargs)

    @property
    def name(self) -> str:
        """What agents call it."""
        return self.tool.name


def tool(  # noqa: PLR0913 - a decorator's options are its interface; each is named where it is used
    *,
    source_type: str,
    source: str = "",
    name: str = "",
    evidence_class: EvidenceClass = EvidenceClass.OBSERVATION,
    emitter: Emitter = Emitter.WORKLOAD,
    effect: Literal["read", "write"] = "read",
    destructive: bool = False,
    polling: bool = False,
    timeout_s: float = TOOL_TIMEOUT_S,
) -> Callable[[Callable[P, R]], FunctionTool[P, R]]:
    """Make a function, async or not, a tool of a harness. It is read-only unless it says otherwise.

    `source_type` is the kind of source as the report's coverage names it (`metrics`, `logs`),
    `source` the very back end, which has one circuit breaker (default: the tool's name). `emitter`
    says whose words an answer holds: only what the platform says of itself can prove a cause
    (Emitter.PLATFORM). An effect (`effect="write"`) needs a permission and a person's approval; one
    that cannot be taken back is `destructive`. A polling tool may give one answer several times.

    The docstring tells an agent what the tool is for. To fail, raise `ToolFailed` with a stable
    code; nothing found is None, or evidence that is empty. Raises InputRefused (TOOL_MALFORMED) for
    a function that can be no tool.
    """
    options = ToolOptions(
        source_type=source_type,
        source=source,
        name=name,
        evidence_class=evidence_class,
        emitter=emitter,
        effect=effect,
        destructive=destructive,
        polling=polling,
        timeout_s=timeout_s,
    )

    def register(function: Callable[P, R]) -> FunctionTool[P, R]:
        return FunctionTool(function, _tool_of(function, options))

    return register


def _tool_of(function: Callable[..., object], options: ToolOptions) -> Tool[Record]:
    name = options.name or function.__name__
    if not _NAME.fullmatch(name):
        raise _malformed(name, "a tool's name has small letters, digits and underscores")
    description = inspect.getdoc(function)
    if not description:
        raise _malformed(name, "its docstring tells an agent what it is for, and is missing")
    signature = inspect.signature(function)
    arguments = _arguments(name, function, signature)
    source = options.source or name
    needs_window = "window" in signature.parameters

    def scope_of(asked: Record, context: ToolContext) -> Scope:
        window = getattr(asked, "window", None) or context.window
        if needs_window and window is None:
            raise ValueError("the run has no window, and none was asked for")
        service = getattr(asked, "service", None)
        return Scope(
            tenant=context.tenant,
            service=service if isinstance(service, str) else None,
            window=window,
            query=_query(asked),
        )

    async def run(asked: Record, scope: Scope, key: str = "") -> bytes:
        given = {item: getattr(asked, item) for item in type(asked).model_fields}
        if needs_window:
            given["window"] = scope.window
        if KEY in signature.parameters:
            given[KEY] = key
        facts, total = facts_of(await _call(function, given))
        answer = _Answer(facts=facts, total=total)
        return canonical_json(answer.model_dump(mode="json"))

    def project(raw: bytes, _: Record, scope: Scope, now: datetime) -> Envelope:
        return _envelope(raw, options, source, scope, now)

    return Tool(
        name=name,
        description=description,
        source_type=options.source_type,
        source=source,
        evidence_class=options.evidence_class,
        arguments=arguments,
        scope_of=scope_of,
        fetch=run,
        project=project,
        effect=options.effect,
        polling=options.polling,
        timeout_s=options.timeout_s,
        perform=run if options.effect == "write" else None,
        destructive=options.destructive,
    )


async def _call(function: Callable[..., object], given: Mapping[str, object]) -> object:
    """A blocking function runs in a thread, so that the run's time and cancel still hold (K5)."""
    if inspect.iscoroutinefunction(function):
        return await cast("Callable[..., Awaitable[object]]", function)(**given)
    return await anyio.to_thread.run_sync(partial(function, **given), abandon_on_cancel=True)


def _arguments(
    name: str, function: Callable[..., object], signature: inspect.Signature
) -> type[Record]:
    """The record of a function's parameters."""
    try:
        hints = get_type_hints(function, include_extras=True)
    except NameError as error:
        raise _malformed(name, f"the type {error.name} of a parameter is not known") from None
    fields: dict[str, Any] = {}
    for item in signature.parameters.values():
        if item.kind not in (item.POSITIONAL_OR_KEYWORD, item.KEYWORD_ONLY):
            raise _malformed(name, f"{item.name} is no named parameter")
        if item.name == KEY:
            continue
        if item.name not in hints:
            raise _malformed(name, f"the parameter {item.name} has no type")
        default = ... if item.default is item.empty else item.default
        fields[item.name] = (hints[item.name], default)
    if "window" in fields:
        told = Field(default=None, description="a closed span of time; the run's when left out")
        fields["window"] = (Window | None, told)
    model: type[Record] = create_model(f"{name}_arguments", __base__=Record, **fields)
    return model


def _query(asked: Record) -> str:
    """What was asked beside service and window, as text."""
    hidden = {"service", "window", *IDENTITY_FIELDS}
    rest = {key: value for key, value in asked.model_dump(mode="json").items() if key not in hidden}
    return json.dumps(rest, sort_keys=True) if rest else ""


def _envelope(
    content: bytes, options: ToolOptions, source: str, scope: Scope, now: datetime
) -> Envelope:
    """The bounded projection of these facts: cut in their order, and said so (C15)."""
    answer = _Answer.model_validate_json(content)
    facts = answer.facts if len(content) <= FACTS_BYTES_MAX else _bounded(answer.facts)
    return Envelope(
        source_type=options.source_type,
        source=source,
        evidence_class=options.evidence_class,
        emitter=options.emitter,
        scope=scope,
        status=EvidenceStatus.EVIDENCE_FOUND if facts else EvidenceStatus.NO_EVIDENCE,
        count=len(facts),
        total=answer.total,
        truncated=answer.total > len(facts),
        facts=facts,
        observed_at=now,
    )


class _Answer(Record):
    """What a function answered, on its way from the back end to the projection."""

    facts: tuple[Fact, ...]
    total: int


def _bounded(facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """As many facts as may be shown, the first ones."""
    kept = accumulate(len(json.dumps(fact.model_dump(mode="json"))) for fact in facts)
    return tuple(facts[: sum(size <= FACTS_BYTES_MAX for size in kept)])


def _malformed(name: str, why: str) -> InputRefused:
    return InputRefused(
        f"{name!r} can be no tool: {why}",
        code="TOOL_MALFORMED",
        hint="write a function with a docstring and typed parameters; see docs/python.md",
    )
