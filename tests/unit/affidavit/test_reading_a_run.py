"""Timeline, narration and card: what a person reads of a run (A2, C9, L1)."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from affidavit.adapters.memory_store import MemoryStore
from affidavit.affidavit.card import WIDTH_CHARS, render_card
from affidavit.affidavit.narration import Narrator
from affidavit.affidavit.timeline import SHOWN, mark_of, write_timeline
from affidavit.contract.agent import GiveUp
from affidavit.contract.journal import EVENT_FIELDS, Entry, EventType
from affidavit.contract.report import ReleaseRecord
from affidavit.diagnose import drive, start
from tests.simulation.test_release_table import CASES, Case
from tests.support.runs import RUN_ID, request
from tests.support.worlds import Script, act, broken, conclude, found, world

pytestmark = pytest.mark.anyio


async def ran(script: Script) -> tuple[tuple[Entry, ...], dict[str, bytes], ReleaseRecord]:
    """Lines, artifacts and answer of a whole run."""
    store = MemoryStore()
    told = world(script, store=store, backends={"probe": found, "down": broken})
    await start(told, request())
    release = await drive(RUN_ID, told)
    assert isinstance(release, ReleaseRecord)
    contents = {item.digest: item.content for item in await store.artifacts(RUN_ID)}
    return await store.read(RUN_ID), contents, release


def narrated(entries: tuple[Entry, ...], contents: Mapping[str, bytes]) -> list[str]:
    """What a person is told while the run works."""
    narrator = Narrator()
    return [line for entry in entries for line in narrator.tell(entry, contents)]


@pytest.mark.spec("A2")
async def test_the_golden_run_reads_as_it_should() -> None:
    """S2 section 5: DIAGNOSIS, three statuses, PROJECTING to READY, passed, supported, SUCCESS."""
    entries, _, _ = await ran([act("probe"), conclude()])
    marks = [line.mark for line in write_timeline(entries)]
    golden = [
        "ROUTING_DECISION=DIAGNOSIS by=caller",
        "STATUS_CHANGED=DIAGNOSIS_RUNNING",
        "TOOL_CALL_PROJECTING tool_call_id=call_0001",
        "TOOL_CALL_READY=EVIDENCE_FOUND tool_call_id=call_0001 count=1 total=1",
        "COLLECTION_ENDED=CONCLUDED agent_status=DONE",
        "STATUS_CHANGED=SAFETY_VALIDATING",
        "EVIDENCE_GUARD_INITIAL=PASSED violations=0",
        "SUPPORT_CHECK=PASSED refusals=0",
        "SEMANTIC_GUARD_DECISION=SUPPORTED",
        "RELEASE_DECISION=SUCCESS decision=D1",
        "RUN_ENDED=SUCCESS agent_status=DONE",
    ]
    assert [mark for mark in marks if mark in golden] == golden


@pytest.mark.spec("A2")
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.decision} {case.name}")
async def test_every_line_of_every_row_has_a_mark_and_a_meaning(case: Case) -> None:
    store = MemoryStore()
    told = world(case.script, store=store, judge=case.judge(), repairer=case.repairer)
    await start(told, request(limits=case.limits))
    await drive(RUN_ID, told)
    entries = await store.read(RUN_ID)
    lines = write_timeline(entries)
    assert [line.seq for line in lines] == list(range(1, len(entries) + 1))
    for line in lines:
        assert line.mark
        assert line.says, line.mark
        assert not re.search(r"[0-9a-f]{64}", line.mark), "a digest is for the journal"


@pytest.mark.spec("A2")
def test_every_field_of_every_kind_is_shown_or_kept_back_on_purpose() -> None:
    kept_back = {
        *("tenant", "request_digest", "limits", "catalogue_digest", "digest", "calls", "effect"),
        "policy_digest",
        *("raw_digest", "result_digest", "draft_digest", "patch_digest", "reason_digest"),
        *("release_digest", "input_digest", "output_digest", "moment", "verdicts"),
        *("action_digest", "shown_digest"),
        *("intent", "status", "evidence_status", "error_code", "code", "ending", "result"),
        *("verdict", "outcome", "run_state"),
    }
    fields = set().union(*EVENT_FIELDS.values())
    assert fields == kept_back | set(SHOWN)


@pytest.mark.spec("A2", "H2")
async def test_a_guard_that_stops_is_named() -> None:
    entries, contents, _ = await ran([act("probe")])
    (line,) = (mark_of(entry) for entry in entries if "STOPPED" in mark_of(entry))
    assert line == "GUARDS_CHECKED=STOPPED guard=loop status=LOOP_DETECTED step=4"
    assert "guard loop stops the collection: cycle of 1" in narrated(entries, contents)


@pytest.mark.spec("L1", "N2")
async def test_what_is_told_meanwhile_is_worded_by_code_and_is_no_result() -> None:
    draft = conclude(conclusion={"text": "canary: payment is the root cause"})
    entries, contents, _ = await ran([act("probe", "search", "down"), draft])
    told = narrated(entries, contents)
    assert "step 1: 3 tool calls" in told
    assert "  call_0001 probe: 1 fact" in told
    assert "  call_0002 search: nothing matched" in told
    assert "  call_0003 down: failed (TOOL_FAILED)" in told
    assert any("errors was 5 1" in line for line in told)
    assert "citations: FAILED" in " ".join(told)
    assert "canary" not in " ".join(told)
    assert "connection refused" not in " ".join(told)


@pytest.mark.spec("L1")
async def test_a_result_that_expired_is_told_without_facts() -> None:
    entries, _, _ = await ran([act("probe"), GiveUp("no idea")])
    told = narrated(entries, {})
    assert "  call_0001 probe: nothing matched" not in told
    assert "  call_0001 probe: found something" in told


@pytest.mark.spec("C10", "C11")
async def test_the_card_names_the_evidence_of_every_sentence() -> None:
    _, _, release = await ran([act("probe"), conclude()])
    card = render_card(release)
    assert "PUBLISHED: every sentence names its evidence" in card
    assert card.count("The errors of checkout were 5.") == 2
    assert card.count("└ call_0001 #0 (value") == 2
    assert "probe (probe-backend): consulted" in card
    assert max(len(line) for line in card.splitlines()) <= WIDTH_CHARS


@pytest.mark.spec("C7", "N6", "N7")
async def test_the_card_of_a_fallback_says_that_nothing_is_confirmed() -> None:
    _, _, release = await ran([act("probe"), GiveUp("no idea")])
    card = render_card(release)
    assert "NOT CONFIRMED: verified facts only, no root cause" in card
    assert "[call_0001]" in card
    assert "Conclusion" not in card


@pytest.mark.spec("A2")
def test_an_empty_journal_has_no_lines() -> None:
    assert write_timeline(()) == ()


@pytest.mark.spec("A1")
def test_every_kind_of_line_can_be_told() -> None:
    """Also those that no run of today writes."""
    for type_ in EventType:
        data: dict[str, object] = dict.fromkeys(EVENT_FIELDS[type_], "x")
        data |= {"verdicts": [], "calls": [], "codes": []}
        if type_ is EventType.RELEASE_DECISION:
            data["decision"] = "D1"
        entry = Entry(RUN_ID, 1, 0, type_, data, "", "")
        assert mark_of(entry).startswith(str(type_))
        assert write_timeline((entry,))
        Narrator().tell(entry, {})
