"""What a capture tool may ask of recorded or live telemetry, and the incident it belongs to.

A question is a small record; an answer is rows of plain cells. The port does not understand facts
or evidence, and the tools do not know a query language: what a question means is said here, once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
    """Each series of the window against its own baseline, strongest deviation first.

    The baseline is `baseline` where a series has at least `samples_min` samples in it, else all of
    its samples before the window, less those of the last `clearance_s` where enough are left.
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


Question: TypeAlias = MetricScan | ErrorLines | TraceEdges
Plain: TypeAlias = str | int | bool | None


@dataclass(frozen=True, slots=True)
class Answer:
    """Rows, and figures over all that matched, also where rows were left out.

    A measured number is text (a decimal); counts and microseconds since the epoch are integers.
    """

    rows: Sequence[Mapping[str, Plain]]
    figures: Mapping[str, Plain]


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

    async def ask(self, question: Question) -> Answer:
        """The answer, read once the call returns; nothing of the source was changed.

        Raises ToolFailed: SOURCE_UNAVAILABLE when the signal is not there, TIMEOUT, MEMORY_LIMIT,
        or SOURCE_FAILED. A cancelled call leaves nothing running.
        """
        ...
