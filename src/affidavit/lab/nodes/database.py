"""The database server: SQLite behind a small protocol, with a server's own log.

It reports about itself as database servers do: a statement over the threshold with the plan that
was really used, a wait for the write lock with the session that really held it.
"""

import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from affidavit.lab.instruments import LOCK_HELD, LOCK_TIMEOUTS, STATEMENT_DURATION
from affidavit.lab.nodes.node import JsonObject, Node, Refused, Request

_SCHEMA = """
CREATE TABLE orders (
    id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL, placed_at REAL NOT NULL,
    status TEXT NOT NULL, total_cents INTEGER NOT NULL, note TEXT NOT NULL);
CREATE TABLE order_lines (
    id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL, product_id INTEGER NOT NULL,
    quantity INTEGER NOT NULL);
CREATE TABLE products (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, price_cents INTEGER NOT NULL);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {orders})
INSERT INTO orders SELECT i, i * 7919 % {customers}, 1.7e9 + i, 'shipped', i * 37 % 90000,
    hex(i * 2654435761) || ' gift wrap, leave with the neighbour' FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {lines})
INSERT INTO order_lines SELECT i, 1 + i * 3 % {orders}, 1 + i * 31 % {products},
    1 + i % 3 FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {products})
INSERT INTO products SELECT i, printf('article %X', i * 40503), 500 + i * 97 % 20000 FROM n;
CREATE INDEX orders_by_customer ON orders (customer_id, placed_at);
CREATE INDEX lines_by_order ON order_lines (order_id);
"""
CUSTOMERS = 4_000
PRODUCTS = 200
_UNAVAILABLE = 503
_FETCH_MAX = 500  # rows an answer may hold
_JOB_PAUSE_S = 0.05  # between two batches of a maintenance job, so that it holds a lock, not a core
_SCAN_ROWS_MIN = 50_000  # a scan of fewer takes a few milliseconds: not what made a statement slow


