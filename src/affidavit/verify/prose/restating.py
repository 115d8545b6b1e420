"""A limit that a record says itself: "pressure below minimum 120 kPa" is no reading of 120."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from affidavit.verify.statements.records import RecordView
from affidavit.verify.statements.units import Stated

_SAID: Final = re.compile(
    r"(?P<less>\b(?:below|beneath|under|less than|lower than|fewer than)\b|<=?|低于|小于|少于)"
    r"|(?P<more>\b(?:above|over|exceed(?:s|ed|ing)?|beyond|(?:more|greater|larger|higher|longer) than)"
    r"\b|>=?|高于|大于|多于|超过|超出)",
    re.IGNORECASE,
)
NEAR_CHARS: Final = 40
"""How far behind its word of comparison a limit may stand."""
_NUMBER: Final = re.compile(r"[+-]?\d{1,20}(?:\.\d{1,12})?")


def _limits(record: RecordView) -> list[tuple[str, str]]:
    """The comparisons that a record's text makes: each its side and its number as written."""
    found: list[tuple[str, str]] = []
    for match in _SAID.finditer(record.text):
        number = _NUMBER.search(record.text, match.end(), match.end() + NEAR_CHARS)
        if number:
            found.append(("<" if match["less"] else ">", number[0]))
    return found


def restates(record: RecordView, stated: Stated, operator: str) -> bool:
    """Whether a record makes the same comparison itself, with that number."""
    return any(
        side == operator[0] and Decimal(number) == stated.number for side, number in _limits(record)
    )


def is_limit(record: RecordView, number: Decimal) -> bool:
    """Whether the record gives this number as a limit that something is compared with."""
    return any(number == Decimal(other) for _, other in _limits(record))
