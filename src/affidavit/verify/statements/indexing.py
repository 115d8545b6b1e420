"""Names by where they stand, and JSON by its leaves: how results are made searchable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet


def flatten(value: object, name: str) -> Iterator[tuple[str, str]]:
    """The leaves of a JSON value as name and text; of a list, each under the list's name."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flatten(inner, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list):
        for inner in value:
            yield from flatten(inner, name)
    elif value is not None:
        yield name, str(value)


def invert(sets: Iterable[AbstractSet[str]]) -> Mapping[str, frozenset[int]]:
    """For each name the places of the sets that hold it."""
    found: dict[str, set[int]] = {}
    for place, names in enumerate(sets):
        for name in names:
            found.setdefault(name, set()).add(place)
    return {name: frozenset(places) for name, places in found.items()}
