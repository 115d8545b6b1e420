"""A systemd journal as a source: a real journal file through the real journalctl, and exports.

`tests/data/journal` holds 45 entries written by hand in the export format, and the journal that
systemd-journal-remote 252 made of them.
"""

from __future__ import annotations

import json
import lzma
import os
import shutil
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from affidavit.adapters import journald
from affidavit.adapters.cluster_tables import JournaldTable
from affidavit.adapters.journald import JournaldSource
from affidavit.adapters.live_rows import Read
from affidavit.adapters.prometheus import Span
from affidavit.contract.agent import ToolCallRequest
from affidavit.contract.errors import ToolFailed
from affidavit.contract.evidence import Line, Window
from affidavit.contract.states import Emitter
from tests.support.live_runs import ask_live, live_settings
from tests.support.watched_lab import needs

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

DATA = Path(__file__).parents[1] / "data" / "journal"
START = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)
SPAN = Span(START.timestamp(), START.timestamp() + 600)
REAL = pytest.mark.integration("journalctl")


@pytest.fixture
def real(tmp_path: Path) -> dict[str, object]:
    """The table of a directory with a journal in it."""
    needs("journalctl")
    content = lzma.decompress((DATA / "system.journal.xz").read_bytes())
    (tmp_path / "system.journal").write_bytes(content)
    return {"directory": str(tmp_path)}


EXPORTED: dict[str, object] = {"exports": (str(DATA / "*.export"),)}


def source(**table: object) -> JournaldSource:
    return JournaldSource("node", JournaldTable.model_validate(table))


def told(read: Read) -> list[tuple[object, ...]]:
    rows = [(r["service_name"], r["severity_text"], r["emitter"], r["body"]) for r in read.rows]
    return sorted(rows, key=str)


ERRORS = [
    (
        "kernel",
        "CRIT",
        "platform",
        "Out of memory: Killed process 812 (shop-api) total-vm:912344kB",
    ),
    ("liar", "CRIT", "workload", "kernel: panic (says a process that only calls itself so)"),
    ("shop-api", "ERR", "workload", "cannot open a connection to the pool: 30 of 30 are in use"),
    (
        "shop-api",
        "NOTICE",
        "platform",
        "shop-api.service: Main process exited, code=killed, status=9/KILL",
    ),
]


@REAL
async def test_a_real_journal_and_its_export_give_the_same_rows(real: dict[str, object]) -> None:
    journal, exported = await source(**real).capture(SPAN), await source(**EXPORTED).capture(SPAN)
    assert told(journal) == told(exported)
    assert len(journal.rows) == 45
    assert [row for row in told(journal) if row in ERRORS] == ERRORS
    assert any(str(row["body"]).startswith("Traceback") for row in journal.rows)
    assert journal.left_out == exported.left_out == ()


@REAL
@pytest.mark.fault("R44")
async def test_only_the_span_and_only_the_units_are_read(real: dict[str, object]) -> None:
    short = Span(SPAN.start_s + 10, SPAN.start_s + 20)
    assert len((await source(**real).capture(short)).rows) == 3
    for table in (real, EXPORTED):
        rows = (await source(**table, units=("shop-api.service",)).capture(SPAN)).rows
        assert {row["service_name"] for row in rows} == {"shop-api"}
        assert sum(row["emitter"] == "platform" for row in rows) == 1  # what systemd said about it
        renamed = source(**table, services={"shop-api.service": "checkout"})
        assert "checkout" in {row["service_name"] for row in (await renamed.capture(SPAN)).rows}


@REAL
@pytest.mark.fault("R44")
async def test_the_newest_lines_are_kept_and_what_was_cut_is_said(
    real: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journald, "LINES_MAX", 6)
    read = await source(**real).capture(SPAN)
    assert read.left_out == ("journald:node before its last 6 lines",)
    assert any("panic" in str(row["body"]) for row in read.rows)
    monkeypatch.setattr(journald, "LINES_MAX", 1000)
    monkeypatch.setattr(journald, "BYTES_MAX", 2000)
    read = await source(**real).capture(SPAN)
    assert 0 < len(read.rows) < 45
    assert read.left_out == (f"journald:node before its last {len(read.rows)} lines",)


