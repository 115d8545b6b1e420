"""From the documents of a Kubernetes API to plain records (pure): pods, events, rollouts, nodes.

Whatever a document lacks is empty; nothing is guessed. Of a pod only what is named here is kept:
no environment, no arguments, no annotations.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from affidavit.adapters.telemetry_files import moment_us

TEXT_CHARS_MAX: Final = 1000
"""Of a message; a scheduler's account of two hundred nodes has about 800."""

REVISION: Final = "deployment.kubernetes.io/revision"

DEPLOYMENT: Final = "Deployment"
SETS: Final = ("StatefulSet", "DaemonSet")
"""Workloads whose revisions are ControllerRevisions; a deployment's are replica sets."""

NUMBERED: Final = re.compile(r"(.+)-[0-9]{1,5}")
"""A pod's name after its stateful set: with its place in it."""

GENERATED: Final = re.compile(r"(.+?)(-[a-z0-9]{6,10})?-[a-z0-9]{5}")
"""A pod's name after the workload that made it: its template's hash, and five letters."""

GOOD_ENDS: Final = frozenset({"Completed"})


@dataclass(frozen=True, slots=True)
class Ended:
    """How a container ended."""

    reason: str
    exit_code: int | None
    finished_us: int | None
    message: str


@dataclass(frozen=True, slots=True)
class Container:
    """One container of a pod as its status tells of it."""

    name: str
    image: str
    ready: bool
    restarts: int
    state: str  # running, waiting: REASON, terminated: REASON
    last: Ended | None


@dataclass(frozen=True, slots=True)
class Pod:
    """One pod."""

    namespace: str
    name: str
    service: str
    phase: str
    reason: str
    node: str
    containers: tuple[Container, ...]

    @property
    def is_well(self) -> bool:
        """Whether it does what it should, and never ended otherwise."""
        done = self.phase == "Succeeded"
        return done or (
            self.phase == "Running" and all(c.ready and not c.restarts for c in self.containers)
        )


@dataclass(frozen=True, slots=True)
class Happening:
    """One event: the first and the last time that it was seen, and how often."""

    namespace: str
    type: str
    reason: str
    kind: str
    name: str
    message: str
    first_us: int
    last_us: int
    count: int


