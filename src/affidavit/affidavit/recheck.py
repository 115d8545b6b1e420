"""Is this file what it says? Every check that anybody can repeat offline (A5, `affidavit verify`)

Version 0 is not signed. So the best answer is "intact, signer unknown": nothing in the file
contradicts anything else in it, and whoever rebuilt all of it consistently cannot be told from
whoever recorded it (docs/affidavit-file.md).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from affidavit.affidavit.answer_checks import (
    check_calls,
    check_counts,
    check_decision,
    check_digest,
    check_provenance,
    check_release_digest,
    check_request,
    check_states,
)
from affidavit.affidavit.document import Document, NotItsOwnBytes, read_document
from affidavit.affidavit.evidence_checks import check_citations, check_statements
from affidavit.affidavit.fallback_checks import check_facts, check_words
from affidavit.affidavit.journal_checks import (
    Broken,
    check_chain,
    check_ending,
    check_lines,
    check_lives,
)
from affidavit.contract.errors import InputRefused


class Verdict(StrEnum):
    """What a re-check can come to."""

    INTACT_SIGNER_UNKNOWN = "INTACT_SIGNER_UNKNOWN"
    ALTERED = "ALTERED"
    UNREADABLE = "UNREADABLE"


@dataclass(frozen=True, slots=True)
class Check:
    """One named check. `passed` is None where an earlier failure left nothing to check.

    `pointer` is a JSON pointer into the file to the first thing that does not hold, `says` why.
    """

    name: str
    asks: str
    passed: bool | None
    pointer: str = ""
    says: str = ""


@dataclass(frozen=True, slots=True)
class Recheck:
    """Every check in order, and the document where it could be read."""

    checks: tuple[Check, ...]
    document: Document | None = None
    hint: str = ""

    @property
    def verdict(self) -> Verdict:
        """INTACT only when every check passed."""
        if self.document is None and self.checks[0].name == _READABLE:
            return Verdict.UNREADABLE
        passed = all(check.passed is True for check in self.checks)
        return Verdict.INTACT_SIGNER_UNKNOWN if passed else Verdict.ALTERED

    @property
    def failure(self) -> Check | None:
        """The first check that failed."""
        return next((check for check in self.checks if check.passed is False), None)


_READABLE: Final = "readable"
_CANONICAL: Final = "canonical bytes"

_Rule = Callable[[Document], None]

STRUCTURE: Final[tuple[tuple[str, str, _Rule], ...]] = (
    ("digest", "the file's digest is that of everything else in it", check_digest),
    (
        "chain",
        "each line of the journal follows the one before, all of one run",
        lambda document: check_chain(document.release.run_id, document.journal),
    ),
    (
        "lines",
        "each line has its kind's fields and stands where it may",
        lambda document: check_lines(document.journal),
    ),
    (
        "ending",
        "exactly one decision, then the end of the run as the last line",
        lambda document: check_ending(document.journal),
    ),
    (
        "lives",
        "each call lived as a call lives, and was settled once",
        lambda document: check_lives(document.journal),
    ),
)
"""Checks of the file's form, each by itself."""

FORM: Final = frozenset({"lines", "ending", "lives"})
"""Without these the journal cannot be read, and what it says is not looked at."""

CONTENT: Final[tuple[tuple[str, str, _Rule], ...]] = (
    ("request", "the question is the one that the run began with", check_request),
    ("release", "the answer is the one that was decided on", check_release_digest),
    ("calls", "each cited call is READY with exactly this projection", check_calls),
    ("states", "states, outcome and stop reason may stand together", check_states),
    ("decision", "the decision is the one that the journal implies", check_decision),
    ("provenance", "no supplied call in an answer called recorded", check_provenance),
    ("citations", "the evidence guard lets every citation through again", check_citations),
    ("statements", "the support check proves every published sentence again", check_statements),
    ("facts", "each fact of a fallback is what its call's projection yields", check_facts),
    ("words", "limits and next steps are worded by code, without a cause", check_words),
    ("counts", "usage and coverage count what the journal holds", check_counts),
)
"""Checks of what the file says, once its journal has form."""


def recheck(content: bytes) -> Recheck:
    """Every check of the file in these bytes, in order. Never raises for anything in them."""
    try:
        document = read_document(content)
    except InputRefused as refused:
        asks = "the bytes are an affidavit file"
        return Recheck((Check(_READABLE, asks, False, "", refused.message),), hint=refused.hint)
    except NotItsOwnBytes:
        return Recheck((Check(_CANONICAL, _OWN_BYTES, False, "", "these are other bytes"),))
    checks = [Check(_CANONICAL, _OWN_BYTES, True)]
    checks.extend(_run(rule, document) for rule in STRUCTURE)
    has_form = all(check.passed for check in checks if check.name in FORM)
    for name, asks, rule in CONTENT:
        checks.append(_run((name, asks, rule), document) if has_form else Check(name, asks, None))
    return Recheck(tuple(checks), document)


_OWN_BYTES: Final = "the file equals its own canonical bytes"


def _run(named: tuple[str, str, _Rule], document: Document) -> Check:
    name, asks, rule = named
    try:
        rule(document)
    except Broken as broken:
        return Check(name, asks, False, broken.pointer, broken.says)
    except Exception as error:  # noqa: BLE001 - what cannot be checked has not passed
        return Check(name, asks, False, "", f"it cannot be checked ({type(error).__name__})")
    return Check(name, asks, True)