@REAL
@pytest.mark.spec("C13", "T7")
@pytest.mark.fault("R27")
async def test_its_lines_reach_the_agent_beside_those_of_files(
    real: dict[str, object], tmp_path: Path
) -> None:
    other = {"timestamp": (START + timedelta(seconds=301)).isoformat(), "service_name": "web",
             "body": "ERROR the pool said no", "severity_text": "ERROR"}  # fmt: skip
    (tmp_path / "web.jsonl").write_text(json.dumps(other) + "\n")
    files = {"web": {"signal": "logs", "paths": (str(tmp_path / "*.jsonl"),)}}
    settings = live_settings((), journald={"node": real}, files=files)
    window = Window(start=START, end=START + timedelta(minutes=10))
    calls = [ToolCallRequest("log_search", {"text": text}) for text in ("pool", "Out of memory")]
    asked = await ask_live(settings, window, *calls)
    lines = [fact for fact in asked.envelope(0).facts if isinstance(fact, Line)]
    assert {line.subject for line in lines} == {"shop-api", "web"}
    (killed,) = asked.envelope(1).facts
    assert isinstance(killed, Line)
    assert killed.emitter is Emitter.PLATFORM
    assert "hunter2" not in asked.envelope(0).model_dump_json()  # command lines are not asked for
    assert asked.envelope(0).source == "files:web+journald:node"


def program(folder: Path, body: str) -> None:
    """A journalctl of ours, first on the path."""
    file = folder / "journalctl"
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)


@pytest.mark.fault("R15", "R33")
@pytest.mark.parametrize(
    ("body", "code"), [("exit 1", "SOURCE_UNAVAILABLE"), ("exec sleep 60", "TIMEOUT")]
)
async def test_one_that_refuses_or_hangs_is_named_and_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, code: str
) -> None:
    program(tmp_path, f"echo $$ > {tmp_path}/pid\n{body}")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(ToolFailed) as failed:
        await source(**{"timeout-s": 0.5}).capture(SPAN)
    assert failed.value.code == code
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


async def test_its_arguments_are_fixed_and_its_environment_is_bare(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path, f'printf "%s\\n" "$@" > {tmp_path}/args; env > {tmp_path}/env')
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("AFFIDAVIT_SECRET", "hunter2")
    assert (await source(units=("a.service",), directory="/x").capture(SPAN)).rows == []
    arguments = (tmp_path / "args").read_text().splitlines()
    assert "--unit=a.service" in arguments
    assert "--directory=/x" in arguments
    assert all(one.startswith("--") for one in arguments)
    assert "hunter2" not in (tmp_path / "env").read_text()


@pytest.mark.fault("R15")
async def test_without_the_program_exports_are_named_as_the_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(ToolFailed, match="no journalctl") as failed:
        await source().probe()
    assert "exports" in failed.value.hint
    assert "exported" in (await source(**EXPORTED).probe()).said


async def test_a_cut_export_gives_what_it_has_and_says_so(tmp_path: Path) -> None:
    whole = (DATA / "events.export").read_bytes()
    traceback = whole.index(b"Traceback")
    (tmp_path / "a.export").write_bytes(whole[: traceback + 10])
    read = await source(exports=(str(tmp_path / "a.export"),)).capture(SPAN)
    assert len(read.rows) == 41
    assert read.left_out == ("1 entries that are none",)


async def test_json_lines_of_bytes_of_nothing_and_of_no_entry(tmp_path: Path) -> None:
    at = str(int(START.timestamp() * 1e6))
    entries: list[object] = [
        {"__REALTIME_TIMESTAMP": at, "MESSAGE": list(b"caf\xe9 ERR"), "PRIORITY": "3"},
        {"__REALTIME_TIMESTAMP": at, "MESSAGE": ["first", "second"], "PRIORITY": "99"},
        {"__REALTIME_TIMESTAMP": at, "MESSAGE": None},
        {"__REALTIME_TIMESTAMP": "yesterday", "MESSAGE": "x"},
        [1],
    ]
    (tmp_path / "a.json").write_text("\n".join(map(json.dumps, entries)))
    read = await source(exports=(str(tmp_path / "a.json"),)).capture(SPAN)
    assert [(r["body"], r["severity_text"]) for r in read.rows] == [
        ("caf\ufffd ERR", "ERR"),
        ("first", ""),
    ]
    assert read.left_out == ("1 entries that are none",)


@pytest.mark.parametrize("unit", ["", "-x", "--file=/etc/shadow", "a b", "*.service", "a\nb"])
def test_a_unit_is_a_name_and_no_option(unit: str) -> None:
    with pytest.raises(ValueError, match="units"):
        JournaldTable(units=(unit,))
