"""Guard 50: may this tool be asked so, by somebody with these roles? (H9)

One table: a row allows one tool, to whoever has one of its roles, when every predicate over its
arguments holds. What no row allows is denied; there is no row that forbids, so that no order of
rows and no failing predicate can open a door (a predicate that cannot be decided does not hold).
The arguments are those that will be executed: tenant, run and user stand in them as the context
has them, whatever the agent wrote.

Deliberately absent: tests on a part of a text (prefixes, patterns). What begins harmlessly may end
in a redirection (R60); a tool that needs more than whole values has more arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeGuard

from affidavit.contract.agent import (
    Action,
    AgentRequest,
    AgentState,
    GuardResult,
    Moment,
    ToolSpec,
)
from affidavit.guards.chain import CostClass
from affidavit.ports.policy import ActionPolicy, DescribedPolicy

DENIED = "PERMISSION_DENIED"
"""What an agent learns of a refusal, whatever the reason was."""

Test = Literal["is", "is not", "one of", "none of", "at most", "at least", "absent"]


@dataclass(frozen=True, slots=True)
class Predicate:
    """One condition on one argument.

    `value` is what the test compares with: a tuple for `one of` and `none of`, nothing for
    `absent`. A test on an argument that is not there holds only for `absent`; one that compares
    what cannot be compared does not hold, `is not` and `none of` included.
    """

    argument: str
    test: Test
    value: object = None

    def holds(self, arguments: Mapping[str, object]) -> bool:
        """Whether the arguments meet the condition."""
        given = arguments.get(self.argument)
        if self.test == "absent":
            return given is None
        return given is not None and _holds(self.test, given, self.value)


def _holds(test: Test, given: object, value: object) -> bool:
    match test:
        case "is":
            return _same(given, value)
        case "is not":
            return type(given) is type(value) and given != value
        case "one of":
            return isinstance(value, tuple) and any(_same(given, item) for item in value)
        case "none of":
            return isinstance(value, tuple) and all(
                type(given) is type(item) and given != item for item in value
            )
        case "at most" | "at least":
            if not _is_number(given) or not _is_number(value):
                return False
            low, high = (given, value) if test == "at most" else (value, given)
            return low <= high
        case _:
            return False


def _same(given: object, value: object) -> bool:
    """Equal and of one type: 1 is not true, and "1" is not 1."""
    return type(given) is type(value) and given == value


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class Permit:
    """One row: this tool, for one of these roles (none named: for everybody), under conditions."""

    tool: str
    roles: frozenset[str] = frozenset()
    where: tuple[Predicate, ...] = ()

    def allows(self, action: Action, roles: frozenset[str]) -> bool:
        """Whether this row allows the action."""
        return (
            self.tool == action.tool.name
            and (not self.roles or bool(self.roles & roles))
            and all(condition.holds(action.arguments) for condition in self.where)
        )


@dataclass(frozen=True, slots=True)
class Policy:
    """The table. An empty one denies everything.

    `may_start` holds the roles of which whoever starts a run has to have one; empty: everybody may.
    """

    permits: tuple[Permit, ...] = ()
    may_start: frozenset[str] = frozenset()

    def describe(self) -> object:
        """Its rows (`ports.policy.DescribedPolicy`)."""
        return [
            [
                permit.tool,
                sorted(permit.roles),
                [[one.argument, one.test, repr(one.value)] for one in permit.where],
            ]
            for permit in self.permits
        ]

    def allows(self, action: Action, roles: frozenset[str]) -> bool:
        """Whether any row allows the action."""
        return any(permit.allows(action, roles) for permit in self.permits)

    def permits_action(self, action: Action, request: AgentRequest) -> bool:
        """Whether any row allows the action to one of the caller's roles."""
        return self.allows(action, frozenset(request.roles))

    def permits_start(self, request: AgentRequest) -> bool:
        """Whether the caller has one of the roles that may start a run."""
        return not self.may_start or bool(self.may_start & frozenset(request.roles))


START_DENIED = "START_DENIED"
"""What a caller learns whose roles do not allow it to start a run (K0)."""


def permit_reads(tools: Iterable[ToolSpec]) -> Policy:
    """A table that lets everybody read with the tools that are registered, and nothing else."""
    return Policy(tuple(Permit(tool.name) for tool in tools if tool.effect == "read"))


@dataclass(frozen=True, slots=True)
class PermissionGuard:
    """Refuses what no row of the table allows; the agent learns a code, and the run goes on."""

    policy: ActionPolicy
    name: str = "permission"
    order: int = 50
    cost: CostClass = CostClass.LOOKUP
    when: Moment = Moment.BEFORE_ACTING

    def rules(self) -> object:
        """What the policy says of itself, for the digest of a run's policy; else its kind."""
        if isinstance(self.policy, DescribedPolicy):
            return self.policy.describe()
        return type(self.policy).__name__

    def check(self, state: AgentState, request: AgentRequest, action: Action | None) -> GuardResult:
        """Whether the action is allowed to whoever asked for the run."""
        if action is not None and self.policy.permits_action(action, request):
            return GuardResult()
        return GuardResult(refusal=DENIED)

    def admit(self, request: AgentRequest) -> GuardResult:
        """Whether this caller may start a run at all (K0)."""
        if self.policy.permits_start(request):
            return GuardResult()
        return GuardResult(refusal=START_DENIED)
