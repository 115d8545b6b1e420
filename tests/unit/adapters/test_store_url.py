"""Which store a URL names, and one clear line for each that names none."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from affidavit.adapters.memory_store import MemoryStore
from affidavit.adapters.sqlite_schema import APPLICATION_ID, SCHEMA_VERSION, make_private_folder
from affidavit.adapters.sqlite_store import SqliteStore
from affidavit.adapters.store_url import open_store
from affidavit.contract.errors import InputRefused
from affidavit.ports.store import Store
from affidavit.testing.journals import begin_run


def refuse(url: str) -> InputRefused:
    """The refusal of that URL."""
    with pytest.raises(InputRefused) as refused:
        open_store(url)
    assert refused.value.message
    assert refused.value.hint
    return refused.value


async def test_memory_is_a_store() -> None:
    """`memory:` needs nothing."""
    store = open_store("memory:")
    assert isinstance(store, MemoryStore)
    await begin_run(store)
    await store.close()


async def test_path_is_a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Absolute, relative and home paths, with every character that a file name may have."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for path in (str(tmp_path / "a.db"), "b.db", "~/c.db", "a ?#%&=é:b.db"):
        store = open_store(f"sqlite:{path}")
        await begin_run(store)
        await store.close()
    assert snapshot(tmp_path).keys() == {"a.db", "b.db", "c.db", "a ?#%&=é:b.db"}


@pytest.mark.parametrize(
    "url",
    [
        "",
        "memory",
        "memory:x",
        "sqlite",
        "sqlite:",
        "sqlite::memory:",
        "sqlite:///tmp/x",
        "runs.db",
        "postgresql://h/d",
        "SQLITE:x",
        "sqlite:a\0b",
    ],
)
def test_other_urls_are_refused(url: str) -> None:
    """A URL of another form says which forms there are."""
    refused = refuse(url)
    assert refused.code == "STORE_URL_UNKNOWN"
    assert "sqlite:runs.db" in refused.hint


def missing_folder(folder: Path) -> Path:
    """In a folder that is not there."""
    return folder / "missing" / "runs.db"


def a_folder(folder: Path) -> Path:
    """A folder instead of a file."""
    (folder / "runs.db").mkdir()
    return folder / "runs.db"


def in_a_file(folder: Path) -> Path:
    """Below a file."""
    (folder / "file").write_text("x")
    return folder / "file" / "runs.db"


def a_pipe(folder: Path) -> Path:
    """A pipe, which would block whoever opens it."""
    os.mkfifo(folder / "runs.db")
    return folder / "runs.db"


def a_loop(folder: Path) -> Path:
    """A link to itself."""
    (folder / "runs.db").symlink_to("runs.db")
    return folder / "runs.db"


def a_long_name(folder: Path) -> Path:
    """A name that no file can have."""
    return folder / ("x" * 300)


def a_text(folder: Path) -> Path:
    """A file of another kind."""
    (folder / "runs.db").write_text("no database\n" * 200)
    return folder / "runs.db"


def a_short_text(folder: Path) -> Path:
    """The same, smaller than a header."""
    (folder / "runs.db").write_text("x")
    return folder / "runs.db"


def another_program(folder: Path) -> Path:
    """A database of somebody else."""
    with closing(sqlite3.connect(folder / "runs.db")) as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")
    (folder / "runs.db").chmod(0o644)
    return folder / "runs.db"


def ours(folder: Path, *, version: int = SCHEMA_VERSION) -> Path:
    """A store of ours, with another version."""
    SqliteStore(folder / "runs.db")._database.close()
    with closing(sqlite3.connect(folder / "runs.db")) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    return folder / "runs.db"


def a_newer_one(folder: Path) -> Path:
    """A store of a version that is not ours yet."""
    return ours(folder, version=SCHEMA_VERSION + 1)


def one_without_a_table(folder: Path) -> Path:
    """A store of ours from which a table was dropped."""
    path = ours(folder)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE commands")
    return path


def one_with_a_broken_page(folder: Path) -> Path:
    """A store of ours, all of it but its first page overwritten."""
    path = ours(folder)
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))
    return path


def one_cut_short(folder: Path) -> Path:
    """A store of ours of which only the beginning is left."""
    path = ours(folder)
    path.write_bytes(path.read_bytes()[:5000])
    return path


@pytest.mark.spec("L5")
@pytest.mark.parametrize(
    ("make", "code", "words"),
    [
        (missing_folder, "STORE_FOLDER_MISSING", "missing does not exist"),
        (a_folder, "STORE_NOT_A_FILE", "is a folder"),
        (in_a_file, "STORE_FOLDER_MISSING", "file does not exist"),
        (a_pipe, "STORE_NOT_A_FILE", "is no regular file"),
        (a_loop, "STORE_UNREACHABLE", "cannot be opened"),
        (a_long_name, "STORE_UNREACHABLE", "too long"),
        (a_text, "STORE_DAMAGED", "damaged or no database"),
        (a_short_text, "STORE_DAMAGED", "damaged or no database"),
        (another_program, "STORE_FOREIGN", "of another program"),
        (
            a_newer_one,
            "STORE_NEWER",
            f"a newer Affidavit (version {SCHEMA_VERSION + 1}, this one knows {SCHEMA_VERSION})",
        ),
        (one_without_a_table, "STORE_DAMAGED", "no such table"),
        (one_with_a_broken_page, "STORE_DAMAGED", "damaged"),
        (one_cut_short, "STORE_DAMAGED", "damaged"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_unusable_file_is_refused_and_left_alone(
    make: Callable[[Path], Path], code: str, words: str, tmp_path: Path
) -> None:
    """One line that says what and where, a hint how to mend it, and nothing is changed."""
    path = make(tmp_path)
    before = snapshot(tmp_path)
    refused = refuse(f"sqlite:{path}")
    assert refused.code == code
    assert words in refused.message
    assert str(tmp_path) in refused.message
    assert "\n" not in refused.message
    assert snapshot(tmp_path) == before


def snapshot(folder: Path) -> dict[str, object]:
    """Every file with its content and rights."""
    return {
        file.name: (file.lstat().st_mode, file.read_bytes() if file.is_file() else None)
        for file in folder.iterdir()
    }


async def test_empty_file_becomes_a_store(tmp_path: Path) -> None:
    """A file that somebody has touched is as good as none, and is kept from others."""
    path = tmp_path / "runs.db"
    path.touch(0o666)
    store = open_store(f"sqlite:{path}")
    await begin_run(store)
    await store.close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
        assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


async def test_link_leads_to_the_file(tmp_path: Path) -> None:
    """A link and its file are one store, with one log."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link.db").symlink_to(tmp_path / "real" / "runs.db")
    store: Store = open_store(f"sqlite:{tmp_path / 'link.db'}")
    await begin_run(store)
    other = open_store(f"sqlite:{tmp_path / 'real' / 'runs.db'}")
    assert len(await other.runs("local")) == 1
    await store.close()
    await other.close()


def test_private_folder_is_for_its_owner(tmp_path: Path) -> None:
    """A folder of ours is made for its owner alone; one that exists is left as it is."""
    folder = make_private_folder(tmp_path / "a" / "b")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    folder.chmod(0o755)
    assert make_private_folder(folder) == folder
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755
    (tmp_path / "file").touch()
    with pytest.raises(InputRefused, match="cannot be made") as refused:
        make_private_folder(tmp_path / "file" / "folder")
    assert refused.value.code == "STORE_FOLDER_MISSING"
