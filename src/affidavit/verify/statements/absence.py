"""absence: within what was asked, nothing matched (G9).

Proves one thing only: this call, with its query, its service and its window, came back empty. It
never proves that there was no fault, nothing about another query, a wider window or another
service, and nothing where the call failed.
"""

from __future__ import annotations

import re
from typing import Final

from affidavit.contract.evidence import Window
from affidavit.contract.states import EvidenceStatus
from affidavit.contract.statement import AbsenceStatement
from affidavit.contract.violations import SupportCode
from affidavit.verify.statements.outcome import Outcome, Proved, Unproved
from affidavit.verify.statements.records import CallView
from affidavit.verify.statements.select import select
from affidavit.verify.statements.words import names_in, stem

_ALTERNATIVES: Final = re.compile(r"\s*\|\s*|\s+OR\s+|\s*,\s*|\s+or\s+|[\"'`“”]+")
_SIGNS: Final = re.compile(r"[\"'`“”{}()\[\]|=~:,;\\]+")


def prove_absence(statement: AbsenceStatement, call: CallView) -> Outcome:
    """Whether the call came back empty for at least what the statement says."""
    if call.call.envelope.status is not EvidenceStatus.NO_EVIDENCE:
        if statement.query and _holds(call, statement.query):
            return Unproved(SupportCode.ABSENCE_REFUTED)
        return Unproved(SupportCode.STATEMENT_UNPROVED)
    if statement.query is not None and not asked(call, statement.query):
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
    scope = call.call.envelope.scope.query
    if not wanted:
        return False
    if wanted == _plain(scope):
        return True
    return any(wanted == _plain(part) for part in _ALTERNATIVES.split(scope)) or any(
        wanted == _plain(part)
        for quoted in re.findall(r"\"([^\"]{1,400})\"|'([^']{1,400})'", scope)
        for whole in quoted if whole
        for part in (whole, *_ALTERNATIVES.split(whole))
    )  # fmt: skip


def _plain(text: str) -> str:
    return " ".join(_SIGNS.sub(" ", text).casefold().split())


def _filtered(call: CallView) -> bool:
    """Whether what was asked names more than a service: then silence is about that filter only."""
    scope = call.call.envelope.scope
    own = names_in(scope.service or "")
    return bool(frozenset(_plain(scope.query).split()) - own - {"*", "all"})


def _about(call: CallView, subject: str) -> bool:
    words = [word.casefold() for word in subject.split()]
    return all(word in call.about_names or stem(word) in call.about_stems for word in words)


def _holds(call: CallView, query: str) -> bool:
    return not isinstance(select(call, query), SupportCode)
