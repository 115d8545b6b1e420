"""The answer on a page: what was published or why nothing was, each sentence with its evidence.

A fallback reads as clearly as a result: its facts open the calls that recorded them, its leads
stand under "no cause established", and what was refused says where and why (C7, C9, C10, C11).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from affidavit.affidavit.card import GUIDANCE_HEADLINE
from affidavit.affidavit.markup import Markup, data, join, tag
from affidavit.affidavit.page_evidence import (
    show_absence,
    show_cited_plots,
    show_reference,
    show_sentence,
    show_source,
)
from affidavit.affidavit.page_facts import Exhibits, Shown, brief_fact, show_fact
from affidavit.affidavit.seal import parts_of
from affidavit.contract.report import (
    CoverageLine,
    FallbackRecord,
    Lead,
    ObservedFact,
    PublishedAnalysis,
    PublishedBound,
    PublishedReport,
    ReleaseRecord,
    ValidationIssue,
)
from affidavit.contract.states import (
    AnalysisKind,
    ChatFailureCode,
    FallbackType,
    ReleaseOutcome,
)
from affidavit.contract.violations import meaning_of
from affidavit.progress.wording import word_fact

WHY: Final = {
    FallbackType.EVIDENCE_VALIDATION_FAILED: "The agent's report cites something that this run did "
    "not record, so the report is not shown.",
    FallbackType.SEMANTIC_UNSUPPORTED: "The agent's report says more than the recorded facts "
    "carry, so the report is not shown.",
    FallbackType.SEMANTIC_UNAVAILABLE: "Nobody could judge whether the facts support the report, "
    "so the report is not shown.",
    FallbackType.INSUFFICIENT_EVIDENCE: "What was found is not enough to name a cause.",
    FallbackType.MISSING_REQUIRED_CONTEXT: "The question cannot be answered without what is "
    "listed below.",
    FallbackType.BUDGET_EXHAUSTED: "The budget was spent before anything could be concluded.",
}
"""Why there is no result, in one sentence that names no cause."""

FAILED: Final = {
    ReleaseOutcome.FAILED: "There is no result. Nothing was found that could be shown.",
    ReleaseOutcome.CANCELLED: "The run was cancelled before anything was published.",
}

STATUSES: Final = {
    "consulted": ("looked at", "good"),
    "empty": ("looked at, nothing matched", ""),
    "failed": ("failed: not looked at", "bad"),
    "unavailable": ("not available: not looked at", "bad"),
    "refused": ("refused: not looked at", "warn"),
    "not_asked": ("never asked: not looked at", "warn"),
}
"""A source's status in words, and how it is marked."""

LOOKED_AT: Final = frozenset({"consulted", "empty"})


def show_answer(release: ReleaseRecord, exhibits: Exhibits) -> Iterator[Markup]:
    """The answer itself, then everything that bounds it."""
    if release.reply is not None:
        text = tag("p", data(release.reply.text), class_="verdict")
        yield tag("section", text, class_="answer", id="answer")
    elif release.result is not None:
        yield from _report(release.result, exhibits)
    elif release.fallback is not None:
        yield from _fallback(release.fallback, exhibits)
    else:
        yield _no_answer(release)
    yield from show_cited_plots(exhibits, _cited(release, exhibits))
    yield from _titled("Limits of this answer", release.limitations, "limits")


def _cited(release: ReleaseRecord, exhibits: Exhibits) -> dict[str, frozenset[int]]:
    """The facts that the answer names, by call, in the order of first mention."""
    cited: dict[str, set[int]] = {}
    if release.result is not None:
        for _, part in parts_of(release.result):
            for sentence in part.sentences:
                for item in sentence.statements:
                    cited.setdefault(item.tool_call_id, set()).update(item.facts)
    if release.fallback is not None:
        for fact in release.fallback.observed_facts:
            shown = exhibits.calls.get(fact.tool_call_id)
            if shown is not None:
                cited.setdefault(fact.tool_call_id, set()).update(_places_of(fact, shown))
    return {key: frozenset(places) for key, places in cited.items()}


def _no_answer(release: ReleaseRecord) -> Markup:
    code = release.failure_code or ChatFailureCode.INTERNAL_FAILURE
    return tag(
        "section",
        tag("p", FAILED.get(release.outcome, "There is no result."), class_="verdict"),
        tag("p", f"Code {code}.", class_="note"),
        class_="answer failed",
        id="answer",
    )


