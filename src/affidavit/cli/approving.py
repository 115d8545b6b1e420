"""The commands with which a person answers: approvals, and what became of an effect (H10, K9)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final, NoReturn

import anyio

from affidavit.cli.opening import head_of, runs_at
from affidavit.cli.screen import one_line, say, say_json
from affidavit.contract.ids import LOCAL_TENANT
from affidavit.contract.record import format_instant
from affidavit.ports.store import PendingApproval, Store
from affidavit.tools.approval_desk import Decision, decide_approval, page_of, record_outcome

LISTED: Final = 50
"""As many as `runs list` shows; a desk with more than that has another problem."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICRO: Final = timedelta(microseconds=1)

Page = Mapping[str, object]


def list_approvals(store: str, *, as_json: bool) -> NoReturn:
    """Every action that waits for a person, with the page that the person has to see."""
    pages = anyio.run(partial(_pages, store))
    now_us = _now_us()
    if as_json:
        say_json({"approvals": [_json(waiting, page, now_us) for waiting, page in pages]})
    elif not pages:
        say("nothing waits for a person")
    for waiting, page in () if as_json else pages:
        for line in _lines(waiting, page, now_us):
            say(one_line(line))
    raise SystemExit(0)


async def _pages(store: str) -> list[tuple[PendingApproval, Page]]:
    async with runs_at(store) as runs:
        return [
            (waiting, await _page(runs, waiting))
            for waiting in await runs.approvals(LOCAL_TENANT, LISTED)
        ]


async def _page(runs: Store, waiting: PendingApproval) -> Page:
    content = await page_of(runs, waiting)
    value = {} if content is None else json.loads(content)
    return value if isinstance(value, dict) else {}


def _json(waiting: PendingApproval, page: Page, now_us: int) -> dict[str, object]:
    ask = waiting.ask
    return {
        "run_id": waiting.run_id,
        "tool_call_id": ask.tool_call_id,
        "tool": ask.tool,
        "action_digest": ask.action_digest,
        "asked_at": _at(ask.asked_us),
        "expires_at": _at(ask.expires_us),
        "expired": now_us > ask.expires_us,
        "page": page,
    }


def _lines(waiting: PendingApproval, page: Page, now_us: int) -> Iterator[str]:
    """The page in words: tool, full arguments, the records behind it."""
    ask = waiting.ask
    until = "expired" if now_us > ask.expires_us else f"until {_at(ask.expires_us)}"
    yield f"{waiting.run_id} {ask.tool_call_id}  {ask.tool}  {until}"
    tool = page.get("tool")
    if isinstance(tool, dict):
        danger = ", cannot be taken back" if tool.get("destructive") else ""
        yield f"  tool       {tool.get('description')} ({tool.get('effect')}{danger})"
    yield f"  arguments  {json.dumps(page.get('arguments'), sort_keys=True)}"
    yield f"  asked by   {page.get('requested_by')}: {page.get('question')}"
    records = page.get("records")
    for record in records if isinstance(records, list) else ():
        word = record.get("error_code") or record.get("evidence_status") or record.get("status")
        yield f"  record     {record.get('tool_call_id')} {record.get('tool')}: {word}"
        for fact in record.get("facts", ()):
            yield f"               {fact}"
    yield f"  digest     {ask.action_digest}"
    yield (
        f"  decide     affidavit approvals approve|reject {waiting.run_id} {ask.tool_call_id} "
        "--by NAME"
    )


def decide(said: Decision, store: str, *, as_json: bool) -> NoReturn:
    """Approve or reject one action; whoever drives the run takes the decision in."""
    anyio.run(partial(_decide, said, store))
    word = "approved" if said.approved else "rejected"
    _tell_posted(said.run_id, said.tool_call_id, word, as_json=as_json)


async def _decide(said: Decision, store: str) -> None:
    async with runs_at(store) as runs:
        await head_of(runs, said.run_id)
        await decide_approval(runs, _now_us(), said)


def resolve(
    run_id: str, tool_call_id: str, outcome: str, by: str, store: str, *, as_json: bool
) -> NoReturn:
    """Record what became of an effect whose outcome is unknown."""
    anyio.run(partial(_resolve, run_id, tool_call_id, outcome, by, store))
    _tell_posted(run_id, tool_call_id, outcome, as_json=as_json)


async def _resolve(run_id: str, tool_call_id: str, outcome: str, by: str, store: str) -> None:
    async with runs_at(store) as runs:
        await head_of(runs, run_id)
        await record_outcome(runs, run_id, tool_call_id, outcome, by)


def _tell_posted(run_id: str, tool_call_id: str, word: str, *, as_json: bool) -> NoReturn:
    if as_json:
        say_json({"run_id": run_id, "tool_call_id": tool_call_id, "said": word})
    else:
        say(f"{tool_call_id}: {word}; the run goes on with: affidavit runs resume {run_id}")
    raise SystemExit(0)


def _now_us() -> int:
    return (datetime.now(UTC) - _EPOCH) // _MICRO


def _at(moment_us: int) -> str:
    return format_instant((_EPOCH + moment_us * _MICRO).replace(microsecond=0))
