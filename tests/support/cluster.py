"""A small Kubernetes API server on loopback: real HTTP, documents by hand after the public API.

The shapes (lists with `metadata.continue`, Status objects, reviews of one's own rights, container
logs) are those of the Kubernetes API reference, v1.29. A test changes what a cluster holds, what
its identity may do, and how it misbehaves.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.support.http_stage import Reply, Seen, Stage, stage

SECRET_ENV = "s3cret-of-the-pod-0aZ9"

READER: list[dict[str, Any]] = [
    {
        "verbs": ["create"],
        "apiGroups": ["authorization.k8s.io"],
        "resources": ["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
    },
    {"verbs": ["list"], "apiGroups": [""], "resources": ["pods", "events"]},
    {"verbs": ["get"], "apiGroups": [""], "resources": ["pods/log"]},
    {
        "verbs": ["list"],
        "apiGroups": ["apps"],
        "resources": [
            "deployments",
            "replicasets",
            "statefulsets",
            "daemonsets",
            "controllerrevisions",
        ],
    },
    {"verbs": ["list"], "apiGroups": [""], "resources": ["nodes"]},
]
"""The rules of docs/backends.md, as a SelfSubjectRulesReview tells them."""


def stamp(ago_s: float) -> str:
    """A moment of the past, as the API writes it."""
    return (datetime.now(UTC) - timedelta(seconds=ago_s)).strftime("%Y-%m-%dT%H:%M:%SZ")


def pod(name: str, *, app: str = "", namespace: str = "shop", **status: Any) -> dict[str, Any]:
    """A pod that runs well; `ended` is how its container ended before."""
    ended = status.get("ended")
    running = {"running": {"startedAt": stamp(60)}}
    return {
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {"app": app} if app else {},
            "annotations": {"note": SECRET_ENV},
        },
        "spec": {
            "nodeName": "node-1",
            "containers": [
                {
                    "name": "app",
                    "image": "registry/app:1",
                    "env": [{"name": "PASSWORD", "value": SECRET_ENV}],
                }
            ],
        },
        "status": {
            "phase": status.get("phase", "Running"),
            "containerStatuses": [
                {
                    "name": "app",
                    "image": "registry/app:1",
                    "ready": ended is None,
                    "restartCount": 0 if ended is None else 3,
                    "state": status.get("state", running),
                    "lastState": {} if ended is None else {"terminated": ended},
                }
            ],
        },
    }


def killed(ago_s: float, reason: str = "OOMKilled", code: int = 137) -> dict[str, Any]:
    """How a container ended."""
    return {
        "reason": reason,
        "exitCode": code,
        "startedAt": stamp(ago_s + 30),
        "finishedAt": stamp(ago_s),
    }


def event(reason: str, message: str, ago_s: float, **more: Any) -> dict[str, Any]:
    """An event about a pod."""
    return {
        "metadata": {"name": f"e-{reason.lower()}-{ago_s}", "namespace": "shop"},
        "type": more.get("type", "Warning"),
        "reason": reason,
        "message": message,
        "involvedObject": {
            "kind": more.get("kind", "Pod"),
            "name": more.get("name", "checkout-7d9f8b6c5d-x2x4z"),
        },
        "firstTimestamp": stamp(ago_s + 30),
        "lastTimestamp": stamp(ago_s),
        "count": 4,
    }


def replica_set(
    name: str, revision: int, image: str, ago_s: float, owner: str = "checkout"
) -> dict[str, Any]:
    """One revision of a deployment."""
    return {
        "metadata": {
            "name": name,
            "namespace": "shop",
            "creationTimestamp": stamp(ago_s),
            "annotations": {"deployment.kubernetes.io/revision": str(revision)},
            "ownerReferences": [{"kind": "Deployment", "name": owner}],
        },
        "spec": {"template": {"spec": {"containers": [{"name": "app", "image": image}]}}},
        "status": {"replicas": 3},
    }


def deployment(name: str, *, available: int = 3, app: str = "") -> dict[str, Any]:
    """A deployment of three."""
    return {
        "metadata": {
            "name": name,
            "namespace": "shop",
            "annotations": {"deployment.kubernetes.io/revision": "8"},
        },
        "spec": {"replicas": 3, "template": {"metadata": {"labels": {"app": app or name}}}},
        "status": {
            "updatedReplicas": 3,
            "availableReplicas": available,
            "conditions": [
                {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}
            ],
        },
    }


def stateful_set(name: str, *, updated: int = 1, available: int = 2) -> dict[str, Any]:
    """A stateful set of three, in the middle of its rollout."""
    return {
        "metadata": {"name": name, "namespace": "shop", "generation": 4},
        "spec": {
            "replicas": 3,
            "serviceName": name,
            "template": {"metadata": {"labels": {"app": name}}},
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
        },
        "status": {
            "replicas": 3,
            "currentReplicas": 3 - updated,
            "updatedReplicas": updated,
            "availableReplicas": available,
            "currentRevision": f"{name}-6c5f9",
            "updateRevision": f"{name}-7d8b4",
        },
    }


def daemon_set(name: str, *, updated: int = 2, available: int = 4) -> dict[str, Any]:
    """A daemon set on five nodes, in the middle of its rollout."""
    return {
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"template": {"metadata": {"labels": {"app": name}}}},
        "status": {
            "currentNumberScheduled": 5,
            "desiredNumberScheduled": 5,
            "numberMisscheduled": 0,
            "numberReady": available,
            "numberAvailable": available,
            "numberUnavailable": 5 - available,
            "updatedNumberScheduled": updated,
        },
    }


def revision(
    kind: str, owner: str, number: int, image: str, ago_s: float, suffix: str
) -> dict[str, Any]:
    """A ControllerRevision (apps/v1): `data` is the patch that would put the template back."""
    return {
        "metadata": {
            "name": f"{owner}-{suffix}",
            "namespace": "shop",
            "creationTimestamp": stamp(ago_s),
            "labels": {"controller-revision-hash": suffix},
            "ownerReferences": [
                {"apiVersion": "apps/v1", "kind": kind, "name": owner, "controller": True}
            ],
        },
        "revision": number,
        "data": {
            "spec": {
                "template": {
                    "$patch": "replace",
                    "metadata": {"labels": {"app": owner}},
                    "spec": {
                        "containers": [
                            {
                                "name": owner,
                                "image": image,
                                "env": [{"name": "PASSWORD", "value": SECRET_ENV}],
                            }
                        ]
                    },
                }
            }
        },
    }


def node(name: str, **pressures: str) -> dict[str, Any]:
    """A node; what is given is so instead of well."""
    told = {"Ready": "True", "MemoryPressure": "False", **pressures}
    return {
        "metadata": {"name": name},
        "status": {
            "conditions": [
                {
                    "type": type_,
                    "status": status,
                    "reason": f"Kubelet{type_}",
                    "message": f"kubelet reports {type_}",
                    "lastTransitionTime": stamp(300),
                }
                for type_, status in told.items()
            ]
        },
    }


@dataclass(slots=True)
class Cluster:
    """What a cluster holds, by the last word of a listing's path; and how it behaves.

    `instead` answers first, where it answers at all. `logs` are by `pod/container`.
    """

    objects: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    logs: dict[str, str] = field(default_factory=dict)
    rules: list[dict[str, Any]] = field(default_factory=lambda: list(READER))
    incomplete: bool = False
    allowed: tuple[str, ...] = ()
    page_max: int = 500
    instead: Callable[[Seen], Reply | None] = lambda _: None

    def answer(self, asked: Seen) -> Reply:
        """As an API server would."""
        other = self.instead(asked)
        if other is not None:
            return other
        parts = urlsplit(asked.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        words = parts.path.strip("/").split("/")
        if words[-1] == "selfsubjectrulesreviews":
            status: dict[str, Any] = {"resourceRules": self.rules, "nonResourceRules": []}
            return said({"status": {**status, "incomplete": self.incomplete}}, 201)
        if words[-1] == "selfsubjectaccessreviews":
            told = json.loads(asked.body)["spec"]["resourceAttributes"]
            right = f"{told['verb']} {told['resource']}/{told['subresource']}".rstrip("/")
            return said({"status": {"allowed": right in self.allowed}}, 201)
        if words[-1] == "log":
            content = self.logs.get(f"{words[-2]}/{query['container']}")
            return failure(400, "BadRequest") if content is None else Reply(body=content.encode())
        return self._page(words, query)

    def _page(self, words: list[str], query: dict[str, str]) -> Reply:
        items = self.objects.get(words[-1], [])
        if "namespaces" in words:
            where = words[words.index("namespaces") + 1]
            items = [one for one in items if one["metadata"].get("namespace") == where]
        start = int(query.get("continue", "0"))
        end = start + min(int(query.get("limit", "500")), self.page_max)
        told: dict[str, Any] = {"resourceVersion": "1"}
        if end < len(items):
            told |= {"continue": str(end), "remainingItemCount": len(items) - end}
        return said({"kind": "List", "metadata": told, "items": items[start:end]})


def said(document: object, status: int = 200) -> Reply:
    """A document."""
    kind = {"content-type": "application/json"}
    return Reply(status, json.dumps(document).encode(), kind)


def failure(status: int, reason: str, **headers: str) -> Reply:
    """A Status object, as the API says that something failed."""
    content = {"kind": "Status", "status": "Failure", "reason": reason, "code": status}
    return Reply(status, json.dumps(content).encode(), headers)


@contextmanager
def cluster(held: Cluster) -> Iterator[Stage]:
    """The server, until the context ends."""
    with stage(held.answer) as there:
        yield there


def broken_checkout() -> Cluster:
    """A checkout whose new revision runs out of memory, among others that are well."""
    return Cluster(
        objects={
            "pods": [
                pod("payment-5c7d9-aaaaa", app="payment"),
                pod("checkout-7d9f8b6c5d-x2x4z", app="checkout", ended=killed(90)),
                pod("hidden-1", namespace="other"),
            ],
            "events": [
                event("BackOff", "Back-off restarting failed container app", 80),
                event("Pulled", "Container image already present", 100, type="Normal"),
                event(
                    "ScalingReplicaSet",
                    "Scaled up replica set checkout-7d9f8b6c5d to 3",
                    240,
                    type="Normal",
                    kind="Deployment",
                    name="checkout",
                ),
            ],
            "replicasets": [
                replica_set("checkout-5b6c7d8e9f", 7, "registry/checkout:1.4.1", 90_000),
                replica_set("checkout-7d9f8b6c5d", 8, "registry/checkout:1.4.2", 250),
            ],
            "deployments": [deployment("checkout", available=2), deployment("payment")],
            "nodes": [node("node-1"), node("node-2", MemoryPressure="True")],
        },
        logs={
            "checkout-7d9f8b6c5d-x2x4z/app": "\n".join(
                (
                    f"{stamp(95)} INFO cache is warming",
                    f"{stamp(91)} ERROR cannot allocate 512 MB for the cache",
                    "no time before this one",
                )
            )
        },
    )


def broken_sets() -> Cluster:
    """A database and an agent of each node, both in the middle of a rollout that goes wrong; of
    their pods, one has no label, and one is gone by now."""
    member = pod("orders-db-0", ended=killed(70, "Error", 1))
    member["metadata"]["ownerReferences"] = [{"kind": "StatefulSet", "name": "orders-db"}]
    gone = {"kind": "Pod", "name": "orders-db-2"}
    lost = {"kind": "Pod", "name": "shipper-x7k2p"}
    return Cluster(
        objects={
            "pods": [member],
            "events": [
                event("BackOff", "Back-off restarting failed container", 60, **gone),
                event("Unhealthy", "Readiness probe failed", 55, **lost),
            ],
            "statefulsets": [
                stateful_set("calm", updated=3, available=3),
                stateful_set("orders-db"),
            ],
            "daemonsets": [daemon_set("shipper"), daemon_set("quiet", updated=5, available=5)],
            "controllerrevisions": [
                revision("StatefulSet", "orders-db", 3, "registry/db:15.3", 90_000, "6c5f9"),
                revision("StatefulSet", "orders-db", 4, "registry/db:16.0", 200, "7d8b4"),
                revision("DaemonSet", "shipper", 11, "registry/shipper:2.0", 180, "5b9dd"),
                revision("Rollout", "other", 2, "registry/other:1", 100, "aaaaa"),
                {"metadata": {"name": "odd"}, "revision": "4", "data": {"raw": [1]}},
            ],
        }
    )
