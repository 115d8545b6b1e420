"""Dead letters in a real browser: seen on the page of health, and sent again from there."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from affidavit.server.permits import Role
from tests.acceptance.test_http_deliveries import alert, house_over, listed
from tests.integration.test_console import CHROMIUM, logged_in
from tests.support.http_stage import Reply, Seen, stage
from tests.support.service import wait_until

pytestmark = [
    pytest.mark.integration("chromium"),
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium here"),
]


@pytest.mark.spec("I5")
@pytest.mark.fault("R70", "R71")
def test_a_dead_letter_is_seen_and_sent_again(tmp_path: Path) -> None:
    """Its code and its run are there, and one press sends it; afterwards there is none."""
    answers = [410]

    def answer(_: Seen) -> Reply:
        return Reply(answers[0])

    with stage(answer) as there, house_over(there, tmp_path) as house:
        api = house.client(Role.OPERATOR)
        run_id = alert(api, "Slow")
        wait_until(lambda: bool(listed(api, state="dead")))
        with logged_in(house) as page:
            page.goto(f"{house.url}/health")
            row = page.locator("#dead li")
            expect(row).to_contain_text("HTTP_410")
            expect(row).to_contain_text(run_id)
            answers[0] = 200
            row.get_by_role("button", name="Send again").click()
            expect(page.get_by_text("Everything that was to be told was taken.")).to_be_visible()
            expect(row).to_have_count(0)
        wait_until(lambda: bool(listed(api, state="delivered")))
