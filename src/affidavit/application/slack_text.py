"""An answer as Slack messages: escaped, and split to Slack's limits (pure).

Everything that is said comes from tools or from a published report, so from anybody. Slack reads
`<…>` as a mention, a channel-wide call or a link with another text on it; with `&`, `<` and `>`
escaped none of them can be written. Control and direction marks are taken out.
https://api.slack.com/reference/surfaces/formatting#escaping
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final

from affidavit.contract.report import FallbackRecord, PublishedReport, ReleaseRecord
from affidavit.contract.states import ReleaseOutcome

MESSAGE_CHARS_MAX: Final = 3500
"""Slack cuts a text beyond 4 000 characters of a message."""

MESSAGES_MAX: Final = 6
FACTS_MAX: Final = 8

HEADLINES: Final = {
    ReleaseOutcome.SUCCESS: "PUBLISHED: every sentence is traced to a recorded result",
    ReleaseOutcome.FALLBACK: "NOT CONFIRMED: verified facts only, no root cause",
    ReleaseOutcome.FAILED: "FAILED: no answer",
    ReleaseOutcome.CANCELLED: "CANCELLED: no answer",
}


def escape(text: str) -> str:
    """Text that Slack shows as it is, whatever is in it."""
    shown = "".join(
        sign if sign in "\n\t" or unicodedata.category(sign) not in {"Cc", "Cf", "Cs"} else " "
        for sign in text
    )
    shown = shown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    # A call to everybody is no markup when link_names is off; a client that has it on sees none.
    for word in ("@channel", "@here", "@everyone"):
        shown = shown.replace(word, f"@\u200b{word[1:]}")
    return shown


def observation_messages(question: str, run_id: str, facts: Iterable[str]) -> tuple[str, ...]:
    """The first word about an incident: what was seen, before anything is concluded."""
    lines = [f"*{escape(question)}*", f"run `{escape(run_id)}` is looking; first observation:"]
    lines += [f"• {escape(fact)}" for fact in facts]
    lines.append("_An observation is no result._")
    return split(lines)


def result_messages(release: ReleaseRecord) -> tuple[str, ...]:
    """The card of an answer."""
    return split(list(_card(release)))


def _card(release: ReleaseRecord) -> Iterator[str]:
    is_guidance = release.result is not None and release.result.is_guidance
    yield (
        "*Quoted from pages: guidance, which proves no cause*"
        if is_guidance
        else (f"*{HEADLINES[release.outcome]}*")
    )
    if release.provenance != "recorded":
        yield "_consistent with what the agent says it saw; nothing of it was recorded by us_"
    yield escape(release.question)
    if release.reply is not None:
        yield escape(release.reply.text)
    elif release.result is not None:
        yield from _report(release.result)
    elif release.fallback is not None:
        yield from _fallback(release.fallback)
    elif release.failure_code is not None:
        yield f"reason: {escape(str(release.failure_code))}"
    unread = [
        f"{line.source} ({line.status})"
        for line in release.coverage.lines
        if line.status in {"failed", "unavailable"}
    ]
    if unread:
        yield f"_not read: {escape(', '.join(sorted(set(unread))))}_"
    yield f"run `{escape(release.run_id)}` · decision {release.decision}"


def _report(report: PublishedReport) -> Iterator[str]:
    yield f"*Conclusion* {escape(report.conclusion.text)}"
    for analysis in report.analyses:
        for sentence in analysis.sentences:
            calls = ", ".join(sentence.tool_call_ids)
            yield f"• {escape(sentence.text)} `{escape(calls)}`"
    for step in (*report.action_plan, *report.recommendations):
        yield f"→ {escape(step.text)}"
    if report.withdrawn:
        yield f"_{report.withdrawn} sentences were withdrawn by their author_"


def _fallback(fallback: FallbackRecord) -> Iterator[str]:
    for fact in fallback.observed_facts[:FACTS_MAX]:
        yield f"• {escape(fact.text)} `{escape(fact.tool_call_id)}`"
    if fallback.leads:
        yield "*Leads (no cause established)*"
    for lead in fallback.leads:
        yield f"• {escape(f'{lead.entity}: {lead.signal}, {lead.size}; {lead.missing}')}"
    for step in fallback.next_steps:
        yield f"→ {escape(step)}"


def split(lines: list[str]) -> tuple[str, ...]:
    """The lines in messages below the limit; what does not fit into the last one is counted."""
    messages: list[str] = []
    current = ""
    for place, line in enumerate(lines):
        cut = line if len(line) <= MESSAGE_CHARS_MAX else line[: MESSAGE_CHARS_MAX - 1] + "…"
        if current and len(current) + len(cut) + 1 > MESSAGE_CHARS_MAX:
            messages.append(current)
            current = ""
            if len(messages) == MESSAGES_MAX - 1 and place < len(lines) - 1:
                rest = lines[place:]
                kept = "\n".join(rest)
                if len(kept) > MESSAGE_CHARS_MAX:
                    return (*messages, f"… {len(rest)} further lines: see the run")
        current = f"{current}\n{cut}" if current else cut
    return (*messages, current) if current else tuple(messages)
