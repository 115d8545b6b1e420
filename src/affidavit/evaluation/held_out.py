"""How good are fitted weights on what they were not fitted on? (pure)

`fit` is an agent's own: it takes lessons and returns a ranking. Here is only which lessons it may
see: never one of the service that it is asked about, or never one of the system.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from affidavit.evaluation.rankings import Fit, Lesson, Ranked


@dataclass(frozen=True, slots=True)
class HeldOut:
    """One case ranked by weights that never saw its like."""

    case: str
    contender: str
    ranked: tuple[Ranked, ...]


def leave_one_service_out(lessons: Sequence[Lesson], fit: Fit) -> Iterator[HeldOut]:
    """Each case, ranked by weights fitted without any case in which one of its services is right.

    A case for which nothing is left to fit on is left out.
    """
    for services in dict.fromkeys(lesson.services for lesson in lessons):
        others = [item for item in lessons if not item.services & services]
        if not others:
            continue
        rank = fit(others)
        for lesson in lessons:
            if lesson.services == services:
                yield HeldOut(lesson.case, "one service left out", rank(lesson.state))


def fit_on_one_system(lessons: Sequence[Lesson], fit: Fit) -> Iterator[HeldOut]:
    """Each case, ranked by weights fitted on each other system alone."""
    systems = dict.fromkeys(lesson.system for lesson in lessons)
    for system in systems:
        rank = fit([item for item in lessons if item.system == system])
        for lesson in lessons:
            if lesson.system != system:
                yield HeldOut(lesson.case, f"fitted on {system}", rank(lesson.state))
