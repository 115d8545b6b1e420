"""Checks over HTTP against real servers: what they find, and where they must not go."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from affidavit.adapters.cluster_tables import HttpTable
from affidavit.adapters.http_checks import HttpChecks, prepare
from affidavit.adapters.live_backends import LiveConfig, probe_backends
from affidavit.adapters.outgoing_http import OutgoingHttp
from affidavit.adapters.outgoing_rules import OutgoingTable
from affidavit.contract.agent import ToolCallRequest
from affidavit.contract.errors import ToolFailed
from affidavit.ports.telemetry import Plain
from tests.support.certificates import Authority
from tests.support.http_stage import Reply, Seen, stage
from tests.support.live_runs import ask_live, cells, live_settings, recent

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

TOKEN = "only-for-the-checked-host"


def group(**checks: object) -> HttpTable:
    return HttpTable.model_validate({"checks": checks, "timeout-s": 1.0})


def checks_of(table: HttpTable, http: OutgoingHttp) -> HttpChecks:
    variables = {"TOKEN": TOKEN}
    ready = {name: prepare(check, variables) for name, check in table.checks.items()}
    return HttpChecks("front", table, ready, http)


async def made(table: HttpTable, what: str, *hosts: str) -> dict[str, Plain]:
    http = OutgoingHttp(OutgoingTable(hosts=hosts))
    try:
        return dict((await checks_of(table, http).look(what)).rows[0])
    finally:
        await http.close()


@pytest.mark.spec("C11")
async def test_checks_are_evidence_with_their_service_and_what_is_down_is_an_answer() -> None:
    def answer(asked: Seen) -> Reply:
        down = asked.path == "/down"
        return Reply(503 if down else 200, b"the pool is EXHAUSTED" if down else b"all is well")

    with stage(answer) as there:
        host = f"127.0.0.1:{there.port}"
        table = {
            "checks": {
                "health": {"url": f"{there.url}/health", "service": "web", "contains": "well"},
                "stock": {"url": f"{there.url}/down", "service": "stock", "contains": "well"},
                "gone": {"url": "http://127.0.0.1:9/", "method": "HEAD"},
            }
        }
        settings = live_settings((host, "127.0.0.1:9"), http={"front": table})
        calls = [ToolCallRequest("http_front", {"look": name}) for name in ("all", "health", "no")]
        asked = await ask_live(settings, recent(), *calls)
    health, stock, gone = cells(asked.envelope(0))
    assert (health["subject"], health["well"], health["status"]) == ("web", "True", 200)
    assert (stock["subject"], stock["well"], stock["not well"]) == (
        "stock",
        "False",
        "status, body",
    )
    assert (gone["well"], gone["failed"]) == ("False", "SOURCE_UNAVAILABLE")
    assert "EXHAUSTED" not in asked.release.model_dump_json()
    assert asked.envelope(1).count == 1
    assert asked.observations[2].code == "BAD_REQUEST"
    assert ("http:front", "consulted") in asked.coverage()
    assert [one.method for one in there.seen] == ["GET"] * 3


def crawl() -> Iterator[bytes]:
    for _ in range(10):
        time.sleep(0.3)
        yield b"."


def flood() -> Iterator[bytes]:
    for _ in range(40):
        yield b"." * 65_536


@pytest.mark.fault("R33")
@pytest.mark.parametrize(
    ("reply", "failed"),
    [
        (Reply(pieces=crawl), "TIMEOUT"),
        (Reply(pieces=flood), "RESULT_TOO_LARGE"),
        (Reply(302, headers={"location": "http://127.0.0.1:9/"}), "REDIRECT_REFUSED"),
    ],
)
async def test_a_slow_endless_or_moved_answer_is_not_well(reply: Reply, failed: str) -> None:
    with stage(lambda _: reply) as there:
        row = await made(group(a={"url": there.url}), "a", f"127.0.0.1:{there.port}")
    assert (row["well"], row["failed"]) == (False, failed)


async def test_conditions_are_judged_one_by_one() -> None:
    def answer(_: Seen) -> Reply:
        time.sleep(0.05)
        return Reply(404, b"")

    with stage(answer) as there:
        host, told = f"127.0.0.1:{there.port}", {"url": there.url}
        fine = await made(group(a={**told, "statuses": (404,)}), "a", host)
        slow = await made(group(a={**told, "statuses": (404,), "latency-max-ms": 5}), "a", host)
        bare = await made(group(a={**told, "certificate-days-min": 1}), "a", host)
    assert (fine["well"], fine["not well"]) == (True, None)
    assert (slow["well"], slow["not well"]) == (False, "latency")
    assert float(str(slow["latency_ms"])) >= 50
    assert bare["not well"] == "status, certificate"  # without TLS there is none


async def test_a_certificate_s_end_is_told_and_an_expired_one_is_refused(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    told = {"ca-file": str(authority.file), "certificate-days-min": 14}
    with stage(lambda _: Reply(), authority.server(timedelta(days=7))) as there:
        host = f"127.0.0.1:{there.port}"
        soon = await made(group(a={"url": there.url, **told}), "a", host)
        stranger = await made(group(a={"url": there.url}), "a", host)
    assert (soon["well"], soon["not well"], soon["certificate days left"]) == (
        False,
        "certificate",
        6,
    )
    assert (stranger["well"], stranger["failed"]) == (False, "CERTIFICATE_REFUSED")
    with stage(lambda _: Reply(), authority.server(timedelta(days=-2))) as there:
        host = f"127.0.0.1:{there.port}"
        over = await made(group(a={"url": there.url, **told}), "a", host)
        assert there.seen == []  # not one byte of ours went to it
    assert (over["well"], over["failed"]) == (False, "CERTIFICATE_EXPIRED")


async def test_an_unlisted_host_is_an_error_and_no_finding_about_it() -> None:
    with stage(lambda _: Reply()) as there:
        with pytest.raises(ToolFailed) as failed:
            await made(group(a={"url": there.url}), "a", "127.0.0.1:1")
        settings = live_settings((), http={"front": {"checks": {"a": {"url": there.url}}}})
        (finding,) = await probe_backends(LiveConfig(settings.backends, settings.outgoing, {}))
        assert there.seen == []
    assert failed.value.code == "OUTGOING_UNLISTED"
    assert (finding.ok, finding.code) == (False, "OUTGOING_UNLISTED")


async def test_a_redirect_takes_no_credential_along() -> None:
    with stage(lambda _: Reply()) as elsewhere:
        away = Reply(307, headers={"location": elsewhere.url})
        with stage(lambda _: away) as there:
            check = {"url": there.url, "credential": {"bearer-env": "TOKEN"}}
            hosts = (f"127.0.0.1:{there.port}", f"127.0.0.1:{elsewhere.port}")
            row = await made(group(a=check), "a", *hosts)
        assert there.seen[0].headers["authorization"] == f"Bearer {TOKEN}"
    assert row["failed"] == "REDIRECT_REFUSED"
    assert elsewhere.seen == []


@pytest.mark.parametrize("second", [["169.254.169.254"], ["127.0.0.1", "10.0.0.1"]])
async def test_a_name_that_turns_inwards_later_is_asked_once(second: list[str]) -> None:
    """DNS rebinding: the address of the first answer was checked, and is the one that is used."""
    answers = iter([["127.0.0.1"], second, second])
    asked = 0

    async def turning(_: str, __: int) -> list[str]:
        nonlocal asked
        asked += 1
        return next(answers)

    with stage(lambda _: Reply()) as there:
        table = group(a={"url": f"http://turning.example:{there.port}/"})
        outgoing = OutgoingTable(hosts=("turning.example",), networks=("127.0.0.0/8",))
        http = OutgoingHttp(outgoing, turning)
        lookup = checks_of(table, http)
        try:
            for _ in range(3):
                assert (await lookup.look("all")).rows[0]["well"] is True
        finally:
            await http.close()
    assert (asked, len(there.seen)) == (1, 3)


async def test_a_name_that_leads_inwards_at_once_is_refused() -> None:
    async def inwards(_: str, __: int) -> list[str]:
        return ["169.254.169.254"]

    http = OutgoingHttp(OutgoingTable(hosts=("x.example",), networks=("0.0.0.0/0",)), inwards)
    lookup = checks_of(group(a={"url": "http://x.example/latest/meta-data/"}), http)
    with pytest.raises(ToolFailed) as failed:
        await lookup.look("a")
    await http.close()
    assert failed.value.code == "OUTGOING_REFUSED"


@pytest.mark.parametrize(
    "check",
    [
        {"url": "http://x/", "method": "POST"},
        {"url": "http://x/", "method": "DELETE"},
        {"url": "http://x/", "method": "HEAD", "contains": "a"},
        {"method": "GET"},
    ],
)
def test_a_check_that_could_do_more_cannot_be_written(check: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="checks"):
        group(a=check)
