"""Who can believe the page, and why: the gates, the checks, and the file itself (A2, A4, A5).

The page proves nothing: anybody can write one. The file that it was made of is in it, byte for
byte, and that is what `affidavit verify` checks.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from typing import Final

from affidavit.affidavit.document import Document, digest_of
from affidavit.affidavit.markup import Markup, data, inline, tag
from affidavit.affidavit.page_facts import Exhibits
from affidavit.affidavit.recheck import Check, Recheck
from affidavit.affidavit.timeline import TimelineLine, write_timeline
from affidavit.contract.journal import EventType

LINK_CHARS_MAX: Final = 1_500_000
"""Browsers cut an address after two million characters; a longer file waits in a data block."""

MARKS: Final = {
    True: ("✓", "y", "passed"),
    False: ("✗", "n", "failed"),
    None: ("–", "n", "not made"),
}

GATES: Final = frozenset(
    {
        EventType.RUN_STARTED,
        EventType.ROUTING_DECISION,
        EventType.CANCEL_REQUESTED,
        EventType.RUN_PAUSED,
        EventType.RUN_RESUMED,
        EventType.APPROVAL_DECIDED,
        EventType.OUTCOME_RESOLVED,
        EventType.STOP_NOTICE_GIVEN,
        EventType.COLLECTION_ENDED,
        EventType.EVIDENCE_GUARD_INITIAL,
        EventType.EVIDENCE_REPAIR_ATTEMPT,
        EventType.EVIDENCE_GUARD_RECHECK,
        EventType.SUPPORT_CHECK,
        EventType.DRAFT_WITHDRAWAL_ATTEMPT,
        EventType.SEMANTIC_GUARD_DECISION,
        EventType.RELEASE_STOPPED,
        EventType.RELEASE_DECISION,
        EventType.RUN_ENDED,
    }
)
"""The lines that decided something about the answer; all others open below them."""


def show_gates(document: Document) -> Iterator[Markup]:
    """Each gate that the run passed, and why; then every line of its journal."""
    lines = write_timeline(document.journal)
    gates = [
        line for line, entry in zip(lines, document.journal, strict=True) if entry.type in GATES
    ]
    yield tag("h2", "How it was decided", id="gates")
    yield tag("ol", *(_gate(line) for line in gates), class_="gates")
    yield tag(
        "details",
        tag("summary", tag("span", f"All {len(lines)} lines of the journal")),
        tag("ol", *(_gate(line) for line in lines), class_="gates"),
    )


def _gate(line: TimelineLine) -> Markup:
    return tag(
        "li",
        tag("time", f"+{line.elapsed_ms / 1000:.3f} s", datetime=line.at, title=line.at),
        tag("div", tag("code", data(line.mark)), tag("span", data(line.says))),
    )


def show_custody(content: bytes, checked: Recheck, exhibits: Exhibits) -> Iterator[Markup]:
    """The state of the chain, every check, and the file to check it with."""
    document = checked.document
    assert document is not None  # noqa: S101 -- a page is made of a file that was read
    yield tag("h2", "What this page can and cannot show", id="chain")
    yield tag(
        "div",
        tag("strong", "This page itself is not signed."),
        " Anybody can write a page like it. The affidavit file that it was made of is in the page, "
        "byte for byte; save it and check that:",
        class_="banner caution",
    )
    yield from _file(content, document.release.run_id)
    yield tag("h3", "The file, when this page was made")
    yield tag("p", _state_words(checked))
    head = document.journal[-1]
    rows = (
        ("journal", f"{len(document.journal)} lines, chained"),
        ("head of the chain", tag("code", head.hash)),
        ("digest of the file's content", tag("code", digest_of(document))),
        ("SHA-256 of the file", tag("code", hashlib.sha256(content).hexdigest())),
        ("decided at", exhibits.when(document.release.decided_at)),
    )
    yield tag(
        "dl", *(tag("div", tag("dt", name), tag("dd", value)) for name, value in rows), class_="src"
    )
    yield tag(
        "details",
        tag("summary", tag("span", f"All {len(checked.checks)} checks that were made")),
        tag(
            "ul",
            *map(_check, checked.checks),
            class_="gates checks",
        ),
    )


def _state_words(checked: Recheck) -> str:
    signer = checked.signer
    if signer is None:
        return "Intact, not signed: nothing in the file contradicts anything else in it."
    known = (
        f"whose key that is: {signer.name}" if signer.name else "whose key that is, is not known"
    )
    return f"Tamper-evident since recording, by key {signer.key_id}; {known}."


def _check(check: Check) -> Markup:
    mark, name, word = MARKS[check.passed]
    return tag(
        "li", tag("span", mark, class_=name, aria_label=word, role="img"), tag("span", check.asks)
    )


def _file(content: bytes, run_id: str) -> Iterator[Markup]:
    """The file as a link; where it is too long for an address, a block that a script saves."""
    encoded = base64.b64encode(content).decode("ascii")
    name = f"{run_id}.affidavit"
    size = f"{len(content) / 1000:.0f} kB" if len(content) >= 1000 else f"{len(content)} bytes"
    words = f"Save {name} ({size})"
    if len(encoded) <= LINK_CHARS_MAX:
        address = f"data:application/octet-stream;base64,{encoded}"
        yield tag("p", tag("a", words, href=address, download=name, class_="save", id="file"))
    else:
        yield inline("script", encoded, type="application/octet-stream", id="held")
        yield tag("p", tag("button", words, id="save", class_="save", data_name=name, hidden=True))
        yield tag(
            "noscript",
            tag("p", "The file is in this page's source, base64, in the element with the id held."),
        )
    yield tag("p", tag("code", f"affidavit verify {name}"))
