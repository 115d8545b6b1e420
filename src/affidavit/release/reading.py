"""From what an author wrote to a draft that can be looked at (G0, Q4; pure).

Strict where leniency would be a choice: one JSON object, alone or in the one fenced block of a
text. A text cut short, two objects, a doubled key or an array around the report is no draft (D10,
D11); nothing is completed, and nothing is guessed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Final, NoReturn

from affidavit.contract.draft import DraftCandidate, DraftUnreadable, read_candidate

DRAFT_BYTES_MAX: Final = 1_000_000
"""Some fifty times the longest report that anybody would read; every check is linear in it."""

_FENCED: Final = re.compile(r"^```(?:json)?[ \t]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)


def read_draft(content: bytes) -> DraftCandidate:
    """The draft in what an author wrote. Raises DraftUnreadable when there is none."""
    if len(content) > DRAFT_BYTES_MAX:
        raise DraftUnreadable(f"a draft of more than {DRAFT_BYTES_MAX} bytes")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise DraftUnreadable("a draft is UTF-8 text") from None
    whole = _object(text)
    if whole is not None:
        return read_candidate(whole)
    fenced = _FENCED.findall(text)
    inner = _object(fenced[0]) if len(fenced) == 1 else None
    if inner is None:
        raise DraftUnreadable("a draft is one JSON object")
    return read_candidate(inner)


def concludes(candidate: DraftCandidate) -> bool:
    """Whether the draft draws a conclusion at all; an empty text concludes nothing (L3)."""
    return candidate.conclusion is not None and candidate.conclusion.text is not None


def read_json(text: str) -> object:
    """Any JSON value, strictly: no doubled key, no NaN, no lone surrogate, decimals kept exact.

    Raises ValueError.
    """
    try:
        value: object = json.loads(
            text,
            parse_float=Decimal,
            parse_constant=_refuse_constant,
            object_pairs_hook=_distinct,
        )
        json.dumps(value, ensure_ascii=False, default=str).encode("utf-8")
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return value


def _object(text: str) -> Mapping[str, object] | None:
    try:
        value = read_json(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found
