"""The walls of .importlinter stand, and each is broken here once on purpose.

A breach is made in a copy of the package, and only the wall that is meant for it is asked.
"""

from __future__ import annotations

import configparser
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
WALLS: Final = ROOT / ".importlinter"

BREACHES: Final[tuple[tuple[str, str, str], ...]] = (
    ("rooms", "contract/states", "import affidavit.ports"),
    ("rooms", "agents/playbook", "import affidavit.verify"),
    ("rooms", "attic/trunk", "import affidavit.contract"),
    ("cycles", "contract/states", "import affidavit.contract.decisions"),
    ("adapters", "adapters/sqlite_store", "import affidavit.core"),
    ("adapters", "adapters/sqlite_store", "import affidavit.diagnose"),
    ("pure", "contract/states", "import random"),
    ("pure", "progress/saturation", "import time"),
    ("pure", "verify/closure", "import anyio"),
    ("pure", "verify/evidence", "import os"),
    ("pure", "verify/statements", "import uuid"),
    ("pure", "verify/prose", "import duckdb"),
    ("pure", "release/decide", "import asyncio"),
    ("pure", "release/fallback", "import pathlib"),
    ("guard-rules", "guards/budget", "import time"),
    ("guards", "guards/budget", "import affidavit.guards.loop"),
    ("evidence", "verify/evidence", "import affidavit.models"),
    ("evidence", "verify/evidence", "import affidavit.ledger.writer"),
    ("judges", "verify/judges", "import affidavit.tools"),
    ("judges", "verify/judges", "import affidavit.ledger"),
    ("ledger-writer", "release/publish", "import affidavit.ledger.writer"),
    ("vendors", "tools/boundary", "import duckdb"),
    ("vendors", "wiring", "import sqlite3"),
    ("web", "tools/boundary", "import fastapi"),
    ("web", "cli/serving", "import prometheus_client"),
    ("screen", "server/app", "import typer"),
)
"""The wall, the file that breaks it, and how."""


def contracts() -> list[str]:
    """The ids of all walls."""
    config = configparser.ConfigParser()
    config.read(WALLS, encoding="utf-8")
    prefix = "importlinter:contract:"
    return [name.removeprefix(prefix) for name in config.sections() if name.startswith(prefix)]


def lint(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the linter on the package under `tree/src`."""
    return subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-logo", "--no-cache", *arguments],
        cwd=tree,
        env=os.environ | {"PYTHONPATH": str(tree / "src")},
        capture_output=True,
        text=True,
        check=False,
    )


def module_file(package: Path, name: str) -> Path:
    """The file of a module of the copy, made with its package where it is not there yet."""
    path = package / name
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    file.parent.mkdir(exist_ok=True)
    file.touch()
    (file.parent / "__init__.py").touch()
    return file


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the package and its walls."""
    shutil.copytree(
        ROOT / "src" / "affidavit",
        tmp_path / "src" / "affidavit",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    shutil.copy(WALLS, tmp_path)
    return tmp_path


@pytest.mark.spec("N3", "M1")
def test_the_walls_stand() -> None:
    """No import breaks a wall: citations are checked without a model, judges have no tools."""
    result = lint(ROOT)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(("wall", "name", "line"), BREACHES)
def test_a_breach_is_seen(copy: Path, wall: str, name: str, line: str) -> None:
    """The wall that is meant for it refuses the import of a module that is there."""
    package = copy / "src" / "affidavit"
    imported = line.removeprefix("import ").split(".")
    if imported[0] == "affidavit":
        module_file(package, "/".join(imported[1:]))
    file = module_file(package, name)
    file.write_text(f"{file.read_text(encoding='utf-8')}\n{line}\n", encoding="utf-8")
    result = lint(copy, "--contract", wall)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "Broken contracts" in result.stdout, result.stdout + result.stderr


def test_every_wall_is_broken_here_once() -> None:
    """No wall without its breach."""
    assert {wall for wall, _, _ in BREACHES} == set(contracts())
