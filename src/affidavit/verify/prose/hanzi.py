"""General Chinese of reports, trades and machines, each word with the English that it may stand for.

`chinese.py` holds the words of any report; these are the nouns and verbs of what reports are about.
A word is found in evidence when one of its glosses is, or when it stands there itself; a gloss is
never an opposite, and never a word of another thing. No product, no case: a pocket dictionary.
"""

from __future__ import annotations

from typing import Final

REPORTING: Final = (
    "写着 写有 写的是 写的 写成 写为 载明 载有 注明 标注 标有 附带 附有 附上 附 带 带着 带上 "
    "取回 读出 读取到 看得出 可见 得知 据此 记为 记作 记有 记着 记下 计为 计有 报为 称为 名为 "
    "叫作 叫做 称作 即为 就是 正是 也是 还是 仍是 而是 来自 出自 取自 源 属 归 归属于 隶属于 "
    "隶属 位居 居 处在 身处 针对 面向 涉及 关系到 对比 相比 与此同时 此外 另有 还有 以及其 连同 "
    "加上 加 之一 之中 当中 其间 此间 期内 在内 其上 其下 当下 现 现在的 时至 截至 截止到 直到 "
    "直至 迄今 至今 一度 先后 相继 依次 逐一 逐条 逐个 共同 一起 单独 单 本次的 该次 这次 那次 "
    "此前 在此之前 在此之后 此后 之际 刚 刚刚 方才 随即 立即 马上 紧接着 继而 再次 再度 重新 "
    "反复 多次 整 足 恰 恰好 正好 刚好 分明 明显 显著 大幅 小幅 略有 稍有 相对 绝对 尤其 特别 "
    "主要的 基本 大体 总体 整体上 部分 一部分 局部 全局 范围内 范围外 左侧 右侧 侧 端 方 处 头 "
    "边 面 种类 类别 型 式 样 样式 格式 形式 方式 笔 封 帧 道 层 座 间 扇 辆 艘 株 趟 通 例 则 "
    "列 栏 格 桩 单次 人次 批次数 分别为 依次为 合为 计 总共 共达 总量 总额 总和 之和 之差 差值 "
    "差 差额 倍 成 百分点 比值 均 之比 读数为 数据点 采样值 观测值 记录值 样本数 以…为主 为主 "
    "主 为辅 居多 占多数 以此 以其 以 为准 来看 看 而言 来说 所说 所写 所记 所报 所给 所用 所属 "
    "所需 所要求 所致 当时的 同期 同日 同时段 同一天 同一时刻 前一天 后一天 次日 隔日 当晚 凌晨 "
    "上午 中午 下午 晚上 夜间 清晨 全天 整天 全程 整段 期末 期初 一会儿 片刻 一段时间 短时间 "
    "长时间 与其 及其 并于 且 而后 同样 以便 用于 用来 有关 无关紧要 资料 材料 信息为 详情 明细 "
    "摘要 概况 现状 近况 内容为 标题 备注 说明为 字样 一行行 各行 各列 该行 该列 这一 那一 某次 "
    "介于 位列 集中在 集中于 集中出现在 各采样点 各个采样点 各点 各时刻 各自的 "
    "每项 各项 各种 各类 各 条目 款 栏目 点位 位点 查 再查 复查 查得 查清 查明 核实 弄清"
)
"""What a report does with what it says, and how it counts, orders and points: none claims a fact."""

