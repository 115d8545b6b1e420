"""What can be set, where it comes from, and that nothing else can (F25)."""

from __future__ import annotations

from pathlib import Path

import pytest

from affidavit.contract.errors import InputRefused
from affidavit.contract.limits import PROFILES, Limits
from affidavit.ports.model import Price
from affidavit.settings import Settings, read_settings, settings_of


@pytest.mark.fault("F25")
def test_defaults() -> None:
    assert read_settings({}, Path("/nowhere")) == Settings()
    assert Settings().limits == "standard"


def test_a_variable_comes_before_the_file(tmp_path: Path) -> None:
    (tmp_path / "affidavit.toml").write_text('store = "memory:"\nlimits = "simple"\n')
    assert read_settings({}, tmp_path) == Settings(store="memory:", limits="simple")
    both = read_settings({"AFFIDAVIT_LIMITS": "research"}, tmp_path)
    assert both == Settings(store="memory:", limits="research")


def test_another_file_can_be_named(tmp_path: Path) -> None:
    (tmp_path / "affidavit.toml").write_text('limits = "simple"\n')
    other = tmp_path / "other.toml"
    other.write_text('limits = "research"\n')
    assert read_settings({"AFFIDAVIT_CONFIG": str(other)}, tmp_path).limits == "research"
    with pytest.raises(InputRefused, match="no file"):
        read_settings({"AFFIDAVIT_CONFIG": str(tmp_path / "none")}, tmp_path)


def test_an_empty_variable_sets_nothing(tmp_path: Path) -> None:
    empty = {"AFFIDAVIT_STORE": "", "AFFIDAVIT_LIMITS": "", "AFFIDAVIT_CONFIG": ""}
    assert read_settings(empty, tmp_path) == Settings()


@pytest.mark.fault("F25")
@pytest.mark.parametrize(
    ("environment", "named"),
    [
        ({"AFFIDAVIT_STOER": "memory:"}, "stoer"),
        ({"AFFIDAVIT_": "x"}, "affidavit_'"),
        ({"AFFIDAVIT_LIMITS": "huge"}, "limits"),
        ({"AFFIDAVIT_LIMITS": "Simple"}, "limits"),
    ],
)
def test_what_is_no_setting_refuses_the_start(environment: dict[str, str], named: str) -> None:
    with pytest.raises(InputRefused) as refused:
        read_settings(environment, Path("/nowhere"))
    assert refused.value.code == "SETTINGS_REFUSED"
    assert named in refused.value.message.lower()
    assert "store, limits" in refused.value.hint


@pytest.mark.fault("F25")
@pytest.mark.parametrize(
    "content",
    [b"stoer = 1", b"limits = 5", b"store = 'memory:", b"\xff\xfe", b"[store]\npath = 'x'"],
)
def test_a_file_that_does_not_fit_refuses_the_start(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "affidavit.toml").write_bytes(content)
    with pytest.raises(InputRefused) as refused:
        read_settings({}, tmp_path)
    assert refused.value.code == "SETTINGS_REFUSED"


@pytest.mark.fault("F25")
def test_a_value_is_never_echoed() -> None:
    """It might be a secret in the wrong place."""
    with pytest.raises(InputRefused) as refused:
        read_settings({"AFFIDAVIT_LIMITS": "canary-4711"}, Path("/nowhere"))
    assert "canary" not in refused.value.message + refused.value.hint


@pytest.mark.parametrize(
    ("environment", "url"),
    [
        ({"XDG_STATE_HOME": "/state"}, "sqlite:/state/affidavit/runs.db"),
        ({"HOME": "/home/a"}, "sqlite:/home/a/.local/state/affidavit/runs.db"),
        (
            {"XDG_STATE_HOME": "relative", "HOME": "/home/a"},
            "sqlite:/home/a/.local/state/affidavit/runs.db",
        ),
        (
            {"XDG_STATE_HOME": "", "HOME": "/home/a"},
            "sqlite:/home/a/.local/state/affidavit/runs.db",
        ),
    ],
)
def test_the_default_store_is_in_the_state_folder(environment: dict[str, str], url: str) -> None:
    assert Settings().store_url(environment) == url
    assert Settings(store="memory:").store_url(environment) == "memory:"


TABLES = """
limits = "research"

[agent.limits.research]
budget-tokens = 1000
timeout = "90s"
budget-money = 0.25

[agent.guard]
circuit-breaker = false

[agent]
guard-plugins = ["night-freeze"]

[models.prices."openai:gpt-5"]
input = "1.25"
output = 10

[ceilings]
tenant-money = "2.50"

[retention]
payloads = "1d"
"""


