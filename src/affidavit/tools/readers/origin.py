"""Where a result comes from: its kind of source, its evidence class, whose words it holds, about
whom it speaks (C13).

All of it is told by the tool's name and arguments, which the caller's framework wrote, never by
the result's text, which anybody may have written. An unknown tool is a workload's words about
nobody: the weaker reading.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from affidavit.contract.states import Emitter, EvidenceClass

_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")

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
    "issues page pages".split()
) - {"page"}
_LOGS: Final = frozenset(
    "log logs loki elasticsearch opensearch splunk journal journalctl kibana tail stdout stderr "
    "cloudlogging logging".split()
)
_METRICS: Final = frozenset(
    "metric metrics prometheus promql cloudwatch timeseries series victoriametrics influx "
    "grafana instant range gauge".split()
)
_TRACES: Final = frozenset("trace traces span spans tempo jaeger zipkin xray apm".split())
_EVENTS: Final = frozenset("event events".split())
_SQL: Final = frozenset(
    "sql query pg postgres postgresql mysql mariadb mssql oracle clickhouse psql redis mongo "
    "mongodb db database".split()
)
_CLUSTER: Final = frozenset(
    "kubectl kubernetes k8s eks gke aks pod pods node nodes deployment deployments describe "
    "namespace cronjob job jobs argocd ecs rds ec2 lambda elb alb target targets aws gcp azure "
    "openssl cert certificate tls dns dig top performance insights monitors monitor".split()
)
_HOST: Final = frozenset("dmesg kernel journal journalctl kubelet node host syslog".split())
_PROXY: Final = re.compile(
    r"\b(nginx|envoy|haproxy|apache|httpd|traefik|ingress|istio-proxy|kong|access[._-]log)\b"
)
_DATABASE_LOG: Final = re.compile(r"\b(postgres(?:ql)?|mysqld?|mariadb|mongod|rds|redis-server)\b")
_SYSTEM_VIEW: Final = re.compile(
    r"\b(pg_[a-z_]+|information_schema|performance_schema|mysql\.|sys\.|v\$\w+|show\s|explain\s)",
    re.IGNORECASE,
)

SUBJECT_ARGUMENTS: Final = (
    "service service_name serviceName app application pod pod_name podName job job_name cronjob "
    "deployment deployment_name workload release resource_name name instance "
    "db_instance_identifier dbInstanceIdentifier db_instance target_group target load_balancer lb "
    "cluster_name host hostname node node_name db database index monitor repo"
).split()
"""Arguments that name whom a call is about, the narrower question first."""


def words_of(tool: str) -> frozenset[str]:
    """The lower-case words of a tool's name."""
    return frozenset(word.lower() for word in _CAMEL.split(tool) if word)


def class_of(tool: str, arguments: Mapping[str, object]) -> EvidenceClass:
    """What kind of thing the tool read, by its name (C13)."""
    words = words_of(tool)
    command = _text_of(arguments, ("command", "cmd", "subcommand"))
    if words & _GUIDANCE:
        return EvidenceClass.GUIDANCE
    if words & _ALERT:
        return EvidenceClass.ALERT
    history = "history" in words and words & {"deploy", "deployment", "helm", "argocd", "rollout"}
    if (
        history
        or words & _CHANGE
        or re.search(r"\b(rollout|helm) history\b|\bgit (log|show|diff)\b", command)
    ):
        return EvidenceClass.CHANGE
    return EvidenceClass.OBSERVATION


def source_type_of(tool: str, evidence_class: EvidenceClass) -> str:
    """The kind of source, in the words that coverage uses."""
    if evidence_class is EvidenceClass.GUIDANCE:
        return "knowledge"
    if evidence_class is EvidenceClass.CHANGE:
        return "changes"
    if evidence_class is EvidenceClass.ALERT:
        return "alerts"
    words = words_of(tool)
    kinds = (
        ("traces", _TRACES),
        ("events", _EVENTS),
        ("logs", _LOGS),
        ("metrics", _METRICS),
        ("platform", _CLUSTER),
        ("sql", _SQL),
    )
    return next((kind for kind, names in kinds if words & names), "tool")


def emitter_of(
    tool: str, arguments: Mapping[str, object], evidence_class: EvidenceClass
) -> Emitter:
    """Whose words the result holds, where nothing in it is marked otherwise (C13)."""
    kind = source_type_of(tool, evidence_class)
    if kind in ("metrics", "platform", "events", "changes"):
        return Emitter.PLATFORM
    words = words_of(tool)
    asked = " ".join(str(value) for value in arguments.values() if isinstance(value, str))[:4_000]
    if kind == "logs" and (
        words & _HOST or _PROXY.search(asked.lower()) or _DATABASE_LOG.search(asked.lower())
    ):
        return Emitter.PLATFORM
    if kind == "sql" and _SYSTEM_VIEW.search(asked):
        return Emitter.PLATFORM
    if kind == "tool" and words & {"exec", "shell", "ss", "ps", "df", "free", "iostat", "vmstat"}:
        return Emitter.PLATFORM
    return Emitter.WORKLOAD


def subject_of(arguments: Mapping[str, object]) -> str | None:
    """Whom the call is about, by its arguments, or None."""
    for name in SUBJECT_ARGUMENTS:
        value = arguments.get(name)
        if isinstance(value, str) and value.strip():
            return value.strip()[:256]
        if isinstance(value, (list, tuple)) and len(value) == 1 and isinstance(value[0], str):
            return value[0].strip()[:256]
    return None


def _text_of(arguments: Mapping[str, object], names: tuple[str, ...]) -> str:
    return " ".join(str(arguments[name]) for name in names if name in arguments)[:4_000].lower()
