"""What stands around one model call, in one order (H6).

    audit    every call is in the journal before it is made, and again when it is over
    memory   what the author remembers is added; judge, repair, withdrawal and router get none
    cost     tokens and money are reserved before and settled after
    filter   whatever a user adds: sees the request that is sent and the answer that came
    model    asked once

Audit and cost are lines of one journal (`models.attempts`); memory stands where the request is
made whole (`models.desk`). This page holds what a user can add.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Protocol

from affidavit.ports.model import AUTHOR_PURPOSES, ModelAnswer, ModelRequest

Ask = Callable[[ModelRequest], Awaitable[ModelAnswer]]


class Filter(Protocol):
    """Something that a user puts around every model call, a safety filter for example."""

    async def ask(self, request: ModelRequest, proceed: Ask) -> ModelAnswer:
        """The answer, by way of `proceed`. Raises ModelFailed to refuse; then nothing is sent.

        It may look; a request or an answer that it changes is what the journal's cost is about
        all the same, because cost stands outside of it.
        """
        ...


class Memory(Protocol):
    """What an author remembers of earlier runs."""

    def recall(self, request: ModelRequest) -> ModelRequest:
        """The request with what is remembered added. Pure; never asked for anybody but authors."""
        ...


def remember(memory: Memory | None, request: ModelRequest) -> ModelRequest:
    """The request as it will be sent: the author's with its memory, everybody else's as it is."""
    if memory is None or request.purpose not in AUTHOR_PURPOSES:
        return request
    return memory.recall(request)


def through(filters: tuple[Filter, ...], innermost: Ask) -> Ask:
    """The call inside all filters, the first one outermost."""
    ask = innermost
    for item in reversed(filters):
        ask = partial(item.ask, proceed=ask)
    return ask
