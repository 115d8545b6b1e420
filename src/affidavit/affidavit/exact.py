"""JSON text that keeps what an author wrote: a decimal stays the decimal that it was.

Not canonical JSON, which knows no fractions; a statement goes into the file as such a text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal


def write_exact(value: object) -> str:
    """The value as JSON text with sorted keys, which `release.reading.read_json` reads back equal.

    Raises ValueError for what JSON cannot hold.
    """
    match value:
        case None | bool() | int() | str():
            return json.dumps(value)
        case Decimal() if value.is_finite():
            return str(value)
        case float():
            return json.dumps(value, allow_nan=False)
        case Mapping():
            items = sorted((str(key), item) for key, item in value.items())
            return "{" + ",".join(f"{json.dumps(k)}:{write_exact(v)}" for k, v in items) + "}"
        case Sequence() if not isinstance(value, (bytes, bytearray)):
            return "[" + ",".join(write_exact(item) for item in value) + "]"
        case _:
            raise ValueError(f"JSON has no {type(value).__name__}")
