"""The console in a real browser: a run from start to evidence, and nothing from elsewhere."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from affidavit.adapters.oidc_tables import OidcTable
from affidavit.adapters.outgoing_rules import OutgoingTable
from affidavit.adapters.system_clock import SystemClock
from affidavit.affidavit.retraction import RetractionRecord, Word, write_retraction
from affidavit.cli.diagnosing import demo_incident
from affidavit.contract.agent import AgentRequest, GiveUp
from affidavit.core.canonical import digest
from affidavit.server.oidc import open_oidc
from affidavit.server.permits import Role
from affidavit.settings import Settings
from tests.support.acting import Theatre
from tests.support.gates import report, said
from tests.support.http_stage import Reply, stage
from tests.support.issuer import CLIENT, SECRET, issuer_at
from tests.support.runs import request
from tests.support.service import WAIT_S, Served, served, wait_until
from tests.support.worlds import Script, act

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


@contextmanager
def logged_in(house: Served) -> Iterator[Page]:
    """A logged-in page that may go anywhere."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        opened = browser.new_page()
        opened.set_default_timeout(WAIT_S * 1000)
        log_in(house, opened)
        yield opened
        browser.close()


def log_in(house: Served, opened: Page) -> None:
    """With an admin's key."""
    opened.goto(f"{house.url}/login")
    opened.get_by_label("Your key").fill(house.key(Role.ADMIN))
    opened.get_by_role("button", name="Log in").click()
    expect(opened.get_by_role("heading", name="Runs")).to_be_visible()


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
        log_in(house, opened)
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


@pytest.mark.spec("I3", "I6")
def test_a_question_is_asked_and_asked_on(page: Page) -> None:
    """From the list to a diagnosis, from there to a further question, each on its run's page."""
    page.get_by_label("Ask", exact=True).fill("Why is the storefront failing?")
    page.get_by_label("about").select_option("failing-storefront")
    page.get_by_role("button", name="Ask", exact=True).click()
    slow = WAIT_S * 1000
    expect(page.locator("h1")).to_have_text("Why is the storefront failing?", timeout=slow)
    expect(page.locator("#answer")).to_be_visible(timeout=slow)
    assert page.locator("#answer").text_content()
    picture(page, "asked")
    page.get_by_label("Ask on").fill("谢谢")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator("h1")).to_have_text("谢谢", timeout=slow)
    expect(page.locator("#answer")).to_have_text("不客气。", timeout=slow)
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


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


def waiting(house: Served, run_id: str) -> Theatre:
    """A run of Ann's whose restart waits for another person."""
    told = {**request(run_id).model_dump(mode="json"), "requested_by": "Ann"}
    script: Script = [
        act("look", service="checkout"),
        act("restart", service="checkout"),
        GiveUp(""),
    ]
    asked = AgentRequest.model_validate_json(json.dumps(told))
    theatre = Theatre(script, real_time=SystemClock(), asked=asked)
    house.begin(theatre.world(), theatre.asked)
    wait_until(lambda: bool(inbox(house, run_id)))
    return theatre


def inbox(house: Served, run_id: str) -> list[dict[str, Any]]:
    """What of that run waits for a person."""
    found = house.client(Role.VIEWER).get("/api/v1/approvals").json()["approvals"]
    return [item for item in found if item["run_id"] == run_id]


@pytest.mark.spec("H10")
@pytest.mark.parametrize(("choice", "done"), [("Approve exactly this", 1), ("Reject", 0)])
def test_an_approval_is_clicked_and_acted_on_once(
    house: Served, page: Page, choice: str, done: int
) -> None:
    """The person sees tool and arguments; one click decides; then the run goes on by itself."""
    run_id = f"run_00000000000000e{done}"
    theatre = waiting(house, run_id)
    page.get_by_role("link", name="Approvals", exact=True).click()
    sheet = page.locator("section.sheet").filter(has=page.locator(f"a[href='/runs/{run_id}']"))
    expect(sheet.get_by_role("heading", name="restart")).to_be_visible()
    expect(sheet).to_contain_text("checkout")
    picture(page, f"approval-{done}")
    sheet.get_by_role("button", name=choice).dblclick()  # a hasty hand decides once
    expect(sheet).to_have_count(0)
    page.goto(f"{house.url}/runs/{run_id}")
    expect(page.locator("#events .done")).to_have_count(1)
    assert sum(theatre.outside.done.values()) == done


REQUESTS: Final = "affidavit_http_requests_total"

