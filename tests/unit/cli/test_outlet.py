"""The file that --out names: refused before any work, whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from affidavit.cli.outlet import check_out, write_out
from affidavit.contract.errors import InputRefused

RUN = "run_0123456789abcdef"


def test_no_place_is_no_place() -> None:
    check_out(None)


def test_a_place_is_tried_and_left_as_it_was(tmp_path: Path) -> None:
    check_out(tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["missing/x", "folder", "pipe", "file/x"])
def test_a_place_that_could_not_be_written_to_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("x")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputRefused) as refused:
        check_out(tmp_path / name)
    assert refused.value.code == "OUT_REFUSED"
    assert refused.value.hint


def test_a_file_is_replaced_by_a_whole_one_with_ordinary_rights(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"yesterday's")
    plain = tmp_path / "plain"
    plain.touch()
    write_out(path, b"today's", RUN)
    assert path.read_bytes() == b"today's"
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)
    assert {item.name for item in tmp_path.iterdir()} == {"x", "plain"}


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"theirs")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    write_out(tmp_path / "link", b"ours", RUN)
    assert (tmp_path / "target").read_bytes() == b"theirs"
    assert (tmp_path / "link").read_bytes() == b"ours"


@pytest.mark.spec("L5")
def test_what_cannot_be_finished_leaves_what_stood_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"yesterday's")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputRefused, match="No space left") as refused:
        write_out(path, b"today's", RUN)
    assert refused.value.code == "OUT_NOT_WRITTEN"
    assert f"affidavit show {RUN} --out" in refused.value.hint
    assert path.read_bytes() == b"yesterday's"
    assert list(tmp_path.iterdir()) == [path]
