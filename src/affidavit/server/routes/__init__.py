"""The routes, thin: read the request, ask the rooms below, answer. One file a subject."""

from __future__ import annotations

from typing import Any, Final

from affidavit.server.problems import MEDIA_TYPE, PROBLEM_SCHEMA

_MEANINGS: Final = {
    400: "the request cannot be read, or a header of it is of the wrong form",
    401: "no key, or one that is not valid",
    403: "the key's roles do not allow it, or another site sent it",
    404: "there is no such thing for this tenant",
    405: "the path does not take that method",
    408: "the body did not come in time",
    409: "not in the state that the run is in",
    410: "it has expired",
    413: "the body is too large",
    414: "the address is too long",
    421: "the service does not answer to that name",
    422: "the request is not valid",
    429: "too many at once; Retry-After says when",
    431: "the headers are too large",
    500: "a fault of ours",
    503: "it could not be recorded, or the service stops",
}

PROBLEMS: Final[dict[int | str, dict[str, Any]]] = {
    status: {
        "description": meaning,
        "content": {MEDIA_TYPE: {"schema": dict(PROBLEM_SCHEMA)}},
    }
    for status, meaning in _MEANINGS.items()
}
"""What any route of ours may answer instead (RFC 9457)."""
