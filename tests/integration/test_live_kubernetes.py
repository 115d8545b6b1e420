"""A Kubernetes API as a source, over real HTTP: pages, refusals, bounds, and what becomes of it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from affidavit.adapters import kubernetes_api
from affidavit.adapters.live_backends import LiveConfig, probe_backends
from affidavit.contract.agent import ToolCallRequest
from affidavit.contract.evidence import Row
from affidavit.contract.states import Emitter, EvidenceClass, EvidenceStatus
from affidavit.settings import Settings
from tests.support.cluster import (
    READER,
    SECRET_ENV,
    Cluster,
    broken_checkout,
    broken_sets,
    cluster,
    event,
    failure,
    killed,
    pod,
)
from tests.support.http_stage import Reply, Seen, Stage
from tests.support.live_runs import Asked, ask_live, cells, investigate, live_settings, recent

pytestmark = [pytest.mark.slow, pytest.mark.anyio]


def settings(there: Stage, **more: object) -> Settings:
    table = {"url": there.url, "namespaces": ("shop",), "timeout-s": 1.5, **more}
    return live_settings((f"127.0.0.1:{there.port}",), kubernetes={"main": table})


async def probed(there: Stage, **more: object) -> Any:
    told = settings(there, **more)
    (finding,) = await probe_backends(LiveConfig(told.backends, told.outgoing, {}))
    return finding


def look(what: str) -> ToolCallRequest:
    return ToolCallRequest("kubernetes_main", {"look": what})


async def ask(held: Cluster, *calls: ToolCallRequest, **more: object) -> Asked:
    with cluster(held) as there:
        return await ask_live(settings(there, **more), recent(), *calls)


@pytest.mark.spec("C11", "C13", "T7")
@pytest.mark.fault("R27", "R41", "R64", "R65")
async def test_pods_events_rollouts_and_last_words_reach_the_agent_as_evidence() -> None:
    held = broken_checkout()
    with cluster(held) as there:
        asked = await ask_live(
            settings(there),
            recent(),
            look("pods"),
            look("events"),
            look("deployments"),
            look("nodes"),
            ToolCallRequest("change_events", {}),
            ToolCallRequest("log_search", {"text": "cannot allocate"}),
            ToolCallRequest("log_search", {"text": "OOMKilled"}),
            ToolCallRequest("error_logs", {"service": "checkout"}),
        )
        paths = {one.path.partition("?")[0] for one in there.seen}
        posted = {one.path for one in there.seen if one.method != "GET"}
    pods, events, deployments, nodes, changes, words, ends, errors = map(asked.envelope, range(8))
    first = cells(pods)[0]
    assert (first["subject"], first["pod"]) == ("checkout", "shop/checkout-7d9f8b6c5d-x2x4z")
    assert (first["last end"], first["last exit code"], first["restarts"]) == ("OOMKilled", 137, 3)
    assert pods.count == 2  # the pod of a namespace that is not listed was never asked for
    assert events.scope.window is not None
    assert cells(events)[0]["reason"] == "BackOff"
    assert cells(deployments)[0]["available"] == 2
    assert cells(deployments)[0]["progressing"] == "False ProgressDeadlineExceeded"
    assert (cells(nodes)[0]["node"], cells(nodes)[0]["condition"]) == ("node-2", "MemoryPressure")
    assert changes.evidence_class is EvidenceClass.CHANGE
    told = [(row["event"], row["body"]) for row in cells(changes)]
    assert ("scale", "Scaled up replica set checkout-7d9f8b6c5d to 3") in told
    assert (
        "deploy",
        "shop/checkout revision 8: registry/checkout:1.4.2, before registry/checkout:1.4.1",
    ) in told
    (line,) = words.facts
    assert getattr(line, "emitter", None) is Emitter.WORKLOAD
    (end,) = ends.facts
    assert getattr(end, "emitter", None) is Emitter.PLATFORM
    assert "exitCode=137" in getattr(end, "text", "")
    assert any("Back-off restarting" in getattr(fact, "text", "") for fact in errors.facts)
    seen = [one.envelope.model_dump(mode="json") for one in asked.observations if one.envelope]
    assert SECRET_ENV not in json.dumps(seen)
    assert not any("secret" in path for path in paths)
    assert posted == {"/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"}
    assert ("kubernetes:main", "consulted") in asked.coverage()


@pytest.mark.spec("C11", "C13")
@pytest.mark.fault("R3", "R7")
async def test_rollouts_of_stateful_and_daemon_sets_are_changes_with_their_images() -> None:
    """Their revisions are ControllerRevisions; a pod's service is its set's, also once it is gone;
    of a revision nothing but its images is kept."""
    asked = await ask(
        broken_sets(),
        look("statefulsets"),
        look("daemonsets"),
        ToolCallRequest("change_events", {}),
        ToolCallRequest("error_logs", {"service": "orders-db"}),
        look("events"),
        look("pods"),
    )
    sets, daemons, changes, errors, events, pods = map(asked.envelope, range(6))
    assert [row["statefulset"] for row in cells(sets)] == ["shop/orders-db", "shop/calm"]
    first = cells(sets)[0]
    assert (first["revision"], first["desired"], first["updated"], first["available"]) == (
        "orders-db-7d8b4", 3, 1, 2,
    )  # fmt: skip
    assert [row["daemonset"] for row in cells(daemons)] == ["shop/shipper", "shop/quiet"]
    assert (cells(daemons)[0]["desired"], cells(daemons)[0]["updated"]) == (5, 2)
    told = {str(row["body"]): row["subject"] for row in cells(changes)}
    assert told == {
        "shop/orders-db revision 4: registry/db:16.0, before registry/db:15.3": "orders-db",
        "shop/shipper revision 11: registry/shipper:2.0": "shipper",
    }
    assert errors.count >= 2
    whose = {row["reason"]: row["subject"] for row in cells(events)}
    assert whose == {"BackOff": "orders-db", "Unhealthy": "shipper"}
    assert cells(pods)[0]["subject"] == "orders-db"
    seen = [one.envelope.model_dump(mode="json") for one in asked.observations if one.envelope]
    assert SECRET_ENV not in json.dumps(seen)


@pytest.mark.fault("R4")
async def test_a_role_that_does_not_know_sets_still_reads_what_it_may() -> None:
    """What it may not is an error where it is asked for, and named beside the other changes."""
    held = broken_checkout()
    sets = ("/statefulsets", "/daemonsets", "/controllerrevisions")
    held.instead = lambda asked: (
        failure(403, "Forbidden") if asked.path.partition("?")[0].endswith(sets) else None
    )
    asked = await ask(held, look("statefulsets"), ToolCallRequest("change_events", {}))
    assert asked.observations[0].code == "HTTP_403"
    changes = asked.envelope(1)
    assert any("checkout revision 8" in str(row["body"]) for row in cells(changes))
    assert any("controllerrevisions of shop (HTTP_403)" in note for note in changes.notes)


@pytest.mark.fault("R44")
async def test_a_listing_is_read_page_by_page() -> None:
    held = Cluster(objects={"pods": [pod(f"api-{n:03}") for n in range(230)]}, page_max=50)
    with cluster(held) as there:
        asked = await ask_live(settings(there), recent(), look("pods"))
        pages = [one for one in there.seen if "/pods?" in one.path]
    assert len(pages) == 5
    assert asked.envelope(0).total == 230
    assert asked.envelope(0).truncated


@pytest.mark.fault("R44")
async def test_a_listing_without_end_is_left_at_the_bound_and_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kubernetes_api, "ITEMS_MAX", 100)
    held = Cluster(objects={"pods": [pod(f"api-{n:03}") for n in range(230)]}, page_max=50)
    asked = await ask(held, look("pods"))
    assert any("pods of shop beyond the first 100 (130 more)" in n for n in asked.envelope(0).notes)


@pytest.mark.parametrize("times", [1, 2])
async def test_an_expired_continue_token_begins_anew_once(times: int) -> None:
    expired = 0

    def instead(asked: Seen) -> Reply | None:
        nonlocal expired
        if "/pods?" in asked.path and "continue=" in asked.path and expired < times:
            expired += 1
            return failure(410, "Expired")
        return None

    held = Cluster(objects={"pods": [pod(f"a-{n}") for n in range(8)]}, page_max=5, instead=instead)
    envelope = (await ask(held, look("pods"))).envelope(0)
    assert envelope.total == (8 if times == 1 else 5)
    assert envelope.truncated == (times == 2)
    assert times == 1 or any(
        "pods of shop beyond the first 5 (HTTP_410)" in n for n in envelope.notes
    )


@pytest.mark.parametrize(("pause", "is_waited_for"), [("1", True), ("60", False), ("soon", False)])
async def test_a_server_that_asks_us_to_wait_is_waited_for_once_and_shortly(
    pause: str, is_waited_for: bool
) -> None:
    asked_for: list[str] = []

    def instead(asked: Seen) -> Reply | None:
        if "/pods?" not in asked.path:
            return None
        asked_for.append(asked.path)
        busy = Reply(429, b"{}", {"retry-after": pause})
        return busy if len(asked_for) == 1 else None

    held = Cluster(objects={"pods": [pod("a")]}, instead=instead)
    envelope = (await ask(held, look("pods"))).envelope(0) if is_waited_for else None
    if envelope is not None:
        assert (envelope.total, len(asked_for)) == (1, 2)
        return
    refused = await ask(held, look("pods"))
    assert len(asked_for) == 1
    assert refused.observations[0].code == "HTTP_429"


@pytest.mark.spec("T4")
@pytest.mark.fault("R15", "R75")
async def test_what_is_forbidden_is_an_error_and_no_absence_and_the_rest_is_read() -> None:
    def instead(asked: Seen) -> Reply | None:
        return failure(403, "Forbidden") if asked.path.startswith("/api/v1/nodes") else None

    held = broken_checkout()
    held.instead = instead
    asked = await ask(held, look("pods"), look("nodes"))
    assert asked.envelope(0).count == 2
    assert not asked.envelope(0).truncated  # nothing of the pods is missing
    assert asked.observations[1].code == "HTTP_403"
    line = next(one for one in asked.release.coverage.lines if one.status == "failed")
    assert (line.source, line.codes) == ("kubernetes:main", ("HTTP_403",))


@pytest.mark.fault("R44")
async def test_a_namespace_that_is_forbidden_is_named_beside_what_was_read() -> None:
    def instead(asked: Seen) -> Reply | None:
        is_other = asked.path.startswith("/api/v1/namespaces/other/pods")
        return failure(403, "Forbidden") if is_other else None

    held = broken_checkout()
    held.instead = instead
    pods = (await ask(held, look("pods"), namespaces=("shop", "other"))).envelope(0)
    assert (pods.count, pods.truncated) == (2, True)
    assert any("pods of other (HTTP_403)" in note for note in pods.notes)


def crawl() -> Iterator[bytes]:
    for _ in range(10):
        time.sleep(0.4)
        yield b" "


def flood() -> Iterator[bytes]:
    for _ in range(150):
        yield b" " * 65_536


@pytest.mark.fault("R33", "R44")
@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (Reply(body=b'{"items": ['), "SOURCE_FAILED"),
        (Reply(body=b'{"kind": "Status"}'), "SOURCE_FAILED"),
        (Reply(pieces=crawl), "TIMEOUT"),
        (Reply(pieces=flood), "RESULT_TOO_LARGE"),
        (Reply(500), "HTTP_500"),
    ],
)
async def test_a_broken_slow_or_huge_answer_is_an_error_of_its_listing(
    reply: Reply, code: str
) -> None:
    held = broken_checkout()
    held.instead = lambda asked: reply if "/events?" in asked.path else None
    asked = await ask(held, look("events"), look("pods"), ToolCallRequest("change_events", {}))
    assert asked.observations[0].code == code
    assert asked.envelope(1).count == 2
    changes = asked.envelope(2)
    assert changes.truncated
    assert any(f"events of shop ({code})" in note for note in changes.notes)


async def test_when_nothing_can_be_listed_the_call_is_an_error() -> None:
    held = Cluster(instead=lambda asked: Reply(500) if asked.method == "GET" else None)
    asked = await ask(held, look("pods"), ToolCallRequest("change_events", {}))
    assert [one.code for one in asked.observations] == ["HTTP_500", "HTTP_500"]


RIGHTS = [
    ({"verbs": ["delete"], "apiGroups": [""], "resources": ["pods"]}, "delete pods"),
    ({"verbs": ["patch"], "apiGroups": ["apps"], "resources": ["deployments"]}, "patch deploy"),
    ({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}, "* *"),
    ({"verbs": ["create"], "apiGroups": [""], "resources": ["pods/exec"]}, "create pods/exec"),
    ({"verbs": ["get"], "apiGroups": [""], "resources": ["pods/exec"]}, "reaches into"),
    ({"verbs": ["get", "list"], "apiGroups": ["*"], "resources": ["*"]}, "reaches into"),
    ({"verbs": ["escalate"], "apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles"]},
     "escalate roles"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "word"), RIGHTS)
async def test_an_identity_that_could_change_something_is_refused(
    rule: dict[str, Any], word: str
) -> None:
    with cluster(Cluster(rules=[*READER, rule])) as there:
        finding = await probed(there)
        assert not any(one.method == "GET" for one in there.seen)
    assert (finding.ok, finding.code) == (False, "ROLE_NOT_READ_ONLY")
    assert word in finding.message
    assert "docs/backends.md" in finding.hint


async def test_the_rules_of_the_manual_prove_that_it_is_only_read() -> None:
    with cluster(Cluster()) as there:
        finding = await probed(there)
    assert finding.ok
    assert "SelfSubjectRulesReview" in finding.message
    assert finding.hint == ""


async def test_a_right_to_read_secrets_and_a_right_that_is_missing_are_said_loudly() -> None:
    secrets = {"verbs": ["get"], "apiGroups": [""], "resources": ["secrets"]}
    with cluster(Cluster(rules=[*READER[:-1], secrets])) as there:
        finding = await probed(there)
    assert finding.ok
    assert "may read Secrets of shop" in finding.hint
    assert "may not list nodes in shop" in finding.hint


@pytest.mark.parametrize("allowed", [(), ("patch deployments",), ("get pods/exec",)])
async def test_a_server_that_cannot_tell_all_rules_is_asked_one_by_one(
    allowed: tuple[str, ...],
) -> None:
    with cluster(Cluster(incomplete=True, allowed=allowed)) as there:
        finding = await probed(there)
    assert finding.ok == (not allowed)
    assert finding.code == ("ROLE_NOT_READ_ONLY" if allowed else "")


async def test_what_nothing_proves_is_refused() -> None:
    held = Cluster(instead=lambda _: failure(403, "Forbidden"))
    with cluster(held) as there:
        finding = await probed(there)
    assert (finding.ok, finding.code) == (False, "ROLE_NOT_PROVED")


@pytest.mark.fault("R3")
async def test_an_event_of_another_pod_stands_on_its_own_service() -> None:
    held = broken_checkout()
    held.objects["pods"].append(pod("batch-6f7g8-zzzzz", app="batch", ended=killed(50, "Error", 1)))
    asked = await ask(held, ToolCallRequest("error_logs", {"service": "payment"}), look("pods"))
    assert asked.envelope(0).status is EvidenceStatus.NO_EVIDENCE
    subjects = {fact.subject for fact in asked.envelope(1).facts if isinstance(fact, Row)}
    assert subjects == {"payment", "checkout", "batch"}


@pytest.mark.spec("C9", "C11")
@pytest.mark.fault("R15")
async def test_the_playbook_sees_what_kubelet_said_and_leads_with_the_rollout() -> None:
    """Nothing but a cluster: no root cause, and the revision that came shortly before is a lead."""
    with cluster(broken_checkout()) as there:
        release = await investigate(settings(there), recent(), service="checkout")
    told = release.model_dump_json()
    assert "checkout" in told
    assert "registry/checkout:1.4.2" in told
    lines = {(line.source, line.source_type, line.status) for line in release.coverage.lines}
    assert ("kubernetes:main", "logs", "consulted") in lines
    assert ("kubernetes:main", "events", "consulted") in lines
    assert ("kubernetes:main", "kubernetes", "not_asked") in lines


@pytest.mark.spec("T6")
async def test_half_a_character_in_somebody_s_words_hides_nothing_else() -> None:
    """JSON can spell what no text can hold (half a surrogate pair); a workload can write that."""
    held = broken_checkout()
    held.objects["events"].append(event("Unhealthy", "probe said \ud800 and \u0000 no more", 60))
    calls = [look("events"), ToolCallRequest("log_search", {"text": "probe said"}),
             ToolCallRequest("log_search", {"text": "Back-off"})]  # fmt: skip
    asked = await ask(held, *calls)
    assert "Unhealthy" in {row["reason"] for row in cells(asked.envelope(0))}
    assert asked.envelope(1).count >= 1
    assert asked.envelope(2).count >= 1
