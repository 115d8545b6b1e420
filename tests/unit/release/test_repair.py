"""Repair can set ids, and nothing else (Q1 to Q5, N4)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from affidavit.contract.draft import DraftCandidate, read_candidate
from affidavit.contract.errors import ModelFailed
from affidavit.contract.violations import EvidenceCode, Violation
from affidavit.release.repair import (
    IDS_MAX,
    ITEMS_MAX,
    PATCH_CHARS_MAX,
    NoRepairer,
    PatchRefused,
    RepairUnavailable,
    apply_patch,
    is_mendable,
    read_patch,
    same_view,
)

DRAFT = {
    "analyses": [
        {
            "id": "A1",
            "kind": "NORMAL",
            "sentences": [
                {
                    "text": "It broke.",
                    "tool_call_ids": ["call_0009"],
                    "statements": [{"subject": "a", "value": 1, "tool_call_id": "call_0009"}],
                }
            ],
        },
        {
            "id": "A2",
            "kind": "NORMAL",
            "body": "It broke. Twice.",
            "tool_call_ids": ["call_0009"],
            "statements": [{"kind": "quote", "text": "broke", "tool_call_id": "call_0009"}],
        },
    ],
    "conclusion": {"text": "It broke.", "based_on_analysis_ids": []},
    "action_plan": [{"text": "Mend it.", "based_on_analysis_ids": ["A9"]}],
    "recommendations": [{"text": "Watch it.", "based_on_analysis_ids": ["A9"]}],
    "limitations": {"scope": "all", "missing_info": ["more"]},
}
BEFORE = read_candidate(DRAFT)


def patched(*items: tuple[str, list[str]]) -> DraftCandidate:
    text = json.dumps([{"pointer": pointer, "ids": ids} for pointer, ids in items])
    return apply_patch(BEFORE, read_patch(text))


@pytest.mark.spec("Q2")
@pytest.mark.parametrize(
    ("pointer", "ids", "get"),
    [
        ("/analyses/1/tool_call_ids", ["call_0001"], lambda d: d.analyses[1].tool_call_ids),
        (
            "/analyses/0/sentences/0/tool_call_ids",
            ["call_0001"],
            lambda d: d.analyses[0].sentences[0].tool_call_ids,
        ),
        (
            "/analyses/0/sentences/0/statements/0/tool_call_id",
            ["call_0001"],
            lambda d: (d.analyses[0].sentences[0].statements[0]["tool_call_id"],),
        ),
        (
            "/analyses/0/sentences/0/statements/0/tool_call_ids",
            ["call_0001", "call_0002"],
            lambda d: d.analyses[0].sentences[0].statements[0]["tool_call_ids"],
        ),
        (
            "/analyses/1/statements/0/tool_call_id",
            ["call_0001"],
            lambda d: tuple(
                {item.statements[0]["tool_call_id"] for item in d.analyses[1].sentences}
            ),
        ),
        (
            "/conclusion/based_on_analysis_ids",
            ["A1"],
            lambda d: d.conclusion.based_on_analysis_ids,
        ),
        (
            "/action_plan/0/based_on_analysis_ids",
            ["A1"],
            lambda d: d.action_plan[0].based_on_analysis_ids,
        ),
        (
            "/recommendations/0/based_on_analysis_ids",
            ["A1", "A2"],
            lambda d: d.recommendations[0].based_on_analysis_ids,
        ),
        (
            "/conclusion/sentences/0/tool_call_ids",
            ["call_0001"],
            lambda d: d.conclusion.sentences[0].tool_call_ids,
        ),
    ],
)
def test_a_patch_sets_ids_and_a_reader_sees_the_same(
    pointer: str, ids: list[str], get: Any
) -> None:
    """Every place that holds ids can be set, and nothing else moves."""
    after = patched((pointer, ids))
    assert tuple(get(after)) == tuple(ids)
    assert after != BEFORE
    assert same_view(BEFORE, after)


@pytest.mark.spec("Q2")
@pytest.mark.parametrize(
    "pointer",
    [
        "/analyses/0/body",
        "/analyses/0/kind",
        "/analyses/0/id",
        "/analyses/0",
        "/analyses",
        "",
        "/",
        "/limitations/scope",
        "/limitations/missing_info",
        "/conclusion/text",
        "/conclusion/tool_call_ids",
        "/analyses/0/based_on_analysis_ids",
        "/analyses/7/tool_call_ids",
        "/analyses/-1/tool_call_ids",
        "/analyses/01/tool_call_ids",
        "/analyses/１/tool_call_ids",
        "/analyses/0/tool_call_ids/0",
        "/analyses/0/statements/0/tool_call_id",
        "/analyses/0/sentences/0/statements/0/value",
        "/analyses/0/sentences/0/statements/9/tool_call_id",
        "/action_plan/0/text",
        "/action_plan/1/based_on_analysis_ids",
        "analyses/0/tool_call_ids",
        "/unknown",
    ],
)
def test_no_other_place_can_be_set(pointer: str) -> None:
    """Texts, kinds, scopes, values, and places that are not there."""
    with pytest.raises(PatchRefused):
        patched((pointer, ["call_0001"]))


@pytest.mark.spec("Q2")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "no patch",
        "{}",
        "[]",
        "[1]",
        '[{"pointer": "/analyses/0/tool_call_ids"}]',
        '[{"pointer": "/analyses/0/tool_call_ids", "ids": "call_0001"}]',
        '[{"pointer": "/analyses/0/tool_call_ids", "ids": []}]',
        '[{"pointer": "/analyses/0/tool_call_ids", "ids": [1]}]',
        '[{"pointer": "/analyses/0/tool_call_ids", "ids": [""]}]',
        '[{"pointer": "/analyses/0/tool_call_ids", "ids": ["call_0001"], "text": "new"}]',
        '[{"pointer": 1, "ids": ["call_0001"]}]',
        '[{"pointer": "/a", "pointer": "/b", "ids": ["call_0001"]}]',
        '```json\n[{"pointer": "/analyses/0/tool_call_ids", "ids": ["call_0001"]}]\n```',
        json.dumps([{"pointer": "/a", "ids": ["x"]}, {"pointer": "/a", "ids": ["y"]}]),
        json.dumps([{"pointer": f"/analyses/{n}/x", "ids": ["x"]} for n in range(ITEMS_MAX + 1)]),
        json.dumps([{"pointer": "/a", "ids": ["x"] * (IDS_MAX + 1)}]),
        json.dumps([{"pointer": "/a", "ids": ["x" * PATCH_CHARS_MAX]}]),
    ],
)
def test_a_patch_is_parsed_strictly(text: str) -> None:
    """Anything that is not exactly a list of pointers and ids."""
    with pytest.raises(PatchRefused):
        read_patch(text)


@pytest.mark.spec("Q2", "G7")
@pytest.mark.parametrize("id_", ["call 1", "c\u0430ll_0001", "../etc", "x" * 65])
def test_a_call_id_has_the_shape_of_one(id_: str) -> None:
    """No text slips in where an id belongs, and no look-alike."""
    with pytest.raises(PatchRefused):
        patched(("/analyses/1/tool_call_ids", [id_]))


@pytest.mark.spec("Q2")
def test_a_single_id_takes_one() -> None:
    """A statement's own call is one call."""
    with pytest.raises(PatchRefused):
        patched(("/analyses/1/statements/0/tool_call_id", ["call_0001", "call_0002"]))


