"""Commands on runs and on the actions that wait in them: their options and their help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from affidavit.cli.options import By, CallId, Digest, Json, Judges, Models, Out, RunId, StoreUrl

runs = typer.Typer(help="Runs of this machine.", no_args_is_help=True, rich_markup_mode=None)
approvals = typer.Typer(
    help="Actions that wait for a person.", no_args_is_help=True, rich_markup_mode=None
)


@runs.command("list")
def runs_list(store: StoreUrl = "", as_json: Json = False) -> None:
    """The newest runs."""
    from affidavit.cli import running

    running.list_runs(store, as_json=as_json)


@runs.command("show")
def runs_show(run_id: RunId, store: StoreUrl = "", as_json: Json = False) -> None:
    """Where a run stands, or its answer; exits as `diagnose` does."""
    from affidavit.cli import running

    running.show_run(run_id, store, as_json=as_json)


@runs.command("cancel")
def runs_cancel(run_id: RunId, store: StoreUrl = "", as_json: Json = False) -> None:
    """Cancel a run, also one that another process drives."""
    from affidavit.cli import running

    running.ask_run(run_id, "cancel", store, as_json=as_json)


@runs.command("pause")
def runs_pause(run_id: RunId, store: StoreUrl = "", as_json: Json = False) -> None:
    """Pause a run; `runs resume` goes on where it was."""
    from affidavit.cli import running

    running.ask_run(run_id, "pause", store, as_json=as_json)


@runs.command("resolve")
def runs_resolve(
    run_id: RunId,
    call_id: CallId,
    outcome: Annotated[
        str, typer.Argument(help="What became of its effect.", metavar="done|not-done")
    ],
    by: By,
    store: StoreUrl = "",
    as_json: Json = False,
) -> None:
    """Record what became of a call whose outcome is unknown; it is never tried again."""
    from affidavit.cli import approving

    approving.resolve(run_id, call_id, outcome, by, store, as_json=as_json)


@approvals.command("list")
def approvals_list(store: StoreUrl = "", as_json: Json = False) -> None:
    """Every action that waits: its tool, its full arguments, the records behind it."""
    from affidavit.cli import approving

    approving.list_approvals(store, as_json=as_json)


@approvals.command("approve")
def approvals_approve(
    run_id: RunId,
    call_id: CallId,
    by: By,
    digest: Digest = "",
    store: StoreUrl = "",
    as_json: Json = False,
) -> None:
    """Let exactly this action happen, once. Neither the requester nor the agent may."""
    from affidavit.cli import approving
    from affidavit.tools.approval_desk import Decision

    said = Decision(run_id, call_id, True, by, digest or None)
    approving.decide(said, store, as_json=as_json)


@approvals.command("reject")
def approvals_reject(
    run_id: RunId,
    call_id: CallId,
    by: By,
    digest: Digest = "",
    store: StoreUrl = "",
    as_json: Json = False,
) -> None:
    """Refuse this action; the run goes on without it."""
    from affidavit.cli import approving
    from affidavit.tools.approval_desk import Decision

    said = Decision(run_id, call_id, False, by, digest or None)
    approving.decide(said, store, as_json=as_json)


@runs.command("resume")
def runs_resume(
    run_id: RunId,
    store: StoreUrl = "",
    model: Models = None,
    judge: Judges = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Go on with a run that was paused or lost its process. What was recorded is reused."""
    from affidavit.cli import gating
    from affidavit.cli.thinking import Thinkers

    thinkers = Thinkers(tuple(model or ()), tuple(judge or ()))
    gating.resume(run_id, store, out, as_json=as_json, thinkers=thinkers)


@runs.command("retract")
def runs_retract(
    run_id: RunId,
    reason: Annotated[str, typer.Option("--reason", help="Why it does not stand any more.")],
    superseded_by: Annotated[
        str, typer.Option("--superseded-by", help="The run whose answer takes its place.")
    ] = "",
    store: StoreUrl = "",
    as_json: Json = False,
) -> None:
    """Say of a published answer that it does not stand any more; nothing of it is changed."""
    from affidavit.cli import retracting

    retracting.retract(run_id, reason, superseded_by or None, store, as_json=as_json)


@runs.command("disclose")
def runs_disclose(
    run_id: RunId,
    call_id: CallId,
    out: Annotated[
        Path, typer.Option("--out", help="Write the salt and the response to this file.")
    ],
    store: StoreUrl = "",
    as_json: Json = False,
) -> None:
    """Give out the raw response of one call, to be shown against the run's affidavit file."""
    from affidavit.cli import disclosing

    disclosing.disclose(run_id, call_id, out, store, as_json=as_json)


@runs.command("unmask")
def runs_unmask(run_id: RunId, store: StoreUrl = "", as_json: Json = False) -> None:
    """The answer of a run with masked names, by its names; only whoever has the store can."""
    from affidavit.cli import disclosing

    disclosing.unmask(run_id, store, as_json=as_json)


@runs.command("prune")
def runs_prune(
    yes: Annotated[
        bool, typer.Option("--yes", help="Do it; without it, say what would go.")
    ] = False,
    store: StoreUrl = "",
    as_json: Json = False,
) -> None:
    """Delete payloads that have outlived their time; answers and affidavit files stay."""
    from affidavit.cli import pruning

    pruning.prune(store, yes=yes, as_json=as_json)
