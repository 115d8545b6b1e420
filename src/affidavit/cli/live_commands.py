"""`affidavit deliveries …`, `affidavit tools …`: the commands, their options and their help."""

from __future__ import annotations

from typing import Annotated

import typer

from affidavit.cli.options import Json, StoreUrl

deliveries = typer.Typer(
    help="Results on their way to others.", no_args_is_help=True, rich_markup_mode=None
)
tools = typer.Typer(
    help="What live runs may ask, and whether it answers.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Tenant = Annotated[str, typer.Option("--tenant", help="Whose results.")]


@deliveries.command("list")
def deliveries_list(
    store: StoreUrl = "",
    tenant: Tenant = "local",
    state: Annotated[
        str, typer.Option("--state", help="Only these: pending, delivered or dead.")
    ] = "",
    as_json: Json = False,
) -> None:
    """The newest deliveries, with the code of what went wrong."""
    from affidavit.cli import delivering

    delivering.list_deliveries(store, tenant, state, as_json=as_json)


@deliveries.command("resend")
def deliveries_resend(
    delivery_id: Annotated[str, typer.Argument(help="The id of a delivery.", metavar="ID")],
    store: StoreUrl = "",
    tenant: Tenant = "local",
    as_json: Json = False,
) -> None:
    """Send one again; whatever serves this store does it."""
    from affidavit.cli import delivering

    delivering.resend(delivery_id, store, tenant, as_json=as_json)


@tools.command("list")
def tools_list(as_json: Json = False) -> None:
    """The tools of a live run, and the sources that they read."""
    from affidavit.cli import doctoring

    doctoring.list_tools(as_json=as_json)


@tools.command("check")
def tools_check(as_json: Json = False) -> None:
    """Ask every configured back end one cheap question. Exit: 1 where one does not answer."""
    from affidavit.cli import doctoring

    doctoring.check_tools(as_json=as_json)
