"""The parent's side of the DuckDB process: start it, ask it, and kill it when it takes too long.

One process a folder, one query at a time. A process is started when it is first needed and again
after it was killed; whoever waits keeps waiting. A call that is cancelled kills the process only
while that call's own query runs in it.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final, TypeAlias, cast

from anyio import to_thread

from affidavit.contract.errors import InternalFault, ToolFailed
from affidavit.ports.telemetry import Plain

MEMORY_MB: Final = 128
"""DuckDB's own limit; with it a 200 MB log is read in about 170 MB resident."""

QUERY_TIMEOUT_S: Final = 20.0
"""Below the time that a tool call has, so that the failure has its own name."""

START_TIMEOUT_S: Final = 20.0
"""A start takes a fifth of a second; a loaded machine may take far longer."""

REPLY_BYTES_MAX: Final = 5 * 1024 * 1024
"""A little above the worker's own bound: a process gone wild does not fill our memory."""

READ_BYTES: Final = 65_536

WORKER: Final = Path(__file__).with_name("duckdb_worker.py")

Given: TypeAlias = "Mapping[str, str | int | bool | None]"


@dataclass(frozen=True, slots=True)
class Query:
    """One SQL text with named parameters (`$name`). At most `rows_max` rows come back."""

    sql: str
    given: Given = field(default_factory=dict)
    rows_max: int = 1
    timeout_s: float = QUERY_TIMEOUT_S


@dataclass(slots=True)
class _Ticket:
    """One call on its way; dropped when its caller no longer wants it."""

    dropped: bool = False


Row: TypeAlias = Mapping[str, Plain]


class DuckRunner:
    """Runs queries in a process of its own.

    `room` is a private directory that it may write to; `files` are open descriptors that it may
    read, as `/proc/self/fd/N`.
    """

    def __init__(self, room: Path, files: Sequence[int] = (), memory_mb: int = MEMORY_MB) -> None:
        self._room = room
        self._files = tuple(files)
        self._memory_mb = memory_mb
        self._turn = threading.Lock()  # whose query runs
        self._guard = threading.Lock()  # over the two fields below
        self._process: subprocess.Popen[bytes] | None = None
        self._current: _Ticket | None = None
        self._number = 0

    @property
    def pid(self) -> int | None:
        """The process, where one lives."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    async def query(self, query: Query) -> tuple[Row, ...]:
        """The rows. Raises ToolFailed; when cancelled, the query is over and the worker gone."""
        ticket = _Ticket()
        settled = False
        try:
            rows = await to_thread.run_sync(self._run, query, ticket, abandon_on_cancel=True)
            settled = True
            return rows
        except ToolFailed:
            settled = True
            raise
        finally:
            if not settled:
                self._drop(ticket)

    def query_now(self, query: Query) -> tuple[Row, ...]:
        """The rows, for a caller without an event loop. Raises ToolFailed."""
        return self._run(query, _Ticket())

    def forget_files(self) -> None:
        """A process that is started from now on gets no descriptor."""
        self._files = ()

    def close(self) -> None:
        """No process is left. A query that still runs fails."""
        with self._guard:
            self._end()
        with self._turn:
            self._clear()

    def _drop(self, ticket: _Ticket) -> None:
        with self._guard:
            ticket.dropped = True
            if self._current is ticket:
                self._end()  # whoever reads from it sees the end and clears up

    def _run(self, query: Query, ticket: _Ticket) -> tuple[Row, ...]:
        with self._turn:
            with self._guard:
                if ticket.dropped:
                    raise ToolFailed("the query was dropped before it began", code="CANCELLED")
                self._current = ticket
            try:
                return self._exchange(query)
            finally:
                with self._guard:
                    self._current = None

    def _exchange(self, query: Query) -> tuple[Row, ...]:
        process = self._running()
        self._number += 1
        request = {
            "id": self._number,
            "sql": query.sql,
            "given": dict(query.given),
            "rows_max": query.rows_max,
        }
        reply = self._ask(process, request, query.timeout_s)
        columns = cast("list[str]", reply["columns"])
        rows = cast("list[list[Plain]]", reply["rows"])
        return tuple(dict(zip(columns, row, strict=True)) for row in rows)

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._clear()
        try:
            with self._guard:
                process = self._process = self._start()
        except OSError as error:
            raise ToolFailed("no query process can be started", code="SOURCE_FAILED") from error
        setup = {"files": self._files, "room": str(self._room), "memory_mb": self._memory_mb}
        self._ask(process, setup, START_TIMEOUT_S)
        return process

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603 -- our own interpreter and our own file
            [sys.executable, "-I", str(WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=self._files,
            env={"LANG": "C.UTF-8", "TZ": "UTC"},  # no secret of ours reaches it
            cwd=self._room,
            process_group=0,  # the terminal's Ctrl-C is for us; we end it when we end
        )

    def _ask(
        self, process: subprocess.Popen[bytes], request: Mapping[str, object], timeout_s: float
    ) -> Mapping[str, object]:
        stdin, stdout = _pipes(process)
        deadline_s = time.monotonic() + timeout_s
        try:
            stdin.write(json.dumps(request).encode() + b"\n")
            stdin.flush()
            line = _read_line(stdout.fileno(), deadline_s)
        except (OSError, EOFError, ToolFailed) as error:
            self._clear()
            if isinstance(error, ToolFailed):
                raise
            status = process.returncode
            raise ToolFailed(f"the query process ended ({status})", code="SOURCE_FAILED") from error
        reply = cast("Mapping[str, object]", json.loads(line))
        if "failed" in reply:
            raise ToolFailed(str(reply["detail"]), code=str(reply["failed"]))
        return reply

    def _end(self) -> None:
        """Kill the process; its pipes stay with whoever reads from them. The caller holds guard."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()

    def _clear(self) -> None:
        """Kill the process and close its pipes. The caller has the turn."""
        with self._guard:
            self._end()
            process, self._process = self._process, None
        if process is not None:
            process.wait()
            for pipe in _pipes(process):
                with suppress(OSError):  # bytes that a dead process never took
                    pipe.close()


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    if process.stdin is None or process.stdout is None:
        raise InternalFault("the query process was started without pipes")
    return process.stdin, process.stdout


def _read_line(descriptor: int, deadline_s: float) -> bytes:
    """One line. Raises ToolFailed when it is late or too long, EOFError when there is none."""
    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    line = bytearray()
    while not line.endswith(b"\n"):  # one reply is under way at a time, so nothing follows it
        left_s = deadline_s - time.monotonic()
        if left_s <= 0 or not poller.poll(left_s * 1000):
            raise ToolFailed("the query took too long and was ended", code="TIMEOUT")
        chunk = os.read(descriptor, READ_BYTES)
        if not chunk:
            raise EOFError("the pipe ended")
        line += chunk
        if len(line) > REPLY_BYTES_MAX:
            raise ToolFailed("the answer is larger than its bound", code="RESULT_LIMIT")
    return bytes(line)
