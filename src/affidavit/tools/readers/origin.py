"""Where a result comes from: its kind of source, its evidence class, whose words it holds, about
whom it speaks (C13).

All of it is told by the tool's name and arguments, which the caller's framework wrote, never by
the result's text, which anybody may have written. An unknown tool is a workload's words about
nobody: the weaker reading.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from affidavit.contract.states import Emitter, EvidenceClass
from affidavit.tools.readers.words import clean

_SPLIT: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")

_GUIDANCE: Final = frozenset(
    "runbook runbooks knowledge wiki docs documentation webpage web playbook playbooks confluence "
    "notion catalog catalogue handbook faq guide sop kb rag page internet".split()
)
_CHANGE: Final = frozenset(
    "deploy deploys commit commits diff diffs git github gitlab changes change changelog flag "
    "flags release releases rollout rollouts helm pr prs merge revision revisions".split()
)
_ALERT: Final = frozenset(
    "alert alerts alertmanager pagerduty opsgenie incident incidents finding findings issue "
    "issues".split()
)
_PEOPLE: Final = frozenset("commit commits git github gitlab pr prs diff diffs merge".split())
_LOGS: Final = frozenset(
    "log logs loki elasticsearch opensearch splunk journal journalctl kibana tail stdout stderr "
    "logging dmesg".split()
)
_METRICS: Final = frozenset(
    "metric metrics prometheus promql cloudwatch timeseries series victoriametrics influx "
    "grafana range gauge top vmstat iostat".split()
)
_TRACES: Final = frozenset("trace traces span spans tempo jaeger zipkin xray apm".split())
_EVENTS: Final = frozenset("event events".split())
_SQL: Final = frozenset(
    "sql pg postgres postgresql mysql mariadb mssql oracle clickhouse psql redis mongo mongodb db "
    "database".split()
)
_PLATFORM: Final = frozenset(
    "kubectl kubernetes k8s eks gke aks pod pods node nodes deployment deployments describe "
    "namespace cronjob job jobs argocd ecs rds ec2 lambda elb alb target targets aws gcp azure "
    "openssl cert certificate tls dns dig nslookup performance insights monitors monitor ss ps df "
    "free netstat uptime lsof systemctl mount du ip".split()
)
_SHELLS: Final = frozenset("exec shell bash sh run command terminal cmd execute ssh".split())
_HOST_LOGS: Final = frozenset("dmesg kernel journal journalctl kubelet syslog".split())

_WHERE: Final = "path file log log_file logfile log_group logGroupName source index".split()
_WHO: Final = "service app container pod pod_name deployment name job unit".split()
_PATHS: Final = re.compile(
    r"(?<![a-z])(?:nginx|envoy|haproxy|apache2?|httpd|traefik|postgresql|postgres|mysql|mariadb"
    r"|mongodb|aws/rds)(?![a-z])"
)
_NAMES: Final = re.compile(
    r"(?:nginx|envoy|haproxy|apache2?|httpd|traefik|istio-proxy|istio-ingress\w*|kong"
    r"|ingress-nginx\S*|postgres(?:ql)?|mysqld?|mariadb|mongod(?:b)?|redis(?:-server)?)(?:-\d+)?"
)
_SYSTEM_VIEW: Final = re.compile(
    r"\b(?:pg_[a-z_]+|information_schema|performance_schema|mysql\.\w|sys\.\w)"
    r"|^\s*(?:show|explain)\s|\bv\$\w",
    re.IGNORECASE,
)

ARGUMENT_CHARS_MAX: Final = 4_000
"""Of one argument this much is looked at."""

SUBJECT_ARGUMENTS: Final = (
    "service service_name serviceName app application pod pod_name podName job job_name cronjob "
    "deployment deployment_name workload release resource_name name instance "
    "db_instance_identifier dbInstanceIdentifier db_instance target_group target load_balancer lb "
    "cluster_name host hostname node node_name db database monitor repo"
).split()
"""Arguments that name whom a call is about, the narrower question first."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of one result: kind of source (coverage's word), class, and emitter."""

    kind: str
    evidence_class: EvidenceClass
    emitter: Emitter


