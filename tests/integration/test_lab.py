"""The rig as real processes: up, broken, recorded, down, and nothing left behind."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Final
from urllib.request import urlopen

import duckdb
import pytest
import yaml

from affidavit.lab.faults import Kill, Restart
from affidavit.lab.observation import Observation
from affidavit.lab.plant import PAIR, Plant
from affidavit.lab.rig import Rig, RigError
from affidavit.lab.session import TARGETS_FILE, Course, order, up
from affidavit.lab.supervisor import Supervisor

pytestmark = pytest.mark.slow

SMALL: Final = replace(
    PAIR,
    components=tuple(
        replace(component, settings={"orders": 3000}) if component.kind == "database" else component
        for component in PAIR.components
    ),
)
"""The pair with a database that is filled at once."""

PATIENCE_S: Final = 20.0  # bounds a wait for something that must come; measures nothing

ORPHAN: Final = """
import sys, time
from dataclasses import replace
from pathlib import Path
from affidavit.lab.plant import PAIR
from affidavit.lab.rig import Rig
small = replace(PAIR, components=tuple(
    replace(c, settings={"orders": 100}) if c.kind == "database" else c for c in PAIR.components))
with Rig(small, Path(sys.argv[1])) as rig:
    rig.start_load(60, seed=1)
    print(*(process.pid for process in rig.processes), flush=True)
    time.sleep(60)
"""


def alive(pid: int) -> bool:
    """Whether a process still runs; a zombie does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def scraped(control: Path) -> list[tuple[str, str]]:
    """Every target that the session names to a Prometheus: its service, its text page."""
    found = []
    for entry in json.loads(control.with_name(TARGETS_FILE).read_text(encoding="utf-8")):
        with urlopen(f"http://{entry['targets'][0]}/metrics", timeout=PATIENCE_S) as answer:
            assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
            found.append((entry["labels"]["service"], answer.read().decode()))
    return found


def read_lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def wait_until_gone(pids: list[int]) -> None:
    """Wait for processes to end; fails when one does not."""
    deadline = time.monotonic() + PATIENCE_S
    while left := [pid for pid in pids if alive(pid)]:
        assert time.monotonic() < deadline, f"processes {left} outlived the rig"
        time.sleep(0.05)


@pytest.fixture
def control() -> Iterator[Path]:
    """A socket path short enough for the kernel, whatever the test's own folder is called."""
    with tempfile.TemporaryDirectory(prefix="lab") as folder:
        yield Path(folder) / "control.sock"


@pytest.fixture
def others() -> set[int]:
    """The children that earlier tests left behind: they are not the rig's."""
    return children()


@pytest.fixture
def session(others: set[int], control: Path) -> Iterator[list[str]]:
    """The small pair held up in a thread, as `lab up` holds it; yields what it says."""
    said: list[str] = []
    course = Course(for_s=60, step_s=0.5, warm_up_s=1.0)
    holder = threading.Thread(target=up, args=(SMALL, course, control, said.append))
    holder.start()
    wait_for_answer(control, "is up", said)
    yield said
    with suppress(RigError):  # the test may have ended it already
        order(control, "down")
    holder.join(PATIENCE_S)
    assert not holder.is_alive()


