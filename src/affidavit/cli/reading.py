"""The commands that only look: show, verify, timeline."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final, NoReturn

import anyio

from affidavit.affidavit.document import Document
from affidavit.affidavit.journal_checks import Broken
from affidavit.affidavit.page import render_page
from affidavit.affidavit.recheck import Check, Recheck, Verdict
from affidavit.affidavit.retraction import Retraction
from affidavit.affidavit.seal_checks import signed_head
from affidavit.affidavit.timeline import TimelineLine, write_timeline
from affidavit.cli.answer import show_release
from affidavit.cli.disclosing import check_shown, read_shown
from affidavit.cli.heads import read_anchors
from affidavit.cli.opening import file_of_run, head_of, names_file, read_file, runs_at
from affidavit.cli.outlet import check_out, write_out
from affidavit.cli.retracting import CANNOT_KNOW, retractions_of, words_of
from affidavit.cli.screen import (
    EXIT_ALTERED,
    EXIT_REFUSED,
    EXIT_UNSIGNED,
    one_line,
    say,
    say_json,
    tell,
)
from affidavit.cli.trusting import trust_of
from affidavit.contract.errors import InputRefused
from affidavit.contract.states import Provenance
from affidavit.ports.store import SealedHead
from affidavit.wiring import recheck_file, standing_of

_EXIT: Final = {
    Verdict.INTACT_TRUSTED: 0,
    Verdict.INTACT_SIGNER_UNKNOWN: EXIT_UNSIGNED,
    Verdict.ALTERED: EXIT_ALTERED,
    Verdict.UNREADABLE: EXIT_REFUSED,
}

_HEADLINES: Final = {
    Verdict.INTACT_TRUSTED: "INTACT and trusted: tamper-evident since recording, by key {key}"
    " ({name})",
    Verdict.INTACT_SIGNER_UNKNOWN: "INTACT, signer unknown: tamper-evident since recording, by key"
    " {key}; whose key that is, nobody has said",
    Verdict.ALTERED: "ALTERED: do not rely on anything in this file",
    Verdict.UNREADABLE: "UNREADABLE: this is no affidavit file",
}

_UNSIGNED: Final = (
    "INTACT, signer unknown: a file of version 0 is not signed, and nothing in it contradicts"
    " anything else in it"
)

_MARKS: Final = {True: "✓", False: "✗", None: "–"}


@dataclass(frozen=True, slots=True)
class _Read:
    """The bytes of a file, and what was said of it since; None for a bare file, which cannot know
    (L9)."""

    content: bytes
    since: tuple[Retraction, ...] | None = None


def _read(source: str, store: str) -> _Read:
    if names_file(source):
        return _Read(read_file(Path(source)))
    content = anyio.run(file_of_run, store, source)
    return _Read(content, anyio.run(retractions_of, store, source))


@dataclass(frozen=True, slots=True)
class Demands:
    """What a reader demands of a file beside being intact."""

    recorded: bool = False
    incident: str = ""
    keys: tuple[str, ...] = ()
    anchor: Path | None = None
    raw: tuple[str, ...] = ()


def verify(source: str, store: str, demands: Demands, *, as_json: bool) -> NoReturn:
    """Re-check a file, or the stored file of a run, and exit with what it came to."""
    shown = read_shown(demands.raw)
    read = _read(source, store)
    checked = recheck_file(read.content, trust_of(demands.keys))
    if checked.document is not None:
        more = [*_demanded(checked.document, demands)]
        more.extend(check_shown(checked.document, each) for each in shown)
        checked = replace(checked, checks=(*checked.checks, *more))
    if as_json:
        say_json({**_verdict_json(checked), "retracted": _retracted_json(read.since)})
    else:
        say(_verdict_text(checked))
        _say_since(checked, read.since)
    raise SystemExit(_EXIT[checked.verdict])


def _say_since(checked: Recheck, since: tuple[Retraction, ...] | None) -> None:
    """What became of the answer since; it says nothing about whether the file is intact."""
    if checked.document is None:
        return
    if since is None:
        say(CANNOT_KNOW.format(run_id=checked.document.release.run_id))
    elif since:
        say(words_of(since))


def _retracted_json(since: tuple[Retraction, ...] | None) -> object:
    """Every word since, oldest first; null where nobody could look."""
    return None if since is None else [each.record.model_dump(mode="json") for each in since]


def _demanded(document: Document, demands: Demands) -> Iterator[Check]:
    """A supplied result is refused where recorded ones are required (C12), and another incident."""
    if demands.recorded:
        asks = "every call was recorded by us, as --require-recorded demands"
        if document.release.provenance is Provenance.RECORDED:
            yield Check("recorded", asks, True)
        else:
            says = "the calls came with somebody's answer"
            yield Check("recorded", asks, False, "/release/provenance", says)
    if demands.incident:
        asks = f"the incident is {demands.incident}, as --expect-incident demands"
        if document.request.incident == demands.incident:
            yield Check("incident", asks, True)
        else:
            says = f"it is {document.request.incident or 'none that is named'}"
            yield Check("incident", asks, False, "/request/incident", says)
    if demands.anchor is not None:
        yield _anchored(document, demands.anchor)


def _anchored(document: Document, path: Path) -> Check:
    """Whether the run stands in the anchor, in its place and as it is (A4)."""
    asks = "the run was anchored in its place, as --anchor demands"
    told = read_anchors(path)
    try:
        head = signed_head(document)
    except Broken as broken:
        return Check("anchor", asks, False, broken.pointer, broken.says)
    own = SealedHead(head.tenant, head.number, head.run_id, head.digest(), head.previous)
    if own in told:
        return Check("anchor", asks, True)
    places = {(item.tenant, item.number) for item in told}
    taken = (own.tenant, own.number) in places
    says = "another run was anchored in its place" if taken else "the anchor does not know it"
    return Check("anchor", asks, False, "/signature/envelope/payload", says)


def _verdict_json(checked: Recheck) -> dict[str, object]:
    release = checked.document.release if checked.document else None
    return {
        "verdict": str(checked.verdict),
        "run_id": release and release.run_id,
        "run_state": release and str(release.run_state),
        "outcome": release and str(release.outcome),
        "decision": release and str(release.decision),
        "provenance": release and str(release.provenance),
        "signer": checked.signer and asdict(checked.signer),
        "checks": [asdict(check) for check in checked.checks],
    }


def _verdict_text(checked: Recheck) -> str:
    lines = []
    for check in checked.checks:
        lines.append(f"{_MARKS[check.passed]} {check.name}: {check.asks}")
        if check.passed is False:
            at = f" at {check.pointer}" if check.pointer else ""
            lines.append(one_line(f"  {check.says}{at}"))
    if checked.document is not None:
        release = checked.document.release
        lines.append(
            f"{release.run_id} · {release.outcome} · decision {release.decision}"
            f" · evidence {release.provenance}"
        )
    lines.append(_headline(checked))
    if checked.hint:
        lines.append(checked.hint)
    return "\n".join(lines)


def _headline(checked: Recheck) -> str:
    """The verdict in words: by which key, and no more than that (A4)."""
    signer = checked.signer
    if signer is None:
        unsigned = checked.verdict is Verdict.INTACT_SIGNER_UNKNOWN
        return _UNSIGNED if unsigned else _HEADLINES[checked.verdict]
    return one_line(_HEADLINES[checked.verdict].format(key=signer.key_id, name=signer.name))


@dataclass(frozen=True, slots=True)
class Copies:
    """What `show` writes beside the card: the file itself, and one page."""

    out: Path | None = None
    html: Path | None = None


def show(source: str, store: str, copies: Copies, *, as_json: bool) -> NoReturn:
    """The card of a file or a run, re-checked before it is shown; with it, its file and its page.

    What was altered is not shown at all: its text would be believed.
    """
    out = copies.out
    check_out(out)
    check_out(copies.html, "--html")
    read = _read(source, store)
    content, since = read.content, read.since
    checked = recheck_file(content)
    document = checked.document
    if document is None or not checked.verdict.is_intact:
        _leave_altered(checked, source, as_json=as_json)
    if out is not None:
        write_out(out, content, document.release.run_id)
    if copies.html is not None:
        standing = None if since is None else standing_of(since)
        page = render_page(content, checked, standing).encode("utf-8")
        write_out(copies.html, page, document.release.run_id, "--html")
        tell(f"page {copies.html}: open it in a browser; it loads nothing")
    if since:
        (tell if as_json else say)(words_of(since))
    show_release(document.release, out, as_json=as_json)
    raise SystemExit(0)


def _leave_altered(checked: Recheck, source: str, *, as_json: bool) -> NoReturn:
    failure = checked.failure
    why = f"{failure.name}: {failure.says}" if failure else "a check could not be made"
    unreadable = checked.verdict is Verdict.UNREADABLE
    code = "AFFIDAVIT_UNREADABLE" if unreadable else "AFFIDAVIT_ALTERED"
    message = f"{source} is {'no affidavit file' if unreadable else 'altered'} ({why})"
    hint = checked.hint or f"see every check: affidavit verify {source}"
    if as_json:
        say_json({"error": {"code": code, "message": message, "hint": hint}})
    tell(f"affidavit: {message} ({hint})")
    raise SystemExit(_EXIT[checked.verdict])


def timeline(run_id: str, store: str, *, as_json: bool) -> NoReturn:
    """Each gate that a run passed, and why; also of a run that is not finished."""
    lines = anyio.run(partial(_timeline, run_id, store))
    if as_json:
        say_json({"run_id": run_id, "lines": [asdict(line) for line in lines]})
    else:
        for line in lines:
            say(
                one_line(f"{line.seq:>4}  {_elapsed(line)}  {line.mark}")
                + f"\n{'':>18}{one_line(line.says)}"
            )
    raise SystemExit(0)


def _elapsed(line: TimelineLine) -> str:
    return f"+{line.elapsed_ms / 1000:.3f} s"


async def _timeline(run_id: str, store: str) -> tuple[TimelineLine, ...]:
    async with runs_at(store) as runs:
        await head_of(runs, run_id)
        journal = await runs.read(run_id)
    if not journal:
        raise InputRefused(f"run {run_id} has no lines", code="RUN_UNKNOWN")
    return write_timeline(journal)
