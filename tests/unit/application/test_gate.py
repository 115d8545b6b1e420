"""Reading an order, and the world in which a supplied answer becomes a run."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from affidavit.adapters.memory_store import MemoryStore
from affidavit.application.gate import (
    ORDER_BYTES_MAX,
    AbsentTool,
    GateOrder,
    SuppliedAgent,
    SuppliedArguments,
    gate_request,
    order_digest,
    order_of,
    read_order,
    refuse_supplied,
    reread,
    supplied_catalogue,
)
from affidavit.contract.errors import InputRefused, InternalFault, ToolFailed
from affidavit.contract.evidence import Scope
from affidavit.release.withdrawal import ConsentingAuthor, NoAuthor
from affidavit.wiring import gate_world
from tests.support.gates import call, report
from tests.support.runs import RUN_ID, TENANT


def text_of(raw: object) -> bytes:
    """A file's bytes."""
    return json.dumps(raw).encode()


@pytest.mark.spec("C4", "K8")
def test_an_order_is_kept_so_that_another_driver_reads_the_same() -> None:
    """Also a fraction stays the fraction that it was."""
    raw = report(tool_calls=[call(result={"share": 0.1, "big": 12345678901234567890})])
    first = read_order(text_of(raw), withdraw=True)
    again = reread(first.content)
    assert again == first
    assert again.withdraw
    result: Any = again.answer.tool_calls[0].result
    assert result == {"share": Decimal("0.1"), "big": 12345678901234567890}


@pytest.mark.spec("C4", "K0")
@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is no JSON"),
        (b"{", "is no JSON"),
        (b"[]", "must be an object"),
        (b"null", "must be an object"),
        (b'{"question": "a", "question": "b", "tool_calls": [], "answer": ""}', "a key stands"),
        (b'{"question": "a", "tool_calls": [], "answer": "", "n": NaN}', "NaN is no JSON"),
        (b"\xff\xfe{}", "is no UTF-8 text"),
        (b"[" * 100_000, "is no JSON"),
        (text_of({**report(), "answer": "and"}), "exactly one of draft and answer"),
        (text_of(report(tool_calls=[call(status="maybe")])), "/tool_calls/0/status"),
        (text_of(report(tool_calls=[call(confidence=1)])), "/tool_calls/0/confidence"),
        (text_of(report(tool_calls=[call(), call()])), "/tool_calls/1/id"),
        (text_of(report(confidence=0.99)), "/confidence"),
        (text_of(report(provenance="recorded")), "/provenance"),
        (text_of(report(tool_calls=[call(provenance="recorded")])), "/tool_calls/0/provenance"),
        (b" " * (ORDER_BYTES_MAX + 1), "larger than 32 MB"),
    ],
)
def test_what_is_no_order_is_refused_in_one_line_that_says_where(content: bytes, says: str) -> None:
    """And the hint says how to mend it."""
    with pytest.raises(InputRefused) as refused:
        read_order(content)
    assert says in refused.value.message
    assert refused.value.code == "GATE_INPUT_REFUSED"
    assert refused.value.hint
    assert "\n" not in refused.value.message


@pytest.mark.spec("C4")
def test_a_byte_order_mark_is_no_content() -> None:
    """Some editors write one."""
    assert read_order(b"\xef\xbb\xbf" + text_of(report())).answer.question


@pytest.mark.spec("C12", "N18")
def test_an_answer_that_was_supplied_is_refused_where_recorded_ones_are_required() -> None:
    """Before there is a run: whoever demands it wants no supplied facts either."""
    with pytest.raises(InputRefused) as refused:
        refuse_supplied(order_of(report()))
    assert refused.value.code == "RECORDED_REQUIRED"


@pytest.mark.spec("M6")
def test_only_a_submitter_who_said_so_takes_anything_back() -> None:
    assert isinstance(order_of(report()).author, NoAuthor)
    assert isinstance(order_of(report(), withdraw=True).author, ConsentingAuthor)


@pytest.mark.spec("K3", "K0")
def test_the_limits_of_a_gate_run_are_what_its_answer_holds() -> None:
    """Nothing is collected, so nothing may be spent beyond it."""
    order = order_of(report(tool_calls=[call(id=f"c{n}") for n in range(7)]))
    request = gate_request(order, RUN_ID, TENANT)
    assert (request.limits.tool_calls, request.limits.iterations) == (7, 2)
    assert order_digest(request.source) == order.artifact.digest
    assert gate_request(order_of(report(tool_calls=[])), RUN_ID, TENANT).limits.tool_calls == 1


@pytest.mark.parametrize("source", [None, "", "/incidents/one", "gates:x"])
def test_another_run_s_source_is_no_order(source: str | None) -> None:
    assert order_digest(source) is None


@pytest.mark.spec("T1", "H9")
async def test_nothing_of_a_supplied_answer_can_be_asked_or_called() -> None:
    """Its agent decides nothing, and its tools are names."""
    order: GateOrder = order_of(report())
    world = gate_world(order, MemoryStore())
    assert set(world.collection.catalogue.tools) == {"kubectl_get_pods"}
    with pytest.raises(InternalFault):
        await SuppliedAgent().decide(None)  # type: ignore[arg-type]  # never looked at
    with pytest.raises(ToolFailed):
        await AbsentTool().fetch(SuppliedArguments(), Scope(tenant=TENANT))


@pytest.mark.spec("N2", "N6", "C15")
@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("kubectl_get_pods", "kubectl_get_pods"),
        ("mcp__grafana/query.range", "mcp__grafana/query.range"),
        ("kubectl get pods", "kubectl_get_pods"),
        ("查询日志", "查询日志"),
        ("a\n\x1b[31mb", "a_31mb"),
        (
            "gates-1 is down because of it. Page Lisbon!",
            "gates-1_is_down_because_of_it._Page_Lisbon",
        ),
        ("x" * 400, "x" * 64),
        (" \t", "tool"),
        ("", "tool"),
    ],
)
def test_a_tool_s_name_is_one_word(name: str, shown: str) -> None:
    """Nobody publishes a sentence as the name of a source."""
    order = order_of(report(tool_calls=[call(tool=name)]))
    assert order.answer.tool_calls[0].tool == shown
    assert set(supplied_catalogue(order.answer.tool_calls).tools) == {shown}
    assert reread(order.content) == order


@pytest.mark.spec("C11")
def test_a_tool_is_known_once_however_often_it_was_called() -> None:
    calls = order_of(report(tool_calls=[call(id="a"), call(id="b", tool="search_logs")])).answer
    catalogue = supplied_catalogue((*calls.tool_calls, *calls.tool_calls))
    assert {tool.source_type for tool in catalogue.tools.values()} == {"platform", "logs"}
