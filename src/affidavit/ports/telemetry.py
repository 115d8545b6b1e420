"""What a capture tool may ask of recorded or live telemetry, and the incident it belongs to.

A question is a small record; an answer is rows of plain cells. The port does not understand facts
or evidence, and the tools do not know a query language: what a question means is said here, once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final, Literal, Protocol, TypeAlias

from pydantic import Field

from affidavit.contract.evidence import Window
from affidavit.contract.record import Instant, Record

SignalName: TypeAlias = Literal["metrics", "logs", "traces", "events"]

SIGNALS: Final[tuple[SignalName, ...]] = ("metrics", "logs", "traces", "events")
"""The tables that an incident may have."""

SymptomSignal: TypeAlias = Literal[
    "latency", "errors", "availability", "cpu", "memory", "throughput", "unknown"
]


class Symptom(Record):
    """What was noticed: where, and of which kind."""

    service: str = Field(min_length=1, max_length=200)
    signal: SymptomSignal = "unknown"
    metric: str | None = Field(default=None, max_length=200)


class Alert(Record):
    """The page that started the investigation, as it was received. Never evidence (R10)."""

    name: str = Field(min_length=1, max_length=200)
    at: Instant
    labels: Mapping[str, str] = Field(default_factory=lambda: MappingProxyType({}))
    text: str = Field(default="", max_length=4000)


class Incident(Record):
    """What is known before anything was asked: the keys of `incident.yaml`."""

    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$")
    title: str = Field(min_length=1, max_length=500)
    question: str = Field(min_length=1, max_length=4000)
    window: Window
    symptom: Symptom
    alert: Alert | None = None
    tenant: str = Field(default="default", pattern=r"^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$")
    baseline: Window | None = None
    description: str = Field(default="", max_length=8000)


@dataclass(frozen=True, slots=True)
class Signal:
    """One table that is there: where it came from, what it spans, and what was done to it.

    `first` and `last` are moments of its rows, None in an empty table. `zone` is None when some of
    its times carry no zone (R26). `dropped` rows had no finite value; `cut` counts texts that were
    longer than their bound.
    """

    name: SignalName
    source: str
    rows: int
    first: Instant | None
    last: Instant | None
    zone: str | None = "UTC"
    dropped: int = 0
    cut: int = 0


@dataclass(frozen=True, slots=True)
class Node:
    """One thing of the topology."""

    name: str
    kind: str = "service"
    host: str | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """One recorded relation of the topology."""

    source: str
    target: str
    kind: str = "calls"


@dataclass(frozen=True, slots=True)
class Topology:
    """What calls, reads or runs on what, as the incident's author recorded it."""

    source: str
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]


class Aspect(StrEnum):
    """What a series measures, by its name. Each aspect has one rule that judges it (ADR 0005)."""

    CPU = "cpu"
    MEMORY = "memory"
    AVAILABILITY = "availability"
    ERRORS = "errors"
    CLIENT_LATENCY = "client_latency"
    LATENCY = "latency"
    OTHER = "other"


DURATION: Final = "duration|latency|response.?time"
OUTWARD: Final = "client|outbound"

LEVELS: Final[tuple[tuple[Aspect, str], ...]] = (
    (Aspect.AVAILABILITY, "success|availab|ready|healthy|^up$"),
    (Aspect.ERRORS, "error|fail|5xx|4xx|exception|reject|oom|restart|time.?out"),
    (
        Aspect.CLIENT_LATENCY,
        rf"({DURATION}).*({OUTWARD})|({OUTWARD}).*({DURATION})",
    ),
    (Aspect.LATENCY, DURATION),
)
"""Words of a lower-case name (RE2 syntax), first match; judged by level_shifts."""

RESOURCES: Final[tuple[tuple[Aspect, str], ...]] = (
    (Aspect.CPU, "cpu"),
    (Aspect.MEMORY, "mem|heap|rss"),
)
"""The same for resource_shifts; a name that speaks of a level is none."""

SHARED_PREFIX: Final = "system."
"""A node's series, shared by what runs on it: they convict nobody, and metric_scan judges them."""


def aspect_of(metric: str) -> Aspect:
    """What a metric of this name measures."""
    name = metric.lower()
    if name.startswith(SHARED_PREFIX):
        return Aspect.OTHER
    return next((a for a, words in (*LEVELS, *RESOURCES) if re.search(words, name)), Aspect.OTHER)


@dataclass(frozen=True, slots=True)
class Floor:
    """The smallest scale of a metric: below it a deviation is noise, however quiet the baseline.

    It applies where the unit is `unit` and the metric's name holds `word`; "" fits all. `absolute`
    is in that unit, `relative` a share of the baseline's median. The first floor that fits counts.
    """

    unit: str
    word: str
    absolute: str
    relative: str


