"""The gate for anybody's agent: `gate`, and going on with a run that it began."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import NoReturn

import anyio

from affidavit.adapters.memory_store import MemoryStore
from affidavit.application.gate import (
    ORDER_BYTES_MAX,
    GateOrder,
    gate_request,
    order_digest,
    order_of,
    read_order,
    refuse_supplied,
    reread,
)
from affidavit.cli import diagnosing
from affidavit.cli.opening import head_of, runs_at, settings_in_force, source_of
from affidavit.cli.outlet import check_out
from affidavit.cli.screen import tell
from affidavit.cli.thinking import Thinkers, think_again, think_with, under_ceilings
from affidavit.contract.errors import InputRefused
from affidavit.contract.ids import LOCAL_TENANT
from affidavit.diagnose import start, stored_release
from affidavit.importers.holmes_answer import gate_input_of_holmes
from affidavit.wiring import gate_world, new_run_id

STDIN = "-"
"""As a file's name: the answer comes on standard input."""


@dataclass(frozen=True, slots=True)
class GateOptions:
    """What one `gate` is to do. `source_format` is `gate` or the agent whose answer it is."""

    answer: str
    source_format: str = "gate"
    question: str = ""
    store: str = ""
    out: Path | None = None
    withdraw: bool = False
    require_recorded: bool = False
    as_json: bool = False
    thinkers: Thinkers = field(default_factory=Thinkers)


def gate(options: GateOptions) -> NoReturn:
    """Let one answer through or hold it, and exit with what its user got."""
    check_out(options.out)
    order = _order(options)
    if options.require_recorded:
        refuse_supplied(order)
    raise SystemExit(anyio.run(partial(_gate, order, options)))


async def _gate(order: GateOrder, options: GateOptions) -> int:
    """The answer was read; a store is opened, and made, only once a judge is there too."""
    asked = diagnosing.Order(Path(), store=options.store, out=options.out, as_json=options.as_json)
    request = gate_request(order, new_run_id(), LOCAL_TENANT)
    settings = settings_in_force()
    bare = gate_world(order, MemoryStore(), listen=diagnosing.Watcher(), settings=settings)
    thinkers = replace(options.thinkers.or_configured(settings), models=())  # it has its author
    thinking = think_with(thinkers, bare, request, settings)
    async with runs_at(options.store, may_make=True) as store:
        world = replace(thinking, driver=replace(bare.driver, store=store))
        world = under_ceilings(world, store, settings)
        await start(world, request, (order.artifact,))
        tell(f"run {request.run_id}: {request.question}")
        return await diagnosing.conduct(world, store, request.run_id, asked)


def resume(
    run_id: str, store: str, out: Path | None, *, as_json: bool, thinkers: Thinkers | None = None
) -> NoReturn:
    """Go on with a run where its journal stands, a supplied one from the answer that it keeps."""
    check_out(out)
    order = anyio.run(partial(_kept_order, run_id, store))
    if order is None:
        diagnosing.resume(run_id, store, out, as_json=as_json, thinkers=thinkers)
    asked = diagnosing.Order(
        Path(), store=store, out=out, as_json=as_json, thinkers=thinkers or Thinkers()
    )
    raise SystemExit(anyio.run(partial(_resume, run_id, order, asked)))


async def _kept_order(run_id: str, url: str) -> GateOrder | None:
    """The answer that an unfinished run was handed, or None where it is none, or has ended."""
    async with runs_at(url) as store:
        await head_of(store, run_id)
        address = order_digest(str(await source_of(store, run_id)))
        if address is None or await stored_release(store, run_id) is not None:
            return None
        content = await store.artifact(run_id, address)
    if content is None:
        raise InputRefused(
            f"run {run_id} cannot go on: the answer that it was handed has expired",
            code="RUN_EXPIRED",
            hint="hand the answer in anew with `affidavit gate`",
        )
    return reread(content)


async def _resume(run_id: str, order: GateOrder, asked: diagnosing.Order) -> int:
    async with runs_at(asked.store) as store:
        settings = settings_in_force()
        bare = gate_world(order, store, listen=diagnosing.Watcher(), settings=settings)
        world = await think_again(asked.thinkers, bare, store, run_id, settings)
        return await diagnosing.conduct(world, store, run_id, asked)


def _order(options: GateOptions) -> GateOrder:
    content = _read(options.answer)
    match options.source_format:
        case "gate" if options.question:
            raise InputRefused(
                "an answer in the gate's own form names its question itself",
                code="USAGE",
                hint="leave --question out",
            )
        case "gate":
            return read_order(content, withdraw=options.withdraw)
        case "holmes":
            raw = gate_input_of_holmes(content, options.question)
            return order_of(raw, withdraw=options.withdraw)
        case other:
            raise InputRefused(
                f"there is no form of answer {other!r}",
                code="FORMAT_UNKNOWN",
                hint="use --from gate or --from holmes",
            )


def _read(name: str) -> bytes:
    """The bytes of the answer. Raises InputRefused (FILE_UNREADABLE)."""
    if name == STDIN:
        return sys.stdin.buffer.read(ORDER_BYTES_MAX + 1)
    path = Path(name)
    try:
        if not path.is_file():
            raise InputRefused(
                f"{path} is no plain file",
                code="FILE_UNREADABLE",
                hint="give the file that holds the answer and its tool calls, or - for standard "
                "input",
            )
        with path.open("rb") as file:
            return file.read(ORDER_BYTES_MAX + 1)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "no such path can be"
        raise InputRefused(
            f"{path} cannot be read: {why}",
            code="FILE_UNREADABLE",
            hint="check the path and its permissions",
        ) from None
