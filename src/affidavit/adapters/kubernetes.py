"""Looks at the listed namespaces of a Kubernetes cluster, with an identity that can only read.

At the start of a run its rights are reviewed: an identity that could change something is refused.
The same observation feeds three places: Warning events, ends of containers and their last words are
log lines; revisions of workloads are change events; and pods, events, workloads and nodes can be
looked at. Requests go one after another. Secrets are never asked for (`kubernetes_api`).
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeVar

import anyio

from affidavit.adapters.cluster_tables import KubernetesTable
from affidavit.adapters.kubernetes_api import Item, KubernetesApi, Resource, Review, where_of
from affidavit.adapters.kubernetes_objects import (
    DEPLOYMENT,
    Workload,
    read_conditions,
    read_event,
    read_pod,
    read_revision,
    read_rollout,
    read_workload,
)
from affidavit.adapters.kubernetes_rights import (
    ASKED,
    LOG_NEEDED,
    NEEDED,
    NODES_NEEDED,
    TOLD_MAX,
    Rule,
    changing,
    may_read_secrets,
    missing,
    read_rules,
)
from affidavit.adapters.kubernetes_rows import (
    LOOKS,
    Seen,
    TableRow,
    change_rows,
    ended,
    line_rows,
    log_rows,
    owners_of,
)
from affidavit.adapters.live_rows import Read
from affidavit.adapters.prometheus import Span
from affidavit.contract.errors import ToolFailed
from affidavit.contract.evidence import Window
from affidavit.contract.states import EvidenceClass
from affidavit.ports.lookups import Looked, Proof

OBSERVE_S: Final = 15.0
"""All listings together, below what a tool call has."""

REVIEW_S: Final = 10.0
"""Of `doctor`; a run's own probe is over sooner."""

FRESH_S: Final = 5.0
"""So long one observation serves all that is asked: the tools of one step, and two tables."""

ROWS_MAX: Final = 100
"""Of one look; what is not well comes first."""

LOGS_MAX: Final = 10
"""Containers whose last words are read, the last ended first; each is a request."""

CHANGES_BACK_S: Final = 24 * 3600
"""Of revisions before the window: as far as `change_events` looks."""

HINT: Final = "give it the Role of docs/backends.md and nothing else"


READ_FROM: Final[Mapping[str, tuple[Resource, ...]]] = {
    "pods": (Resource.PODS,),
    "events": (Resource.EVENTS,),
    "deployments": (Resource.DEPLOYMENTS,),
    "statefulsets": (Resource.STATEFULSETS,),
    "daemonsets": (Resource.DAEMONSETS,),
    "nodes": (Resource.NODES,),
}
"""What each look is made of."""

