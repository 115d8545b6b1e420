"""An incident folder is there whole or not at all."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
import yaml

from affidavit.contract.errors import InputRefused
from affidavit.importers.folder import (
    Alert,
    Incident,
    Symptom,
    Truth,
    Window,
    new_folder,
    parse_stamp,
    stamp_text,
    write_csv,
    write_jsonl,
)

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
INCIDENT = Incident(
    id="case-1",
    title="shop is slow",
    question="Why?",
    window=Window(NOON, NOON + timedelta(minutes=5)),
    symptom=Symptom("shop", "latency"),
    alert=Alert("Slow", NOON, {"service": "shop"}),
)


def test_a_written_folder_loads_with_what_was_given(tmp_path: Path) -> None:
    with new_folder(tmp_path, INCIDENT, Truth(True, "db", "lock", NOON)) as folder:
        write_jsonl(folder / "logs.jsonl", [{"body": "x", "trace_id": None}])
    record = yaml.safe_load((tmp_path / "case-1" / "incident.yaml").read_text())
    assert record["window"] == {"start": "2026-03-02T12:00:00Z", "end": "2026-03-02T12:05:00Z"}
    assert record["symptom"] == {"service": "shop", "signal": "latency"}
    truth = yaml.safe_load((tmp_path / "case-1" / "truth.yaml").read_text())
    assert truth == {
        "faulty": True,
        "service": "db",
        "fault": "lock",
        "injected_at": "2026-03-02T12:00:00Z",
    }
    assert (tmp_path / "case-1" / "logs.jsonl").read_text() == '{"body": "x"}\n'


def test_the_answer_stands_in_truth_yaml_alone(tmp_path: Path) -> None:
    with new_folder(tmp_path, INCIDENT, Truth(True, "secret-db", "secret-lock")):
        pass
    incident = (tmp_path / "case-1" / "incident.yaml").read_text()
    assert "secret" not in incident


def test_without_an_answer_there_is_no_truth(tmp_path: Path) -> None:
    with new_folder(tmp_path, INCIDENT, None):
        pass
    assert not (tmp_path / "case-1" / "truth.yaml").exists()


def test_a_failed_import_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> None:
        with new_folder(tmp_path, INCIDENT, None) as folder:
            (folder / "logs.jsonl").write_text("half")
            raise RuntimeError("disk full")

    with pytest.raises(RuntimeError, match="disk full"):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "case-1").mkdir()
    with (
        pytest.raises(InputRefused, match="is there already"),
        new_folder(tmp_path, INCIDENT, None),
    ):
        pass
    assert list((tmp_path / "case-1").iterdir()) == []


def test_times_are_written_in_utc_and_refused_without_a_zone() -> None:
    east = datetime(2026, 3, 2, 20, tzinfo=timezone(timedelta(hours=8)))
    assert stamp_text(east) == "2026-03-02T12:00:00Z"
    with pytest.raises(InputRefused, match="has no zone"):
        parse_stamp("2026-03-02T12:00:00", Path("a.json"))
    with pytest.raises(InputRefused, match="no RFC 3339 time"):
        parse_stamp("yesterday", Path("a.json"))


def test_a_table_without_rows_is_no_file(tmp_path: Path) -> None:
    assert write_csv(tmp_path / "a.csv", ("x",), []) == 0
    assert write_jsonl(tmp_path / "a.jsonl", []) == 0
    assert list(tmp_path.iterdir()) == []