class DatabaseServer:
    """One SQLite file, one session per client connection, one writer at a time."""

    def __init__(self, node: Node) -> None:
        self._node = node
        node.declare(orders=1_000_000, lines=100_000, slow_ms=50.0, lock_wait_s=1.5)
        self._path = Path(node.spec.folder) / f"{node.spec.name}.sqlite"
        self._sessions = threading.local()
        self._writer: tuple[str, float] | None = None
        self._fill()
        node.telemetry.count(LOCK_TIMEOUTS, 0)
        node.telemetry.gauge(LOCK_HELD, self._held_ms)
        node.route("POST", "/sql", self.run)
        node.action("migrate", self.migrate)
        node.action("maintain", self.maintain)

    def _fill(self) -> None:
        if self._path.exists():
            return
        session = sqlite3.connect(self._path, isolation_level=None)
        session.execute("PRAGMA journal_mode = WAL")
        orders, lines = int(self._node.settings["orders"]), int(self._node.settings["lines"])
        script = _SCHEMA.format(orders=orders, lines=lines, customers=CUSTOMERS, products=PRODUCTS)
        session.executescript(f"BEGIN;{script}COMMIT;")
        session.close()

    def _open(self) -> sqlite3.Connection:
        wait_s = float(self._node.settings["lock_wait_s"])
        session = sqlite3.connect(self._path, timeout=wait_s, isolation_level=None)
        session.execute("PRAGMA synchronous = NORMAL")
        return session

    def _session(self) -> sqlite3.Connection:
        """This thread's session; a client connection is one thread of the server."""
        known: sqlite3.Connection | None = getattr(self._sessions, "session", None)
        if known is None:
            known = self._sessions.session = self._open()
        return known

    def _held_ms(self) -> float:
        writer = self._writer
        return (time.monotonic() - writer[1]) * 1000 if writer else 0.0

    def run(self, request: Request) -> Any:
        """Run one statement; writing ones take the write lock for themselves."""
        sql, args = request.body["sql"], request.body["args"]
        started = time.perf_counter()
        try:
            rows = self._session().execute(sql, args).fetchmany(_FETCH_MAX)
        except sqlite3.OperationalError as error:
            waited_ms = (time.perf_counter() - started) * 1000
            raise self._refusal(request, error, waited_ms) from None
        elapsed_ms = (time.perf_counter() - started) * 1000
        self._node.telemetry.observe(STATEMENT_DURATION, elapsed_ms)
        if elapsed_ms > float(self._node.settings["slow_ms"]):
            self._report_slow(request, elapsed_ms)
        return {"rows": rows}

    def _report_slow(self, request: Request, elapsed_ms: float) -> None:
        sql = request.body["sql"]
        with closing(self._open()) as session:  # a prepared EXPLAIN outlives a schema change
            plan = session.execute(f"EXPLAIN QUERY PLAN {sql}", request.body["args"]).fetchall()
            steps = [str(row[3]) for row in plan]
            scans = [_describe_scan(session, step) for step in steps if _is_bare_scan(step)]
        text = f"slow statement: {request.body['name']} took {elapsed_ms:.0f} ms"
        if any(scans):
            text += f" because of a full scan of table {', '.join(filter(None, scans))}"
        text += f"; plan: {'; '.join(steps) or 'none'}; statement: {sql}"
        self._node.telemetry.log("WARN", text, request.trace, "platform")

    def _refusal(self, request: Request, error: Exception, waited_ms: float) -> Refused:
        text = f"{request.body['name']}: {error}"
        writer = self._writer
        if "locked" in str(error):
            self._node.telemetry.count(LOCK_TIMEOUTS)
            text += f" after waiting {waited_ms:.0f} ms for the write lock"
            if writer:
                held_s = time.monotonic() - writer[1]
                text += f", held for {held_s:.1f} s by session {writer[0]}"
        self._node.telemetry.log("ERROR", text, request.trace, "platform")
        return Refused(_UNAVAILABLE, text)

    def migrate(self, order: JsonObject) -> None:
        """Run a schema change, as a release does."""
        session = self._open()
        session.execute(order["sql"])
        session.close()
        self._node.telemetry.log("INFO", f"schema changed: {order['sql']}", emitter="platform")

    def maintain(self, order: JsonObject) -> None:
        """Run a maintenance job that rewrites old orders, holding the write lock for `hold_s`."""
        hold_s, rest_s = float(order["hold_s"]), float(order["rest_s"])
        until = time.monotonic() + float(order["for_s"])
        threading.Thread(
            target=self._maintain, args=(order["job"], hold_s, rest_s, until), daemon=True
        ).start()

    def _maintain(self, job: str, hold_s: float, rest_s: float, until: float) -> None:
        with closing(self._open()) as session:
            while time.monotonic() < until and not self._node.draining.is_set():
                try:
                    session.execute("BEGIN IMMEDIATE")
                except sqlite3.OperationalError:  # somebody else writes: try again
                    time.sleep(_JOB_PAUSE_S)
                    continue
                self._writer = (job, time.monotonic())
                self._rewrite(session, min(time.monotonic() + hold_s, until))
                session.execute("COMMIT")
                self._writer = None
                time.sleep(rest_s)

    def _rewrite(self, session: sqlite3.Connection, until: float) -> None:
        while time.monotonic() < until and not self._node.draining.is_set():
            session.execute(
                "UPDATE orders SET note = note WHERE id IN "
                "(SELECT abs(random() % 1000) FROM orders LIMIT 50)"
            )
            time.sleep(_JOB_PAUSE_S)


def _is_bare_scan(step: str) -> bool:
    """Whether a step of a plan reads a whole table without any index."""
    return step.startswith("SCAN ") and " USING " not in step


def _describe_scan(session: sqlite3.Connection, step: str) -> str | None:
    """The scanned table and its size; None for one so small that a scan explains nothing."""
    table = step.split()[1]
    found = session.execute(f"SELECT max(rowid) FROM {table}").fetchone()  # noqa: S608 - own plan
    rows = int(found[0] or 0)
    return f"{table} ({rows} rows, no usable index)" if rows >= _SCAN_ROWS_MIN else None
