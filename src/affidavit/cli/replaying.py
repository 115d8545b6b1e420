"""The command that makes a run's decisions again: replay."""

from __future__ import annotations

import os
from dataclasses import asdict
from functools import partial
from typing import Final, NoReturn

import anyio

from affidavit.affidavit.replay import Recording, Replay, Same, replay
from affidavit.application.alerts import LIVE
from affidavit.application.gate import order_digest, reread, supplied_catalogue
from affidavit.cli.opening import head_of, runs_at, settings_in_force
from affidavit.cli.screen import EXIT_ALTERED, EXIT_UNSIGNED, one_line, say, say_json
from affidavit.contract.agent import AgentRequest
from affidavit.contract.errors import InputRefused
from affidavit.contract.journal import Entry
from affidavit.contract.states import is_terminal
from affidavit.ports.store import Store
from affidavit.progress.coverage import Reach
from affidavit.tools.catalogue import Catalogue
from affidavit.wiring import LiveOrder, world_again

_EXIT: Final = {Same.SAME: 0, Same.DIFFERENT: EXIT_ALTERED, Same.EXPIRED: EXIT_UNSIGNED}

_HEADLINES: Final = {
    Same.SAME: "SAME: the same records lead to the same decisions and the same answer",
    Same.DIFFERENT: "DIFFERENT: these records no longer lead to the recorded answer",
    Same.EXPIRED: "PARTLY EXPIRED: nothing that is left differs, and not all of it is left",
}

_MARKS: Final = {Same.SAME: "✓", Same.DIFFERENT: "✗", Same.EXPIRED: "–"}

_HINT: Final = "what the file holds can still be checked: affidavit verify {run_id}"


def replay_run(run_id: str, store: str, *, as_json: bool) -> NoReturn:
    """Replay a run of the store, and exit with what it came to."""
    made = anyio.run(partial(_replay, run_id, store))
    if as_json:
        steps = [{**asdict(step), "result": str(step.result)} for step in made.steps]
        say_json({"run_id": run_id, "result": str(made.result), "steps": steps})
    else:
        for step in made.steps:
            at = f" at {step.pointer}" if step.pointer else ""
            says = f": {step.says}" if step.says else ""
            say(one_line(f"{_MARKS[step.result]} {step.name}{says}{at}"))
        say(_HEADLINES[made.result])
        if made.result is Same.EXPIRED:
            say(_HINT.format(run_id=run_id))
    raise SystemExit(_EXIT[made.result])


async def _replay(run_id: str, url: str) -> Replay:
    async with runs_at(url) as store:
        head = await head_of(store, run_id)
        if not is_terminal(head.state):
            raise InputRefused(
                f"run {run_id} has no answer yet, and so nothing to make again",
                code="RUN_UNDECIDED",
                hint=f"`affidavit runs resume {run_id}` goes on with it",
            )
        journal = await store.read(run_id)
        contents = {item.digest: item.content for item in await store.artifacts(run_id)}
        reach = await _reach(store, journal, contents)
    return await replay(Recording(journal, contents, reach))


async def _reach(
    store: Store, journal: tuple[Entry, ...], contents: dict[str, bytes]
) -> Reach | None:
    """What the run could have asked; None where its tools are not there, or are others now."""
    content = contents.get(str(journal[0].data["request_digest"]))
    if content is None:
        return None
    request = AgentRequest.model_validate_json(content)
    source = request.source
    supplied = order_digest(source)
    if supplied is not None:
        order = contents.get(supplied)
        calls = () if order is None else reread(order).answer.tool_calls
        return None if order is None else _known(supplied_catalogue(calls))
    if source is None or source == LIVE:  # which back ends answered then, nobody can ask now
        return None
    again = LiveOrder(request, settings_in_force(), os.environ, probe=False)
    try:
        async with world_again(again, store) as world:
            catalogue = world.collection.catalogue
    except InputRefused:
        return None
    same = catalogue.digest() == journal[0].data["catalogue_digest"]
    return _known(catalogue) if same else None


def _known(catalogue: Catalogue) -> Reach:
    return Reach(tuple(catalogue.tools.values()), catalogue.unavailable)
