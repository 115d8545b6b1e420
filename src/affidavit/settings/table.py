"""The shape of a table of settings, and the kinds of values that are not plain.

Keys are written with hyphens in the file (`budget-tokens`), with underscores in code, and in
capitals as variables (`AFFIDAVIT_AGENT_LIMITS_STANDARD_BUDGET_TOKENS`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from types import UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin

from pydantic import BeforeValidator, ConfigDict, Field
from pydantic.fields import FieldInfo

from affidavit.contract.record import Record

PREFIX: Final = "AFFIDAVIT_"

_UNITS_S: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")

MICROS: Final = 1_000_000
"""Millionths in one unit of the currency."""


def hyphened(name: str) -> str:
    """A field's name as its key in the file."""
    return name.replace("_", "-")


class Table(Record):
    """One table of settings: strict, frozen, closed; each field says what it means."""

    model_config = ConfigDict(alias_generator=hyphened, validate_by_name=True)


def read_duration(value: object) -> object:
    """Seconds from `60s`, `3m`, `2h`, `1d`, `250ms`; a number is seconds already."""
    if isinstance(value, bool):
        raise ValueError("a duration is written as 60s, 3m, 2h or 1d")
    if isinstance(value, (int, float, Decimal)):
        return float(value)
    found = _DURATION.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        raise ValueError("a duration is written as 60s, 3m, 2h or 1d")
    return float(found[1]) * _UNITS_S[found[2]]


def read_money(value: object) -> object:
    """Millionths of the currency from an amount such as `2.50`."""
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal, str)):
        raise ValueError("money is written as an amount, for example 2.50")
    try:
        micros = Decimal(str(value)) * MICROS
    except InvalidOperation:
        raise ValueError("money is written as an amount, for example 2.50") from None
    if not micros.is_finite() or micros < 0 or micros != micros.to_integral_value():
        raise ValueError("money is an amount of at least 0, with at most six decimals")
    return int(micros)


Duration = Annotated[float, BeforeValidator(read_duration), Field(gt=0)]
"""Seconds, in code; `60s`, `3m`, `2h` or `1d` in the file and in a variable."""

Money = Annotated[int, BeforeValidator(read_money)]
"""Millionths of the currency, in code; an amount such as `2.50` in the file and in a variable."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing that can be set: its keys from the top, and its field."""

    path: tuple[str, ...]
    field: FieldInfo

    @property
    def key(self) -> str:
        """Its name in the file, with the tables before it."""
        return ".".join(self.path)

    @property
    def variable(self) -> str:
        """Its variable."""
        return variable_of(self.path)

    @property
    def has_variable(self) -> bool:
        """Tables whose keys are the user's own (models, prices) are set in the file alone."""
        return get_origin(self.field.annotation) is not Mapping

    def read_text(self, text: str) -> object:
        """A variable's text as the value that the file would have there."""
        kinds = _kinds(self.field.annotation)
        if tuple in kinds:
            return tuple(part.strip() for part in text.split(",") if part.strip())
        if bool in kinds and text.lower() in _BOOLEANS:
            return _BOOLEANS[text.lower()]
        return int(text) if int in kinds and re.fullmatch(r"-?\d+", text) else text


_BOOLEANS: Final = {"true": True, "false": False}


def variable_of(path: tuple[str, ...]) -> str:
    """The variable of a setting, from its keys."""
    return PREFIX + "_".join(path).upper().replace("-", "_")


def settings_of(table: type[Record], before: tuple[str, ...] = ()) -> Iterator[Setting]:
    """Every setting below a table, in its order."""
    for name, info in table.model_fields.items():
        path = (*before, info.alias or hyphened(name))
        kind = info.annotation
        if isinstance(kind, type) and issubclass(kind, Record):
            yield from settings_of(kind, path)
        else:
            yield Setting(path, info)


def named_tables_of(table: type[Record], before: tuple[str, ...] = ()) -> Iterator[Setting]:
    """Every setting below the tables whose names are the user's own; NAME stands for that name."""
    for name, info in table.model_fields.items():
        path = (*before, info.alias or hyphened(name))
        kind: Any = info.annotation
        if get_origin(kind) is Mapping:
            held = get_args(kind)[1]
            if isinstance(held, type) and issubclass(held, Record):
                yield from settings_of(held, (*path, "NAME"))
                yield from named_tables_of(held, (*path, "NAME"))
        elif isinstance(kind, type) and issubclass(kind, Record):
            yield from named_tables_of(kind, path)


def _kinds(annotation: Any) -> tuple[Any, ...]:
    """The plain types that an annotation may hold."""
    origin = get_origin(annotation)
    if origin in (Union, UnionType):
        return tuple(kind for item in get_args(annotation) for kind in _kinds(item))
    if origin is Annotated:
        return _kinds(get_args(annotation)[0])
    return (origin or annotation,)
