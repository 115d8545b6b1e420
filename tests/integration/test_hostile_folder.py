"""An incident folder from anybody: each way to deceive, to hang or to fill is one clear line.

Every case here goes through the real reader and the real query process.
"""

from __future__ import annotations

import gc
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import anyio
import duckdb
import pytest

from affidavit.adapters import incident_folder
from affidavit.adapters.duckdb_runner import DuckRunner, Query
from affidavit.adapters.incident_folder import IncidentFolder, load_incident
from affidavit.contract.errors import InputRefused, ToolFailed
from affidavit.contract.evidence import Line
from affidavit.contract.states import EvidenceStatus
from tests.support.incidents import (
    INCIDENT,
    METRICS_HEADER,
    call,
    jsonl,
    log_row,
    metrics_csv,
    quiet,
    small_folder,
    stamp,
    write_folder,
)

Break = Callable[[Path], None]

QUIET: Final = metrics_csv({"checkout latency p95": quiet(range(-30, 10))})


def remove(name: str) -> Break:
    return lambda folder: (folder / name).unlink()


def put(name: str, content: str | bytes) -> Break:
    data = content.encode() if isinstance(content, str) else content

    def act(folder: Path) -> None:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)

    return act


def say(old: str, new: str) -> Break:
    return put("incident.yaml", INCIDENT.replace(old, new))


def link(name: str) -> Break:
    def act(folder: Path) -> None:
        (folder / "truth.yaml").write_text("faulty: true\nservice: checkout\n")
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(folder / "truth.yaml")

    return act


def hard_link(folder: Path) -> None:
    (folder / "truth.yaml").write_text("faulty: true\nservice: checkout\n")
    (folder / "metrics.csv").unlink()
    os.link(folder / "truth.yaml", folder / "metrics.csv")


def hard_link_outside(folder: Path) -> None:
    outside = folder.parent / "elsewhere.csv"
    outside.write_text(QUIET)
    (folder / "metrics.csv").unlink()
    os.link(outside, folder / "metrics.csv")


def linked_folder(folder: Path) -> None:
    (folder / "knowledge").symlink_to(folder.parent, target_is_directory=True)


def pipe(folder: Path) -> None:
    (folder / "metrics.csv").unlink()
    os.mkfifo(folder / "metrics.csv")


def pipe_below(folder: Path) -> None:
    (folder / "knowledge").mkdir()
    os.mkfifo(folder / "knowledge" / "note.md")


def plug(folder: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(folder / "events.csv"))


def table_folder(folder: Path) -> None:
    (folder / "events.csv").mkdir()


def deep(folder: Path) -> None:
    folder.joinpath(*"abcdefgh").mkdir(parents=True)


LAUGHS: Final = "lol: &a [ha, ha]\nmore: [*a, *a, *a]\n"
LINES: Final = jsonl([log_row(1, "one"), log_row(2, "two")])

