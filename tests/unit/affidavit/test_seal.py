"""What goes into the file: what the answer rests on, and nothing that must not leave (A5, N2)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.adapters.memory_store import MemoryStore
from affidavit.affidavit.document import digest_of, read_document
from affidavit.affidavit.exact import write_exact
from affidavit.affidavit.seal import cited_calls
from affidavit.affidavit.seal_checks import signed_head
from affidavit.contract.agent import GiveUp
from affidavit.contract.errors import InternalFault
from affidavit.contract.journal import Entry, EventType
from affidavit.contract.report import ReleaseRecord
from affidavit.core.canonical import canonical_json
from affidavit.diagnose import drive, start
from affidavit.ports.store import NO_HEAD, SealedHead
from affidavit.release.reading import read_json
from tests.simulation.test_release_table import BAD_IDS, ONE_FIX, PLAIN, PatchingRepairer
from tests.support.checking import SEALER
from tests.support.runs import RUN_ID, request
from tests.support.worlds import Script, act, conclude, world
from tests.unit.affidavit.files import opened, sealed_by

pytestmark = pytest.mark.anyio

SECRET = "canary-4711"


async def ran(
    script: Script,
) -> tuple[tuple[Entry, ...], dict[str, bytes], ReleaseRecord]:
    """Lines, artifacts and answer of a whole run."""
    store = MemoryStore()
    told = world(script, store=store)
    await start(told, request())
    release = await drive(RUN_ID, told)
    assert isinstance(release, ReleaseRecord)
    contents = {item.digest: item.content for item in await store.artifacts(RUN_ID)}
    return await store.read(RUN_ID), contents, release


@pytest.mark.spec("A5", "K1")
async def test_the_sealed_file_is_the_run_s_own_lines_and_answer() -> None:
    entries, contents, release = await ran([act("probe"), conclude()])
    document = read_document(seal(entries, contents, release))
    assert document.release == release
    assert [entry.hash for entry in document.journal] == [entry.hash for entry in entries]
    assert document.request == request()
    assert [call.tool_call_id for call in document.calls] == ["call_0001"]


@pytest.mark.spec("A5", "C6", "C7")
def test_a_fallback_s_file_holds_every_source_that_it_lists() -> None:
    document = opened(sealed_by([act("probe", "search", "down"), GiveUp("no idea")]))
    fallback = document.release.fallback
    assert fallback is not None
    assert {call.tool for call in document.calls} == {"probe", "search"}
    assert {source.source_type for source in fallback.verified_sources} == {"probe", "search"}


@pytest.mark.spec("A5", "N2")
def test_a_published_file_holds_cited_calls_only_and_no_word_that_was_not_published() -> None:
    """Unknown fields of a draft, uncited results, raw answers and requests stay inside."""
    draft = conclude(reasoning=SECRET, notes=[SECRET])
    content = sealed_by([act("probe", "search", query=SECRET), draft])
    document = opened(content)
    assert [call.tool for call in document.calls] == ["probe"]
    text = content.decode()
    assert "search" not in text.split('"journal"', maxsplit=1)[0]
    assert "reasoning" not in text
    # The query is part of the cited projection's scope, and of nothing else.
    assert text.count(SECRET) == document.calls[0].result.decode().count(SECRET) + text.split(
        '"release"'
    )[1].count(SECRET)


@pytest.mark.spec("A5", "Q2", "D2")
def test_the_statements_of_a_repaired_report_are_those_that_the_guard_let_through() -> None:
    statement = {
        "kind": "value",
        "tool_call_id": "call_0099",
        "subject": "checkout",
        "attribute": "errors",
        "value": 5,
    }
    analysis = {**BAD_IDS[0], "statements": [statement]}
    more = ', {"pointer": "/analyses/0/statements/0/tool_call_id", "ids": ["call_0001"]}]'
    script: Script = [act("probe"), conclude(analyses=[analysis], conclusion=PLAIN)]
    patch = ONE_FIX.removesuffix("]") + more
    document = opened(sealed_by(script, repairer=PatchingRepairer(patch)))
    assert document.release.decision == "D2"
    (part, _) = document.statements
    assert not part.written
    assert json.loads(part.sentences[0][0])["tool_call_id"] == "call_0001"


@pytest.mark.spec("A5", "L5", "N15")
@pytest.mark.parametrize("gone", ["request", "draft", "result", "header"])
async def test_without_something_that_the_answer_needs_there_is_no_file(gone: str) -> None:
    entries, contents, release = await ran([act("probe"), conclude()])
    by_type = {entry.type: entry.data for entry in entries}
    address = {
        "request": by_type[EventType.RUN_STARTED]["request_digest"],
        "draft": by_type[EventType.COLLECTION_ENDED]["draft_digest"],
        "result": by_type[EventType.TOOL_CALL_READY]["result_digest"],
        "header": by_type[EventType.TOOL_CALL_INTENDED]["request_digest"],
    }[gone]
    with pytest.raises(InternalFault, match="cannot be sealed"):
        seal(entries, {k: v for k, v in contents.items() if k != address}, release)


@pytest.mark.spec("A5", "C12", "N18")
async def test_a_call_s_provenance_is_its_own() -> None:
    entries, contents, release = await ran([act("probe"), conclude()])
    address = next(
        str(e.data["request_digest"]) for e in entries if e.type is EventType.TOOL_CALL_INTENDED
    )
    header = {**json.loads(contents[address]), "provenance": "supplied"}
    document = read_document(seal(entries, {**contents, address: canonical_json(header)}, release))
    assert [str(call.provenance) for call in document.calls] == ["supplied"]


@pytest.mark.spec("C10")
async def test_each_cited_call_is_named_once_in_order_of_first_mention() -> None:
    _, _, release = await ran([act("probe", "probe", "search"), conclude()])
    assert cited_calls(release) == ("call_0001",)
    assert release.result is not None
    sentence = replace_calls(release, ("call_0002", "call_0001"))
    assert cited_calls(sentence) == ("call_0002", "call_0001")


def replace_calls(release: ReleaseRecord, calls: tuple[str, ...]) -> ReleaseRecord:
    """The answer with other citations in its first analysis."""
    plain = release.model_dump(mode="json")
    plain["result"]["analyses"][0]["tool_call_ids"] = list(calls)
    return ReleaseRecord.model_validate_json(json.dumps(plain))


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.text(st.characters(codec="utf-8"), max_size=8)
    | st.decimals(allow_nan=False, allow_infinity=False, places=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@pytest.mark.spec("C4")
@given(value=JSON)
def test_what_an_author_wrote_is_kept_exactly(value: object) -> None:
    """Written and read back, a decimal is the decimal that it was, digit by digit."""
    text = write_exact(value)
    again = read_json(text)
    assert again == value
    assert write_exact(again) == text


@pytest.mark.spec("C4")
@pytest.mark.parametrize("value", [Decimal("NaN"), float("inf"), b"bytes", object()])
def test_what_json_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="JSON"):
        write_exact(value)


@pytest.mark.spec("A5")
async def test_the_signed_head_names_the_file_and_the_run() -> None:
    entries, contents, release = await ran([act("probe"), conclude()])
    content, place = SEALER(entries, contents, release, None)
    document = opened(content)
    head = signed_head(document)
    assert (head.run_id, head.tenant, head.number) == (RUN_ID, release.tenant, 1)
    assert (head.lines, head.last_line) == (len(entries), entries[-1].hash)
    assert head.content == digest_of(document)
    assert place == SealedHead(release.tenant, 1, RUN_ID, head.digest(), NO_HEAD)
    again, second = SEALER(entries, contents, release, place)
    assert again != content
    assert (second.number, second.previous) == (2, place.digest)


def seal(
    entries: tuple[Entry, ...], contents: Mapping[str, bytes], release: ReleaseRecord
) -> bytes:
    """The file alone."""
    return SEALER(entries, contents, release, None)[0]
