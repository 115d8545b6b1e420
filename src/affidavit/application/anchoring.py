"""Tell every anchor of each sealed head, once its run is published (A4).

It is told after the publication, and what cannot be told is complained of and takes nothing back:
the next head names this one by digest, and so tells of it as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from affidavit.affidavit.anchoring import write_anchor_line
from affidavit.contract.errors import RecordFailed
from affidavit.ports.anchor import Anchor
from affidavit.ports.store import SealedHead


@dataclass(frozen=True, slots=True)
class Teller:
    """Tells anchors of heads (`diagnose.Tell`); `complain` hears of each that could not be told."""

    anchors: tuple[Anchor, ...]
    complain: Callable[[RecordFailed], None]

    async def __call__(self, head: SealedHead) -> None:
        """Every anchor was told, or complained of. Never raises for an anchor."""
        line = write_anchor_line(head)
        for anchor in self.anchors:
            try:
                await anchor.tell(head, line)
            except RecordFailed as failed:
                self.complain(failed)