def _report(report: PublishedReport, exhibits: Exhibits) -> Iterator[Markup]:
    yield tag(
        "section",
        tag("h2", "Conclusion"),
        tag("p", GUIDANCE_HEADLINE, class_="note") if report.is_guidance else None,
        *_bound(report.conclusion, exhibits),
        _withdrawn(report),
        class_="answer",
        id="answer",
        aria_label="Conclusion",
    )
    seen = [item for item in report.analyses if item.kind is not AnalysisKind.NEGATIVE_OBSERVATION]
    yield from _analyses("What was seen", "seen", seen, exhibits)
    absent = [item for item in report.analyses if item not in seen]
    yield from _analyses("Looked for and not found", "absent", absent, exhibits)
    for title, anchor, bounds in (
        ("Action plan", "actions", report.action_plan),
        ("Recommendations", "advice", report.recommendations),
    ):
        if bounds:
            yield tag("h2", title, id=anchor)
            items = (tag("li", *_bound(bound, exhibits)) for bound in bounds)
            yield tag("ul", *items, class_="group")
    yield tag("h2", "Scope", id="scope")
    yield tag("p", data(report.scope))
    yield from _titled("The agent lacked", report.missing_info, "lacked")


def _withdrawn(report: PublishedReport) -> Markup:
    if not report.withdrawn:
        return tag("p", "No sentence was withdrawn.", class_="note")
    words = f"{report.withdrawn} sentence{'s' if report.withdrawn > 1 else ''}"
    return tag(
        "p",
        tag("span", "withdrawn", class_="tag warn"),
        f" The author took back {words} that nothing recorded proves; the rest was checked again.",
        class_="note",
    )


def _bound(bound: PublishedBound, exhibits: Exhibits) -> Iterator[Markup]:
    for sentence in bound.sentences:
        yield show_sentence(exhibits, sentence)
    rests = ", ".join(bound.based_on_analysis_ids)
    yield tag("p", "rests on ", data(rests), class_="note")


def _analyses(
    title: str, anchor: str, analyses: Iterable[PublishedAnalysis], exhibits: Exhibits
) -> Iterator[Markup]:
    items = [
        tag(
            "li",
            *(
                show_sentence(exhibits, sentence, analysis.tool_call_ids)
                for sentence in analysis.sentences
            ),
            tag("p", "analysis ", data(analysis.id), class_="note"),
        )
        for analysis in analyses
    ]
    if items:
        yield tag("h2", title, id=anchor)
        yield tag("ul", *items, class_="group")


def _fallback(fallback: FallbackRecord, exhibits: Exhibits) -> Iterator[Markup]:
    why = (tag("li", data(item)) for item in fallback.limitations)
    yield tag(
        "section",
        tag("h2", "No root cause is confirmed"),
        tag("p", WHY[fallback.type], class_="verdict"),
        tag("ul", *why, class_="plain") if fallback.limitations else None,
        tag("p", f"{fallback.type} at {fallback.failure_stage}", class_="note"),
        class_="answer fallback",
        id="answer",
        aria_label="No root cause is confirmed",
    )
    if fallback.next_steps:
        yield from _titled("What to do next", fallback.next_steps, "next")
    if fallback.leads:
        yield tag("h2", "Leads: no cause established", id="leads")
        yield tag(
            "p",
            "Where a recorded scan stood out, and which record is missing to call it a cause.",
            class_="lead-in",
        )
        yield from (_lead(lead, exhibits) for lead in fallback.leads)
    facts = [item for item in fallback.observed_facts if item.status != "NO_EVIDENCE"]
    absent = [item for item in fallback.observed_facts if item.status == "NO_EVIDENCE"]
    yield from _facts("Verified facts", "seen", facts, exhibits)
    yield from _facts("Looked for and not found", "absent", absent, exhibits)
    if fallback.validation_issues:
        yield tag("h2", "What was refused", id="refused")
        issues = (tag("li", *_issue(item)) for item in fallback.validation_issues)
        yield tag("ul", *issues, class_="plain")
    yield from _titled("The agent asks for", fallback.asked_for, "lacked")


def _facts(
    title: str, anchor: str, facts: Iterable[ObservedFact], exhibits: Exhibits
) -> Iterator[Markup]:
    items = [tag("li", _observed(fact, exhibits)) for fact in facts]
    if items:
        yield tag("h2", title, id=anchor)
        yield tag("ul", *items, class_="group")


