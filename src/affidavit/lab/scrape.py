"""Measure the rig from outside: each process's text page, and /proc.

One pass gives rows as they go into the folder. What cannot be read gives no row: a process that
is down leaves `up` = 0 and a gap.
"""

import os
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

from affidavit.lab.instruments import (
    CPU,
    ERROR_RATIO,
    ERRORS,
    EXPOSED,
    MEMORY,
    QUANTILES,
    REQUESTS,
    THREADS,
    UP,
    Instrument,
    Shape,
)
from affidavit.lab.nodes.telemetry import now_us
from affidavit.lab.nodes.upstream import LOOPBACK
from affidavit.lab.rig import Rig

_TIMEOUT_S = 2.0  # below any sampling step; a page that takes longer is a process that is stuck
_SAMPLE = re.compile(r'^(\w+)(?:\{quantile="([\d.]+)"\})? (\S+)$')
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Usage:
    """What /proc says about one process."""

    cpu_s: float
    memory_bytes: int
    threads: int


@dataclass(frozen=True, slots=True)
class Page:
    """One text page as read: samples by (name, quantile), and when."""

    at_us: int
    samples: dict[tuple[str, str | None], float]


def read_usage(pid: int) -> Usage | None:
    """CPU seconds, resident bytes and threads of a process; None when it is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = text.rpartition(")")[2].split()  # the command's name may hold anything
    cpu_s = (int(fields[11]) + int(fields[12])) / _TICKS_PER_S
    return Usage(cpu_s, int(fields[21]) * _PAGE_BYTES, int(fields[17]))


def read_page(text: str) -> dict[tuple[str, str | None], float]:
    """The samples of a text page that the instruments' table knows."""
    samples = {}
    for line in text.splitlines():
        matched = _SAMPLE.match(line)
        if matched and matched[1] in EXPOSED:
            samples[matched[1], matched[2]] = float(matched[3])
    return samples


def fetch_page(port: int) -> Page | None:
    """Read one process's text page; None when it does not answer."""
    connection = HTTPConnection(LOOPBACK, port, timeout=_TIMEOUT_S)
    try:
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
    except (OSError, HTTPException):
        return None
    finally:
        connection.close()
    return Page(now_us(), read_page(text))


class Scraper:
    """Remembers the last pass, so that counters become rates."""

    def __init__(self, rig: Rig) -> None:
        self._rig = rig
        self._pages: dict[str, Page] = {}
        self._usage: dict[str, tuple[int, int, Usage]] = {}
        self._pool = ThreadPoolExecutor(len(rig.plant.components))

    def close(self) -> None:
        """Let the threads go."""
        self._pool.shutdown()

    def measure(self) -> list[Row]:
        """One pass over all components."""
        names = [component.name for component in self._rig.plant.components]
        ports = [self._rig.ports[name] for name in names]
        rows: list[Row] = []
        for name, page in zip(names, self._pool.map(fetch_page, ports), strict=True):
            rows.append(_row(name, UP, float(page is not None), "gauge"))
            if page is not None:
                rows += self._from_page(name, page)
            rows += self._from_proc(name)
        return rows

    def _from_page(self, name: str, page: Page) -> list[Row]:
        before = self._pages.get(name)
        self._pages[name] = page
        rates: dict[str, float] = {}
        rows: list[Row] = []
        for (exposed, q), value in page.samples.items():
            instrument = EXPOSED[exposed]
            if instrument.shape is not Shape.COUNTER:
                statistic = QUANTILES[q] if q else "gauge"
                rows.append(_row(name, instrument, value, statistic, page.at_us))
            elif before and (exposed, q) in before.samples:
                grown = value - before.samples[exposed, q]
                elapsed_s = (page.at_us - before.at_us) / 1e6
                if grown >= 0 and elapsed_s > 0:  # else the process was replaced in between
                    rates[exposed] = grown / elapsed_s
                    rows.append(_row(name, instrument, rates[exposed], "rate", page.at_us))
        if rates.get(REQUESTS.exposed):
            ratio = rates.get(ERRORS.exposed, 0.0) / rates[REQUESTS.exposed]
            rows.append(_row(name, ERROR_RATIO, ratio, "mean", page.at_us))
        return rows

    def _from_proc(self, name: str) -> list[Row]:
        running = self._rig.running.get(name)
        usage = read_usage(running.process.pid) if running else None
        if running is None or usage is None or running.process.poll() is not None:
            self._usage.pop(name, None)
            return []
        at_us, pid = now_us(), running.process.pid
        rows = [
            _row(name, MEMORY, float(usage.memory_bytes), "gauge", at_us),
            _row(name, THREADS, float(usage.threads), "gauge", at_us),
        ]
        before = self._usage.get(name)
        self._usage[name] = (pid, at_us, usage)
        if before and before[0] == pid and at_us > before[1]:
            used = (usage.cpu_s - before[2].cpu_s) / ((at_us - before[1]) / 1e6)
            rows.append(_row(name, CPU, used, "mean", at_us))
        return rows


def _row(
    name: str, instrument: Instrument, value: float, statistic: str, at_us: int | None = None
) -> Row:
    return {
        "timestamp": at_us or now_us(),
        "service_name": name,
        "metric_name": instrument.name,
        "value": round(value, 4),
        "unit": instrument.unit,
        "statistic": statistic,
        "instance": f"{name}-1",
    }
