"""The console in a real browser: a run from start to evidence, and nothing from elsewhere."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from affidavit.cli.diagnosing import demo_incident
from affidavit.server.permits import Role
from tests.support.service import WAIT_S, Served, served

CHROMIUM: Final = shutil.which("chromium")
ARGUMENTS: Final = ("--no-sandbox", "--disable-background-networking", "--disable-sync")
HOSTILE: Final = "<script>alert(1)</script> {} {{ 7*7 }} \u202egnp\u202c \x07 </title>"

pytestmark = [
    pytest.mark.integration("chromium"),
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium here"),
]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service with the examples and drills."""
    folder = tmp_path_factory.mktemp("console")
    with served(folder, incidents=folder / "incidents", drills=True) as own:
        (folder / "incidents").mkdir()
        shutil.copytree(demo_incident().parent, folder / "incidents" / "acme")
        yield own


@pytest.fixture
def page(house: Served) -> Iterator[Page]:
    """A logged-in page; whatever the browser complains of, or asks of others, is a failure."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        context = browser.new_context(viewport={"width": 1100, "height": 900})
        opened, said, foreign = context.new_page(), [], []
        opened.set_default_timeout(WAIT_S * 1000)
        opened.on("console", lambda line: said.append(f"{line.type}: {line.text}"))
        opened.on("pageerror", lambda error: said.append(str(error)))
        opened.on("dialog", lambda dialog: said.append(f"dialog: {dialog.message}"))
        opened.on(
            "request",
            lambda request: (
                foreign.append(request.url)
                if not request.url.startswith((house.url, "data:"))
                else None
            ),
        )
        opened.goto(f"{house.url}/login")
        opened.get_by_label("Your key").fill(house.key(Role.ADMIN))
        opened.get_by_role("button", name="Log in").click()
        expect(opened.get_by_role("heading", name="Runs")).to_be_visible()
        yield opened
        browser.close()
        assert (said, foreign) == ([], [])


def picture(page: Page, name: str) -> None:
    """A picture for whoever wants to look, where AFFIDAVIT_PICTURES names a folder."""
    folder = os.environ.get("AFFIDAVIT_PICTURES")
    if folder:
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


@pytest.mark.spec("I4")
def test_a_run_is_started_watched_and_its_evidence_opened(house: Served, page: Page) -> None:
    """From the list to the record behind a sentence, without a line of console noise."""
    page.get_by_label("Start a run of").select_option("failing-storefront")
    page.get_by_role("button", name="Start").click()
    report_link = page.get_by_role("link", name="Read the report and its evidence")
    expect(report_link).to_be_visible(timeout=WAIT_S * 1000)
    expect(page.locator("#events .observation").first).to_be_visible()
    expect(page.locator("#events .done, #events .error")).to_have_count(1)
    page.locator("#gates summary").click()
    expect(page.locator("#timeline li").first).to_be_visible()
    picture(page, "run")
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    picture(page, "run-phone")
    report_link.click()
    sentence = page.locator("main details").first
    sentence.locator("summary").first.click()
    expect(sentence).to_have_attribute("open", "")
    picture(page, "report")


@pytest.mark.fault("R74")
def test_hostile_text_is_shown_and_breaks_nothing(house: Served, page: Page) -> None:
    """A question of markup, braces and controls is text in the list and on its own page."""
    asked = {"incident": "failing-storefront", "question": HOSTILE.replace("\x07", "")}
    answer = house.client(Role.OPERATOR).post("/api/v1/runs", json=asked)
    assert answer.status_code == 201, answer.text
    line = page.get_by_role("link", name="<script>alert(1)</script> {}")
    expect(line).to_contain_text("\u27e8U+202E\u27e9")
    picture(page, "runs")
    line.click()
    expect(page.locator("h1")).to_contain_text("{{ 7*7 }}")
    expect(page.locator("#events .done")).to_have_count(1)


@pytest.mark.parametrize("name", ["Approvals", "Drills", "Health"])
def test_every_page_opens(page: Page, name: str) -> None:
    """Each says its own heading, and has been filled."""
    page.get_by_role("link", name=name, exact=True).click()
    expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()
    expect(page.locator("[aria-busy=true]")).to_have_count(0)
    picture(page, name.lower())


def test_a_drill_is_run_and_its_status_shown(page: Page) -> None:
    """One fault in, one agent status out."""
    page.get_by_role("link", name="Drills", exact=True).click()
    page.get_by_role("button", name="Run the drill").click()
    expect(page.locator("#drilled")).to_contain_text("status")
    picture(page, "drilled")


def test_logging_out_ends_the_session(house: Served, page: Page) -> None:
    """The cookie opens nothing afterwards."""
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_label("Your key")).to_be_visible()
    picture(page, "login")
