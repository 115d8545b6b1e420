"""Guards of other packages: real packages with real metadata, loaded only when they are named."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from affidavit.contract.errors import InputRefused
from affidavit.guards.budget import BudgetGuard
from affidavit.guards.chain import in_order
from affidavit.guards.plugins import load_guards
from affidavit.guards.timeout import TimeoutGuard

Install = Callable[..., None]

FREEZE = """
from affidavit.contract.agent import GuardResult, Moment
from affidavit.contract.states import AgentStatus
from affidavit.guards.chain import CostClass

class NightFreeze:
    name = "night-freeze"
    order = 25
    cost = CostClass.MEMORY
    when = Moment.BEFORE_THINKING

    def check(self, state, request, action):
        return GuardResult(AgentStatus.CANCELLED, "FROZEN")
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Install a package with one module and one entry point, as pip would lay it out."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(module: str, source: str, name: str = "night-freeze", target: str = "") -> None:
        (tmp_path / f"{module}.py").write_text(source)
        info = tmp_path / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
        entry = target or f"{module}:NightFreeze"
        (info / "entry_points.txt").write_text(f"[affidavit.guards]\n{name} = {entry}\n")
        sys.modules.pop(module, None)

    return make


@pytest.mark.spec("H3")
def test_a_guard_of_another_package_takes_its_place_without_a_change_here(install: Install) -> None:
    install("acme_freeze", FREEZE)
    chain = in_order([BudgetGuard(), TimeoutGuard(), *load_guards(("night-freeze",))])
    assert [guard.name for guard in chain.guards] == ["budget", "night-freeze", "timeout"]


@pytest.mark.spec("H3")
def test_what_is_installed_and_not_named_is_not_even_imported(install: Install) -> None:
    install("acme_evil", "raise SystemExit('imported')")
    assert load_guards(()) == ()
    assert "acme_evil" not in sys.modules


@pytest.mark.spec("H3")
def test_a_name_that_nobody_offers_is_refused() -> None:
    with pytest.raises(InputRefused, match="'nobodys'") as caught:
        load_guards(("nobodys",))
    assert caught.value.code == "GUARD_UNKNOWN"


@pytest.mark.spec("H3")
def test_a_name_that_two_offer_is_refused(install: Install) -> None:
    install("acme_one", FREEZE)
    install("acme_two", FREEZE)
    with pytest.raises(InputRefused, match="both offer") as caught:
        load_guards(("night-freeze",))
    assert caught.value.code == "GUARD_AMBIGUOUS"


@pytest.mark.spec("H3")
@pytest.mark.parametrize(
    "source",
    [
        "NightFreeze = 7",
        "class NightFreeze:\n    name = 'night-freeze'",
        "class NightFreeze:\n    def __init__(self):\n        raise OSError('no')",
        "import nowhere_at_all",
        FREEZE.replace("CostClass.MEMORY", "0"),
    ],
    ids=["no class", "no guard", "raises", "not importable", "a cost that is none"],
)
def test_what_is_no_guard_is_refused_by_name(install: Install, source: str) -> None:
    install("acme_broken", source)
    with pytest.raises(InputRefused, match="'night-freeze' cannot be made") as caught:
        load_guards(("night-freeze",))
    assert caught.value.code == "GUARD_MALFORMED"
