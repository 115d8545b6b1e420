"""Rights in a cluster: what the manual grants is what is needed, and what counts as more."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from affidavit.adapters.kubernetes_rights import (
    LOG_NEEDED,
    NEEDED,
    NODES_NEEDED,
    changing,
    may_read_secrets,
    missing,
    read_rules,
)
from tests.support.cluster import READER

PAGE = Path(__file__).parents[3] / "docs" / "backends.md"
ALL_NEEDED = (*NEEDED, LOG_NEEDED, NODES_NEEDED)


def rule(verbs: str, groups: str, resources: str, **more: object) -> dict[str, Any]:
    return {
        "verbs": verbs.split(),
        "apiGroups": [group.replace("core", "") for group in groups.split()],
        "resources": resources.split(),
        **more,
    }


def test_the_manual_s_roles_grant_all_that_is_asked_and_not_one_right_more() -> None:
    (manifest,) = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    told = [one for role in yaml.safe_load_all(manifest) for one in role["rules"]]
    rules = read_rules({"resourceRules": told})
    granted = {
        (verb, group, resource)
        for one in rules
        for verb in one.verbs
        for group in one.groups
        for resource in one.resources
    }
    assert granted == set(ALL_NEEDED)
    assert changing(rules) == ()
    assert [one for one in READER if "authorization.k8s.io" not in one["apiGroups"]] == told


@pytest.mark.parametrize(
    ("one", "found"),
    [
        (rule("get list watch", "core", "pods"), ()),
        (rule("get", "core", "pods/log"), ()),
        (rule("get", "metrics.k8s.io", "*"), ()),  # nothing in it reaches into a container
        (rule("create", "authorization.k8s.io", "selfsubjectaccessreviews"), ()),
        (rule("create", "authorization.k8s.io", "subjectaccessreviews"), ("create subject",)),
        (rule("create delete", "authentication.k8s.io", "selfsubjectreviews"),
         ("create self", "delete self")),
        (rule("watch", "core", "pods/attach"), ("watch pods/attach, which",)),
        (rule("get", "core", "nodes/proxy"), ("get nodes/proxy, which",)),
        (rule("deletecollection", "core", "events", resourceNames=["a"]), ("deletecoll",)),
        (rule("impersonate", "core", "users"), ("impersonate users",)),
    ],
)  # fmt: skip
def test_what_could_change_something(one: dict[str, Any], found: tuple[str, ...]) -> None:
    rights = changing(read_rules({"resourceRules": [one]}))
    assert len(rights) == len(found)
    assert all(right.startswith(start) for right, start in zip(rights, found, strict=True))


def test_secrets_are_seen_behind_a_star_and_behind_a_name() -> None:
    for one in (rule("get", "*", "*"), rule("get", "core", "secrets", resourceNames=["x"])):
        assert may_read_secrets(read_rules({"resourceRules": [one]}))
    assert not may_read_secrets(read_rules({"resourceRules": [rule("get", "core", "configmaps")]}))


def test_a_right_to_named_objects_is_no_right_to_list() -> None:
    named = rule("list", "core", "pods", resourceNames=["a"])
    assert "list pods" in missing(read_rules({"resourceRules": [named]}), ALL_NEEDED)
    assert missing(read_rules({"resourceRules": None}), NEEDED)[0] == "list pods"
