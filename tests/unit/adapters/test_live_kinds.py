"""What holds of every kind of live back end, also of the next one."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from affidavit.adapters.backend_tables import Backends
from affidavit.adapters.live_backends import LiveConfig, open_live, probe_backends
from affidavit.adapters.live_kinds import KINDS
from affidavit.adapters.outgoing_rules import OutgoingTable
from affidavit.contract.errors import InputRefused
from affidavit.contract.evidence import Window
from affidavit.ports.telemetry import Incident, Symptom

pytestmark = pytest.mark.anyio

URL = "http://127.0.0.1:9"
LEAST: dict[str, dict[str, object]] = {
    "prometheus": {"url": URL},
    "files": {"signal": "logs", "paths": ("/nowhere/*.jsonl",)},
    "postgres": {"host": "127.0.0.1", "port": 9, "user": "x", "tls": "off"},
    "alertmanager": {"url": URL},
    "kubernetes": {"url": URL, "namespaces": ("shop",)},
    "http": {"checks": {"a": {"url": "http://unlisted.example/"}}},
    "journald": {"exports": ("/nowhere/*.export",)},
    "loki": {"url": URL, "query": "{a='b'}"},
    "elasticsearch": {"url": URL, "index": "logs"},
    "tempo": {"url": URL},
    "jaeger": {"url": URL},
}
"""The least that each kind has to be told; a new kind has to stand here."""


def incident(tenant: str = "local") -> Incident:
    now = datetime.now(UTC)
    return Incident(
        id="i",
        title="t",
        question="q?",
        window=Window(start=now, end=now),
        symptom=Symptom(service="x"),
        tenant=tenant,
    )


def config(kind: str, **more: object) -> LiveConfig:
    backends = Backends.model_validate({kind: {"main": {**LEAST[kind], **more}}})
    return LiveConfig(backends, OutgoingTable(hosts=("127.0.0.1:9",)), {})


def test_every_table_of_back_ends_is_wired_and_tried_here() -> None:
    tables = {name for name, found in Backends() if isinstance(found, Mapping)}
    assert tables == set(KINDS) == set(LEAST)


@pytest.mark.spec("H9")
@pytest.mark.parametrize("kind", sorted(LEAST))
async def test_another_tenant_s_back_end_is_not_there(kind: str) -> None:
    theirs = config(kind, tenants=("acme",))
    with pytest.raises(InputRefused) as refused:
        await open_live(theirs, incident(), probe=False)
    assert refused.value.code == "NO_BACKENDS"
    live = await open_live(theirs, incident("acme"), probe=False)
    assert len(live.findings) == 1
    await live.close()


@pytest.mark.spec("C11")
@pytest.mark.fault("R15")
@pytest.mark.parametrize("kind", sorted(LEAST))
async def test_one_that_is_not_there_is_a_finding_with_a_code_and_opens_the_rest(kind: str) -> None:
    (finding,) = await probe_backends(config(kind))
    assert not finding.ok
    assert finding.code in {"SOURCE_UNAVAILABLE", "OUTGOING_UNLISTED"}
    assert finding.name.startswith(f"{kind}:main")
    live = await open_live(config(kind), incident())
    assert [one.name for one in live.unavailable] == [finding.name]
    assert live.lookups == ()
    await live.close()


@pytest.mark.parametrize("kind", sorted(LEAST))
def test_two_names_that_would_give_one_tool_are_refused(kind: str) -> None:
    with pytest.raises(ValidationError, match="too alike"):
        Backends.model_validate({kind: {"a-b": LEAST[kind], "A_b": LEAST[kind]}})
