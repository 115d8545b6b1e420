"""What frameworks put around a result: MCP content blocks, JSON-RPC, HolmesGPT, command results.

The wrapper's own word about failure counts; what is inside is read as if it stood alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from affidavit.tools.readers.answers import BOOKKEEPING
from affidavit.tools.readers.fields import is_list, is_records

LAYERS_MAX: Final = 4
"""MCP around a command's result around its text is three."""

_CODES: Final = ("exit_code", "exitCode", "returncode", "return_code", "rc", "status_code")
_INNER: Final = ("output", "result", "data", "content", "text", "response", "body")
_MATCHER: Final = re.compile(r"\b(?:grep|egrep|rg|jq -e|pgrep|findstr)\b")


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """What was inside, and the code of a failure that the wrapper told, if any."""

    content: object
    failure: str | None = None


def unwrap(result: object, command: str = "") -> Unwrapped:
    """One layer off, or the same content where there is no wrapper that is known."""
    if is_records(result) and all(set(part) >= {"type", "text"} for part in result):
        return Unwrapped(_joined(result))
    if not isinstance(result, Mapping):
        return Unwrapped(result)
    blocks = result.get("content")
    if is_records(blocks) and all("type" in part for part in blocks):
        failed = result.get("isError") is True
        inner = result.get("structuredContent") or _joined(blocks)
        return Unwrapped(inner, "SUPPLIED_ERROR" if failed else None)
    if "schema_version" in result and "params" in result and "status" in result:
        failed = result.get("status") == "error"
        return Unwrapped(result.get("data"), "SUPPLIED_ERROR" if failed else None)
    if "stdout" in result and isinstance(result.get("stdout"), str):
        return _command(result, command)
    return Unwrapped(_only_content(result))


def _joined(blocks: object) -> str:
    texts = (part.get("text") for part in blocks) if is_records(blocks) else ()
    return "\n".join(text for text in texts if isinstance(text, str))


def _command(result: Mapping[str, object], command: str) -> Unwrapped:
    """A command's output; an exit code without any output is a failure or a declared no-match."""
    stdout, stderr = str(result.get("stdout") or ""), str(result.get("stderr") or "")
    code = next((result[key] for key in _CODES if isinstance(result.get(key), int)), 0)
    command = str(result.get("command") or command)
    if stdout.strip():
        return Unwrapped(f"{stdout}\n{stderr}" if stderr.strip() else stdout)
    if code == 1 and not stderr.strip() and _MATCHER.search(command):
        return Unwrapped("")
    if code != 0:
        return Unwrapped(stderr or f"exit code {code}", "SUPPLIED_ERROR")
    return Unwrapped(stderr)


def _only_content(result: Mapping[str, object]) -> object:
    """The one field that holds the content, where all else is bookkeeping."""
    inner = [key for key in _INNER if isinstance(result.get(key), (str, Mapping, list, tuple))]
    rest = {str(key).lower() for key in result} - BOOKKEEPING - set(inner)
    if len(inner) != 1 or rest - {"jsonrpc", "id", "schema_version", "command", "cmd"}:
        return result
    content = result[inner[0]]
    keeps_shape = isinstance(content, Mapping) or (is_list(content) and inner[0] == "result")
    return content if isinstance(content, str) or (keeps_shape and "jsonrpc" in result) else result