ATTACK: Final = """<!doctype html><title>Kittens</title><body><script>
const at = "{url}", run = "{run}", call = "{call}", digest = "{digest}";
const said = [];
const posts = [
  "/api/v1/approvals/" + run + "/" + call, "/api/v1/runs/" + run + "/cancel", "/logout",
];
const word = JSON.stringify({{decision: "approve", action_digest: digest}});
async function attack() {{
  for (const path of posts) {{
    for (const type of ["text/plain", "application/x-www-form-urlencoded"]) {{
      const plain = {{method: "POST", mode: "no-cors", credentials: "include",
        headers: {{"content-type": type}}, body: word}};
      await fetch(at + path, plain).catch(() => 0);
    }}
    const forged = {{method: "POST", credentials: "include", body: word,
      headers: {{"content-type": "application/json", "x-csrf-token": "0"}}}};
    await fetch(at + path, forged).then(() => said.push("read"), () => 0);
    await new Promise((next) => {{
      const image = new Image();
      image.onload = image.onerror = next;
      image.src = at + path;
    }});
  }}
  await fetch(at + "/api/v1/me", {{credentials: "include"}}).then(() => said.push("read"), () => 0);
  for (const [path, name, value] of [
    [posts[0], '{{"decision":"approve","action_digest":"' + digest + '","x":"', '"}}'],
    [posts[1], "a", "b"], ["/login", "key", "{key}"],
  ]) {{
    const frame = document.createElement("iframe");
    frame.name = "f" + Math.random();
    const form = document.createElement("form");
    Object.assign(form, {{method: "post", action: at + path, target: frame.name}});
    if (path !== "/login") {{ form.enctype = "text/plain"; }}
    const input = document.createElement("input");
    Object.assign(input, {{name, value, type: "hidden"}});
    form.append(input);
    document.body.append(frame, form);
    await new Promise((next) => {{ frame.onload = next; form.submit(); setTimeout(next, 3000); }});
  }}
  document.title = "over: " + said.join(",");
}}
attack();
</script>"""
"""What a page of another site tries with a browser that is logged in."""


@pytest.mark.fault("R67", "R58")
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_another_site_s_page_changes_nothing(house: Served, host: str) -> None:
    """From a neighbour's port (the same site: the cookie comes along) and from another site: forms,
    fetches, images and frames approve, cancel, log out and log in nobody, and read nothing."""
    run_id = f"run_00000000000000f{int(host == 'localhost')}"
    theatre = waiting(house, run_id)
    (item,) = inbox(house, run_id)
    told = {"run": run_id, "call": item["tool_call_id"], "digest": item["action_digest"]}
    other = house.key(Role.ADMIN, tenant="theirs")
    kittens = ATTACK.format(url=house.url, key=other, **told).encode()
    headers = {"content-type": "text/html"}
    refused = {"method": "POST", "route": "-", "status": "403"}
    before = house.house.meters.registry.get_sample_value(REQUESTS, refused) or 0
    with stage(lambda _: Reply(body=kittens, headers=headers)) as site, logged_in(house) as victim:
        mine = victim.context.cookies()
        assert [(one["httpOnly"], one["sameSite"]) for one in mine] == [(True, "Strict")]
        victim.goto(f"http://{host}:{site.port}/")
        victim.wait_for_function("document.title.startsWith('over')")
        assert victim.title() == "over:"
        assert victim.context.cookies() == mine
        victim.goto(f"{house.url}/approvals")
        expect(victim.locator(".who")).to_contain_text("acme")
        expect(victim.get_by_role("heading", name="restart").first).to_be_visible()
    after = house.house.meters.registry.get_sample_value(REQUESTS, refused) or 0
    assert after - before >= 9  # six plain posts and three forms came, and were refused
    assert inbox(house, run_id) == [item]
    assert theatre.outside.done == Counter()
    assert house.client(Role.VIEWER).get(f"/api/v1/runs/{run_id}").json()["outcome"] is None


SLOW_DRAFT: Final = """
const asked = window.fetch;
window.fetch = async (...what) => {
  if (String(what[0]).endsWith("/draft")) { await new Promise((go) => setTimeout(go, 500)); }
  return asked(...what);
};
"""
"""The answer is on its way while the reader closes and opens again."""


@pytest.mark.spec("L1")
def test_a_refused_draft_is_opened_marked_and_its_reading_recorded_once(
    house: Served, page: Page
) -> None:
    """Opened, closed and opened again: one reading on record; markup in it is text."""
    api = house.client(Role.OPERATOR)
    answer = report("The <i>crew</i> was relieved.", conclusion=said("gates-1", 8))
    run_id = api.post("/api/v1/gate", json=answer).json()["run_id"]
    page.add_init_script(SLOW_DRAFT)
    page.goto(f"{house.url}/runs/{run_id}")
    summary = page.locator("#draft summary")
    for _ in range(3):
        summary.click()
    lines = page.locator("#sentences > li")
    expect(lines.filter(has_text="gates-1 had 8 restarts.")).to_contain_text("refuted")
    expect(lines.filter(has_text="The <i>crew</i> was relieved.")).to_contain_text("WORDS_UNBOUND")
    wide = lines.locator("li").first.bounding_box()
    assert wide is not None
    assert wide["width"] > 400  # a reason reads in lines, and not in a column of single words
    picture(page, "draft")
    draft = house.client(Role.DRAFT_READER).get(f"/api/v1/runs/{run_id}/draft").json()
    assert [access["by"] for access in draft["accesses"]] == ["acme-admin"]


