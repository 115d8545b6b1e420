"""`python -m affidavit.evaluation VERSION FOLDER…` prints a new file of weights for the playbook.

For whoever changes a signal. The folders' faulty cases are played with the weights that ship; what
is on record then does not depend on them, but for whom the agent looked at closely.
"""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path

import anyio

from affidavit.contract.errors import InputRefused
from affidavit.evaluation.incidents import collect_cases
from affidavit.evaluation.rankings import Lesson, playbook
from affidavit.evaluation.refitting import weights_record
from affidavit.evaluation.trials import Order, Trial, play


def main(arguments: list[str]) -> int:
    """Plays, fits, prints. Returns the exit code."""
    if len(arguments) < 2:
        print("usage: python -m affidavit.evaluation VERSION FOLDER…", file=sys.stderr)
        return 2
    version, *folders = arguments
    try:
        found = collect_cases((Path(name).name, Path(name)) for name in folders)
    except InputRefused as refused:
        print(refused.message, file=sys.stderr)
        return 2
    faulty = [case for case in found.cases if case.truth.faulty]
    played = anyio.run(partial(play, faulty, Order(playbook())))
    trials = [item for item in played if isinstance(item, Trial)]
    if len(trials) < len(faulty) or found.left_out:
        print("some cases could not be played; affidavit eval says why", file=sys.stderr)
        return 4
    lessons = [
        Lesson(trial.case.id, trial.case.system, trial.state, trial.case.truth.services)
        for trial in trials
    ]
    print(json.dumps(weights_record(version, lessons), indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
