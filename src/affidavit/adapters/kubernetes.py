"""Looks at the listed namespaces of a Kubernetes cluster, with an identity that can only read.

At the start of a run its rights are reviewed: an identity that could change something is refused.
The same observation feeds three places: Warning events, ends of containers and their last words are
log lines; revisions of deployments are change events; and pods, events, deployments and nodes can
be looked at. Requests go one after another. Secrets are never asked for (`kubernetes_api`).
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from typing import Any, Final

import anyio

from affidavit.adapters.cluster_tables import KubernetesTable
from affidavit.adapters.kubernetes_api import ITEMS_MAX, Item, KubernetesApi, Resource, Review
from affidavit.adapters.kubernetes_objects import (
    read_conditions,
    read_deployment,
    read_event,
    read_pod,
    read_rollout,
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


class KubernetesSource:
    """One configured cluster: feeds for logs and events, and a `ports.lookups.Lookup`."""

    source_type = "kubernetes"
    evidence_class = EvidenceClass.OBSERVATION
    description = (
        "Looks at the Kubernetes cluster: pods (phases, restarts, last ends), events (of the "
        "window), deployments (how far their rollouts are), nodes (conditions). Revisions are "
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
        self._seen: Seen | None = None
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
        """See `Lookup.look`."""
        seen = await self._observe()
        rows = LOOKS[what](seen, window)
        return Looked(rows[:ROWS_MAX], len(rows), seen.left_out)

    async def changes(self, span: Span) -> Read:
        """Rows of the table of events. Raises ToolFailed."""
        seen = await self._observe()
        first_us, last_us = int((span.start_s - CHANGES_BACK_S) * 1e6), int(span.end_s * 1e6)
        return Read(list(_within(change_rows(seen), first_us, last_us)), seen.left_out)

    async def lines(self, span: Span) -> Read:
        """Rows of the table of logs. Raises ToolFailed."""
        seen = await self._observe()
        first_us, last_us = int(span.start_s * 1e6), int(span.end_s * 1e6)
        rows = list(_within(line_rows(seen), first_us, last_us))
        left_out = list(seen.left_out)
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

    async def _observe(self) -> Seen:
        """What is there now; one observation for all that ask within a few seconds."""
        async with self._lock:
            if self._seen is None or time.monotonic() - self._seen_s > FRESH_S:
                self._seen = await self._list_all()
                self._seen_s = time.monotonic()
            return self._seen

    async def _list_all(self) -> Seen:
        until_s = time.monotonic() + OBSERVE_S
        found: dict[Resource, list[Item]] = {resource: [] for resource in Resource}
        left_out: list[str] = []
        failures: list[ToolFailed] = []
        asked = [
            (resource, namespace)
            for namespace in self._table.namespaces
            for resource in Resource
            if resource is not Resource.NODES
        ] + ([(Resource.NODES, "")] if self._table.nodes else [])
        for resource, namespace in asked:
            try:
                listed = await self._api.listed(resource, namespace, until_s)
            except ToolFailed as failed:
                failures.append(failed)
                where = f"{resource.word} of {namespace}" if namespace else resource.word
                left_out.append(f"{where} ({failed.code})")
            else:
                found[resource] += listed.items
                left_out += listed.left_out
        if len(failures) == len(asked):
            raise failures[0]
        return self._read(found, tuple(left_out))

    def _read(self, found: dict[Resource, list[Item]], left_out: tuple[str, ...]) -> Seen:
        labels = self._table.service_labels
        pods = tuple(read_pod(item, labels) for item in found[Resource.PODS])
        deployments = tuple(read_deployment(item, labels) for item in found[Resource.DEPLOYMENTS])
        rollouts = tuple(_there(map(read_rollout, found[Resource.REPLICASETS])))
        nodes = found[Resource.NODES][:ITEMS_MAX]
        return Seen(
            pods=pods,
            happenings=tuple(_there(map(read_event, found[Resource.EVENTS]))),
            rollouts=rollouts,
            deployments=deployments,
            conditions=tuple(one for item in nodes for one in read_conditions(item)),
            left_out=left_out,
            owners=owners_of(pods, deployments, rollouts),
        )

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


def _there(found: Iterable[Any]) -> Iterable[Any]:
    return (one for one in found if one is not None)
