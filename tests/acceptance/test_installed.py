"""What somebody gets who installs the built package, and has no repository beside it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).parents[2]

BUILD = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
"""The build backend itself, as any front end calls it."""

COMMAND = "import sys; from affidavit.cli import main; sys.exit(main())"
"""The entry point, as an installer's script calls it."""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built package as an installer leaves it: each file linked to a store of its own."""
    room = tmp_path_factory.mktemp("installed")
    built = subprocess.run(
        [sys.executable, "-c", BUILD, str(room)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    with ZipFile(room / built.stdout.strip().splitlines()[-1]) as wheel:
        wheel.extractall(room / "store")
    for file in (room / "store").rglob("*"):
        if file.is_file():
            place = room / "site" / file.relative_to(room / "store")
            place.parent.mkdir(parents=True, exist_ok=True)
            os.link(file, place)
    return room / "site"


def test_the_demo_runs_from_the_installed_package(installed: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, "demo", "--json", "--out", "d.affidavit"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(installed)},  # goes before the repository's own
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["outcome"] == "SUCCESS"
    assert (tmp_path / "d.affidavit").is_file()
