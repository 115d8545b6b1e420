"""The command that puts an agent to the test: `eval FOLDER…`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, NoReturn

import anyio

from affidavit.cli.outlet import check_out
from affidavit.cli.screen import EXIT_ALTERED, EXIT_FAILED, say, say_json, tell
from affidavit.contract.errors import InputRefused
from affidavit.contract.limits import PROFILES
from affidavit.evaluation.incidents import Case, NotEvaluated, collect_cases
from affidavit.evaluation.page import render_page
from affidavit.evaluation.rankings import AGENTS, Agent
from affidavit.evaluation.report import Report, report_of, verdict_of
from affidavit.evaluation.shifted import shift_cases
from affidavit.evaluation.tables import render_text, report_json
from affidavit.evaluation.trials import Order, Played, play
from affidavit.importers.formats import FORMATS, import_apart

REPEATS_MAX: Final = 50
"""More runs of one case say nothing new, and take hours."""


@dataclass(frozen=True, slots=True)
class Options:
    """What one `eval` is to do."""

    places: tuple[str, ...]
    agent: str = "playbook"
    limits: str = "standard"
    repeats: int = 1
    alert_off_s: int = 0
    html: Path | None = None
    as_json: bool = False


def evaluate(options: Options) -> NoReturn:
    """Run the agent over every case, print the figures.

    Exit 0 when every published sentence verifies and every case was evaluated, 1 when a sealed file
    or a published sentence does not verify, 4 when a case could not be evaluated.
    """
    check_out(options.html)
    order = Order(_agent(options.agent), _profile(options.limits), _repeats(options.repeats))
    with ExitStack() as opened:
        found = collect_cases(tuple(_places(options.places, opened)))
        cases = (*found.cases, *_shifted(found.cases, options.alert_off_s, opened))
        tell(f"{len(cases)} cases")
        played = anyio.run(partial(play, cases, order, _tell))
    report = report_of(order.agent, played, found.left_out)
    if options.html is not None:
        _write(options.html, render_page(report))
    if options.as_json:
        say_json(report_json(report))
    else:
        say(render_text(report))
    raise SystemExit(_exit(report))


def _agent(name: str) -> Agent:
    if name not in AGENTS:
        raise InputRefused(
            f"there is no agent {name!r}",
            code="AGENT_UNKNOWN",
            hint=f"use one of {', '.join(AGENTS)}",
        )
    return AGENTS[name]()


def _profile(name: str) -> str:
    if name not in PROFILES:
        raise InputRefused(
            f"there is no profile of limits {name!r}",
            code="LIMITS_UNKNOWN",
            hint=f"use one of {', '.join(PROFILES)}",
        )
    return name


def _repeats(number: int) -> int:
    if not 1 <= number <= REPEATS_MAX:
        raise InputRefused(
            f"{number} runs a case are not between 1 and {REPEATS_MAX}",
            code="REPEATS_REFUSED",
            hint="leave --repeats out to run each case once",
        )
    return number


def _places(places: tuple[str, ...], opened: ExitStack) -> Iterator[tuple[str, Path]]:
    """Each place with the name of its set. FORMAT:PATH is imported into a folder of its own, which
    is gone when the command ends."""
    for place in places:
        format_name, colon, source = place.partition(":")
        if colon and format_name in FORMATS and not Path(place).exists():
            room = _room(opened)
            tell(f"importing {source} as {format_name}")
            import_apart(format_name, Path(source), room)
            yield format_name, room
        else:
            yield Path(place).resolve().name or place, Path(place)


def _shifted(cases: tuple[Case, ...], by_s: int, opened: ExitStack) -> Iterator[Case]:
    """The faulty cases again, paged so many seconds early and late."""
    if by_s:
        faulty = [case for case in cases if case.truth.faulty]
        for off_s in (-by_s, by_s):
            yield from shift_cases(faulty, off_s, _room(opened))


def _room(opened: ExitStack) -> Path:
    return Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="affidavit-")))


def _tell(item: Played) -> None:
    """One line a case, as it is done."""
    if isinstance(item, NotEvaluated):
        tell(f"  {item.source} {item.case}: not evaluated: {item.why}")
        return
    run = item.runs[-1]
    word = verdict_of(run, faulty=item.case.truth.faulty)
    tell(f"  {item.case.source} {item.case.id}: {word} ({item.load_s + item.run_s[-1]:.2f} s)")


def _write(path: Path, page: str) -> None:
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise InputRefused(
            f"{path} could not be written: {error.strerror}", code="OUT_NOT_WRITTEN"
        ) from None


def _exit(report: Report) -> int:
    rows = [row.evidence for row in report.agent_rows]
    if any(rate.hits < rate.of for row in rows for rate in (row.intact, row.cited, row.proved)):
        return EXIT_ALTERED
    return EXIT_FAILED if report.left_out else 0