CASES: Final[dict[str, tuple[Break, tuple[str, ...]]]] = {
    # the document
    "no incident": (remove("incident.yaml"), ("incident.yaml", "missing")),
    "broken yaml": (put("incident.yaml", "id: [x\ntitle: }"), ("incident.yaml, line 2", "broken")),
    "not a mapping": (put("incident.yaml", "- a\n- b\n"), ("incident.yaml", "mapping")),
    "empty document": (put("incident.yaml", ""), ("incident.yaml", "missing")),
    "two documents": (put("incident.yaml", INCIDENT + "---\nid: y\n"), ("incident.yaml", "broken")),
    "not utf-8": (put("incident.yaml", INCIDENT.encode() + b"#\xff"), ("UTF-8",)),
    "nul": (put("incident.yaml", INCIDENT + "#\x00"), ("incident.yaml",)),
    "laughs": (put("incident.yaml", INCIDENT + LAUGHS), ("line 6", "anchors and aliases")),
    "anchor alone": (say("id: slow", "id: &x slow"), ("line 1", "anchors and aliases")),
    "merge key": (put("incident.yaml", INCIDENT + "alert: {<<: {name: x}}\n"), ("unknown key",)),
    "tag": (say("id: slow", "id: !!python/name:os.system slow"), ("line 1", "tags")),
    "deep document": (put("incident.yaml", "[" * 20_000), ("nested",)),
    "huge document": (put("incident.yaml", INCIDENT + "# x" * 40_000), ("larger than",)),
    "repeated key": (put("incident.yaml", INCIDENT + "id: other\n"), ("line 6", "twice")),
    "list as key": (put("incident.yaml", INCIDENT + "? [a, b]\n: x\n"), ("line 6", "no text")),
    "null key": (put("incident.yaml", INCIDENT + "~: x\n"), ("unknown key",)),
    "list for text": (
        say("title: Checkout is slow", "title: [a]"),
        ("title is missing or no text",),
    ),
    "labels no text": (
        put(
            "incident.yaml",
            INCIDENT + "alert: {name: x, at: 2026-03-02T10:00:00Z, labels: {a: [b]}}\n",
        ),
        ("alert.labels.a",),
    ),
    "unknown key": (put("incident.yaml", INCIDENT + "titel: x\n"), ("unknown key 'titel'",)),
    "unknown part key": (say("signal: latency", "kind: latency"), ("symptom", "unknown key")),
    "unknown signal": (say("signal: latency", "signal: slowness"), ("symptom.signal",)),
    "no question": (say("question:", "description:"), ("question is missing",)),
    "long title": (say("Checkout is slow", "x" * 1000), ("title", "500")),
    "evil id": (say("id: slow-checkout", "id: ../../etc"), ("incident.id",)),
    "no window": (say("window:", "baseline:"), ("window is missing",)),
    "no zone": (say("10:00:00Z", "10:00:00"), ("window.start", "no zone")),
    "named zone": (say("10:00:00Z", "10:00:00 CET"), ("window.start", "RFC 3339")),
    "no such zone": (say("10:00:00Z", "10:00:00+99:00"), ("window.start", "no moment")),
    "no such day": (say("2026-03-02T10:00", "2026-02-31T10:00"), ("window.start", "no moment")),
    "before all time": (
        say("2026-03-02T10:00:00Z", "0001-01-01T00:00:00+10:00"),
        ("window.start", "no moment"),
    ),
    "turned window": (say("10:10:00Z", "09:10:00Z"), ("window ends", "not after its start")),
    "empty window": (say("10:10:00Z", "10:00:00Z"), ("window ends", "not after its start")),
    "overlapping baseline": (
        put(
            "incident.yaml",
            INCIDENT + "baseline: {start: 2026-03-02T09:00:00Z, end: 2026-03-02T10:05:00Z}\n",
        ),
        ("baseline overlaps",),
    ),
    "window outside": (
        say("2026-03-02T10:00:00Z, end: 2026-03-02", "2026-04-02T10:00:00Z, end: 2026-04-02"),
        ("holds no row", "metrics.csv has 2026-03-02T09:30:00Z"),
    ),
    # the folder
    "link as table": (link("metrics.csv"), ("metrics.csv is a link",)),
    "link elsewhere": (link("notes.txt"), ("notes.txt is a link",)),
    "link as document": (link("incident.yaml"), ("incident.yaml is a link",)),
    "dangling link": (link("gone"), ("gone is a link",)),
    "hard link to the truth": (hard_link, ("2 names",)),
    "hard link outside": (hard_link_outside, ("metrics.csv has 2 names",)),
    "linked folder": (linked_folder, ("knowledge is a link",)),
    "pipe": (pipe, ("metrics.csv is no plain file",)),
    "pipe below": (pipe_below, ("note.md is no plain file",)),
    "socket": (plug, ("events.csv is no plain file",)),
    "folder as table": (table_folder, ("events.csv is a folder",)),
    "deep folder": (deep, ("nested deeper",)),
    "two files": (put("metrics.jsonl", "{}\n"), ("metrics.csv and metrics.jsonl",)),
    "packed table": (put("events.csv.gz", b"\x1f\x8b"), ("events.csv.gz is none of",)),
    "wildcard": (put("m*.csv", QUIET), ("wildcards",)),
    "brackets": (put("knowledge/[a].md", "x"), ("wildcards",)),
    "dots": (put("..metrics.csv", QUIET), ("wildcards or ..",)),
    "line break in a name": (put("a\nb.csv", QUIET), ("wildcards",)),
    # topology
    "topology no json": (put("topology.json", "{"), ("topology.json is no JSON",)),
    "topology deep": (put("topology.json", "[" * 200_000), ("topology.json",)),
    "topology shape": (put("topology.json", '{"nodes": [{"nam": "a"}]}'), ("nodes.0",)),
    "topology twice": (
        put("topology.json", '{"nodes": [{"name": "a"}, {"name": "a"}]}'),
        ("same name",),
    ),
    # CSV
    "no column": (put("metrics.csv", "timestamp,value\n"), ("metrics.csv has no column service",)),
    "column twice": (put("metrics.csv", f"{METRICS_HEADER},value\n"), ("two columns", "value")),
    "no header": (put("metrics.csv", ""), ("metrics.csv, line 1", "no header")),
    "short row": (put("metrics.csv", f"{QUIET}a,b\n"), ("metrics.csv, line 42", "2 cells")),
    "open quote": (put("metrics.csv", f'{QUIET}"a'), ("metrics.csv, line 42",)),
    "wrong encoding": (
        put("metrics.csv", f"{QUIET}{stamp(1)},".encode() + b"\xff\xfe,m,1,s,mean\n"),
        ("metrics.csv, line 42", "UTF-8"),
    ),
    "no number": (
        put("metrics.csv", f"{METRICS_HEADER}\n{stamp(1)},a,m,fast,ms,p95\n"),
        ("value is no number", "row 2"),
    ),
    "no time": (
        put("metrics.csv", f"{METRICS_HEADER}\n{stamp(1)},a,m,1,ms,p95\nnow,a,m,1,ms,p95\n"),
        ("1 rows have no readable timestamp", "row 3"),
    ),
    "seconds for microseconds": (
        put("metrics.csv", f"{METRICS_HEADER}\n1772445600,a,m,1,ms,p95\n"),
        ("no readable timestamp", "row 2"),
    ),
    # JSON lines
    "broken line": (put("logs.jsonl", LINES + '{"timestamp":\n' + LINES), ("logs.jsonl, line 3",)),
    "broken last line": (put("logs.jsonl", LINES + '{"a": "b'), ("logs.jsonl, line 3",)),
    "broken far down": (
        put("logs.jsonl", LINES * 5000 + '{"timestamp": "x"\n' + LINES),
        ("logs.jsonl, line 10001",),
    ),
    "array": (put("logs.jsonl", LINES + "[1, 2]\n"), ("logs.jsonl, line 3", "object")),
    "array far down": (put("logs.jsonl", LINES * 5000 + "[1]\n"), ("logs.jsonl, line 10001",)),
    "no body": (put("logs.jsonl", '{"timestamp": 1, "service_name": "a"}\n'), ("column body",)),
    "deep value": (
        put("logs.jsonl", '{"timestamp": ' + "[" * 300_000 + "]" * 300_000 + "}\n"),
        ("logs.jsonl",),
    ),
    # Parquet
    "no parquet": (put("logs.parquet", "hello, world\n" * 10), ("logs.parquet", "Parquet")),
    "empty parquet": (put("logs.parquet", b""), ("logs.parquet", "Parquet")),
    "cut parquet": (put("logs.parquet", b"PAR1" + b"\0" * 100 + b"PAR1"), ("logs.parquet",)),
}