@dataclass(frozen=True, slots=True)
class MetricScan:
    """Each series of no other aspect against its own baseline, strongest deviation first.

    Series that `level_shifts` or `resource_shifts` judge are left out, so that no series has two
    judgements; `whole` takes every series, against `baseline` and nothing else.
    The baseline is `baseline` where a series has at least `samples_min` samples in it,
    else all of its samples before the window, less those of the last `clearance_s` where enough
    are left.
    scale = max(1.4826 MAD, the distance of either 5 % tail from the median / 1.645, floor), so that
    each is a standard deviation where samples are normal. A sample is abnormal at `threshold`
    scales from the median, and normal within `normal` of them; a series is anomalous with `run_min`
    neighbouring abnormal samples on one side, or with one where the window has fewer than three.
    `after` is the median of the strongest run, else of the window;
    score = (after - before) / scale.

    Columns: service, instance, metric, statistic, unit, before, after, scale, score, anomalous,
    samples, baseline_samples, baseline_start_us, baseline_end_us, normal_us, abnormal_us (the last
    normal and the first abnormal sample of the metric, over its statistics; null unless anomalous
    or where no sample came before), instances.
    Figures: series, anomalous, onsets, incomparable (too few samples on either side).
    """

    service: str | None
    window: Window
    baseline: Window | None
    threshold: str
    normal: str
    samples_min: int
    clearance_s: int
    run_min: int
    floors: tuple[Floor, ...]
    rows_max: int
    whole: bool = False


@dataclass(frozen=True, slots=True)
class ErrorLines:
    """Error lines of the window by template, against the baseline; new and risen ones first.

    Columns: service, level, emitter, template, example, first_us, last_us, lines, baseline_lines,
    per_min, baseline_per_min, new, risen (both null where the baseline holds no line of the
    service). Figures: templates, flagged, lines, baseline_start_us, baseline_end_us.
    """

    service: str | None
    window: Window
    baseline: Window | None
    risen_ratio: str
    risen_lines_min: int
    rows_max: int


@dataclass(frozen=True, slots=True)
class TraceEdges:
    """Which service called which, counted over spans whose parent belongs to another service.

    Columns: source, target, calls. Figures: edges, services.
    """

    rows_max: int


ComparisonName: TypeAlias = Literal[
    "resource_shifts",
    "level_shifts",
    "edge_excess",
    "self_time",
    "error_spans",
    "interruptions",
    "error_rise",
    "template_changes",
]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The incident against its own quiet time, one row a service and finding, strongest first.

    Each is a rule of its own, said with its constants and its columns in the function of the same
    name in the adapters (`telemetry_sql`, `trace_sql`, `log_sql`, `interruption_sql`), and in
    docs/tools.md. All have `service` and, but for template_changes, `strength`. No figures.
    """

    name: ComparisonName
    window: Window
    baseline: Window | None


@dataclass(frozen=True, slots=True)
class EdgeOnset:
    """When the calls from one service to another began to take long, as an interval.

    Columns: normal_us (null where no quiet slice came before), abnormal_us. No row: it never did.
    """

    source: str
    target: str
    window: Window
    baseline: Window | None


@dataclass(frozen=True, slots=True)
class ChangeEvents:
    """What was changed before the window's end, at most `lookback_s` before its start; latest
    first.

    Columns: id, event, service, body, attributes, at_us. Figures: events.
    """

    service: str | None
    window: Window
    lookback_s: int
    rows_max: int


@dataclass(frozen=True, slots=True)
class LogSearch:
    """Lines of the window that hold a text, whatever its case; the first ones first.

    Columns: service, level, emitter, body, at_us. Figures: lines.
    """

    service: str | None
    window: Window
    text: str
    rows_max: int


@dataclass(frozen=True, slots=True)
class SeriesSamples:
    """One metric of a service over the window, the mean of its instances, in equal slices.

    Columns: statistic, unit, at_us (the slice's start), value (its mean), samples. Figures:
    slices, samples.
    """

    service: str
    metric: str
    window: Window
    slices_max: int
    rows_max: int


Question: TypeAlias = (
    MetricScan
    | ErrorLines
    | TraceEdges
    | Comparison
    | EdgeOnset
    | ChangeEvents
    | LogSearch
    | SeriesSamples
)
Plain: TypeAlias = str | int | bool | None


@dataclass(frozen=True, slots=True)
class Answer:
    """Rows, and figures over all that matched, also where rows were left out.

    A measured number is text (a decimal); counts and microseconds since the epoch are integers.
    `source` says what was done to the table when it was read from a live back end (the keys of
    `signal_notes`, and `source_left_out`: what is missing from it, in words).
    """

    rows: Sequence[Mapping[str, Plain]]
    figures: Mapping[str, Plain]
    source: Mapping[str, Plain] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class Page:
    """One page of the incident's knowledge: a runbook, a note. Guidance, never evidence (C13)."""

    name: str
    text: str


class Telemetry(Protocol):
    """One incident and what was recorded around it."""

    @property
    def incident(self) -> Incident:
        """What is known before anything was asked."""
        ...

    @property
    def signals(self) -> Mapping[SignalName, Signal]:
        """The tables that are there."""
        ...

    @property
    def topology(self) -> Topology | None:
        """The topology that the incident's author recorded, if any."""
        ...

    @property
    def pages(self) -> Sequence[Page]:
        """The knowledge that came with the incident, by name."""
        ...

    async def ask(self, question: Question) -> Answer:
        """The answer, read once the call returns; nothing of the source was changed.

        Raises ToolFailed: SOURCE_UNAVAILABLE when the signal is not there, TIMEOUT, MEMORY_LIMIT,
        or SOURCE_FAILED. A cancelled call leaves nothing running.
        """
        ...
