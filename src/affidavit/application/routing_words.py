"""The words by which a question's branch is told, in English and Chinese (I1; pure).

Each pattern is a list of alternatives, over text that was folded to one width and lower case. The
vocabulary is general: no product, no service and no particular fault stands here.
"""

from __future__ import annotations

import re
from typing import Final

from affidavit.contract.report import SystemTopic


def _any(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives))


def _words(listed: str) -> str:
    """Whole words, in any of the listed forms."""
    return rf"\b(?:{'|'.join(listed.split())})\b"


def _han(listed: str) -> str:
    """Chinese words; there is no boundary to look for."""
    return "|".join(listed.split())


# --- Courtesies, and the system itself --------------------------------------------------------

EDGE: Final = r"[\s!.,?~。！，？～、啊呀吧呢哦啦]*"
"""What may stand around a courtesy."""

_HELLO: Final = r"(?:hi|hello|hey|good (?:morning|afternoon|evening)|greetings)"
_NI_HAO: Final = r"(?:您好|你好|嗨|哈喽|早上好|下午好|晚上好|大家好)"
GREETING: Final = rf"(?:(?:{_HELLO}|{_NI_HAO})(?: (?:there|all|team|everyone|affidavit))?)"

COURTESIES: Final = (
    (SystemTopic.GREETING, GREETING),
    (
        SystemTopic.THANKS,
        (
            r"(?:ok(?:ay)?[, ]+)?(?:many thanks|thanks(?: a lot| so much)?|thx|cheers|"
            r"thank you(?: very much| so much)?)|(?:谢谢|多谢|感谢|谢了)(?:您|你|大家)?"
        ),
    ),
    (
        SystemTopic.FAREWELL,
        r"(?:bye(?: bye)?|goodbye|see you(?: later| soon)?|good night|再见|拜拜|晚安)",
    ),
)

ABOUT_SYSTEM: Final = (
    (
        SystemTopic.IDENTITY,
        _any(
            r"\b(?:who|what) (?:are|r) you\b[\s?!.]*(?:$|and\b|,)",
            r"\bwhat(?:'s| is) (?:your name|affidavit|this (?:system|tool|bot|service))\b",
            r"\bare you (?:an? )?(?:ai|bot|human|model|machine|llm|chatbot)\b",
            r"\bintroduce yourself\b",
            r"(?:你|您)(?:是谁|是什么|叫什么)",
            r"(?:你|您)是(?:不是)?(?:一个)?(?:机器人|人工智能|模型|真人)",
            r"(?:介绍|自我介绍)(?:一下)?(?:你|您|自己)",
            r"(?:这|本)(?:个)?(?:系统|工具|机器人)(?:是|叫)(?:什么|谁)",
        ),
    ),
    (
        SystemTopic.CAPABILITIES,
        _any(
            r"\bwhat (?:else )?(?:can|could|do) you (?:do|help|offer|support|know)\b",
            r"\bhow (?:can|could|do) you help\b",
            r"\bwhat (?:kinds?|types?|sorts?) of .{1,60} (?:can|do) you\b",
            r"\bhow (?:do|can|should) i (?:use|talk to|work with) (?:you|this|affidavit)\b",
            r"\bwhat (?:you|affidavit) (?:do|does|can do)\b",
            r"\bwhat are you (?:able to|good|for|capable)\b",
            r"\byour (?:capabilities|features|abilities|limits|limitations)\b",
            r"^help(?: me)?(?: please)?[!.?]*$",
            r"(?:你|您)(?:能|会|可以)(?:做|干|帮|支持)(?:些|我)?(?:什么|啥|哪些)",
            r"(?:你|您)(?:都)?有(?:什么|哪些)(?:功能|能力|本事)",
            r"^(?:你|您)(?:都)?会(?:些)?(?:什么|啥)[?？]?$",
            r"(?:你|您)(?:能|可以|会)(?:诊断|处理|回答|排查)(?:什么|哪些|哪类)",
            r"(?:怎么|如何)(?:使用|用)(?:你|您|本系统|这个系统|这个工具)",
            r"^(?:帮助|使用说明|功能)[!?。！？]*$",
        ),
    ),
)
"""Questions about the system, by the reply that answers them."""

# --- Diagnosis --------------------------------------------------------------------------------

