"""A file is intact, or it is not, and then the re-check says where (A4, A5, F47)."""

from __future__ import annotations

from dataclasses import replace

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affidavit.adapters.memory_store import MemoryStore
from affidavit.affidavit.document import Document, write_document
from affidavit.affidavit.recheck import CONTENT, SEAL, STRUCTURE, Verdict
from affidavit.contract.decisions import DecisionId
from affidavit.contract.journal import Entry, EventType
from affidavit.diagnose import drive, start
from affidavit.testing.scripted import ScriptedArguments
from tests.simulation.test_release_table import CASES, Case
from tests.support.checking import recheck
from tests.support.runs import RUN_ID, request
from tests.support.worlds import act, conclude, world
from tests.unit.affidavit.files import Forgery, chained, closed, file_in, opened, sealed_by

pytestmark = pytest.mark.anyio

INTACT = Verdict.INTACT_SIGNER_UNKNOWN


@pytest.fixture(scope="module")
def published() -> bytes:
    """The file of a published report that rests on two calls, one of them empty."""
    return sealed_by([act("probe", "search"), conclude()])


@pytest.fixture(scope="module")
def fallback() -> bytes:
    """The file of a fallback with facts of two calls."""
    return sealed_by([act("probe", "search"), conclude(conclusion=None)])


def failed(content: bytes) -> str:
    """The name of the first check that failed, and nothing else may have passed as intact."""
    found = recheck(content)
    assert found.verdict is not INTACT
    assert found.failure is not None
    return found.failure.name


@pytest.mark.spec("A5", "D1", "D2", "D3", "D4", "D5", "D6", "D7", "D8", "D9", "D10", "D11", "D15")
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.decision} {case.name}")
async def test_the_file_of_every_row_is_intact(case: Case) -> None:
    store = MemoryStore()
    told = world(case.script, store=store, judge=case.judge(), repairer=case.repairer)
    await start(told, request(limits=case.limits))
    await drive(RUN_ID, told)
    found = recheck(await file_in(store))
    assert found.failure is None
    assert found.verdict is INTACT
    assert found.document is not None
    assert found.document.release.decision is case.decision


@pytest.mark.spec("A5", "D14")
async def test_the_file_of_a_cancelled_run_is_intact() -> None:
    store = MemoryStore()

    async def cancel(arguments: ScriptedArguments) -> tuple[()]:
        await store.post(RUN_ID, "cancel", "somebody")
        await anyio.sleep_forever()
        return ()

    told = world([act("probe"), act("hang")], store=store, backends={"hang": cancel})
    await start(told, request())
    await drive(RUN_ID, told)
    found = recheck(await file_in(store))
    assert found.failure is None
    assert found.document is not None
    assert found.document.release.decision is DecisionId.D14


@pytest.mark.spec("A4", "A5")
def test_every_check_is_named_once_and_told_in_order(published: bytes) -> None:
    names = [check.name for check in recheck(published).checks]
    sealed, rest = ([name for name, *_ in rules] for rules in (SEAL, (*STRUCTURE, *CONTENT)))
    assert names == ["canonical bytes", *sealed, "chain", *rest]
    assert len(set(names)) == len(names)


@pytest.mark.spec("A4")
@pytest.mark.fault("F47")
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_no_damage_passes_as_intact(published: bytes, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(published) - 1))
    kind = data.draw(st.sampled_from(["change", "cut", "insert", "delete"]))
    match kind:
        case "change":
            byte = data.draw(st.integers(0, 255).filter(lambda b: b != published[place]))
            damaged = published[:place] + bytes([byte]) + published[place + 1 :]
        case "cut":
            damaged = published[:place]
        case "insert":
            more = data.draw(st.binary(min_size=1, max_size=4))
            damaged = published[:place] + more + published[place:]
        case _:
            damaged = published[:place] + published[place + 1 :]
    assert recheck(damaged).verdict is not INTACT


@pytest.mark.spec("A5")
@pytest.mark.parametrize("content", [b'{"format":"affidavit/0"}', b'{"format":"affidavit/1"}'])
def test_of_a_known_version_what_lacks_a_part_is_altered(content: bytes) -> None:
    """Unreadable is what nobody here can read; this one can be, and no run wrote it."""
    found = recheck(content)
    assert found.verdict is Verdict.ALTERED
    assert found.document is None
    assert found.hint