def _changed(**parts: object) -> DraftCandidate:
    return read_candidate({**DRAFT, **parts})


@pytest.mark.spec("Q2")
@pytest.mark.parametrize(
    "after",
    [
        _changed(analyses=DRAFT["analyses"][:1]),  # type: ignore[index]  # it is a list
        _changed(analyses=None),
        _changed(conclusion={"text": "It broke!"}),
        _changed(conclusion=None),
        _changed(action_plan=[]),
        _changed(recommendations=[{"text": "Watch it"}]),
        _changed(limitations={"scope": "some", "missing_info": ["more"]}),
        _changed(limitations={"scope": "all", "missing_info": []}),
        _changed(limitations=None),
    ],
)
def test_whatever_a_reader_can_see_is_compared(after: DraftCandidate) -> None:
    """A text, a part, a scope, a request: each difference is seen."""
    assert not same_view(BEFORE, after)
    assert not same_view(after, BEFORE)


@pytest.mark.spec("Q4")
@pytest.mark.parametrize(
    ("pointer", "mendable"),
    [
        ("/analyses/0/tool_call_ids", True),
        ("/analyses/0/tool_call_ids/3", True),
        ("/analyses/0/sentences/1/statements/0/tool_call_id", True),
        ("/conclusion/based_on_analysis_ids/0", True),
        ("/conclusion", False),
        ("/conclusion/text", False),
        ("/analyses/0/body", False),
        ("/limitations/scope", False),
        ("", False),
    ],
)
def test_only_ids_can_be_mended(pointer: str, mendable: bool) -> None:
    """A missing body is no full view."""
    violation = Violation(code=EvidenceCode.ANALYSIS_UNBOUND, pointer=pointer)
    assert is_mendable(violation) is mendable


@pytest.mark.spec("Q5")
async def test_without_a_model_there_is_nobody_to_ask() -> None:
    """The repair is unavailable, which is a failure of nobody."""
    assert issubclass(RepairUnavailable, ModelFailed)
    with pytest.raises(RepairUnavailable):
        await NoRepairer().propose("q", BEFORE, ())


@pytest.mark.spec("N4", "Q3", "L7")
def test_a_repaired_draft_is_only_a_candidate() -> None:
    """What a patch gives is what an author gives: it proves nothing until the guard has run."""
    after = patched(("/conclusion/based_on_analysis_ids", ["A1"]))
    assert type(after) is DraftCandidate
