"""The commands that score: `eval gate`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NoReturn

import anyio

from affidavit.cli.screen import EXIT_ALTERED, EXIT_FAILED, say, say_json, tell
from affidavit.cli.thinking import judges_of
from affidavit.evaluation.gate_cases import read_cases
from affidavit.evaluation.gate_judging import score_judged
from affidavit.evaluation.gate_scorer import CaseScore, GateScore, score_gate
from affidavit.evaluation.gate_table import judged_json, render_judged, render_score, score_json


@dataclass(frozen=True, slots=True)
class ScoreOptions:
    """What one `eval gate` is to do. Without judges the embedded one judges alone."""

    files: tuple[Path, ...]
    judges: tuple[str, ...] = ()
    record: Path | None = None
    as_json: bool = False


def score(options: ScoreOptions) -> NoReturn:
    """Score the gate over these cases.

    Exit 0 when nothing unsupported was published, 1 when something was, 4 when a case could not be
    evaluated: then the figures are not those of all cases.
    """
    cases = read_cases(options.files)
    judges = judges_of(options.judges, options.record)
    tell(f"{len(cases)} answers")
    if judges:
        judged = anyio.run(partial(score_judged, cases, judges, _tell))
        scored, shown, plain = judged.both, render_judged(judged), judged_json(judged)
    else:
        scored = anyio.run(partial(score_gate, cases, _tell))
        shown, plain = render_score(scored), score_json(scored)
    if options.as_json:
        say_json(plain)
    else:
        say(shown)
    raise SystemExit(_exit(scored))


def _tell(item: CaseScore) -> None:
    if not item.evaluated or not item.is_right:
        tell(f"  {item.case.id}: {item.case.label}, and {item.plain.finding}")


def _exit(scored: GateScore) -> int:
    false = any(item.is_false or item.is_false_after_withdrawal for item in scored.evaluated)
    if false:
        return EXIT_ALTERED
    return 0 if len(scored.evaluated) == len(scored.cases) else EXIT_FAILED