_FAILS: Final = _words(
    "fail fails failing failed failure failures error errors erroring errored timeout timeouts "
    "timing(?:-|\\s)out timed(?:-|\\s)out times?(?:-|\\s)out slow slower slowly slowness latency "
    "lag lagging laggy outage outages crash crashes crashing crashed crashloop crashlooping "
    "crashloopbackoff oom oomkilled evicted broken breaks breaking broke unavailable unreachable "
    "unhealthy degraded degradation stuck hang hangs hanging hung spike spikes spiking spiked drop "
    "dropped dropping drops throttled throttling saturated restarting restarts restarted panic "
    "panics panicking rejecting rejected refused dead misbehaving flapping alert alerts alerting "
    "alarm alarms paged down offline elevated 5\\d\\d 5\\d\\ds 5xx incident incidents"
)
_FAILS_HAN: Final = _han(
    "报错 出错 错误 失败 故障 异常 超时 变慢 很慢 太慢 "
    "慢了 这么慢 那么慢 卡顿 卡住 卡死 延迟 宕机 崩溃 "
    "挂了 挂掉 不可用 无响应 没响应 没有响应 不响应 "
    "打不开 连不上 重启 告警 报警 飙升 飙高 激增 突增 "
    "暴涨 骤降 下跌 堆积 积压 抖动 中断 断开 被驱逐 "
    "出问题 有问题 不正常 不工作 起不来 拒绝连接 泄漏 "
    "打满 爆满 爆了 事故 频繁切换"
)

SYMPTOMS: Final = _any(
    _FAILS,
    r"\b(?:not|n't|stopped|stops) (?:responding|working|serving|starting|loading|processing)\b",
    r"\b(?:queue|queues|backlog) (?:is |are )?(?:growing|piling up|building up)\b",
    r"\b(?:running|ran) out of\b|\bwrong with\b|\bacting up\b|\bnot ?ready\b",
    r"\bkeeps? (?:climbing|growing|rising|increasing|falling)\b|\bnot being \w+ed\b",
    (
        r"\b(?:can't|cannot|couldn't|unable to) (?:\w+ )?(?:log ?in|sign in|connect|reach|load|"
        r"start|open|access|pay|check out|write|read)\b"
    ),
    _FAILS_HAN,
)
"""Something fails."""

STATED: Final = _any(
    r"\bwhat(?:'s| is) (?:going on|happening|wrong|up) (?:with|in|on)\b",
    (
        r"\b(?:is|are|went|going|'s|keeps?|just|still)(?: \w+)? (?:down|offline|broken|failing|"
        r"crashing|timing out|unreachable|unavailable|erroring|flapping|unhealthy|stuck|dead|"
        r"restarting|hanging|not (?:responding|working))\b"
    ),
    r"\b(?:is|are) running out of\b|\bstopped (?:working|responding|serving)\b",
    r"\b(?:crash\w*|fail\w*|error\w*|down|outage)\b.*,\s*help\b[!.]*$",
    r"(?:报错|出错|挂|宕机|崩溃|崩|超时|不可用|连不上|打不开|中断|断开|卡死|卡住|失败|异常|出问题)了",
    r"(?:突然|骤然|频繁|一直|不断|大量|又|还在|正在|持续).{0,8}(?:" + _FAILS_HAN + ")",
    r"(?:骤降|激增|暴涨|飙升|下跌)(?:了|$)",
)
"""That something fails now, said in so many words."""

CAUSES: Final = _any(
    r"\bwhy(?:'s)?\b",
    r"\broot[ -]?causes?\b|\bcaus(?:e|ed|es|ing)\b|\breasons? (?:for|behind)\b",
    r"\bwhat (?:happened|happens|broke|changed|made|went wrong)\b",
    r"\bwhat(?:'s| is| was) (?:going on|happening|wrong|up|behind|breaking|causing)\b",
    r"\b(?:any )?ideas? (?:what|why)\b",
    r"为什么|为何|为啥|原因|根因|起因|什么导致|是什么(?:引起|造成)",
    r"怎么(?:会|了|回事|突然|一直|老是|总是|又|还|这么|那么)",
)
"""Its cause is asked for."""

