"""The index of pages: add, list, remove, search (docs/chat.md)."""

from __future__ import annotations

import os
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NoReturn

import anyio

from affidavit.adapters.knowledge_index import SqliteKnowledge
from affidavit.adapters.knowledge_pages import read_pages
from affidavit.cli.opening import settings_in_force
from affidavit.cli.screen import one_line, say, say_json
from affidavit.contract.errors import InputRefused, ToolFailed
from affidavit.contract.record import format_instant
from affidavit.ports.knowledge import FOUND_MAX, PassagesFound
from affidavit.wiring import tenant_knowledge

NOTHING_FOUND = 1
"""The exit code of a search that finds nothing."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def add(path: Path, tenant: str, *, as_json: bool) -> NoReturn:
    """Index a page or a folder. Raises InputRefused before anything is indexed."""
    index = _index(tenant)
    read = read_pages(path)
    passages = index.add(read.pages)
    if as_json:
        told = {"pages": len(read.pages), "passages": passages, "left_alone": read.left_alone}
        say_json({"tenant": tenant, **told})
    else:
        say(f"{len(read.pages)} pages, {passages} passages")
        if read.left_alone:
            say(f"{read.left_alone} files of other kinds were left alone")
    raise SystemExit(0)


def list_pages(tenant: str, *, as_json: bool) -> NoReturn:
    """Every page, by name."""
    try:
        entries = _index(tenant).pages()
    except ToolFailed as failed:
        raise _unreadable(failed) from None
    if as_json:
        say_json({"tenant": tenant, "pages": [asdict(entry) for entry in entries]})
    for entry in () if as_json else entries:
        added = _EPOCH + timedelta(microseconds=entry.added_us)
        at = format_instant(added.replace(microsecond=0))
        say(one_line(f"{at}  {entry.passages:>5} passages  {entry.name}"))
    raise SystemExit(0)


def remove(names: tuple[str, ...], tenant: str, *, as_json: bool) -> NoReturn:
    """Take pages out. Raises InputRefused (PAGE_UNKNOWN), and then removes none."""
    try:
        removed = _index(tenant).remove(names)
    except ToolFailed as failed:
        raise _unreadable(failed) from None
    if as_json:
        say_json({"tenant": tenant, "removed": removed})
    else:
        say(f"{removed} pages removed")
    raise SystemExit(0)


def search(query: str, tenant: str, *, as_json: bool) -> NoReturn:
    """What the index finds; a look at it, and nothing that is published."""
    found = anyio.run(_search, query, tenant)
    if as_json:
        shown = [asdict(passage) for passage in found.passages]
        say_json({"tenant": tenant, "total": found.total, "passages": shown})
    for passage in () if as_json else found.passages:
        heading = f" · {passage.heading}" if passage.heading else ""
        say(one_line(f"{passage.page}{heading}"))
        say(one_line(f"    {passage.text}"))
    raise SystemExit(0 if found.passages else NOTHING_FOUND)


async def _search(query: str, tenant: str) -> PassagesFound:
    try:
        return await _index(tenant).search(query, FOUND_MAX)
    except ToolFailed as failed:
        raise _unreadable(failed) from None


def _index(tenant: str) -> SqliteKnowledge:
    return tenant_knowledge(settings_in_force(), os.environ, tenant)


def _unreadable(failed: ToolFailed) -> InputRefused:
    return InputRefused(
        failed.message,
        code=failed.code,
        hint="affidavit knowledge add PATH indexes pages",
    )
