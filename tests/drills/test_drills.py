"""Every fault is caught by the real chain, with the status that it must have and a golden timeline.

A golden timeline is the journal as `affidavit drill --verbose` prints it. After a change that is
meant, GOLDEN=write writes them anew; look at the difference before it is kept.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import pytest

from affidavit.contract.errors import InputRefused
from affidavit.drills.drill import DrillResult, run_drill
from affidavit.drills.faults import FAULTS
from affidavit.drills.telling import ORDER, keeps_order
from affidavit.guards.toggles import read_toggles
from affidavit.settings import Settings
from affidavit.settings.agent import AgentTable

GOLDEN: Final = Path(__file__).parent / "golden"

S4: Final = {
    "budget-exceed": "BUDGET_EXCEEDED",
    "loop": "LOOP_DETECTED",
    "timeout": "TIMEOUT",
    "circuit-break": "DONE",
    "unknown-tool": "DONE",
    "need-approval": "NEED_APPROVAL",
    "sensitive-args": "DONE",
}
"""The founding document's own table (section 6): fault and status as it prints them."""


def golden(result: DrillResult) -> str:
    """The file of one fault."""
    got = (result.status, result.outcome, result.fallback, result.failure_code)
    head = f"{result.fault}: {' · '.join(str(item) for item in got if item)}"
    return "\n".join((head, f"# {result.meaning}", *result.timeline)) + "\n"


@pytest.mark.spec("H11", "V1", "E14", "E18", "E20", "H2", "A2", "H7", "H8", "H9", "H10", "L5")
@pytest.mark.spec("N8", "N13", "N15", "K5", "K8", "T6", "M3", "N4")
@pytest.mark.fault("R23", "R30", "R52", "R54", "F5", "F2", "F27", "F28")
@pytest.mark.parametrize("fault", FAULTS)
async def test_the_fault_is_caught_and_its_timeline_is_golden(fault: str) -> None:
    result = await run_drill(fault)
    assert result.missed == ()
    page = GOLDEN / f"{fault}.txt"
    if os.environ.get("GOLDEN") == "write":
        page.write_text(golden(result), encoding="utf-8")
    assert golden(result) == page.read_text(encoding="utf-8")


@pytest.mark.spec("H11", "V1")
def test_the_seven_of_the_founding_document_have_its_statuses() -> None:
    assert {name: str(FAULTS[name].expected.status) for name in S4} == S4
    assert list(FAULTS)[:7] == list(S4)


def test_every_golden_timeline_belongs_to_a_fault() -> None:
    assert {page.stem for page in GOLDEN.glob("*.txt")} == set(FAULTS)


@pytest.mark.spec("H2", "H11", "V1")
def test_the_golden_timelines_show_the_order_of_the_guards() -> None:
    whole = "\n".join(page.read_text(encoding="utf-8") for page in GOLDEN.glob("*.txt"))
    thinking = " → ".join(f"{name} PASS" for name in ORDER[:4])
    acting = "audit PASS ENTERED → permission PASS → approval PASS → audit PASS EXECUTED"
    assert f"GUARDS_CHECKED step=1: {thinking}\n" in whole
    assert f"CALLS_CHECKED call_0001: {acting}\n" in whole
    assert keeps_order(ORDER)
    assert not keeps_order(("loop", "budget")), "the check can fail"


@pytest.mark.spec("H11", "H5")
@pytest.mark.parametrize(
    ("guard", "fault"),
    [
        ("loop", "loop"),
        ("permission", "sensitive-args"),
        ("approval", "need-approval"),
    ],
)
async def test_a_guard_that_is_off_is_a_drill_that_fails(guard: str, fault: str) -> None:
    toggles = read_toggles({guard: False})
    result = await run_drill(fault, settings=Settings(agent=AgentTable(guard=toggles)))
    assert not result.caught
    assert any("journal" in line or "status" in line for line in result.missed)


@pytest.mark.spec("H11", "I5")
async def test_a_goal_and_an_unknown_fault() -> None:
    result = await run_drill("unknown-tool", goal="测试")
    assert result.caught
    with pytest.raises(InputRefused, match="no fault") as refused:
        await run_drill("everything")
    assert "budget-exceed" in refused.value.hint
