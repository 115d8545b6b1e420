"""What can be set, where it comes from, and that nothing else can (F25)."""

from __future__ import annotations

from pathlib import Path

import pytest

from affidavit.contract.errors import InputRefused
from affidavit.settings import Settings, read_settings


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
        ({"AFFIDAVIT_": "x"}, "''"),
        ({"AFFIDAVIT_LIMITS": "huge"}, "limits"),
        ({"AFFIDAVIT_LIMITS": "Simple"}, "limits"),
    ],
)
def test_what_is_no_setting_refuses_the_start(environment: dict[str, str], named: str) -> None:
    with pytest.raises(InputRefused) as refused:
        read_settings(environment, Path("/nowhere"))
    assert refused.value.code == "SETTINGS_REFUSED"
    assert named in refused.value.message
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
