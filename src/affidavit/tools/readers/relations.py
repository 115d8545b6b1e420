"""Relations and beginnings that a record states outright; nothing here is inferred from timing.

owner → owned          ownerReferences, `Controlled By`
workload → node        nodeName, NODE
blocking → blocked     a database's blocking tree
caller → callee        an edge list of a topology
dependent → dependency `depends_on`
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from affidavit.contract.evidence import Edge, Onset, Window
from affidavit.tools.readers.fields import is_list, to_instant
from affidavit.tools.readers.words import clean

_PAIRS: Final = (
    ("source", "target", "calls"), ("from", "to", "calls"), ("caller", "callee", "calls"),
    ("client", "server", "calls"), ("src", "dst", "calls"),
    ("blocking_pid", "blocked_pid", "blocks"), ("blocker_pid", "blocked_pid", "blocks"),
    ("blocking_id", "blocked_id", "blocks"), ("blocking_trx_id", "requesting_trx_id", "blocks"),
)  # fmt: skip
"""Two fields that name both ends of a relation, from the acting end to the other."""

_DEPENDENCIES: Final = ("depends_on", "dependsOn", "dependencies", "calls")
_NODES: Final = ("node_name", "nodeName", "node", "NODE")
_BEGINNINGS: Final = (
    (("first_time", "firstTimestamp", "first_seen", "firstSeen", "eventTime"), ("reason", "name")),
    (("lastTransitionTime",), ("type", "reason")),
    (("startsAt", "starts_at", "fired_at", "firedAt"), ("alertname", "monitor", "name", "title")),
    (("finishedAt", "finished_at"), ("reason",)),
)
"""When a record says that something began, and the field that says what."""

NAME_CHARS_MAX: Final = 256
"""An entity's name; longer text names nothing."""


def relations_of(record: Mapping[str, object], subject: str | None) -> Iterator[Edge]:
    """The relations that a record states, by its fields' names."""
    for source, target, relation in _PAIRS:
        ends = (_name(record.get(source)), _name(record.get(target)))
        if ends[0] and ends[1] and _plain(record, source) and _plain(record, target):
            yield Edge(source=ends[0], target=ends[1], relation=relation)
    if subject is None:
        return
    spec = record.get("spec")
    for holder in (record, spec if isinstance(spec, Mapping) else {}):
        node = next((name for key in _NODES if (name := _name(holder.get(key)))), None)
        if node and node != subject and not node.startswith("<"):
            yield Edge(source=subject, target=node, relation="runs on")
    for key in _DEPENDENCIES:
        listed = record.get(key)
        for name in map(_name, listed if is_list(listed) else ()):
            if name:
                yield Edge(source=subject, target=name, relation="depends on")
    metadata = record.get("metadata")
    owners = metadata.get("ownerReferences") if isinstance(metadata, Mapping) else None
    for owner in owners if is_list(owners) else ():
        name = _name(owner.get("name")) if isinstance(owner, Mapping) else None
        if name:
            yield Edge(source=name, target=subject, relation="owns")


def onsets_of(
    record: Mapping[str, object], subject: str | None, window: Window | None
) -> Iterator[Onset]:
    """When a record says that something began, as its source recorded it."""
    labels = record.get("labels")
    for times, names in _BEGINNINGS:
        moment = next((at for key in times if (at := to_instant(record.get(key), window))), None)
        what = next((name for key in names if (name := _name(record.get(key)))), None)
        if what is None and isinstance(labels, Mapping):
            what = _name(labels.get("alertname"))
        if moment is not None and what is not None and subject is not None:
            yield Onset(subject=subject, attribute=what, earliest=moment, latest=moment)


def _plain(record: Mapping[str, object], key: str) -> bool:
    """Whether an end is a name and no number of days or a time (`from`, `to` name windows too)."""
    return key not in ("from", "to") or to_instant(record.get(key)) is None


def _name(value: object) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)[:NAME_CHARS_MAX]
    if not isinstance(value, str) or not value.strip() or len(value) > NAME_CHARS_MAX:
        return None
    return clean(value.strip())
