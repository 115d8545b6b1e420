"""The service's own TLS, and clients that show a certificate instead of a key (mTLS)."""

from __future__ import annotations

import os
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import anyio
import httpx2
import pytest
from cryptography import x509

from affidavit.adapters.backend_tables import Backends
from affidavit.adapters.sqlite_incidents import SqliteIncidents
from affidavit.contract.errors import InputRefused
from affidavit.server.hooks import HookPlan
from affidavit.server.permits import Role
from affidavit.server.tls import open_tls
from affidavit.settings import Settings
from affidavit.settings.server import ServerTable
from tests.support.certificates import Authority, Paper
from tests.support.service import WAIT_S, Served, problem, served, wait_until
from tests.support.watched_lab import alertmanager, free_port, needs

pytestmark = pytest.mark.slow

ALERTS: Final = "DNS:alerts.monitoring.svc"
NOTHING: Final = {"files": {"logs": {"signal": "logs", "paths": ("/nowhere/*.jsonl",)}}}


@dataclass(frozen=True)
class Secured:
    """A service over TLS, and the authority that signs for it and for its clients."""

    house: Served
    authority: Authority
    folder: Path

    def paper(self, name: str, *names: x509.GeneralName, days: float = 7) -> Paper:
        """A client's certificate."""
        return self.authority.sign(name, timedelta(days=days), names)

    def post(
        self, paper: Paper | None, group: str, path: str = "/hooks/alertmanager", **headers: str
    ) -> httpx2.Response:
        """An alert, by whoever that certificate is."""
        context = ssl.create_default_context(cafile=str(self.authority.file))
        if paper is not None:
            context.load_cert_chain(paper.certificate, paper.key)
        alert = {"labels": {"alertname": group}, "startsAt": datetime.now(UTC).isoformat()}
        body = {"version": "4", "groupKey": group, "alerts": [alert]}
        with httpx2.Client(base_url=self.house.url, verify=context, timeout=WAIT_S) as api:
            return api.post(path, json=body, headers=headers)


@pytest.fixture
def secured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Secured]:
    """A service with a certificate, which asks for those of its clients; some of them have keys."""
    monkeypatch.setattr("affidavit.server.serving.HANDSHAKE_S", 1.0)
    authority = Authority(tmp_path)
    paper = authority.sign("service")
    server = ServerTable(
        tls_certificate=str(paper.certificate),
        tls_key=str(paper.key),
        client_ca=str(authority.file),
    )
    settings = Settings(backends=Backends.model_validate(NOTHING), server=server)
    book = SqliteIncidents(tmp_path / "incidents.db")
    with served(tmp_path, plan=HookPlan(settings, {}, book), settings=settings) as house:
        house.house.ring.create("alerts", "acme", (Role.OPERATOR,), ALERTS)
        house.house.ring.create("looker", "acme", (Role.VIEWER,), "URI:spiffe://acme/looker")
        house.house.ring.create("old", "theirs", (Role.OPERATOR,), "CN:old-alerts")
        yield Secured(house, authority, tmp_path)
    anyio.run(book.close)


def runs(secured: Secured, tenant: str = "acme") -> list[dict[str, Any]]:
    """The runs of a tenant, by its store."""
    house = secured.house

    async def read() -> list[dict[str, Any]]:
        found = await house.house.store.runs(tenant, 50)
        return [{"question": head.question} for head in found]

    return house.call(read)


@pytest.mark.spec("I5", "N13")
@pytest.mark.fault("R67", "R69")
def test_a_certificate_stands_for_its_key_at_the_hooks_and_nowhere_else(secured: Secured) -> None:
    """Its name decides whose it is; a role that is too small is 403; no name, another's name or
    another path is 401, as no certificate is. A wrong key beside a right certificate is refused."""
    alerts = secured.paper("alerts", x509.DNSName("alerts.monitoring.svc"))
    told = secured.post(alerts, "one")
    assert (told.status_code, told.json()["started"]) == (200, 1)
    assert told.headers["strict-transport-security"]
    looker = secured.paper("looker", x509.UniformResourceIdentifier("spiffe://acme/looker"))
    problem(secured.post(looker, "two"), 403, "ROLE_TOO_SMALL")
    old = secured.paper("old-alerts")
    assert secured.post(old, "three").status_code == 200
    for paper in (
        None,
        secured.paper("alerts.monitoring.svc"),  # a common name is no DNS name
        secured.paper("old-alerts", x509.DNSName("other.example")),  # and counts alone only
        secured.paper("wild", x509.DNSName("*.monitoring.svc")),
        secured.paper("upper", x509.DNSName("alerts.monitoring.svc.evil.example")),
        secured.paper(
            "two",
            x509.DNSName("alerts.monitoring.svc"),
            x509.UniformResourceIdentifier("spiffe://acme/looker"),
        ),
    ):
        problem(secured.post(paper, "four"), 401, "UNAUTHORIZED")
    problem(secured.post(alerts, "four", "/api/v1/gate"), 401, "UNAUTHORIZED")
    problem(secured.post(alerts, "four", authorization="Bearer nonsense"), 401, "UNAUTHORIZED")
    assert len(runs(secured)) == 1
    assert len(runs(secured, "theirs")) == 1


