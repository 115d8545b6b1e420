"""Which guards are on: all, unless one is named; a name that is wrong is refused."""

from __future__ import annotations

import pytest

from affidavit.contract.errors import InputRefused
from affidavit.guards.toggles import NEEDED, GuardToggles, read_toggles

SEVEN = ("budget", "loop", "timeout", "circuit-breaker", "permission", "approval", "audit")


@pytest.mark.spec("H5")
def test_all_seven_are_on_and_each_can_be_turned_off_by_its_name() -> None:
    everything = read_toggles({})
    assert everything == GuardToggles()
    for name in SEVEN:
        toggles = read_toggles({name: False})
        off = [key for key, value in toggles.model_dump().items() if value is False]
        assert off == [name.replace("-", "_")]


@pytest.mark.spec("H5")
@pytest.mark.fault("F25")
@pytest.mark.parametrize("wrong", [{"aproval": True}, {"approvals": False}, {"Approval": True}])
def test_a_key_that_names_no_guard_refuses_the_start(wrong: dict[str, object]) -> None:
    with pytest.raises(InputRefused, match="names no guard") as caught:
        read_toggles(wrong)
    assert caught.value.code == "GUARD_UNKNOWN"
    assert "circuit-breaker" in caught.value.hint


@pytest.mark.spec("H5")
@pytest.mark.fault("F25")
@pytest.mark.parametrize("value", ["false", 0, None, "off"])
def test_a_value_that_is_no_truth_value_refuses_the_start(value: object) -> None:
    with pytest.raises(InputRefused, match=r"agent\.guard\.audit"):
        read_toggles({"audit": value})


@pytest.mark.spec("H5")
@pytest.mark.parametrize("name", SEVEN)
def test_a_service_does_without_a_needed_guard_only_when_it_is_named(name: str) -> None:
    off = read_toggles({name: False})
    if name not in NEEDED:
        off.refuse_unsafe()
        return
    with pytest.raises(InputRefused, match=f"without the {name} guard") as caught:
        off.refuse_unsafe()
    assert caught.value.code == "GUARD_OFF"
    read_toggles({name: False, "accept-off": [name]}).refuse_unsafe()
    others = [other for other in NEEDED if other != name]
    with pytest.raises(InputRefused, match=name):
        read_toggles({name: False, "accept-off": others}).refuse_unsafe()


@pytest.mark.spec("H5")
def test_toggles_cannot_be_changed_once_they_are_read() -> None:
    toggles = read_toggles({})
    with pytest.raises(ValueError, match="frozen"):
        toggles.audit = False  # type: ignore[misc]
