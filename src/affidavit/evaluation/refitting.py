"""Makes the file of weights anew from played cases; `python -m affidavit.evaluation` does (pure).

The curve in it is of rankings by weights that never saw a case of the same service: what its margin
buys is told by cases that had no say in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from affidavit.agents.reading import read_material
from affidavit.agents.signals import SCHEMA, Signal
from affidavit.evaluation.fitting import EXPLAINED, EXTERNAL, fit_weights
from affidavit.evaluation.held_out import leave_one_service_out
from affidavit.evaluation.rankings import Lesson, fit_playbook, margin

SCORE_MIN: Final = 0.5
"""One signal at one and a half times what its tool calls abnormal, and nothing besides."""

MARGIN_MIN: Final = 0.25
"""Half of that before the second suspect."""

POINTS: Final = 10
"""Of the curve: each tenth of the cases, surest first."""


def weights_record(version: str, lessons: Sequence[Lesson]) -> Mapping[str, object]:
    """The content of the file of weights that these cases give."""
    told = [(read_material(lesson.state).seen, lesson.services) for lesson in lessons]
    fitted = fit_weights(told)
    return {
        "schema": SCHEMA,
        "version": version,
        "explained": EXPLAINED,
        "external": EXTERNAL,
        "score_min": SCORE_MIN,
        "margin_min": MARGIN_MIN,
        "signals": {
            signal.value: {"weight": row.weight, "zero": row.zero, "half": row.half}
            for signal in Signal
            for row in (fitted.signals[signal],)
        },
        "fitted_on": sorted(lesson.case for lesson in lessons),
        "curve": curve_of(lessons),
    }


def curve_of(lessons: Sequence[Lesson]) -> list[list[float]]:
    """Pairs of coverage and precision, surest first, of cases whose service was left out."""
    right = {lesson.case: lesson.services for lesson in lessons}
    answers = sorted(
        (-(margin(held.ranked) or 0.0), held.ranked[0].entity in right[held.case])
        for held in leave_one_service_out(lessons, fit_playbook)
        if held.ranked
    )
    counts = dict.fromkeys(round(tenth * len(answers) / POINTS) for tenth in range(1, POINTS + 1))
    return [
        [
            round(count / len(lessons), 3),
            round(sum(is_right for _, is_right in answers[:count]) / count, 3),
        ]
        for count in counts
        if count
    ]
