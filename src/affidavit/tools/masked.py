"""A catalogue whose tools speak of pseudonyms, and ask their back ends by the real names (T7)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

from affidavit.contract.evidence import Scope
from affidavit.contract.record import Record
from affidavit.tools.catalogue import Catalogue, Tool
from affidavit.tools.redaction.names import NameMask

R = TypeVar("R", bound=Record)


def masked_catalogue(catalogue: Catalogue, mask: NameMask) -> Catalogue:
    """The same tools. Their projections see masked responses alone; what is projected is what was
    kept, so that a replay agrees."""
    tools = (_masked(tool, mask) for tool in catalogue.tools.values())
    missing = (
        replace(each, source=mask.mask(each.source), reason=mask.mask(each.reason))
        for each in catalogue.unavailable
    )
    return Catalogue.of(tools, missing)


def _masked(tool: Tool[Record], mask: NameMask) -> Tool[Record]:
    perform = tool.perform

    async def fetch(arguments: Record, scope: Scope) -> bytes:
        real = _unmasked(arguments, mask), _unmasked(scope, mask)
        return mask.mask_bytes(await tool.fetch(*real))

    async def act(arguments: Record, scope: Scope, idempotency_key: str) -> bytes:
        if perform is None:
            raise TypeError(f"{tool.name} has no effect")
        real = _unmasked(arguments, mask), _unmasked(scope, mask)
        return mask.mask_bytes(await perform(*real, idempotency_key))

    acting: Callable[[Record, Scope, str], Awaitable[bytes]] | None = act if perform else None
    words = mask.mask(tool.description)
    return replace(tool, description=words, fetch=fetch, perform=acting)


def _unmasked(record: R, mask: NameMask) -> R:
    return type(record).model_validate_json(mask.unmask(record.model_dump_json()))
