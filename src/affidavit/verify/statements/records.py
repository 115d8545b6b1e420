"""The facts of verified calls as records that words can be compared with.

One record is one item: a log entry, a table row, a reading, an edge. Readers give a line and the
fields that stand in it as two facts; here they are one record again, so that what was said together
is found together. Nothing is inferred here.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Final

from affidavit.contract.evidence import Edge, Fact, Line
from affidavit.contract.snapshots import VerifiedCall
from affidavit.contract.states import Emitter
from affidavit.verify.statements.fields import Field, fields_of
from affidavit.verify.statements.grouping import (
    PARTS_OF_ITEM_MAX,
    bursts,
    headings_of,
    is_union,
    joins,
    part_asides,
    same_subjects,
    shape_of,
    whole_report,
)
from affidavit.verify.statements.indexing import flatten, invert
from affidavit.verify.statements.moments import Moment, find_moments
from affidavit.verify.statements.wording import at_of, stated_of, subject_of, text_of
from affidavit.verify.statements.words import names_in, parts_of, stems_of


@dataclass(frozen=True)
class RecordView:
    """One item of a call, ready to be compared with.

    `place` is its place among the call's records, `facts` its places among the envelope's facts;
    `fact` is the first of them. `own` is its text without what a caller could have written.
    """

    call: str
    place: int
    facts: tuple[int, ...]
    fact: Fact
    subject: str
    at: datetime | None
    emitter: Emitter
    fields: tuple[Field, ...]
    text: str
    own: str
    shape: str
    stated: str
    told: str = ""

    @cached_property
    def names(self) -> frozenset[str]:
        """Every name in the record, lower case."""
        return names_in(self.text) | names_in(self.subject)

    @cached_property
    def stems(self) -> frozenset[str]:
        """Every word stem in the record, names cut into parts."""
        return stems_of(self.text) | stems_of(self.subject)

    @cached_property
    def claimed(self) -> frozenset[str]:
        """The stems that the record states: its values, and the names of what is true or not zero.

        The name of a column ("READY", "Failed") says that it was looked at, not that it is so.
        """
        return stems_of(self.stated)

    @cached_property
    def happened(self) -> frozenset[str]:
        """The stems of what the record says in its values and its text, and not as a name."""
        return stems_of(self.told or self.stated)

    @cached_property
    def squeezed(self) -> str:
        """The record's text with its runs of space made one."""
        return " ".join(self.text.split())

    @cached_property
    def moments(self) -> tuple[datetime, ...]:
        """Every moment that the record holds, its own first."""
        own = (self.at,) if self.at else ()
        written = (moment.instant() for moment in self.written)
        return tuple(dict.fromkeys((*own, *(at for at in written if at is not None))))

    @cached_property
    def dated(self) -> tuple[tuple[Field, Moment], ...]:
        """The fields that hold a moment. A length of time (`00:06:41`) is none."""
        return tuple(
            (item, moment)
            for item in self.fields
            if not item.loose and not (item.number is not None and item.unit == "s")
            for moment in find_moments(item.text)
        )

    @cached_property
    def written(self) -> tuple[Moment, ...]:
        """Every moment that is written in the record, whole or in part."""
        spans = {
            item.text.strip()
            for item in self.fields
            if item.number is not None and item.unit == "s"
        }
        return tuple(
            moment for moment in find_moments(self.text) if moment.text.strip() not in spans
        )

    def stands_at(self, moment: Moment) -> bool:
        """Whether the record holds this moment, as an instant or as it is written."""
        return any(moment.matches(at) for at in self.moments) or any(
            moment.is_like(other) for other in self.written if other.instant() is None
        )

    @property
    def when(self) -> datetime | None:
        """When the record was; for a row named by its only moment, that one."""
        if self.at is not None:
            return self.at
        if len({(item.year, item.month, item.day, item.clock_s) for item in self.written}) != 1:
            return None
        only = self.written[0]
        return only.instant() or only.midnight()

    @property
    def is_dated(self) -> bool:
        """Whether the record holds any moment at all."""
        return bool(self.moments or self.written)


