"""Long computations beside the event loop, so that whoever else is served does not wait for them.

What reads an answer of megabytes, or holds its words against its facts, computes for seconds and
waits for nothing. In the loop's own thread it would stop every stream, every lease and every other
tenant for as long.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, TypeVarTuple, Unpack

from anyio import to_thread

T = TypeVar("T")
Given = TypeVarTuple("Given")


async def compute_beside(work: Callable[[Unpack[Given]], T], *given: *Given) -> T:
    """What `work` returns. It has to be pure: where the caller is stopped meanwhile, it is left to
    itself and what it comes to is dropped (K5)."""
    return await to_thread.run_sync(work, *given, abandon_on_cancel=True)
