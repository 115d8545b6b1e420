"""Rules of the whole suite: marks name real ids, and where CI is set nothing is left out.

Where CI is set, a test that is skipped has failed: the machine there has every server and browser,
or the set-up is broken. Elsewhere the closing lines name what was left out and why.
"""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path
from typing import Final, cast

import pytest

SPEC_IDS: Final = Path(__file__).parent.parent / "docs" / "spec-ids.md"
FAULT_ROW: Final = re.compile(r"[FR][1-9][0-9]?")


def in_ci() -> bool:
    """Whether this is continuous integration, where a skip is a failure."""
    return os.environ.get("CI", "").lower() in {"1", "true"}


@cache
def known_spec_ids() -> frozenset[str]:
    """The ids of docs/spec-ids.md: the first cell of each row of its tables."""
    rows = SPEC_IDS.read_text(encoding="utf-8").splitlines()
    return frozenset(
        match[1] for row in rows if (match := re.match(r"\| ([A-Z][0-9]+[a-z]?) \|", row))
    )


def wrong_marks(item: pytest.Item, spec_ids: frozenset[str]) -> Iterator[str]:
    """What is wrong with the marks of one test; nothing when all is well."""
    for mark in item.iter_markers():
        if mark.name in {"spec", "fault", "integration"} and not mark.args:
            yield f"the mark {mark.name!r} names nothing"
    for mark in item.iter_markers("spec"):
        yield from (f"no spec id {id_!r} in {SPEC_IDS.name}" for id_ in {*mark.args} - spec_ids)
    for mark in item.iter_markers("fault"):
        yield from (f"no fault row {row!r}" for row in mark.args if not FAULT_ROW.fullmatch(row))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Fail a test whose mark names an id that does not exist: it would prove nothing."""
    wrong = list(wrong_marks(item, known_spec_ids()))
    if wrong:
        pytest.fail("; ".join(wrong), pytrace=False)


def refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turn a skip into a failure that says why it was one, where CI is set."""
    if not (in_ci() and report.skipped) or hasattr(report, "wasxfail"):
        return
    where_and_why = cast("tuple[str, int, str]", report.longrepr)
    report.outcome = "failed"
    report.longrepr = f"left out although CI is set: {where_and_why[2]}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where CI is set, a skipped test has failed."""
    report = yield
    refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Where CI is set, a module that skips itself has failed."""
    report = yield
    refuse_skip(report)
    return report


@pytest.fixture(autouse=True, scope="session")
def own_state_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test reads or makes a key, a trust file or a store of whoever runs the suite."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield
