"""The report card: a release as plain text for a person (C7, C10, C11).

Every sentence of a published report is followed by the calls and facts that prove it. Text only:
no colour, no markup; who prints it takes control characters out.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import Final

from affidavit.contract.evidence import Window
from affidavit.contract.record import format_instant
from affidavit.contract.report import (
    CoverageLine,
    FallbackRecord,
    PublishedBound,
    PublishedReport,
    PublishedSentence,
    ReleaseRecord,
    ValidationIssue,
)
from affidavit.contract.states import AnalysisKind, Provenance, ReleaseOutcome
from affidavit.contract.violations import meaning_of

WIDTH_CHARS: Final = 88
"""Fits a terminal of 90 columns and a code block on a page."""

_HEADLINES: Final = {
    ReleaseOutcome.SUCCESS: "PUBLISHED: every sentence names its evidence",
    ReleaseOutcome.FALLBACK: "NOT CONFIRMED: verified facts only, no root cause",
    ReleaseOutcome.FAILED: "NO RESULT",
    ReleaseOutcome.CANCELLED: "CANCELLED",
}

_SUPPLIED_HEADLINES: Final = {
    ReleaseOutcome.SUCCESS: "PUBLISHED on SUPPLIED evidence: consistent with what the agent says "
    "it saw; its calls were not recorded by us",
    ReleaseOutcome.FALLBACK: "NOT CONFIRMED on SUPPLIED evidence: facts that the agent says it "
    "saw, no root cause",
}
"""C12: whoever reads one line of an answer whose calls came with it, reads that."""


GUIDANCE_HEADLINE: Final = (
    "QUOTED: what pages say, each sentence with its record; guidance, which proves no cause"
)
"""N17: what rests on pages alone is no diagnosis, and its first line says so."""


def render_card(release: ReleaseRecord) -> str:
    """The whole card, without a final line break."""
    return "\n".join(_lines(release))


def _lines(release: ReleaseRecord) -> Iterator[str]:
    yield _rule("═")
    headline = _HEADLINES[release.outcome]
    if release.provenance is Provenance.SUPPLIED:
        headline = _SUPPLIED_HEADLINES.get(release.outcome, headline)
    if release.result is not None and release.result.is_guidance:
        headline = GUIDANCE_HEADLINE
    if release.reply is not None:
        headline = "REPLY: about this system itself; it claims nothing"
    yield from _wrap(headline)
    yield from _wrap(release.question, "Question  ", "          ")
    yield f"Run       {release.run_id} · decision {release.decision} · {release.run_state}"
    if release.failure_code is not None:
        yield f"Reason    {release.failure_code}"
    yield _rule("═")
    if release.reply is not None:
        yield from _wrap(release.reply.text)
    if release.result is not None:
        yield from _report(release.result)
    if release.fallback is not None:
        yield from _fallback(release.fallback)
    yield from _titled("Limits of this answer", release.limitations)
    yield from _titled("What was looked at", map(_coverage, release.coverage.lines))
    yield _rule("─")
    yield _usage(release)


def _report(report: PublishedReport) -> Iterator[str]:
    yield "Conclusion"
    yield from _bound(report.conclusion)
    yield ""
    for negative, title in ((False, "What was seen"), (True, "Looked for and not found")):
        analyses = [
            item
            for item in report.analyses
            if (item.kind is AnalysisKind.NEGATIVE_OBSERVATION) == negative
        ]
        if analyses:
            yield title
        for analysis in analyses:
            for place, sentence in enumerate(analysis.sentences):
                mark = f"  {analysis.id:<4}" if place == 0 else "      "
                yield from _sentence(sentence, mark, analysis.tool_call_ids)
        if analyses:
            yield ""
    for title, bounds in (
        ("Action plan", report.action_plan),
        ("Recommendations", report.recommendations),
    ):
        if bounds:
            yield title
            for bound in bounds:
                yield from _bound(bound)
            yield ""
    yield from _wrap(report.scope, "Scope     ", "          ")
    yield from _titled("The agent lacked", report.missing_info)
    if report.withdrawn:
        yield f"Its author withdrew {report.withdrawn} sentence(s) that nothing recorded proves."


def _bound(bound: PublishedBound) -> Iterator[str]:
    for sentence in bound.sentences:
        yield from _sentence(sentence, "  ", sentence.tool_call_ids)
    yield f"      rests on {', '.join(bound.based_on_analysis_ids)}"


def _sentence(sentence: PublishedSentence, mark: str, calls: tuple[str, ...]) -> Iterator[str]:
    yield from _wrap(sentence.text, mark, " " * len(mark))
    below = " " * len(mark)
    yield from _wrap(_evidence(sentence, calls), f"{below}└ ", f"{below}  ")
    if sentence.unproved:
        left = f"on the model judge's word, code does not prove it: {', '.join(sentence.unproved)}"
        yield from _wrap(left, f"{below}? ", f"{below}  ")
    if sentence.against:
        shown = "; ".join(
            f"{item.tool_call_id} #{','.join(map(str, item.facts))}" for item in sentence.against
        )
        yield from _wrap(f"says otherwise: {shown}", f"{below}! ", f"{below}  ")


def _evidence(sentence: PublishedSentence, calls: tuple[str, ...]) -> str:
    """Which facts of which calls prove the sentence; without a proof of its own, what it rests on.

    `call_0002 #6 (change)`: the seventh fact of that call, by a statement of that kind.
    """
    facts: dict[str, dict[int, None]] = {}
    kinds: dict[str, dict[str, None]] = {}
    for item in sentence.statements:
        facts.setdefault(item.tool_call_id, {}).update(dict.fromkeys(item.facts))
        kinds.setdefault(item.tool_call_id, {})[item.kind] = None
    if not facts:
        return ", ".join(sentence.tool_call_ids or calls)
    return "; ".join(
        call
        + (f" #{','.join(map(str, places))}" if places else "")
        + f" ({', '.join(kinds[call])})"
        for call, places in facts.items()
    )


def _fallback(fallback: FallbackRecord) -> Iterator[str]:
    yield f"{fallback.type} at {fallback.failure_stage}"
    yield ""
    facts = [f"{fact.text}  [{fact.tool_call_id}]" for fact in fallback.observed_facts]
    yield from _titled("Verified facts", facts)
    leads = [
        f"{lead.entity}: {lead.signal}, {lead.size}; {lead.missing}  [{lead.tool_call_id}]"
        for lead in fallback.leads
    ]
    yield from _titled("Leads (no cause established)", leads)
    issues = [_issue(issue) for issue in fallback.validation_issues]
    yield from _titled("What was refused", issues)
    yield from _titled("Why nothing is confirmed", fallback.limitations)
    yield from _titled("Next", fallback.next_steps)
    yield from _titled("The agent asks for", fallback.asked_for)


def _issue(issue: ValidationIssue) -> str:
    """Code and place, and in plain words what is wrong there."""
    meaning = meaning_of(issue.code)
    return f"{issue.code} at {issue.field or '/'}" + (f": {meaning}" if meaning else "")


def _titled(title: str, items: Iterable[str]) -> Iterator[str]:
    kept = list(items)
    if kept:
        yield title
        for item in kept:
            yield from _wrap(item, "  • ", "    ")
        yield ""


def _coverage(line: CoverageLine) -> str:
    words = [f"{line.source_type} ({line.source}): {line.status}"]
    if line.calls:
        words.append(f"{line.calls} call{'s' if line.calls > 1 else ''}")
    if line.window is not None:
        words.append(_window(line.window))
    if line.services:
        words.append(", ".join(line.services))
    if line.truncated:
        words.append("truncated")
    words.extend(line.codes)
    return " · ".join(words)


def _window(window: Window) -> str:
    start, end = (moment.replace(microsecond=0) for moment in (window.start, window.end))
    return f"{format_instant(start)} to {format_instant(end)}"


def _usage(release: ReleaseRecord) -> str:
    usage = release.usage
    return (
        f"{_many(usage.tool_calls, 'tool call')} in {_many(usage.iterations, 'step')},"
        f" {usage.duration_ms} ms,"
        f" {usage.tokens} tokens · evidence {release.provenance}"
    )


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _rule(char: str) -> str:
    return char * WIDTH_CHARS


def _wrap(text: str, first: str = "", rest: str = "") -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH_CHARS,
        initial_indent=first,
        subsequent_indent=rest,
        break_on_hyphens=False,
        break_long_words=True,
    ) or [first.rstrip()]
