"""The suite's own rules: where CI is set nothing is left out, and marks name what exists."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
pytestmark = pytest.mark.slow

SKIPPED: Final = "import pytest\n@pytest.mark.skip(reason='no server')\ndef test_a(): pass\n"
MODULE_SKIPPED: Final = "import pytest\npytest.skip('no server', allow_module_level=True)\n"
MISSING: Final = "import pytest\nno = pytest.importorskip('no_such_package')\ndef test_a(): pass\n"
XFAILED: Final = "import pytest\n@pytest.mark.xfail(reason='later')\ndef test_a(): assert 0\n"
PASSING: Final = "def test_b(): pass\n"


def run(folder: Path, body: str, *, ci: bool) -> subprocess.CompletedProcess[str]:
    """Run pytest, with our conftest and our marks, on one test file."""
    tests = folder / "tests"
    (folder / "docs").mkdir()
    tests.mkdir()
    shutil.copy(ROOT / "tests" / "conftest.py", tests)
    shutil.copy(ROOT / "pyproject.toml", folder)
    shutil.copy(ROOT / "docs" / "spec-ids.md", folder / "docs")
    (tests / "test_a.py").write_text(body)
    (tests / "test_b.py").write_text(PASSING)
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"],
        cwd=folder,
        env=environment | ({"CI": "true"} if ci else {}),
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("body", [SKIPPED, MODULE_SKIPPED, MISSING])
def test_a_skip_is_named_here_and_fails_in_ci(tmp_path: Path, body: str) -> None:
    """A machine without a server may leave a test out; continuous integration may not."""
    (tmp_path / "here").mkdir()
    (tmp_path / "ci").mkdir()
    here = run(tmp_path / "here", body, ci=False)
    assert here.returncode == 0, here.stdout
    assert "1 passed, 1 skipped" in here.stdout
    there = run(tmp_path / "ci", body, ci=True)
    assert there.returncode != 0, there.stdout
    assert "left out although CI is set" in there.stdout


def test_an_expected_failure_is_no_skip(tmp_path: Path) -> None:
    """What is named as not built yet does not fail in continuous integration."""
    assert run(tmp_path, XFAILED, ci=True).returncode == 0


@pytest.mark.parametrize(
    ("mark", "complaint"),
    [
        ("spec('G99')", "no spec id 'G99'"),
        ("fault('X1')", "no fault row 'X1'"),
        ("spec()", "the mark 'spec' names nothing"),
    ],
)
def test_a_mark_that_names_nothing_fails_its_test(
    tmp_path: Path, mark: str, complaint: str
) -> None:
    """A typing error in an id would otherwise prove a line that does not exist."""
    result = run(tmp_path, f"import pytest\n@pytest.mark.{mark}\ndef test_a(): pass\n", ci=False)
    assert result.returncode == 1, result.stdout
    assert complaint in result.stdout


def test_a_mark_that_names_a_line_is_accepted(tmp_path: Path) -> None:
    """Real ids pass."""
    body = "import pytest\n@pytest.mark.spec('G7', 'D2b')\n@pytest.mark.fault('R28')\n"
    assert run(tmp_path, body + "def test_a(): pass\n", ci=True).returncode == 0
