"""Why nothing is confirmed, and what to do next: every sentence that a fallback may say (C7).

A closed set. Facts and sources are worded in `progress.wording`; nothing here takes a value from a
draft, a tool or an error, so nothing of them can be said.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class Reason(StrEnum):
    """Why no root cause is confirmed."""

    CITATION_NOT_REAL = "CITATION_NOT_REAL"
    REPAIR_UNAVAILABLE = "REPAIR_UNAVAILABLE"
    REPAIR_IMPOSSIBLE = "REPAIR_IMPOSSIBLE"
    REPAIR_FAILED = "REPAIR_FAILED"
    REPAIR_CHANGED_MEANING = "REPAIR_CHANGED_MEANING"
    REPAIR_NOT_ENOUGH = "REPAIR_NOT_ENOUGH"
    WORDS_REFUTED = "WORDS_REFUTED"
    WORDS_UNSUPPORTED = "WORDS_UNSUPPORTED"
    NO_VERDICT = "NO_VERDICT"
    NO_CONCLUSION = "NO_CONCLUSION"
    CONTEXT_MISSING = "CONTEXT_MISSING"
    NOTHING_VERIFIED = "NOTHING_VERIFIED"
    SATURATED = "SATURATED"
    PROTOCOL_VIOLATED = "PROTOCOL_VIOLATED"
    LOOP_DETECTED = "LOOP_DETECTED"
    GAVE_UP = "GAVE_UP"
    DRAFT_UNREADABLE = "DRAFT_UNREADABLE"
    BUDGET_SPENT = "BUDGET_SPENT"
    TIME_OVER = "TIME_OVER"
    ONLY_NEGATIVE = "ONLY_NEGATIVE"
    FACTS_LEFT_OUT = "FACTS_LEFT_OUT"
    SOURCES_LEFT_OUT = "SOURCES_LEFT_OUT"
    ISSUES_LEFT_OUT = "ISSUES_LEFT_OUT"
    REQUESTS_LEFT_OUT = "REQUESTS_LEFT_OUT"
    NOT_ROUTED = "NOT_ROUTED"
    NO_PASSAGE = "NO_PASSAGE"


class NextStep(StrEnum):
    """What the reader may supply or check."""

    READ_FACTS = "READ_FACTS"
    CHECK_LEADS = "CHECK_LEADS"
    SUPPLY_CONTEXT = "SUPPLY_CONTEXT"
    CONNECT_SOURCES = "CONNECT_SOURCES"
    WIDEN_SCOPE = "WIDEN_SCOPE"
    RAISE_LIMITS = "RAISE_LIMITS"
    ASK_AGAIN = "ASK_AGAIN"
    RESTORE_JUDGE = "RESTORE_JUDGE"


REASONS: Final[Mapping[Reason, str]] = MappingProxyType(
    {
        Reason.CITATION_NOT_REAL: "The agent's report cites something that this run did not "
        "record that way, so the report is withheld.",
        Reason.REPAIR_UNAVAILABLE: "Nobody was available to repair the citations.",
        Reason.REPAIR_IMPOSSIBLE: "What is wrong with the report cannot be mended by citing "
        "something else.",
        Reason.REPAIR_FAILED: "The one attempt to repair the citations gave nothing usable.",
        Reason.REPAIR_CHANGED_MEANING: "The one attempt to repair the citations would have changed "
        "what the report says.",
        Reason.REPAIR_NOT_ENOUGH: "After the one attempt to repair them, the citations still do "
        "not hold.",
        Reason.WORDS_REFUTED: "The report cites real results, but those results contradict it or "
        "do not hold what it names.",
        Reason.WORDS_UNSUPPORTED: "Something was found, but not enough: the cited results do not "
        "carry the report's conclusion.",
        Reason.NO_VERDICT: "The report cites real results, but whether they carry its words could "
        "not be judged.",
        Reason.NO_CONCLUSION: "The agent drew no conclusion: what was found is not enough to "
        "confirm a root cause.",
        Reason.CONTEXT_MISSING: "Nothing could be verified without what the agent asks for.",
        Reason.NOTHING_VERIFIED: "The agent drew no conclusion, and nothing was verified that "
        "could be shown instead.",
        Reason.SATURATED: "Looking further stopped bringing anything new before a root cause was "
        "confirmed.",
        Reason.PROTOCOL_VIOLATED: "The agent went on asking after it was told to conclude; what it "
        "wrote is discarded.",
        Reason.LOOP_DETECTED: "The agent repeated itself and was stopped.",
        Reason.GAVE_UP: "The agent gave up without a conclusion.",
        Reason.DRAFT_UNREADABLE: "What the agent wrote could not be read as a report.",
        Reason.BUDGET_SPENT: "The run's budget was spent before a root cause was confirmed.",
        Reason.TIME_OVER: "The run's time limit was reached before a root cause was confirmed.",
        Reason.ONLY_NEGATIVE: "Every answer came back empty; that shows neither a fault nor "
        "health.",
        Reason.FACTS_LEFT_OUT: "Further recorded facts are left out here for brevity.",
        Reason.SOURCES_LEFT_OUT: "Further sources are left out here for brevity.",
        Reason.ISSUES_LEFT_OUT: "Further refusals are left out here for brevity.",
        Reason.REQUESTS_LEFT_OUT: "Something that the agent asked for is not shown: it claims a "
        "cause, names an address, or is too long.",
        Reason.NOT_ROUTED: "It is not clear which of three things is asked for, and none is "
        "guessed: why something fails now (say what fails, and since when), what the indexed "
        "pages say (ask how something is done, or what the runbook says), or what this system is. "
        "无法确定您要问的是故障诊断、知识库还是本系统；请说明什么服务出了什么问题，或想查哪份文档。",
        Reason.NO_PASSAGE: "No indexed page matched the question, so nothing is answered: a "
        "model's memory is no source. 知识库中没有匹配的内容，因此不作回答。",
    }
)
"""Every reason in words."""

STEPS: Final[Mapping[NextStep, str]] = MappingProxyType(
    {
        NextStep.READ_FACTS: "Read the verified facts; each names the call that recorded it.",
        NextStep.CHECK_LEADS: "Check the leads: each says which record is missing to call it a "
        "cause.",
        NextStep.SUPPLY_CONTEXT: "Supply what the agent asks for, and ask again.",
        NextStep.CONNECT_SOURCES: "Connect or repair the sources that were unavailable or failed.",
        NextStep.WIDEN_SCOPE: "Ask again with a wider window or other services, if the empty "
        "answers looked in the wrong place.",
        NextStep.RAISE_LIMITS: "Ask again with higher limits, or about a narrower question.",
        NextStep.ASK_AGAIN: "Ask again; a new run collects and cites anew.",
        NextStep.RESTORE_JUDGE: "Ask again once a judge can be reached.",
    }
)
"""Every next step in words."""
