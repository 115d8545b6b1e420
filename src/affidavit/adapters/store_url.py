"""Which store a URL names.

memory:            in this process, for as long as it lives
sqlite:PATH        one file; `~` is the home folder, a relative path starts here
"""

from __future__ import annotations

from pathlib import Path

from affidavit.adapters.memory_store import MemoryStore
from affidavit.adapters.sqlite_store import SqliteStore
from affidavit.contract.errors import InputRefused
from affidavit.ports.store import Store


def open_store(url: str) -> Store:
    """The store that the URL names, open and ready.

    Raises `InputRefused` for a URL that names none, and for a file that cannot be opened: no
    folder (STORE_FOLDER_MISSING), no permission (STORE_UNREACHABLE), a folder or device
    (STORE_NOT_A_FILE), damaged or no database (STORE_DAMAGED), another program's (STORE_FOREIGN),
    a newer version's (STORE_NEWER).
    """
    scheme, colon, rest = url.partition(":")
    match scheme:
        case "memory" if colon and not rest:
            return MemoryStore()
        case "sqlite" if rest and not rest.startswith(("//", ":")) and "\0" not in rest:
            return SqliteStore(Path(rest))
        case _:
            raise InputRefused(
                f"{url!r} names no store",
                code="STORE_URL_UNKNOWN",
                hint="write memory:, sqlite:runs.db or sqlite:/path/to/runs.db",
            )