GLOSSES: Final = """
增大 increase increased rise grow|变大 increase grow|变小 decrease shrink|变慢 slow slower
变快 fast faster|变长 longer increase|改为 change changed|改成 change changed
改 change changed modify|修改 change changed modify modified edit update
修改人 by user author changed|修改者 by user author changed|操作人 by user operator actor
执行人 by user operator|变更人 by user author changed|更新 update updated upgrade change
更改 change changed|调整 adjust adjusted change changed|调整为 change changed adjusted
替换 replace replaced|更换 replace replaced change changed|新增 add added new create created
添加 add added|加入 join joined add added|移除 remove removed delete|移出 remove removed
删除 delete deleted remove removed del|清空 clear cleared flush flushed flushall empty purge
清除 clear cleared purge flush|清理 clean cleaned cleanup purge|刷新 refresh flush
创建 create created new|建立 create created establish established open
建连 connect connection connected|新建 create created new|注册 register registered
注销 deregister deregistered unregister|登记 register registered record|解除 release released lift
释放 release released free|锁定 lock locked|解锁 unlock unlocked
启用 enable enabled active activated on true|停用 disable disabled inactive off
禁用 disable disabled|激活 activate activated active|开 open on|关 close closed off
关闭 close closed disable disabled off shut shutdown|开启 open opened start enable enabled on
开通 enable enabled open|开放 open opened|打开 open opened opening enable on
关停 shutdown stop stopped|停机 shutdown stop down stopped|中止 abort aborted cancel terminated
终止 terminated terminate killed abort|取消 cancel cancelled canceled abort
放弃 abandon give gave drop|撤销 revoke revoked undo withdraw|撤回 withdraw revoke
跳过 skip skipped skips|忽略 ignore ignored skip|丢弃 drop dropped discard discarded evicted
丢 lost drop loss|遗漏 miss missed missing|漏 leak miss|命中 hit hits match matched
未命中 miss misses missed|落空 miss missed|过滤 filter filtered|匹配 match matched matches
比对 compare match|校验 verify verification check validation validate validating checksum
验证 verify verified validate validation validating|核对 check verify|检验 check verify
鉴权 auth authentication authorization|认证 auth authentication authenticate certificate
授权 authorization authorize authorisation auth grant granted permission authorized
批准 approve approved approval|获批准 approved approve|获批 approved approve|核准 approve approved
审批 approve approval|通过 pass passed ok approved success through
拒收 reject rejected refuse refused bounce bounced
拒绝 refused denied rejected reject deny forbidden refuse declined
驳回 reject rejected deny denied|退回 return returned bounce bounced refund|受理 accept accepted
接受 accept accepted accepts|接收 receive received accept|接纳 accept accepted admit
收取 collect receive|投递 deliver delivered delivery|送达 deliver delivered
派送 deliver delivery dispatch|发送 send sent sending|发出 send sent issue issued
发起 start started initiate request send|提交 commit committed submit submitted
回复 reply replied response answer|答复 reply answer response|应答 answer response reply responded
响应 response respond responded reply answer responses|无响应 unresponsive timeout no response
返回 return returned response status answer|转发 forward forwards forwarded forwarding proxy route
转移 transfer move moved migrate failover|传输 transfer transmit transmission|传送 transfer send
上传 upload uploaded put|下载 download downloaded fetch get|导入 import imported load
导出 export exported dump|加载 load loaded loading|装载 load loaded mount
卸载 unload uninstall unmount|挂载 mount mounted|写入 write written wrote insert writes
读取 read reads|读 read reads|写 write writes written|扫描 scan scanned scanning|扫码 scan scanned
打印 print printed printing|复制 copy copied copies replicate replication|拷贝 copy copied
同步 sync synced synchronize synchronized synchronised replication
不同步 unsynced unsynchronised unsynchronized out sync|备份 backup backups backed
还原 restore restored|恢复 recover recovered restore resolved recovery|归档 archive archived
压缩 compress compressed compaction|解压 decompress extract|加密 encrypt encrypted encryption
解密 decrypt decryption|签名 signature sign signed rrsig dnskey signing
重签 resign re-sign resigning sign signing|签发 issue issued sign signed
续签 renew renewed renewal|续期 renew renewed renewal|轮换 rotate rotated rotation
序列化 serialize serialization|反序列化 deserialize deserialise deserialization
编码 encode encoding code|解码 decode decoding|编译 compile build compiled|构建 build builds built
打包 package build pack|测试 test tests testing|安装 install installed
部署 deploy deployed deployment rollout|上线 release released online deploy
下线 offline retire remove|重载 reload reloaded|重连 reconnect reconnected|重置 reset
重发 resend resent retransmit retry|重放 replay|重跑 rerun retry
重平衡 rebalance rebalanced rebalances|再平衡 rebalance rebalanced
选举 election elect elected leader|切换 switch switched switches failover change changed toggle
切到 switch switched to|切回 switch switched back|抢占 preempt preempted
分配 assign assigned allocate allocated allocation|指派 assign assigned|绑定 bind binding bound
解绑 unbind|关联 associate associated attach attached link|附加 attach attached append
订阅 subscribe subscriber subscription|发布 release deploy deployed rollout publish published
推送 push pushed notification|通知 notify notification notice|触达 reach delivered
触发 trigger triggered fired firing|触及 hit reach reached|到达 arrive arrived reach
抵达 arrive arrived|离开 leave left leaves leavegroup|退出 exit exited leave left quit
掉线 offline disconnect disconnected lost dropped|离线 offline disconnected
在线 online up connected|上报 report reported upload|采样 sample samples sampled sampling
等待 wait waiting waits pending blocked waited|排队 queue queued queueing pending waiting
堆积 backlog lag pending queued ready messages
积压 backlog lag pending depth ready queued messages|阻塞 blocked blocking block
卡住 stuck hang hung blocked|挂起 suspend suspended hang|停滞 stall stalled stuck
停住 stop stopped stuck|停在 stop stopped|停止 stop stopped stops halt|停 stop stopped
运转 run running|转动 rotate running|工作 work working run|抖动 jitter flap flapping
震荡 flap flapping|闪断 flap interface|波动 fluctuate vary|偏离 deviate drift offset|漂移 drift
越界 out range exceed|超限 exceed exceeded exceeds over limit|超出 exceed exceeded over above
超额 exceed over quota|溢出 overflow overrun|填满 fill full filled|占满 full used exhausted no
占用 used usage use held occupied size in_use|占 used usage share percent|耗用 used usage consume
消耗 consume consumed consumption used usage|使用 use used uses usage using|利用 use utilization
浪费 waste|剩余 remaining free available left|可用 available avail free ready|空余 free available
预留 reserve reserved reservation request|预计 expected estimated estimate|估计 estimated estimate
实际 actual real|期望 desired expected|目标 target goal desired destination objective
当前 current now|初始 initial|默认 default|缺省 default|固定 fixed|最终 final
临时 temporary temp tmp|永久 permanent|手工 manual|自动 automatic auto automatically
强制 force forced|压力 pressure|压强 pressure|湿度 humidity|流速 flow rate velocity
流量 traffic flow volume throughput|电压 voltage volt volts|电流 current ampere|功率 power watt
功耗 power consumption|能耗 energy consumption power|电量 battery charge energy
电池 battery batteries bbu|电源 power psu supply|频率 frequency freq rate hz|转速 speed rpm fan
速度 speed rate|速率 rate speed|亮度 brightness light|光功率 power light optical dbm receive
信号 signal|强度 strength intensity level|噪声 noise|重量 weight|权重 weight weights
高度 height altitude|宽度 width|距离 distance|角度 angle|水位 level water watermark|液位 level
水温 temperature water|气温 temperature|温度 temperature temp|浓度 concentration|质量 quality
精度 precision accuracy|时长 duration length time|耗时 duration took elapsed time latency ms
用时 duration took elapsed time|时间戳 timestamp time|时钟 clock time ntp|时区 timezone tz zone
周期 period cycle interval|间隔 interval period gap|频次 frequency rate count
次数 count times number|数量 count number quantity|件数 count number
人数 count users people number|总数 total count sum|总量 total sum|余量 remaining headroom free
容量 capacity size|规格 size type spec|带宽 bandwidth|丢包率 loss packet|误码 error crc errors
误差 error offset drift|偏差 offset drift deviation|基线 baseline base
基准 baseline benchmark base|起点 onset start begin first earliest|异常起点 onset start
起始 onset start begin earliest|终点 end finish|峰值 peak max maximum|谷值 min minimum trough
上限 limit max maximum cap upper|下限 min minimum lower floor limit|阈值 threshold limit
门限 threshold limit|水位线 watermark|配额 quota limit|限额 quota limit|名额 quota slot
超时 timeout timed timeouts deadline deadlineexceeded timedout time-out|超时时间 timeout
延时 delay latency|延迟 latency delay lag duration delayed|时延 latency delay
滞后 lag lagging behind delay|错误率 error rate ratio errors|失败率 failure error rate ratio
成功率 success rate ratio|命中率 hit ratio rate hits
使用率 utilization usage util percent used utilisation use %use
占用率 utilization usage util percent used|利用率 utilization usage utilisation
比例 ratio rate share percent fraction|比率 ratio rate|占比 share ratio percent
百分比 percent percentage|份额 share|优先级 priority|级别 level severity
等级 level grade severity class|严重 severe critical severity|紧急 urgent critical emergency
告警级别 severity level|状态 status state condition|状况 status state condition
健康 healthy health|就绪 ready readiness|空闲 idle free available|繁忙 busy|忙 busy|活跃 active
有效 valid effective active|无效 invalid|失效 expired invalid expire inactive
生效 valid effective active notbefore inception activated
有效期 valid validity notafter expiration expires expiry until|期限 deadline term expiry
到期 expire expired expires notafter expiration expiry
过期 expired expire notafter expires expiration expiry|吊销 revoked revoke
异常 exception abnormal error anomalous anomaly|反常 anomalous abnormal
故障 fault failure failed outage incident|事故 incident outage
中断 interrupt interrupted outage down disconnected|宕机 down crash
崩溃 crash panic crashloop crashed crashes crashloopbackoff|死机 hang freeze crash
损坏 corrupt corrupted damaged broken|破损 damaged broken|缺失 missing absent lack
缺少 missing lack lacking without|缺 missing lack|丢失 lost missing loss lose
泄漏 leak leaked leaking leaks|不足 insufficient not enough low lack below
欠缺 insufficient missing|过高 high above exceed|过低 low below|过大 large big exceed
过小 small low|过长 long exceed|过多 many too exceed|满 full|已满 full exhausted
空 empty none null zero blank|为空 empty null none zero nil blank|空值 null empty nil none
空指针 nil null pointer nullpointerexception|冲突 conflict collision
重复 duplicate duplicated repeat|相同 same equal identical|不一致 mismatch inconsistent differ
不匹配 mismatch mismatched|不可达 unreachable|不可用 unavailable down|不可读 unreadable
不支持 unsupported|不合法 invalid illegal|非法 illegal invalid|只读 read-only readonly
可写 writable write|离群 outlier|突增 spike surge jump increase|突降 drop plunge
陡增 surge spike jump|泵 pump pumps|阀 valve valves|阀门 valve valves|风机 fan blower
风扇 fan fans|电机 motor motors|马达 motor|压缩机 compressor|传感器 sensor sensors
探头 probe sensor|探针 probe probes|仪表 meter gauge instrument|电表 meter meters
表计 meter meters|控制器 controller ctl ctrl plc|执行器 actuator executor runner|机械臂 arm robot
机器人 robot robots|传送带 belt conveyor|皮带 belt|电梯 elevator lift|闸机 turnstile gate
门禁 door access badge gate|门 door gate|灯 lamp light led|摄像头 camera cameras|相机 camera
扫码枪 scanner|扫描仪 scanner|打印机 printer printers|终端 terminal device client
读卡器 reader card|卡 card|标签 tag label labels|条码 barcode|二维码 qr|车 vehicle car
车辆 vehicle vehicles|列车 train trains|航班 flight flights|船 vessel ship|船只 vessel ship
泊位 berth berths|码头 dock pier berth harbour|站点 site station|车站 station|站 station site
库位 slot location|仓 warehouse bin|仓位 slot bin|货架 shelf rack|机架 rack racks
机柜 cabinet rack|机箱 chassis|板卡 board card|网卡 nic interface eth
光模块 optic optics transceiver sfp|光纤 fiber fibre|线路 line circuit link
专线 line circuit leased|链路 link path|干线 trunk|端口 port ports
接口 interface api endpoint port interfaces|网口 port interface|插槽 slot|槽位 slot|电缆 cable
房间 room|楼层 floor|区 zone region area|区域 region zone area|地区 region area country
国家 country|城市 city|街道 street|机房 datacenter zone idc|数据中心 datacenter dc
园区 site campus|分支 branch|分行 branch|门店 store shop|商店 store shop|柜台 counter
渠道 channel channels|通道 channel lane path|车道 lane|轨道 track|频道 channel
账号 account accounts user|账户 account accounts|帐号 account user|凭据 credential credentials
凭证 credential credentials voucher|密码 password passwd|口令 password pin passphrase|令牌 token
会话 session sessions pid|身份 identity id|角色 role|组 group|用户组 group|成员 member members
租户 tenant|所有者 owner|负责人 owner|作者 author|管理员 admin administrator|操作员 operator
值班 oncall on-call|团队 team|部门 department team|公司 company|供应商 vendor provider supplier
提供方 provider|服务商 provider|收单行 acquirer|银行 bank|商户 merchant|买家 buyer|卖家 seller
乘客 passenger|患者 patient|学生 student|读者 reader|员工 employee staff|人员 person user staff
订单 order orders|运单 waybill shipment parcel|包裹 parcel package|快递 parcel courier
邮件 mail email message mails|短信 sms message|信件 letter mail|消息 message messages|通话 call
呼叫 call calls|工单 ticket case|票 ticket|车票 ticket|发票 invoice|账单 bill invoice
支付 payment pay payments|付款 payment pay|退款 refund refunds|扣款 charge debit|转账 transfer
交易 transaction trade payment|结算 settlement settle|对账 reconcile reconciliation
工资 payroll salary|薪资 payroll salary|库存 inventory stock|商品 product item goods sku
货物 goods cargo|优惠券 coupon|折扣 discount|价格 price|金额 amount|余额 balance|课程 course
考试 exam|成绩 grade score|图书 book|借阅 loan loans|预约 booking reservation appointment
预订 booking reservation bookings|座位 seat seats|床位 bed beds|处方 prescription
影像 image imaging dicom|检查单 order|报表 report|文档 document documents doc docs|文件 file files
页面 page|图片 image picture|缩略图 thumbnail thumbs|视频 video|音频 audio
转码 transcode transcoder transcoding|直播 live stream streaming|流 stream flow
录像 recording video|歌曲 song track|任务 job task jobs tasks run|作业 job jobs|批处理 batch
批量 batch bulk|流水线 pipeline|阶段 stage phase|步骤 step stage
定时 cron scheduled timer schedule|计划 schedule scheduled plan|日程 schedule calendar
调度 schedule scheduled scheduling scheduler|运行器 runner|运行 running run active runs
执行 execution run execute active executed|启动 start started starting startup
开始 start started begin began starting|结束 end ended finish finished
完成 complete completed completions completion done
失败 failed fail failure error fails unsuccessful|成功 success succeeded successful successfully
尝试 attempt attempts try tries|重试 retry retries retrycount retried
登录 login logins logon signin sign-in|登出 logout|登陆 login|访问 access request visit get
打开率 open rate|点击 click clicks|浏览 view views|搜索 search searches|检索 search query searched
查询 query select search lookup queries|统计 count statistics stats|聚合 aggregate aggregation sum
排序 sort order|分页 page paging|索引 index indices|分片 shard shards partition
主分片 primary shard|副本分片 replica shard|副本 replica replicas copy
主节点 master leader primary|领导者 leader|跟随者 follower|主 primary master main leader
备 standby backup replica secondary|从 from replica secondary|偏移量 offset offsets
位点 offset position|消费者 consumer consumers|生产者 producer producers
未确认消息 unacked unacknowledged|未确认消息数 unacked unacknowledged
未确认数 unacked unacknowledged|已确认 acked acknowledged confirmed
确认 ack acknowledged confirm confirmed|键 key keys|值 value|字段 column field|列 column
行 row rows|库 database db|表 table tables|表空间 tablespace|数据集 dataset
数据源 datasource source|模型 model|参数 parameter param argument flag|开关 flag switch toggle
特性 feature|规则 rule rules|策略 policy strategy|白名单 allowlist whitelist
黑名单 blocklist blacklist denylist|证书 certificate cert x509 certificates|私钥 key private
公钥 key public dnskey|密钥 key keys kid secret|硬件 hardware|软件 software|固件 firmware
驱动 driver|内核 kernel|系统 system os|操作系统 os system|脚本 script|命令 command cmd|代码 code
函数 function|类 class|线程 thread threads|协程 goroutine coroutine|堆 heap|堆内存 heap memory
栈 stack|句柄 handle descriptor fd|文件描述符 fd descriptor file|套接字 socket|缓冲 buffer
缓冲区 buffer|缓存 cache cached|日志 log logs|审计 audit|审计日志 audit log|追踪 trace traces
调用链 trace|链 chain|跨度 span|指标 metric metrics|监控 monitor monitoring|监视 monitor watch
仪表盘 dashboard|告警 alert alerts alarm warning warn|警报 alarm alert|心跳 heartbeat
探活 probe liveness heartbeat|健康检查 health healthcheck probe
负载均衡 balancer loadbalancer lb elb alb|负载均衡器 balancer loadbalancer lb elb alb
解析器 resolver|域名服务器 nameserver dns|域名 domain host hostname name dns zone|注册商 registrar
注册局 registry|扩展 extended extension ext|扩展错误码 ede extended error code
错误码 code errorcode error ede|结果码 code result_code result|状态码 status code http
返回码 code return exitcode verify|响应码 code response status|代号 code|编号 id number
序号 number serial sequence seq index|版本 version revision tag rev|修订 revision rev
版 version revision rev|稳定版 stable version|稳定 stable steady|金丝雀 canary|灰度 canary gray
镜像 image images|节点 node nodes host|主机 host node|服务器 server host node
服务 service services svc server|服务端 server|客户端 client|对端 peer remote
对方 peer remote partner other|本端 local|上游 upstream|下游 downstream
邻居 neighbor neighbour peer|隧道 tunnel|路由 route router routing routes prefix
前缀 prefix prefixes pfx|地址 address ip addr a|网段 network subnet cidr|子网 subnet
连接 connection connections connect conn connected tcp estab|长连接 connection connections
短连接 connection|握手 handshake|报文 packet packets message|数据包 packet packets
包 packet packets package|字节 byte bytes|请求 request requests req|调用 call calls invoke
事件 event events|变更 change changed changes|变化 change changed|差异 difference diff
历史 history|清单 list manifest|目录 directory dir catalog|路径 path|根目录 root /|根 root
挂载点 mount mounted|磁盘 disk filesystem volume|数据盘 disk data|卷 volume vol pvc
内存 memory mem oom oomkilled|处理器 cpu|核 core cores cpu|显存 gpu memory|显卡 gpu|带 with
巴西 brazil br sul|中国 china cn|美国 us usa america|日本 japan jp|德国 germany de|法国 france fr
英国 uk gb britain|印度 india in|新加坡 singapore sg|韩国 korea kr|香港 hongkong hk
北京 beijing bj|上海 shanghai sh|广州 guangzhou gz|深圳 shenzhen sz|杭州 hangzhou hz
欧洲 europe eu|亚太 apac ap|东 east|西 west|南 south|北 north|东部 east|西部 west|南部 south
北部 north|里昂 lyon lyo|法兰克福 frankfurt fra|东京 tokyo|伦敦 london|外 outside external
内部 internal inside|外部 external|公网 public internet|内网 internal private
生产 production prod produce|测试环境 test staging|预发 staging|线上 production prod
夜间 night nightly|每日 daily day|每天 daily day|每周 weekly week|每月 monthly month
每小时 hourly hour|周末 weekend|工作日 weekday|季度 quarter|新 new|旧 old previous|老 old
大 large big|小 small|高 high|低 low|长 long|短 short|快 fast|慢 slow|多 many more|少 few less
重 heavy weight|轻 light|早 early|晚 late|平均 average avg mean|均值 average avg mean
中位数 median p50|最大 max maximum largest|最小 min minimum smallest|合计 total sum
总 total sum all|单价 price|主要 main major primary|金丝雀发布 canary|灰度发布 canary gray
项目 project projects|被拒 rejected reject refused denied|遭拒 rejected refused denied
末端 last end tail caused|链末 last caused|异常链 exception chain caused|服务账号 serviceaccount account sa
访问令牌 token accesstoken|令牌 token|密钥 key secret|状态页 status statuspage|审计 audit|操作 method action operation
滚动发布 rolling rollout rollingupdate
"""
