"""Quiet windows of Nezha: what an agent must say nothing about.

The set's metrics cover whole days, its injections a part of each. From long after a day's last
injection to the end of the day, windows of the usual length are cut at even distances, each with an
hour of metrics before it. Traces and logs of those hours were not published, so that a window has
metrics alone. An injection that the set's list does not name would be a fault in a window that
counts as quiet: the figure can only come out too high.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from affidavit.contract.errors import InputRefused
from affidavit.importers.folder import Truth, new_folder
from affidavit.importers.nezha import (
    WINDOW_LENGTH,
    Case,
    make_incident,
    metric_rows,
    read_cases,
)
from affidavit.importers.rows import connect, create, quoted, save

SETTLED_AFTER: Final = timedelta(minutes=90)
"""From a day's last injection to its first quiet window: a fault lasts four minutes, and the
hour of metrics before the window must be quiet too."""

WINDOWS_A_DAY: Final = 75
"""With the set's four days 300: no false alarm among them bounds the rate below 1.3 % (Wilson)."""


def import_nezha_quiet(src: Path, dst: Path) -> list[Path]:
    """Writes one folder a quiet window under `dst`, day by day.

    Errors: InputRefused when the set holds no day with quiet hours.
    """
    windows = list(quiet_cases(src))
    if not windows:
        raise InputRefused(f"{src} has no day whose metrics go on after the last injection")
    con = connect()
    try:
        written = []
        for day in sorted({case.day for case in windows}):
            create(con, "wide metrics", f"SELECT * FROM {quoted(src / day / 'metrics.parquet')}")
            for case in (case for case in windows if case.day == day):
                incident = make_incident(case, None)
                with new_folder(dst, incident, Truth(False)) as folder:
                    save(con, metric_rows(con, case), folder / "metrics.parquet")
                written.append(dst / case.id)
        return written
    finally:
        con.close()


def quiet_cases(src: Path) -> Iterator[Case]:
    """The windows as cases without a fault, at even distances over each day's quiet hours."""
    cases = read_cases(src)
    for day in sorted({case.day for case in cases}):
        if not (src / day / "metrics.parquet").is_file():
            continue
        last = max((case for case in cases if case.day == day), key=lambda case: case.injected_at)
        first = last.paged_at + SETTLED_AFTER
        midnight = datetime.fromisoformat(day).replace(tzinfo=UTC) + timedelta(days=1)
        step = (midnight - WINDOW_LENGTH - first) / WINDOWS_A_DAY
        if step < timedelta(minutes=1):  # the metrics are one value a minute
            continue
        for number in range(WINDOWS_A_DAY):
            at = (first + number * step).replace(second=0, microsecond=0)
            name = f"{day}-quiet-{at:%H%M}"
            yield replace(last, id=name, injected_at=at, service="", fault="")
