"""docs/settings.md documents every setting, and nothing that is none."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from affidavit.contract.limits import PROFILES
from affidavit.settings import PREFIX, Settings

PAGE: Final = Path(__file__).parents[2] / "docs" / "settings.md"


def documented(page: str) -> dict[str, str]:
    """The settings of the page's table, each with its variable."""
    return dict(re.findall(r"(?m)^\| `([a-z_]+)` \| `([A-Z_]+)` \|", page))


def test_every_setting_is_documented_and_nothing_else() -> None:
    assert documented(PAGE.read_text(encoding="utf-8")) == {
        name: f"{PREFIX}{name.upper()}" for name in Settings.model_fields
    }


def test_every_setting_says_what_it_means() -> None:
    for name, setting in Settings.model_fields.items():
        assert setting.description, name


def profiles(page: str) -> dict[str, tuple[int, ...]]:
    """The profiles of the page's table, each with its numbers in the order of `Limits`."""
    rows = re.findall(r"(?m)^\| `(\w+)` \|((?: \d+ \|){5})$", page)
    return {name: tuple(map(int, re.findall(r"\d+", numbers))) for name, numbers in rows}


def test_the_profiles_on_the_page_are_the_code_s() -> None:
    assert profiles(PAGE.read_text(encoding="utf-8")) == {
        name: tuple(limits.model_dump().values()) for name, limits in PROFILES.items()
    }


def test_an_undocumented_setting_would_be_seen() -> None:
    """The comparison above can fail."""
    assert documented("| `store` | `AFFIDAVIT_STORE` | x |\n") == {"store": "AFFIDAVIT_STORE"}
    assert documented("| store | AFFIDAVIT_STORE |") == {}
