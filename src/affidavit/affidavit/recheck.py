"""Is this file what it says? Every check that anybody can repeat offline (A5, `affidavit verify`)

That a file is whole anybody can find out; that its key is one of ours, only its reader can say. So
there are two good answers: trusted, when the key is pinned or on the reader's list, and "intact,
signer unknown": then whoever rebuilt all of it, and signed it with a key of his own, cannot be told
from whoever recorded it (docs/affidavit-file.md).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Final

from affidavit.affidavit.answer_checks import (
    check_calls,
    check_counts,
    check_decision,
    check_provenance,
    check_release_digest,
    check_request,
    check_states,
)
from affidavit.affidavit.document import Document, read_opened
from affidavit.affidavit.evidence_checks import check_citations, check_statements
from affidavit.affidavit.fallback_checks import check_facts, check_words
from affidavit.affidavit.integrity import MEND, Misshapen, NotItsOwnBytes, open_file
from affidavit.affidavit.journal_checks import (
    Broken,
    check_chain,
    check_ending,
    check_lines,
    check_lives,
)
from affidavit.affidavit.seal_checks import (
    SignedBy,
    check_head,
    check_signature,
    check_signer,
    signer_of,
)
from affidavit.affidavit.trust import Trust
from affidavit.contract.errors import InputRefused


class Verdict(StrEnum):
    """What a re-check can come to."""

    INTACT_TRUSTED = "INTACT_TRUSTED"
    INTACT_SIGNER_UNKNOWN = "INTACT_SIGNER_UNKNOWN"
    ALTERED = "ALTERED"
    UNREADABLE = "UNREADABLE"

    @property
    def is_intact(self) -> bool:
        """Whether every check passed, whoever signed."""
        return self in {Verdict.INTACT_TRUSTED, Verdict.INTACT_SIGNER_UNKNOWN}


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
    """Every check in order, and the document and its signer where they could be read."""

    checks: tuple[Check, ...]
    document: Document | None = None
    hint: str = ""
    signer: SignedBy | None = None

    @property
    def verdict(self) -> Verdict:
        """INTACT only when every check passed."""
        if self.document is None and self.checks[0].name == _READABLE:
            return Verdict.UNREADABLE
        if not all(check.passed is True for check in self.checks):
            return Verdict.ALTERED
        is_known = self.signer is not None and self.signer.name is not None
        return Verdict.INTACT_TRUSTED if is_known else Verdict.INTACT_SIGNER_UNKNOWN

    @property
    def failure(self) -> Check | None:
        """The first check that failed."""
        return next((check for check in self.checks if check.passed is False), None)


_READABLE: Final = "readable"
_SHAPE: Final = "shape"
_CANONICAL: Final = "canonical bytes"

_Rule = Callable[[Document], None]

SEAL: Final[tuple[tuple[str, str, Callable[[Document, Trust], None]], ...]] = (
    ("signature", "the key in the file signed its head", check_signature),
    ("signer", "the key is the pinned one, if one is, and was not revoked", check_signer),
)
"""Checks of who closed the file; they need to know what its reader trusts."""

CHAIN: Final = ("chain", "each line of the journal follows the one before, all of one run")
"""Followed when the file was opened; here its outcome is told."""

STRUCTURE: Final[tuple[tuple[str, str, _Rule], ...]] = (
    ("head", "what was signed is this very file", check_head),
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


def recheck(content: bytes, trust: Trust) -> Recheck:
    """Every check of the file in these bytes, in order. Never raises for anything in them."""
    try:
        opened = open_file(content)
        document = read_opened(opened, content)
    except InputRefused as refused:
        asks = "the bytes are an affidavit file"
        return Recheck((Check(_READABLE, asks, False, "", refused.message),), hint=refused.hint)
    except Misshapen as misshapen:
        return Recheck((Check(_SHAPE, _PARTS, False, "", misshapen.says),), hint=MEND)
    except NotItsOwnBytes:
        return Recheck((Check(_CANONICAL, _OWN_BYTES, False, "", "these are other bytes"),))
    checks = [Check(_CANONICAL, _OWN_BYTES, True)]
    checks.extend(
        _run((name, asks, partial(_ask, rule, trust)), document) for name, asks, rule in SEAL
    )
    checks.append(_run((*CHAIN, partial(check_chain, opened)), document))
    checks.extend(_run(rule, document) for rule in STRUCTURE)
    has_form = all(check.passed for check in checks if check.name in FORM)
    for name, asks, rule in CONTENT:
        checks.append(_run((name, asks, rule), document) if has_form else Check(name, asks, None))
    return Recheck(tuple(checks), document, signer=signer_of(document, trust))


def _ask(rule: Callable[[Document, Trust], None], trust: Trust, document: Document) -> None:
    rule(document, trust)


_PARTS: Final = "the file has the parts of its version, each of its shape"
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
