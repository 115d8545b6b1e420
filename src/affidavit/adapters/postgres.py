"""Looks at a PostgreSQL server with fixed, read-only queries, and refuses a role that could write.

Every session is read-only, its statements are bounded in time, and it waits for no lock. At each
connect the role is looked at: one that is a superuser, may create, or may write to any table is
refused, whatever the session says. Texts of statements lose their literals before they leave here.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final

import anyio

from affidavit.adapters.backend_tables import PostgresTable
from affidavit.adapters.outgoing_http import Resolve, resolve_by_system
from affidavit.adapters.outgoing_rules import OutgoingTable, Place, check_addresses, check_host
from affidavit.contract.errors import ToolFailed
from affidavit.contract.evidence import Window
from affidavit.contract.states import EvidenceClass
from affidavit.ports.lookups import Looked, Proof
from affidavit.ports.telemetry import Plain

ROWS_MAX: Final = 50
STATEMENT_CHARS_MAX: Final = 300
CLOSE_S: Final = 1.0

LITERALS: Final = re.compile(
    r"""\$([A-Za-z_]\w*|)\$.*?\$\1\$   # dollar quotes
      | '(?:[^']|'')*'?                 # a text, also one that was cut
      | --[^\n]*|/\*.*?(?:\*/|$)        # comments
      | (?<![\w$])\d+(?:\.\d+)?         # a number; a parameter ($1) stays
    """,
    re.VERBOSE | re.DOTALL,
)

ROLE: Final = """
SELECT r.rolsuper OR r.rolcreaterole OR r.rolcreatedb OR r.rolreplication OR r.rolbypassrls
           AS is_mighty,
       has_database_privilege(current_database(), 'CREATE') AS may_create,
       EXISTS (SELECT FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
               WHERE c.relkind IN ('r', 'p')
                 AND n.nspname NOT IN ('pg_catalog', 'information_schema')
                 AND has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')) AS may_write,
       current_setting('transaction_read_only') = 'on' AS is_read_only
FROM pg_roles AS r WHERE r.rolname = current_user"""

LOOKS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "activity": """
SELECT pid::text AS session, state, wait_event_type AS waits_for, wait_event,
       application_name AS application,
       extract(epoch FROM clock_timestamp() - xact_start) AS transaction_s,
       extract(epoch FROM clock_timestamp() - query_start) AS statement_s, query AS statement
FROM pg_stat_activity
WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'
ORDER BY xact_start NULLS LAST, pid""",
        "locks": """
SELECT waiting.pid::text AS session, blocker::text AS blocked_by,
       waiting.wait_event AS lock,
       extract(epoch FROM clock_timestamp() - waiting.query_start) AS waiting_s,
       waiting.query AS statement, holding.state AS holder_state,
       holding.query AS holder_statement
FROM pg_stat_activity AS waiting
CROSS JOIN LATERAL unnest(pg_blocking_pids(waiting.pid)) AS blocker
LEFT JOIN pg_stat_activity AS holding ON holding.pid = blocker
ORDER BY waiting.query_start, waiting.pid""",
        "database": """
SELECT datname AS database, numbackends AS sessions, xact_commit AS commits,
       xact_rollback AS rollbacks, blks_read AS blocks_read, blks_hit AS blocks_hit, deadlocks,
       temp_files, temp_bytes, conflicts
FROM pg_stat_database WHERE datname = current_database()""",
        "settings": """
SELECT name AS setting, setting AS value, unit, source
FROM pg_settings
WHERE name IN ('max_connections', 'shared_buffers', 'work_mem', 'statement_timeout', 'lock_timeout',
               'idle_in_transaction_session_timeout', 'deadlock_timeout', 'max_wal_size',
               'autovacuum', 'random_page_cost', 'effective_cache_size')
ORDER BY name""",
    }
)
"""The questions, fixed: nothing of an agent's ever becomes part of a statement."""


class PostgresLookup:
    """One configured server (`ports.lookups.Lookup`)."""

    source_type = "database"
    description = (
        "Looks at the PostgreSQL server now: activity (sessions and what they wait for), locks "
        "(who blocks whom), database (counters), settings. Statements without their literals."
    )
    evidence_class = EvidenceClass.OBSERVATION
    looks = tuple(LOOKS)
    windowed: frozenset[str] = frozenset()
    spoken = frozenset({"statement", "holder_statement", "application"})

    def __init__(
        self,
        name: str,
        table: PostgresTable,
        password: str,
        outgoing: OutgoingTable,
        resolve: Resolve = resolve_by_system,
    ) -> None:
        self.name = f"postgres_{re.sub(r'[^a-z0-9]', '_', name.lower())}"
        self.source = f"postgres:{name}"
        self.service = table.service or name
        self._table = table
        self._password = password
        self._outgoing = outgoing
        self._resolve = resolve

    async def probe(self) -> Proof:
        """See `Lookup.probe`."""
        async with self._session():
            return Proof("answers; the session is read-only, and the role may write to no table")

    async def look(self, what: str, window: Window | None = None) -> Looked:
        """See `Lookup.look`."""
        async with self._session() as session:
            found = await session.fetch(f"SELECT * FROM ({LOOKS[what]}) AS found")  # noqa: S608 -- ours
        rows = [{name: _plain(name, value) for name, value in row.items()} for row in found]
        return Looked(rows[:ROWS_MAX], len(rows))

    @asynccontextmanager
    async def _session(self) -> AsyncIterator[Any]:
        """A read-only session of a role that was looked at. Raises ToolFailed."""
        import asyncpg  # type: ignore[import-untyped]  # it ships no types

        where = f"{self.source} at {self._table.host}:{self._table.port}"
        session: Any | None = None
        try:
            with anyio.fail_after(self._table.timeout_s):
                session = await self._connect(asyncpg)
                async with session.transaction(readonly=True):
                    await _check_role(session, where)
                    yield session
        except TimeoutError:
            raise ToolFailed(f"{where} does not answer in time", code="TIMEOUT") from None
        except asyncpg.InvalidAuthorizationSpecificationError:
            raise ToolFailed(
                f"{where} refuses the role {self._table.user}",
                code="UNAUTHORIZED",
                hint="check user and password",
            ) from None
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            raise ToolFailed(
                f"{where} cannot be asked ({type(error).__name__})", code="SOURCE_UNAVAILABLE"
            ) from None
        finally:
            if session is not None:
                with anyio.CancelScope(shield=True), anyio.move_on_after(CLOSE_S):
                    await session.close()
                session.terminate()

    async def _connect(self, asyncpg: Any) -> Any:
        """Over a checked address; with verify-full by name, whose certificate is the proof."""
        table = self._table
        place = Place("postgres", table.host.lower(), table.port)
        check_host(place, self._outgoing)
        found = await self._resolve(place.host, place.port)
        address = str(check_addresses(place, found, self._outgoing)[0])
        milliseconds = str(int(table.timeout_s * 1000))
        connection: Any = await asyncpg.connect(
            host=table.host if table.tls == "verify-full" else address,
            port=table.port,
            user=table.user,
            password=self._password or None,
            database=table.database,
            ssl=_tls(table.tls),
            timeout=table.timeout_s,
            command_timeout=table.timeout_s,
            server_settings={
                "application_name": "affidavit",
                "default_transaction_read_only": "on",
                "statement_timeout": milliseconds,
                "lock_timeout": "500",
            },
        )
        return connection


async def _check_role(session: Any, where: str) -> None:
    """Raises ToolFailed (ROLE_NOT_READ_ONLY)."""
    role = await session.fetchrow(ROLE)
    wrong = [name for name in ("is_mighty", "may_create", "may_write") if role and role[name]]
    if role is None or wrong or not role["is_read_only"]:
        raise ToolFailed(
            f"the role at {where} could change something ({', '.join(wrong) or 'session'})",
            code="ROLE_NOT_READ_ONLY",
            hint="make one that cannot: docs/backends.md",
        )


def _tls(mode: str) -> ssl.SSLContext | bool:
    if mode == "off":
        return False
    context = ssl.create_default_context()
    if mode == "require":
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def mask_literals(statement: str) -> str:
    """The statement without texts, numbers and comments; they hold what users typed."""
    masked = " ".join(LITERALS.sub("?", statement).split())
    return masked if len(masked) <= STATEMENT_CHARS_MAX else masked[: STATEMENT_CHARS_MAX - 1] + "…"


def _plain(name: str, value: object) -> Plain:
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, (Decimal, float)):
        return f"{value:.3f}"
    text = str(value)
    return mask_literals(text) if name.endswith("statement") else text[:STATEMENT_CHARS_MAX]
