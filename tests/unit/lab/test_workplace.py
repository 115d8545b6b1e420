"""The rig's temporary folder: gone afterwards, and swept up after a rig that was killed."""

from __future__ import annotations

import fcntl
import tempfile
from pathlib import Path

import pytest

from affidavit.lab.workplace import temporary_folder


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Rigs of this test live in the test's own folder."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def left_behind(root: Path) -> Path:
    """What a killed rig leaves: its folder, whose lock nobody holds any more."""
    folder = root / "affidavit-lab-stale"
    folder.mkdir()
    (folder / "owner").touch()
    (folder / "shop-db.sqlite").write_bytes(b"rows")
    return folder


def test_the_folder_is_gone_afterwards() -> None:
    """Also when the rig ended in an error."""
    kept: list[Path] = []

    def fail() -> None:
        with temporary_folder() as folder:
            kept.append(folder)
            (folder / "shop-db.sqlite").write_bytes(b"rows")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert not kept[0].exists()


def test_what_a_killed_rig_left_is_removed_by_the_next(tmp_path: Path) -> None:
    """Nobody holds its lock, so nobody needs it."""
    stale = left_behind(tmp_path)
    with temporary_folder():
        assert not stale.exists()


def test_the_folder_of_a_living_rig_is_left_alone(tmp_path: Path) -> None:
    """Two rigs on one machine do not take each other's rows away."""
    living = left_behind(tmp_path)
    with (living / "owner").open("w") as owner:
        fcntl.flock(owner, fcntl.LOCK_EX)
        with temporary_folder() as mine:
            assert living.exists()
            assert mine != living


def test_a_folder_without_an_owner_is_not_ours_to_remove(tmp_path: Path) -> None:
    """A name is no proof."""
    other = tmp_path / "affidavit-lab-notes"
    other.mkdir()
    with temporary_folder():
        assert other.exists()
