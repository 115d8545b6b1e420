"""System chat: the fixed replies, which claim nothing (I3, L1; pure).

The whole of what the system ever says about itself. A reply is chosen by topic and language; no
word of a question, a tool or a model can get into it, so there is nothing to check but the choice.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, get_args

from affidavit.contract.agent import Ending
from affidavit.contract.report import Language, SystemReply, SystemTopic
from affidavit.core.canonical import canonical_json
from affidavit.release.findings import Findings
from affidavit.release.situation import Faulted, Replied

LANGUAGES: Final[frozenset[str]] = frozenset(get_args(Language))

_EN: Final[Mapping[SystemTopic, str]] = MappingProxyType(
    {
        SystemTopic.GREETING: "Hello. Ask why something fails, or what the indexed pages say about "
        "something.",
        SystemTopic.CAPABILITIES: "I investigate an incident that you name, and publish only what "
        "recorded tool results prove. I also quote the pages that were indexed for you. Ask why a "
        "service fails and since when, ask what a runbook says, or ask a further question about "
        "an earlier answer.",
        SystemTopic.IDENTITY: "I am Affidavit. Whatever I say about an incident names the recorded "
        "result that proves it; where nothing is proved, I say that.",
        SystemTopic.THANKS: "You are welcome.",
        SystemTopic.FAREWELL: "Goodbye.",
    }
)
_ZH: Final[Mapping[SystemTopic, str]] = MappingProxyType(
    {
        SystemTopic.GREETING: "您好。可以问我某个服务为什么出问题，或者知识库里对某件事怎么写。",
        SystemTopic.CAPABILITIES: "我调查您指定的故障，只发布有工具记录可以证明的内容；"
        "也会引用已入库的文档。请说明哪个服务、从什么时候开始出问题，或者想查哪份手册；"
        "也可以就之前的回答继续追问。",
        SystemTopic.IDENTITY: "我是 Affidavit。关于故障，我说的每一句话都会指明证明它的记录；"
        "没有证明的，我会直说。",
        SystemTopic.THANKS: "不客气。",
        SystemTopic.FAREWELL: "再见。",
    }
)

REPLIES: Final[Mapping[tuple[SystemTopic, Language], str]] = MappingProxyType(
    {
        **{(topic, "en"): text for topic, text in _EN.items()},
        **{(topic, "zh"): text for topic, text in _ZH.items()},
    }
)
"""Every reply, by topic and language."""


def reply_of(situation: Replied) -> SystemReply:
    """The reply that was chosen."""
    text = REPLIES[situation.topic, situation.language]
    return SystemReply(topic=situation.topic, language=situation.language, text=text)


def write_choice(topic: SystemTopic, language: Language) -> bytes:
    """A choice, as its run keeps it."""
    return canonical_json({"topic": str(topic), "language": language})


def read_reply(findings: Findings) -> Replied | Faulted | None:
    """The reply that system chat chose; None for a run that is no system chat."""
    if findings.ending is not Ending.REPLIED:
        return None
    try:
        choice = json.loads(findings.draft or b"")
        topic, language = SystemTopic(choice["topic"]), choice["language"]
    except (ValueError, KeyError, TypeError):
        return Faulted()
    if not findings.is_lawful or language not in LANGUAGES or len(choice) != len(_CHOICE):
        return Faulted()
    return Replied(topic, "zh" if language == "zh" else "en")


_CHOICE: Final = ("topic", "language")
"""What a choice holds, and nothing beside it."""
