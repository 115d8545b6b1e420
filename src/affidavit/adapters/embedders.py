"""Plug-ins that turn texts into vectors: entry points of installed packages, by name (I2)."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Final

from affidavit.contract.errors import InputRefused
from affidavit.ports.knowledge import Embedder

GROUP: Final = "affidavit.embedders"


def load_embedder(name: str) -> Embedder | None:
    """The embedder of this name, made without arguments; None for "".

    Raises InputRefused: EMBEDDER_UNKNOWN for a name that nobody offers, EMBEDDER_MALFORMED for what
    cannot be made or has not the shape of one.
    """
    if not name:
        return None
    offered = tuple(entry_points(group=GROUP, name=name))
    if not offered:
        raise InputRefused(
            f"no installed package offers an embedder {name!r}",
            code="EMBEDDER_UNKNOWN",
            hint=f"install the package, or mend the name; embedders are offered as {GROUP}",
        )
    try:
        embedder = offered[0].load()()
    except Exception as error:
        raise _malformed(name, type(error).__name__) from error
    if not (isinstance(getattr(embedder, "name", None), str) and hasattr(embedder, "embed")):
        raise _malformed(name, "it has no name, or does not embed")
    made: Embedder = embedder
    return made


def _malformed(name: str, why: str) -> InputRefused:
    return InputRefused(
        f"the embedder {name!r} cannot be made: {why}",
        code="EMBEDDER_MALFORMED",
        hint="an embedder has a name and embed(texts) (affidavit.ports.knowledge.Embedder)",
    )
