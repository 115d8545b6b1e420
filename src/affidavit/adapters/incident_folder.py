"""An incident folder: opened once, checked whole, and from then on only asked (docs/incident-folder.md).

The folder is hostile input. Every file is opened by descriptor, relative to the folder's own, and
never through a link; what is a link, has a second name, or is no plain file is refused, so that
`truth.yaml` cannot be read under another name. Only names that we know are opened at all. The
tables are read a single time, into a private directory; whatever happens to the folder later, a
run sees what was there when it began.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
import weakref
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Final

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

UNSAFE_NAME: Final = re.compile(r"[*?\[\]{}\\]|\.\.|[\x00-\x1f\x7f]")
"""What a file name could mean to something that expands names."""


@dataclass(frozen=True, slots=True)
class IncidentFolder:
    """A loaded folder. It answers questions until it is closed; use it in a `with`."""

    incident: Incident
    signals: Mapping[SignalName, Signal]
    topology: Topology | None
    _runner: DuckRunner
    _room: Path
    _finalizer: weakref.finalize[..., object]

    async def ask(self, question: Question) -> Answer:
        """The answer (see `Telemetry.ask`)."""
        return await read_answer(self._runner, self._room, self.signals, question)

    def close(self) -> None:
        """No process is left, and the private directory is gone."""
        self._finalizer()

    def __enter__(self) -> IncidentFolder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def load_incident(path: str | Path) -> IncidentFolder:
    """The folder at `path`, read and checked whole. Raises InputRefused; then nothing is left."""
    with ExitStack() as opened:
        root = _open_root(Path(path), opened)
        names = _check_entries(root)
        incident = parse_incident(
            _read_small(root, INCIDENT_FILE, INCIDENT_BYTES_MAX + 1, f"{path}/{INCIDENT_FILE}"),
            str(Path(path) / INCIDENT_FILE),
        )
        topology = None
        if TOPOLOGY_FILE in names:
            topology = parse_topology(_read_small(root, TOPOLOGY_FILE, JSON_BYTES_MAX + 1))
        tables = [
            OpenTable(signal, name, kind, _open_table(root, name, opened))
            for signal, name, kind in _find_tables(names, path)
        ]
        room = Path(tempfile.mkdtemp(prefix="affidavit-"))
        runner = DuckRunner(room, [table.descriptor for table in tables])
        with _tidied(runner, room):
            signals = stage_tables(runner, room, tables, incident)
            runner.forget_files()
    return IncidentFolder(
        incident=incident,
        signals=MappingProxyType(signals),
        topology=topology,
        _runner=runner,
        _room=room,
        _finalizer=weakref.finalize(runner, _never)
    )
