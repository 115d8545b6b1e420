"""Lines of a window from files: which are kept, which are none, and what was cut."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pytest

from affidavit.adapters import telemetry_files
from affidavit.adapters.backend_tables import FilesTable
from affidavit.adapters.telemetry_files import Lines, capture_files, moment_us, read_line
from affidavit.contract.errors import ToolFailed

START_US, END_US = 1_000_000_000_000_000, 1_000_000_010_000_000


def table(*paths: Path, **more: object) -> FilesTable:
    return FilesTable.model_validate({"signal": "logs", "paths": tuple(map(str, paths)), **more})


def capture(wanted: FilesTable) -> tuple[Lines, list[dict[str, object]]]:
    out = io.StringIO()
    lines = capture_files(wanted, START_US, END_US, out)
    return lines, [json.loads(line) for line in out.getvalue().splitlines()]


def line(at_us: int, **more: object) -> str:
    return json.dumps({"timestamp": at_us, "service_name": "api", "body": "x", **more}) + "\n"


def test_only_the_lines_of_the_window_are_kept_and_what_is_no_record_is_counted(
    tmp_path: Path,
) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(
        line(START_US - 1) + line(START_US) + "no json\n[1]\n\n" + line(END_US) + line(END_US + 1)
    )
    lines, rows = capture(table(file))
    assert [row["timestamp"] for row in rows] == [START_US, END_US]
    assert (lines.kept, lines.unread, lines.left_out) == (2, 2, [])


@pytest.mark.fault("R44")
def test_what_was_cut_inside_the_window_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telemetry_files, "BYTES_MAX", 600)
    file = tmp_path / "big.jsonl"
    file.write_text("".join(line(START_US + i) for i in range(100)))
    lines, rows = capture(table(file))
    assert 0 < len(rows) < 10
    assert rows[-1]["timestamp"] == START_US + 99
    assert lines.left_out == ["the beginning of big.jsonl"]
    older = tmp_path / "older.jsonl"
    older.write_text("".join(line(START_US - 1000 + i) for i in range(100)))
    assert capture(table(older))[0].left_out == []


def test_no_file_is_unavailable_and_an_empty_one_is_empty(tmp_path: Path) -> None:
    with pytest.raises(ToolFailed) as failed:
        capture(table(tmp_path / "missing-*.jsonl"))
    assert failed.value.code == "SOURCE_UNAVAILABLE"
    (tmp_path / "empty.jsonl").touch()
    assert capture(table(tmp_path / "*.jsonl"))[1] == []


def test_a_pipe_does_not_hang_the_capture(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    with pytest.raises(ToolFailed):
        capture(table(tmp_path / "pipe.jsonl"))


def test_foreign_keys_are_translated_and_a_service_is_filled_in() -> None:
    wanted = table(
        Path("x"),
        fields={"timestamp": "ts", "body": "msg", "severity_text": "level"},
        service="web",
    )
    raw = b'{"ts": "2001-09-09T01:46:40+00:00", "msg": "boom", "level": "error"}'
    assert read_line(raw, wanted) == {
        "timestamp": START_US,
        "body": "boom",
        "severity_text": "error",
        "service_name": "web",
    }


def test_a_line_of_text_begins_with_its_time() -> None:
    wanted = table(Path("x"), form="text", service="web")
    found = read_line(b"2001-09-09T01:46:40.5Z ERROR pool exhausted", wanted)
    assert found is not None
    assert (found["timestamp"], found["body"], found["severity_text"]) == (
        START_US + 500_000,
        "ERROR pool exhausted",
        "ERROR",
    )
    assert read_line(b"    at com.example.Main", wanted) is None


@pytest.mark.fault("R26")
def test_a_time_without_a_zone_is_no_time() -> None:
    assert moment_us("2001-09-09T01:46:40") is None
    assert moment_us("2001-09-09T03:46:40+02:00") == START_US


@pytest.mark.parametrize(
    "value", [1_000_000_000, 1_000_000_000_000, 10**15, 10**18, "1000000000", 1e9, "1000000000.0"]
)
def test_a_number_is_seconds_to_nanoseconds(value: object) -> None:
    assert moment_us(value) == START_US


NO_TIMES: list[object] = [None, True, "soon", [], -5, "Infinity", "0001-01-01T00:00:00+14:00"]
NO_NUMBERS: list[object] = ["9" * 400, 10**400, float("inf"), float("nan")]


@pytest.mark.parametrize("value", [*NO_TIMES, *NO_NUMBERS])
def test_what_is_no_time_is_none(value: object) -> None:
    assert moment_us(value) is None
