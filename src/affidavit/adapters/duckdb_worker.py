"""The process that holds DuckDB: one SQL text in, bounded rows out, and nothing else to reach.

It is started by path, `python -I duckdb_worker.py`, with nothing of the package imported, and
speaks JSON lines over its standard pipes. The first line configures and locks it: files by
descriptor and one private directory, no network, no extension, a memory limit, one thread. It is
meant to be killed: it holds nothing that its parent cannot do again. When its parent dies, its
input ends and it goes too, with its private directory.

    in   {"files": [3, 4], "room": "/tmp/…", "memory_mb": 128}
    in   {"id": 1, "sql": "SELECT …", "given": {…}, "rows_max": 50}
    out  {"id": 1, "columns": ["a"], "rows": [["1.5"]]}
    out  {"id": 1, "failed": "MEMORY_LIMIT", "detail": "Out of Memory Error: …"}
"""

from __future__ import annotations

import json
import math
import os
import queue
import resource
import shutil
import sys
import threading
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

DATA_HEADROOM_MB: Final = 512
"""Above DuckDB's own limit: interpreter, allocator and parser buffers that it does not count."""

TEMP_SIZE_MAX: Final = "2GB"
"""What a sort or join may spill; a query that needs more is asked too widely."""

REPLY_BYTES_MAX: Final = 4 * 1024 * 1024
"""One answer; the tools ask for a few hundred short rows."""

DETAIL_LINES_MAX: Final = 8
DETAIL_CHARS_MAX: Final = 200
"""Of an engine's error text and of each of its lines; what follows repeats query and data."""

DIGITS: Final = 9
"""Significant digits of a computed number; beyond them floating point is noise."""

PLAIN_EXPONENT_MAX: Final = 15
"""A decimal is written out up to here, and with an exponent beyond."""


def read_requests(inbox: queue.SimpleQueue[dict[str, Any]], room: list[str]) -> None:
    """Pass on each request; when there will be no more, tidy up and end the process at once.

    This runs in a thread of its own, so that a query under way does not outlive the parent.
    """
    for line in sys.stdin.buffer:
        inbox.put(json.loads(line))
    for path in room:
        shutil.rmtree(path, ignore_errors=True)
    os._exit(0)


def limit_process(memory_mb: int) -> None:
    """No core file, and a hard bound on memory for what DuckDB does not count."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    data_bytes = (memory_mb + DATA_HEADROOM_MB) * 1024 * 1024
    resource.setrlimit(resource.RLIMIT_DATA, (data_bytes, data_bytes))


def quoted(text: str) -> str:
    """An SQL text literal."""
    return "'" + text.replace("'", "''") + "'"


def connect(setup: dict[str, Any]) -> Any:
    """A connection that reads the given descriptors and one directory, locked."""
    import duckdb

    room = setup["room"]
    con = duckdb.connect(
        ":memory:",
        config={
            "threads": 1,
            "memory_limit": f"{int(setup['memory_mb'])}MB",
            "preserve_insertion_order": False,
            "enable_external_file_cache": False,
            "python_enable_replacements": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "allow_community_extensions": False,
            "allow_persistent_secrets": False,
        },
    )
    files = ", ".join(quoted(f"/proc/self/fd/{int(fd)}") for fd in setup["files"])
    for statement in (
        "SET TimeZone = 'UTC'",
        f"SET temp_directory = {quoted(str(Path(room) / 'spill'))}",
        f"SET max_temp_directory_size = '{TEMP_SIZE_MAX}'",
        f"SET allowed_paths = [{files}]",
        f"SET allowed_directories = [{quoted(room)}]",
        "SET enable_external_access = false",
        "SET lock_configuration = true",
    ):
        con.execute(statement)
    return con


def plain(value: object) -> str | int | bool | None:
    """One cell: counts stay integers, measured numbers become decimal text, NaN is null."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return decimal_text(Decimal(f"{value:.{DIGITS}g}")) if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return decimal_text(value)
    raise TypeError(f"a query may not return {type(value).__name__}")


def decimal_text(number: Decimal) -> str:
    """A decimal without a needless exponent or trailing zeros."""
    number = number.normalize()
    return f"{number:f}" if abs(number.adjusted()) <= PLAIN_EXPONENT_MAX else str(number)


def answer(con: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Run one query. The reply names a failure; it never raises for one."""
    import duckdb

    try:
        cursor = con.execute(request["sql"], request.get("given") or None)
        columns = [column[0] for column in cursor.description or ()]
        rows = [[plain(cell) for cell in row] for row in cursor.fetchmany(request["rows_max"])]
    except (duckdb.OutOfMemoryException, MemoryError) as error:
        return {"failed": "MEMORY_LIMIT", "detail": detail(error)}
    except (duckdb.Error, TypeError, UnicodeError) as error:
        return {"failed": "SOURCE_FAILED", "detail": detail(error)}
    return {"columns": columns, "rows": rows}


def detail(error: Exception) -> str:
    """The start of an error text, bounded."""
    lines = str(error).strip().splitlines()[:DETAIL_LINES_MAX]
    return "\n".join(line[:DETAIL_CHARS_MAX] for line in lines)


def reply(number: int, content: dict[str, Any]) -> None:
    """Write one line."""
    line = json.dumps({"id": number} | content, ensure_ascii=True)
    if len(line) > REPLY_BYTES_MAX:
        line = json.dumps({"id": number, "failed": "RESULT_LIMIT", "detail": f"{len(line)} bytes"})
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    """Configure once, then answer until the input ends."""
    inbox: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    room: list[str] = []
    threading.Thread(target=read_requests, args=(inbox, room), daemon=True).start()
    setup = inbox.get()
    room.append(str(setup["room"]))
    try:
        con = connect(setup)
    except ModuleNotFoundError as error:
        reply(0, {"failed": "NOT_INSTALLED", "detail": detail(error)})
        return
    limit_process(int(setup["memory_mb"]))
    reply(0, {"columns": [], "rows": []})
    while True:
        request = inbox.get()
        reply(int(request["id"]), answer(con, request))


if __name__ == "__main__":
    main()
