"""The pages are true of the tree: what they name exists, and what is generated is fresh."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from docs import _generate

ROOT: Final = Path(__file__).parents[2]
FIRST_SCREEN_LINES: Final = 40
PAGES: Final = (*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")))


def page_id(page: Path) -> str:
    """The page's name in a test's id."""
    return page.relative_to(ROOT).as_posix()


def make_targets() -> set[str]:
    """Every target of the Makefile."""
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


def code_of(text: str) -> str:
    """Only the code of a page: its blocks and its spans."""
    return "\n".join(re.findall(r"```.*?```|`[^`\n]+`", text, re.DOTALL))


def make_commands(text: str) -> set[str]:
    """The targets that a page tells its reader to make."""
    return set(re.findall(r"(?m)(?:^|`|&& )make ([a-z][a-z-]*)", code_of(text)))


def relative_links(page: Path) -> list[str]:
    """What a page of this repository leads to, as written."""
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    return [target for target in targets if not re.match(r"[a-z]+:", target)]


def broken_links(page: Path) -> list[str]:
    """Relative links of a page that lead nowhere."""
    return [link for link in relative_links(page) if not (page.parent / link).exists()]


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_every_make_command_on_a_page_exists(page: Path) -> None:
    """Whoever types what a page says gets an answer."""
    assert make_commands(page.read_text(encoding="utf-8")) - make_targets() == set()


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_no_link_leads_nowhere(page: Path) -> None:
    """Every relative link has a file at its end."""
    assert broken_links(page) == []


def links_of(page: Path) -> set[Path]:
    """The files that a page leads to."""
    return {(page.parent / link).resolve() for link in relative_links(page)}


def test_the_list_of_pages_leads_to_every_page() -> None:
    """Nobody has to know a page's name; the README leads to the list."""
    index = ROOT / "docs" / "README.md"
    unlisted = set((ROOT / "docs").glob("*.md")) - links_of(index) - {index}
    assert unlisted == set()
    assert index in links_of(ROOT / "README.md")


def test_an_unlisted_page_would_be_seen(tmp_path: Path) -> None:
    """The search above can fail."""
    page = tmp_path / "page.md"
    page.write_text("[one](one.md#a) and [x](https://example.org/two.md)")
    assert links_of(page) == {tmp_path / "one.md"}


def test_a_broken_page_would_be_seen(tmp_path: Path) -> None:
    """The searches above can fail."""
    page = tmp_path / "page.md"
    page.write_text("Run `make coffee`; see [there](nowhere.md#x) and [x](https://example.org).")
    assert broken_links(page) == ["nowhere.md"]
    assert make_commands(page.read_text()) - make_targets() == {"coffee"}


def test_the_readme_begins_with_what_one_needs() -> None:
    """The first screen: what it is, the two commands, and what a bare Debian lacks."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    screen = "\n".join(readme[:FIRST_SCREEN_LINES])
    for needed in ("make demo", "make test", "apt-get install make python3-venv"):
        assert needed in screen


def test_every_listed_target_is_in_the_readme() -> None:
    """What `make` lists, the README names."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    listed = set(re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE))
    assert listed - make_commands((ROOT / "README.md").read_text(encoding="utf-8")) == set()


@pytest.mark.spec("E17")
@pytest.mark.parametrize("page", list(_generate.render()), ids=page_id)
def test_a_generated_page_is_fresh(page: Path) -> None:
    """What stands on disk is what its sources say; else: make docs."""
    assert page.read_text(encoding="utf-8") == _generate.render()[page], "run `make docs`"


def test_every_decision_record_has_a_number_a_status_and_a_reason() -> None:
    """Records are numbered without a gap, and say why."""
    records = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    numbers = [record.name[:4] for record in records]
    assert numbers == [f"{n:04d}" for n in range(1, len(records) + 1)]
    for record in records:
        text = record.read_text(encoding="utf-8")
        assert re.search(r"^Status: ", text, re.MULTILINE), record.name
        assert re.search(r"^## Why", text, re.MULTILINE), record.name


@pytest.mark.spec("V2", "V3")
def test_what_was_rejected_and_what_it_costs_is_one_link_away() -> None:
    """Five rejected designs and the risks are said, and the README and ARCHITECTURE lead there."""
    decisions = ROOT / "docs" / "decisions"
    rejected = (decisions / "0002-rejected-designs.md").read_text(encoding="utf-8")
    assert len(re.findall(r"^## (?!Why)", rejected, re.MULTILINE)) == 5
    risks = (decisions / "0003-costs-and-risks.md").read_text(encoding="utf-8")
    for words in ("A verdict is no proof", "meaning is structural", "full re-check is impossible"):
        assert words in risks
    assert "0003-costs-and-risks.md" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert "docs/decisions" in (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