def wait_for_answer(control: Path, word: str, said: list[str]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not (control.exists() and any(word in line for line in said)):
        assert time.monotonic() < deadline, f"the session never said {word!r}: {said}"
        time.sleep(0.05)


def order_when_warm(control: Path, command: str, **details: str) -> str:
    """Send an order until the session is past its warm-up; any other refusal is raised."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        try:
            return order(control, command, **details)
        except RigError as refusal:
            if "warming up" not in str(refusal):
                raise
            time.sleep(0.2)
    raise AssertionError("the session never came out of its warm-up")


def record_until(control: Path, folder: Path, enough: Callable[[Path], bool]) -> Path:
    """Record what there is again and again, until it holds enough; returns the last folder."""
    deadline = time.monotonic() + PATIENCE_S
    for number in itertools.count():
        out = folder / f"recorded-{number}"
        order_when_warm(control, "record", out=str(out))
        if enough(out):
            return out
        assert time.monotonic() < deadline, "the processes never said enough"
        time.sleep(0.5)
    raise AssertionError


def children() -> set[int]:
    """The pids of this process's children."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text(encoding="ascii")
            except (FileNotFoundError, ProcessLookupError):
                continue
            if stat.rpartition(")")[2].split()[1] == str(os.getpid()):
                found.add(int(entry.name))
    return found


def rows(folder: Path, signal_name: str, where: str) -> list[tuple[object, ...]]:
    """The rows of a signal that fulfil a condition; a signal without a file has none."""
    path = folder / f"{signal_name}.parquet"
    if not path.exists():
        return []
    with duckdb.connect() as connection:
        query = f"SELECT * FROM read_parquet(?) WHERE {where}"
        return connection.execute(query, [str(path)]).fetchall()


def test_a_rig_is_broken_recorded_and_taken_down(
    others: set[int], session: list[str], control: Path, tmp_path: Path
) -> None:
    """Orders reach a rig that is up; the folder holds what real processes said; none stays."""
    started = children() - others
    assert len(started) >= 4  # three components and the load
    assert {name for name, _ in scraped(control)} == {"orders-db", "orders", "storefront"}
    assert all(
        "# TYPE http_server_request_count_total counter" in page for _, page in scraped(control)
    )
    with pytest.raises(RigError, match="has no fault"):
        order(control, "inject", fault="nonsense")
    assert "orders-db" in order_when_warm(control, "inject", fault="slow_query")
    with pytest.raises(RigError, match="injected already"):
        order(control, "inject", fault="slow_query")
    out = record_until(
        control,
        tmp_path,
        lambda out: bool(rows(out, "traces", "kind = 'CLIENT' AND service_name = 'storefront'")),
    )
    truth = yaml.safe_load((out / "truth.yaml").read_text(encoding="utf-8"))
    assert (truth["service"], truth["fault"]) == ("orders-db", "slow_query")
    assert len(rows(out, "events", "service_name = 'orders-db'")) == 1
    assert rows(out, "logs", "body LIKE 'schema changed: DROP INDEX%' AND emitter = 'platform'")
    assert rows(out, "metrics", "metric_name = 'process.cpu.utilization' AND value >= 0")
    assert rows(out, "metrics", "metric_name = 'http.server.request.duration'")
    assert order(control, "down") == "going down"
    wait_until_gone(sorted(started))


def test_a_call_can_be_followed_from_service_to_service(
    session: list[str], control: Path, tmp_path: Path
) -> None:
    """Every SERVER span below the edge is the child of its caller's CLIENT span, and fits in it."""
    wanted = {("storefront", "orders"), ("orders", "orders-db")}
    out = record_until(control, tmp_path, lambda out: {pair[:2] for pair in edges(out)} >= wanted)
    assert {pair[:2] for pair in edges(out)} == wanted
    assert all(pair[2] >= 0 for pair in edges(out))


def edges(folder: Path) -> list[tuple[str, str, int]]:
    """Caller, callee, and what the caller waited less what the callee took, in microseconds."""
    traces = folder / "traces.parquet"
    if not traces.exists():
        return []
    with duckdb.connect() as connection:
        return connection.execute(
            "SELECT c.service_name, s.service_name, c.duration_us - s.duration_us "
            "FROM read_parquet(?) c JOIN read_parquet(?) s "
            "ON s.parent_span_id = c.span_id AND s.trace_id = c.trace_id "
            "WHERE c.kind = 'CLIENT' AND s.kind = 'SERVER'",
            [str(traces)] * 2,
        ).fetchall()


def test_nothing_outlives_a_parent_that_was_killed(tmp_path: Path) -> None:
    """SIGKILL gives the parent no chance to clean up: its children end by themselves."""
    with subprocess.Popen(
        [sys.executable, "-c", ORPHAN, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(pids) == 4
        assert all(alive(pid) for pid in pids)
        parent.send_signal(signal.SIGKILL)
    wait_until_gone(pids)


def test_a_process_that_cannot_start_says_why(tmp_path: Path) -> None:
    """A rig that fails half-way takes down what it has started."""
    before = children()
    broken: Plant = replace(
        SMALL,
        components=tuple(
            replace(component, program="nonsense") if component.name == "orders" else component
            for component in SMALL.components
        ),
    )
    with pytest.raises(RigError, match=r"orders did not start: .*nonsense"), Rig(broken, tmp_path):
        pass
    assert children() <= before


def test_a_process_over_its_memory_limit_is_killed_and_restarted(tmp_path: Path) -> None:
    """The supervisor does what a platform does, and says so as the platform."""
    tight = replace(
        SMALL,
        components=tuple(
            replace(component, memory_max_bytes=1) if component.name == "orders" else component
            for component in SMALL.components
        ),
    )
    with Rig(tight, tmp_path) as rig:
        first = rig.running["orders"].process.pid
        supervisor = Supervisor(rig, tmp_path / "supervisor.logs.jsonl", restart_after_s=0)
        supervisor.look()
        second = rig.running["orders"].process.pid
        assert not alive(first)
        assert alive(second)
        assert alive(rig.running["storefront"].process.pid)
    said = [json.loads(line) for line in read_lines(tmp_path / "supervisor.logs.jsonl")]
    assert ["out of memory: killed orders-1" in said[0]["body"], said[0]["emitter"]] == [
        True,
        "platform",
    ]
    assert said[1]["body"] == "process of orders-1 ended by signal SIGKILL"
    changes = [json.loads(line) for line in read_lines(tmp_path / "changes.events.jsonl")]
    assert [(row["event_name"], row["service_name"]) for row in changes] == [("restart", "orders")]


def test_what_is_held_down_stays_down(tmp_path: Path) -> None:
    """A dependency that was taken down refuses connections until somebody starts it."""
    with Rig(SMALL, tmp_path) as rig, closing(Observation(rig)) as observation:
        observation.act(Kill("orders"), guilty=True)
        observation.measure()
        observation.measure()
        assert rig.running["orders"].process.poll() is not None
        with pytest.raises(RigError, match=r"orders does not answer .* refused"):
            rig.ask("orders", "set", {})
        observation.act(Restart("orders", "started by hand"), guilty=True)
        observation.measure()
        rig.ask("orders", "set", {})
    assert observation.changes == ["chg-001"]


def test_a_deploy_replaces_the_process_without_a_gap(tmp_path: Path) -> None:
    """The successor listens before its forerunner stops, on the same port."""
    with Rig(SMALL, tmp_path) as rig:
        old = rig.running["orders"].process.pid
        rig.deploy("orders", "2.5.0", {"lines_in_history": True})
        assert not alive(old)
        rig.ask("orders", "set", {})
        assert rig.running["orders"].component.version == "2.5.0"
        assert dict(rig.running["orders"].component.settings) == {"lines_in_history": True}
    listening = [json.loads(line)["body"] for line in read_lines(tmp_path / "orders-1.logs.jsonl")]
    assert listening == ["orders 2.4.3 listening", "orders 2.5.0 listening"]


def test_an_order_without_a_rig_is_refused_in_one_line(control: Path) -> None:
    """Nobody is up: the message says what to do."""
    with pytest.raises(RigError, match="start one with 'lab up'"):
        order(control, "down")


def test_a_second_rig_at_the_same_place_is_refused(session: list[str], control: Path) -> None:
    """One session a user: the first one goes on."""
    with pytest.raises(RigError, match="is up already"):
        up(SMALL, Course(for_s=1), control)
    assert control.exists()
