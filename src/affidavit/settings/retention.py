"""[retention]: how long what is private lives after its run (C2)."""

from __future__ import annotations

from typing import Final

from pydantic import Field

from affidavit.ports.store import PAYLOADS_LIVE_US
from affidavit.settings.table import Duration, Table

_US: Final = 1_000_000


class RetentionTable(Table):
    """[retention]: a run that has not ended, or waits, keeps all that it has."""

    payloads: Duration = Field(
        default=PAYLOADS_LIVE_US / _US,
        description="how long raw responses, projections and drafts live after the end of their "
        "run; the answer and its affidavit are kept",
    )

    @property
    def payloads_us(self) -> int:
        """The same in microseconds, as the store counts."""
        return int(self.payloads * _US)
