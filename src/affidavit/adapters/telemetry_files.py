"""Reads the lines of a window from log, span and change files, newest bytes first.

Files grow while they are read, are rotated, and are somebody else's: they are opened without
waiting, only regular ones, and only so many bytes from their ends. A line that is no record is
counted, never guessed. What was cut inside the window is said.
"""

from __future__ import annotations

import glob
import json
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Final

from affidavit.adapters.backend_tables import FilesTable
from affidavit.contract.errors import ToolFailed

FILES_MAX: Final = 200
BYTES_MAX: Final = 64 * 1024 * 1024
"""Of all files of one back end; parsing them takes about two seconds."""

LINE_BYTES_MAX: Final = 256 * 1024
"""A longer line is cut by its writer, or is no line."""

OPEN_FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC

LEADING_TIME: Final = re.compile(
    r"^\[?(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?)\]?\s*(.*)$",
    re.DOTALL,
)
LEVEL: Final = re.compile(
    r"\b(TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|ERR|CRITICAL|FATAL|PANIC)\b"
)

NANOSECONDS_FROM: Final = 10**17
LAST: Final = 10**19
"""Nanoseconds of the year 2286."""

DIGITS_OF: Final = ((10**14, 1), (10**11, 1000), (0, 1_000_000))
"""How large a number of nano-, micro- and milliseconds is at least; smaller ones are seconds."""


@dataclass(slots=True)
class Lines:
    """What was read: how many lines were kept, how many were none, and what was left out."""

    kept: int = 0
    unread: int = 0
    left_out: list[str] = field(default_factory=list)


def capture_files(table: FilesTable, start_us: int, end_us: int, out: IO[str]) -> Lines:
    """Write the rows of the span to `out` as JSON lines of our columns.

    Raises ToolFailed (SOURCE_UNAVAILABLE) where no path leads to a file that can be read.
    """
    found = [path for pattern in table.paths for path in glob.glob(pattern)]  # noqa: PTH207 - absolute
    paths = sorted(set(found))
    lines = Lines()
    if len(paths) > FILES_MAX:
        lines.left_out.append(f"{len(paths) - FILES_MAX} of {len(paths)} files")
        paths = paths[-FILES_MAX:]
    opened = 0
    for path in paths:
        try:
            content, cut = tail_of(path, BYTES_MAX // max(1, len(paths)))
        except OSError:
            continue
        opened += 1
        first_us = _copy(content, table, (start_us, end_us), out, lines)
        if cut and (first_us is None or first_us > start_us):
            lines.left_out.append(f"the beginning of {Path(path).name}")
    if not opened:
        raise ToolFailed("none of the configured files can be read", code="SOURCE_UNAVAILABLE")
    return lines


def tail_of(path: str, bytes_max: int) -> tuple[bytes, bool]:
    """The last bytes of a regular file, from the start of a line; whether something was cut."""
    descriptor = os.open(path, OPEN_FLAGS)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError("no regular file")
        start = max(0, found.st_size - bytes_max)
        content = os.pread(descriptor, min(bytes_max, found.st_size), start)
        while len(content) < min(bytes_max, found.st_size):
            more = os.pread(descriptor, bytes_max - len(content), start + len(content))
            if not more:
                break
            content += more
    finally:
        os.close(descriptor)
    if start:
        content = content.partition(b"\n")[2]
    return content, start > 0


def _copy(
    content: bytes, table: FilesTable, span_us: tuple[int, int], out: IO[str], lines: Lines
) -> int | None:
    """Write the rows of the span; the time of the first readable line, whether inside or not."""
    first_us: int | None = None
    for raw in content.splitlines():
        if not raw.strip():
            continue
        row = None if len(raw) > LINE_BYTES_MAX else read_line(raw, table)
        if row is None:
            lines.unread += 1
            continue
        at_us = row["timestamp"]
        if not isinstance(at_us, int):
            continue
        first_us = at_us if first_us is None else first_us
        if span_us[0] <= at_us <= span_us[1]:
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
            lines.kept += 1
    return first_us


def read_line(raw: bytes, table: FilesTable) -> dict[str, object] | None:
    """One line as a row of our columns with `timestamp` in microseconds; None for no record."""
    text = raw.decode("utf-8", "replace")
    row = _from_json(text, table) if table.form == "json" else _from_text(text)
    if row is None:
        return None
    at_us = moment_us(row.get("timestamp"))
    if at_us is None:
        return None
    row["timestamp"] = at_us
    if not row.get("service_name") and table.service:
        row["service_name"] = table.service
    return row


def _from_json(text: str, table: FilesTable) -> dict[str, object] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    if not table.fields:
        return found
    back: Mapping[str, str] = {theirs: ours for ours, theirs in table.fields.items()}
    return {back.get(str(key), str(key)): value for key, value in found.items()}


def _from_text(text: str) -> dict[str, object] | None:
    matched = LEADING_TIME.match(text)
    if matched is None:
        return None
    body = matched[2]
    level = LEVEL.search(body[:80])
    return {"timestamp": matched[1], "body": body, "severity_text": level[1] if level else ""}


def moment_us(value: object) -> int | None:
    """Microseconds since the epoch; an RFC 3339 text, or a number of seconds to nanoseconds.

    A text without a zone is None: whoever guesses a zone invents an order of events (R26).
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str) and not value.lstrip("-").replace(".", "", 1).isdigit():
        try:
            read = datetime.fromisoformat(value.replace(",", "."))
            return int(read.astimezone(UTC).timestamp() * 1e6) if read.tzinfo else None
        except (ValueError, OverflowError):  # no moment, or one before the first year
            return None
    try:
        number = int(value) if isinstance(value, int) else float(str(value))
    except ValueError:
        return None
    if not 0 <= number < LAST:  # not a number, and infinity, are neither
        return None
    if number >= NANOSECONDS_FROM:
        return int(number // 1000)
    return next((int(number * factor) for least, factor in DIGITS_OF if number >= least), None)
