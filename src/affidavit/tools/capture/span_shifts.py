"""`trace_edges`, `self_time`, `error_spans`, `interruptions`: what spans tell of each service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final

from affidavit.contract.evidence import Change, Edge, Fact, Onset, Quantity, Scope, Value
from affidavit.ports.telemetry import Answer, EdgeOnset, Plain, Telemetry
from affidavit.tools.capture.comparisons import (
    SIDES,
    Analysis,
    Refine,
    direction_of,
    milliseconds,
)
from affidavit.tools.capture.rows import count, moment, number, text

FLOOR_US: Final = Decimal(2_000)
"""Two milliseconds, which a scheduler or a garbage collector adds to any call."""

DOUBLED: Final = 2
"""From here on a duration is abnormal."""

FAILED_ABNORMAL: Final = Decimal("0.05")
"""Rise of the share of failing spans: one in twenty."""

LOST_ABNORMAL: Final = Decimal("0.05")
"""Lost share of a usual step: one in twenty, beyond three standard errors."""

ENDING_ABNORMAL: Final = Decimal("0.42")
"""How sure an unusual ending is, of 1: two and a half of six standard errors, the least listed."""

EDGES_TIMED_MAX: Final = 2
"""Edges whose onset is asked for: the first suspect's, and the one that could be it instead."""

ENDED: Final = "unusual endings"
HANDED: Final = "work that ends at it"
"""Names of the two strengths of interruptions that no single step shows."""

FAILED_PREFIX: Final = "failed spans of"
TRANSIT_PREFIX: Final = "transit time"
SELF_PREFIX: Final = "self time of"


def _is_doubled(before_us: Decimal, after_us: Decimal) -> bool:
    return after_us + FLOOR_US > DOUBLED * (before_us + FLOOR_US)


def _edge(row: Mapping[str, Plain], scope: Scope) -> Sequence[Fact]:
    service, source, target = text(row, "service"), text(row, "source"), text(row, "target")
    name = f"{TRANSIT_PREFIX} {f'from {source}' if service == target else f'to {target}'}"
    facts: list[Fact] = [_duration(row, scope, name, None), Edge(source=source, target=target)]
    if row.get("normal_us") is not None and row.get("abnormal_us") is not None:
        facts.append(
            Onset(
                subject=service,
                attribute=name,
                earliest=moment(row, "normal_us"),
                latest=moment(row, "abnormal_us"),
            )
        )
    return facts


def edge_onsets(telemetry: Telemetry) -> Refine:
    """Ask when the first edges of an answer began to be slow."""

    async def refine(answer: Answer, scope: Scope) -> Answer:
        window, rows = scope.window or telemetry.incident.window, list(answer.rows)
        pairs = dict.fromkeys((text(row, "source"), text(row, "target")) for row in rows)
        for source, target in list(pairs)[:EDGES_TIMED_MAX]:
            asked = EdgeOnset(source, target, window, telemetry.incident.baseline)
            began = (await telemetry.ask(asked)).rows
            for place, row in enumerate(rows):
                if began and (row["source"], row["target"]) == (source, target):
                    rows[place] = {**row, **began[0]}
        return Answer(tuple(rows), answer.figures)

    return refine


def _self_time(row: Mapping[str, Plain], scope: Scope) -> Sequence[Fact]:
    return (_duration(row, scope, f"{SELF_PREFIX} {_operation(row)}", "p75"),)


def _duration(
    row: Mapping[str, Plain], scope: Scope, attribute: str, statistic: str | None
) -> Change:
    before_us, after_us = number(row, "before_us"), number(row, "after_us")
    before, after = milliseconds(before_us), milliseconds(after_us)
    return Change(
        subject=text(row, "service"),
        attribute=attribute,
        statistic=statistic,
        before=before,
        after=after,
        direction=direction_of(before, after),
        score=number(row, "strength"),
        anomalous=_is_doubled(before_us, after_us),
        window=scope.window,
    )


def _error_spans(row: Mapping[str, Plain], scope: Scope) -> Sequence[Fact]:
    before = _share(count(row, "baseline_began"), count(row, "baseline_spans"))
    after = _share(count(row, "began"), count(row, "spans"))
    change = Change(
        subject=text(row, "service"),
        attribute=f"{FAILED_PREFIX} {_operation(row)}",
        before=before,
        after=after,
        direction=direction_of(before, after),
        score=number(row, "strength"),
        anomalous=number(row, "strength") >= FAILED_ABNORMAL,
        window=scope.window,
    )
    return (change,)


