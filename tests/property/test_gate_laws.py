"""Laws of the gate: an oracle that knows the truth, and submitters that know no shame."""

from __future__ import annotations

import copy
from functools import partial
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from affidavit.affidavit.recheck import Verdict
from affidavit.application.gate import order_of, reread
from affidavit.contract.errors import InputRefused
from affidavit.contract.journal import EventType
from affidavit.contract.states import Provenance, ReleaseOutcome
from tests.support.checking import recheck
from tests.support.gates import ASIDE, PODS, Gated, Report, call, gated, report, said

MANY = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)

TRUE = dict(PODS)
names = st.sampled_from([name for name, _ in PODS])
numbers = st.sampled_from([*TRUE.values(), 0, 1, 90])
claims = st.lists(st.tuples(names, numbers), min_size=1, max_size=6)


def run(raw: object, *, withdraw: bool = False) -> Gated:
    """The whole run of an answer."""
    return anyio.run(partial(gated, raw, withdraw=withdraw))


def claiming(claimed: list[tuple[str, int]], concluded: tuple[str, int]) -> Report:
    """A report that says these restarts of these pods."""
    raw = report(conclusion=said(*concluded))
    raw["draft"]["analyses"][0]["sentences"] = [said(name, number) for name, number in claimed]
    return raw


@pytest.mark.spec("M4", "M5", "D1", "D4", "M6")
@MANY
@given(claims, st.tuples(names, numbers), st.booleans())
def test_what_is_published_is_true(
    claimed: list[tuple[str, int]], concluded: tuple[str, int], withdraw: bool
) -> None:
    """Nothing false gets out, with or without consent to withdrawal; and what is true does."""
    true = all(TRUE[name] == number for name, number in [*claimed, concluded])
    found = run(claiming(claimed, concluded), withdraw=withdraw)
    assert (found.release.outcome is ReleaseOutcome.SUCCESS) == true
    assert recheck(found.file).verdict is Verdict.INTACT_SIGNER_UNKNOWN


@pytest.mark.spec("M6", "D2b")
@settings(MANY, max_examples=25)
@given(st.integers(0, len(PODS)), st.booleans(), st.booleans())
def test_an_aside_is_withdrawn_wherever_it_stands_and_a_lie_nowhere(
    place: int, lies: bool, withdraw: bool
) -> None:
    """The order of the sentences decides nothing."""
    raw = report(conclusion=said("gates-1", 90 if lies else 9))
    sentences = raw["draft"]["analyses"][0]["sentences"]
    sentences.insert(place, {"text": ASIDE, "tool_call_ids": ["pods"]})
    found = run(raw, withdraw=withdraw)
    published = found.release.outcome is ReleaseOutcome.SUCCESS
    assert published == (withdraw and not lies)
    if published:
        assert found.release.result is not None
        assert found.release.result.withdrawn == 1
        assert ASIDE not in found.texts()


@pytest.mark.spec("M4", "G11")
@settings(MANY, max_examples=25)
@given(st.permutations(range(len(PODS))), st.integers(0, 2), st.booleans())
def test_order_repetition_and_unrelated_records_change_nothing(
    order: list[int], where: int, lies: bool
) -> None:
    """Sentences in any order, a further true call anywhere, the check made twice: one outcome."""
    raw = report(conclusion=said("gates-1", 90 if lies else 9))
    other = copy.deepcopy(raw)
    sentences = other["draft"]["analyses"][0]["sentences"]
    other["draft"]["analyses"][0]["sentences"] = [sentences[place] for place in order]
    further = call(id="disk", tool="df", arguments={"host": "quay-3"}, result="/dev/sda1 41%")
    other["tool_calls"].insert(min(where, 1), further)
    outcomes = {run(item).release.outcome for item in (raw, raw, other)}
    assert len(outcomes) == 1
    assert (ReleaseOutcome.SUCCESS in outcomes) is not lies


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=12)
    | st.sampled_from(["pods", "A1", "recorded", "SUPPORTED", "NORMAL"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(max_size=6) | st.sampled_from(["id", "text", "größe"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)


def places(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Every place in a JSON value."""
    inner: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value))
    return [path, *(place for key, item in inner for place in places(item, (*path, key)))]


@st.composite
def mangled(draw: st.DrawFn) -> object:
    """A report in which one to three places hold something else, or nothing."""
    raw: Any = report()
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from([place for place in places(raw) if place]))
        holder: Any = raw
        for key in path[:-1]:
            holder = holder[key]
        if draw(st.booleans()) and isinstance(holder, dict):
            del holder[path[-1]]
        else:
            holder[path[-1]] = draw(json_values)
    return raw


@pytest.mark.spec("N18", "C12", "G0", "L6", "K0")
@settings(MANY, max_examples=150)
@given(mangled(), st.booleans())
def test_whatever_is_handed_in_ends_in_one_refusal_or_one_decision(
    raw: object, withdraw: bool
) -> None:
    """Never a traceback, never *recorded*, never a published number that is not there."""
    try:
        order = order_of(raw, withdraw=withdraw)
    except InputRefused as refused:
        said_where = refused.message
    else:
        said_where = ""
    if said_where:
        assert said_where.startswith("gate input, /")
        assert "\n" not in said_where
        return
    assert reread(order.content) == order
    found = run(raw, withdraw=withdraw)
    assert found.release.provenance is Provenance.SUPPLIED
    assert found.kinds().count(EventType.RELEASE_DECISION) == 1
    checked = recheck(found.file)
    assert checked.verdict is Verdict.INTACT_SIGNER_UNKNOWN, checked.failure
