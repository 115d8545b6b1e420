"""The one typed envelope in which every tool's result is seen by agents and guards (T1, T5).

An envelope says where a result comes from, whose words it holds, over which scope it speaks, how
much there was and how much was cut, and then lists facts. The facts are a closed set of shapes; a
new tool picks among them and needs no change in any guard.

    Value   one reading: subject, attribute, statistic, quantity or text, when
    Change  a reading against its own baseline, as the tool computed it
    Onset   when something began, as an interval
    Line    words: a log line or template, an event message, any quotable text
    Row     one record of a table or document: named cells
    Edge    one entity calls, reads or runs on another
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from affidavit.contract.record import Instant, Number, Record
from affidavit.contract.states import Emitter, EvidenceClass, EvidenceStatus


class Window(Record):
    """A closed span of time. `zone` is the zone the source spoke in; None where it did not say."""

    start: Instant
    end: Instant
    zone: str | None = "UTC"

    @model_validator(mode="after")
    def _ordered(self) -> Window:
        if self.end < self.start:
            raise ValueError("a window ends after it starts")
        return self

    def holds(self, other: Window) -> bool:
        """Whether the other window lies within this one."""
        return self.start <= other.start and other.end <= self.end


class Scope(Record):
    """What a result speaks about, and by that what it is silent about (G9)."""

    tenant: str
    service: str | None = None
    window: Window | None = None
    query: str = ""


class Quantity(Record):
    """A number with its unit; the unit is UCUM-like text (`ms`, `%`, `By`, `1/s`), "" for none."""

    number: Number
    unit: str = ""


class Value(Record):
    """One reading. Exactly one of quantity and text; `emitter` as in Line."""

    kind: Literal["value"] = "value"
    subject: str
    attribute: str
    statistic: str | None = None
    quantity: Quantity | None = None
    text: str | None = None
    at: Instant | None = None
    window: Window | None = None
    emitter: Emitter | None = None

    @model_validator(mode="after")
    def _one_of(self) -> Value:
        if (self.quantity is None) == (self.text is None):
            raise ValueError("a value has either a quantity or a text")
        return self


class Change(Record):
    """A reading against its own baseline, as the tool computed it; a judge never recomputes it.

    `score` is the deviation in units of the tool's own scale, `anomalous` whether the tool calls
    it abnormal by its recorded rule.
    """

    kind: Literal["change"] = "change"
    subject: str
    attribute: str
    statistic: str | None = None
    before: Quantity
    after: Quantity
    direction: Literal["up", "down", "flat"]
    score: Number | None = None
    anomalous: bool
    baseline: Window | None = None
    window: Window | None = None


class Onset(Record):
    """When something began: not before `earliest`, not after `latest` (M5)."""

    kind: Literal["onset"] = "onset"
    subject: str
    attribute: str
    earliest: Instant
    latest: Instant

    @model_validator(mode="after")
    def _ordered(self) -> Onset:
        if self.latest < self.earliest:
            raise ValueError("an onset's latest moment is not before its earliest")
        return self


class Line(Record):
    """Words as they were found, redacted and cut; `count` is how often this line or its template
    was seen in the scope, `emitter` whose words they are where it differs from the envelope's."""

    kind: Literal["line"] = "line"
    text: str
    subject: str | None = None
    level: str | None = None
    at: Instant | None = None
    count: int | None = Field(default=None, ge=1)
    emitter: Emitter | None = None


class Cell(Record):
    """One named cell of a row: a quantity, a text, or neither for null.

    Both stand together where a quantity was read out of a text that says more or writes it
    differently (`16 (5m11s ago)`, `2m48s`, `"200"`). `emitter` is whose words the cell holds where
    that differs from the envelope's (a user agent in a proxy's log).
    """

    name: str
    quantity: Quantity | None = None
    text: str | None = None
    emitter: Emitter | None = None


class Row(Record):
    """One record of a table or document."""

    kind: Literal["row"] = "row"
    subject: str | None = None
    cells: tuple[Cell, ...]
    at: Instant | None = None


class Edge(Record):
    """One entity's relation to another, as recorded (never inferred from timing)."""

    kind: Literal["edge"] = "edge"
    source: str
    target: str
    relation: str = "calls"
    count: int | None = Field(default=None, ge=1)


Fact = Annotated[Value | Change | Onset | Line | Row | Edge, Field(discriminator="kind")]
"""One fact of an envelope."""


class Envelope(Record):
    """The bounded typed projection of one result: all that agents and guards see (T1, T5).

    `count` is the number of items returned (rows, lines, samples, spans), `total` how many there
    were in the scope (None: unknown), `truncated` whether something was cut, here or at the source.
    `read` is the number of facts that the items gave before any cut, where that differs from one
    fact an item (a log line with typed fields gives two); None means one fact an item.
    `observed_at` is when the source was read; `uncertainty_s` how far its clock may be off.
    """

    source_type: str
    source: str
    evidence_class: EvidenceClass
    emitter: Emitter
    scope: Scope
    status: EvidenceStatus
    count: int = Field(ge=0)
    total: int | None = Field(default=None, ge=0)
    read: int | None = Field(default=None, ge=0)
    truncated: bool = False
    facts: tuple[Fact, ...] = ()
    notes: tuple[str, ...] = ()
    observed_at: Instant
    uncertainty_s: Number | None = None

    def contradiction(self) -> str | None:
        """Why this envelope cannot be true, or None: status, counts and facts must agree (G7)."""
        found = self.status is EvidenceStatus.EVIDENCE_FOUND
        if self.status is EvidenceStatus.ERROR:
            return "an error has no projection"
        if found != (self.count > 0):
            return "status and count disagree"
        if found != bool(self.facts):
            return "status and facts disagree"
        read = self.count if self.read is None else self.read
        if len(self.facts) > read:
            return "more facts than were read"
        if self.total is not None and self.total < self.count:
            return "fewer in total than returned"
        if self.total is not None and self.total > self.count and not self.truncated:
            return "something was cut and nothing says so"
        if len(self.facts) < read and not self.truncated:
            return "facts are missing and nothing says so"
        return None
