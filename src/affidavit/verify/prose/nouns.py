"""Words that nothing cited holds, and that claim nothing where they stand.

A noun behind a bound number says what is counted ("412 prefixes"); one before a bound name says what
kind of thing it is ("neighbor 10.64.0.5", "clock of push-gw-1"). There it is a label, and the number
or the name carries the claim. Words of trouble, of resources and of change are never labels: those
have to be found in evidence wherever they stand.
"""

from __future__ import annotations

from typing import Final

from affidavit.verify.prose.lexicon import Role
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.statements.words import stem

CLAIMING: Final = frozenset(
    stem(word)
    for word in
    "error errors failure failures fail failed timeout timeouts crash crashes exception exceptions "
    "restart restarts retry retries drop drops loss lost leak leaks deadlock panic outage fault "
    "faults bug bugs misconfiguration corruption overload saturation exhaustion throttling eviction "
    "evictions kill kills oom warning warnings alert alerts alarm rejection rejections refusal "
    "denial expiry expiration conflict mismatch cpu memory disk network latency cache queue lock "
    "locks thread threads pool certificate token password secret index deploy deployment release "
    "rollback upgrade migration config configuration change changes commit flag attack bot spike "
    "burst surge storm backlog lag delay bandwidth packet packets dns tls firewall healthy unhealthy "
    "success successes succeed succeeds succeeded succeeding successful successfully valid invalid stalled hits misses duplicate duplicates orphan stale idle active inactive blocked "
    "blocking waiting pending full empty slow fast broken missing wrong invalid bad good normal "
    "abnormal anomalous degraded stable unstable available unavailable ready down offline online "
    "up primary standby leader follower old new caused causing hang hangs hung stuck freeze "
    "frozen starve starved starvation saturate saturated overloaded exhausted exhaust delete deleted "
    "remove removed removes drop dropped add added create created modify modified edit edited rename "
    "renamed disable disabled enable enabled revoke revoked rotate rotated scale scaled resize evict "
    "evicted reject rejected refuse refused deny denied break broke corrupt corrupted leak leaked "
    "leaking deadlocked throttle throttled flood flooded spam hack hacked compromise compromised "
    "steal stolen misconfigured mistake mistaken wrongly accidentally human operator bug buggy "
    "regress regression outdated deprecated obsolete unpatched vulnerable vulnerability intentional "
    "deliberate manual manually automatic automatically scheduled unscheduled planned unplanned "
    "maintenance test testing experiment rollout roll rolled push pushed merge merged deployed "
    "released upgraded downgraded migrated reconfigured restarted rebooted reboot crashed "
    "killed terminated stopped expired lost missing lacks lacking insufficient excessive unlimited "
    "limit limits quota threshold capacity dead alive responsive unresponsive reachable unreachable "
    "disconnect disconnected resolve resolved recover recovered fix fixed repair "
    "repaired mitigate mitigated solved clean safe unsafe secure insecure customer customers user "
    "users revenue money sla slo never always often usually normally typically rarely sometimes "
    "everywhere nowhere certainly definitely obviously proven proves prove guarantee guaranteed "
    "expected unexpected known unknown first-ever only sole purely entirely completely totally fully "
    "largely partly partially double doubled triple half twice increase decreased worse better "
    "worst best back".split()
)  # fmt: skip
"""Words of trouble, of resources and of change: a claim wherever they stand. General; no product's."""

CLAIMING_ZH: Final = (
    "错误", "失败", "超时", "崩溃", "异常", "重启", "重试", "丢", "泄", "死锁", "宕", "故障", "过载", "饱和", "耗尽",
    "驱逐", "杀", "告警", "警告", "拒绝", "过期", "冲突", "内存", "磁盘", "网络", "延迟", "缓存", "锁", "线程",
    "证书", "密码", "索引", "发布", "部署", "回滚", "升级", "迁移", "配置", "变更", "攻击", "突增", "积压", "滞后",
    "丢包", "健康", "成功", "空闲", "活跃", "阻塞", "等待", "满", "慢", "坏", "缺", "正常", "可用", "就绪", "中级",
    "完成", "结束", "启动", "开始", "停止", "打开", "恢复", "更换", "吊销", "暂停",
    "主库", "从库", "旧", "新", "运营", "删除", "修改", "关闭",
)  # fmt: skip

_BETWEEN: Final = frozenset(
    "of the a an its their 的 个 条 次 台 名 种 项 行 份 批 张 只 其".split()
)


_COUNTED_ZH: Final = ("数", "率", "量", "值", "时间")
"""What ends so is measured, and claims nothing itself: 完成数, 错误率."""


def claims(token: Token) -> bool:
    """Whether a word claims something wherever it stands."""
    if not token.text.isascii():
        return not token.text.endswith(_COUNTED_ZH) and any(
            sign in token.text for sign in CLAIMING_ZH
        )
    return stem(token.text) in CLAIMING


PLAIN_MAX: Final = 0
"""Words of a clause that nothing holds and that claim nothing, where something else carries it."""
PLAIN_STATED_MAX: Final = 0
"""The same, where typed statements carry the sentence."""


def is_plain(token: Token) -> bool:
    """Whether a word may stand unbound beside bound ones: no name, no claim, no trouble."""
    return token.kind is Kind.WORD and not token.proper and not claims(token)


def is_kind(tokens: tuple[Token, ...], place: int) -> bool:
    """Whether a name only says what kind of thing the next name is: "ReplicaSet web-6c9f"."""
    token = tokens[place]
    after = tokens[place + 1] if place + 1 < len(tokens) else None
    return (
        token.kind is Kind.NAME
        and token.text.isalpha()
        and after is not None
        and (after.kind is Kind.NAME or (after.kind is Kind.NUMBER and not after.spelled))
        and after.start - token.end <= 1
        and not after.text.isalpha()
    )


KINDS: Final = frozenset(
    "pod pods host hosts node nodes server servers instance instances container containers process "
    "thread threads job jobs task tasks run runs user session sessions client application app component "
    "resource resources object objects item items file files path endpoint address addresses interface "
    "interfaces port device cluster namespace version revision release image commit key class table "
    "column function method module package process processes partition partitions replica replicas "
    "build builds upstream backend target message messages connection connections keys bytes rows entries orders requests".split()
)
"""What kind of thing a name may be of; ordinary words of any system."""


_KIND_STEMS: Final = frozenset(map(stem, KINDS))


def is_label(tokens: tuple[Token, ...], place: int) -> bool:
    """Whether a word only names what a number counts or what kind of thing a name is."""
    token = tokens[place]
    if token.kind is not Kind.WORD or token.proper or claims(token):
        return False
    low = token.text.casefold()
    if low.isascii():
        return low in KINDS and (_behind_number(tokens, place) or _before_name(tokens, place))
    return bool(token.stems & _KIND_STEMS) and (
        _behind_number(tokens, place) or _before_name(tokens, place)
    )


def _behind_number(tokens: tuple[Token, ...], place: int) -> bool:
    for token in reversed(tokens[max(0, place - 3) : place]):
        if token.kind is Kind.NUMBER:
            return True
        if token.text.casefold() not in _BETWEEN and token.role is not Role.CONTENT:
            return False
        if token.kind is not Kind.WORD:
            return False
    return False


def _before_name(tokens: tuple[Token, ...], place: int) -> bool:
    for token in tokens[place + 1 : place + 4]:
        if token.kind is Kind.NAME or (token.kind is Kind.NUMBER and not token.spelled):
            return True
        if token.kind is not Kind.WORD or token.text.casefold() not in _BETWEEN:
            return False
    return False
