"""Where a file that a command writes goes: refused before any work, written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from affidavit.contract.errors import InputRefused

_MEND = "a file in a folder that is there and that you may write to"


def check_out(path: Path | None, option: str = "--out") -> None:
    """Refuse a place that could not be written to later; nothing is left there.

    Raises InputRefused (OUT_REFUSED) for a folder that is missing or cannot be written to, and for
    a path that is something else than a plain file.
    """
    if path is None:
        return
    if not path.parent.is_dir():
        raise _refused(f"{path.parent} is no folder", option)
    if path.is_dir() or (path.exists() and not path.is_file()):
        raise _refused(f"{path} is no plain file", option)
    try:
        descriptor, probe = tempfile.mkstemp(prefix=".affidavit-", dir=path.parent)
        os.close(descriptor)
        Path(probe).unlink()
    except OSError as error:
        raise _refused(f"{path.parent} cannot be written to: {error.strerror}", option) from None


def write_out(path: Path, content: bytes, run_id: str, option: str = "--out") -> None:
    """The run's file, as `write_whole` writes it; `option` is what asked for it."""
    mend = f"the run is decided and kept: affidavit show {run_id} {option} FILE"
    write_whole(path, content, mend)


def write_whole(path: Path, content: bytes, mend: str = _MEND, *, private: bool = False) -> None:
    """The file, complete and on the disk; what stood there is replaced only then. A private one is
    for its owner alone, from its first byte on.

    Raises InputRefused (OUT_NOT_WRITTEN); then what stood there still stands, and nothing else.
    """
    temporary: Path | None = None
    try:
        descriptor, name = tempfile.mkstemp(prefix=".affidavit-", dir=path.parent)
        temporary = Path(name)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if not private:
            temporary.chmod(_mode_for_new_files())
        temporary.replace(path)
    except OSError as error:
        if temporary is not None:
            with suppress(OSError):
                temporary.unlink()
        raise InputRefused(
            f"{path} could not be written: {error.strerror}",
            code="OUT_NOT_WRITTEN",
            hint=mend,
        ) from None


def _mode_for_new_files() -> int:
    """What a plain `open` would give: mkstemp's files are for their owner alone."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _refused(message: str, option: str) -> InputRefused:
    return InputRefused(message, code="OUT_REFUSED", hint=f"give {option} {_MEND}")
