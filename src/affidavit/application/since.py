"""Since how long: the window of a question to live back ends (pure)."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Final

from affidavit.contract.errors import InputRefused
from affidavit.contract.evidence import Window

SINCE_MIN_S: Final = 30
SINCE_MAX_S: Final = 6 * 3600
"""What a back end is read for at most; a longer past is asked about in parts."""

SINCE_DEFAULT: Final = "15m"
_UNITS_S: Final = {"s": 1, "m": 60, "h": 3600}


def window_since(since: str, now: datetime) -> Window:
    """The window that ends now and is so long: `90s`, `15m`, `2h`; the default for "".

    Raises InputRefused (USAGE).
    """
    found = re.fullmatch(r"(\d{1,5})([smh])", since or SINCE_DEFAULT, re.ASCII)
    length_s = int(found[1]) * _UNITS_S[found[2]] if found else 0
    if not SINCE_MIN_S <= length_s <= SINCE_MAX_S:
        raise InputRefused(
            f"--since {since!r} is no time between {SINCE_MIN_S}s and {SINCE_MAX_S // 3600}h",
            code="USAGE",
            hint="write 90s, 15m or 2h",
        )
    return Window(start=now - timedelta(seconds=length_s), end=now, zone="UTC")
