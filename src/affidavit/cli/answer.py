"""A run on the screen: as one JSON object, or as its card (docs/cli.md)."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from affidavit.affidavit.card import render_card
from affidavit.application.answers import release_json, undecided_json, waits_for
from affidavit.cli.screen import EXIT_OF, EXIT_WAITING, one_line, say, say_json
from affidavit.contract.report import ReleaseRecord
from affidavit.core.fold import RunView
from affidavit.ports.store import RunHead

_SAY: Final = {
    "approval": "{tool_call_id} ({tool}) waits for a decision: affidavit approvals list",
    "outcome": "{tool_call_id} ({tool}) may have happened: affidavit runs resolve {run_id} "
    "{tool_call_id} done|not-done --by NAME",
}


def show_release(release: ReleaseRecord, affidavit: Path | None, *, as_json: bool) -> int:
    """Print the answer; the exit code says what it is."""
    if as_json:
        say_json(release_json(release, None if affidavit is None else str(affidavit)))
    else:
        say(render_card(release))
        if affidavit is not None:
            say(f"Affidavit {affidavit} · check it: affidavit verify {affidavit}")
    return EXIT_OF[release.outcome]


def show_undecided(head: RunHead, view: RunView, *, as_json: bool) -> int:
    """Print where a run stands that has no answer yet."""
    if as_json:
        say_json(undecided_json(head, view))
    else:
        waits = "paused" if head.paused else "not finished"
        say(
            f"{head.run_id}  {head.state}, {waits}: {len(view.steps)} steps, "
            f"{view.reserved_calls} tool calls so far\n"
            f"Question  {' '.join(head.question.split())}\n"
            f"Go on with it: affidavit runs resume {head.run_id}"
        )
        for reason, call in waits_for(view):
            say(
                one_line(
                    _SAY[reason].format(
                        run_id=head.run_id, tool_call_id=call.tool_call_id, tool=call.tool
                    )
                )
            )
    return EXIT_WAITING
