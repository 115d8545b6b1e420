"""Log streams with labels, as Loki returns them: each entry read as a log line of its stream.

Labels are put there by the shipper of the log, not by the program that wrote the line: they name
the subject, and tell the platform's own components from workloads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from affidavit.contract.evidence import Cell, Fact, Row
from affidavit.contract.states import Emitter
from affidavit.tools.readers.fields import is_list, to_instant
from affidavit.tools.readers.logs import read_entries
from affidavit.tools.readers.reading import Item, Reading, Source
from affidavit.tools.readers.series import LABEL_ORDER, all_have, labels_of
from affidavit.tools.readers.words import clean

PLATFORM_STREAMS: Final = frozenset(
    "kernel kubelet containerd crio dockerd kube-apiserver kube-scheduler etcd "
    "kube-controller-manager kube-proxy".split()
)
"""Components that speak about the platform itself."""

_COMPONENT_LABELS: Final = ("component", "unit", "syslog_identifier", "container", "app")


def read_streams(source: Source, document: object) -> Reading | None:
    """A document of labelled log streams, or None."""
    if not isinstance(document, Mapping):
        return None
    data = document.get("data")
    result = (data if isinstance(data, Mapping) else document).get("result")
    if not all_have(result, "stream"):
        return None
    items: list[Item] = []
    context: list[Fact] = []
    for stream in result:
        labels = labels_of(stream["stream"])
        subject = next((labels[key] for key in LABEL_ORDER if key in labels), source.subject)
        cells = tuple(Cell(name=key, text=text) for key, text in labels.items())
        context.append(Row(subject=subject, cells=cells))
        emitter = Emitter.PLATFORM if _is_platform(labels) else source.emitter
        own = replace(source, subject=subject, emitter=emitter)
        values = stream.get("values")
        for entry in values if is_list(values) else ():
            if is_list(entry) and len(entry) > 1:
                lines = clean(str(entry[1])).split("\n")
                items.extend(read_entries(own, lines, at=to_instant(entry[0]), whole=True))
    return Reading("streams", tuple(items), tuple(context)) if items else None


def _is_platform(labels: Mapping[str, str]) -> bool:
    values = (labels.get(key, "").removesuffix(".service") for key in _COMPONENT_LABELS)
    return any(value in PLATFORM_STREAMS for value in values)
