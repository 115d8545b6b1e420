"""One self-contained page of an affidavit file, in which each sentence opens its evidence (pure).

No network, no resource, no cookie, and a policy that forbids them all; the only style and script
are those that the policy names by digest. It works without the script, prints, and takes its
colours from the reader's system. No text of a file is ever markup (`markup`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from affidavit.affidavit.markup import Markup, data, inline, join, source_hash, tag
from affidavit.affidavit.page_answer import show_answer, show_coverage
from affidavit.affidavit.page_custody import show_custody, show_gates
from affidavit.affidavit.page_evidence import show_calls
from affidavit.affidavit.page_facts import Exhibits, exhibits_of
from affidavit.affidavit.page_style import SCRIPT, STYLE
from affidavit.affidavit.recheck import Recheck
from affidavit.contract.agent import AgentRequest
from affidavit.contract.report import ReleaseRecord
from affidavit.contract.states import Provenance, ReleaseOutcome

WORDS: Final = {
    ReleaseOutcome.SUCCESS: ("✓", "Published: every sentence names its evidence"),
    ReleaseOutcome.FALLBACK: ("◇", "Not confirmed: verified facts only, no root cause"),
    ReleaseOutcome.FAILED: ("✗", "No result"),
    ReleaseOutcome.CANCELLED: ("✗", "Cancelled"),
}
"""What the answer is, said by sign and word: never by colour alone."""

SUPPLIED: Final = (
    "The calls came with somebody's answer and were not recorded by us. What stands here is "
    "consistent with what the agent says it saw."
)
"""C12: it stands above the answer."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What became of the answer since, as the store knows it.

    `word` is "" while it stands, else RETRACTED or SUPERSEDED, with the reason, who said so, when,
    and the run that takes its place. `known` is False for a bare file: it cannot know (L9).
    """

    known: bool = False
    word: str = ""
    reason: str = ""
    by: str = ""
    at: str = ""
    superseded_by: str | None = None


def policy() -> str:
    """What the page may load and run: its own style and script, by digest, and nothing else."""
    return (
        f"default-src 'none'; style-src {source_hash(STYLE)}; script-src {source_hash(SCRIPT)}; "
        "base-uri 'none'; form-action 'none'"
    )


def render_page(content: bytes, checked: Recheck, standing: Standing | None = None) -> str:
    """The whole page of the file in these bytes, which must be intact.

    Raises ValueError for a file that could not be read: what cannot be believed is not shown.
    """
    document = checked.document
    if document is None or checked.failure is not None:
        raise ValueError("a page is made of an intact file only")
    exhibits = exhibits_of(document)
    release = document.release
    body = join(
        tag("a", "Skip to the answer", href="#answer", class_="skip"),
        tag("header", *_head(release, document.request, exhibits), class_="top"),
        tag(
            "main",
            *_standing(standing or Standing(), release),
            *show_answer(release, exhibits),
            *show_coverage(release, exhibits),
            *_evidence(exhibits),
            *show_gates(document),
            *show_custody(content, checked, exhibits),
        ),
        tag("footer", *_usage(release)),
        inline("script", SCRIPT),
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy()),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="robots", content="noindex"),
        tag("title", f"{release.outcome}: {release.question[:80]}"),
        inline("style", STYLE),
    )
    return "<!doctype html>\n" + tag("html", head, tag("body", body), lang="en") + "\n"


def _head(release: ReleaseRecord, asked: AgentRequest, exhibits: Exhibits) -> Iterator[Markup]:
    sign, words = WORDS[release.outcome]
    yield tag(
        "p",
        tag("b", sign, aria_hidden="true"),
        tag("span", words),
        class_=f"word {release.outcome}",
    )
    yield tag("h1", data(release.question))
    window = asked.window
    rows: tuple[tuple[str, Markup | str | None], ...] = (
        ("run", release.run_id),
        ("incident", None if asked.incident is None else data(asked.incident)),
        ("symptom at", None if asked.symptom_service is None else data(asked.symptom_service)),
        ("day", None if exhibits.day is None else exhibits.day.isoformat()),
        ("window, UTC", None if window is None else exhibits.span(window)),
        ("decision", f"{release.decision} · {release.run_state}"),
        ("evidence", str(release.provenance)),
    )
    listed = (
        tag("div", tag("dt", name), tag("dd", value)) for name, value in rows if value is not None
    )
    yield tag("dl", *listed, class_="meta")
    links = (("#answer", "Answer"), ("#coverage", "What was looked at"), ("#calls", "Evidence"),
             ("#gates", "How it was decided"), ("#chain", "The file"))  # fmt: skip
    yield tag("nav", *(tag("a", name, href=to) for to, name in links), aria_label="On this page")
    yield tag(
        "p",
        tag("button", "Open all evidence", type="button", id="open-all", aria_expanded="false"),
        class_="tools",
        hidden=True,
    )


def _standing(standing: Standing, release: ReleaseRecord) -> Iterator[Markup]:
    if release.provenance is Provenance.SUPPLIED:
        words = join(tag("strong", "Supplied evidence."), " ", SUPPLIED)
        yield tag("div", words, class_="banner caution", role="note")
    if standing.word:
        after = standing.superseded_by
        yield tag(
            "div",
            tag("strong", f"{standing.word}."),
            " Do not rely on this answer. ",
            data(standing.reason),
            tag("p", "by ", data(standing.by), f", {standing.at}", class_="note"),
            None if after is None else tag("p", "In its place: run ", tag("code", after)),
            class_="banner",
            role="alert",
        )
    elif not standing.known:
        yield tag(
            "p",
            "Whether this answer was retracted or superseded since, a file cannot know: "
            "ask the store that holds the run, ",
            tag("code", f"affidavit show {release.run_id}"),
            ".",
            class_="note",
        )


def _evidence(exhibits: Exhibits) -> Iterator[Markup]:
    yield tag("h2", "Evidence: the recorded calls", id="calls")
    if not exhibits.calls:
        yield tag("p", "The answer rests on no call.", class_="lead-in")
        return
    yield tag(
        "p",
        "Each call that the answer rests on, as the agent and the guards saw it. Times are UTC.",
        class_="lead-in",
    )
    yield from show_calls(exhibits)


def _usage(release: ReleaseRecord) -> Iterator[Markup]:
    usage = release.usage
    money = "" if usage.money_micro is None else f", {usage.money_micro / 1_000_000:.4f} of money"
    yield tag(
        "p",
        f"{usage.tool_calls} tool calls in {usage.iterations} steps, {usage.attempts} attempts, "
        f"{usage.duration_ms} ms, {usage.tokens} tokens{money}.",
    )
    yield tag("p", "Made by affidavit show --html. It loads nothing and sends nothing.")
