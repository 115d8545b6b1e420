"""Who may do what: what the permission guard asks (H9, K0)."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from affidavit.contract.agent import Action, AgentRequest


@runtime_checkable
class DescribedPolicy(Protocol):
    """A policy that can say what it is, so that a run can name it by digest (A5)."""

    def describe(self) -> object:
        """The rules as JSON without floats, the same for the same rules in every process."""
        ...


@runtime_checkable
class ActionPolicy(Protocol):
    """Decides at once, from what it is given; what it cannot decide is no.

    A policy that raises stops the run (H4), so one that can fail says no instead.
    """

    def permits_action(self, action: Action, request: AgentRequest) -> bool:
        """Whether exactly this call may happen for whoever asked for the run."""
        ...

    def permits_start(self, request: AgentRequest) -> bool:
        """Whether whoever asks may start a run at all."""
        ...