def _operation(row: Mapping[str, Plain]) -> str:
    """The operation without its service's own name, which the fact bears already."""
    return text(row, "operation").removeprefix(f"{text(row, 'service')} ")


def _share(part: int, whole: int) -> Quantity:
    """A share in percent; of nothing, none."""
    share = Decimal(100 * part) / whole if whole else Decimal(0)
    return Quantity(number=round(share, 3), unit="%")


def _interruptions(row: Mapping[str, Plain], scope: Scope) -> Sequence[Fact]:
    service = text(row, "service")
    facts: list[Fact] = []
    if number(row, "lost") > 0:
        facts.append(_loss(row, scope))
    for column, name in (("ended", ENDED), ("handed", HANDED)):
        if number(row, column) > 0:
            size = Quantity(number=number(row, column))
            facts.append(Value(subject=service, attribute=name, quantity=size))
    return facts


def _loss(row: Mapping[str, Plain], scope: Scope) -> Change:
    """The step that is missing: in how many of its operation's spans, or how often in each."""
    operation = _operation(row)
    step = text(row, "step").removeprefix(f"{text(row, 'service')} ")
    taken0 = _share(_or_none(row, "baseline_taken"), count(row, "baseline_spans"))
    taken1 = _share(_or_none(row, "taken"), count(row, "spans"))
    caller, taker = text(row, "caller"), text(row, "taker")
    if text(row, "kind") == "line":
        step = f'the line "{step.replace(chr(34), chr(39))}"'
    attribute = f"{operation} spans with {step}"
    if caller != taker:
        attribute = f"share of {operation} calls of {caller} that arrived"
    before, after = taken0, taken1
    if taken1.number >= taken0.number and row.get("baseline_times") and row.get("times"):
        attribute = f"{step} per {operation} span"
        before = Quantity(number=number(row, "baseline_times"))
        after = Quantity(number=number(row, "times"))
    return Change(
        subject=text(row, "service"),
        attribute=attribute,
        before=before,
        after=after,
        direction=direction_of(before, after),
        score=number(row, "lost"),
        anomalous=number(row, "lost") >= LOST_ABNORMAL,
        window=scope.window,
    )


def _or_none(row: Mapping[str, Plain], name: str) -> int:
    """A count that is null where nothing was counted."""
    return 0 if row.get(name) is None else count(row, name)


TRACE_EDGES: Final = Analysis(
    name="trace_edges",
    question="edge_excess",
    signal="traces",
    description="Services whose calls, in or out, spend more time between caller and callee "
    "(network, queueing, connecting) than before, and since when. Strongest first.",
    rule="transit time of a call: the caller's span less the callee's; excess: ln of its ratio "
    "to the baseline plus 2 ms on either side, mean of median and 75th percentile, times n/(n+3); "
    "an edge is hot above ln 2; score: mean excess of a service's hot edges x their share of its "
    "edges x ln(1 + hot edges); before and after: medians of its hottest edge, anomalous where "
    f"doubled; onset: between the quarter minute before and the end of the first hot one; {SIDES}",
    facts=_edge,
)

SELF_TIME: Final = Analysis(
    name="self_time",
    question="self_time",
    signal="traces",
    description="Services that work longer themselves, without what they wait for. Strongest "
    "first.",
    rule="self time: a span less its children; score: ln of the ratio of its 75th percentiles plus "
    "2 ms on either side, times n/(n+3), mean of the service's operations by their spans; before "
    f"and after: of its worst operation, anomalous where doubled; {SIDES}",
    facts=_self_time,
)

ERROR_SPANS: Final = Analysis(
    name="error_spans",
    question="error_spans",
    signal="traces",
    description="Services in which failed spans begin: failed without a failed child. Strongest "
    "first.",
    rule="score: rise of the share of an operation's spans that failed without a failed child, of "
    "the worst operation; a call that failed and never arrived counts for its callee; anomalous "
    f"from {FAILED_ABNORMAL}; {SIDES}",
    facts=_error_spans,
)

INTERRUPTIONS: Final = Analysis(
    name="interruptions",
    question="interruptions",
    signal="traces",
    description="Services whose work breaks off: steps (calls beneath, lines within a span) that "
    "an operation usually takes and no longer takes, and where the work ends now.",
    rule="a step is usual in half of an operation's spans, and lost from 3 standard errors on (in "
    "full from 6); score: the share that lost it, less what other steps of its kind gained; a call "
    f"that was made and never arrived counts for its callee; {ENDED}: how surely operations end "
    f"where they used not to; {HANDED}: what callers pass on whose work ends with a call to it; "
    f"anomalous from {LOST_ABNORMAL}; {SIDES}",
    facts=_interruptions,
)
