"""What may be done with runs that have ended: the commands, their options and their help."""

from __future__ import annotations

from typing import Annotated

import typer

from affidavit.cli.options import Json, RunId, StoreUrl


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