def broken(folder: Path, breaking: Break) -> Path:
    """A folder that works, and then one thing is done to it."""
    small_folder(folder)
    (folder / "logs.jsonl").unlink()
    breaking(folder)
    return folder


@pytest.mark.spec("C15")
@pytest.mark.parametrize("case", CASES)
def test_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    """What is wrong, where, and how to mend it; nothing of it stays behind."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    breaking, words = CASES[case]
    folder = broken(tmp_path / "incident", breaking)
    with pytest.raises(InputRefused) as refused:
        load_incident(folder)
    message = refused.value.message
    for word in words:
        assert word in message
    assert refused.value.hint
    assert len(f"{message}{refused.value.hint}".splitlines()) == 1
    assert len(message) < 500 + len(str(folder))
    assert not list(temporary.iterdir())


def test_a_path_that_is_no_folder(tmp_path: Path) -> None:
    """Nothing there, a file, and a name that no file can have."""
    (tmp_path / "file").write_text("x")
    for path, word in (
        (tmp_path / "gone", "does not exist"),
        (tmp_path / "file", "is no folder"),
        (tmp_path / "a\0b", "cannot be opened"),
    ):
        with pytest.raises(InputRefused, match=word):
            load_incident(path)


def test_no_telemetry(tmp_path: Path) -> None:
    """A topology alone, or tables without a row, are no incident."""
    nodes = '{"nodes": [{"name": "a"}]}'
    for files in ({"topology_json": nodes}, {"metrics_csv": METRICS_HEADER, "logs_jsonl": ""}):
        with pytest.raises(InputRefused, match="no telemetry"):
            load_incident(write_folder(tmp_path / str(len(files)), **files))


def test_the_way_to_the_folder_is_the_users(tmp_path: Path) -> None:
    """Links, dots and wildcards on the way are not the folder's doing."""
    small_folder(tmp_path / "[a]*" / "real")
    (tmp_path / "link").symlink_to(tmp_path / "[a]*")
    with load_incident(tmp_path / "link" / ".." / "[a]*" / "real") as folder:
        assert folder.signals["metrics"].rows == 40


