"""The few requests that are made to a Kubernetes API server: a closed list of paths, page by page.

Nothing here can name another path, so that no Secret is ever asked for. A listing is asked in pages
(`limit`, `continue`); one whose token has expired (410) begins anew once; a server that asks us to
wait (429) is waited for once, if it asks for little; a page that is too large is asked for smaller.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, Generic, TypeAlias, TypeVar

import anyio
from anyio import to_thread

from affidavit.adapters.kubernetes_access import Access
from affidavit.adapters.outgoing_http import HttpAnswer, HttpCall, OutgoingHttp, expect_ok
from affidavit.contract.errors import ToolFailed

PAGE_ITEMS: Final = 250
"""Pods of one page: some two megabytes with all that a pod says of itself."""

PAGE_ITEMS_MIN: Final = 10
"""A page of fewer that is still too large holds objects that nobody reads."""

ITEMS_MAX: Final = 2000
"""Of one listing; a namespace with more pods is not read whole while something burns."""

PAGE_BYTES_MAX: Final = 8 * 1024 * 1024

WAIT_MAX_S: Final = 2.0
"""A server that wants a longer pause is left alone."""

LOG_LINES: Final = 200
LOG_BYTES_MAX: Final = 128 * 1024
"""The last words of a container; what killed it stands at the end."""

NAME: Final = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")
"""A name of an object (RFC 1123); whatever is none becomes no part of a path."""

Item: TypeAlias = Mapping[str, Any]

T = TypeVar("T")


class Resource(Enum):
    """What is listed, each by its path."""

    PODS = "api/v1/namespaces/{namespace}/pods"
    EVENTS = "api/v1/namespaces/{namespace}/events"
    DEPLOYMENTS = "apis/apps/v1/namespaces/{namespace}/deployments"
    REPLICASETS = "apis/apps/v1/namespaces/{namespace}/replicasets"
    STATEFULSETS = "apis/apps/v1/namespaces/{namespace}/statefulsets"
    DAEMONSETS = "apis/apps/v1/namespaces/{namespace}/daemonsets"
    CONTROLLERREVISIONS = "apis/apps/v1/namespaces/{namespace}/controllerrevisions"
    NODES = "api/v1/nodes"

    @property
    def word(self) -> str:
        """As people call it."""
        return self.name.lower()


class Review(Enum):
    """The two questions about our own rights; they are posted, and nothing is made by them."""

    RULES = "selfsubjectrulesreviews"
    ACCESS = "selfsubjectaccessreviews"

    @property
    def kind(self) -> str:
        """As the API calls it."""
        return "SelfSubjectRulesReview" if self is Review.RULES else "SelfSubjectAccessReview"


@dataclass(slots=True)
class Listed(Generic[T]):
    """What was read of the objects, how many there were, and what was not read, worded."""

    items: list[T] = field(default_factory=list)
    count: int = 0
    left_out: list[str] = field(default_factory=list)


class KubernetesApi:
    """One API server."""

    def __init__(self, what: str, access: Access, http: OutgoingHttp, timeout_s: float) -> None:
        self._what = what
        self._access = access
        self._http = http
        self._timeout_s = timeout_s

    async def listed(
        self, resource: Resource, namespace: str, until_s: float, read: Callable[[Item], T | None]
    ) -> Listed[T]:
        """Every object of a namespace, within the bounds, page by page as `read` makes it; whole
        documents are never held together. Raises ToolFailed."""
        listed: Listed[T] = Listed()
        where = where_of(resource, namespace)
        path = resource.value.format(namespace=_checked(namespace) if namespace else "")
        size, token, is_anew = PAGE_ITEMS, "", False
        while True:
            query = [("limit", str(size)), *([("continue", token)] if token else [])]
            try:
                page = await self._document(path, tuple(query), until_s)
            except ToolFailed as failed:
                if failed.code == "RESULT_TOO_LARGE" and size > PAGE_ITEMS_MIN:
                    size = max(PAGE_ITEMS_MIN, size // 4)
                elif failed.code == "HTTP_410" and token and not is_anew:
                    listed.items.clear()
                    listed.count, token, is_anew = 0, "", True
                elif listed.count:
                    listed.left_out.append(
                        f"{where} beyond the first {listed.count} ({failed.code})"
                    )
                    return listed
                else:
                    raise
                continue
            items, told = page.get("items"), page.get("metadata")
            if not isinstance(items, list) or not isinstance(told, dict):
                raise self._no(f"no list of {resource.word}")
            made = (read(item) for item in items if isinstance(item, dict))
            listed.items += [one for one in made if one is not None]
            listed.count += len(items)
            token = str(told.get("continue") or "")
            if not token:
                return listed
            if listed.count >= ITEMS_MAX:
                more = told.get("remainingItemCount")
                rest = f" ({more} more)" if isinstance(more, int) else ""
                listed.left_out.append(f"{where} beyond the first {listed.count}{rest}")
                return listed

    async def previous_log(self, namespace: str, pod: str, container: str, until_s: float) -> str:
        """The last lines of the container before the one that runs. Raises ToolFailed."""
        path = f"api/v1/namespaces/{_checked(namespace)}/pods/{_checked(pod)}/log"
        query = (
            ("container", _checked(container)),
            ("previous", "true"),
            ("timestamps", "true"),
            ("tailLines", str(LOG_LINES)),
            ("limitBytes", str(LOG_BYTES_MAX)),
        )
        answer = await self._get(path, query, until_s)
        return answer.body.decode("utf-8", "replace")

    async def review(self, review: Review, spec: Mapping[str, object], until_s: float) -> Item:
        """The status of a question about our own rights. Raises ToolFailed."""
        group = "authorization.k8s.io/v1"
        content = {"apiVersion": group, "kind": review.kind, "spec": spec}
        call = self._call(f"apis/{group}/{review.value}", (), until_s)
        post = HttpCall(
            what=call.what,
            url=call.url,
            method="POST",
            headers={**call.headers, "content-type": "application/json"},
            body=json.dumps(content).encode(),
            timeout_s=call.timeout_s,
            bytes_max=call.bytes_max,
            tls=call.tls,
        )
        answer = expect_ok(await self._http.send(post), post)
        status = (await self._read(answer)).get("status")
        if not isinstance(status, dict):
            raise self._no("no review of our rights")
        return status

    async def _document(
        self, path: str, query: tuple[tuple[str, str], ...], until_s: float
    ) -> Item:
        return await self._read(await self._get(path, query, until_s))

    async def _get(
        self, path: str, query: tuple[tuple[str, str], ...], until_s: float
    ) -> HttpAnswer:
        call = self._call(path, query, until_s)
        answer = await self._http.send(call)
        wait_s = _pause(answer)
        if wait_s is not None and time.monotonic() + wait_s < until_s:
            await anyio.sleep(wait_s)
            call = self._call(path, query, until_s)
            answer = await self._http.send(call)
        return expect_ok(answer, call)

    def _call(self, path: str, query: tuple[tuple[str, str], ...], until_s: float) -> HttpCall:
        left_s = until_s - time.monotonic()
        if left_s <= 0:
            raise ToolFailed(f"{self._what}: no time is left", code="TIMEOUT")
        return HttpCall(
            what=self._what,
            url=f"{self._access.url}/{path}",
            query=query,
            headers={**self._access.headers, "accept": "application/json"},
            timeout_s=min(self._timeout_s, left_s),
            bytes_max=PAGE_BYTES_MAX,
            tls=self._access.tls,
        )

    async def _read(self, answer: HttpAnswer) -> Item:
        try:
            found = await to_thread.run_sync(json.loads, answer.body)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise self._no("no JSON object")
        return found

    def _no(self, what: str) -> ToolFailed:
        return ToolFailed(f"{self._what} answered {what}", code="SOURCE_FAILED")


def where_of(resource: Resource, namespace: str) -> str:
    """A listing, as it is named in what is said to be left out."""
    return f"{resource.word} of {namespace}" if namespace else resource.word


def _checked(name: str) -> str:
    if not NAME.fullmatch(name) or ".." in name:
        raise ToolFailed("no name of a Kubernetes object", code="BAD_REQUEST")
    return name


def _pause(answer: HttpAnswer) -> float | None:
    """How long a server that has too much to do asks us to wait, where that is short."""
    if answer.status != 429:
        return None
    asked = answer.headers.get("retry-after", "1")
    return float(asked) if asked.isdigit() and float(asked) <= WAIT_MAX_S else None
