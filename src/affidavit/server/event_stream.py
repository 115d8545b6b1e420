"""A response that is a stream: it ends with its events or with its reader, and says so once."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Final

import anyio
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

EVENT_STREAM: Final = "text/event-stream"

Left = Callable[[bool], Awaitable[None]]
"""Told once, whatever happens: whether every event was sent."""


class EventStream(Response):
    """Server-Sent Events. Unlike a plain streaming response it notices at once that its reader is
    gone, also while there is nothing to send; and `left` is called even if nothing ever was."""

    media_type = EVENT_STREAM

    def __init__(self, chunks: AsyncGenerator[bytes, None], left: Left) -> None:
        super().__init__()
        self.chunks = chunks
        self.left = left
        del self.headers["content-length"]
        self.headers["x-accel-buffering"] = "no"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send everything, as it comes."""
        is_complete = False
        try:
            async with anyio.create_task_group() as tasks:

                async def watch() -> None:
                    while (await receive())["type"] != "http.disconnect":
                        pass
                    tasks.cancel_scope.cancel()

                tasks.start_soon(watch)
                is_complete = await self._send_all(send)
                tasks.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await self.left(is_complete)

    async def _send_all(self, send: Send) -> bool:
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        try:
            await send(start)
            async with aclosing(self.chunks) as chunks:
                async for chunk in chunks:
                    part = {"type": "http.response.body", "body": chunk, "more_body": True}
                    await send(part)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        except OSError:  # the reader is gone
            return False
        return True
