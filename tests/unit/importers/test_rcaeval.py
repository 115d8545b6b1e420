"""RCAEval's layout in miniature."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
import yaml

from affidavit.contract.errors import InputRefused
from affidavit.importers.rcaeval import import_rcaeval

AT = 1_700_000_040


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """One run of a fault in a service with an underscore in its name."""
    run = tmp_path / "set" / "check_out_cpu" / "1"
    run.mkdir(parents=True)
    (run / "inject_time.txt").write_text(f"{AT}\n")
    (run / "data.csv").write_text(
        f"time,check_out_cpu,cart_latency-90,cart_error\n{AT},0.5,12,\n{AT + 1},NaN,13,0\n"
    )
    (run / "logs.csv").write_text(
        f"timestamp,container_name,message,level\n{AT}000000000,cart,hello,info\n"
    )
    (run / "traces.csv").write_text(
        f"traceID,spanID,parentSpanID,serviceName,operationName,startTime,duration\n"
        f"t,a,,cart,get,{AT}000000,1500\n"
    )
    return tmp_path / "set"


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text().splitlines()))


def test_columns_become_series(source: Path, tmp_path: Path) -> None:
    (folder,) = import_rcaeval(source, tmp_path / "out")
    found = [
        (r["service_name"], r["metric_name"], r["statistic"], r["value"])
        for r in rows(folder / "metrics.csv")
    ]
    assert found == [
        ("check_out", "container.cpu.usage", "mean", "0.5"),
        ("cart", "rpc.server.duration", "p90", "12"),
        ("cart", "rpc.server.duration", "p90", "13"),
        ("cart", "rpc.server.errors", "rate", "0"),
    ]


def test_stamps_of_every_unit_are_the_same_moment(source: Path, tmp_path: Path) -> None:
    (folder,) = import_rcaeval(source, tmp_path / "out")
    stamps = {rows(folder / name)[0]["timestamp"] for name in ("logs.csv", "traces.csv")}
    assert stamps == {rows(folder / "metrics.csv")[0]["timestamp"]}


def test_the_answer_is_in_the_truth_alone(source: Path, tmp_path: Path) -> None:
    (folder,) = import_rcaeval(source, tmp_path / "out")
    page = (folder / "incident.yaml").read_text()
    assert "check_out" not in folder.name + page
    assert "cpu" not in folder.name + page
    truth = yaml.safe_load((folder / "truth.yaml").read_text())
    assert (truth["service"], truth["fault"]) == ("check_out", "cpu")
    assert yaml.safe_load(page)["window"]["start"] == "2023-11-14T22:14:00Z"


def test_what_is_missing_or_no_time_is_refused(source: Path, tmp_path: Path) -> None:
    run = source / "check_out_cpu" / "1"
    (run / "inject_time.txt").write_text("soon")
    with pytest.raises(InputRefused, match="no time since the epoch"):
        import_rcaeval(source, tmp_path / "out")
    (run / "inject_time.txt").write_text(str(AT))
    (run / "data.csv").rename(run / "other.csv")
    with pytest.raises(InputRefused, match="has none of"):
        import_rcaeval(source, tmp_path / "out")
    with pytest.raises(InputRefused, match="holds no run"):
        import_rcaeval(tmp_path / "out", tmp_path / "out2")


@pytest.mark.parametrize("cell", ["NAN", "-inf", "Infinity", " nan ", ""])
def test_what_is_no_finite_number_is_no_value(source: Path, tmp_path: Path, cell: str) -> None:
    run = source / "check_out_cpu" / "1"
    (run / "data.csv").write_text(f"time,cart_error,cart_cpu\n{AT},{cell},0.5\n")
    (run / "traces.csv").write_text(
        f"traceID,spanID,serviceName,operationName,startTime,duration\nt,a,cart,get,{AT},{cell}\n"
    )
    (folder,) = import_rcaeval(source, tmp_path / "out")
    assert [r["value"] for r in rows(folder / "metrics.csv")] == ["0.5"]
    assert [r["duration_us"] for r in rows(folder / "traces.csv")] == ["0"]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("data.csv", "time,cart_cpu\n{at},much\n", "'much' is no number"),
        ("traces.csv", "traceID,startTime,duration\nt,{at},long\n", "'long' is no number"),
        ("data.csv", "cart_cpu,time\n0.5\n", "'' is no time"),
        ("data.csv", "time,cart_cpu\n-inf,0.5\n", "'-inf' is no time"),
        ("inject_time.txt", "inf", "'inf' is no time"),
    ],
)
def test_a_cell_that_cannot_be_read_is_one_clear_error(
    source: Path, tmp_path: Path, name: str, text: str, said: str
) -> None:
    (source / "check_out_cpu" / "1" / name).write_text(text.format(at=AT))
    with pytest.raises(InputRefused, match=said) as caught:
        import_rcaeval(source, tmp_path / "out")
    assert name in str(caught.value)
    assert not list((tmp_path / "out").glob("rcaeval-*"))
