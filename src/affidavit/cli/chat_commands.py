"""`affidavit ask` and `affidavit knowledge …`: every command, its options and its help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from affidavit.cli.options import Json, Judges, Models, Out, Profile, StoreUrl

knowledge = typer.Typer(
    help="Pages that answers may quote.", no_args_is_help=True, rich_markup_mode=None
)

Tenant = Annotated[str, typer.Option("--tenant", help="Whose pages they are.")]


def ask(  # noqa: PLR0913, PLR0917 - Typer makes an option of every parameter
    message: Annotated[str, typer.Argument(help="A question, English or Chinese.")],
    incident: Annotated[
        Path | None,
        typer.Option("--incident", help="The incident folder that it is about, or live."),
    ] = None,
    service: Annotated[
        str, typer.Option("--service", help="Which service is in trouble (live).")
    ] = "",
    since: Annotated[
        str, typer.Option("--since", help="Since how long: 90s, 15m, 2h (live).")
    ] = "",
    follows: Annotated[
        str, typer.Option("--follows", help="The id of the run that it follows.")
    ] = "",
    limits: Profile = "",
    store: StoreUrl = "",
    model: Models = None,
    judge: Judges = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Ask a question: a diagnosis, the indexed pages, or this system; exits as `diagnose` does."""
    from affidavit.cli import asking
    from affidavit.cli.thinking import Thinkers

    thinkers = Thinkers(tuple(model or ()), tuple(judge or ()))
    asking.ask(
        asking.Question(
            message,
            incident,
            follows,
            limits,
            store,
            out,
            as_json,
            thinkers,
            service=service,
            since=since,
        )
    )


@knowledge.command("add")
def knowledge_add(
    path: Annotated[Path, typer.Argument(help="A page, or a folder of pages.")],
    tenant: Tenant = "local",
    as_json: Json = False,
) -> None:
    """Index pages (Markdown, text, HTML), in place of those of the same names; all or none."""
    from affidavit.cli import knowing

    knowing.add(path, tenant, as_json=as_json)


@knowledge.command("list")
def knowledge_list(tenant: Tenant = "local", as_json: Json = False) -> None:
    """The indexed pages."""
    from affidavit.cli import knowing

    knowing.list_pages(tenant, as_json=as_json)


@knowledge.command("remove")
def knowledge_remove(
    names: Annotated[list[str], typer.Argument(help="Names of pages.", metavar="PAGE…")],
    tenant: Tenant = "local",
    as_json: Json = False,
) -> None:
    """Take pages out of the index; all or none."""
    from affidavit.cli import knowing

    knowing.remove(tuple(names), tenant, as_json=as_json)


@knowledge.command("search")
def knowledge_search(
    query: Annotated[str, typer.Argument(help="Words, or a question.")],
    tenant: Tenant = "local",
    as_json: Json = False,
) -> None:
    """What the index finds for a query, best first; no run, and no answer. Exit: 1 for nothing."""
    from affidavit.cli import knowing

    knowing.search(query, tenant, as_json=as_json)
