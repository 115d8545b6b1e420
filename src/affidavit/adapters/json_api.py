"""Asks an HTTP API for JSON documents, within bounds: what the readers of logs and spans share."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from anyio import to_thread

from affidavit.adapters.outgoing_http import HttpCall, OutgoingHttp, expect_ok
from affidavit.contract.errors import ToolFailed

ANSWER_BYTES_MAX: Final = 16 * 1024 * 1024
"""Five thousand log lines of two kilobytes, with all that is said about them."""

ODD_SHAPES: Final = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)
"""What reading a document of another shape than promised can raise."""

Query: TypeAlias = tuple[tuple[str, str], ...]
Document: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class JsonApi:
    """One server. `what` names it in messages."""

    what: str
    url: str
    http: OutgoingHttp
    timeout_s: float
    headers: Mapping[str, str] = field(default_factory=dict)

    async def get(self, path: str, query: Query = (), until_s: float | None = None) -> Document:
        """The object at that path. Raises ToolFailed."""
        return await self._send(path, query, None, until_s)

    async def post(self, path: str, content: object, until_s: float | None = None) -> Document:
        """The answer to a question that is too long for a URL. Raises ToolFailed."""
        return await self._send(path, (), json.dumps(content).encode(), until_s)

    async def _send(
        self, path: str, query: Query, body: bytes | None, until_s: float | None
    ) -> Document:
        left_s = self.timeout_s if until_s is None else until_s - time.monotonic()
        if left_s <= 0:
            raise ToolFailed(f"{self.what}: no time is left", code="TIMEOUT")
        kind = {} if body is None else {"content-type": "application/json"}
        call = HttpCall(
            what=self.what,
            url=f"{self.url.rstrip('/')}/{path}",
            method="GET" if body is None else "POST",
            query=query,
            headers={**self.headers, "accept": "application/json", **kind},
            body=body,
            timeout_s=min(self.timeout_s, left_s),
            bytes_max=ANSWER_BYTES_MAX,
        )
        answer = expect_ok(await self.http.send(call), call)
        try:
            found = await to_thread.run_sync(json.loads, answer.body)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise self.no("no JSON object")
        return found

    def no(self, what: str) -> ToolFailed:
        """The failure of an answer that is not what its API promises."""
        return ToolFailed(f"{self.what} answered {what}", code="SOURCE_FAILED")
