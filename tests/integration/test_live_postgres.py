"""A real PostgreSQL behind the look-up tool: read-only, bounded, and a role that is looked at."""

from __future__ import annotations

import asyncio
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import asyncpg  # type: ignore[import-untyped]  # it ships no types
import pytest

from affidavit.adapters.backend_tables import PostgresTable
from affidavit.adapters.outgoing_rules import OutgoingTable
from affidavit.adapters.postgres import PostgresLookup, mask_literals
from affidavit.contract.errors import InputRefused, ToolFailed
from affidavit.contract.evidence import Envelope, Row
from affidavit.tools.capture.lookups import lookup_tool
from affidavit.tools.catalogue import ToolContext
from tests.support.watched_lab import free_port, needs, running

pytestmark = [pytest.mark.slow, pytest.mark.anyio, pytest.mark.integration("postgres")]

READY_S = 30.0

ROLES = """
CREATE TABLE orders (id int PRIMARY KEY, note text);
INSERT INTO orders VALUES (1, 'x');
CREATE ROLE looker LOGIN;
GRANT pg_monitor TO looker;
GRANT SELECT ON orders TO looker;
CREATE ROLE writer LOGIN;
GRANT UPDATE ON orders TO writer;
"""


@dataclass(frozen=True)
class Server:
    """A running server that trusts whoever comes over loopback."""

    port: int

    async def connect(self, user: str = "boss") -> Any:
        return await asyncpg.connect(
            host="127.0.0.1", port=self.port, user=user, database="postgres", ssl=False
        )

    def lookup(self, user: str, **more: Any) -> PostgresLookup:
        table = PostgresTable(
            host="127.0.0.1", port=self.port, user=user, tls="off", service="orders-db", **more
        )
        return PostgresLookup("main", table, "", OutgoingTable(hosts=("127.0.0.1",)))


