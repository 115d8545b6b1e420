"""docs/settings.md documents every setting, and nothing that is none."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from affidavit.contract.limits import PROFILES
from affidavit.settings import Settings, named_tables_of, settings_of

PAGE: Final = Path(__file__).parents[2] / "docs" / "settings.md"


def documented(page: str) -> set[tuple[str, str]]:
    """The settings of the page's tables: each key, with its variable or the word instead of it."""
    found: set[tuple[str, str]] = set()
    table = ""
    for line in page.splitlines():
        heading = re.fullmatch(r"### `\[([a-zA-Z.-]+)\]`", line)
        row = re.match(r"\| `([a-z-]+)` \| `?([A-Z_]+|in the file alone)`? \|", line)
        if heading:
            table = f"{heading[1]}."
        elif row:
            found.add((table + row[1], row[2]))
    return found


def test_every_setting_is_documented_and_nothing_else() -> None:
    assert documented(PAGE.read_text(encoding="utf-8")) == {
        (item.key, item.variable if item.has_variable else "in the file alone")
        for item in settings_of(Settings)
    } | {(item.key, "in the file alone") for item in named_tables_of(Settings)}


def test_every_setting_says_what_it_means() -> None:
    for setting in (*settings_of(Settings), *named_tables_of(Settings)):
        assert setting.field.description, setting.key


def profiles(page: str) -> dict[str, dict[str, int]]:
    """The profiles of the page's table, each limit by its name."""
    header = re.search(r"(?m)^\| profile \|(.*)$", page)
    assert header is not None
    limits = re.findall(r"`(\w+)`", header[1])
    rows = re.findall(r"(?m)^\| `(\w+)` \|((?: \d+ \|)+)$", page)
    return {
        name: dict(zip(limits, map(int, re.findall(r"\d+", numbers)), strict=True))
        for name, numbers in rows
    }


def test_the_profiles_on_the_page_are_the_code_s() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert profiles(page) == {
        name: limits.model_dump(exclude_none=True) for name, limits in PROFILES.items()
    }
    assert ("No profile limits money." in page) == all(
        limits.model_dump().get("money_micros") is None for limits in PROFILES.values()
    )


def test_an_undocumented_setting_would_be_seen() -> None:
    """The comparison above can fail."""
    row = "| `store` | `AFFIDAVIT_STORE` | x |\n"
    assert documented(row) == {("store", "AFFIDAVIT_STORE")}
    assert documented(f"### `[a.b]`\n{row}") == {("a.b.store", "AFFIDAVIT_STORE")}
    assert documented("| store | AFFIDAVIT_STORE |") == set()