@pytest.mark.spec("A5")
@pytest.mark.parametrize(
    ("content", "verdict"),
    [
        (b"", Verdict.UNREADABLE),
        (b"\xff\xfe", Verdict.UNREADABLE),
        (b"[]", Verdict.UNREADABLE),
        (b"{}", Verdict.UNREADABLE),
        (b'{"format":"affidavit/9"}', Verdict.UNREADABLE),
        (b"[" * 100_000, Verdict.UNREADABLE),
        (b'{"a":' * 3_000 + b"1" + b"}" * 3_000, Verdict.UNREADABLE),
        (b'{"format":' + b"9" * 5_000 + b"}", Verdict.UNREADABLE),
        (b'{"format":NaN}', Verdict.UNREADABLE),
    ],
    ids=lambda value: str(value[:20]),
)
def test_what_is_no_affidavit_is_unreadable(content: bytes, verdict: Verdict) -> None:
    found = recheck(content)
    assert found.verdict is verdict
    assert found.document is None
    assert found.hint


@pytest.mark.spec("A5")
@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace(b'"format"', b' "format"'),
        lambda text: text + b"\n",
        lambda text: text.replace(b'"calls":', b'"calls":[],"calls":', 1),
        lambda text: text.replace(b'"format":"affidavit/1"', b'"extra":1,"format":"affidavit/1"'),
        lambda text: text.replace(b"checkout", b"\\u0063heckout", 1),
    ],
    ids=["a space", "a line break", "a doubled key", "an unknown part", "an escape"],
)
def test_other_bytes_of_the_same_content_are_altered(published: bytes, change: object) -> None:
    assert callable(change)
    found = recheck(change(published))
    assert found.verdict is Verdict.ALTERED
    assert failed(change(published)) == "canonical bytes"


def rewritten(document: Document, journal: tuple[Entry, ...]) -> bytes:
    """The file with other lines, its own digest made anew and the lines left as they are."""
    return write_document(closed(replace(document, journal=journal), document))


@pytest.mark.spec("A4")
@pytest.mark.fault("F47")
@pytest.mark.parametrize("how", ["delete", "double", "swap", "cut"])
def test_no_line_can_be_moved_without_a_trace(published: bytes, how: str) -> None:
    document = opened(published)
    lines = document.journal
    for place in range(len(lines) - 1):
        match how:
            case "delete":
                changed = lines[:place] + lines[place + 1 :]
            case "double":
                changed = lines[: place + 1] + lines[place:]
            case "swap":
                changed = (*lines[:place], lines[place + 1], lines[place], *lines[place + 2 :])
            case _:
                changed = lines[: place + 1]
        expected = {"ending"} if how == "cut" else {"chain"}
        found = recheck(rewritten(document, changed))
        wrong = {check.name for check in found.checks if check.passed is False}
        assert expected <= wrong, (how, place, wrong)


UNSEEN = {
    EventType.GUARDS_CHECKED: "the same step was admitted twice",
}
"""Lines of which one more or less changes nothing that the rest says."""


@pytest.mark.spec("A4", "A5", "N12")
def test_a_deleted_line_shows_also_after_the_chain_was_made_anew(published: bytes) -> None:
    """Whoever recomputes every hash still cannot take a line out that the answer rests on."""
    document = opened(published)
    for place, entry in enumerate(document.journal):
        without = document.journal[:place] + document.journal[place + 1 :]
        found = recheck(rewritten(document, chained(without)))
        if entry.type is EventType.SEMANTIC_GUARD_ATTEMPT:
            assert found.failure is not None
            assert found.failure.name == "decision"
        assert found.verdict is Verdict.ALTERED, entry.type


@pytest.mark.spec("A4", "A5", "N12")
def test_a_doubled_line_shows_also_after_the_chain_was_made_anew(published: bytes) -> None:
    document = opened(published)
    for place, entry in enumerate(document.journal):
        doubled = document.journal[: place + 1] + document.journal[place:]
        found = recheck(rewritten(document, chained(doubled)))
        if entry.type in UNSEEN:
            continue
        assert found.verdict is Verdict.ALTERED, entry.type


@pytest.mark.spec("A4")
def test_a_journal_of_another_run_is_refused(published: bytes) -> None:
    document = opened(published)
    other = chained([replace(e, run_id="run_fedcba9876543210") for e in document.journal])
    assert failed(rewritten(document, other)) == "chain"


@pytest.mark.spec("A5", "N13")
def test_the_forger_who_changes_nothing_is_not_seen(published: bytes, fallback: bytes) -> None:
    """The forger of these tests makes consistent files: what is caught is the content."""
    for content in (published, fallback):
        assert Forgery(opened(content)).make() == content
        assert recheck(content).verdict is INTACT