def test_a_column_that_would_be_a_statement(tmp_path: Path) -> None:
    """A foreign column name never becomes part of a query."""
    target = tmp_path / "written"
    evil = f"; COPY (SELECT 1) TO '{target}'; --"
    quoted_evil = '"""' + evil + '"""'
    rows = QUIET.splitlines()
    text = "\n".join([f"{rows[0]},{quoted_evil}", *(f"{row},x" for row in rows[1:])])
    logs = jsonl([log_row(1, "down", **{f'"{evil}': "x"})])
    folder = write_folder(tmp_path / "in", metrics_csv=text, logs_jsonl=logs)
    duckdb.execute(
        "COPY (SELECT ?::TIMESTAMPTZ AS timestamp, 'deploy' AS event_name, 'x' AS body, 1 AS "
        f"\"{evil.replace(chr(34), chr(34) * 2)}\") TO '{folder}/events.parquet'",
        [stamp(1)],
    )
    with load_incident(folder) as loaded:
        assert {name: signal.rows for name, signal in loaded.signals.items()} == {
            "metrics": 40,
            "logs": 1,
            "events": 1,
        }
    assert not target.exists()


@pytest.mark.anyio
async def test_values_that_would_be_statements(tmp_path: Path) -> None:
    """Nor does a value, of the folder or of an agent."""
    evil = "'; DROP TABLE x; --"
    series = {f"{evil.replace(' ', '')} latency p95": quiet(range(-30, 10))}
    folder = write_folder(
        tmp_path / "in",
        metrics_csv=metrics_csv(series),
        logs_jsonl=jsonl([log_row(1, evil, service_name=evil)]),
    )
    with load_incident(folder) as loaded:
        found = await call(loaded, "error_logs", {"service": evil})
        (line,) = (fact for fact in found.facts if isinstance(fact, Line))
        assert (line.text, line.subject) == (evil, evil)
        nothing = await call(loaded, "metric_scan", {"service": f"{evil}x"})
        assert nothing.status is EvidenceStatus.NO_EVIDENCE


IN_DICTIONARY: Final = "string_dictionary_page_size_limit 2000000"
IN_PAGES: Final = "row_group_size 2048, dictionary_size_limit 0"


def bomb(path: Path, rows: int, cell_bytes: int, shape: str) -> Path:
    """A Parquet file of a few kilobytes that says a few gigabytes."""
    connection = duckdb.connect(":memory:")
    connection.execute(
        f"""COPY (SELECT '{stamp(1)}'::TIMESTAMPTZ + to_microseconds(i) AS timestamp,
            'checkout' AS service_name, 'ERROR' AS severity_text,
            repeat('a', {cell_bytes}) AS body FROM range({rows}) AS t(i))
            TO '{path}' (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 3, {shape})"""
    )
    connection.close()
    return path


@pytest.mark.slow
@pytest.mark.anyio
async def test_a_small_file_of_two_gigabytes_is_cut_as_it_is_read(tmp_path: Path) -> None:
    """Long cells are cut inside the query: two gigabytes of text pass through bounded memory."""
    folder = write_folder(tmp_path / "in")
    file = bomb(folder / "logs.parquet", 2000, 1_000_000, IN_DICTIONARY)
    assert file.stat().st_size < 10_000
    with load_incident(folder) as loaded:
        assert loaded.signals["logs"].cut == 2000
        found = await call(loaded, "error_logs")
        (line,) = (fact for fact in found.facts if isinstance(fact, Line))
        assert line.count == 2000
        assert len(line.text) < 1000


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "cell_bytes"), [(20_000, 100_000), (1, 300_000_000)])
def test_a_small_file_of_two_gigabytes_is_refused(
    tmp_path: Path, rows: int, cell_bytes: int
) -> None:
    """Pages of 200 MB, or one such cell: what bounded memory cannot read is one line, no crash."""
    folder = write_folder(tmp_path / "in")
    file = bomb(folder / "logs.parquet", rows, cell_bytes, IN_PAGES)
    assert file.stat().st_size < 1_000_000
    with pytest.raises(InputRefused, match=r"logs\.parquet unpacks to more than the 128 MB"):
        load_incident(folder)


