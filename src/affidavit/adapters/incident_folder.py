"""An incident folder: opened once, checked whole, and from then on only asked.

docs/incident-folder.md describes it. The folder is hostile input. Every file is opened by
descriptor, relative to the folder's own, and never through a link; what is a link, has a second
name, or is no plain file is refused, so that `truth.yaml` cannot be read under another name. Only
names that we know are opened at all. The tables are read a single time, into a private directory;
whatever happens to the folder later, a run sees what was there when it began.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
import weakref
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final, Self

from affidavit.adapters.duckdb_queries import read_answer
from affidavit.adapters.duckdb_runner import DuckRunner
from affidavit.adapters.duckdb_stage import KINDS, FileKind
from affidavit.adapters.incident_tables import OpenTable, stage_tables
from affidavit.adapters.incident_topology import TOPOLOGY_FILE, parse_topology
from affidavit.adapters.incident_yaml import INCIDENT_BYTES_MAX, INCIDENT_FILE, parse_incident
from affidavit.contract.errors import InputRefused
from affidavit.ports.telemetry import (
    SIGNALS,
    Answer,
    Incident,
    Page,
    Question,
    Signal,
    SignalName,
    Topology,
)

ENTRIES_MAX: Final = 10_000
"""Files and folders of an incident; recordings are the only numerous ones."""

DEPTH_MAX: Final = 4
"""recordings/<case>/<step> is two."""

SIGNAL_BYTES_MAX: Final = 8 * 1024**3
"""One table; reading it once takes about six seconds a gigabyte."""

JSON_BYTES_MAX: Final = 4 * 1024 * 1024
"""topology.json of some ten thousand edges."""

KNOWLEDGE_FOLDER: Final = "knowledge"
PAGE_SUFFIX: Final = ".md"

PAGES_MAX: Final = 200
PAGE_BYTES_MAX: Final = 256 * 1024
"""Runbooks of one incident, and one of them; together they stay well below the memory of a run."""

UNSAFE_NAME: Final = re.compile("[*?\\[\\]{}\\\\]|\\.\\.|[\x00-\x1f\x7f\ud800-\udfff]")
"""What a file name could mean to something that expands names."""


DIRECTORY_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""Never through a link, and never waiting for the other end of a pipe."""


@dataclass(frozen=True, slots=True)
class Texts:
    """What an incident has besides its tables."""

    topology: Topology | None
    pages: tuple[Page, ...]


class IncidentFolder:
    """A loaded folder. It answers questions until it is closed; use it in a `with`."""

    def __init__(
        self,
        incident: Incident,
        signals: Mapping[SignalName, Signal],
        texts: Texts,
        runner: DuckRunner,
        room: Path,
    ) -> None:
        self.incident = incident
        self.signals = signals
        self.topology = texts.topology
        self.pages = texts.pages
        self.runner = runner
        self.room = room
        self._tidied = weakref.finalize(self, _tidy, runner, room)  # at the latest when we exit

    async def ask(self, question: Question) -> Answer:
        """The answer (see `Telemetry.ask`)."""
        return await read_answer(self.runner, self.room, self.signals, question)

    def close(self) -> None:
        """No process is left, and the private directory is gone."""
        self._tidied()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def load_incident(path: str | Path) -> IncidentFolder:
    """The folder at `path`, read and checked whole. Raises InputRefused; then nothing is left."""
    path = Path(path)
    with ExitStack() as opened:
        root = _open_root(path, opened)
        names = _check_entries(root, path)
        incident = parse_incident(
            _read_small(root, path, INCIDENT_FILE, INCIDENT_BYTES_MAX), str(path / INCIDENT_FILE)
        )
        topology = None
        if TOPOLOGY_FILE in names:
            content = _read_small(root, path, TOPOLOGY_FILE, JSON_BYTES_MAX)
            topology = parse_topology(content, str(path / TOPOLOGY_FILE))
        pages = _read_pages(root, path) if KNOWLEDGE_FOLDER in names else ()
        tables = [
            OpenTable(signal, name, kind, _open_plain(root, path, name, opened))
            for signal, name, kind in _find_tables(names, path)
        ]
        room = _make_room()
        runner = DuckRunner(room, [table.descriptor for table in tables])
        with ExitStack() as undo:
            undo.callback(_tidy, runner, room)
            signals = stage_tables(runner, room, tables, incident)
            undo.pop_all()
        runner.forget_files()
    texts = Texts(topology, pages)
    return IncidentFolder(incident, MappingProxyType(signals), texts, runner, room)


def _read_pages(root: int, path: Path) -> tuple[Page, ...]:
    """The pages of knowledge by name; what is no page is left alone."""
    try:
        below = os.open(KNOWLEDGE_FOLDER, DIRECTORY_FLAGS, dir_fd=root)
    except OSError:
        raise InputRefused(
            f"{path / KNOWLEDGE_FOLDER} is no folder", hint="put its pages into a folder"
        ) from None
    try:
        names = sorted(name for name in _names_in(below) if name.endswith(PAGE_SUFFIX))
        if len(names) > PAGES_MAX:
            raise InputRefused(
                f"{path / KNOWLEDGE_FOLDER} has more than {PAGES_MAX} pages", hint="join some"
            )
        place = path / KNOWLEDGE_FOLDER
        return tuple(
            Page(name, _read_small(below, place, name, PAGE_BYTES_MAX).decode("utf-8", "replace"))
            for name in names
        )
    finally:
        os.close(below)


