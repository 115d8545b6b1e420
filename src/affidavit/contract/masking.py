"""What a masked secret looks like (T7).

Redaction writes it, the checks refuse what rests on it, and both must mean the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

MASK_PATTERN: Final = re.compile(r"\[masked:([a-z-]+):([0-9]+)\]")
"""A mask: kind and number. What rests on one is refused (MASK_CITED)."""

DEPTH_MAX: Final = 16
"""A typed statement nests a filter in its fields, and nothing deeper."""


def holds_mask(value: object, depth: int = 0) -> bool:
    """Whether a mask stands anywhere in a JSON value. What nests too deeply counts as one."""
    if isinstance(value, str):
        return MASK_PATTERN.search(value) is not None
    if isinstance(value, (Mapping, list, tuple)) and depth >= DEPTH_MAX:
        return True
    if isinstance(value, Mapping):
        return any(
            holds_mask(key, depth + 1) or holds_mask(item, depth + 1) for key, item in value.items()
        )
    if isinstance(value, (list, tuple)):
        return any(holds_mask(item, depth + 1) for item in value)
    return False
