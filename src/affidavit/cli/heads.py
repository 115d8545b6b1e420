"""`affidavit heads check`: is every sealed run of a tenant still there, in its place? (A4)"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, NoReturn

import anyio

from affidavit.affidavit.anchoring import Gap, find_cut, find_disorder, find_gaps, read_anchor
from affidavit.affidavit.document import read_document
from affidavit.affidavit.integrity import Altered
from affidavit.affidavit.journal_checks import Broken
from affidavit.affidavit.seal_checks import check_signature, check_signer, signed_head, signer_of
from affidavit.affidavit.trust import Trust
from affidavit.cli.opening import runs_at, sealed_file
from affidavit.cli.screen import EXIT_ALTERED, EXIT_UNSIGNED, one_line, say, say_json
from affidavit.cli.trusting import trust_of
from affidavit.contract.errors import InputRefused
from affidavit.ports.store import SealedHead, Store

ANCHOR_BYTES_MAX: Final = 256_000_000
"""Half a million heads; an anchor that grows beyond it is cut by months, and checked by parts."""


@dataclass(frozen=True, slots=True)
class HeadsChecked:
    """What a check of all heads came to."""

    count: int
    anchored: int
    gaps: tuple[Gap, ...]
    trusted: bool


def check_heads(
    anchor: Path | None, tenant: str, keys: Sequence[str], store: str, *, as_json: bool
) -> NoReturn:
    """Find runs that were left out, cut off or exchanged, and exit as `verify` does."""
    told = () if anchor is None else tuple(h for h in read_anchors(anchor) if h.tenant == tenant)
    found = anyio.run(partial(_check, store, tenant, told, trust_of(keys)))
    leave(found, anchor=anchor, as_json=as_json)


def leave(found: HeadsChecked, *, anchor: Path | None, as_json: bool) -> NoReturn:
    """Say what was found, and exit with it."""
    if as_json:
        say_json(
            {
                "heads": found.count,
                "anchored": found.anchored if anchor else None,
                "gaps": [{"number": gap.number, "says": gap.says} for gap in found.gaps],
                "trusted": found.trusted,
            }
        )
    else:
        for gap in found.gaps:
            say(one_line(f"✗ {gap.number}: {gap.says}"))
        against = f", {found.anchored} of them anchored" if anchor else ", no anchor looked at"
        state = "runs are missing or exchanged" if found.gaps else "each in its place"
        say(f"{found.count} sealed runs{against}: {state}")
    if found.gaps:
        raise SystemExit(EXIT_ALTERED)
    raise SystemExit(0 if found.trusted else EXIT_UNSIGNED)


def read_anchors(path: Path) -> tuple[SealedHead, ...]:
    """The heads in an anchor file. Raises InputRefused (FILE_UNREADABLE, ANCHOR_REFUSED)."""
    try:
        with path.open("rb") as file:
            content = file.read(ANCHOR_BYTES_MAX)
    except OSError as error:
        raise InputRefused(
            f"{path} cannot be read: {error.strerror}",
            code="FILE_UNREADABLE",
            hint="give the file that the setting `signing.anchors` names",
        ) from None
    return read_anchor(content)


async def _check(url: str, tenant: str, told: Sequence[SealedHead], trust: Trust) -> HeadsChecked:
    async with runs_at(url) as store:
        known = [head async for head in _heads(store, tenant)]
        gaps = [*find_gaps(known), *find_disorder(told), *find_cut(known, told)]
        trusted = bool(known)
        for head in known:
            says, is_known = _file_fault(await sealed_file(store, head.run_id), head, trust)
            trusted &= is_known
            if says:
                gaps.append(Gap(head.number, f"{head.run_id}: {says}"))
    places = {(head.tenant, head.number) for head in told}
    return HeadsChecked(len(known), len(places), tuple(gaps), trusted)


async def _heads(store: Store, tenant: str) -> AsyncIterator[SealedHead]:
    after = 0
    while page := await store.sealed_heads(tenant, after):
        for head in page:
            yield head
        after = page[-1].number


def _file_fault(content: bytes | None, head: SealedHead, trust: Trust) -> tuple[str, bool]:
    """What is wrong with the file of a sealed run; and whether its signer is trusted."""
    if content is None:
        return "its file is gone", False
    try:
        document = read_document(content)
        check_signature(document, trust)
        check_signer(document, trust)
        signed = signed_head(document)
    except (InputRefused, Altered):
        return "its file cannot be read, or was altered", False
    except Broken as broken:
        return broken.says, False
    signer = signer_of(document, trust)
    is_known = signer is not None and signer.name is not None
    return ("" if signed.digest() == head.digest else "its file has another head"), is_known
