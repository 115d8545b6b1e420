"""The same incidents, paged early and late.

A copy of a case's folder in which the alert and the window that it opened stand some seconds to one
side. What was measured stays as it was, and so does the answer: only who looks, looks at another
time. The copies are a set of their own in every table, beside the set that they came from.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import yaml

from affidavit.adapters.incident_yaml import INCIDENT_FILE, TextLoader
from affidavit.contract.errors import InputRefused
from affidavit.evaluation.incidents import Case

SHIFT_S_MAX: Final = 600
"""Ten minutes: farther off, it is another incident."""


def shift_cases(cases: Iterable[Case], by_s: int, room: Path) -> Iterator[Case]:
    """Each case with its alert `by_s` seconds late (early where negative), copied below `room`.

    Raises InputRefused (SHIFT_REFUSED) for a shift of more than ten minutes, or of none.
    """
    if by_s == 0 or abs(by_s) > SHIFT_S_MAX:
        raise InputRefused(
            f"an alert {by_s} s off is no question",
            code="SHIFT_REFUSED",
            hint=f"give 1 to {SHIFT_S_MAX} seconds, either way",
        )
    for case in cases:
        folder = room / f"{case.source}{by_s:+d}" / case.folder.name
        _copy(case.folder, folder)
        _shift(folder / INCIDENT_FILE, timedelta(seconds=by_s))
        source = f"{case.source}, alert {by_s:+d} s"
        yield replace(case, source=source, folder=folder, shift_s=by_s)


def _copy(source: Path, folder: Path) -> None:
    """The folder's files, copied: a hard link would be refused, since another could write it."""
    for path in sorted(source.rglob("*")):
        target = folder / path.relative_to(source)
        if path.is_dir():
            target.mkdir(parents=True, exist_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target, follow_symlinks=False)


def _shift(path: Path, by: timedelta) -> None:
    """Moves the window and the alert. A declared baseline was quiet, whenever somebody looked."""
    record = yaml.load(path.read_text(encoding="utf-8"), Loader=TextLoader)  # noqa: S506 - a SafeLoader of ours
    for end in ("start", "end"):
        record["window"][end] = _later(record["window"][end], by)
    if record.get("alert"):
        record["alert"]["at"] = _later(record["alert"]["at"], by)
    path.write_text(yaml.safe_dump(record, sort_keys=False, allow_unicode=True), encoding="utf-8")


def _later(stamp: str, by: timedelta) -> str:
    return (datetime.fromisoformat(stamp) + by).isoformat()
