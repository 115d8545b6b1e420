"""What only the store holds: raw responses (`runs disclose`, `verify --raw`), and the names behind
masks (`runs unmask`) (A5, C2, T7)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, NoReturn

import anyio

from affidavit.affidavit.disclosure import check_response, commitment_of
from affidavit.affidavit.document import Document
from affidavit.affidavit.journal_checks import Broken
from affidavit.affidavit.recheck import Check
from affidavit.cli.answer import show_release
from affidavit.cli.opening import head_of, runs_at
from affidavit.cli.outlet import check_out, write_whole
from affidavit.cli.screen import one_line, say, say_json
from affidavit.contract.errors import InputRefused
from affidavit.contract.report import ReleaseRecord
from affidavit.diagnose import stored_release
from affidavit.ledger.commitment import SALT_BYTES
from affidavit.wiring.masking import mask_of_run

RAW_BYTES_MAX: Final = 256_000_000
"""More than any tool may answer; beyond it nothing is read into memory."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A response that somebody shows: whose it is said to be, and the salt and the bytes."""

    tool_call_id: str
    content: bytes


def read_shown(given: Iterable[str]) -> tuple[Shown, ...]:
    """What `--raw CALL=FILE` means. Raises InputRefused (USAGE, FILE_UNREADABLE)."""
    return tuple(_read_shown(each) for each in given)


def _read_shown(given: str) -> Shown:
    call, is_pair, name = given.partition("=")
    if not (call and is_pair and name):
        raise InputRefused(
            f"--raw {given!r} names no call and file",
            code="USAGE",
            hint="give --raw CALL=FILE, the file as `affidavit runs disclose` wrote it",
        )
    try:
        with Path(name).open("rb") as file:
            content = file.read(RAW_BYTES_MAX + 1)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "this is no path"
        raise InputRefused(
            f"{name} cannot be read: {why}",
            code="FILE_UNREADABLE",
            hint="give the file that `affidavit runs disclose` wrote",
        ) from None
    return Shown(call, content)


def check_shown(document: Document, shown: Shown) -> Check:
    """Whether this is what the call answered."""
    asks = one_line(f"{shown.tool_call_id} answered what --raw shows")
    try:
        check_response(document.journal, shown.tool_call_id, shown.content)
    except Broken as broken:
        return Check("raw", asks, False, broken.pointer, broken.says)
    return Check("raw", asks, True)


def disclose(run_id: str, call_id: str, out: Path, store: str, *, as_json: bool) -> NoReturn:
    """Write the salt and the response of one call to a file that its owner alone can read."""
    check_out(out)
    content = anyio.run(partial(_payload, store, run_id, call_id))
    write_whole(out, content, private=True)
    plain = {
        "run_id": run_id,
        "tool_call_id": call_id,
        "file": str(out),
        "salt_bytes": SALT_BYTES,
        "response_bytes": len(content) - SALT_BYTES,
    }
    if as_json:
        say_json(plain)
    else:
        say(one_line(f"{out}: {SALT_BYTES} bytes of salt, and the response of {call_id} after it"))
        say(one_line(f"show it: affidavit verify FILE --raw {call_id}={out}"))
    raise SystemExit(0)


def unmask(run_id: str, store: str, *, as_json: bool) -> NoReturn:
    """Show the answer of a run whose names were masked by the names that it is about."""
    release = anyio.run(partial(_unmasked, store, run_id))
    raise SystemExit(show_release(release, None, as_json=as_json))


async def _unmasked(url: str, run_id: str) -> ReleaseRecord:
    async with runs_at(url) as store:
        await head_of(store, run_id)
        release = await stored_release(store, run_id)
        mask = await mask_of_run(store, run_id)
    if release is None:
        raise InputRefused(
            f"run {run_id} has no answer yet",
            code="RUN_UNDECIDED",
            hint=f"`affidavit runs resume {run_id}` goes on with it",
        )
    if mask is None:
        raise InputRefused(
            f"no names of run {run_id} are masked",
            code="NAMES_REFUSED",
            hint=f"affidavit show {run_id}",
        )
    return ReleaseRecord.model_validate_json(mask.unmask(release.model_dump_json()))


async def _payload(url: str, run_id: str, call_id: str) -> bytes:
    async with runs_at(url) as store:
        await head_of(store, run_id)
        named = commitment_of(await store.read(run_id), call_id)
        if named is None:
            raise InputRefused(
                f"no call {call_id!r} of run {run_id} has a response",
                code="CALL_UNKNOWN",
                hint=f"`affidavit timeline {run_id}` names the calls",
            )
        content = await store.artifact(run_id, named[1])
    if content is None:
        raise InputRefused(
            f"the response of {call_id} is not kept any more",
            code="PAYLOAD_EXPIRED",
            hint="payloads live as long as the setting `retention.payloads` says; the file holds "
            "the projection that was cited",
        )
    return content