def source_of(
    tool: str,
    arguments: Mapping[str, object],
    emitter: Emitter | None = None,
    evidence_class: EvidenceClass | None = None,
) -> Origin:
    """Where a tool's result comes from; what the caller says about it wins."""
    words = words_of(tool)
    command = _argument(arguments, "command", "cmd", "subcommand")
    if words & _SHELLS and command:
        words = words | _command_words(command)
    class_ = evidence_class or _class(words, command)
    kind = _kind(words, class_)
    return Origin(kind, class_, emitter or _emitter(words, kind, arguments))


def words_of(tool: str) -> frozenset[str]:
    """The lower-case words of a tool's name."""
    return frozenset(word.lower() for word in _SPLIT.split(tool[:400]) if word)


def class_of(tool: str, arguments: Mapping[str, object]) -> EvidenceClass:
    """What kind of thing the tool read, by its name (C13)."""
    return source_of(tool, arguments).evidence_class


def subject_of(arguments: Mapping[str, object]) -> str | None:
    """Whom the call is about, by its arguments, or None."""
    for name in SUBJECT_ARGUMENTS:
        value = arguments.get(name)
        if isinstance(value, (list, tuple)) and len(value) == 1:
            value = value[0]
        if isinstance(value, str) and value.strip():
            return clean(value.strip())[:256] or None
    return None


def _class(words: frozenset[str], command: str) -> EvidenceClass:
    if words & _GUIDANCE:
        return EvidenceClass.GUIDANCE
    if words & _ALERT:
        return EvidenceClass.ALERT
    history = "history" in words or re.search(r"\b(?:rollout|helm) history\b", command)
    if words & _CHANGE or (history and words & (_PLATFORM | _CHANGE)):
        return EvidenceClass.CHANGE
    return EvidenceClass.OBSERVATION


def _kind(words: frozenset[str], evidence_class: EvidenceClass) -> str:
    named = {
        EvidenceClass.GUIDANCE: "knowledge",
        EvidenceClass.CHANGE: "changes",
        EvidenceClass.ALERT: "alerts",
    }.get(evidence_class)
    kinds = (
        ("traces", _TRACES),
        ("events", _EVENTS),
        ("logs", _LOGS),
        ("metrics", _METRICS),
        ("platform", _PLATFORM),
        ("sql", _SQL),
    )
    return named or next((kind for kind, names in kinds if words & names), "tool")


def _emitter(words: frozenset[str], kind: str, arguments: Mapping[str, object]) -> Emitter:
    if kind in ("metrics", "platform", "events", "alerts"):
        return Emitter.PLATFORM
    if kind == "changes":
        return Emitter.WORKLOAD if words & _PEOPLE else Emitter.PLATFORM
    if kind == "logs" and (words & _HOST_LOGS or _speaks_for_itself(arguments)):
        return Emitter.PLATFORM
    asked = _argument(arguments, "sql", "query", "statement", "command")
    if kind == "sql" and _SYSTEM_VIEW.search(asked):
        return Emitter.PLATFORM
    return Emitter.WORKLOAD


def _speaks_for_itself(arguments: Mapping[str, object]) -> bool:
    """Whether the log that was asked for is a proxy's or a database server's own."""
    where = (_argument(arguments, name).lower() for name in _WHERE)
    who = (_argument(arguments, name).lower() for name in _WHO)
    return any(_PATHS.search(text) for text in where) or any(_NAMES.fullmatch(t) for t in who)


def _command_words(command: str) -> frozenset[str]:
    """The program of a command line, and the first words of it that are no flags or values."""
    tokens = [token for token in command.split("|", 1)[0].split()[:12] if token[:1] != "-"]
    return frozenset(word.lower() for token in tokens[:3] for word in _SPLIT.split(token) if word)


def _argument(arguments: Mapping[str, object], *names: str) -> str:
    texts = (arguments.get(name) for name in names)
    return " ".join(t for t in texts if isinstance(t, str))[:ARGUMENT_CHARS_MAX]
