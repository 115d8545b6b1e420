"""Record one incident: bring a plant up, let it be well, break it, write down what it said.

Nothing in the folder is synthesised. Metrics are what was scraped, logs and spans what the
processes wrote, changes what was really changed, the alert what the edge's own measurements
fired. Only the truth comes from the fault table, and the scorer alone reads it.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from pathlib import Path

from affidavit.lab.faults import Fault
from affidavit.lab.incident import Recording, write_incident
from affidavit.lab.observation import Observation
from affidavit.lab.plant import PLANTS
from affidavit.lab.rig import Rig, RigError
from affidavit.lab.workplace import temporary_folder

Planned = tuple[float, partial[None]]
"""Seconds after the start, and what to do then."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """How long each part of a recording lasts, in seconds.

    The first `warm_up_s` are thrown away (imports, cold caches). `before_s` is the part of the
    window before the injection, `fault_s` what comes after it; a fault that needs time to reach
    the edge gets its `lead_s` on top; a fault that ends does so halfway through that time.
    """

    warm_up_s: float = 40.0
    baseline_s: float = 240.0
    before_s: float = 60.0
    fault_s: float = 120.0
    step_s: float = 5.0


def plan_recording(observation: Observation, fault: Fault, schedule: Schedule) -> list[Planned]:
    """Everything that will be done, in order; the last entry is the end of the window."""
    fault_s = schedule.fault_s + fault.lead_s
    opens = schedule.warm_up_s + schedule.baseline_s
    breaks = opens + schedule.before_s
    halfway, ends = breaks + fault_s / 2, breaks + fault_s
    marks = [(schedule.warm_up_s, "baseline"), (opens, "window"), (ends, "end")]
    marks += [(breaks, "injected")] if fault.steps else []  # marked before the first step acts
    marks += [(halfway, "ended")] if fault.ending else []
    planned: list[Planned] = [(at, partial(observation.mark, name)) for at, name in marks]
    for steps, start, guilty in (
        (fault.innocent, opens, False),
        (fault.steps, breaks, True),
        (fault.ending, halfway, True),
    ):
        planned += [
            (start + step.after_s, partial(observation.act, step.do, guilty=guilty))
            for step in steps
        ]
    return sorted(planned, key=itemgetter(0))


def follow(observation: Observation, planned: list[Planned], step_s: float) -> None:
    """Do what is planned at its moment, and measure every `step_s` seconds until all is done."""
    began = time.monotonic()
    waiting, measured = list(planned), 0
    while waiting:
        next_measure = measured * step_s
        due = min(next_measure, waiting[0][0])
        time.sleep(max(0.0, began + due - time.monotonic()))
        if waiting[0][0] <= next_measure:
            waiting.pop(0)[1]()
        else:
            observation.measure()
            measured += 1


def record(
    fault: Fault,
    out: Path,
    schedule: Schedule | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Recording:
    """Record `fault` into the new folder `out`, whose name becomes the incident's id.

    Takes the schedule's whole time (some eight minutes by default). Raises `RigError` when `out`
    exists, when a fault did not reach the edge, or when the edge was in alarm before the
    injection or without one (a machine too busy to record on): then nothing is written.
    """
    if out.exists():
        raise RigError(f"{out} exists already: choose another folder, or remove it")
    chosen = schedule or Schedule()
    links = (fault.link,) if fault.link else ()
    with temporary_folder() as folder:
        with Rig(PLANTS[fault.plant], folder, links) as rig:
            observation = Observation(rig)
            observation.fault = fault
            planned = plan_recording(observation, fault, chosen)
            rig.start_load(planned[-1][0], seed=len(fault.name))
            say(f"recording {fault.name} for {planned[-1][0]:.0f} s")
            try:
                follow(observation, planned, chosen.step_s)
            finally:
                observation.close()
        _check(observation)
        return write_incident(observation, out)


def _check(observation: Observation) -> None:
    alert, injected_us = observation.alarm.fired, observation.times_us.get("injected")
    if injected_us is None:
        if alert:
            raise RigError(f"nothing was injected, yet: {alert.text}; was the machine busy?")
    elif alert is None:
        raise RigError("the fault did not reach the edge: no alert fired; give it longer")
    elif alert.since_us < injected_us:
        raise RigError(f"the alert began before the injection ({alert.text}); record again")