@pytest.mark.spec("T6")
def test_the_query_process_reaches_nothing_else(tmp_path: Path) -> None:
    """Not the truth, not the folder, not the machine, not the network; and no setting moves."""
    folder = small_folder(tmp_path / "in")
    (folder / "truth.yaml").write_text("faulty: true\nservice: checkout\n")
    with load_incident(folder) as loaded:
        truth = folder / "truth.yaml"
        for sql in (
            f"FROM read_text('{truth}')",
            f"FROM read_csv('{truth}')",
            f"FROM read_text('{folder}/*')",
            f"FROM glob('{folder}/*')",
            f"FROM read_csv('{folder}/metrics.csv')",
            "FROM read_text('/etc/passwd')",
            "FROM read_text('/proc/self/environ')",
            "FROM read_blob('/proc/self/fd/0')",
            f"COPY (SELECT 1) TO '{tmp_path}/written.csv'",
            f"ATTACH '{tmp_path}/written.db'",
            "FROM read_csv('http://127.0.0.1:9/x')",
            "INSTALL httpfs",
            "LOAD httpfs",
            "SET enable_external_access = true",
            "SET memory_limit = '64GB'",
            "SET allowed_directories = ['/']",
            "RESET lock_configuration",
            "SELECT getenv('HOME')",
        ):
            with pytest.raises(ToolFailed) as failed:
                loaded.runner.query_now(Query(sql))
            assert failed.value.code == "SOURCE_FAILED", sql
        assert loaded.runner.query_now(Query("SELECT 1 AS one")) == ({"one": 1},)
    assert not list(tmp_path.glob("written*"))


def test_what_happens_to_the_folder_later_is_not_seen(tmp_path: Path) -> None:
    """The tables are read once; a run sees what was there when it began."""
    folder = small_folder(tmp_path / "in")
    with load_incident(folder) as loaded:
        (folder / "metrics.csv").write_text("gone")
        (folder / "logs.jsonl").unlink()
        found = anyio.run(call, loaded, "error_logs")
        assert found.status is EvidenceStatus.EVIDENCE_FOUND


def test_a_file_that_is_exchanged_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look and the opening a link takes the file's place: it is not followed."""
    folder = small_folder(tmp_path / "in")
    (tmp_path / "secret.csv").write_text(QUIET)
    look = incident_folder._check_entries

    def look_then_exchange(root: int, path: Path) -> frozenset[str]:
        names = look(root, path)
        (folder / "metrics.csv").unlink()
        (folder / "metrics.csv").symlink_to(tmp_path / "secret.csv")
        return names

    monkeypatch.setattr(incident_folder, "_check_entries", look_then_exchange)
    with pytest.raises(InputRefused, match=r"metrics\.csv cannot be opened"):
        load_incident(folder)


def test_no_room_to_unpack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk is said as such, and nothing stays behind."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    lines = jsonl(log_row(place % 10, os.urandom(50).hex()) for place in range(20_000))
    folder = write_folder(tmp_path / "in", logs_jsonl=lines)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
    try:
        with pytest.raises(InputRefused, match=r"logs\.jsonl cannot be unpacked: no room in"):
            load_incident(folder)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not list(temporary.iterdir())
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(InputRefused, match="no private directory"):
        load_incident(folder)


# --- the process ------------------------------------------------------------------------------

ENDLESS: Final = (
    "SELECT count(*) AS n FROM range(10000000000) AS a, range(1000) AS b WHERE a.range % 7 = 3"
)


@pytest.fixture
def runner(tmp_path: Path) -> DuckRunner:
    """A query process over nothing."""
    return DuckRunner(tmp_path)


def test_a_query_that_takes_too_long_is_ended(runner: DuckRunner) -> None:
    """The process is killed, and the next query gets a new one."""
    with pytest.raises(ToolFailed) as failed:
        runner.query_now(Query(ENDLESS, timeout_s=0.5))
    assert failed.value.code == "TIMEOUT"
    assert runner.pid is None
    assert runner.query_now(Query("SELECT 1 AS one")) == ({"one": 1},)
    runner.close()
    assert runner.pid is None


def test_a_query_that_needs_too_much_memory_fails_and_the_process_lives(
    runner: DuckRunner,
) -> None:
    """A bounded failure with its own code."""
    with pytest.raises(ToolFailed) as failed:
        runner.query_now(Query("SELECT length(repeat('x', 1000000000)) AS n"))
    assert failed.value.code == "MEMORY_LIMIT"
    pid = runner.pid
    assert pid is not None
    assert runner.query_now(Query("SELECT 1 AS one")) == ({"one": 1},)
    assert runner.pid == pid
    runner.close()


