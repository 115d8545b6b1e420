"""Rules in Cedar's language: what they permit, and that any doubt is a no (H9)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from affidavit import Harness, Lines, tool
from affidavit.adapters.cedar_policy import POLICY_BYTES_MAX, CedarPolicy
from affidavit.contract.agent import Action, AgentRequest, ToolSpec
from affidavit.contract.errors import InputRefused
from affidavit.contract.states import EvidenceClass
from affidavit.ports.policy import ActionPolicy
from affidavit.settings import Settings
from affidavit.settings.policy import PolicyTable
from affidavit.testing import ScriptedModel, say
from affidavit.wiring import guards_of
from tests.support.runs import request

RULES = """
permit(principal, action == Action::"start", resource);
permit(principal, action == Action::"call", resource) when { resource.effect == "read" };
permit(principal in Role::"oncall", action == Action::"call", resource == Tool::"restart")
  when { context.arguments.service == "checkout" };
forbid(principal, action == Action::"call", resource)
  when { context.arguments has limit && context.arguments.limit > 100 };
forbid(principal in Tenant::"closed", action, resource);
"""


def action(name: str = "logs", effect: str = "read", **arguments: object) -> Action:
    made = ToolSpec(
        name=name,
        description="x",
        source_type="logs",
        evidence_class=EvidenceClass.OBSERVATION,
        arguments={},
        effect="write" if effect == "write" else "read",
    )
    return Action("call_0001", made, arguments, "d" * 64)


def asked(**changes: object) -> AgentRequest:
    return AgentRequest.model_validate({**request().model_dump(), **changes})


@pytest.mark.spec("H9")
def test_what_a_rule_permits_is_permitted_and_nothing_else() -> None:
    policy = CedarPolicy.of(RULES)
    assert isinstance(policy, ActionPolicy)
    oncall = asked(roles=("oncall",))
    assert policy.permits_action(action(service="a"), asked())
    assert policy.permits_action(action("restart", "write", service="checkout"), oncall)
    assert not policy.permits_action(action("restart", "write", service="checkout"), asked())
    assert not policy.permits_action(action("restart", "write", service="payment"), oncall)
    assert not policy.permits_action(action(limit=101), asked())
    assert policy.permits_action(action(limit=100), asked())
    assert not policy.permits_action(action(), asked(tenant="closed"))
    assert policy.permits_start(asked())
    assert not policy.permits_start(asked(tenant="closed"))
    assert not CedarPolicy.of("").permits_start(asked())


@pytest.mark.spec("H9")
@pytest.mark.parametrize(
    "arguments",
    [
        {"limit": "101"},  # the forbid meets a type error, and Cedar alone would say ALLOW
        {"limit": True},
        {"limit": 1.5},  # Cedar has no float
        {"limit": 2**70},
        {"note": {"__extn": {"fn": "decimal", "arg": "x"}}},
    ],
)
def test_whatever_cannot_be_decided_is_denied(arguments: dict[str, object]) -> None:
    policy = CedarPolicy.of(RULES)
    call = replace(action(), arguments=arguments)
    assert not policy.permits_action(call, asked())


@pytest.mark.spec("H9")
@pytest.mark.parametrize("name", ['a"b', "a\nb", 'Role::"oncall"', "", "测试"])
def test_a_name_is_a_name_whatever_stands_in_it(name: str) -> None:
    """No text of a caller becomes a role."""
    restart = action("restart", "write", service="checkout")
    policy = CedarPolicy.of(RULES)
    assert not policy.permits_action(restart, asked(requested_by=name, roles=(name or "x",)))
    assert policy.permits_action(action(service=name), asked(requested_by=name or "x"))


@pytest.mark.spec("H9")
def test_an_argument_that_is_null_is_not_there() -> None:
    policy = CedarPolicy.of(RULES)
    assert policy.permits_action(action(limit=None), asked())


def test_rules_that_cannot_be_read_refuse_the_start(tmp_path: Path) -> None:
    large = tmp_path / "large.cedar"
    large.write_bytes(b" " * (POLICY_BYTES_MAX + 1))
    broken = tmp_path / "broken.cedar"
    broken.write_text("permit(")
    for path in (tmp_path / "none.cedar", large, broken, tmp_path):
        with pytest.raises(InputRefused) as refused:
            guards_of(Settings(policy=PolicyTable(file=str(path))))
        assert refused.value.code == "POLICY_REFUSED"


@pytest.mark.spec("H9", "K0")
async def test_a_harness_takes_them_as_its_policy() -> None:
    @tool(source_type="logs")
    async def logs(service: str) -> Lines:
        """Lines."""
        return Lines(["x"])

    harness = Harness(tools=[logs], model=ScriptedModel([say("{}")]), policy=CedarPolicy.of(RULES))
    with pytest.raises(InputRefused) as refused:
        await harness.run("Why?", tenant="closed")
    assert refused.value.code == "START_DENIED"
    assert (await harness.run("Why?", tenant="open")).agent_status == "DONE"
