"""Deny by default; roles, predicates; and approval: no certainty of an agent's stands in for it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.contract.agent import ApprovalStatus, GuardResult
from affidavit.contract.states import AgentStatus
from affidavit.guards.approval import ApprovalGuard
from affidavit.guards.permission import (
    DENIED,
    PermissionGuard,
    Permit,
    Policy,
    Predicate,
    Test,
    permit_reads,
)
from tests.unit.guards.states import REQUEST, action, spec, state

SRE = REQUEST.model_validate({**dict(REQUEST), "roles": ("sre", "on-call")})
REFUSED = GuardResult(refusal=DENIED)
RESTART = spec("restart", effect="write")


@pytest.mark.spec("H9")
def test_an_empty_table_denies_everything_and_a_missing_action_is_denied() -> None:
    guard = PermissionGuard(Policy())
    assert guard.check(state(), REQUEST, action()) == REFUSED
    assert guard.check(state(), REQUEST, None) == REFUSED


@pytest.mark.spec("H9")
def test_reading_tools_are_allowed_by_name_and_effects_are_not() -> None:
    guard = PermissionGuard(permit_reads((spec(), RESTART)))
    assert guard.check(state(), REQUEST, action()).passed
    assert guard.check(state(), SRE, action(RESTART)) == REFUSED
    assert guard.check(state(), REQUEST, action(spec("probe2"))) == REFUSED


@pytest.mark.spec("H9")
def test_a_row_may_want_a_role_and_the_role_is_the_requesters() -> None:
    guard = PermissionGuard(Policy((Permit("restart", frozenset({"sre"})),)))
    assert guard.check(state(), SRE, action(RESTART)).passed
    assert guard.check(state(), REQUEST, action(RESTART)) == REFUSED
    pretending = action(RESTART, roles=("sre",), role="sre")
    assert guard.check(state(), REQUEST, pretending) == REFUSED


@pytest.mark.spec("H9")
@pytest.mark.parametrize(
    ("test", "value", "holds", "fails"),
    [
        ("is", "shop", ("shop",), ("Shop", "shop ", 1, True, None)),
        ("is not", "kube-system", ("shop",), ("kube-system", 1, None)),
        ("one of", ("a", "b"), ("a", "b"), ("ab", 1, None)),
        ("none of", ("a", "b"), ("c",), ("a", 1, None)),
        ("at most", 10, (10, -1, 9.5), (11, "5", True, None, float("nan"))),
        ("at least", 10, (10, 11), (9, "11", True, None)),
        ("absent", None, (None,), ("", 0, False)),
        ("is", 1, (1,), (True, 1.0, "1")),
    ],
)
def test_predicates_hold_for_what_they_name_and_for_nothing_like_it(
    test: Test, value: object, holds: tuple[object, ...], fails: tuple[object, ...]
) -> None:
    predicate = Predicate("x", test, value)
    assert all(predicate.holds({"x": given}) for given in holds)
    assert not any(predicate.holds({"x": given}) for given in fails)
    assert predicate.holds({}) == (test == "absent")


@pytest.mark.spec("H9")
def test_every_condition_of_one_row_must_hold() -> None:
    where = (Predicate("namespace", "is", "shop"), Predicate("replicas", "at most", 3))
    guard = PermissionGuard(Policy((Permit("probe", where=where),)))
    assert guard.check(state(), REQUEST, action(namespace="shop", replicas=2)).passed
    assert guard.check(state(), REQUEST, action(namespace="shop", replicas=4)) == REFUSED
    assert guard.check(state(), REQUEST, action(namespace="shop")) == REFUSED


VALUES = st.one_of(st.none(), st.booleans(), st.integers(), st.text(), st.lists(st.integers()))
TESTS: list[Test] = ["is", "is not", "one of", "none of", "at most", "at least", "absent"]


@pytest.mark.spec("H9")
@given(test=st.sampled_from(TESTS), value=VALUES, given_=VALUES)
def test_a_predicate_always_answers_and_a_wrong_one_opens_no_door(
    test: Test, value: object, given_: object
) -> None:
    held = Predicate("x", test, value).holds({"x": given_})
    assert isinstance(held, bool)
    if test in ("one of", "none of"):
        assert not held, "a list of values is a tuple; anything else holds for nothing"
    if test in ("at most", "at least") and not isinstance(given_, int):
        assert not held


@pytest.mark.spec("H10")
@pytest.mark.fault("R9")
@pytest.mark.parametrize(
    ("approval", "word"),
    [
        (None, GuardResult(AgentStatus.NEED_APPROVAL, "NEED_APPROVAL")),
        (ApprovalStatus.PENDING, GuardResult(AgentStatus.NEED_APPROVAL, "NEED_APPROVAL")),
        (ApprovalStatus.APPROVED, GuardResult()),
        (ApprovalStatus.REJECTED, GuardResult(refusal="APPROVAL_REJECTED")),
        (ApprovalStatus.EXPIRED, GuardResult(refusal="APPROVAL_EXPIRED")),
        (ApprovalStatus.STALE, GuardResult(refusal="APPROVAL_STALE")),
    ],
)
def test_an_effect_passes_with_a_persons_approval_alone(
    approval: ApprovalStatus | None, word: GuardResult
) -> None:
    sure = action(RESTART, approval, confidence=1)
    assert ApprovalGuard().check(state(), REQUEST, sure) == word


@pytest.mark.spec("H10")
def test_reading_needs_no_approval_unless_the_tool_is_named() -> None:
    assert ApprovalGuard().check(state(), REQUEST, action()).passed
    named = ApprovalGuard(also=frozenset({"probe"}))
    assert named.check(state(), REQUEST, action()).status is AgentStatus.NEED_APPROVAL
    assert ApprovalGuard().check(state(), REQUEST, None).status is AgentStatus.FAILED
