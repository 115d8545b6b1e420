"""The same incident, paged early and late: another time to look, the same data and answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from affidavit.adapters.incident_yaml import INCIDENT_FILE, parse_incident
from affidavit.contract.errors import InputRefused
from affidavit.evaluation.incidents import Case, collect_cases
from affidavit.evaluation.report import ALL, groups_of
from affidavit.evaluation.shifted import SHIFT_S_MAX, shift_cases
from tests.support.incidents import INCIDENT, write_folder

ALERT = "alert: {name: Slow, at: 2026-03-02T10:05:00Z}\n"

pytestmark = pytest.mark.spec("V3")


def case_at(path: Path) -> Case:
    """One faulty case with an alert, a knowledge page and a metrics table."""
    write_folder(
        path, INCIDENT + ALERT, truth_yaml="faulty: true\nservice: db\n", metrics_csv="a\n1\n"
    )
    (path / "knowledge").mkdir()
    (path / "knowledge" / "page.md").write_text("# Page\n")
    (case,) = collect_cases([("own", path)]).cases
    return case


@pytest.mark.parametrize("by_s", [-60, 60])
def test_window_and_alert_move_and_nothing_else(tmp_path: Path, by_s: int) -> None:
    case = case_at(tmp_path / "case")
    (moved,) = shift_cases([case], by_s, tmp_path / "room")
    before, after = (
        parse_incident((item.folder / INCIDENT_FILE).read_bytes(), "x") for item in (case, moved)
    )
    assert (after.window.start - before.window.start).total_seconds() == by_s
    assert (after.window.end - before.window.end).total_seconds() == by_s
    assert before.alert is not None
    assert after.alert is not None
    assert (after.alert.at - before.alert.at).total_seconds() == by_s
    assert after.question == before.question
    for name in ("metrics.csv", "truth.yaml", "knowledge/page.md"):
        assert (moved.folder / name).read_bytes() == (case.folder / name).read_bytes()
        assert (moved.folder / name).stat().st_nlink == 1, "a folder with hard links is refused"
    assert (moved.truth, moved.source) == (case.truth, f"own, alert {by_s:+d} s")


def test_the_case_itself_is_left_as_it_was(tmp_path: Path) -> None:
    case = case_at(tmp_path / "case")
    before = (case.folder / INCIDENT_FILE).read_bytes()
    list(shift_cases([case], 60, tmp_path / "room"))
    assert (case.folder / INCIDENT_FILE).read_bytes() == before


@pytest.mark.parametrize("by_s", [0, SHIFT_S_MAX + 1, -SHIFT_S_MAX - 1])
def test_no_shift_and_another_incident_are_refused(tmp_path: Path, by_s: int) -> None:
    with pytest.raises(InputRefused, match="no question"):
        list(shift_cases([], by_s, tmp_path))


def test_copies_count_in_their_own_set_alone(tmp_path: Path) -> None:
    case = case_at(tmp_path / "case")
    other = case_at(tmp_path / "other")
    elsewhere = Case("foreign", "x", other.folder, other.truth)
    (moved,) = shift_cases([case], 60, tmp_path / "room")
    groups = groups_of([case, elsewhere, moved])
    assert groups[ALL] == (case, elsewhere)
    assert groups["own, alert +60 s"] == (moved,)
