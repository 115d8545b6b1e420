"""Identities: their shape, and nothing else.

Both halves of a call's key, `run_id` and `tool_call_id`, are made by the framework and never by a
model or a client (C1). An id is ASCII by construction: a look-alike character makes it malformed,
not similar (G7).
"""

from __future__ import annotations

import re
from typing import Final, NewType

RunId = NewType("RunId", str)
ToolCallId = NewType("ToolCallId", str)
TenantId = NewType("TenantId", str)
AnalysisId = NewType("AnalysisId", str)

LOCAL_TENANT: Final = TenantId("local")
"""The tenant of a command line without a service."""

RUN_ID: Final = re.compile(r"run_[0-9a-z]{16,32}", re.ASCII)
TOOL_CALL_ID: Final = re.compile(r"[0-9A-Za-z][0-9A-Za-z_.:-]{0,63}", re.ASCII)
"""Ours are `call_0001`, `call_0002`, … in the order of the run; a supplied call keeps its name."""


def call_id(number: int) -> ToolCallId:
    """The id of the run's n-th call, counted from 1."""
    return ToolCallId(f"call_{number:04d}")


def is_run_id(text: str) -> bool:
    """Whether the text has the shape of a run id."""
    return RUN_ID.fullmatch(text) is not None


def is_call_id(text: str) -> bool:
    """Whether the text has the shape of a tool call id."""
    return TOOL_CALL_ID.fullmatch(text) is not None
