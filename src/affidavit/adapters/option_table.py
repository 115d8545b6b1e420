"""A table of options as it stands in `affidavit.toml`: keys with hyphens there, not in code."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Final

from pydantic import BeforeValidator, ConfigDict

from affidavit.contract.record import Record


def hyphened(name: str) -> str:
    """A field's name as its key in the file."""
    return name.replace("_", "-")


class OptionTable(Record):
    """Strict, frozen and closed, with hyphens in its keys."""

    model_config = ConfigDict(alias_generator=hyphened, validate_by_name=True)


def _seconds(value: object) -> object:
    return float(value) if isinstance(value, (int, Decimal)) and value is not True else value


Seconds = Annotated[float, BeforeValidator(_seconds)]
"""A number of seconds; a file's decimals are taken as they are."""

TENANTS: Final = "whose runs may read it; empty: every tenant's"
"""What the setting `tenants` of a back end says of itself."""