@dataclass(frozen=True)
class CallView:
    """One verified call: its records, and the words that speak of all of it."""

    call: VerifiedCall
    records: tuple[RecordView, ...]

    @property
    def id(self) -> str:
        """The call's id."""
        return self.call.tool_call_id

    @cached_property
    def arguments(self) -> tuple[tuple[str, str], ...]:
        """What was asked, as name and value; a query that is no JSON object has the name query."""
        query = self.call.envelope.scope.query
        try:
            asked = json.loads(query) if query.startswith("{") else None
        except ValueError:
            asked = None
        if not isinstance(asked, dict):
            return (("query", query),) if query else ()
        return tuple(flatten(asked, ""))

    @cached_property
    def about(self) -> str:
        """What was asked, of what: tool, source and scope, and the projection's notes."""
        envelope = self.call.envelope
        asked = " ".join(f"{name} {value}" for name, value in self.arguments)
        return " ".join(
            (self.call.tool, envelope.source_type, envelope.source, envelope.scope.service or "",
             asked)
        )  # fmt: skip

    @cached_property
    def by_fact(self) -> Mapping[int, tuple[int, ...]]:
        """The places of the records that a fact stands in, by its place among the facts."""
        found: dict[int, list[int]] = {}
        for record in self.records:
            for fact in record.facts:
                found.setdefault(fact, []).append(record.place)
        return {fact: tuple(places) for fact, places in found.items()}

    @cached_property
    def by_small(self) -> Mapping[str, frozenset[int]]:
        """The places of the records that have a field of just this name, or with just this value."""
        return invert(
            frozenset(
                word
                for item in record.fields
                if not item.loose
                for word in (item.name.rsplit(".", 1)[-1].casefold(), item.text.casefold())
            )
            for record in self.records
        )

    @cached_property
    def by_shape(self) -> Mapping[str, frozenset[int]]:
        """The places of the records of a shape."""
        return invert(frozenset({record.shape}) for record in self.records)

    @cached_property
    def subjects(self) -> frozenset[str]:
        """What the records are about, lower case."""
        return frozenset(record.subject.casefold() for record in self.records) - {""}

    @cached_property
    def by_name(self) -> Mapping[str, frozenset[int]]:
        """The places of the records that hold a name."""
        return invert(record.names for record in self.records)

    @cached_property
    def by_stem(self) -> Mapping[str, frozenset[int]]:
        """The places of the records that hold a word stem."""
        return invert(record.stems for record in self.records)

    @cached_property
    def by_part(self) -> Mapping[str, frozenset[int]]:
        """The places of the records that hold a word letter for letter, a plural s aside."""
        return invert(
            {part[:-1] if part.endswith("s") and len(part) > 3 and part[-2] != "s" else part
             for part in parts_of(record.text)}
            for record in self.records
        )  # fmt: skip

    @cached_property
    def by_claim(self) -> Mapping[str, frozenset[int]]:
        """The places of the records that state a word stem, and not only name a column by it."""
        return invert(record.claimed for record in self.records)

    @cached_property
    def by_event(self) -> Mapping[str, frozenset[int]]:
        """The places of the records that say a word stem in a value or in text."""
        return invert(record.happened for record in self.records)

    @cached_property
    def values(self) -> frozenset[str]:
        """Every subject, and every value that is one word, lower case."""
        items = [record for record in self.records if record.place not in self.frames]
        found = {record.subject.casefold() for record in items}
        for record in items:
            found.update(
                field.text.casefold() for field in record.fields
                if field.number is None and not field.loose and " " not in field.text.strip()
            )  # fmt: skip
        return frozenset(found - {""} - self.about_names)

    @cached_property
    def frames(self) -> frozenset[int]:
        """The records that stand around the items and are none of them: what holds for all."""
        sizes = Counter(record.shape for record in self.records)
        subjects = any(record.subject for record in self.records)
        if max(sizes.values(), default=0) < 2:
            return frozenset()
        return frozenset(
            record.place for record in self.records
            if (sizes[record.shape] == 1 and record.shape.startswith(("row", "text of")))
            or (record.shape == "line" and not record.subject and record.at is None and subjects)
        )  # fmt: skip

    @cached_property
    def framed(self) -> frozenset[str]:
        """The names in those records."""
        return frozenset().union(*(self.records[place].names for place in self.frames))

    @cached_property
    def by_owner(self) -> Mapping[str, frozenset[int]]:
        """The places of the records that hold something below a name: `web-6c9f` below `web`."""
        return invert(
            {name[:end] for name in record.names for end in _joints(name)}
            for record in self.records
        )

    @cached_property
    def by_tail(self) -> Mapping[str, frozenset[int]]:
        """The places of the records that hold something that ends in a name: `a.b.Pool` in `Pool`."""
        return invert(
            {name[start + 1 :] for name in record.names for start in _joints(name)}
            for record in self.records
        )

    @cached_property
    def about_names(self) -> frozenset[str]:
        """The names in what was asked."""
        return names_in(self.about)

    @cached_property
    def about_tails(self) -> frozenset[str]:
        """What those names end in, behind a joint."""
        return frozenset(name[at + 1 :] for name in self.about_names for at in _joints(name))

    @cached_property
    def about_stems(self) -> frozenset[str]:
        """The word stems in what was asked."""
        return stems_of(self.about)

    @cached_property
    def source_stems(self) -> frozenset[str]:
        """The words of the tool's and the source's names."""
        return stems_of(f"{self.call.tool} {self.call.envelope.source}")

    @cached_property
    def edges(self) -> tuple[RecordView, ...]:
        """The records that are edges."""
        return tuple(record for record in self.records if isinstance(record.fact, Edge))

    @cached_property
    def ends(self) -> frozenset[str]:
        """What the edges join, lower case."""
        facts = (record.fact for record in self.edges)
        edges = [fact for fact in facts if isinstance(fact, Edge)]
        return frozenset(end.casefold() for edge in edges for end in (edge.source, edge.target))

    @cached_property
    def rows_of(self) -> Mapping[str, tuple[RecordView, ...]]:
        """The records of each shape but those that frame the others, in order."""
        return {
            shape: tuple(self.records[place] for place in sorted(places - self.frames))
            for shape, places in self.by_shape.items()
        }