@pytest.mark.spec("H5", "K3", "C2")
def test_tables_of_the_file_arrive_typed(tmp_path: Path) -> None:
    (tmp_path / "affidavit.toml").write_text(TABLES)
    told = read_settings({}, tmp_path)
    own = PROFILES["research"]
    assert told.agent.limits.of("research") == Limits(
        iterations=own.iterations,
        tokens=1000,
        timeout_s=90,
        tool_calls=own.tool_calls,
        concurrency=own.concurrency,
        money_micros=250_000,
    )
    assert told.agent.limits.of("simple") == PROFILES["simple"]
    assert not told.agent.guard.circuit_breaker
    assert told.agent.guard.budget
    assert told.agent.guard_plugins == ("night-freeze",)
    assert told.models.price_of("openai:gpt-5") == Price(
        input_micros=1_250_000, output_micros=10_000_000
    )
    assert told.models.price_of("openai:gpt-6") is None, "unknown is not zero"
    assert told.ceilings.rule().tenant_micros == 2_500_000
    assert told.retention.payloads_us == 86_400_000_000


@pytest.mark.spec("H5")
def test_every_setting_but_the_user_s_own_names_has_its_variable(tmp_path: Path) -> None:
    environment = {
        "AFFIDAVIT_AGENT_LIMITS_STANDARD_MAX_ITERATIONS": "3",
        "AFFIDAVIT_AGENT_LIMITS_STANDARD_TIMEOUT": "2m",
        "AFFIDAVIT_AGENT_LIMITS_STANDARD_BUDGET_MONEY": "0.01",
        "AFFIDAVIT_AGENT_GUARD_LOOP": "false",
        "AFFIDAVIT_AGENT_GUARD_ACCEPT_OFF": "audit, budget",
        "AFFIDAVIT_MODELS_AUTHOR": "exec:a b,openai:x",
        "AFFIDAVIT_MODEL_URL": "http://127.0.0.1:1",
    }
    told = read_settings(environment, tmp_path)
    standard = told.agent.limits.of("standard")
    assert (standard.iterations, standard.timeout_s, standard.money_micros) == (3, 120, 10_000)
    assert not told.agent.guard.loop
    assert told.agent.guard.accept_off == ("audit", "budget")
    assert told.models.author == ("exec:a b", "openai:x")
    variables = [item.variable for item in settings_of(Settings)]
    assert len(set(variables)) == len(variables), "no two settings share a variable"


@pytest.mark.spec("H5")
@pytest.mark.fault("F25")
@pytest.mark.parametrize(
    ("content", "key", "near"),
    [
        ("[agent.guard]\napprovall = true", "agent.guard.approvall", "agent.guard.approval"),
        ("[agent.guards]\naudit = true", "agent.guards", "agent.guard"),
        (
            "[agent.limits.standard]\nbudget_tokens = 5",
            "agent.limits.standard.budget_tokens",
            "budget-tokens",
        ),
        ("[agent.limits.huge]\ntimeout = 5", "agent.limits.huge", "simple, standard, research"),
        ("[agnet]\nx = 1", "agnet", "agent"),
        ("agent = 5", "agent", "[agent]"),
        ("[ceilings]\ntenant-tokens = -1", "ceilings.tenant-tokens", "tenant-tokens"),
        ("[retention]\npayloads = '2 hours'", "retention.payloads", "payloads"),
        ("[agent.limits.simple]\ntimeout = true", "agent.limits.simple.timeout", "timeout"),
        ("[agent.limits.simple]\nbudget-money = 'x'", "agent.limits.simple.budget-money", "money"),
        ("[agent.guard]\naudit = 'no'", "agent.guard.audit", "audit"),
        ("[models.prices.m]\ninput = 1\noutpt = 2", "models.prices.m.outpt", "prices"),
    ],
)
def test_a_wrong_key_or_value_of_a_table_refuses_and_names_the_nearest(
    tmp_path: Path, content: str, key: str, near: str
) -> None:
    (tmp_path / "affidavit.toml").write_text(content)
    with pytest.raises(InputRefused) as refused:
        read_settings({}, tmp_path)
    assert key in refused.value.message
    assert near in refused.value.hint


@pytest.mark.fault("F25")
def test_a_misspelt_variable_is_told_its_neighbour() -> None:
    with pytest.raises(InputRefused) as refused:
        read_settings({"AFFIDAVIT_AGENT_GUARD_APROVAL": "true"}, Path("/nowhere"))
    assert "AFFIDAVIT_AGENT_GUARD_APPROVAL" in refused.value.hint
