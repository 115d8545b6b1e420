"""Kinds of anchor that other packages offer, from entry points (A4).

A package offers a kind in its own metadata, under the scheme of its addresses:

    [project.entry-points."affidavit.anchors"]
    rfc3161 = "acme_tsa:open_anchor"    # takes the address, returns a `ports.anchor.Anchor`

It is loaded when the setting `signing.anchors` names an address of that scheme; what is installed
and not named is not even imported, and a scheme of our own cannot be taken over. Deliberately
absent: a client of a time-stamping authority. docs/anchors.md shows how one is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Final

import anyio

from affidavit.contract.errors import InputRefused, RecordFailed
from affidavit.ports.anchor import Anchor
from affidavit.ports.store import SealedHead

GROUP: Final = "affidavit.anchors"

TELL_MAX_S: Final = 30.0
"""An anchor is told after the publication: whoever reads the answer waits no longer than this."""


@dataclass(frozen=True, slots=True)
class ForeignAnchor:
    """An anchor of another package, held to what the port promises: whatever it raises, and however
    long it takes, is an anchor that could not be told."""

    scheme: str
    inner: Anchor

    @property
    def name(self) -> str:
        """See `Anchor.name`. Its own words may hold a secret of its address: only its scheme."""
        return f"{self.scheme}:"

    async def tell(self, head: SealedHead, line: bytes) -> None:
        """See `Anchor.tell`."""
        try:
            with anyio.fail_after(TELL_MAX_S):
                await self.inner.tell(head, line)
        except TimeoutError as error:
            raise self._failed(f"it took longer than {TELL_MAX_S:g} s") from error
        except Exception as error:
            raise self._failed(type(error).__name__) from error

    def _failed(self, why: str) -> RecordFailed:
        return RecordFailed(
            f"the anchor {self.name} could not be told: {why}",
            code="ANCHOR_FAILED",
            hint="mend it; the next run tells of this one too",
        )


def open_foreign(scheme: str, address: str) -> Anchor | None:
    """The anchor at an address of that scheme; None where no installed package offers the kind.

    Raises InputRefused (ANCHOR_REFUSED) where two packages offer it, and for what cannot be made of
    this address or is no anchor.
    """
    found = {item.value: item for item in entry_points(group=GROUP) if item.name == scheme}
    if not found:
        return None
    if len(found) > 1:
        offers = " and ".join(sorted(found))
        raise _refused(scheme, f"{offers} both offer it", "uninstall one of them")
    (entry,) = found.values()
    try:
        anchor = entry.load()(address)
    except InputRefused:
        raise
    except Exception as error:
        why = f"{entry.value} cannot make it ({type(error).__name__})"
        raise _refused(scheme, why, "mend the address or the package") from error
    if not (isinstance(getattr(anchor, "name", None), str) and callable(_tell_of(anchor))):
        shape = "an anchor has a name and an async tell (affidavit.ports.anchor.Anchor)"
        raise _refused(scheme, f"what {entry.value} makes is no anchor", shape)
    return ForeignAnchor(scheme, anchor)


def _tell_of(anchor: object) -> object:
    return getattr(anchor, "tell", None)


def _refused(scheme: str, why: str, hint: str) -> InputRefused:
    return InputRefused(
        f"an anchor {scheme}: cannot be opened: {why}", code="ANCHOR_REFUSED", hint=hint
    )
