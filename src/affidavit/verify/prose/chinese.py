"""General Chinese, by what a word does, with the English stems that it may be met by.

Chinese reports are about English evidence more often than not; so a word carries English glosses,
and is found in evidence when one of them is, or when it stands there itself. Words are cut by
longest match; what no entry covers has to stand in the evidence as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from affidavit.verify.prose import hanzi
from affidavit.verify.prose.lexicon import Role
from affidavit.verify.prose.neutral import NEUTRAL
from affidavit.verify.statements.units import UNITS
from affidavit.verify.statements.words import stem

_FREE: Final = (
    "的 了 着 多个 多条 一些 若干 几 大量 许多 一半 半数 三分之一 三分之二 四分之一 数百 数千 数万 数十 数百万 上百 上千 几十 几百 几千 少数 仍 仍然 依然 现在 目前 当前 一直 始终 反复 多次 停在 卡在 停留在 新 自动 持续 全程 过 地 得 是 在 于 和 与 及 以及 或 或者 并 并且 而 而且 但 但是 不过 然而 则 就 才 又 再 还 也 "
    "已 已经 曾 曾经 正 正在 处于 位于 当 当时 时 时候 期间 之间 之后 之前 以后 以前 后 前 中 内 里 上 下 外 "
    "从 自 自从 到 至 向 往 对 对于 关于 把 将 被 由   给 为 以 按 按照 根据 据 通过 经 经过 因 其 其中 "
    "它 它们 该 此 这 这个 这些 那 那个 那些 本 本次 此次 某 某个 各自 分别 同时 同一 相同 不同 另 另外 其他 "
    "其余 有 存在 出现 发生 显示 表明 说明 记录 记录了 写明 写道 报告 报出 打印 输出 返回 给出 列出 列有 "
    "提到 指出 称 说 见 看到 查到 查询 搜索 检查 统计 得到 收到 发现 观察到 观测到 包含 包括 含 属于   "
    "进行                     "
    "      次日 当天 当日 每天 左右 前后 大约 约 大概 近 将近 次 个 条 台 名 种 项 "
    "行 处 份 起 件 组 批 位 家 页 轮 段 颗 块 步 这一步 内容 情况  事件 信息 消息 数据 数值 值 数量 数目 "
    "数 总数 总 合计 共 共有 一共 共计 其值 结果 状态 原因 时间 时刻 时段 时间段 时间窗 窗口 区间 范围 期 "
    "请求 调用 响应 应答 名称 名 编号 标识 类型 类 部分 比例 比率 占 占比 份额    最大值 最小值 "
    "样本 采样 采样点 读数 指标 字段 列 表 级别 水平 程度 一次 一条 一个       单个 "
    "具体 主要 整体 整个 全过程 相关 对应 相应 所 所在 之 者 们 等 等等 即 也就是 换言之 其后 随后 接着 然后 "
    "最终 一侧 一方 方面 对方 对端 双方 本身 自身 自己   直接 明确 具有 带有 拥有 采用 使用 用 用时 "
    "耗时 花费 历时 长达 达 达到  为止 以来 日志 可以 可 能 能够 会 要 需 需要 应 应该 请 请求数 回 "
    "   变        查看 读取 读 采集 取 取得 获得 获取 拿到 标记 标为 "
    "标出 命中 匹配 符合 一致 相符 吻合 同 一样 一行 最后一行 一侧的 这里 那里 哪里 何时 何处 什么 谁 如何 "
    "怎么 为何 为什么 为啥 何以 何故 怎样 有没有 是不是 能否 是否 多少 几个 吗 呢 吧 了解 知道 点 分 秒 年 月 日 号 时长              "
    "较 比 更 很 非常 十分 比较 相当 极 太 稍 略  几乎  全量 其它 上述 下述 以上 以下 如下 上面 下面 "
    "前述 所述 所示 所列 列表 清单 结论 分析 诊断 本报告 说法 表示 意味着 意思 时点 节奏 间隔 每次 每隔 隔 "
    "   一段 段落 之外 除 除了 之内 以内 以外 里面 中间 旁边 附近 第 编 副 首 尾 头 位置 地方    "
    "     操作 动作 过程 流程 阶段 次数 个数 条数 行数 份数 页数"
)
_ROLE_WORDS: Final[Mapping[Role, str]] = MappingProxyType(
    {
        Role.NEGATION: "没有 没 未 不 无 未查到 未发现 未见 未找到 没有查到 没有发现 没有找到 没查到 无法 不能 未能 不可 不再 并未 并没有 从未 不足 不到 未被 不是 尚未 还没 缺少 缺乏 无权限 不通过 不通 不了 不存在 未通过 没通过 并非 绝非 未能 未获 未见到 没有看到 没有记录 没有返回 未返回 未出现 没有出现 未发生 没有发生 为空 返回为空 结果为空 空空如也 未命中 没命中 没有命中 没有匹配到 未匹配到 未匹配 没有匹配",
        Role.EVERY: "所有 全部 每 每个 每次 每条 每台 每一 各 各个 都 均 皆 全 全都 一律 任何 两者 均为 都是 无一例外 各有 各为 各自都 已全部 均已全部 全部来自 均来自 都来自 均在 都在 均处于 都处于 均已 都已 全数 二者都 两者都",
        Role.ONLY: "只取回 只读到 只 仅 仅有 只有 仅仅 唯一 仅在 只在",
        Role.NONE: "毫无 没有任何 无任何 一个也没有",
        Role.MOST: "大多数 多数 大部分 主要是 绝大多数 绝大部分",
        Role.UP: "上升 升至 升到 上升到 上升至 增加 增加到 增加至 增长 增长到 增至 增到 上涨 涨到 涨至 攀升 飙升 飙升至 提高 提高到 升高 升高到 激增 扩到 翻倍 走高 暴涨 升 升为 增为 涨 抬升 抬升到 升破 陡增 突增 突增到 突增至 陡增到 激增到 激增至 跃升到 跃升至 攀升到 攀升至",
        Role.DOWN: "下降 下降到 下降至 降至 降到 减少 减少到 减至 降低 降低到 跌至 跌到 下跌 回落 回落到 回落至 走低 骤降 缩减 降 落到 落至 跌落 减到 滑落到 骤降至 降为 减为",
        Role.FLAT: "维持 保持在 维持在 稳定 稳定在 不变 平稳 持平",
        Role.MORE: "超过 高于 大于 多于 不低于 不少于 至少 以上 不小于 超出 逾",
        Role.LESS: "低于 小于 少于 不超过 不高于 至多 最多 以下 不大于 不足 未超过",
        Role.ABOUT: "约 大约 大概 左右 近 将近 接近 差不多",
        Role.HEDGE: "可能 也许 或许 大概率 疑似 似乎 好像 看来 应该是 推测 估计 猜测 怀疑 想必 多半",
        Role.CAUSED_BY: "原因为 起因为 原因就是 因而由 归咎于 肇因于 因为 由于 原因是 原因在于 是因为 源于 源自 起因于 起因是 归因于 出自 由…引起 根因是 根本原因是 根源是 在于",
        Role.CAUSES: "导致 导致了 造成 造成了 引起 引起了 引发 引发了 致使 使得 从而 因此 所以 因而 于是 以致 触发 触发了 让 使 拖垮 拖慢 压垮 打满 耗尽了 占满了 阻塞了 带来",
        Role.UNKNOWN: "说不清 尚不清楚 不清楚 未知 不明 尚不明确 不明确 尚未确定 无法确定 未能确定 不得而知 尚无法确认 无法确认 未确认 看不出 没有显示 未显示 尚待 有待 没有证据 无从得知 未核实 看不出来 无从判断 无法判断 不可知 不确定 尚未确认 尚不得知 没有说明 未说明 没有给出 并不清楚 仍不清楚 尚未查明 未查明 没有记录到原因",
        Role.BEFORE: "早于 先于",
        Role.AFTER: "晚于",
        Role.FIRST: "最早 首次 第一次 首个 首先 最先 首条 第一个 第一条",
        Role.LAST: "最后 最近 最新 最晚 最近一次 最后一次 末次 上次 最后一条",
        Role.HIGHEST: "最高 最大 最长 最多 峰值 最慢",
        Role.LOWEST: "最低 最小 最短 最少 谷值 最快",
        Role.SINCE: "起 开始 以来 自从",
    }
)
_GLOSSES: Final = """
去年 lastyear|昨天 yesterday|昨晚 yesterday|上周 lastweek|上月 lastmonth|今年 thisyear|明天 tomorrow|今天 today|前天 yesterday|近期 recently
开始 start started begin began starting|结束 end ended finish finished|完成 complete completed completions completion done|启动 start started starting startup|开启 open opened start|打开 open opening opened|关闭 close closed disable disabled|运行 running run active|执行 execution run execute active|处理 process handle|进入 enter entered|问题 problem issue|继续 continue|旧 old|老 old|慢 slow|快 fast|高 high|低 low|平均 average avg mean|均值 average avg mean|平均值 average avg mean|手动 manual|成为 become|变为 became changed|变成 became changed|转为 became changed|转入 entered|工作 work
服务 service services svc|服务器 server servers|服务端 server|客户端 client|客户 client customer|用户 user users usename
证书 certificate cert x509|过期 expired notafter expire|到期 expire notafter|有效期 notafter valid validity|生效 valid notbefore|中级 intermediate|根 root|叶 leaf|校验 verify verification check|验证 verify validate|签名 signature sign|吊销 revoked|握手 handshake
返回码 code return exitcode|错误码 code errorcode|状态码 status code|退出码 exitcode exit code|退出 exit exited|代码 code
错误 error errors err fail failed warning|报错 error errors failed|异常 exception abnormal error anomalous|失败 failed fail failure error|告警 alert alerts alarm warning|警告 warning warn|崩溃 crash panic crashloop crashed|宕机 down|挂掉 down crash
超时 timeout timed deadline deadlineexceeded timedout|截止 deadline|拒绝 refused denied rejected reject deny forbidden|无权限 forbidden denied permission unauthorized|权限 permission role|禁止 forbidden|中断 interrupted interrupt|断开 disconnected closed disconnect|断连 disconnect closed
重启 restart restarts restartcount restarted reboot|重试 retry retries retrycount|回滚 rollback roll rolled|发布 release deploy deployed rollout|部署 deploy deployment deployed rollout|升级 upgrade upgraded|扩容 scale scaled scaling autoscaler|缩容 scale scaled|扩 scale scaled|迁移 migration migrate|切换 failover switch switched|变更 change changed changes|配置 config configuration configured set|设置 set setting config|版本 version revision tag|修订 revision|镜像 image images|拉取 pull pulling pulled|推送 push pushed|仓库 registry repository repo|标签 tag label
容器 container containers|节点 node nodes host|节点组 nodegroup node group asg|命名空间 namespace|集群 cluster|副本 replica replicas|实例 instance instances|主机 host node|机器 host machine node|进程 process pid|线程 thread threads|协程 goroutine|任务 job task jobs tasks|作业 job jobs|定时任务 cronjob cron job|计划 schedule scheduled plan|调度 schedule scheduled scheduling lastschedule lastscheduletime|挂起 suspend suspended|暂停 suspend pause paused|策略 policy|并发策略 concurrencypolicy|并发 concurrency concurrent|完成数 completions
启动 start started starting startup|运行 running run|执行 execution run execute active|停止 stop stopped|终止 terminated terminate killed|杀死 killed oomkilled kill|杀掉 killed oomkilled kill|驱逐 evicted evict eviction|就绪 ready readiness|健康 healthy health|不健康 unhealthy|探针 probe|健康检查 health healthcheck probe|存活 liveness alive
连接 connection connections connect conn connected|连接数 connections connection|连接池 pool connectionpool|池 pool|会话 session sessions pid|事务 transaction xact transactions|锁 lock locks|死锁 deadlock|阻塞 blocked blocking block|等待 wait waiting waits pending blocked|空闲 idle free available|活跃 active|占用 used usage in_use held|使用率 utilization usage util percent|利用率 utilization usage|使用量 usage used
延迟 latency delay lag duration|时延 latency|滞后 lag|复制 replication replica|主库 primary master|从库 replica secondary|备库 replica standby|吞吐 throughput|速率 rate|错误率 error rate ratio|成功率 success rate ratio|命中率 hit ratio|流量 traffic|带宽 bandwidth|丢包 loss packet drop dropped|丢包率 loss packet|重传 retransmit retrans
内存 memory mem oom oomkilled|处理器 cpu|磁盘 disk filesystem volume|硬盘 disk|存储 storage volume|空间 space|卷 volume pvc|文件 file files|文件系统 filesystem|目录 directory dir|缓存 cache|队列 queue|积压 backlog lag pending depth ready queued|消费 consume consumer consumed|消费者 consumer consumers|消费组 group consumergroup|生产者 producer|消息 message messages|主题 topic|分区 partition partitions|偏移 offset|深度 depth
数据库 database db|表 table relation|关系 relation|索引 index|语句 statement query sql|查询 query select search|记录 row record|行 row rows|字段 column field|模式 schema
域名 domain host hostname name dns|解析 resolve resolution lookup dns|地址 address ip|端口 port|网络 network|网关 gateway|代理 proxy|负载均衡 balancer loadbalancer lb|负载 load|上游 upstream|下游 downstream|后端 backend upstream|前端 frontend|接口 interface api endpoint port|路由 route router routing|交换机 switch|链路 link path|路径 path|防火墙 firewall|隧道 tunnel|收发队列 recv-q send-q recv send|收 recv receive|发 send
限制 limit limits|上限 limit max maximum|下限 min minimum|阈值 threshold|配额 quota|限流 throttle throttled ratelimit|熔断 breaker circuit|降级 degrade degraded|耗尽 exhausted exhaust full|满 full|溢出 overflow|泄漏 leak|泄露 leak|过载 overload overloaded|饱和 saturated saturation|不足 insufficient not enough|不可用 unavailable|可用 available|缺失 missing|丢失 lost missing|损坏 corrupt corrupted|冲突 conflict|重复 duplicate
日志 log logs|日志行 log line|事件 event events|指标 metric metrics|追踪 trace traces|链路追踪 trace|跨度 span|监控 monitor monitoring|仪表盘 dashboard|提交 commit committed|代码 code|函数 function|方法 method|空指针 nil null pointer|堆栈 stack trace|异常栈 stack trace
大小 size|长度 length|温度 temperature|电源 power|风扇 fan|序列号 serial|固件 firmware|批次 batch|批 batch|分片 shard partition|快照 snapshot|备份 backup|恢复 recover recovered restore resolved|正常 normal ok healthy running ready success|成功 success succeeded successful successfully lastsuccessfultime completed|通过 pass passed ok|触发 trigger triggered fired firing|请求 request requests|响应 response|订单 order orders|支付 payment pay|合作方 partner partners|钱包 wallet|短信 sms|推送 push|设备 device|应用 app application|程序 program app|模块 module|组件 component|系统 system|平台 platform|环境 environment env|机房 datacenter zone idc|区域 region zone area|可用区 zone az|线上 production prod|生产 production prod produce
租出 leased lease|租约 lease leases|租期 lease|地址池 pool|网段 network subnet|登录 login|密钥 key keys kid|待消费 ready pending|对账 reconcile|短信验证码 sms verify|消费 consume consumer consumed consumers|崩溃 crash panic crashloop crashed crashloopbackoff|缺少 missing lack|已满 full exhausted
最近一次调度 lastscheduletime lastschedule schedule|最近一次成功 lastsuccessfultime successful success|上次调度 lastschedule lastscheduletime schedule|上次成功 lastsuccessfultime successful success|用时 duration took|前一次 prior previous|前一 prior previous|并发策略 concurrencypolicy concurrency policy|对端 peer remote|本端 local|本地 local|远端 remote peer
"""


def _build() -> Mapping[str, tuple[Role, frozenset[str]]]:
    table: dict[str, tuple[Role, frozenset[str]]] = {
        word: (Role.FREE, frozenset()) for word in (*_FREE.split(), *hanzi.REPORTING.split())
    }
    for entry in (_GLOSSES + hanzi.GLOSSES).replace("\n", "|").split("|"):
        word, *glosses = entry.split() or [""]
        if word:
            known = table.get(word, (Role.CONTENT, frozenset()))[1]
            role = Role.FREE if word in table and table[word][0] is Role.FREE else Role.CONTENT
            stems = frozenset(stem(gloss) for gloss in glosses) | frozenset(glosses)
            table[word] = (role, known | stems)
    table.update({unit: (Role.FREE, frozenset()) for unit in UNITS if not unit.isascii()})
    for role, words in _ROLE_WORDS.items():
        for word in words.split():
            glosses_of = table.get(word, (role, frozenset()))[1]
            table[word] = (role, glosses_of)
    return MappingProxyType(table)


WORDS: Final = _build()
"""Every word that is known, its role, and its glosses."""

_LONGEST: Final = max(map(len, WORDS))
DIGITS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "零": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8,
        "九": 9, "十": 10,
    }
)  # fmt: skip
_NUMERAL: Final = re.compile(
    r"第?[零一二两三四五六七八九十]{1,3}"
    r"(?=[个条次台名种项行处份起件组批位家页轮段倍天周笔封帧道层座间扇辆艘株趟块只张秒])"
    r"|[一二三四五六七八九]成(?![功为员本长立交份])"
)
CJK: Final = re.compile(r"[\u3400-\u9fff]+")


def cut(run: str) -> tuple[tuple[str, int], ...]:
    """A run of Chinese characters as words with their places: the fewest words, the fewest gaps.

    Characters that no entry covers are kept together as one piece. Of equal ways the one with the
    longer word first is taken. Linear in the run.
    """
    lengths, known = _best(run)
    found: list[tuple[str, int]] = []
    place, loose = 0, 0
    while place < len(run):
        length = lengths[place]
        if known[place]:
            if loose < place:
                found.append((run[loose:place], loose))
            found.append((run[place : place + length], place))
            loose = place + length
        place += length
    if loose < len(run):
        found.append((run[loose:], loose))
    return tuple(found)


GAP_COST: Final = 5
"""A character that no word covers costs more than two words, so that words are kept whole."""
WORD_COST: Final = 2
CHARACTER_COST: Final = 3
"""A word of one character may be a part of another that is not known."""


def _best(run: str) -> tuple[list[int], list[bool]]:
    """For each place, how long the best piece is that begins there, and whether it is a word."""
    size = len(run)
    costs = [0] * (size + 1)
    lengths, known = [1] * size, [False] * size
    for place in range(size - 1, -1, -1):
        costs[place] = costs[place + 1] + GAP_COST
        numeral = _NUMERAL.match(run, place)
        for length in range(1, min(_LONGEST, size - place) + 1):
            counts = numeral is not None and len(numeral[0]) == length
            if not counts and run[place : place + length] not in WORDS:
                continue
            own = 1 if counts else CHARACTER_COST if length == 1 else WORD_COST
            cost = costs[place + length] + own
            if cost < costs[place] or (cost == costs[place] and length > lengths[place]):
                costs[place], lengths[place], known[place] = cost, length, True
    return lengths, known


TENTH: Final = 10
"""How many per cent 一成 is."""


def numeral(word: str) -> int | None:
    """The number that a numeral is, up to ninety-nine, or None. An ordinal (第三) is none."""
    if word.endswith("成") and len(word) == 2 and word[0] in DIGITS:
        return DIGITS[word[0]] * TENTH
    if not word or any(sign not in DIGITS for sign in word):
        return None
    if "十" not in word:
        return DIGITS[word] if len(word) == 1 else None
    tens, _, ones = word.partition("十")
    return (DIGITS[tens] if tens else 1) * 10 + (DIGITS[ones] if ones else 0)


def is_doer(word: str) -> bool:
    """Whether an English word is called by what it does (recorder): beside Chinese, a name."""
    ends = word.endswith(("er", "ers", "or", "ors"))
    return word.isascii() and ends and stem(word) != word and word not in NEUTRAL


def to_english(duration: str) -> str:
    """A length of time with its units in English letters: 3 分钟 5 秒 is 3 min 5 s."""
    for chinese_unit, unit in (("个小时", "h"), ("小时", "h"), ("天", "d"), ("分钟", "min"),
                               ("分", "min"), ("秒", "s"), ("and ", "")):  # fmt: skip
        duration = duration.replace(chinese_unit, unit)
    return duration
