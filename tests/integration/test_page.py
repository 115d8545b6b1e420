"""The page in a real browser: nothing is asked of a network, nothing refused, all is reachable."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import anyio
import pytest
from playwright.sync_api import Browser, BrowserContext, Download, Page, sync_playwright

from affidavit.adapters.memory_store import MemoryStore
from affidavit.affidavit.page import render_page
from affidavit.cli.diagnosing import demo_incident
from affidavit.contract.agent import GiveUp
from affidavit.contract.states import SemanticVerdict
from affidavit.diagnose import drive, start
from affidavit.wiring import incident_world, request_of
from tests.support.checking import recheck
from tests.support.pages import HOSTILE, page_of, worded
from tests.support.worlds import ScriptedJudge, act, conclude
from tests.unit.affidavit.files import sealed_by

CHROMIUM: Final = shutil.which("chromium")
ARGUMENTS: Final = ("--no-sandbox", "--disable-background-networking", "--disable-sync")
PUBLISHED_INCIDENT: Final = "failing-storefront"

pytestmark = [
    pytest.mark.integration("chromium"),
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium here"),
]


@dataclass
class Seen:
    """What a browser said while it showed a page: every one of these is a failure."""

    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        """Note every console line, error, dialog and request."""
        page.on("console", lambda line: self.errors.append(f"{line.type}: {line.text}"))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("dialog", lambda dialog: self.errors.append(f"dialog: {dialog.message}"))
        page.on("request", lambda request: self.requests.append(request.url))
        page.add_init_script(
            "document.addEventListener('securitypolicyviolation', "
            "event => console.error('policy ' + event.violatedDirective + event.blockedURI))"
        )

    def clean(self, address: str) -> None:
        """Only the page itself was asked for, and nothing was said."""
        assert self.errors == []
        assert {url.split("#")[0] for url in self.requests} == {address}


@dataclass
class Opened:
    """A page in the browser."""

    page: Page
    seen: Seen
    address: str


def open_page(context: BrowserContext, folder: Path, html: str, name: str = "page") -> Opened:
    place = folder / f"{name}.html"
    place.write_text(html, encoding="utf-8")
    page, seen = context.new_page(), Seen()
    seen.watch(page)
    page.goto(place.as_uri())
    return Opened(page, seen, place.as_uri())


async def _diagnosed(name: str, *verdicts: SemanticVerdict) -> bytes:
    folder = demo_incident().parent / name
    store = MemoryStore()
    async with incident_world(folder, store) as (bare, incident):
        request = request_of(incident, folder, question="", profile="standard", requested_by="t")
        world = bare
        if verdicts:
            judge = ScriptedJudge(list(verdicts))
            world = replace(bare, examiner=replace(bare.examiner, judge=judge))
        await start(world, request)
        await drive(request.run_id, world)
    (content,) = (
        item.content for item in await store.artifacts(request.run_id) if item.kind == "affidavit"
    )
    return content


def rendered(content: bytes) -> str:
    return render_page(content, recheck(content))


@dataclass(frozen=True)
class Files:
    """Files of whole runs: two of recorded incidents, and two small ones to put words into."""

    published: bytes
    fallen_back: bytes
    small: tuple[bytes, bytes]


@pytest.fixture(scope="module")
def files() -> Files:
    """Made before the browser is, whose own event loop would be in the way."""
    return Files(
        anyio.run(_diagnosed, PUBLISHED_INCIDENT),
        anyio.run(_diagnosed, "slow-storefront", SemanticVerdict.UNSUPPORTED),
        (
            sealed_by([act("probe"), conclude()]),
            sealed_by([act("probe", "search"), GiveUp("nothing more")]),
        ),
    )


@pytest.fixture(scope="module")
def browser(files: Files) -> Iterator[Browser]:
    """One browser for all tests here, each in a context of its own."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture
def published(files: Files) -> bytes:
    """The file of a recorded incident whose diagnosis was published."""
    return files.published


@pytest.fixture
def fallen_back(files: Files) -> bytes:
    """The file of a recorded incident without a result, with leads and plots."""
    return files.fallen_back


@pytest.mark.spec("A5", "C10")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_each_sentence_opens_its_evidence_by_keyboard_alone(
    browser: Browser, tmp_path: Path, published: bytes, scheme: str
) -> None:
    context = browser.new_context(color_scheme=scheme)  # type: ignore[arg-type]  # a str of two
    opened = open_page(context, tmp_path, rendered(published))
    page = opened.page
    first = page.locator("#answer details.sentence").first
    assert first.get_attribute("open") is None
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('#answer') !== null"):
            break
    page.keyboard.press("Enter")
    assert first.get_attribute("open") is not None
    proof = first.locator(".proof")
    assert proof.is_visible()
    assert "statement:" in proof.inner_text()
    assert re.search(r"fact #\d", proof.inner_text())
    first.locator(".steps a").first.click()
    call = page.url.split("#")[1]
    assert page.locator(f"#{call}").get_attribute("open") is not None, "a link opens what it names"
    assert page.locator(f"#{call} .fact").first.is_visible()
    opened.seen.clean(opened.address)
    context.close()


