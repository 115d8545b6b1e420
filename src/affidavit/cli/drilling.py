"""`affidavit drill`: is every fault caught, with the guards that are set here? (H11)"""

from __future__ import annotations

from functools import partial
from typing import Final, NoReturn

import anyio

from affidavit.cli.opening import settings_in_force
from affidavit.cli.screen import say, say_json
from affidavit.contract.errors import InputRefused
from affidavit.drills.drill import DrillResult, drill_named, run_drill
from affidavit.drills.faults import FAULTS

EXIT_MISSED: Final = 1
"""A fault was not caught."""


def drill(faults: tuple[str, ...], *, every: bool, verbose: bool, as_json: bool) -> NoReturn:
    """Inject these faults, or all; print what came of each."""
    if every == bool(faults):
        raise InputRefused(
            "either name faults, or --all" if every else "no fault was named",
            code="USAGE",
            hint=f"affidavit drill --all, or some of {', '.join(FAULTS)}",
        )
    named = tuple(FAULTS) if every else faults
    for fault in named:
        drill_named(fault)
    results = anyio.run(partial(_run, named, verbose=verbose, as_json=as_json))
    missed = [item.fault for item in results if not item.caught]
    if as_json:
        say_json({"drills": [_json(item) for item in results], "missed": missed})
    else:
        say(f"{len(results) - len(missed)} of {len(results)} faults caught")
    raise SystemExit(EXIT_MISSED if missed else 0)


async def _run(faults: tuple[str, ...], *, verbose: bool, as_json: bool) -> list[DrillResult]:
    """One after another, each told as soon as it is over."""
    settings = settings_in_force()
    width = max(map(len, faults))
    results = []
    for fault in faults:
        result = await run_drill(fault, settings=settings)
        results.append(result)
        if not as_json:
            _tell(result, width, verbose=verbose)
    return results


def _tell(result: DrillResult, width: int, *, verbose: bool) -> None:
    got = " · ".join(
        str(item) for item in (result.outcome, result.fallback, result.failure_code) if item
    )
    mark = "" if result.caught else "  NOT CAUGHT"
    say(f"{result.fault:<{width}} → {result.status:<15} {got}{mark}".rstrip())
    for line in (*result.missed, *(result.timeline if verbose else ())):
        say(f"    {line}")


def _json(result: DrillResult) -> dict[str, object]:
    words = {
        name: None if value is None else str(value)
        for name, value in (
            ("status", result.status),
            ("expected", result.expected),
            ("outcome", result.outcome),
            ("fallback_type", result.fallback),
            ("failure_code", result.failure_code),
        )
    }
    return {
        "fault": result.fault,
        "meaning": result.meaning,
        **words,
        "caught": result.caught,
        "missed": list(result.missed),
        "timeline": list(result.timeline),
    }
