"""Which guards are on (H5): one frozen record, read once at the start; no global switches.

    [agent.guard]
    circuit-breaker = false
    accept-off = ["audit"]        # what may be off although a service should not run without it

Turning approval off never lets an effect through: without an approver the answer is no.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pydantic import ConfigDict, Field, ValidationError

from affidavit.contract.errors import InputRefused
from affidavit.contract.record import Record

NEEDED: Final = ("budget", "timeout", "permission", "audit")
"""A service without these is refused unless each is named in `accept-off` (H5)."""


class GuardToggles(Record):
    """The seven guards of section 5.4 of the founding document, all on."""

    model_config = ConfigDict(
        alias_generator=lambda name: name.replace("_", "-"), validate_by_name=True
    )

    budget: bool = Field(default=True, description="guard 10: tokens, money, turns and calls")
    loop: bool = Field(default=True, description="guard 20: going round in circles")
    timeout: bool = Field(default=True, description="guard 30: working time")
    circuit_breaker: bool = Field(default=True, description="guard 40: no model left to ask")
    permission: bool = Field(default=True, description="guard 50: what may be called, by whom")
    approval: bool = Field(default=True, description="guard 60: a person decides about effects")
    audit: bool = Field(default=True, description="guard 70: what came in, what was executed")
    accept_off: tuple[str, ...] = Field(
        default=(),
        description="guards that a service may run without, though it should not: `budget`, "
        "`timeout`, `permission`, `audit`",
    )

    def refuse_unsafe(self) -> None:
        """Raise InputRefused (GUARD_OFF) when a needed guard is off and nobody said so by name."""
        off = [name for name in NEEDED if not getattr(self, name) and name not in self.accept_off]
        if off:
            raise InputRefused(
                f"a service does not run without the {' and the '.join(off)} guard",
                code="GUARD_OFF",
                hint=f"turn it on, or say so by name: accept-off = {off}".replace("'", '"'),
            )


def read_toggles(values: Mapping[str, object]) -> GuardToggles:
    """The toggles of a configuration's table, by their names there (`circuit-breaker`).

    Raises InputRefused (GUARD_UNKNOWN) for a key that names no guard: a gate that is misspelt must
    not be a gate that is off (F25).
    """
    lists = {key: tuple(v) if isinstance(v, list) else v for key, v in values.items()}
    try:
        return GuardToggles.model_validate(lists)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        unknown = first["type"] == "extra_forbidden"
        known = ", ".join(name.replace("_", "-") for name in GuardToggles.model_fields)
        raise InputRefused(
            f"agent.guard.{key} {'names no guard' if unknown else 'is not ' + first['msg']}",
            code="GUARD_UNKNOWN",
            hint=f"the keys are {known}",
        ) from None
