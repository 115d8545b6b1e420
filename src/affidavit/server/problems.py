"""Every error as one problem document (RFC 9457), with a stable code and how to mend it.

    {"type": "about:blank", "title", "status", "detail", "instance", "code", "hint"}

No text of an exception that is not ours goes out (N2): what broke inside is a code and a request
id, and the rest is for the log.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from affidavit.contract.errors import AffidavitError, InputRefused, RecordFailed
from affidavit.server.logbook import LOGGER, place_of
from affidavit.server.permits import methods_of

MEDIA_TYPE: Final = "application/problem+json"

WHERE_CHARS_MAX: Final = 200
"""Of a name that a client made up and an error repeats."""

_STATUS_OF: Final[Mapping[str, int]] = MappingProxyType(
    {
        "KEYS_UNREADABLE": 503,
        "KEYS_MISSING": 503,
        "RUN_UNKNOWN": 404,
        "SOURCE_UNKNOWN": 404,
        "RUN_EXPIRED": 410,
        "DRAFT_NOT_THERE": 404,
        "DRAFT_EXPIRED": 410,
        "ATTACHED_FULL": 409,
        "RETRACTION_UNREADABLE": 409,
        "RUN_UNDECIDED": 409,
        "RUN_ENDED": 409,
        "RUN_EXISTS": 409,
        "INBOX_FULL": 429,
        "IDEMPOTENCY_KEY_REUSED": 422,
        "APPROVAL_UNKNOWN": 404,
        "APPROVAL_DECIDED": 409,
        "APPROVAL_MISMATCH": 409,
        "APPROVAL_EXPIRED": 409,
        "OUTCOME_KNOWN": 409,
        "APPROVER_IS_REQUESTER": 403,
        "APPROVER_IS_AGENT": 403,
        "SIGNATURE_REFUSED": 403,
    }
)
"""Codes of the rooms below that have a status of their own; a refusal without a row is a 422."""


class Problem(AffidavitError):
    """A request that is not answered, and why. `headers` go out with it."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        hint: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message, code=code, hint=hint)
        self.status = status
        self.headers = dict(headers or {})


def problem_response(problem: Problem, path: str) -> Response:
    """The problem as it goes out."""
    document = {
        "type": "about:blank",
        "title": HTTPStatus(problem.status).phrase,
        "status": problem.status,
        "detail": problem.message,
        "instance": path,
        "code": problem.code,
        "hint": problem.hint,
    }
    return Response(
        json.dumps(document),
        status_code=problem.status,
        media_type=MEDIA_TYPE,
        headers={"cache-control": "no-store", **problem.headers},
    )


def problem_of(error: AffidavitError) -> Problem:
    """What went wrong below, as a client is told."""
    match error:
        case Problem():
            return error
        case InputRefused():
            status = _STATUS_OF.get(error.code, 422)
            headers = {"retry-after": "5"} if status == HTTPStatus.TOO_MANY_REQUESTS else {}
            return Problem(status, error.code, error.message, hint=error.hint, headers=headers)
        case RecordFailed():
            return Problem(
                503,
                "RUN_PERSISTENCE_FAILED",
                "nothing was decided, because it could not be recorded",
                hint="try again; the log says what the store said",
                headers={"retry-after": "5"},
            )
        case _:
            return fault_of_ours()


def fault_of_ours() -> Problem:
    """What a client is told of a fault that is neither theirs nor the store's."""
    return Problem(
        500, "INTERNAL_FAILURE", "a fault of ours", hint="the log has it under x-request-id"
    )


def not_found() -> Problem:
    """What another tenant's run looks like, and one that never was: the same."""
    return Problem(404, "NOT_FOUND", "there is no such thing", hint="see /openapi.json")


_HTTP_CODES: Final[Mapping[int, tuple[str, str]]] = MappingProxyType(
    {
        404: ("NOT_FOUND", "there is no such thing"),
        405: ("METHOD_NOT_ALLOWED", "this path does not take that method"),
        400: ("BODY_UNREADABLE", "the body is no JSON"),
        413: ("BODY_TOO_LARGE", "the body is too large"),
    }
)


def _of_http(error: HTTPException, path: str) -> Problem:
    code, message = _HTTP_CODES.get(error.status_code, ("REQUEST_REFUSED", "not possible so"))
    hint = "see /openapi.json"
    allow = {"allow": ", ".join(methods_of(path))} if error.status_code == 405 else {}
    headers = {**(error.headers or {}), **allow}
    return Problem(error.status_code, code, message, hint=hint, headers=headers)


def _of_validation(error: RequestValidationError) -> Problem:
    """The first thing that is wrong, by its place; never the value that was sent."""
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])[:WHERE_CHARS_MAX]
    said = str(first["msg"])[:WHERE_CHARS_MAX]
    if first["type"] == "json_invalid":
        return Problem(422, "BODY_UNREADABLE", "the body is no JSON", hint="see /openapi.json")
    if first["loc"][0] == "header":  # before what it is about: the request itself is malformed
        return Problem(400, "HEADER_INVALID", f"{where}: {said}", hint="see /openapi.json")
    return Problem(422, "REQUEST_INVALID", f"{where}: {said}", hint="see /openapi.json")


def answer_problems(app: FastAPI) -> None:
    """From now on whatever goes wrong in the application is a problem document."""

    def path(request: Request) -> str:
        return request.url.path

    async def ours(request: Request, error: Any) -> Response:
        problem = problem_of(error)
        if problem.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            told = {"request_id": request.state.request_id, "code": problem.code}
            LOGGER.error("%s at %s", type(error).__name__, place_of(error), extra=told)
        return problem_response(problem, path(request))

    async def http(request: Request, error: Any) -> Response:
        return problem_response(_of_http(error, path(request)), path(request))

    async def invalid(request: Request, error: Any) -> Response:
        return problem_response(_of_validation(error), path(request))

    app.add_exception_handler(AffidavitError, ours)
    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(RequestValidationError, invalid)


PROBLEM_SCHEMA: Final = MappingProxyType(
    {
        "type": "object",
        "required": ["type", "title", "status", "detail", "instance", "code", "hint"],
        "properties": {
            "type": {"type": "string"},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "detail": {"type": "string"},
            "instance": {"type": "string"},
            "code": {"type": "string"},
            "hint": {"type": "string"},
        },
    }
)
"""The document's JSON Schema, for /openapi.json."""