def test_the_process_has_a_hard_bound_beyond_its_own(runner: DuckRunner) -> None:
    """For memory that the engine does not count; and it leaves no core file."""
    runner.query_now(Query("SELECT 1 AS one"))
    limits = Path(f"/proc/{runner.pid}/limits").read_text(encoding="utf-8").splitlines()
    found = {line[:26].strip(): line[26:].split()[0] for line in limits}
    assert found["Max data size"] == str(640 * 1024 * 1024)
    assert found["Max core file size"] == "0"
    runner.close()


def test_an_answer_that_is_too_large_is_refused(runner: DuckRunner) -> None:
    """Nobody has to hold it."""
    with pytest.raises(ToolFailed) as failed:
        runner.query_now(Query("SELECT repeat('x', 1000000) AS x FROM range(10)", rows_max=10))
    assert failed.value.code == "RESULT_LIMIT"
    runner.close()


def test_a_process_that_dies_is_started_again(runner: DuckRunner) -> None:
    """Killed from outside between two queries."""
    runner.query_now(Query("SELECT 1 AS one"))
    first = runner.pid
    assert first is not None
    os.kill(first, 9)
    while runner.pid is not None:
        time.sleep(0.01)
    assert runner.query_now(Query("SELECT 1 AS one")) == ({"one": 1},)
    assert runner.pid != first
    runner.close()


@pytest.mark.anyio
@pytest.mark.spec("K5")
async def test_a_cancelled_query_is_over_and_the_others_go_on(runner: DuckRunner) -> None:
    """Only the cancelled call's own query is killed; who waits in line is served."""
    answers: list[object] = []

    async def ask() -> None:
        answers.append(await runner.query(Query("SELECT 1 AS one")))

    await ask()
    first = runner.pid
    async with anyio.create_task_group() as tasks:
        with anyio.move_on_after(0.3) as cut:
            async with anyio.create_task_group() as endless:
                endless.start_soon(runner.query, Query(ENDLESS))
                await anyio.sleep(0.1)
                tasks.start_soon(ask)  # waits its turn behind the endless one
        assert cut.cancelled_caught
    assert answers == [({"one": 1},), ({"one": 1},)]
    assert runner.pid != first
    runner.close()


@pytest.mark.anyio
async def test_a_call_cancelled_in_the_queue_harms_nobody(runner: DuckRunner) -> None:
    """Its query is never run, and the one before it goes on."""
    answers: list[object] = []

    async def work() -> None:
        sql = "SELECT count(*) AS n FROM range(300000000) WHERE range % 7 = 3"
        answers.append(await runner.query(Query(sql)))

    await runner.query(Query("SELECT 1 AS one"))
    first = runner.pid
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(work)
        await anyio.sleep(0.05)
        with anyio.move_on_after(0.05):
            await runner.query(Query("SELECT 2 AS two"))
    assert answers == [({"n": 42857143},)]
    assert runner.pid == first
    runner.close()


ORPHAN: Final = """
import sys
from affidavit.adapters.incident_folder import load_incident
folder = load_incident(sys.argv[1])
print(folder.runner.pid, folder.room, flush=True)
sys.stdin.read()
"""


def test_the_process_and_its_room_do_not_outlive_the_parent(tmp_path: Path) -> None:
    """Also when the parent is killed and can tidy nothing."""
    folder = small_folder(tmp_path / "in")
    parent = subprocess.Popen(
        [sys.executable, "-c", ORPHAN, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdin
    assert parent.stdout
    pid, room = parent.stdout.readline().split()
    assert Path(room).is_dir()
    parent.kill()
    parent.wait()
    deadline = time.monotonic() + 20
    while (Path(f"/proc/{pid}").exists() or Path(room).exists()) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not Path(f"/proc/{pid}").exists()
    assert not Path(room).exists()
    parent.stdin.close()
    parent.stdout.close()


def test_a_folder_that_nobody_closes_is_closed_with_its_last_user(tmp_path: Path) -> None:
    """No process and no directory stay behind."""
    loaded: IncidentFolder | None = load_incident(small_folder(tmp_path / "in"))
    assert loaded is not None
    pid, room = loaded.runner.pid, loaded.room
    loaded = None
    gc.collect()
    assert not room.exists()
    assert not Path(f"/proc/{pid}").exists()
