"""What an identity may do in a cluster, judged by the rules that the server tells of it (pure).

To read is `get`, `list` and `watch`. Everything else could change something, and so could reading
`exec`, `attach`, `portforward` or `proxy`: a GET there opens a connection into a container.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

READS: Final = frozenset({"get", "list", "watch"})

REACHES: Final = ("exec", "attach", "portforward", "proxy")

SELF_GROUPS: Final = frozenset({"authorization.k8s.io", "authentication.k8s.io"})
SELF_REVIEWS: Final = frozenset(
    {"selfsubjectaccessreviews", "selfsubjectrulesreviews", "selfsubjectreviews"}
)
"""Questions about oneself, which every identity may create; they leave nothing behind."""

NEEDED: Final = (
    ("list", "", "pods"),
    ("list", "", "events"),
    ("list", "apps", "deployments"),
    ("list", "apps", "replicasets"),
    ("list", "apps", "statefulsets"),
    ("list", "apps", "daemonsets"),
    ("list", "apps", "controllerrevisions"),
)
LOG_NEEDED: Final = ("get", "", "pods/log")
NODES_NEEDED: Final = ("list", "", "nodes")
"""Verb, group and resource of all that is asked."""

ASKED: Final = (
    *((verb, "", "pods", "") for verb in ("create", "update", "patch", "delete")),
    *(
        (verb, "apps", resource, "")
        for resource in ("deployments", "statefulsets", "daemonsets")
        for verb in ("create", "update", "patch", "delete")
    ),
    ("create", "", "pods", "exec"),
    ("get", "", "pods", "exec"),
    ("get", "", "nodes", "proxy"),
    ("patch", "", "configmaps", ""),
    ("create", "rbac.authorization.k8s.io", "rolebindings", ""),
)
"""Verb, group, resource, subresource: asked one by one where the server cannot tell all rules."""

TOLD_MAX: Final = 4
"""Rights that a message names."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the server's answer."""

    verbs: frozenset[str]
    groups: frozenset[str]
    resources: frozenset[str]
    is_named: bool = False  # only for objects of given names

    def grants(self, verb: str, group: str, resource: str) -> bool:
        """Whether it allows this for every object."""
        return (
            not self.is_named
            and bool(self.verbs & {verb, "*"})
            and bool(self.groups & {group, "*"})
            and any(_covers(own, resource) for own in self.resources)
        )


def read_rules(status: Mapping[str, Any]) -> tuple[Rule, ...]:
    """The rules of a SelfSubjectRulesReview. Raises TypeError for what is none."""
    return tuple(
        Rule(
            _words(rule.get("verbs")),
            _words(rule.get("apiGroups")),
            _words(rule.get("resources")),
            bool(rule.get("resourceNames")),
        )
        for rule in status["resourceRules"] or ()
    )


def changing(rules: Iterable[Rule]) -> tuple[str, ...]:
    """Rights by which something could be changed, in order."""
    return tuple(dict.fromkeys(right for rule in rules for right in _changing(rule)))


def missing(rules: Sequence[Rule], needed: Iterable[tuple[str, str, str]]) -> tuple[str, ...]:
    """What is asked and not allowed."""
    return tuple(
        f"{verb} {resource}"
        for verb, group, resource in needed
        if not any(rule.grants(verb, group, resource) for rule in rules)
    )


def may_read_secrets(rules: Iterable[Rule]) -> bool:
    """Whether Secrets could be read, also one by its name. It is not done, and not needed."""
    return any(
        rule.verbs & {*READS, "*"} and rule.groups & {"", "*"} and rule.resources & {"secrets", "*"}
        for rule in rules
    )


def _changing(rule: Rule) -> Iterator[str]:
    if rule.groups <= SELF_GROUPS and rule.resources <= SELF_REVIEWS and rule.verbs <= {"create"}:
        return
    for resource in sorted(rule.resources):
        for verb in sorted(rule.verbs - READS):
            yield f"{verb} {resource}"
        if rule.groups & {"", "*"} and _reaches(resource):
            for verb in sorted(rule.verbs & READS):
                yield f"{verb} {resource}, which reaches into containers"


def _reaches(resource: str) -> bool:
    main, _, sub = resource.partition("/")
    return resource == "*" or sub in REACHES or (sub == "*" and main in {"pods", "nodes", "*"})


def _covers(own: str, resource: str) -> bool:
    if own in {"*", resource}:
        return True
    _, _, sub = resource.partition("/")
    return bool(sub) and own == f"*/{sub}"


def _words(value: object) -> frozenset[str]:
    if value is None:
        return frozenset()
    if not isinstance(value, list):
        raise TypeError("no list of words")
    return frozenset(map(str, value))
