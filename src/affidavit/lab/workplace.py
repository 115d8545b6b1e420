"""A temporary folder for one rig, which does not stay behind."""

import fcntl
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

_PREFIX = "affidavit-lab-"


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder for one rig, removed at the end.

    A rig that was killed could not remove its own; the next one does, by the lock that the kernel
    lets go when its owner dies.
    """
    for stale in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        _remove_if_unowned(stale)
    with ExitStack() as held:
        folder = _claim(held)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _claim(held: ExitStack) -> Path:
    """A new folder whose lock is held; made again if a sweep came before the lock."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        owner = held.enter_context((folder / "owner").open("w"))
        fcntl.flock(owner, fcntl.LOCK_EX)
        if folder.exists():
            return folder


def _remove_if_unowned(folder: Path) -> None:
    try:
        with (folder / "owner").open() as owner:
            fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
    except OSError:  # locked by a living rig, another user's, or made this moment
        return
