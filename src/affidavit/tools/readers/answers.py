"""Did the call find something, find nothing, or fail? Three results, never two (T4).

Empty is recognised by closed forms only: an empty text, an empty list, a document whose only
collection is empty, the "nothing found" sentences that tools print. A refusal of access is a
failure, whatever the caller called it: what one may not see is not absent (R4).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from affidavit.tools.readers.bounds import DEPTH_MAX

_NOTHING: Final = re.compile(
    r"\s*(?:no (?:resources?|events?|data|logs?|log lines?|match(?:es|ing [\w ]{1,40})?|results?"
    r"|rows?|entries|records?|traces?|spans?|series|data ?points?|changes?|alerts?|pods?|hits|items?"
    r"|such [\w ]{1,40}|output)\b[^\n]{0,200}"
    r"|(?:0|zero) (?:rows?|results?|matches|hits|records?|entries|items|lines?|log lines?)"
    r"(?: (?:returned|found|matched|in set)[^\n]{0,100})?"
    r"|\(0 rows\)|empty set(?: \([\d.]+ sec\))?|(?:could not find|nothing (?:found|matched))\b[^\n]{0,200}"
    r"|<empty>|\(empty\)|none|null|nil|n/a|\[\s*\]|\{\s*\})[\s.]*",
    re.IGNORECASE,
)
_ZERO_ROWS: Final = re.compile(r"\n\(0 rows\)\s*$|\nempty set\b[^\n]{0,40}\s*$", re.IGNORECASE)
_NO_MATCH: Final = re.compile(
    r"\s*Command `[^`\n]{0,2000}\bgrep\b[^`\n]{0,2000}` failed with return code 1\s*"
    r"(?:\n(?:Output|stdout|stderr):?\s*){0,3}",
)
_REFUSAL: Final = re.compile(
    r"\s*(?:error: )?(?:Error from server \((?:Forbidden|Unauthorized)\)|[^\n]{0,200}\bis forbidden:"
    r"|(?:An error occurred \((?:AccessDenied|UnauthorizedOperation|AccessDeniedException)\w*\))"
    r"|(?:ERROR: +)?permission denied\b|access (?:is )?denied\b|not authori[sz]ed\b"
    r"|unauthori[sz]ed\b|forbidden\b|HTTP(?:/\d(?:\.\d)?)? (?:401|403)\b|(?:401|403) (?:Unauthorized|Forbidden)"
    r"|you must be logged in|authentication (?:failed|required)|invalid credentials)",
    re.IGNORECASE,
)
_FAILURE: Final = re.compile(
    r"\s*(?:Error from server \(\w+\)|error: (?:the server|unable|unknown|You must|Metrics API)"
    r"|Unable to connect to the server|Command `[^`\n]{1,2000}` failed with return code \d+"
    r"|(?:bash|sh): [^\n]{1,200}: (?:command )?not found|Traceback \(most recent call last\))"
)

REFUSAL_LINES_MAX: Final = 4
"""A refusal is short; a longer text that begins so is a log or a report that mentions one."""

BOOKKEEPING: Final = frozenset(
    "took took_ms tookms timed_out timedout status success ok error errors err warnings infos "
    "next nexttoken next_token nextpagetoken cursor total totalcount total_count count size limit "
    "page truncated resulttype result_type available query label message messages metadata "
    "responsemetadata requestid request_id isfinal statistics stats namespace service window "
    "from to start end start_time end_time _shards max_score relation index "
    "db_instance_identifier cluster".split()
)
"""Fields that say how a query went or repeat what was asked, and are no finding themselves."""


def unframe(text: str) -> str:
    """A text without the `stdout:` … `stderr:` frame that some runners put around it."""
    body = text.strip()
    if not body.startswith("stdout:"):
        return text
    return body.removeprefix("stdout:").removesuffix("stderr:").strip("\n")


def is_empty(result: object) -> bool:
    """Whether a result is a recognised empty answer."""
    if result is None:
        return True
    if isinstance(result, str):
        return is_empty_text(result)
    if isinstance(result, Mapping):
        return _is_empty_document(result)
    return isinstance(result, Sequence) and not result


def is_empty_text(text: str) -> bool:
    """Whether a text is empty or says that nothing was found, and nothing else."""
    body = unframe(text)
    return (
        not body.strip()
        or bool(_NOTHING.fullmatch(body[:1_000]))
        and len(body) <= 1_000
        or bool(_ZERO_ROWS.search(body[-200:]))
        or bool(_NO_MATCH.fullmatch(body[:5_000]))
        and len(body) <= 5_000
    )


def failure_of(result: object, *, quotes_logs: bool) -> str | None:
    """The stable code of a result that is a failure as a whole, or None.

    `quotes_logs` says that the tool prints other programs' words, so that a line which reads like a
    refusal is what some program said, not what the tool met.
    """
    if isinstance(result, str):
        text = unframe(result).strip()
        if quotes_logs and not re.match(
            r"(?:error: )?Error from server|Command `", text, re.IGNORECASE
        ):
            return None
        if text.count("\n") < REFUSAL_LINES_MAX and _REFUSAL.match(text):
            return "SUPPLIED_FORBIDDEN"
        if (
            text.count("\n") < REFUSAL_LINES_MAX * 4
            and _FAILURE.match(text)
            and not is_empty_text(text)
        ):
            return "SUPPLIED_ERROR"
        return None
    if isinstance(result, Mapping):
        return _document_failure(result)
    return None


def _document_failure(document: Mapping[str, object]) -> str | None:
    """A document that says `error` and holds nothing else, or Kubernetes' Status of a failure."""
    lower = {str(key).lower(): value for key, value in document.items()}
    message = lower.get("error") or lower.get("errors") or lower.get("errormessage")
    status = str(lower.get("status", "")).lower()
    failed = status in ("error", "failure") and (message or "reason" in lower)
    bare = message and not any(
        value
        for key, value in lower.items()
        if key not in BOOKKEEPING | {"code", "errortype", "errormessage"}
    )
    if not (failed or bare):
        return None
    said = f"{message or ''} {lower.get('reason', '')} {lower.get('message', '')} {lower.get('code', '')}"
    refused = re.search(r"forbidden|denied|unauthori[sz]ed|\b40[13]\b", said, re.IGNORECASE)
    return "SUPPLIED_FORBIDDEN" if refused else "SUPPLIED_ERROR"


def _is_empty_document(document: Mapping[str, object], depth: int = DEPTH_MAX) -> bool:
    """Whether every collection of a document is empty and the rest is bookkeeping."""
    if not document or not depth:
        return not document
    found_collection = False
    for key, value in document.items():
        if isinstance(value, Mapping):
            if _is_empty_document(value, depth - 1):
                found_collection = True
            elif str(key).lower() not in BOOKKEEPING:
                return False
        elif isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
            if value:
                return False
            found_collection = True
        elif value not in (None, "") and str(key).lower() not in BOOKKEEPING:
            return False
    return found_collection
