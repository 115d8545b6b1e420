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

_THINGS: Final = (
    r"resources?|events?|data|logs?|log (?:lines?|entries|events?)|match(?:es)?|results?|rows?"
    r"|entries|records?|traces?|spans?|series|data ?points?|(?:recent )?changes?|alerts?|pods?|hits"
    r"|items?|lines?|output|documents?|metrics?|samples?|incidents?|deployments?"
)
_FOUND: Final = (
    r"(?: (?:were |was )?(?:found|matched|returned|available|recorded|to (?:display|show)))?"
    r"(?: (?:for|in|matching|between|within|since|with|during|on|that match)\b[^\n]{0,200})?"
)
_NOTHING: Final = re.compile(
    rf"\s*(?:(?:no|0|zero) (?:matching )?(?:{_THINGS}){_FOUND}"
    r"|\(0 rows\)|empty set(?: \([\d.]{1,10} sec\))?"
    r"|(?:could not find|nothing (?:found|matched)|did not find)(?: any)?"
    rf"(?: (?:{_THINGS}))?{_FOUND}"
    r"|(?:未找到|未发现|没有(?:找到|匹配|发现)|暂无|无匹配|无)(?:匹配)?(?:的?(?:数据|结果|日志|事件|记录|资源|告警))?"
    r"|没有(?:数据|结果|日志|事件|记录)|<empty>|\(empty\)|none|null|nil|n/a|\[\s{0,20}\]|\{\s{0,20}\})[\s.!。]*",
    re.IGNORECASE,
)
_ZERO_ROWS: Final = re.compile(r"\n\(0 rows\)\s*$|\nempty set\b[^\n]{0,40}\s*$", re.IGNORECASE)
_NO_MATCH: Final = re.compile(
    r"\s*Command `[^`\n]{0,2000}\bgrep\b[^`\n]{0,2000}` failed with return code 1\s*"
    r"(?:\n(?:Output|stdout|stderr):?\s*){0,3}",
)
_REFUSAL: Final = re.compile(
    r"\s*(?:error: ?|ERROR: *)?(?:Error from server \((?:Forbidden|Unauthorized)\)"
    r"|[^\n]{0,200}\bis forbidden:|An error occurred \((?:AccessDenied|UnauthorizedOperation)\w*\)"
    r"|permission denied\b|access (?:is )?denied\b|not authori[sz]ed\b|unauthori[sz]ed\b"
    r"|forbidden\b"
    r"|HTTP(?:/\d(?:\.\d)?)? (?:401|403)\b|(?:401|403) (?:Unauthorized|Forbidden)"
    r"|you must be logged in|authentication (?:failed|required)|invalid credentials"
    r"|没有权限|无权限|权限不足|拒绝访问|未授权)",
    re.IGNORECASE,
)
_FAILURE: Final = re.compile(
    r"\s*(?:Error from server \(\w{1,40}\)|Unable to connect to the server"
    r"|error: (?:the server|unable|unknown|You must|Metrics API|timed out)"
    r"|Command `[^`\n]{1,2000}` failed with return code \d{1,4}"
    r"|(?:bash|sh): [^\n]{1,200}: (?:command )?not found)"
)
_ERROR_LINE: Final = re.compile(r"(?:error: )?Error from server|Command `", re.IGNORECASE)

SENTENCE_CHARS_MAX: Final = 400
"""A sentence that says "nothing found" is short."""

COMMAND_CHARS_MAX: Final = 5_000
"""A command line that is repeated in its failure."""

ZERO_CHARS: Final = 200
"""`(0 rows)` stands at a text's end."""

FAILURE_LINES_MAX: Final = 12
"""A failed command's report with its usage; a longer text has content of its own."""

REFUSAL_LINES_MAX: Final = 4
"""A refusal is short; a longer text that begins so is a log or a report that mentions one."""

_FAILURE_FIELDS: Final = frozenset(
    {"code", "errortype", "errormessage", "reason", "kind", "apiversion", "details"}
)

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
    if not body.strip() or _ZERO_ROWS.search(body[-ZERO_CHARS:]):
        return True
    short = len(body) <= SENTENCE_CHARS_MAX and _NOTHING.fullmatch(body)
    return bool(short) or (len(body) <= COMMAND_CHARS_MAX and bool(_NO_MATCH.fullmatch(body)))


def failure_of(result: object, *, quotes_logs: bool) -> str | None:
    """The stable code of a result that is a failure as a whole, or None.

    `quotes_logs` says that the tool prints other programs' words, so that a line which reads like a
    refusal is what some program said, not what the tool met.
    """
    if isinstance(result, str):
        text = unframe(result).strip()
        lines = text.count("\n") + 1
        if quotes_logs and not _ERROR_LINE.match(text):
            return None
        if lines <= REFUSAL_LINES_MAX and _REFUSAL.match(text):
            return "SUPPLIED_FORBIDDEN"
        if lines <= FAILURE_LINES_MAX and _FAILURE.match(text) and not is_empty_text(text):
            return "SUPPLIED_ERROR"
        return None
    if isinstance(result, Mapping):
        return _document_failure(result)
    return None


def _document_failure(document: Mapping[str, object]) -> str | None:
    """A document that says `error` and holds nothing else, or Kubernetes' Status of a failure."""
    lower = {str(key).lower(): value for key, value in document.items()}
    message = lower.get("error") or lower.get("errors") or lower.get("errormessage")
    failed = str(lower.get("status", "")).lower() in ("error", "failure", "failed")
    content = any(value for key, value in lower.items() if key not in BOOKKEEPING | _FAILURE_FIELDS)
    if not ((failed and (message or "reason" in lower)) or ((message or failed) and not content)):
        return None
    said = " ".join(str(lower.get(key)) for key in ("error", "reason", "message", "code"))
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