@dataclass(frozen=True, slots=True)
class Rollout:
    """One revision of a workload: when its template was first made, with which images. `kept_as`
    is the object that keeps it, a replica set or a ControllerRevision."""

    namespace: str
    kind: str
    workload: str
    revision: int
    kept_as: str
    made_us: int
    images: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Workload:
    """How far a deployment, a stateful set or a daemon set is with its rollout. `revision` is the
    number of a deployment's, the name of a stateful set's; a daemon set tells none."""

    kind: str
    namespace: str
    name: str
    service: str
    revision: int | str
    desired: int
    updated: int
    available: int
    conditions: tuple[tuple[str, str, str], ...]  # type, status, reason


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition of a node, and since when it is so."""

    node: str
    type: str
    status: str
    reason: str
    message: str
    since_us: int | None

    @property
    def is_bad(self) -> bool:
        """Ready has to be so, and every pressure must not be."""
        return self.status != ("True" if self.type == "Ready" else "False")


def read_pod(item: Mapping[str, Any], labels: Sequence[str]) -> Pod:
    """A pod; its service is told by the first of the labels that is there, else by its owner."""
    meta, spec, status = part(item, "metadata"), part(item, "spec"), part(item, "status")
    own = part(meta, "labels")
    name = text(meta, "name")
    told = next((str(own[label]) for label in labels if own.get(label)), "")
    if not told:
        _, told = _owner(meta, SETS)
    statuses = (*parts(status, "initContainerStatuses"), *parts(status, "containerStatuses"))
    return Pod(
        namespace=text(meta, "namespace"),
        name=name,
        service=told or workload_of(name),
        phase=text(status, "phase"),
        reason=text(status, "reason"),
        node=text(spec, "nodeName"),
        containers=tuple(_container(one) for one in statuses),
    )


def workload_of(pod: str) -> str:
    """The workload that made a pod of this name; the name itself where it shows none."""
    found = GENERATED.fullmatch(pod)
    return found[1] if found else pod


def _container(item: Mapping[str, Any]) -> Container:
    state = part(item, "state")
    word = next((name for name in ("running", "waiting", "terminated") if name in state), "")
    reason = text(part(state, word), "reason") if word else ""
    ended = part(part(item, "lastState"), "terminated") or part(state, "terminated")
    return Container(
        name=text(item, "name"),
        image=text(item, "image"),
        ready=item.get("ready") is True,
        restarts=number(item, "restartCount"),
        state=f"{word}: {reason}" if reason else word,
        last=_ended(ended) if ended else None,
    )


def _ended(item: Mapping[str, Any]) -> Ended:
    code = item.get("exitCode")
    return Ended(
        reason=text(item, "reason"),
        exit_code=code if isinstance(code, int) else None,
        finished_us=moment_us(item.get("finishedAt")),
        message=text(item, "message")[:TEXT_CHARS_MAX],
    )


def read_event(item: Mapping[str, Any]) -> Happening | None:
    """An event; None for one that does not say when."""
    about, series = part(item, "involvedObject"), part(item, "series")
    moments = [
        moment_us(value)
        for value in (
            item.get("firstTimestamp"),
            item.get("eventTime"),
            item.get("lastTimestamp"),
            series.get("lastObservedTime"),
        )
    ]
    known = [moment for moment in moments if moment is not None]
    if not known:
        return None
    return Happening(
        namespace=text(part(item, "metadata"), "namespace"),
        type=text(item, "type"),
        reason=text(item, "reason"),
        kind=text(about, "kind"),
        name=text(about, "name"),
        message=text(item, "message")[:TEXT_CHARS_MAX],
        first_us=min(known),
        last_us=max(known),
        count=max(1, number(item, "count"), number(series, "count")),
    )


def read_rollout(item: Mapping[str, Any]) -> Rollout | None:
    """A replica set as a revision of its deployment; None for one without a deployment."""
    meta = part(item, "metadata")
    revision = text(part(meta, "annotations"), REVISION)
    if not revision.isdigit():
        return None
    return _rollout(meta, (DEPLOYMENT,), int(revision), part(item, "spec"))


def read_revision(item: Mapping[str, Any]) -> Rollout | None:
    """A ControllerRevision as a revision of its stateful or daemon set; None for another's. Its
    `data` is the part of the set that a rollback would put back."""
    revision = number(item, "revision")
    spec = part(part(item, "data"), "spec")
    return _rollout(part(item, "metadata"), SETS, revision, spec) if revision else None


def _rollout(
    meta: Mapping[str, Any], kinds: Sequence[str], revision: int, spec: Mapping[str, Any]
) -> Rollout | None:
    kind, workload = _owner(meta, kinds)
    made_us = moment_us(meta.get("creationTimestamp"))
    if not workload or made_us is None:
        return None
    pod = part(part(spec, "template"), "spec")
    return Rollout(
        namespace=text(meta, "namespace"),
        kind=kind,
        workload=workload,
        revision=revision,
        kept_as=text(meta, "name"),
        made_us=made_us,
        images=tuple(sorted(text(one, "image") for one in parts(pod, "containers"))),
    )


def _owner(meta: Mapping[str, Any], kinds: Sequence[str]) -> tuple[str, str]:
    """Kind and name of the owner of one of these kinds; empty where there is none."""
    found = ((text(one, "kind"), text(one, "name")) for one in parts(meta, "ownerReferences"))
    return next((pair for pair in found if pair[0] in kinds), ("", ""))


def read_workload(kind: str, item: Mapping[str, Any], labels: Sequence[str]) -> Workload:
    """A workload; its service is told by the labels of its pods, else by its name."""
    meta, spec, status = part(item, "metadata"), part(item, "spec"), part(item, "status")
    own = part(part(part(spec, "template"), "metadata"), "labels")
    name = text(meta, "name")
    told = text(part(meta, "annotations"), REVISION)
    desired, updated, available = _counts(kind, spec, status)
    return Workload(
        kind=kind,
        namespace=text(meta, "namespace"),
        name=name,
        service=next((str(own[label]) for label in labels if own.get(label)), name),
        revision=int(told) if told.isdigit() else text(status, "updateRevision"),
        desired=desired,
        updated=updated,
        available=available,
        conditions=tuple(
            (text(one, "type"), text(one, "status"), text(one, "reason"))
            for one in parts(status, "conditions")
        ),
    )


def _counts(kind: str, spec: Mapping[str, Any], status: Mapping[str, Any]) -> tuple[int, int, int]:
    """Pods that are wanted, that have the newest template, and that are available."""
    if kind == "DaemonSet":
        return (
            number(status, "desiredNumberScheduled"),
            number(status, "updatedNumberScheduled"),
            number(status, "numberAvailable"),
        )
    return (
        number(spec, "replicas"),
        number(status, "updatedReplicas"),
        number(status, "availableReplicas"),
    )


def read_conditions(item: Mapping[str, Any]) -> Iterator[Condition]:
    """The conditions of a node."""
    node = text(part(item, "metadata"), "name")
    for one in parts(part(item, "status"), "conditions"):
        yield Condition(
            node=node,
            type=text(one, "type"),
            status=text(one, "status"),
            reason=text(one, "reason"),
            message=text(one, "message")[:TEXT_CHARS_MAX],
            since_us=moment_us(one.get("lastTransitionTime")),
        )


def before(rollout: Rollout, all_of_them: Iterable[Rollout]) -> Rollout | None:
    """The revision that stood before this one, as far as it is still kept."""
    older = [
        other
        for other in all_of_them
        if (other.namespace, other.kind, other.workload)
        == (rollout.namespace, rollout.kind, rollout.workload)
        and other.revision < rollout.revision
    ]
    return max(older, key=lambda other: other.revision, default=None)


def part(item: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A mapping within a document; empty where there is none."""
    found = item.get(name)
    return found if isinstance(found, dict) else {}


def parts(item: Mapping[str, Any], name: str) -> tuple[Mapping[str, Any], ...]:
    """The mappings of a list within a document."""
    found = item.get(name)
    return tuple(one for one in found if isinstance(one, dict)) if isinstance(found, list) else ()


def text(item: Mapping[str, Any], name: str) -> str:
    """A text within a document; empty where there is none."""
    found = item.get(name)
    return found if isinstance(found, str) else ""


def number(item: Mapping[str, Any], name: str) -> int:
    """A whole number within a document; 0 where there is none."""
    found = item.get(name)
    return found if isinstance(found, int) and not isinstance(found, bool) else 0
