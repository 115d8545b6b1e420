"""Typed statements: the part of a sentence that can be checked exactly (C4).

The wire form is `statement` of `docs/gate.schema.json`; a statement without `kind` is a value.
What each kind proves, and what not, stands with its check in `verify/statements`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field, TypeAdapter, ValidationError, model_validator

from affidavit.contract.evidence import Window
from affidavit.contract.record import Instant, Number, Record

Operator = Literal["=", "!=", "<", "<=", ">", ">="]
Direction = Literal["up", "down", "flat"]
Scalar = Number | bool | str


def _read_number(value: object) -> object:
    """A number that was written as text is that number: models write both."""
    if isinstance(value, str) and _WRITTEN.fullmatch(value):
        return Decimal(value)
    return value


_WRITTEN: Final = re.compile(r"-?\d{1,40}(?:\.\d{1,40})?")
Reading = Annotated[Scalar, BeforeValidator(_read_number)]


class _Cited(Record):
    tool_call_id: str
    tool_call_ids: tuple[str, ...] = ()

    def calls(self) -> tuple[str, ...]:
        """Every call that the statement names, each once, in its order."""
        return tuple(dict.fromkeys((self.tool_call_id, *self.tool_call_ids)))


class ValueStatement(_Cited):
    """subject's attribute stands in this relation to a value."""

    kind: Literal["value"] = "value"
    subject: str
    attribute: str
    operator: Operator = "="
    value: Scalar
    unit: str | None = None
    at: Instant | None = None
    window: Window | None = None


class CountStatement(_Cited):
    """So many items of the result match the filter."""

    kind: Literal["count"] = "count"
    subject: str | None = None
    attribute: str | None = None
    operator: Operator = "="
    value: Number
    unit: str | None = None
    where: Mapping[str, Any] | None = None
    window: Window | None = None


class ChangeStatement(_Cited):
    """subject's attribute went from one value to another, or in a direction."""

    kind: Literal["change"] = "change"
    subject: str
    attribute: str
    from_: Reading | None = Field(default=None, alias="from")
    to: Reading | None = None
    unit: str | None = None
    direction: Direction | None = None
    at: Instant | None = None
    window: Window | None = None


class ComparisonStatement(_Cited):
    """One entity's attribute stands in this relation to another's."""

    kind: Literal["comparison"] = "comparison"
    subject: str
    attribute: str
    operator: Operator
    object: str
    object_attribute: str | None = None
    window: Window | None = None


class TrendStatement(_Cited):
    """subject's attribute moved in one direction over the window."""

    kind: Literal["trend"] = "trend"
    subject: str
    attribute: str
    direction: Direction
    window: Window | None = None


class OnsetStatement(_Cited):
    """subject's attribute became abnormal at about this moment, or within this window."""

    kind: Literal["onset"] = "onset"
    subject: str
    attribute: str | None = None
    direction: Direction | None = None
    at: Instant | None = None
    window: Window | None = None

    @model_validator(mode="after")
    def _placed(self) -> OnsetStatement:
        if self.at is None and self.window is None:
            raise ValueError("an onset has a moment or a window")
        return self


class OrderStatement(_Cited):
    """One thing began before another."""

    kind: Literal["order"] = "order"
    subject: str
    attribute: str | None = None
    object: str
    object_attribute: str | None = None


class QuoteStatement(_Cited):
    """These words stand in the result."""

    kind: Literal["quote"] = "quote"
    text: str = Field(min_length=1)
    subject: str | None = None


class MembershipStatement(_Cited):
    """subject is in this state or list."""

    kind: Literal["membership"] = "membership"
    subject: str
    set: str
    attribute: str | None = None
    where: Mapping[str, Any] | None = None


class AbsenceStatement(_Cited):
    """Within the call's scope nothing matched; never: there was no fault (G9)."""

    kind: Literal["absence"] = "absence"
    query: str | None = None
    subject: str | None = None
    window: Window | None = None


class EdgeStatement(_Cited):
    """One entity calls, reads or runs on another."""

    kind: Literal["edge"] = "edge"
    subject: str
    object: str
    attribute: str | None = None


class PathStatement(_Cited):
    """A recorded path leads through these entities in this order."""

    kind: Literal["path"] = "path"
    hops: tuple[str, ...] = Field(min_length=2)
    subject: str | None = None
    object: str | None = None


class CauseStatement(_Cited):
    """subject caused what is seen at object (M5)."""

    kind: Literal["cause"] = "cause"
    subject: str
    attribute: str | None = None
    object: str
    object_attribute: str | None = None
    hops: tuple[str, ...] = ()


Statement = Annotated[
    ValueStatement
    | CountStatement
    | ChangeStatement
    | ComparisonStatement
    | TrendStatement
    | OnsetStatement
    | OrderStatement
    | QuoteStatement
    | MembershipStatement
    | AbsenceStatement
    | EdgeStatement
    | PathStatement
    | CauseStatement,
    Field(discriminator="kind"),
]
"""Any typed statement."""

_STATEMENT: TypeAdapter[Statement] = TypeAdapter(Statement)


def read_statement(raw: Mapping[str, object]) -> Statement | None:
    """The statement that an author wrote, or None when it is not one.

    JSON numbers are read as the decimals they were written as; a number given as text is text.
    """
    shaped = {key: _shape(value) for key, value in raw.items()}
    shaped.setdefault("kind", "value")
    try:
        return _STATEMENT.validate_python(shaped, strict=False)
    except ValidationError:
        return None


def _shape(value: object) -> object:
    if isinstance(value, float):
        return Decimal(repr(value))
    if isinstance(value, int) and not isinstance(value, bool):
        return Decimal(value)
    if isinstance(value, list):
        return tuple(value)
    return value