def test_somebody_whom_an_issuer_knows_logs_in_with_one_click(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """There, back, and on to the console, in a real browser with its rules about cookies."""
    with (
        issuer_at(tmp_path_factory.mktemp("issuer")) as issuer,
        served(tmp_path, environment={"OIDC_SECRET": SECRET}, settings=Settings()) as bare,
    ):
        table = OidcTable.model_validate(
            {
                "issuer": issuer.url,
                "client_id": CLIENT,
                "client_secret_env": "OIDC_SECRET",
                "redirect_uri": f"{bare.url}/login/oidc/callback",
                "tenant_claim": "org",
                "tenants": {"acme-corp": "acme"},
                "roles_claim": "groups",
                "roles": {"sre": "operator"},
            }
        )
        outgoing = OutgoingTable(hosts=(issuer.url.removeprefix("http://"),))
        settings = Settings(oidc=table, outgoing=outgoing)
        bare.house.oidc = open_oidc(settings, {"OIDC_SECRET": SECRET}, b"a secret of the test")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
            page = browser.new_page()
            page.set_default_timeout(WAIT_S * 1000)
            page.goto(f"{bare.url}/runs/run_0000000000000000")
            page.get_by_role("link", name="Log in with your organisation").click()
            expect(page.get_by_role("heading", name="Runs")).to_be_visible()
            expect(page.locator(".who")).to_contain_text("oidc:ann at acme")
            picture(page, "organisation")
            names = {cookie["name"]: cookie["sameSite"] for cookie in page.context.cookies()}
            assert names == {"affidavit_session": "Strict"}
            page.get_by_role("button", name="Log out").click()
            expect(page.get_by_label("Your key")).to_be_visible()
            browser.close()


@pytest.mark.spec("L9")
def test_an_answer_that_was_taken_back_says_so_on_its_pages(house: Served, page: Page) -> None:
    """Retracted, then superseded: the report, the run's page and the answer over HTTP say the
    newest word; another tenant's do not, and the file is what it was."""
    api = house.client(Role.OPERATOR)
    first, second = (api.post("/api/v1/gate", json=report()).json()["run_id"] for _ in range(2))
    answer = f"/api/v1/runs/{first}"
    assert api.get(answer).json()["standing"]["word"] == ""
    file = api.get(f"{answer}/affidavit").content
    retract(house, first, reason="The clock was <b>wrong</b>.")
    page.goto(f"{house.url}/runs/{first}/report")
    expect(page.get_by_role("alert")).to_contain_text("RETRACTED. Do not rely on this answer.")
    expect(page.get_by_role("alert")).to_contain_text("The clock was <b>wrong</b>.")
    picture(page, "retracted")
    retract(house, first, reason="It was read again.", superseded_by=second)
    page.goto(f"{house.url}/runs/{first}/report")
    expect(page.get_by_role("alert")).to_contain_text("SUPERSEDED")
    expect(page.get_by_role("alert")).to_contain_text(second)
    page.goto(f"{house.url}/runs/{first}")
    expect(page.locator("#notice")).to_contain_text("Do not rely on this answer")
    standing = api.get(answer).json()["standing"]
    assert (standing["word"], standing["superseded_by"]) == ("SUPERSEDED", second)
    assert api.get(f"/api/v1/runs/{second}").json()["standing"]["word"] == ""
    assert api.get(f"{answer}/affidavit").content == file


def retract(house: Served, run_id: str, **told: str) -> None:
    """As `affidavit runs retract` does, in the service's own store."""
    store = house.house.store

    async def attach() -> None:
        files = {
            one: next(
                item.content for item in await store.artifacts(one) if item.kind == "affidavit"
            )
            for one in (run_id, *([told["superseded_by"]] if "superseded_by" in told else []))
        }
        after = told.get("superseded_by")
        record = RetractionRecord(
            run_id=run_id,
            affidavit=digest(files[run_id]),
            word=Word.RETRACTED if after is None else Word.SUPERSEDED,
            reason=told["reason"],
            by="ops",
            at=datetime.now(UTC),
            superseded_by=after,
            superseding_affidavit=None if after is None else digest(files[after]),
        )
        await store.attach(run_id, write_retraction(record))

    house.call(attach)


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
