"""Quiet windows: after the last injection of a day, at even distances, without an answer."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path

import duckdb
import pytest
import yaml

from affidavit.contract.errors import InputRefused
from affidavit.importers.nezha_quiet import SETTLED_AFTER, WINDOWS_A_DAY, import_nezha_quiet
from tests.unit.importers.test_nezha import CASE, INJECTED, POD, write

DAY_END = 1_675_036_800  # 2023-01-30 00:00:00


def nezha(path: Path, injected: int = INJECTED) -> Path:
    """A set of one day, a value a minute from an hour before the injection to midnight."""
    write(
        path / CASE["day"] / "metrics.parquet",  # type: ignore[operator]
        f"""SELECT minute AS TimeStamp, '{POD}' AS PodName, 1.0::FLOAT AS "CpuUsage(m)"
            FROM range({INJECTED - 3600}, {DAY_END}, 60) AS r(minute)""",
    )
    (path / "cases.json").write_text(json.dumps([{**CASE, "inject_epoch": injected}]))
    return path


def test_windows_begin_long_after_the_last_injection_and_end_before_midnight(
    tmp_path: Path,
) -> None:
    folders = import_nezha_quiet(nezha(tmp_path / "src"), tmp_path / "dst")
    assert len(folders) == WINDOWS_A_DAY
    windows = [yaml.safe_load((path / "incident.yaml").read_text())["window"] for path in folders]
    starts = [datetime.fromisoformat(window["start"]).timestamp() for window in windows]
    ends = [datetime.fromisoformat(window["end"]).timestamp() for window in windows]
    assert starts == sorted(starts)
    assert starts[0] >= INJECTED // 60 * 60 + SETTLED_AFTER.total_seconds()
    assert ends[-1] <= DAY_END


def test_a_window_has_no_fault_and_an_hour_of_metrics_before_it(tmp_path: Path) -> None:
    folder = import_nezha_quiet(nezha(tmp_path / "src"), tmp_path / "dst")[0]
    truth = yaml.safe_load((folder / "truth.yaml").read_text())
    assert truth["faulty"] is False
    assert truth.get("service") is None
    start = datetime.fromisoformat(
        yaml.safe_load((folder / "incident.yaml").read_text())["window"]["start"]
    )
    first = duckdb.execute(f"SELECT min(timestamp) FROM '{folder / 'metrics.parquet'}'").fetchone()
    assert first is not None
    assert first[0] <= start - timedelta(minutes=59)


def test_a_day_without_quiet_hours_is_refused(tmp_path: Path) -> None:
    source = nezha(tmp_path / "src", injected=DAY_END - 600)
    with pytest.raises(InputRefused, match="no day whose metrics go on"):
        import_nezha_quiet(source, tmp_path / "dst")