ONSETS: Final = _any(
    r"\b(?:right )?now\b|\bcurrently\b|\bat the moment\b|\bsuddenly\b|\bsince\b|\bagain\b",
    r"\b(?:minutes?|mins?|hours?|hrs?|seconds?) ago\b|\bjust (?:started|began|went|now)\b",
    r"\b(?:keeps?|seeing|getting) .{0,40}\b(?:today|tonight|this (?:morning|afternoon|evening))\b",
    r"现在|目前|当前|刚才|刚刚|突然|分钟前|小时前|以来|\d{1,2} ?点",
)
"""Its present or its beginning is told."""

LOOKS: Final = _any(
    r"\b(?:diagnose|investigate|troubleshoot|debug|triage)\b",
    r"\b(?:look|dig|check) into\b|\bfind (?:out )?(?:what|why|the (?:root )?cause)\b",
    r"排查|诊断|定位|调查|分析一下|查一下|查查|看一下|看看|帮忙看",
)
"""Somebody is asked to look."""

ONGOING: Final = _any(
    r"\b(?:is|are|keeps?|started|seeing|getting|gets|throwing|returning|has been|have been)\b",
    r"了|着|在|不断|频繁|大量|出现|发生",
)
URGENT: Final = _any(r"\bhelp\b|\bplease\b|[!！]|救命|帮忙|求助|急")
"""A cry for help about something that goes on."""

WORKING_ON: Final = _any(
    _words(
        "did does do was were is are has have which what when where who show list tell any and "
        "also really sure more"
    ),
    r"\bhow (?:many|much|long|often)\b",
    r"吗|呢|哪|什么|多少|何时|是否|有没有|还有|列出|给我|告诉|展示|证据|日志|指标|链路",
)
"""A further question about an incident that is there already."""

# --- Knowledge --------------------------------------------------------------------------------

PAGES: Final = _any(
    _words(
        "runbook runbooks playbook playbooks wiki handbook manual documentation docs sop sops "
        "guideline guidelines procedure procedures policy policies faq cheatsheet onboarding"
    ),
    r"\b(?:knowledge base|documented|indexed pages?|according to|best practices?)\b",
    r"\b(?:disaster )?recovery plan\b|\bon-?call (?:guide|rotation|policy)\b",
    _han("手册 文档 知识库 规程 规范 流程 步骤 最佳实践 预案 指南 教程 值班表 说明书"),
)
"""Pages are named."""

WAYS: Final = _any(
    r"\bhow (?:do|does|can|could|should|would|must|to)\b(?! (?:you|i use you)\b)",
    (
        r"\bwhat(?:'s| is| are) the (?:steps?|process|way|recommended|default|standard|correct|"
        r"right|difference|meaning|purpose|usual|retention|limit|quota|threshold|slo|sla)\b"
    ),
    r"\bwhat does .{1,60} (?:mean|stand for|do)\b|\bwhat is an? \b|\bdefin(?:e|ition of)\b",
    r"\bexplain (?:what (?!you\b)|how|the)\b",
    r"\bwhere (?:is|are|can|do) .{0,40}\b(?:documented|described|written|find)\b",
    r"\bwho (?:owns|is on call|is responsible|maintains|approves|should (?:i|we))\b",
    r"\bwhen (?:should|do|must) (?:i|we|one|you|an?)\b",
    (
        r"\bhow (?:is|are) .{1,40}\b(?:rolled out|done|set up|configured|deployed|handled|managed|"
        r"stored|defined|measured|calculated|versioned)\b"
    ),
    (
        r"怎么(?:做|办|配置|配|设置|设|扩容|回滚|部署|升级|重启|申请|处理|恢复|修复|解决|操作|切换|清理|"
        r"备份|迁移|查看|使用|联系|限流|降级|写|改|加|建|开|关|上线|更新|轮换)"
    ),
    r"如何|怎样|什么是|是什么意思|什么意思|有什么区别|该找谁|谁负责|联系谁",
    r"应该(?:怎么|如何|找谁)|在哪里(?:看|查|找|写)",
)
"""A way of doing things, a meaning or an owner is asked for, not an event."""

TOLD_FROM_PAGES: Final = _any(
    r"\b(?:runbook|playbook|wiki|docs|documentation|handbook|manual)s? (?:for|about|on|of)\b",
    r"(?:对|关于|针对).{1,20}(?:步骤|预案|流程|规范|处理|手册|文档)",
)
"""The failure is only what the pages are about."""
