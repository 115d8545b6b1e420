"""The way out over HTTP: listed hosts, checked and pinned addresses, bounds, no redirects."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from affidavit.adapters.outgoing_http import (
    Credential,
    HttpCall,
    OutgoingHttp,
    Resolve,
    authorization,
    expect_ok,
    resolve_by_system,
)
from affidavit.adapters.outgoing_rules import (
    OutgoingTable,
    bare,
    check_addresses,
    check_host,
    place_of,
)
from affidavit.contract.errors import InputRefused, ToolFailed
from tests.support.http_stage import Reply, Seen, stage

pytestmark = [pytest.mark.anyio]


@asynccontextmanager
async def way_out(
    *hosts: str, networks: tuple[str, ...] = (), resolve: Resolve = resolve_by_system
) -> AsyncIterator[OutgoingHttp]:
    http = OutgoingHttp(OutgoingTable(hosts=hosts, networks=networks), resolve)
    try:
        yield http
    finally:
        await http.close()


async def test_a_listed_loopback_host_is_reached_with_its_own_name_in_the_host_header() -> None:
    with stage(lambda _: Reply(body=b"hello")) as there:
        async with way_out(f"127.0.0.1:{there.port}") as http:
            answer = await http.send(HttpCall("x", f"{there.url}/a", query=(("q", "{a=~b}"),)))
    assert (answer.status, answer.body) == (200, b"hello")
    assert there.seen[0].headers["host"] == f"127.0.0.1:{there.port}"
    assert there.seen[0].path == "/a?q=%7Ba%3D~b%7D"


@pytest.mark.parametrize("hosts", [(), ("127.0.0.1:1",), ("localhost",)])
async def test_what_is_not_listed_is_not_reached(hosts: tuple[str, ...]) -> None:
    with stage(lambda _: Reply()) as there:
        async with way_out(*hosts) as http:
            with pytest.raises(InputRefused) as refused:
                await http.send(HttpCall("x", there.url))
    assert refused.value.code == "OUTGOING_UNLISTED"
    assert there.seen == []


async def test_a_listed_name_that_leads_to_loopback_needs_loopback_listed_too() -> None:
    async def inside(_: str, __: int) -> list[str]:
        return ["127.0.0.1"]

    with stage(lambda _: Reply()) as there:
        url = f"http://metrics.example:{there.port}/"
        async with way_out("metrics.example", resolve=inside) as http:
            with pytest.raises(InputRefused) as refused:
                await http.send(HttpCall("x", url))
        assert refused.value.code == "OUTGOING_REFUSED"
        assert there.seen == []
        async with way_out("metrics.example", networks=("127.0.0.0/8",), resolve=inside) as http:
            assert (await http.send(HttpCall("x", url))).status == 200
    assert there.seen[0].headers["host"] == f"metrics.example:{there.port}"


async def test_a_name_that_changes_its_mind_is_asked_once_and_its_address_is_kept() -> None:
    """DNS rebinding: the first answer is checked and pinned, the second is never asked for."""
    answers: Iterator[list[str]] = iter([["127.0.0.1"], ["169.254.169.254"], ["10.0.0.1"]])
    asked = 0

    async def turning(_: str, __: int) -> list[str]:
        nonlocal asked
        asked += 1
        return next(answers)

    with stage(lambda _: Reply()) as there:
        url = f"http://turning.example:{there.port}/"
        async with way_out("turning.example", networks=("127.0.0.0/8",), resolve=turning) as http:
            for _ in range(3):
                assert (await http.send(HttpCall("x", url))).status == 200
    assert (asked, len(there.seen)) == (1, 3)


async def test_a_place_that_moved_is_looked_up_and_checked_anew_after_a_failure() -> None:
    """A receiver behind changing addresses is found again by a service that runs for weeks. The
    new address is checked like the first one: a name that turned inwards is refused."""
    found = ["127.0.0.2"]

    async def moving(_: str, __: int) -> list[str]:
        return found

    with stage(lambda _: Reply()) as there:
        call = HttpCall("x", f"http://moving.example:{there.port}/")
        async with way_out("moving.example", networks=("127.0.0.0/8",), resolve=moving) as http:
            with pytest.raises(ToolFailed) as failed:
                await http.send(call)
            assert failed.value.code == "SOURCE_UNAVAILABLE"
            found = ["127.0.0.1"]
            assert (await http.send(call)).status == 200
            found = ["10.0.0.1"]
            assert (await http.send(call)).status == 200, "what answers is not looked up again"
    async with way_out("moving.example", networks=("127.0.0.0/8",), resolve=moving) as http:
        found = ["127.0.0.2"]
        with pytest.raises(ToolFailed):
            await http.send(call)
        found = ["169.254.169.254"]
        with pytest.raises(InputRefused) as refused:
            await http.send(call)
    assert refused.value.code == "OUTGOING_REFUSED"


async def test_of_several_addresses_one_that_answers_is_taken_and_kept() -> None:
    """`localhost` is ::1 and 127.0.0.1, and the server listens on one of them."""

    async def both(_: str, __: int) -> list[str]:
        return ["::1", "127.0.0.1"]

    with stage(lambda _: Reply()) as there:
        call = HttpCall("x", f"http://localhost:{there.port}/", method="POST", body=b"once")
        networks = ("127.0.0.0/8", "::1/128")
        async with way_out("localhost", networks=networks, resolve=both) as http:
            for _ in range(2):
                assert (await http.send(call)).status == 200
    assert [seen.body for seen in there.seen] == [b"once", b"once"]


@pytest.mark.parametrize("listed", ["[::1]:9090", "[::1]", "::1"])
def test_an_ipv6_address_is_listed_as_a_url_has_it(listed: str) -> None:
    table = OutgoingTable(hosts=(listed,))
    place = place_of("http://[::1]:9090/")
    check_host(place, table)
    assert [str(one) for one in check_addresses(place, ["::1"], table)] == ["::1"]
    if listed.endswith("]:9090"):
        with pytest.raises(InputRefused, match=r"\[::1\]:9091"):
            check_host(place_of("http://[::1]:9091/"), table)


@pytest.mark.parametrize(
    "host",
    ["2130706433", "0177.0.0.1", "0x7f.0.0.1", "127.1", "0x7f000001", "2852039166",
     "0251.254.169.254", "169.254.43518",
     "[::ffff:127.0.0.1]", "[::ffff:a9fe:a9fe]", "localhost.", "127.0.0.1."],
)  # fmt: skip
async def test_no_other_spelling_of_an_address_leads_inwards(host: str) -> None:
    """Decimal, octal, hexadecimal, short and mapped forms: not listed by what is listed, and where
    they are listed themselves, refused by where they lead."""
    with stage(lambda _: Reply()) as there:
        url = f"http://{host}:{there.port}/"
        async with way_out("127.0.0.1", "169.254.169.254", "localhost") as http:
            with pytest.raises(InputRefused) as refused:
                await http.send(HttpCall("x", url))
            assert refused.value.code == "OUTGOING_UNLISTED"
        async with way_out(place_of(url).host) as http:
            with pytest.raises((InputRefused, ToolFailed)) as listed:
                await http.send(HttpCall("x", url))
            assert listed.value.code in {"OUTGOING_REFUSED", "SOURCE_UNAVAILABLE"}
    assert there.seen == []


async def test_one_bad_address_among_good_ones_refuses_the_name() -> None:
    async def mixed(_: str, __: int) -> list[str]:
        return ["93.184.215.14", "10.0.0.8"]

    async with way_out("mixed.example", resolve=mixed) as http:
        with pytest.raises(InputRefused, match=r"10\.0\.0\.8"):
            await http.send(HttpCall("x", "https://mixed.example/"))


@pytest.mark.parametrize(
    "address",
    [
        "169.254.169.254",
        "::ffff:169.254.169.254",
        "64:ff9b::a9fe:a9fe",
        "2002:a9fe:a9fe::1",
        "fd00:ec2::254",
        "fe80::1%eth0",
        "100.100.100.200",
        "0.0.0.0",
        "224.0.0.1",
        "::a9fe:a9fe",  # IPv4-compatible, deprecated
        "::169.254.169.254",
        "64:ff9b:1::a9fe:a9fe",  # NAT64 of a local prefix (RFC 8215)
        "::ffff:0:a9fe:a9fe",  # SIIT (RFC 2765)
        "2001:0:a9fe:a9fe::1",  # Teredo: whoever is behind it is not to be told from its name
        "::ffff:100.100.100.200",
        "255.255.255.255",
    ],
)
def test_metadata_addresses_are_refused_whatever_is_listed(address: str) -> None:
    everything = OutgoingTable(hosts=("cloud.example",), networks=("0.0.0.0/0", "::/0"))
    with pytest.raises(InputRefused) as refused:
        check_addresses(place_of("http://cloud.example/"), [address], everything)
    assert refused.value.code == "OUTGOING_REFUSED"


@pytest.mark.parametrize("address", ["10.1.2.3", "192.168.1.1", "172.16.0.9", "::1", "fd00::1"])
def test_private_addresses_need_their_network_listed(address: str) -> None:
    place = place_of("http://inside.example/")
    with pytest.raises(InputRefused):
        check_addresses(place, [address], OutgoingTable(hosts=("inside.example",)))
    listed = OutgoingTable(hosts=("inside.example",), networks=("0.0.0.0/0", "::/0"))
    assert [str(one) for one in check_addresses(place, [address], listed)] == [address]


async def test_a_redirect_is_not_followed_and_no_credential_goes_along() -> None:
    with stage(lambda _: Reply()) as elsewhere:

        def away(_: Seen) -> Reply:
            return Reply(302, headers={"location": f"{elsewhere.url}/stolen"})

        with stage(away) as there:
            hosts = (f"127.0.0.1:{there.port}", f"127.0.0.1:{elsewhere.port}")
            async with way_out(*hosts) as http:
                with pytest.raises(ToolFailed) as failed:
                    await http.send(
                        HttpCall("x", there.url, headers={"authorization": "Bearer s3cret"})
                    )
    assert failed.value.code == "REDIRECT_REFUSED"
    assert elsewhere.seen == []
    assert "s3cret" not in failed.value.message


async def test_what_is_too_long_is_left_at_the_bound() -> None:
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        for _ in range(10_000):
            sent += 1
            yield b"x" * 65_536

    with stage(lambda _: Reply(pieces=endless)) as there:
        async with way_out("127.0.0.1") as http:
            with pytest.raises(ToolFailed) as failed:
                await http.send(HttpCall("x", there.url, bytes_max=200_000))
    assert failed.value.code == "RESULT_TOO_LARGE"
    assert sent < 10_000


async def test_what_is_too_slow_is_left_in_its_time() -> None:
    def drip() -> Iterator[bytes]:
        for _ in range(50):
            time.sleep(0.1)
            yield b"x"

    with stage(lambda _: Reply(pieces=drip)) as there:
        async with way_out("127.0.0.1") as http:
            with pytest.raises(ToolFailed) as failed:
                await http.send(HttpCall("x", there.url, timeout_s=0.3))
    assert failed.value.code == "TIMEOUT"


async def test_a_compressed_answer_is_not_unpacked() -> None:
    with stage(lambda _: Reply(headers={"content-encoding": "gzip"})) as there:
        async with way_out("127.0.0.1") as http:
            with pytest.raises(ToolFailed, match="compressed"):
                await http.send(HttpCall("x", there.url))
    assert there.seen[0].headers["accept-encoding"] == "identity"


@pytest.mark.fault("R75")
async def test_an_error_names_url_and_status_and_neither_query_nor_credentials() -> None:
    with stage(lambda _: Reply(503)) as there:
        call = HttpCall(
            "prometheus main", f"{there.url}/api/v1/query", query=(("query", "secret_metric"),)
        )
        async with way_out("127.0.0.1") as http:
            with pytest.raises(ToolFailed) as failed:
                expect_ok(await http.send(call), call)
    assert failed.value.code == "HTTP_503"
    assert f"{there.url}/api/v1/query answered 503" in failed.value.message
    assert "secret_metric" not in failed.value.message


async def test_nobody_there_is_unavailable() -> None:
    async with way_out("127.0.0.1") as http:
        with pytest.raises(ToolFailed) as failed:
            await http.send(HttpCall("x", "http://127.0.0.1:9/"))
    assert failed.value.code == "SOURCE_UNAVAILABLE"


def test_a_url_with_credentials_is_refused_without_showing_them() -> None:
    with pytest.raises(InputRefused) as refused:
        place_of("https://admin:hunter2@host.example/")
    assert "hunter2" not in f"{refused.value.message} {refused.value.hint}"
    assert bare("https://admin:hunter2@host.example:444/a?b=c#d") == "https://host.example:444/a"


def test_a_secret_comes_from_a_variable_or_a_file_and_is_needed() -> None:
    assert authorization(Credential(bearer_env="T"), {"T": "abc"}) == {
        "authorization": "Bearer abc"
    }
    basic = authorization(Credential(username="u", password_env="P"), {"P": "p"})
    assert basic == {"authorization": "Basic dTpw"}
    assert authorization(Credential(), {}) == {}
    with pytest.raises(InputRefused) as refused:
        authorization(Credential(bearer_env="T"), {})
    assert refused.value.code == "SECRET_MISSING"
