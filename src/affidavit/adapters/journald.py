"""Reads the lines of a window from a systemd journal, with journalctl and fixed arguments.

Newest lines first, so that what a bound cuts is the oldest. The program gets no input, a bare
environment and a bounded time, and is dead when the reading ends. Where it is not there, or for
another machine's journal, exported journals are read instead.
"""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio
from anyio import to_thread
from anyio.abc import Process

from affidavit.adapters.cluster_tables import JournaldTable
from affidavit.adapters.journal_entries import FIELDS, Entry, read_export, read_json_line, row_of
from affidavit.adapters.live_rows import Read
from affidavit.adapters.prometheus import Span
from affidavit.adapters.telemetry_files import FILES_MAX, tail_of
from affidavit.contract.errors import ToolFailed
from affidavit.ports.lookups import Proof

PROGRAM: Final = "journalctl"

LINES_MAX: Final = 50_000
"""Of one reading: half an hour of a busy machine. journalctl writes them in about a second."""

BYTES_MAX: Final = 32 * 1024 * 1024
"""Of one reading, which is held in memory while it becomes rows."""


class JournaldSource:
    """One configured journal."""

    def __init__(self, name: str, table: JournaldTable) -> None:
        self.name = f"journald:{name}"
        self._table = table

    async def probe(self) -> Proof:
        """Whether there is a line to be read, or a file. Raises ToolFailed."""
        if self._table.exports:
            if not _found(self._table.exports):
                raise ToolFailed(
                    f"no file matches {', '.join(self._table.exports)}",
                    code="SOURCE_UNAVAILABLE",
                    hint="check the paths and that this user may read them",
                )
            return Proof("exported journals; opened for reading alone")
        await self._ask(("--lines=1",))
        warning = "it runs as root: a user of the group systemd-journal is enough"
        return Proof(
            "read by journalctl, which opens journals for reading alone, with fixed arguments",
            warning if os.geteuid() == 0 else "",
        )

    async def capture(self, span: Span) -> Read:
        """The lines of the span. Raises ToolFailed."""
        if self._table.exports:
            return await to_thread.run_sync(self._exported, span)
        asked = await self._ask(
            (f"--lines={LINES_MAX}", f"--since=@{span.start_s:.6f}", f"--until=@{span.end_s:.6f}")
        )

        def read() -> Read:
            lines = asked.content.splitlines()
            left_out = []
            if asked.is_cut or len(lines) >= LINES_MAX:
                lines = lines[: -1 if asked.is_cut else None]
                left_out.append(f"{self.name} before its last {len(lines)} lines")
            return self._rows((read_json_line(line) for line in lines), span, left_out)

        return await to_thread.run_sync(read)

    def _exported(self, span: Span) -> Read:
        paths = _found(self._table.exports)
        left_out: list[str] = []
        if len(paths) > FILES_MAX:
            left_out.append(f"{len(paths) - FILES_MAX} of {len(paths)} files")
            paths = paths[-FILES_MAX:]
        entries: list[Entry | None] = []
        opened = 0
        for path in paths:
            try:
                content, cut = _content(path, BYTES_MAX // max(1, len(paths)))
            except OSError:
                continue
            opened += 1
            if cut:
                left_out.append(f"a part of {Path(path).name}")
            is_json = content.lstrip()[:1] == b"{"
            lines = map(read_json_line, content.splitlines()) if is_json else read_export(content)
            entries += lines
        if not opened:
            raise ToolFailed("none of the exported journals can be read", code="SOURCE_UNAVAILABLE")
        return self._rows(entries, span, left_out)

    def _rows(self, entries: Iterable[Entry | None], span: Span, left_out: Sequence[str]) -> Read:
        first_us, last_us = int(span.start_s * 1e6), int(span.end_s * 1e6)
        rows: list[dict[str, object]] = []
        unread = 0
        for entry in entries:
            row = None if entry is None or not self._is_wanted(entry) else self._row(entry)
            if row is None:
                unread += entry is None
            elif first_us <= int(str(row["timestamp"])) <= last_us:
                rows.append(row)
        told = [*left_out, *([f"{unread} entries that are none"] if unread else [])]
        return Read(rows, tuple(told))

    def _row(self, entry: Entry) -> dict[str, object] | None:
        return row_of(entry, self._table.services)

    def _is_wanted(self, entry: Entry) -> bool:
        """journalctl has chosen already; exported journals hold everything."""
        units = self._table.units
        about = entry.get("UNIT") if entry.get("_PID") == "1" else None
        return not units or entry.get("_SYSTEMD_UNIT") in units or about in units

    async def _ask(self, further: Sequence[str]) -> _Written:
        program = shutil.which(PROGRAM)
        if program is None:
            raise ToolFailed(
                f"{self.name}: there is no {PROGRAM} on this machine",
                code="SOURCE_UNAVAILABLE",
                hint="export the journal (journalctl -o export) and name it in `exports`",
            )
        directory = (f"--directory={self._table.directory}",) if self._table.directory else ()
        command = (
            *(program, "--quiet", "--no-pager", "--utc", "--reverse", "--output=json"),
            f"--output-fields={','.join(FIELDS)}",
            *directory,
            *(f"--unit={unit}" for unit in self._table.units),
            *further,
        )
        written = await _run(command, self._table.timeout_s, self.name)
        if written.code not in {0, None}:
            raise ToolFailed(
                f"{self.name}: {PROGRAM} ended with status {written.code}",
                code="SOURCE_UNAVAILABLE",
                hint="may this user read the journal? The group systemd-journal may",
            )
        return written


@dataclass(frozen=True, slots=True)
class _Written:
    """What the program wrote; without a status where it was left at the bound."""

    content: bytes
    code: int | None

    @property
    def is_cut(self) -> bool:
        """Whether there was more."""
        return self.code is None


async def _run(command: Sequence[str], timeout_s: float, what: str) -> _Written:
    """What the command wrote, up to the bound. It is dead when this returns or raises."""
    environment = {"PATH": os.defpath, "LC_ALL": "C.UTF-8", "SYSTEMD_COLORS": "0"}
    try:
        process = await anyio.open_process(
            command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
        )
    except OSError as error:
        raise ToolFailed(
            f"{what}: {PROGRAM} cannot be started: {error.strerror}", code="SOURCE_UNAVAILABLE"
        ) from None
    content = bytearray()
    try:
        with anyio.fail_after(timeout_s):
            if process.stdout is not None:
                async for part in process.stdout:
                    content += part
                    if len(content) > BYTES_MAX:
                        return _Written(bytes(content), None)
            code = await process.wait()
    except TimeoutError:
        raise ToolFailed(f"{what} took more than {timeout_s:g} s", code="TIMEOUT") from None
    finally:
        with anyio.CancelScope(shield=True):
            await _end(process)
    return _Written(bytes(content), code)


async def _end(process: Process) -> None:
    with suppress(ProcessLookupError):
        process.kill()
    await process.wait()
    await process.aclose()


def _found(patterns: Sequence[str]) -> list[str]:
    return sorted({path for pattern in patterns for path in glob.glob(pattern)})  # noqa: PTH207 - absolute


def _content(path: str, bytes_max: int) -> tuple[bytes, bool]:
    """JSON lines from the file's end; an export, which has no line to begin at, from its start."""
    content, cut = tail_of(path, bytes_max)
    if not cut or content.lstrip()[:1] == b"{":
        return content, cut
    with Path(path).open("rb") as file:
        return file.read(bytes_max).rpartition(b"\n\n")[0] + b"\n", True