WORKLOADS: Final[Mapping[Resource, str]] = {
    Resource.DEPLOYMENTS: DEPLOYMENT,
    Resource.STATEFULSETS: "StatefulSet",
    Resource.DAEMONSETS: "DaemonSet",
}
"""What is rolled out, by its kind."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Gaps:
    """What an observation did not see: parts of a kind of object, worded; or a kind as a whole."""

    left_out: dict[Resource, list[str]] = field(default_factory=dict)
    failed: dict[Resource, ToolFailed] = field(default_factory=dict)

    def beside(self, *resources: Resource) -> tuple[str, ...]:
        """What is missing from an answer that is made of these. Raises ToolFailed where there is
        nothing to make it of."""
        if all(resource in self.failed for resource in resources):
            failed = self.failed[resources[0]]
            raise ToolFailed(failed.message, code=failed.code, hint=failed.hint)
        return tuple(said for resource in resources for said in self.left_out.get(resource, ()))


class KubernetesSource:
    """One configured cluster: feeds for logs and events, and a `ports.lookups.Lookup`."""

    source_type = "kubernetes"
    evidence_class = EvidenceClass.OBSERVATION
    description = (
        "Looks at the Kubernetes cluster: pods (phases, restarts, last ends), events (of the "
        "window), deployments, statefulsets, daemonsets (how far their rollouts are), nodes "
        "(conditions). Revisions are "
        "among the change events, last words of ended containers among the log lines."
    )
    windowed = frozenset({"events"})
    spoken: frozenset[str] = frozenset()
    service = ""

    def __init__(self, name: str, table: KubernetesTable, api: KubernetesApi) -> None:
        self.name = f"kubernetes_{re.sub(r'[^a-z0-9]', '_', name.lower())}"
        self.source = f"kubernetes:{name}"
        self.looks = tuple(look for look in LOOKS if look != "nodes" or table.nodes)
        self._table = table
        self._api = api
        self._lock = anyio.Lock()
        self._seen: tuple[Seen, Gaps] | None = None
        self._seen_s = 0.0

    async def probe(self) -> Proof:
        """See `Lookup.probe`: our rights in every namespace, as the server tells them.

        Raises ToolFailed: ROLE_NOT_READ_ONLY, ROLE_NOT_PROVED.
        """
        until_s = time.monotonic() + REVIEW_S
        warnings: dict[str, None] = {}
        for namespace in self._table.namespaces:
            rules = await self._rules(namespace, until_s)
            if wrong := changing(rules):
                raise self._could_change(namespace, wrong)
            if may_read_secrets(rules):
                warnings[f"it may read Secrets of {namespace}, which are never asked for"] = None
            warnings |= dict.fromkeys(
                f"it may not {right} in {namespace}" for right in missing(rules, self._needed())
            )
        said = (
            "answers; its rules allow get, list and watch alone (SelfSubjectRulesReview), in "
            + ", ".join(self._table.namespaces)
        )
        return Proof(said, f"{'; '.join(warnings)}: {HINT}" if warnings else "")

    async def look(self, what: str, window: Window | None = None) -> Looked:
        """See `Lookup.look`. What is forbidden or does not answer is an error, not an absence."""
        seen, gaps = await self._observe()
        left_out = gaps.beside(*READ_FROM[what])
        rows = LOOKS[what](seen, window)
        return Looked(rows[:ROWS_MAX], len(rows), left_out)

    async def changes(self, span: Span) -> Read:
        """Rows of the table of events. Raises ToolFailed."""
        seen, gaps = await self._observe()
        left_out = gaps.beside(Resource.REPLICASETS, Resource.CONTROLLERREVISIONS, Resource.EVENTS)
        first_us, last_us = int((span.start_s - CHANGES_BACK_S) * 1e6), int(span.end_s * 1e6)
        return Read(list(_within(change_rows(seen), first_us, last_us)), left_out)

    async def lines(self, span: Span) -> Read:
        """Rows of the table of logs. Raises ToolFailed."""
        seen, gaps = await self._observe()
        left_out = list(gaps.beside(Resource.EVENTS, Resource.PODS))
        first_us, last_us = int(span.start_s * 1e6), int(span.end_s * 1e6)
        rows = list(_within(line_rows(seen), first_us, last_us))
        if self._table.previous_logs:
            told, unread = await self._last_words(seen, first_us, last_us)
            rows += _within(told, first_us, last_us)
            left_out += unread
        return Read(rows, tuple(left_out))

    async def _last_words(
        self, seen: Seen, first_us: int, last_us: int
    ) -> tuple[list[TableRow], list[str]]:
        until_s = time.monotonic() + OBSERVE_S
        rows: list[TableRow] = []
        unread: list[str] = []
        found = [
            (pod, container)
            for pod, container in ended(seen.pods)
            if container.restarts and container.last
            and first_us <= (container.last.finished_us or 0) <= last_us
        ]  # fmt: skip
        for pod, container in found[:LOGS_MAX]:
            try:
                content = await self._api.previous_log(
                    pod.namespace, pod.name, container.name, until_s
                )
            except ToolFailed as failed:
                unread.append(f"the last words of {pod.name}/{container.name} ({failed.code})")
            else:
                rows += log_rows(pod, container, content)
        if len(found) > LOGS_MAX:
            unread.append(f"the last words of {len(found) - LOGS_MAX} more containers")
        return rows, unread

    async def _observe(self) -> tuple[Seen, Gaps]:
        """What is there now; one observation for all that ask within a few seconds."""
        async with self._lock:
            if self._seen is None or time.monotonic() - self._seen_s > FRESH_S:
                self._seen = await self._list_all()
                self._seen_s = time.monotonic()
            return self._seen

    async def _list_all(self) -> tuple[Seen, Gaps]:
        until_s = time.monotonic() + OBSERVE_S
        labels, gaps = self._table.service_labels, Gaps()
        pods = await self._listed(Resource.PODS, lambda i: read_pod(i, labels), gaps, until_s)
        happenings = await self._listed(Resource.EVENTS, read_event, gaps, until_s)
        workloads: list[Workload] = []
        for resource, kind in WORKLOADS.items():
            read = partial(read_workload, kind, labels=labels)
            workloads += await self._listed(resource, read, gaps, until_s)
        rollouts = await self._listed(Resource.REPLICASETS, read_rollout, gaps, until_s)
        rollouts += await self._listed(Resource.CONTROLLERREVISIONS, read_revision, gaps, until_s)
        nodes = await self._listed(
            Resource.NODES, lambda i: tuple(read_conditions(i)), gaps, until_s
        )
        seen = Seen(
            pods=tuple(pods),
            happenings=tuple(happenings),
            rollouts=tuple(rollouts),
            workloads=tuple(workloads),
            conditions=tuple(one for conditions in nodes for one in conditions),
            owners=owners_of(pods, workloads, rollouts),
        )
        return seen, gaps

    async def _listed(
        self, resource: Resource, read: Callable[[Item], T | None], gaps: Gaps, until_s: float
    ) -> list[T]:
        """One kind of object in every namespace of the list; of the cluster, for nodes."""
        places = self._table.namespaces
        if resource is Resource.NODES:
            places = ("",) if self._table.nodes else ()
        found: list[T] = []
        failures: list[ToolFailed] = []
        left_out = gaps.left_out.setdefault(resource, [])
        for namespace in places:
            try:
                listed = await self._api.listed(resource, namespace, until_s, read)
            except ToolFailed as failed:
                failures.append(failed)
                left_out.append(f"{where_of(resource, namespace)} ({failed.code})")
            else:
                found += listed.items
                left_out += listed.left_out
        if failures and len(failures) == len(places):
            gaps.failed[resource] = failures[0]
        return found

    def _needed(self) -> tuple[tuple[str, str, str], ...]:
        logs = (LOG_NEEDED,) if self._table.previous_logs else ()
        nodes = (NODES_NEEDED,) if self._table.nodes else ()
        return (*NEEDED, *logs, *nodes)

    async def _rules(self, namespace: str, until_s: float) -> tuple[Rule, ...]:
        """All rules of a namespace; where the server cannot tell them all, it is asked one right
        after another."""
        status = await self._review(Review.RULES, {"namespace": namespace}, until_s)
        try:
            rules = read_rules(status)
        except (TypeError, KeyError, AttributeError):
            raise self._unproved("tells no rules") from None
        if status.get("incomplete") or status.get("evaluationError"):
            for verb, group, resource, sub in ASKED:
                attributes = {"namespace": namespace, "verb": verb, "group": group,
                              "resource": resource, "subresource": sub}  # fmt: skip
                spec = {"resourceAttributes": attributes}
                told = await self._review(Review.ACCESS, spec, until_s)
                if told.get("allowed") is not False:
                    right = f"{verb} {resource}/{sub}".rstrip("/")
                    raise self._could_change(namespace, (right,))
        return rules

    async def _review(self, review: Review, spec: dict[str, Any], until_s: float) -> Item:
        try:
            return await self._api.review(review, spec, until_s)
        except ToolFailed as failed:
            if failed.code in {"HTTP_403", "HTTP_404", "HTTP_405"}:
                raise self._unproved(f"refuses a {review.kind} ({failed.code})") from None
            raise

    def _could_change(self, namespace: str, rights: tuple[str, ...]) -> ToolFailed:
        named = ", ".join(rights[:TOLD_MAX])
        more = f" and {len(rights) - TOLD_MAX} more" if len(rights) > TOLD_MAX else ""
        return ToolFailed(
            f"the identity at {self.source} could change something in {namespace}: {named}{more}",
            code="ROLE_NOT_READ_ONLY",
            hint=HINT,
        )

    def _unproved(self, why: str) -> ToolFailed:
        return ToolFailed(
            f"{self.source} {why}, so that nothing proves that it is only read",
            code="ROLE_NOT_PROVED",
            hint="every identity may usually ask this: bind system:basic-user to it",
        )


def _within(rows: Iterable[TableRow], first_us: int, last_us: int) -> Iterable[TableRow]:
    for row in rows:
        at_us = row["timestamp"]
        if isinstance(at_us, int) and first_us <= at_us <= last_us:
            yield row
