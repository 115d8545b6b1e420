"""What stands in the repository's files: no index, no machine, nothing huge; locks that agree."""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT: Final = Path(__file__).parents[2]
FILE_BYTES_MAX: Final = 3_000_000  # recorded telemetry belongs outside; what ships is cut small
DEMO: Final = "requirements-demo.lock"
TEST: Final = "requirements-test.lock"
DEMO_EXTRAS: Final = ("cli", "capture", "sign")

# Put together here, so that this file does not hold what it forbids.
INDEX_HOSTS: Final = (
    "pypi" + ".org",
    "files.python" + "hosted.org",
    "registry.npm" + "js.org",
    "deb." + "debian.org",
)
MACHINE_PATHS: Final = ("/work" + "/main", "/work" + "/shared", "/tmp" + "/farm")


def repository_files() -> tuple[Path, ...]:
    """Every file that is in the repository or would be added to it."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    names = filter(None, listed.stdout.split("\0"))
    return tuple(file for name in names if (file := ROOT / name).is_file())


def occurrences(words: tuple[str, ...], files: tuple[Path, ...]) -> list[str]:
    """Where one of the words stands, as `file: word`."""
    return [
        f"{file.name}: {word}"
        for file in files
        for word in words
        if word.encode() in file.read_bytes()
    ]


def requirements(lock: str) -> dict[str, str]:
    """The pins of a lock: name → version."""
    text = (ROOT / lock).read_text(encoding="utf-8")
    return {canonicalize_name(name): version for name, version in pins(text)}


def pins(text: str) -> Iterator[tuple[str, str]]:
    """Each pinned name and version of a lock's text."""
    for match in re.finditer(r"^([A-Za-z0-9._-]+)==(\S+)", text, re.MULTILINE):
        yield match[1], match[2]


def declared(*groups: list[str]) -> Iterator[Requirement]:
    """The requirements of pyproject.toml's lists."""
    return (Requirement(line) for group in groups for line in group)


def test_no_index_host_and_no_path_of_a_machine_is_in_a_file() -> None:
    """Whoever clones this has another index and another folder."""
    assert occurrences(INDEX_HOSTS + MACHINE_PATHS, repository_files()) == []


def test_an_index_host_would_be_seen(tmp_path: Path) -> None:
    """The search above can fail."""
    file = tmp_path / "a.lock"
    file.write_text(f"--index-url https://{INDEX_HOSTS[0]}/simple")
    assert occurrences(INDEX_HOSTS, (file,)) == [f"a.lock: {INDEX_HOSTS[0]}"]


def test_no_file_is_huge_and_no_other_lock_is_kept() -> None:
    """A clone stays small; uv's own lock holds addresses and is not ours."""
    files = repository_files()
    assert [str(file) for file in files if file.stat().st_size > FILE_BYTES_MAX] == []
    assert "uv.lock" not in {file.name for file in files}


@pytest.mark.parametrize("lock", [DEMO, TEST])
def test_a_lock_is_nothing_but_pins_and_hashes(lock: str) -> None:
    """No address, no option, no unpinned or unhashed requirement."""
    text = (ROOT / lock).read_text(encoding="utf-8").replace("\\\n", " ")
    requirement = r"[a-z0-9._-]+==[^ ;]+( ; [^#]+?)?( +--hash=sha256:[0-9a-f]{64})+"
    wrong = [line for line in text.splitlines() if not re.fullmatch(requirement, line.rstrip())]
    assert wrong == []


def test_the_locks_agree() -> None:
    """The demo's pins are the test set's pins, so both can share one environment."""
    demo, test = requirements(DEMO), requirements(TEST)
    assert demo.items() <= test.items()
    assert demo.keys() < test.keys()


def test_the_locks_answer_pyproject() -> None:
    """Every declared requirement is pinned, at a version that it admits; else: make lock."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    groups = project["dependency-groups"]
    core = project["project"]["dependencies"]
    needed = {
        DEMO: declared(core, groups["build"], *(extras[extra] for extra in DEMO_EXTRAS)),
        TEST: declared(core, *groups.values(), *extras.values()),
    }
    wrong = [
        f"{lock}: {need}"
        for lock, needs in needed.items()
        for need in needs
        if not need.specifier.contains(
            requirements(lock).get(canonicalize_name(need.name), "0"), prereleases=True
        )
    ]
    assert wrong == []
