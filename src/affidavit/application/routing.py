"""Which of three branches does a question take? By rules, in English and Chinese (I1; pure).

    SYSTEM_CHAT   the whole message is a courtesy, or asks about the system itself
    DIAGNOSIS     something fails, and its cause, its beginning or a look at it is asked for
    KNOWLEDGE     what pages say: how something is done, what something is, what the runbook has

A rule speaks only where it is sure. A message in which two branches speak, or none, is undecided,
and undecided is never a guess: a model may choose among the same three, and where there is none,
nobody answers. Instructions inside a message are words like others: no rule reads them.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from affidavit.application.routing_words import (
    ABOUT_SYSTEM,
    CAUSES,
    COURTESIES,
    EDGE,
    GREETING,
    LOOKS,
    ONGOING,
    ONSETS,
    PAGES,
    STATED,
    SYMPTOMS,
    TOLD_FROM_PAGES,
    URGENT,
    WAYS,
    WORKING_ON,
)
from affidavit.contract.report import Language, SystemTopic
from affidavit.contract.states import IntentType

RULES: Final = "rules"
"""Who says so, on the journal's line."""

SYSTEM_CHARS_MAX: Final = 120
"""A question about the system fits a line; what is longer has other matters in it."""


@dataclass(frozen=True, slots=True)
class Routed:
    """What the rules make of a message: a branch, or None; and of system chat the reply."""

    intent: IntentType | None
    topic: SystemTopic = SystemTopic.CAPABILITIES


def language_of(message: str) -> Language:
    """The language in which a message is answered: Chinese as soon as it holds a Han character."""
    return "zh" if re.search(r"[\u3400-\u9fff\uf900-\ufaff]", message) else "en"


def route_by_rules(message: str, *, follows: bool = False) -> Routed:
    """The branch of a message. `follows`: it is asked about an incident that is there already, so
    that a question about what was seen there belongs to it."""
    text = _folded(message)
    courtesy = _courtesy(text)
    if courtesy is not None:
        return Routed(IntentType.SYSTEM_CHAT, courtesy)
    text = _GREETED.sub("", text)
    topic = _about_system(text)
    knowledge = bool(PAGES.search(text) or WAYS.search(text))
    diagnosis = _tells_of_failure(text) or (topic is None and _asks_for_look(text))
    if follows and not knowledge:
        diagnosis = diagnosis or (topic is None and bool(WORKING_ON.search(text)))
    match diagnosis, knowledge, topic:
        case True, False, None:
            return Routed(IntentType.DIAGNOSIS)
        case False, True, None:
            return Routed(IntentType.KNOWLEDGE)
        case False, False, SystemTopic() as topic:
            return Routed(IntentType.SYSTEM_CHAT, topic)
        case _:
            return Routed(None)


def _folded(message: str) -> str:
    """The message as it reads: one width, one case, no invisible characters, single spaces."""
    plain = unicodedata.normalize("NFKC", message).casefold().replace("’", "'")
    visible = "".join(
        " " if unicodedata.category(char) == "Cc" else char
        for char in plain
        if unicodedata.category(char) != "Cf"
    )
    return " ".join(visible.split())


_GREETED: Final = re.compile(rf"^(?:{GREETING}(?![a-z]){EDGE})+")


def _courtesy(text: str) -> SystemTopic | None:
    """The topic of a message that is made of courtesies and nothing else; the last one counts."""
    rest, topic = text.strip(), None
    while rest:
        for name, pattern in COURTESIES:
            found = re.match(rf"{EDGE}(?:{pattern})(?![a-z]){EDGE}", rest)
            if found is not None and found.end() > 0:
                rest, topic = rest[found.end() :], name
                break
        else:
            return None
    return topic


def _about_system(text: str) -> SystemTopic | None:
    """What of the system itself is asked about, in one short message."""
    if len(text) > SYSTEM_CHARS_MAX:
        return None
    return next((topic for topic, pattern in ABOUT_SYSTEM if pattern.search(text)), None)


def _tells_of_failure(text: str) -> bool:
    """Something fails, and that it does, or why, is what the message is about."""
    if STATED.search(text):
        return True
    if not SYMPTOMS.search(text) or TOLD_FROM_PAGES.search(text):
        return False
    ongoing = ONGOING.search(text) and URGENT.search(text)
    return bool(CAUSES.search(text) or ONSETS.search(text) or ongoing)


def _asks_for_look(text: str) -> bool:
    """Somebody is to look at something that fails."""
    return bool(SYMPTOMS.search(text) and LOOKS.search(text))