@pytest.mark.spec("I5")
@pytest.mark.fault("R67")
def test_what_another_authority_signed_or_what_is_over_does_not_get_through(
    secured: Secured,
) -> None:
    """The handshake refuses it. A disabled key is out at once, whatever its certificate says."""
    (secured.folder / "other").mkdir()
    foreign = Authority(secured.folder / "other")
    name = x509.DNSName("alerts.monitoring.svc")
    for paper in (
        foreign.sign("alerts", names=(name,)),
        secured.paper("over", name, days=-2),
    ):
        with pytest.raises((httpx2.TransportError, ssl.SSLError)):
            secured.post(paper, "one")
    alerts = secured.paper("alerts", name)
    assert secured.post(alerts, "one").status_code == 200
    ring = secured.house.house.ring
    (mine,) = [entry for entry in ring.contents().keys if entry.certificate == ALERTS]
    ring.disable(mine.id)
    problem(secured.post(alerts, "two"), 401, "UNAUTHORIZED")
    ring.create("alerts", "theirs", (Role.OPERATOR,), ALERTS)
    assert secured.post(alerts, "two").status_code == 200
    assert (len(runs(secured)), len(runs(secured, "theirs"))) == (1, 1)


def test_a_certificate_that_ends_while_its_connection_lives_is_nobody_s_any_more(
    secured: Secured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The handshake is long over; the next request is 401."""
    paper = secured.paper("alerts", x509.DNSName("alerts.monitoring.svc"))
    context = ssl.create_default_context(cafile=str(secured.authority.file))
    context.load_cert_chain(paper.certificate, paper.key)
    body = {"version": "4", "groupKey": "g", "alerts": []}
    with httpx2.Client(base_url=secured.house.url, verify=context) as api:
        assert api.post("/hooks/alertmanager", json=body).status_code == 200
        later = time.time() + timedelta(days=8).total_seconds()
        monkeypatch.setattr("affidavit.server.tls.time.time", lambda: later)
        problem(api.post("/hooks/alertmanager", json=body), 401, "UNAUTHORIZED")


def test_a_handshake_that_does_not_come_is_not_waited_for(secured: Secured) -> None:
    """Plain HTTP at the TLS port, half a handshake: an end, and nobody else waits."""
    port = int(secured.house.url.rpartition(":")[2])
    for said in (b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", b"\x16\x03\x01\x02\x00"):
        with socket.create_connection(("127.0.0.1", port), timeout=WAIT_S) as line:
            line.sendall(said)
            with suppress(ConnectionResetError):
                began_s = time.monotonic()
                while line.recv(4096):
                    pass
            assert time.monotonic() - began_s < WAIT_S
    assert secured.post(None, "x").status_code == 401


@pytest.mark.integration("prometheus")
@pytest.mark.spec("I5")
@pytest.mark.fault("R72")
def test_a_real_alertmanager_shows_its_certificate(secured: Secured) -> None:
    """One alert in, one run out, and no key anywhere."""
    needs("prometheus-alertmanager")
    paper = secured.paper("alerts", x509.DNSName("alerts.monitoring.svc"))
    tls = {
        "ca_file": str(secured.authority.file),
        "cert_file": str(paper.certificate),
        "key_file": str(paper.key),
    }
    hook, port = f"{secured.house.url}/hooks/alertmanager", free_port()
    with alertmanager(secured.folder / "am", port, hook, "", tls=tls) as theirs:
        labels = {"alertname": "Slow", "service": "api"}
        alert = {"labels": labels, "startsAt": datetime.now(UTC).isoformat()}
        assert httpx2.post(f"{theirs}/api/v2/alerts", json=[alert]).status_code == 200
        wait_until(lambda: len(runs(secured)) == 1)
    assert "Slow" in runs(secured)[0]["question"]


@pytest.mark.parametrize(
    "changes",
    [
        {"tls_key": ""},
        {"tls_certificate": ""},
        {"tls_certificate": "", "tls_key": ""},
        {"tls_certificate": "/nowhere.pem"},
        {"tls_key": "CA"},
        {"client_ca": "KEY"},
    ],
    ids=str,
)
def test_files_that_are_none_refuse_the_start(tmp_path: Path, changes: dict[str, str]) -> None:
    """One line, before anything listens; plain HTTP is never the way out."""
    authority = Authority(tmp_path)
    paper = authority.sign("service")
    files = {"CA": str(authority.file), "KEY": str(paper.key)}
    good = {
        "tls_certificate": str(paper.certificate),
        "tls_key": str(paper.key),
        "client_ca": str(authority.file),
    }
    assert open_tls(ServerTable.model_validate(good)) is not None
    bad = good | {name: files.get(value, value) for name, value in changes.items()}
    with pytest.raises(InputRefused) as refused:
        open_tls(ServerTable.model_validate(bad))
    assert refused.value.code == "TLS_REFUSED"
    told = {f"AFFIDAVIT_SERVER_{name.upper()}": value for name, value in bad.items()}
    done = subprocess.run(
        [Path(sys.executable).with_name("affidavit"), "serve", "--listen", "127.0.0.1:0"],
        cwd=tmp_path, env={**os.environ, "XDG_STATE_HOME": str(tmp_path), **told},
        capture_output=True, text=True, timeout=WAIT_S, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "TLS" in done.stderr
    assert "Traceback" not in done.stderr