@dataclass(frozen=True)
class Evidence:
    """Every cited call of a draft, by id."""

    calls: Mapping[str, CallView] = field(default_factory=dict)

    def of(self, ids: tuple[str, ...]) -> tuple[CallView, ...]:
        """The calls with these ids that are there, in this order."""
        return tuple(self.calls[name] for name in ids if name in self.calls)


JOINTS_MAX: Final = 24
"""A name with more joints than this is text; it names nothing below its first parts."""


def _joints(name: str) -> tuple[int, ...]:
    """Where a name could end and still name the owner of the whole."""
    ends = (place for place, sign in enumerate(name) if place > 1 and not sign.isalnum())
    return tuple(ends)[:JOINTS_MAX]


def read_evidence(calls: tuple[VerifiedCall, ...]) -> Evidence:
    """The records of verified calls. Linear in their text."""
    return Evidence({call.tool_call_id: view_call(call) for call in calls})


def view_call(call: VerifiedCall) -> CallView:
    """One call's records, facts of one item together."""
    envelope = call.envelope
    groups: list[list[int]] = []
    for place, fact in enumerate(envelope.facts):
        if groups and joins([envelope.facts[index] for index in groups[-1]], fact):
            groups[-1].append(place)
        else:
            groups.append([place])
    groups, asides = part_asides(groups, envelope.facts)
    groups = [
        *groups,
        *whole_report(groups, envelope.facts),
        *same_subjects(groups, envelope.facts, envelope.scope.service),
        *bursts(groups, envelope.facts),
    ]
    headings = headings_of(envelope.facts)
    return CallView(
        call,
        tuple(
            view_item(
                call.tool_call_id, place, tuple(group), envelope.facts, envelope.emitter,
                Around(
                    asides.get(getattr(envelope.facts[group[0]], "subject", None) or "", ""),
                    headings,
                ),
            )
            for place, group in enumerate(groups)
        ),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Around:
    """What stands around an item: the labels of its series, and the keys that lines stand below."""

    aside: str
    headings: Mapping[int, str]


def view_item(
    call: str,
    place: int,
    group: tuple[int, ...],
    facts: tuple[Fact, ...],
    emitter: Emitter,
    around: Around,
) -> RecordView:
    """Some facts of one item as one record."""
    parts = [facts[index] for index in group]
    first = parts[0]
    heading = around.headings.get(group[0], "") if len(group) == 1 else ""
    texts = dict.fromkeys((*(text_of(fact, own=False) for fact in parts), around.aside, heading))
    return RecordView(
        call=call,
        place=place,
        facts=group,
        fact=first,
        subject=next((found for fact in parts if (found := subject_of(fact))), ""),
        at=next((at for at in map(at_of, parts) if at), None),
        emitter=_emitter(parts, emitter),
        fields=_fields(parts, tuple(around.headings.get(at, "") for at in group)),
        text=" \n ".join(texts),
        own=" ".join((*(text_of(fact, own=True) for fact in parts), around.aside)),
        stated=" ; ".join(stated_of(fact) for fact in parts),
        told=" ; ".join(stated_of(fact, counted=False) for fact in parts),
        shape="report" if len(group) > PARTS_OF_ITEM_MAX or is_union(parts) else shape_of(parts),
    )


def _fields(parts: list[Fact], headings: tuple[str, ...]) -> tuple[Field, ...]:
    """Every named value; a line's bare numbers only where no cell beside it holds them."""
    cells = [item for fact in parts if not isinstance(fact, Line) for item in fields_of(fact)]
    known = {item.number for item in cells if item.number is not None}
    lines = [
        item for fact, heading in zip(parts, headings, strict=True) if isinstance(fact, Line)
        for item in _headed(tuple(fields_of(fact)), heading)
        if not (cells and item.loose and item.number in known)
    ]  # fmt: skip
    return tuple(dict.fromkeys((*cells, *lines)))


def _headed(fields: tuple[Field, ...], heading: str) -> tuple[Field, ...]:
    """The fields below a heading, named with it."""
    if not heading:
        return fields
    names = stems_of(heading)
    return tuple(
        replace(item, name=f"{heading}.{item.name}", names=item.names | names) for item in fields
    )


def _emitter(parts: list[Fact], emitter: Emitter) -> Emitter:
    """Whose words the item's own part is; a request's only when it has no other."""
    own = [fact.emitter if isinstance(fact, Line) and fact.emitter else emitter for fact in parts]
    return next((item for item in own if item is not Emitter.REQUEST), Emitter.REQUEST)
