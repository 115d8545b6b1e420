"""Whether a request can be run at all, before anything is spent (K0; pure).

Every face has its own narrower bounds and better words for them; this is what holds for all of
them, the Python one included.
"""

from __future__ import annotations

from typing import Final

from affidavit.contract.agent import AgentRequest
from affidavit.contract.errors import InputRefused
from affidavit.contract.ids import is_run_id

QUESTION_CHARS_MAX: Final = 20_000
"""The widest face takes so much (an answer's own question); more is a report already."""

NAME_CHARS_MAX: Final = 200
"""Of a tenant, a person or a role."""


def refuse_illegal(request: AgentRequest) -> None:
    """Raise InputRefused (REQUEST_ILLEGAL) for what could not be recorded, answered or found."""
    wrong = _wrong(request)
    if wrong is not None:
        raise InputRefused(
            f"the request cannot be run: {wrong}",
            code="REQUEST_ILLEGAL",
            hint="nothing was started or spent; correct the request and ask again",
        )


def _wrong(request: AgentRequest) -> str | None:
    if not is_run_id(request.run_id):
        return "its run id has not the shape of one"
    if not request.question.strip():
        return "its question is blank"
    if len(request.question) > QUESTION_CHARS_MAX:
        return f"its question has {len(request.question)} characters"
    for what, text in (
        ("question", request.question),
        ("tenant", request.tenant),
        ("requester", request.requested_by),
        *(("role", role) for role in request.roles),
    ):
        if not text.strip() or not _is_text(text):
            return f"its {what} is no valid text"
        if what != "question" and len(text) > NAME_CHARS_MAX:
            return f"its {what} is longer than {NAME_CHARS_MAX} characters"
    return None


def _is_text(text: str) -> bool:
    """Half of a surrogate pair can be written down nowhere."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
