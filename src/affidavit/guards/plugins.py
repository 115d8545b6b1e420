"""Guards of others, from entry points, and only those that are named (H3).

A package offers a guard in its own metadata:

    [project.entry-points."affidavit.guards"]
    night-freeze = "acme_guards:NightFreeze"      # a class or function that makes the guard

It is loaded when its name stands in the allow-list, takes its place by its `order`, and nothing of
the harness changes. What is installed and not named is not even imported.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from affidavit.contract.errors import InputRefused
from affidavit.guards.chain import CostClass, Guard

GROUP: Final = "affidavit.guards"


def load_guards(allowed: Sequence[str]) -> tuple[Guard, ...]:
    """The guards of these names, made without arguments.

    Raises InputRefused: GUARD_UNKNOWN for a name that nobody offers, GUARD_AMBIGUOUS for one that
    two offer, GUARD_MALFORMED for what cannot be made or is no guard.
    """
    offered = tuple(entry_points(group=GROUP))
    return tuple(_load(name, [item for item in offered if item.name == name]) for name in allowed)


def _load(name: str, found: Sequence[EntryPoint]) -> Guard:
    if not found:
        raise InputRefused(
            f"no installed package offers a guard {name!r}",
            code="GUARD_UNKNOWN",
            hint=f"install the package, or mend the name; guards are offered as {GROUP}",
        )
    if len({item.value for item in found}) > 1:
        offers = " and ".join(sorted(item.value for item in found))
        raise InputRefused(
            f"{offers} both offer a guard {name!r}",
            code="GUARD_AMBIGUOUS",
            hint="uninstall one of them",
        )
    try:
        guard = found[0].load()()
    except Exception as error:
        raise _malformed(name, found[0], type(error).__name__) from error
    if not isinstance(guard, Guard) or not isinstance(guard.cost, CostClass):
        raise _malformed(name, found[0], "it has not the shape of a guard")
    return guard


def _malformed(name: str, entry: EntryPoint, why: str) -> InputRefused:
    return InputRefused(
        f"the guard {name!r} cannot be made from {entry.value}: {why}",
        code="GUARD_MALFORMED",
        hint="a guard has name, order, cost, when and check (affidavit.guards.chain.Guard)",
    )
