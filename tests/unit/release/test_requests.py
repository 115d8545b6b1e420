"""What may be shown of what an agent asks for (C7, N6)."""

from __future__ import annotations

import pytest

from affidavit.release.requests import (
    REQUEST_CHARS_MAX,
    REQUESTS_MAX,
    admit_requests,
    claims_cause,
)

pytestmark = pytest.mark.spec("C7")

HARMLESS = (
    "the time window of the incident",
    "logs of payment-db from 10:00 to 10:30 UTC",
    "Which version of checkout was deployed since 09:00?",
    "No service name was given.",
    "access to the metrics of the message queue",
    "the trace of one failing request",
    "事故发生的时间范围",
    "payment-db 在 10:00 至 10:30 之间的日志",
    "是否有最近的部署记录",
)
CAUSES = (
    "Confirmation that payment-db is the root cause",
    "whether checkout fails because payment times out",
    "proof that the deploy caused the outage",
    "the reason for the crash is the pool",
    "logs, since the outage is due to a full disk",
    "the culprit: payment-db",
    "how the retry storm brought down the database",
    "the leak that led to the OOM kill",
    "errors stemming from the new release",
    "the outage was triggered by the deploy",
    "payment-db -> checkout",
    "payment-db → checkout",
    "The problem is payment-db.",
    "the incident originated in payment-db",
    "ｂｅｃａｕｓｅ of payment-db",
    "the root\u200b cause in payment-db",
    "the root\u00adcause in payment-db",
    "THE ROOT_CAUSE: payment-db",
    "根因是 payment-db 的连接池",
    "需要确认是否由于数据库导致超时",
    "数据库连接池耗尽引发的超时日志",
    "問題是資料庫導致的",
)


@pytest.mark.parametrize("text", HARMLESS)
def test_a_request_is_shown_as_written(text: str) -> None:
    """What somebody lacks is no claim."""
    assert admit_requests([text]).items == (text,)


@pytest.mark.spec("N6")
@pytest.mark.parametrize("text", CAUSES)
def test_a_cause_is_dropped_whole(text: str) -> None:
    """In either language, in look-alike widths, with invisible characters, as an arrow."""
    assert claims_cause(text)
    found = admit_requests([text])
    assert found.items == ()
    assert found.dropped == 1


@pytest.mark.fault("R14")
@pytest.mark.parametrize(
    "text",
    [
        "see https://dash.example.com/d/1",
        "see www.example.com",
        "[click](x)",
        "<b>logs</b>",
        "the r\u043e\u043et of the tree in p\u0430yment",
    ],
)
def test_addresses_markup_and_look_alikes_are_dropped(text: str) -> None:
    """Nothing recorded vouches for where they lead or what they spell."""
    assert admit_requests([text]).items == ()


@pytest.mark.spec("C15")
def test_requests_are_bounded() -> None:
    """Five items of two lines; doubles and blanks are no items."""
    written = [f"log {n}" for n in range(REQUESTS_MAX + 3)]
    found = admit_requests(["", "  ", *written, *written])
    assert found.items == tuple(written[:REQUESTS_MAX])
    assert found.dropped == 3
    assert admit_requests(["x" * REQUEST_CHARS_MAX]).items
    assert not admit_requests(["x" * (REQUEST_CHARS_MAX + 1)]).items


def test_a_request_is_one_line() -> None:
    """Control characters become spaces or nothing."""
    assert admit_requests(["a\n\x1b[2Jb\u202ec"]).items == ("a [2Jbc",)