def _names_in(folder: int) -> list[str]:
    with os.scandir(folder) as entries:
        return [entry.name for entry in entries]


def _make_room() -> Path:
    """A private directory (0700) for what the query process writes."""
    try:
        return Path(tempfile.mkdtemp(prefix="affidavit-"))
    except OSError as error:
        raise InputRefused(
            f"no private directory can be made: {error}",
            hint="point TMPDIR at a directory that can be written to",
        ) from None


def _tidy(runner: DuckRunner, room: Path) -> None:
    runner.close()
    shutil.rmtree(room, ignore_errors=True)


def _open_root(path: Path, opened: ExitStack) -> int:
    """A descriptor of the folder itself; the way to it may lead over links, it is the user's."""
    try:
        root = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        raise InputRefused(
            f"{path} does not exist", hint="give the path of an incident folder"
        ) from None
    except NotADirectoryError:
        raise InputRefused(
            f"{path} is no folder", hint=f"give the folder that holds {INCIDENT_FILE}"
        ) from None
    except (OSError, ValueError) as error:
        raise InputRefused(f"{path} cannot be opened: {error}", hint="check the path") from None
    opened.callback(os.close, root)
    return root


def _check_entries(root: int, path: Path) -> frozenset[str]:
    """The names at the top, after everything below has been looked at (by name, never opened)."""
    count = 0
    try:
        for place, entry in _walk(root, path, 0):
            count += 1
            if count > ENTRIES_MAX:
                raise InputRefused(f"{path} has more than {ENTRIES_MAX} entries", hint="split it")
            _check_entry(place, entry)
        with os.scandir(root) as entries:
            return frozenset(entry.name for entry in entries)
    except OSError as error:
        raise InputRefused(
            f"{path} cannot be listed: {error.strerror} ({error.filename})",
            hint="make the folder readable, and leave it alone while it is read",
        ) from None


def _walk(folder: int, path: Path, depth: int) -> Iterator[tuple[Path, os.stat_result]]:
    if depth > DEPTH_MAX:
        raise InputRefused(f"{path} is nested deeper than {DEPTH_MAX}", hint="flatten it")
    with os.scandir(folder) as entries:
        names = sorted(entry.name for entry in entries)
    for name in names:
        place = path / name
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        yield place, found
        if stat.S_ISDIR(found.st_mode):
            below = os.open(name, DIRECTORY_FLAGS, dir_fd=folder)
            try:
                yield from _walk(below, place, depth + 1)
            finally:
                os.close(below)


def _check_entry(place: Path, found: os.stat_result) -> None:
    """Refuse what could be something else than it seems."""
    if UNSAFE_NAME.search(place.name):
        raise InputRefused(f"{str(place)!r}: a name with wildcards or ..", hint="rename the file")
    if stat.S_ISDIR(found.st_mode):
        return
    if stat.S_ISLNK(found.st_mode):
        raise InputRefused(f"{place} is a link", hint="replace it by a copy of the file")
    if not stat.S_ISREG(found.st_mode):
        raise InputRefused(f"{place} is no plain file", hint="remove it from the folder")
    if found.st_nlink != 1:
        raise InputRefused(
            f"{place} has {found.st_nlink} names (hard links)", hint="replace it by a copy"
        )


def _find_tables(names: frozenset[str], path: Path) -> Iterator[tuple[SignalName, str, FileKind]]:
    """Each table once. Refuses two files of one table, and a form that is not read."""
    for signal in SIGNALS:
        found = sorted(name for name in names if name.split(".")[0].lower() == signal)
        known = {f"{signal}.{kind}": kind for kind in KINDS}
        for name in found:
            if name not in known:
                raise InputRefused(
                    f"{path / name} is none of {', '.join(known)}",
                    hint="convert or rename it; nothing is unpacked or guessed",
                )
        if len(found) > 1:
            raise InputRefused(
                f"{path}: two files for one table: {' and '.join(found)}", hint="keep one of them"
            )
        for name in found:
            yield signal, name, known[name]


def _open_plain(root: int, path: Path, name: str, opened: ExitStack) -> int:
    """A descriptor of a plain file with one name, checked on the open file itself."""
    place = path / name
    try:
        descriptor = os.open(name, FILE_FLAGS, dir_fd=root)
    except FileNotFoundError:
        raise InputRefused(f"{place} is missing", hint=f"add {name}") from None
    except OSError as error:
        raise InputRefused(f"{place} cannot be opened: {error.strerror}", hint="check it") from None
    opened.callback(os.close, descriptor)
    found = os.fstat(descriptor)
    _check_entry(place, found)
    if stat.S_ISDIR(found.st_mode):
        raise InputRefused(f"{place} is a folder", hint="put the file there")
    if found.st_size > SIGNAL_BYTES_MAX:
        raise InputRefused(f"{place} is larger than {SIGNAL_BYTES_MAX} bytes", hint="cut it")
    return descriptor


def _read_small(root: int, path: Path, name: str, bytes_max: int) -> bytes:
    """A whole small file."""
    with ExitStack() as opened:
        descriptor = _open_plain(root, path, name, opened)
        with os.fdopen(os.dup(descriptor), "rb") as file:
            content = file.read(bytes_max + 1)
    if len(content) > bytes_max:
        raise InputRefused(f"{path / name} is larger than {bytes_max} bytes", hint="shorten it")
    return content
