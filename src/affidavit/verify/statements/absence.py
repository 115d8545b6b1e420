"""absence: within what was asked, nothing matched (G9).

Proves one thing only: this call, with its query, its service and its window, came back empty. It
never proves that there was no fault, nothing about another query, a wider window or another
service, and nothing where the call failed.
"""

from __future__ import annotations

import re
from typing import Final

from affidavit.contract.evidence import Window
from affidavit.contract.statement import AbsenceStatement
from affidavit.contract.states import EvidenceStatus
from affidavit.contract.violations import SupportCode
from affidavit.verify.statements.outcome import Outcome, Proved, Unproved
from affidavit.verify.statements.records import CallView
from affidavit.verify.statements.select import select
from affidavit.verify.statements.words import stem, stems_of

_QUOTED: Final = re.compile(r"\"([^\"]{1,400})\"|'([^']{1,400})'")
SPLIT: Final = re.compile(r"\s*\|\s*|\s+OR\s+|\s*,\s*")
_SEARCHES: Final = frozenset(
    "query q search filter pattern grep text keyword keywords match phrase contains selector "
    "labelselector label_selector field_selector fieldselector labels level severity reason".split()
)
"""Arguments that say what was searched for, and not where or when."""
_FREE_QUERY: Final = frozenset({"*", "", ".*", "all", "level:*"})
_SIGNS: Final = re.compile(r"[\"'`“”{}()\[\]|=~:,;\\]+")


def prove_absence(statement: AbsenceStatement, call: CallView) -> Outcome:
    """Whether the call came back empty for at least what the statement says."""
    if call.call.envelope.status is not EvidenceStatus.NO_EVIDENCE:
        if statement.query and _holds(call, statement.query):
            return Unproved(SupportCode.ABSENCE_REFUTED)
        return Unproved(SupportCode.STATEMENT_UNPROVED)
    listed = statement.query is not None and _is_listed(call, statement.query)
    if statement.query is not None and not listed and not asked(call, statement.query):
        return Unproved(SupportCode.ABSENCE_TOO_WIDE)
    if statement.query is None and _filtered(call):
        return Unproved(SupportCode.ABSENCE_TOO_WIDE)
    if statement.subject and not _about(call, statement.subject):
        return Unproved(SupportCode.SUBJECT_REFUTED)
    scope = call.call.envelope.scope.window
    if statement.window is not None and not covers(scope, statement.window):
        return Unproved(SupportCode.WINDOW_REFUTED)
    return Proved(((call.id, ()),))


def covers(scope: Window | None, window: Window) -> bool:
    """Whether a call that looked over `scope` looked over all of `window`."""
    return scope is not None and scope.holds(window)


def asked(call: CallView, query: str) -> bool:
    """Whether the call asked for this: the whole query, or one of its alternatives."""
    wanted = _plain(query)
    if not wanted:
        return False
    searches = [value for name, value in call.arguments if _is_search(name)]
    whole = {_plain(value) for value in searches or [value for _, value in call.arguments]}
    parts = {_plain(part) for phrase in phrases(call) for part in (phrase, *SPLIT.split(phrase))}
    return wanted in whole | parts


def _is_listed(call: CallView, query: str) -> bool:
    """Whether the query only says what the tool lists, and of what; nothing else was searched."""
    if _filtered(call):
        return False
    words = query.split()
    listed = {word for word in words if stems_of(word) and stems_of(word) <= call.source_stems}
    rest = (word.casefold() for word in words if word not in listed)
    return bool(listed) and all(word in call.about_names for word in rest)


def _is_search(name: str) -> bool:
    return name.casefold().rsplit(".", 1)[-1] in _SEARCHES


def _plain(text: str) -> str:
    return " ".join(_SIGNS.sub(" ", text).casefold().split())


def _filtered(call: CallView) -> bool:
    """Whether something was searched for: then silence is about that only."""
    return bool(phrases(call))


def phrases(call: CallView) -> tuple[str, ...]:
    """What was searched for: the quoted phrases of a search, else its words, else its pairs."""
    found: list[str] = []
    for name, value in call.arguments:
        last = name.casefold().rsplit(".", 1)[-1]
        if last in {"sql", "statement"}:
            found.extend(one or other for one, other in _QUOTED.findall(value))
        if last not in _SEARCHES or value.strip().casefold() in _FREE_QUERY:
            continue
        quoted = [
            one or other for one, other in _QUOTED.findall(value)
            if not _is_label(value, one or other)
        ]  # fmt: skip
        if quoted:
            found.extend(quoted)
        elif "{" not in value:
            found.extend(_pairs(value))
    return tuple(found)


def _is_label(query: str, phrase: str) -> bool:
    """Whether a quoted text is a label's value (`{app="x"}`), which says where and not what."""
    return re.search(r"[\w.]\s*(?:=|!=|=~|!~)\s*[\"']" + re.escape(phrase), query) is not None


def _pairs(query: str) -> tuple[str, ...]:
    """The values of `field:value` and `field=value`, which all have to hold; else the whole text."""
    parts = [part for part in re.split(r"\s+AND\s+|,|\s+and\s+", query) if part.strip()]
    values = [re.split(r"[:=]+", part, maxsplit=1)[-1].strip() for part in parts]
    return tuple(value for value in values if value not in _FREE_QUERY)


def _about(call: CallView, subject: str) -> bool:
    words = [word.casefold() for word in subject.split()]
    return all(word in call.about_names or stem(word) in call.about_stems for word in words)


def _holds(call: CallView, query: str) -> bool:
    return not isinstance(select(call, query), SupportCode)
