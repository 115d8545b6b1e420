"""The wide tables of PetShop, in miniature."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest
import yaml

from affidavit.contract.errors import InputRefused
from affidavit.importers.petshop import import_petshop

AT = 1_700_000_000
HEADER = (
    "microservice,Shop,Shop,Search_remote\n"
    "metric,latency,requests,availability\n"
    "statistic,p90,Sum,Average\n"
    "unix_timestamp,,,\n"
)
TARGET = {
    "target": {"node": "Shop", "metric": "latency", "agg": "Average", "timestamp": AT},
    "root_cause": {"node": "Hidden_AWS::Lambda", "metric": None},
    "metadata": {"reproducibility": {"command": "set delay"}},
}


def add(root: Path, name: str, table: str) -> None:
    path = root / "dataset" / name / "metrics.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(HEADER + table)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Two patterns; one has its own quiet days, the other must borrow."""
    root = tmp_path / "set"
    add(root, "calm/noissue", f"{AT - 900},0.1,100,100\n{AT - 600},0.2,100,\n")
    add(root, "busy/noissue", f"{AT - 900},0.3,900,100\n")
    for pattern, load in (("calm", 100), ("odd", 800)):
        add(root, f"{pattern}/train/issue_0", f"{AT - 300}.0,0.1,{load},nan\n{AT},2.5,{load},90\n")
        issue = root / "dataset" / pattern / "train" / "issue_0"
        (issue / "target.json").write_text(json.dumps(TARGET))
        (root / "dataset" / pattern / "graph.csv").write_text(
            ",Shop,Search_remote\nShop,0,1\nSearch_remote,0,0\n"
        )
    return root


def metrics(folder: Path, where: str) -> list[tuple[object, ...]]:
    return duckdb.execute(
        f"SELECT epoch(timestamp)::BIGINT, value, unit, statistic"
        f" FROM '{folder}/metrics.parquet' WHERE {where} ORDER BY ALL"
    ).fetchall()


def test_wide_columns_become_long_rows(source: Path, tmp_path: Path) -> None:
    calm, _ = import_petshop(source, tmp_path / "out")
    assert metrics(calm, "service_name = 'Shop' AND metric_name = 'rpc.server.duration'") == [
        (AT - 900, 0.1, "s", "p90"),
        (AT - 600, 0.2, "s", "p90"),
        (AT - 300, 0.1, "s", "p90"),
        (AT, 2.5, "s", "p90"),
    ]
    # an empty cell and a NaN are no samples
    assert metrics(calm, "metric_name = 'rpc.server.success_ratio'") == [
        (AT - 900, 100.0, "%", "mean"),
        (AT, 90.0, "%", "mean"),
    ]


def test_a_pattern_without_quiet_days_borrows_those_of_the_nearest_load(
    source: Path, tmp_path: Path
) -> None:
    _, odd = import_petshop(source, tmp_path / "out")
    assert metrics(odd, "metric_name = 'rpc.server.requests'")[0] == (
        AT - 900,
        900.0,
        "{request}",
        "sum",
    )


def test_the_page_says_what_was_noticed_and_not_the_answer(source: Path, tmp_path: Path) -> None:
    calm, _ = import_petshop(source, tmp_path / "out")
    page = (calm / "incident.yaml").read_text()
    record = yaml.safe_load(page)
    assert record["symptom"] == {
        "service": "Shop",
        "signal": "latency",
        "metric": "rpc.server.duration",
    }
    assert record["window"]["start"] == "2023-11-14T22:08:20Z"  # one step before the page
    assert "Hidden" not in page
    assert "delay" not in page
    assert yaml.safe_load((calm / "truth.yaml").read_text())["service"] == "Hidden_AWS::Lambda"


def test_what_has_no_telemetry_of_its_own_is_external(source: Path, tmp_path: Path) -> None:
    calm, _ = import_petshop(source, tmp_path / "out")
    topology = json.loads((calm / "topology.json").read_text())
    assert topology == {
        "nodes": [
            {"name": "Shop", "kind": "service"},
            {"name": "Search_remote", "kind": "external"},
        ],
        "edges": [{"from": "Shop", "to": "Search_remote", "kind": "calls"}],
    }


@pytest.mark.parametrize(
    ("name", "text", "match"),
    [
        ("target.json", "{}", "is not a target"),
        ("metrics.csv", "a,b\n", "is not a table"),
        ("metrics.csv", HEADER + "soon,1,1,1\n", "could not convert"),
    ],
)
def test_a_broken_issue_is_refused(
    source: Path, tmp_path: Path, name: str, text: str, match: str
) -> None:
    (source / "dataset" / "calm" / "train" / "issue_0" / name).write_text(text)
    with pytest.raises(InputRefused, match=match):
        import_petshop(source, tmp_path / "out")


def test_a_folder_without_issues_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputRefused, match="holds no issue"):
        import_petshop(tmp_path, tmp_path / "out")
