"""Rules of one's own in Cedar's language, prepared once (`ports.policy`, H9).

    permit(principal in Role::"oncall", action == Action::"call", resource == Tool::"restart")
      when { context.arguments.service == "checkout" };
    permit(principal, action == Action::"start", resource);

    principal   User::"ann", in her roles (Role::"oncall") and her tenant (Tenant::"shop")
    action      Action::"call" a tool, Action::"start" a run
    resource    Tool::"restart", with effect, destructive and source_type; Run::"new"
    context     arguments (as they would be executed), tenant, profile

In Cedar a rule that meets an error is left out, and a `forbid` that is left out forbids nothing. So
here any error means no, whatever the decision says; so does what Cedar cannot hold (a float).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from affidavit.contract.agent import Action, AgentRequest
from affidavit.contract.errors import InputRefused

POLICY_BYTES_MAX: Final = 1_000_000
"""Rules that people read; a file beyond this is none."""


@dataclass(frozen=True, slots=True)
class CedarPolicy:
    """A set of Cedar rules. Without a rule that permits, everything is denied."""

    rules: Any
    text: str = ""

    @classmethod
    def of(cls, text: str, name: str = "the policy") -> CedarPolicy:
        """The rules of a text. Raises InputRefused (POLICY_REFUSED, POLICY_PACKAGE)."""
        try:
            from cedarpy import PolicySet
        except ImportError:
            raise InputRefused(
                "rules in Cedar's language need a package that is not installed",
                code="POLICY_PACKAGE",
                hint="pip install 'affidavit[policy]'",
            ) from None
        try:
            return cls(PolicySet.from_str(text), text)
        except Exception as error:  # noqa: BLE001 - whatever a reader of theirs raises
            raise InputRefused(
                f"{name} cannot be read: {' '.join(str(error).split())[:200]}",
                code="POLICY_REFUSED",
                hint="correct the rules; nothing starts without them",
            ) from None

    def describe(self) -> object:
        """The rules as they were written (`ports.policy.DescribedPolicy`)."""
        return self.text

    @classmethod
    def read(cls, path: Path) -> CedarPolicy:
        """The rules of a file. Raises InputRefused as `of` does."""
        try:
            with path.open("rb") as file:
                content = file.read(POLICY_BYTES_MAX + 1)
            text = content.decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is no text"
            raise InputRefused(
                f"the policy {path} cannot be read: {why}",
                code="POLICY_REFUSED",
                hint="correct policy.file; nothing starts without its rules",
            ) from None
        if len(content) > POLICY_BYTES_MAX:
            raise InputRefused(f"the policy {path} is too large", code="POLICY_REFUSED")
        return cls.of(text, str(path))

    def permits_action(self, action: Action, request: AgentRequest) -> bool:
        """Whether the rules permit the call, and no rule met an error."""
        tool = action.tool
        attributes = {
            "effect": tool.effect,
            "destructive": tool.destructive,
            "source_type": tool.source_type,
        }
        context = {"arguments": _held(action.arguments)}
        return self._decide(request, "call", ("Tool", tool.name), attributes, context)

    def permits_start(self, request: AgentRequest) -> bool:
        """Whether the rules permit `Action::"start"` on `Run::"new"`."""
        return self._decide(request, "start", ("Run", "new"), {}, {})

    def _decide(
        self,
        request: AgentRequest,
        action: str,
        resource: tuple[str, str],
        attributes: Mapping[str, object],
        context: Mapping[str, object],
    ) -> bool:
        from cedarpy import is_authorized

        who = _uid("User", request.requested_by)
        over = [_uid("Tenant", request.tenant), *(_uid("Role", role) for role in request.roles)]
        what = _uid(*resource)
        entities: list[dict[str, object]] = [
            {"uid": who, "attrs": {}, "parents": over},
            {"uid": what, "attrs": dict(attributes), "parents": []},
        ]
        asked = {
            "principal": who,
            "action": _uid("Action", action),
            "resource": what,
            "context": {**context, "tenant": request.tenant, "profile": request.profile},
        }
        try:
            said = is_authorized(asked, self.rules, entities)
            return bool(said.allowed) and not said.diagnostics.errors
        except Exception:  # noqa: BLE001 - what cannot be decided is no (H9)
            return False


def _uid(kind: str, name: str) -> dict[str, str]:
    return {"type": kind, "id": name}


def _held(value: object) -> object:
    """Arguments as Cedar holds them: it knows no null, so that what is null is not there."""
    if isinstance(value, Mapping):
        return {str(key): _held(item) for key, item in value.items() if item is not None}
    if isinstance(value, (list, tuple)):
        return [_held(item) for item in value if item is not None]
    return value
