"""The commands that score: `eval gate`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import NoReturn

import anyio

from affidavit.cli.screen import EXIT_ALTERED, EXIT_FAILED, say, say_json, tell
from affidavit.evaluation.gate_cases import read_cases
from affidavit.evaluation.gate_scorer import CaseScore, GateScore, score_gate
from affidavit.evaluation.gate_table import render_score, score_json


def score(files: tuple[Path, ...], *, as_json: bool) -> NoReturn:
    """Score the gate over these cases.

    Exit 0 when nothing unsupported was published, 1 when something was, 4 when a case could not be
    evaluated: then the figures are not those of all cases.
    """
    cases = read_cases(files)
    tell(f"{len(cases)} answers")
    scored = anyio.run(partial(score_gate, cases, _tell))
    if as_json:
        say_json(score_json(scored))
    else:
        say(render_score(scored))
    raise SystemExit(_exit(scored))


def _tell(item: CaseScore) -> None:
    if not item.evaluated or not item.is_right:
        tell(f"  {item.case.id}: {item.case.label}, and {item.plain.finding}")


def _exit(scored: GateScore) -> int:
    false = any(item.is_false or item.is_false_after_withdrawal for item in scored.evaluated)
    if false:
        return EXIT_ALTERED
    return 0 if len(scored.evaluated) == len(scored.cases) else EXIT_FAILED