def programs_of_postgres() -> Path:
    """Where the server's programs lie: on the PATH, or where Debian keeps each version's."""
    found = shutil.which("postgres")
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    if found is None and versions:
        return versions[-1].parent
    needs("postgres")
    return Path(found or "").resolve().parent


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """PostgreSQL refuses to run as root: then it runs as nobody."""
    programs = programs_of_postgres()
    folder = tmp_path_factory.mktemp("postgres")
    # Folders of tests are closed to other users, also to the one that the server runs as.
    data, port = Path(tempfile.mkdtemp(prefix="affidavit-postgres-")), free_port()
    user: str | None = None
    if os.geteuid() == 0:
        user = "nobody"
        shutil.chown(data, user)
        assert pwd.getpwnam(user)
    as_user = [] if user is None else ["setpriv", f"--reuid={user}", "--clear-groups"]
    made = subprocess.run(
        [*as_user, programs / "initdb", "-D", data, "-U", "boss", "-A", "trust", "-N"],
        capture_output=True, text=True, check=False, cwd="/",
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    command = [*as_user, str(programs / "postgres"), "-D", str(data), "-p", str(port),
               "-h", "127.0.0.1", "-k", "", "-F"]  # fmt: skip
    with running(command, folder / "postgres.log"):
        until_s = time.monotonic() + READY_S
        ready = [str(programs / "pg_isready"), "-h", "127.0.0.1", "-p", str(port)]
        while subprocess.run(ready, capture_output=True, check=False).returncode != 0:
            assert time.monotonic() < until_s, (folder / "postgres.log").read_text()
            time.sleep(0.1)
        yield Server(port)
    shutil.rmtree(data, ignore_errors=True)


@pytest.fixture
async def peopled(server: Server) -> Server:
    session = await server.connect()
    if not await session.fetchval("SELECT count(*) FROM pg_roles WHERE rolname = 'looker'"):
        await session.execute(ROLES)
    await session.close()
    return server


async def looked(lookup: PostgresLookup, what: str) -> Envelope:
    tool = lookup_tool(lookup)
    arguments = tool.read_arguments({"look": what})
    now = datetime.now(UTC)
    scope = tool.scope_of(arguments, ToolContext("run_1", "local", None, now))
    envelope = tool.project(await tool.fetch(arguments, scope), arguments, scope, now)
    assert envelope.contradiction() is None
    return envelope


def cells(envelope: Envelope) -> list[dict[str, object]]:
    return [
        {cell.name: cell.text if cell.quantity is None else cell.quantity.number
         for cell in fact.cells}
        for fact in envelope.facts if isinstance(fact, Row)
    ]  # fmt: skip


@pytest.mark.spec("T7")
async def test_who_blocks_whom_is_seen_without_what_users_typed(peopled: Server) -> None:
    holder, waiter = await peopled.connect(), await peopled.connect()
    await holder.execute("BEGIN; UPDATE orders SET note = 'card 4111-1111' WHERE id = 1")
    blocked = asyncio.ensure_future(waiter.execute("UPDATE orders SET note = 's3cret' WHERE id=1"))
    try:
        for _ in range(100):
            envelope = await looked(peopled.lookup("looker"), "locks")
            if envelope.facts:
                break
            await asyncio.sleep(0.05)
    finally:
        await holder.execute("ROLLBACK")
        await blocked
        await holder.close()
        await waiter.close()
    (row,) = cells(envelope)
    assert row["holder_state"] == "idle in transaction"
    assert row["statement"] == "UPDATE orders SET note = ? WHERE id=?"
    text = envelope.model_dump_json()
    assert "s3cret" not in text
    assert "4111" not in text


async def test_nobody_blocked_is_no_evidence_and_settings_are_rows(peopled: Server) -> None:
    lookup = peopled.lookup("looker")
    assert (await looked(lookup, "locks")).status == "NO_EVIDENCE"
    settings = cells(await looked(lookup, "settings"))
    assert {"setting": "max_connections", "value": "100", "unit": None,
            "source": "configuration file"} in settings  # fmt: skip
    (database,) = cells(await looked(lookup, "database"))
    assert database["database"] == "postgres"
    activity = await looked(lookup, "activity")
    assert activity.total == len(cells(activity))


@pytest.mark.parametrize("role", ["boss", "writer"])
async def test_a_role_that_could_write_is_refused(peopled: Server, role: str) -> None:
    with pytest.raises(ToolFailed) as failed:
        await peopled.lookup(role).probe()
    assert failed.value.code == "ROLE_NOT_READ_ONLY"


async def test_the_probe_proves_that_it_is_read_only(peopled: Server) -> None:
    assert "read-only" in (await peopled.lookup("looker").probe()).said


async def test_an_agent_s_word_becomes_no_statement(peopled: Server) -> None:
    with pytest.raises(ToolFailed) as failed:
        await looked(peopled.lookup("looker"), "locks) AS x; DROP TABLE orders; --")
    assert failed.value.code == "BAD_REQUEST"


@pytest.mark.fault("R75", "R15")
async def test_what_is_wrong_with_the_way_there_is_a_code(peopled: Server) -> None:
    with pytest.raises(ToolFailed) as failed:
        await peopled.lookup("nobody_known").probe()
    assert failed.value.code == "UNAUTHORIZED"
    table = PostgresTable(host="127.0.0.1", port=9, user="x", tls="off")
    with pytest.raises(ToolFailed) as failed:
        await PostgresLookup("m", table, "", OutgoingTable(hosts=("127.0.0.1",))).probe()
    assert failed.value.code == "SOURCE_UNAVAILABLE"
    with pytest.raises(InputRefused) as refused:
        await PostgresLookup("m", table, "", OutgoingTable()).probe()
    assert refused.value.code == "OUTGOING_UNLISTED"


@pytest.mark.parametrize(
    ("statement", "masked"),
    [
        ("SELECT 'it''s', 12.5 FROM t1 WHERE a=$1", "SELECT ?, ? FROM t1 WHERE a=$1"),
        ("SELECT $tag$ secret $tag$ -- secret\n, /* secret */ x", "SELECT ? ? , ? x"),
        ("UPDATE t SET a = 'cut off in the midd", "UPDATE t SET a = ?"),
    ],
)
def test_literals_are_masked(statement: str, masked: str) -> None:
    assert mask_literals(statement) == masked
