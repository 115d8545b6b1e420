"""Whatever a repairer answers, a reader sees the same or the answer is refused (Q2)."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affidavit.contract.draft import DraftCandidate, read_candidate
from affidavit.release.repair import PatchRefused, apply_patch, read_patch, same_view

LAW = settings(deadline=None)
"""Speed is measured in benchmarks, never asserted by a clock in a test."""

fields = st.sampled_from(
    [
        "tool_call_ids",
        "tool_call_id",
        "based_on_analysis_ids",
        "text",
        "body",
        "kind",
        "id",
        "value",
    ]
)
places = st.sampled_from(["0", "1", "7", "-1", "00", "~1", ""])
tokens = st.one_of(
    st.sampled_from(["analyses", "conclusion", "action_plan", "recommendations", "limitations"]),
    st.sampled_from(["sentences", "statements"]),
    fields,
    places,
)
good_pointers = st.builds(
    lambda part, place, rest: f"/{part}/{place}/{rest}",
    st.sampled_from(["analyses", "action_plan"]),
    st.sampled_from(["0", "1"]),
    st.sampled_from(
        [
            "tool_call_ids",
            "based_on_analysis_ids",
            "sentences/0/tool_call_ids",
            "sentences/0/statements/0/tool_call_id",
            "statements/0/tool_call_id",
        ]
    ),
)
pointers = good_pointers | st.lists(tokens, max_size=6).map(lambda parts: "/" + "/".join(parts))
ids = st.sampled_from(["call_0001", "call_0002", "A1", "A2", "a b", "", "根因", "x" * 300])
items = st.fixed_dictionaries(
    {"pointer": pointers, "ids": st.lists(ids, max_size=3)},
    optional={"text": st.just("a new conclusion")},
)
answers = st.lists(items, max_size=4).map(json.dumps) | st.text(max_size=40)

statement = st.fixed_dictionaries({"value": st.integers(), "tool_call_id": st.just("call_0009")})
sentence = st.fixed_dictionaries(
    {"text": st.text(max_size=20), "statements": st.lists(statement, max_size=2)}
)
part = st.fixed_dictionaries(
    {"text": st.text(max_size=20), "body": st.text(max_size=20)},
    optional={
        "sentences": st.lists(sentence, max_size=2),
        "statements": st.lists(statement, max_size=2),
        "tool_call_ids": st.lists(ids, max_size=2),
        "based_on_analysis_ids": st.lists(ids, max_size=2),
    },
)
drafts = st.fixed_dictionaries(
    {
        "analyses": st.lists(part, max_size=2),
        "conclusion": part | st.none(),
        "action_plan": st.lists(part, max_size=2),
        "limitations": st.fixed_dictionaries({"scope": st.text(max_size=10)}),
    }
).map(read_candidate)


def readable(value: object) -> object:
    """Everything of a draft but the ids, by a way of its own: field by field, as plain data."""
    if isinstance(value, dict):
        return {
            key: readable(item)
            for key, item in value.items()
            if key not in {"tool_call_id", "tool_call_ids", "based_on_analysis_ids"}
        }
    if isinstance(value, (list, tuple)):
        return [readable(item) for item in value]
    return value


@pytest.mark.spec("Q2", "N1")
@LAW
@given(drafts, answers)
def test_a_repair_keeps_the_meaning(before: DraftCandidate, answer: str) -> None:
    """A patch is refused, or a reader sees the same afterwards."""
    try:
        after = apply_patch(before, read_patch(answer))
    except PatchRefused:
        return
    assert same_view(before, after)
    assert readable(asdict(after)) == readable(asdict(before))


@pytest.mark.spec("Q2")
@LAW
@given(drafts, drafts)
def test_two_drafts_look_alike_only_if_they_read_alike(
    one: DraftCandidate, other: DraftCandidate
) -> None:
    """`same_view` against a second writing of what a reader sees."""
    assert same_view(one, other) == (readable(asdict(one)) == readable(asdict(other)))
    assert same_view(one, one)
