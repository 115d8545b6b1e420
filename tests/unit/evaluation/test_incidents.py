"""Which folders are cases, and which are not evaluated, each with its reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from affidavit.contract.errors import InputRefused
from affidavit.evaluation.incidents import Truth, collect_cases, read_truth
from tests.support.incidents import INCIDENT, write_folder

FAULTY = "faulty: true\nservice: checkout\nfault: lock\nchanges: [chg-1]\n"


def folder_with(path: Path, truth: str, incident: str = INCIDENT) -> Path:
    """An incident folder with this truth."""
    return write_folder(path, incident, truth_yaml=truth)


def test_cases_are_found_at_any_depth_in_the_order_of_names(tmp_path: Path) -> None:
    folder_with(tmp_path / "b", "faulty: false\nservice: null\n")
    folder_with(tmp_path / "a" / "deep", FAULTY)
    found = collect_cases([("own", tmp_path)])
    assert [case.folder.name for case in found.cases] == ["deep", "b"]
    assert found.left_out == ()
    case = found.cases[0]
    assert (case.source, case.id, case.symptom) == ("own", "slow-checkout", "checkout")
    assert case.truth == Truth(True, frozenset({"checkout"}), "lock", ("chg-1",))


def test_a_system_label_of_the_alert_names_the_system(tmp_path: Path) -> None:
    alert = (
        INCIDENT + "alert: {name: Slow, at: 2026-03-02T10:05:00Z, labels: {system: TrainTicket}}\n"
    )
    folder_with(tmp_path, FAULTY, alert)
    (case,) = collect_cases([("nezha", tmp_path)]).cases
    assert case.system == "TrainTicket"


def test_a_list_of_services_is_a_list_of_right_names(tmp_path: Path) -> None:
    folder_with(tmp_path, "faulty: true\nservice: db\nservices: [db-1, db-2]\n")
    assert read_truth(tmp_path).services == {"db", "db-1", "db-2"}


@pytest.mark.parametrize(
    ("truth", "why"),
    [
        ("service: checkout\n", "does not say whether anything was broken"),
        ("faulty: maybe\nservice: checkout\n", "does not say whether anything was broken"),
        ("faulty: true\n", "names no service"),
        ("faulty: true\nservice: ''\n", "service is no text"),
        ("faulty: false\nservice: checkout\n", "says that nothing was broken"),
        ("faulty: true\nservcie: checkout\n", "unknown key 'servcie'"),
        ("faulty: [true\n", "is no YAML"),
        ("- faulty\n", "is no mapping"),
    ],
)
def test_a_truth_that_says_too_little_is_not_evaluated(
    tmp_path: Path, truth: str, why: str
) -> None:
    folder_with(tmp_path / "odd", truth)
    found = collect_cases([("own", tmp_path)])
    assert found.cases == ()
    (left_out,) = found.left_out
    assert (left_out.source, left_out.case) == ("own", "odd")
    assert why in left_out.why


def test_a_folder_without_a_truth_or_with_a_broken_incident_is_not_evaluated(
    tmp_path: Path,
) -> None:
    write_folder(tmp_path / "asked")
    folder_with(tmp_path / "broken", FAULTY, "id: [")
    whys = [item.why for item in collect_cases([("own", tmp_path)]).left_out]
    assert "there is no truth.yaml" in whys[0]
    assert "incident.yaml" in whys[1]


@pytest.mark.parametrize("place", ["", "nowhere"])
def test_a_place_without_incidents_is_refused(tmp_path: Path, place: str) -> None:
    with pytest.raises(InputRefused, match="holds no incident folder") as refused:
        collect_cases([("own", tmp_path / place)])
    assert refused.value.code == "NO_INCIDENTS"