def _observed(fact: ObservedFact, exhibits: Exhibits) -> Markup:
    """A fact of a fallback, worded by code, that opens the record it was worded from."""
    shown = exhibits.calls.get(fact.tool_call_id)
    places = [] if shown is None else _places_of(fact, shown)
    said = data(fact.text)
    if shown is not None and places:
        said = brief_fact(exhibits, shown, places[0])
    elif shown is not None and not shown.envelope.facts:
        said = show_absence(exhibits, shown)
    summary = tag(
        "summary",
        tag(
            "span",
            tag("span", said, class_="say"),
            tag("span", f"evidence: {fact.tool_call_id}", class_="cites"),
        ),
    )
    if shown is None:
        proof = tag("p", "This call is not in the file.", class_="note")
    else:
        steps = (
            tag("li", "fact worded by code"),
            tag("li", show_reference(exhibits, fact.tool_call_id)),
            tag("li", ", ".join(f"fact #{place}" for place in places) or "an empty answer"),
        )
        facts = (tag("div", show_fact(exhibits, shown, at), class_="fact") for at in places)
        proof = join(
            tag("ol", *steps, class_="steps"),
            *facts,
            show_source(exhibits, shown),
            tag("p", "as worded in the file: ", data(fact.text), class_="note"),
        )
    return tag("details", summary, tag("div", proof, class_="proof"), class_="sentence")


def _places_of(fact: ObservedFact, shown: Shown) -> list[int]:
    """Which facts of the call these words were made from: wording is a function of the record."""
    envelope = shown.envelope
    return [
        place for place, item in enumerate(envelope.facts) if word_fact(envelope, item) == fact.text
    ]


def _lead(lead: Lead, exhibits: Exhibits) -> Markup:
    return tag(
        "div",
        tag("b", data(lead.entity)),
        ": ",
        data(lead.signal),
        ", ",
        data(lead.size),
        tag("span", tag("b", "missing: "), data(lead.missing), class_="gap"),
        tag("small", show_reference(exhibits, lead.tool_call_id), class_="cites"),
        class_="lead",
    )


def _issue(issue: ValidationIssue) -> Iterator[Markup]:
    meaning = meaning_of(issue.code)
    yield tag("code", issue.code)
    yield join(" at ", tag("code", issue.field or "/"))
    if meaning:
        yield join(": ", meaning)


def _titled(title: str, items: Iterable[str], anchor: str) -> Iterator[Markup]:
    listed = [tag("li", data(item)) for item in items]
    if listed:
        yield tag("h2", title, id=anchor)
        yield tag("ul", *listed, class_="plain")


def show_coverage(release: ReleaseRecord, exhibits: Exhibits) -> Iterator[Markup]:
    """What was looked at, and in plain view what was not (C11)."""
    yield tag("h2", "What was looked at, and what was not", id="coverage")
    lines = release.coverage.lines
    missed = [line for line in lines if line.status not in LOOKED_AT]
    if missed:
        names = ", ".join(dict.fromkeys(f"{line.source_type} ({line.source})" for line in missed))
        words = join(tag("strong", "Not looked at: "), data(names), ".")
        yield tag("div", words, class_="banner caution")
    elif lines:
        yield tag("p", "Every source that this run knew of was looked at.", class_="lead-in")
    else:
        yield tag("p", "No source was looked at.", class_="lead-in")
        return
    heads = ("source", "what became of it", "calls", "services", "window, UTC")
    rows = (_coverage(line, exhibits, heads) for line in sorted(lines, key=_missed_first))
    yield tag(
        "div",
        tag(
            "table",
            tag("thead", tag("tr", *(tag("th", head, scope="col") for head in heads))),
            tag("tbody", *rows),
            class_="stack",
        ),
        class_="scroll",
    )


def _missed_first(line: CoverageLine) -> bool:
    return line.status in LOOKED_AT


def _coverage(line: CoverageLine, exhibits: Exhibits, heads: tuple[str, ...]) -> Markup:
    words, mark = STATUSES[line.status]
    cut = tag("span", "cut", class_="tag warn") if line.truncated else None
    codes = None if not line.codes else tag("code", " " + ", ".join(line.codes))
    cells = (
        join(tag("b", data(line.source_type)), " ", data(line.source)),
        join(tag("span", words, class_=f"tag {mark}".strip()), cut and " ", cut, codes),
        str(line.calls),
        data(", ".join(line.services)) if line.services else "–",
        exhibits.span(line.window) if line.window else "–",
    )
    of = ("", "", *heads[2:])
    return tag(
        "tr", *(tag("td", cell, data_of=name or None) for cell, name in zip(cells, of, strict=True))
    )
