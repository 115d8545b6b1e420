"""What was seen of a cluster as rows: of our tables of logs and events, and of looks (pure).

Words are kept as they were found. A Warning is an error line where its reason says that something
failed; a container's end is written field by field, as its status has it. A revision of a
workload is a change: when its template was first made, and with which images.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from types import MappingProxyType
from typing import Final, TypeAlias

from affidavit.adapters.kubernetes_objects import (
    DEPLOYMENT,
    GOOD_ENDS,
    NUMBERED,
    Condition,
    Container,
    Happening,
    Pod,
    Rollout,
    Workload,
    before,
    workload_of,
)
from affidavit.adapters.telemetry_files import LEVEL, moment_us
from affidavit.contract.evidence import Window
from affidavit.ports.lookups import AT, WHOSE
from affidavit.ports.telemetry import Plain

FAILURES: Final = frozenset(
    "BackOff CrashLoopBackOff ErrImagePull Evicted Failed FailedAttachVolume FailedCreate "
    "FailedCreatePodSandBox FailedKillPod FailedMount FailedPostStartHook FailedPreStopHook "
    "FailedScheduling InspectFailed NodeNotReady OOMKilling ProbeError SystemOOM Unhealthy".split()
)
"""Reasons of Warning events that say of themselves that something did not succeed."""

CONDITIONS: Final = frozenset({"Available", "Progressing", "ReplicaFailure"})
"""Of a deployment (apps/v1); another name is no column of ours."""

SCALED: Final = "ScalingReplicaSet"
"""The reason of the event by which a deployment tells of each step of a rollout or rollback."""

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

TableRow: TypeAlias = dict[str, object]


@dataclass(frozen=True, slots=True)
class Seen:
    """One observation of the namespaces that are listed."""

    pods: tuple[Pod, ...] = ()
    happenings: tuple[Happening, ...] = ()
    rollouts: tuple[Rollout, ...] = ()
    workloads: tuple[Workload, ...] = ()
    conditions: tuple[Condition, ...] = ()
    owners: Mapping[tuple[str, str, str], str] = field(default_factory=dict)

    def service_of(self, namespace: str, kind: str, name: str) -> str:
        """Whose an object is, by what was listed; else by its name."""
        known = self.owners.get((namespace, kind, name))
        if known or kind != "Pod":
            return known or name
        workload, numbered = workload_of(name), NUMBERED.fullmatch(name)
        above = [(DEPLOYMENT, workload), ("DaemonSet", workload)]
        above += [("StatefulSet", numbered[1])] if numbered else []
        told = (self.owners.get((namespace, *one)) for one in above)
        return next((service for service in told if service), workload)


def owners_of(
    pods: Iterable[Pod], workloads: Iterable[Workload], rollouts: Iterable[Rollout]
) -> Mapping[tuple[str, str, str], str]:
    """The service of each object by its namespace, kind and name."""
    owners = {(one.namespace, one.kind, one.name): one.service for one in workloads}
    for rollout in rollouts:
        above = (rollout.namespace, rollout.kind, rollout.workload)
        service = owners.get(above, rollout.workload)
        kept = "ReplicaSet" if rollout.kind == DEPLOYMENT else "ControllerRevision"
        owners[rollout.namespace, kept, rollout.kept_as] = service
    owners |= {(pod.namespace, "Pod", pod.name): pod.service for pod in pods}
    return MappingProxyType(owners)


# --- rows of our tables -------------------------------------------------------------------------


def change_rows(seen: Seen) -> Iterator[TableRow]:
    """Revisions of workloads, and the steps by which deployments were rolled out or back."""
    for rollout in seen.rollouts:
        older = before(rollout, seen.rollouts)
        named = ", ".join(rollout.images)
        where = f"{rollout.namespace}/{rollout.workload}"
        said = f"{where} revision {rollout.revision}: {named}"
        if older is not None and older.images != rollout.images:
            said += f", before {', '.join(older.images)}"
        elif older is not None:
            said += ", the images of before with another template"
        yield {
            "timestamp": rollout.made_us,
            "event_name": "deploy",
            "service_name": seen.service_of(rollout.namespace, rollout.kind, rollout.workload),
            "id": f"{rollout.namespace}/{rollout.kept_as}",
            "body": said,
            "attributes": json.dumps(
                {
                    rollout.kind.lower(): where,
                    "revision": rollout.revision,
                    "images": list(rollout.images),
                    "images_before": list(older.images) if older else [],
                }
            ),
        }
    for event in seen.happenings:
        if event.reason == SCALED:
            yield {
                "timestamp": event.last_us,
                "event_name": "scale",
                "service_name": seen.service_of(event.namespace, event.kind, event.name),
                "id": f"{event.namespace}/{event.name}@{event.last_us}",
                "body": event.message,
                "attributes": json.dumps({"times": event.count}),
            }


def line_rows(seen: Seen) -> Iterator[TableRow]:
    """Warning events, at their first and their last time, and how containers ended."""
    for event in seen.happenings:
        if event.type != "Warning":
            continue
        for at_us in dict.fromkeys((event.first_us, event.last_us)):
            yield _line(
                at_us,
                seen.service_of(event.namespace, event.kind, event.name),
                f"{event.reason} {event.kind.lower()}/{event.name}: {event.message}",
                level="ERROR" if event.reason in FAILURES else "WARNING",
                instance=event.name,
            )
    for pod, container in ended(seen.pods):
        last = container.last
        if last is None or last.finished_us is None:
            continue
        told = f"message={last.message}" if last.message else ""
        yield _line(
            last.finished_us,
            pod.service,
            f"container {container.name} of pod {pod.name} terminated reason={last.reason} "
            f"exitCode={last.exit_code} restartCount={container.restarts} {told}".strip(),
            level="ERROR",
            instance=pod.name,
        )


def ended(pods: Iterable[Pod]) -> Iterator[tuple[Pod, Container]]:
    """Containers that ended otherwise than they should, the last one first."""
    found = [
        (pod, container)
        for pod in pods
        for container in pod.containers
        if container.last is not None
        and container.last.finished_us is not None
        and not (container.last.reason in GOOD_ENDS and not container.last.exit_code)
    ]
    found.sort(key=lambda pair: -(pair[1].last.finished_us or 0) if pair[1].last else 0)
    return iter(found)


def log_rows(pod: Pod, container: Container, content: str) -> Iterator[TableRow]:
    """The lines of a container, whose times the kubelet wrote before them."""
    for line in content.splitlines():
        stamp, _, body = line.partition(" ")
        at_us = moment_us(stamp)
        if at_us is None or not body.strip():
            continue
        level = LEVEL.search(body[:80])
        yield _line(
            at_us,
            pod.service,
            body,
            level=level[1] if level else "",
            instance=f"{pod.name}/{container.name}",
            emitter="workload",
        )


def _line(
    at_us: int, service: str, body: str, *, level: str, instance: str, emitter: str = "platform"
) -> TableRow:
    return {
        "timestamp": at_us,
        "service_name": service,
        "body": body,
        "severity_text": level,
        "instance": instance,
        "emitter": emitter,
    }


# --- rows of looks ------------------------------------------------------------------------------

LookRow: TypeAlias = dict[str, Plain]


def pod_rows(seen: Seen, _: Window | None) -> list[LookRow]:
    """Each container of each pod; those that are not well come first."""
    rows: list[tuple[bool, LookRow]] = []
    for pod in seen.pods:
        told: LookRow = {
            WHOSE: pod.service,
            "pod": f"{pod.namespace}/{pod.name}",
            "phase": f"{pod.phase} {pod.reason}".strip(),
            "node": pod.node,
        }
        rows += [(pod.is_well, {**told, **_container(one)}) for one in pod.containers]
        if not pod.containers:
            rows.append((pod.is_well, told))
    rows.sort(key=lambda pair: pair[0])
    return [row for _, row in rows]


def _container(one: Container) -> LookRow:
    last = one.last
    finished = last.finished_us if last else None
    return {
        "container": one.name,
        "image": one.image,
        "ready": one.ready,
        "state": one.state,
        "restarts": one.restarts,
        "last end": last.reason if last else None,
        "last exit code": last.exit_code if last else None,
        "last end at": _stamp(finished) if finished is not None else None,
    }


def event_rows(seen: Seen, window: Window | None) -> list[LookRow]:
    """Events that were seen within the window, Warnings first, then the latest."""
    rows = [
        (event.type != "Warning", -event.last_us, event)
        for event in seen.happenings
        if window is None
        or (event.last_us >= _us(window.start) and event.first_us <= _us(window.end))
    ]
    rows.sort(key=lambda row: row[:2])
    return [
        {
            AT: event.last_us,
            WHOSE: seen.service_of(event.namespace, event.kind, event.name),
            "type": event.type,
            "reason": event.reason,
            "object": f"{event.namespace}/{event.kind.lower()}/{event.name}",
            "message": event.message[:300],
            "times": event.count,
            "first": _stamp(event.first_us),
        }
        for *_, event in rows
    ]


def workload_rows(kind: str, seen: Seen, _: Window | None) -> list[LookRow]:
    """How far each workload of a kind is; those that are not whole come first."""
    rows: list[LookRow] = [
        {
            WHOSE: one.service,
            kind.lower(): f"{one.namespace}/{one.name}",
            **({} if one.revision == "" else {"revision": one.revision}),
            "desired": one.desired,
            "updated": one.updated,
            "available": one.available,
            **{
                name.lower(): f"{status} {reason}".strip()
                for name, status, reason in one.conditions
                if name in CONDITIONS
            },
        }
        for one in seen.workloads
        if one.kind == kind
    ]
    rows.sort(key=lambda row: row["available"] == row["desired"] == row["updated"])
    return rows


def node_rows(seen: Seen, _: Window | None) -> list[LookRow]:
    """The conditions of the nodes, bad ones first."""
    return [
        {
            **({AT: one.since_us} if one.since_us is not None else {}),
            "node": one.node,
            "condition": one.type,
            "status": one.status,
            "reason": one.reason,
            "message": one.message[:300],
        }
        for one in sorted(seen.conditions, key=lambda one: not one.is_bad)
    ]


LOOKS: Final[Mapping[str, Callable[[Seen, Window | None], list[LookRow]]]] = MappingProxyType(
    {
        "pods": pod_rows,
        "events": event_rows,
        "deployments": partial(workload_rows, DEPLOYMENT),
        "statefulsets": partial(workload_rows, "StatefulSet"),
        "daemonsets": partial(workload_rows, "DaemonSet"),
        "nodes": node_rows,
    }
)
"""The questions, each with its rows, the most telling ones first."""


def _us(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000_000)


def _stamp(at_us: int) -> str:
    return (EPOCH + timedelta(microseconds=at_us)).isoformat(timespec="seconds")
