"""The command that turns a foreign data set into incident folders: `import FORMAT SRC DST`."""

from __future__ import annotations

from pathlib import Path

from affidavit.cli.screen import say, say_json
from affidavit.importers.formats import import_incidents


def import_set(format_name: str, source: Path, destination: Path, *, as_json: bool) -> None:
    """Import, and name every folder that was written."""
    written = import_incidents(format_name, source, destination)
    if as_json:
        say_json({"format": format_name, "folders": [str(folder) for folder in written]})
    else:
        say("\n".join(str(folder) for folder in written))
