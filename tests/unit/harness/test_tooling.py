"""From a function to a tool: schema, scope, facts, bounds, refusals."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Annotated

import pytest
from pydantic import Field

from affidavit import Lines, Rows, Series, ToolFailed, Window, tool
from affidavit.contract.errors import InputRefused
from affidavit.contract.evidence import Edge, Envelope, Line, Row, Value
from affidavit.contract.record import Record
from affidavit.contract.states import EvidenceStatus
from affidavit.harness.evidence import NotEvidence, facts_of
from affidavit.tools.catalogue import ArgumentsRefused, Tool, ToolContext

TEN = datetime(2026, 3, 2, 10, tzinfo=UTC)
WINDOW = Window(start=TEN, end=TEN + timedelta(minutes=30))


def context(window: Window | None = WINDOW) -> ToolContext:
    return ToolContext("run_0123456789abcdef", "acme", window, TEN, "ann")


async def ask(made: Tool[Record], **given: object) -> Envelope:
    """One call as the boundary makes it."""
    arguments = made.read_arguments(made.identify(given, context()))
    scope = made.scope_of(arguments, context())
    return made.project(await made.run(arguments, scope, "key"), arguments, scope, TEN)


@tool(source_type="metrics", source="prometheus")
async def error_rate(
    service: str, window: Window, top: Annotated[int, Field(ge=1, le=5)] = 3
) -> Series:
    """Failed requests of a service."""
    points = [(window.start + timedelta(minutes=place), 0.1 + place) for place in range(top)]
    return Series(service, "failed requests", points, unit="1/s", statistic="mean", total=10)


@pytest.mark.spec("H1", "T5")
async def test_a_function_s_signature_is_the_tool_s_schema_and_its_return_the_facts() -> None:
    spec = error_rate.tool.spec()
    assert (spec.name, spec.effect, spec.source_type) == ("error_rate", "read", "metrics")
    assert spec.description == "Failed requests of a service."
    schema = dict(spec.arguments)
    assert schema["required"] == ["service"], "the run's window stands in"
    assert schema["additionalProperties"] is False
    seen = await ask(error_rate.tool, service="checkout")
    assert (seen.source, seen.count, seen.total, seen.truncated) == ("prometheus", 3, 10, True)
    assert seen.scope.service == "checkout"
    assert seen.scope.window == WINDOW
    assert seen.scope.query == '{"top": 3}'
    first = seen.facts[0]
    assert isinstance(first, Value)
    assert first.quantity is not None
    assert first.quantity.number == Decimal("0.1"), "a float is the number that was written"
    assert seen.contradiction() is None
    assert await error_rate("checkout", WINDOW) == await error_rate.function("checkout", WINDOW)


@pytest.mark.spec("H9", "T5")
@pytest.mark.parametrize(
    "given",
    [
        {"service": 5},
        {"service": "a", "top": 9},
        {"service": "a", "more": 1},
        {},
        {"service": "a", "window": {"start": "now"}},
    ],
)
def test_arguments_that_do_not_fit_are_refused(given: dict[str, object]) -> None:
    with pytest.raises(ArgumentsRefused):
        error_rate.tool.read_arguments(given)


@pytest.mark.spec("H9")
async def test_identity_comes_from_the_context_whatever_an_agent_writes() -> None:
    @tool(source_type="logs")
    async def own(tenant: str, user: str) -> Lines:
        """Lines of a tenant."""
        return Lines([f"{tenant} {user}"])

    seen = await ask(own.tool, tenant="other", user="root")
    assert [fact.text for fact in seen.facts if isinstance(fact, Line)] == ["acme ann"]
    assert seen.scope.query == "", "and is no part of the question"


@pytest.mark.spec("T4", "G9")
@pytest.mark.parametrize("nothing", [None, Series("a", "b", []), Rows([]), Lines([]), ()])
async def test_nothing_found_is_no_evidence_over_the_scope(nothing: object) -> None:
    @tool(source_type="logs")
    async def search(service: str) -> object:
        """Lines."""
        return nothing

    seen = await ask(search.tool, service="checkout")
    assert seen.status is EvidenceStatus.NO_EVIDENCE
    assert seen.scope.service == "checkout"
    assert seen.contradiction() is None


@pytest.mark.spec("T5")
def test_every_kind_of_evidence_becomes_facts() -> None:
    rows = Rows([{"pod": "a-1", "restarts": 16, "ready": False, "node": None}], subject="pod")
    ((row,), total) = facts_of(rows)
    assert isinstance(row, Row)
    assert (row.subject, total) == ("a-1", 1)
    assert [(cell.name, cell.text) for cell in row.cells[2:]] == [
        ("ready", "false"),
        ("node", None),
    ]
    both, total = facts_of([rows, Lines(["x", (TEN, "y")]), Edge(source="a", target="b")])
    assert (len(both), total) == (4, 4)
    for wrong in ("text", b"bytes", {"a": 1}, 5, ["text"], object()):
        with pytest.raises(NotEvidence):
            facts_of(wrong)
    with pytest.raises(ValueError, match="finite"):
        facts_of(Series("a", "b", [(TEN, float("nan"))]))
    with pytest.raises(ValueError, match="zone"):
        facts_of(Series("a", "b", [(datetime(2026, 3, 2, 10), 1)]))  # noqa: DTZ001 - what is tested


@pytest.mark.spec("C15", "T1")
@pytest.mark.fault("R41", "R44", "R47")
async def test_a_large_answer_is_cut_in_its_order_and_says_so() -> None:
    @tool(source_type="logs")
    async def flood() -> Lines:
        """Lines."""
        return Lines([f"{place:06d} {'x' * 200}" for place in range(5_000)])

    seen = await ask(flood.tool)
    assert seen.truncated
    assert seen.total == 5_000
    assert 0 < seen.count < 1_000
    assert seen.contradiction() is None
    assert len(seen.model_dump_json()) < 64_000


@pytest.mark.spec("K5")
async def test_a_blocking_function_runs_beside_the_loop() -> None:
    threads: list[int] = []

    @tool(source_type="x")
    def slow() -> Lines:
        """Blocks."""
        threads.append(threading.get_ident())
        return Lines(["done"])

    await ask(slow.tool)
    assert threads != [threading.get_ident()]


async def test_a_failure_of_the_function_is_its_own() -> None:
    @tool(source_type="x")
    async def down() -> None:
        """Fails."""
        raise ToolFailed("canary", code="SOURCE_UNAVAILABLE")

    with pytest.raises(ToolFailed):
        await ask(down.tool)


async def test_a_window_that_nobody_gave_is_refused() -> None:
    with pytest.raises(ValueError, match="window"):
        error_rate.tool.scope_of(
            error_rate.tool.read_arguments({"service": "a"}), context(window=None)
        )


async def _untold(service: str) -> None: ...
async def _untyped(service) -> None:  # type: ignore[no-untyped-def]
    """Untyped."""


async def _many(*services: str) -> None:
    """Many."""


async def Shouting() -> None:  # noqa: N802 - what is tested
    """Shouts."""


@pytest.mark.parametrize(
    ("function", "why"),
    [(_untold, "docstring"), (_untyped, "no type"), (_many, "named"), (Shouting, "small letters")],
)
def test_what_can_be_no_tool_is_refused_where_it_is_written(
    function: Callable[..., object], why: str
) -> None:
    with pytest.raises(InputRefused, match=why) as refused:
        tool(source_type="x", name="" if function is Shouting else "named")(function)
    assert refused.value.code == "TOOL_MALFORMED"