@pytest.mark.spec("A5")
def test_a_phone_shows_it_whole_and_legible(
    browser: Browser, tmp_path: Path, published: bytes, fallen_back: bytes
) -> None:
    """Nothing is wider than the screen, with everything open; no letter is smaller than 9 px."""
    context = browser.new_context(viewport={"width": 360, "height": 740}, device_scale_factor=2)
    for name, content in (("published", published), ("fallback", fallen_back)):
        opened = open_page(context, tmp_path, rendered(content), name)
        page = opened.page
        page.click("#open-all")
        assert page.locator("details:not([open])").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        smallest = page.evaluate(
            "Math.min(...[...document.querySelectorAll('body *')].filter(e => e.innerText)"
            ".map(e => parseFloat(getComputedStyle(e).fontSize)))"
        )
        assert smallest >= 9
        opened.seen.clean(opened.address)
    context.close()


@pytest.mark.spec("A5")
def test_it_works_without_javascript(browser: Browser, tmp_path: Path, published: bytes) -> None:
    context = browser.new_context(java_script_enabled=False)
    opened = open_page(context, tmp_path, rendered(published))
    first = opened.page.locator("#answer details.sentence").first
    first.locator("summary").click()
    assert first.locator(".proof").is_visible()
    assert not opened.page.locator("#open-all").is_visible(), "a button that does nothing is none"
    assert opened.page.locator("#file").is_visible()
    opened.seen.clean(opened.address)
    context.close()


@pytest.mark.spec("A5")
def test_the_embedded_file_is_saved_byte_for_byte(
    browser: Browser, tmp_path: Path, published: bytes
) -> None:
    context = browser.new_context(accept_downloads=True)
    opened = open_page(context, tmp_path, rendered(published))
    with opened.page.expect_download() as coming:
        opened.page.click("#file")
    saved: Download = coming.value
    assert saved.suggested_filename.endswith(".affidavit")
    assert saved.path().read_bytes() == published
    assert opened.seen.errors == []
    context.close()


@pytest.mark.spec("A5")
def test_a_long_file_is_saved_from_its_block(
    browser: Browser, tmp_path: Path, published: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("affidavit.affidavit.page_custody.LINK_CHARS_MAX", 1000)
    context = browser.new_context(accept_downloads=True)
    opened = open_page(context, tmp_path, rendered(published))
    with opened.page.expect_download() as coming:
        opened.page.click("#save")
    assert coming.value.path().read_bytes() == published
    assert opened.seen.errors == []
    context.close()


@pytest.mark.spec("A5")
def test_paper_shows_the_evidence_too(browser: Browser, tmp_path: Path, published: bytes) -> None:
    """Printing opens everything, also where no script runs."""
    for script in (True, False):
        context = browser.new_context(java_script_enabled=script)
        opened = open_page(context, tmp_path, rendered(published), f"print-{script}")
        opened.page.emulate_media(media="print")
        proof = opened.page.locator("#answer .proof").first
        assert proof.is_visible(), f"script {script}"
        assert len(opened.page.pdf()) > 20_000
        assert not opened.page.locator("nav").is_visible()
        opened.seen.clean(opened.address)
        context.close()


@pytest.mark.spec("A5", "C9", "C11", "N6")
def test_a_fallback_shows_leads_plots_and_what_was_not_looked_at(
    browser: Browser, tmp_path: Path, fallen_back: bytes
) -> None:
    context = browser.new_context()
    opened = open_page(context, tmp_path, rendered(fallen_back))
    page = opened.page
    assert page.locator("#answer").inner_text().startswith("NO ROOT CAUSE IS CONFIRMED")
    assert "no cause established" in page.locator("#leads").inner_text()
    for anchor in ("#seen", "#coverage", "#gates", "#chain"):
        assert page.locator(anchor).is_visible(), anchor
    plot = page.locator("#plots + .plots svg").first
    assert plot.is_visible()
    assert page.locator("#plots + .plots .onset").count() >= 1
    assert page.locator("#plots + .plots .shade").count() >= 1
    assert page.get_by_text("This page itself is not signed.").is_visible()
    opened.seen.clean(opened.address)
    context.close()


@pytest.mark.spec("A5")
@pytest.mark.fault("R74")
def test_hostile_words_do_nothing_in_a_real_browser(
    browser: Browser, tmp_path: Path, files: Files
) -> None:
    """No dialog, no request, no violation, no error, and nothing drawn over the rest."""
    context = browser.new_context(viewport={"width": 800, "height": 900})
    for file in files.small:
        for place, word in enumerate(HOSTILE):
            opened = open_page(context, tmp_path, page_of(worded(file, word)), f"hostile-{place}")
            opened.page.click("#open-all")
            assert opened.page.evaluate("document.documentElement.scrollWidth") <= 800, word
            assert opened.page.locator("h1").count() == 1, word
            opened.seen.clean(opened.address)
            opened.page.close()
    context.close()


def test_a_page_that_loads_or_runs_something_would_be_seen(
    browser: Browser, tmp_path: Path, published: bytes
) -> None:
    """What the tests above watch for can fail."""
    context = browser.new_context()
    broken = rendered(published).replace(
        "<main>", "<main><img src='https://shop.invalid/x.png' onerror='alert(1)'>"
    )
    opened = open_page(context, tmp_path, broken)
    assert any("img-src" in error for error in opened.seen.errors)
    with pytest.raises(AssertionError):
        opened.seen.clean(opened.address)
    context.close()
