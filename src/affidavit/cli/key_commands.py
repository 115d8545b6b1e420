"""`affidavit keys …`: every command, its options and its help; what it does stands elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

keys = typer.Typer(help="Keys of this installation.", no_args_is_help=True, rich_markup_mode=None)

Json = Annotated[bool, typer.Option("--json", help="Print exactly one JSON object.")]
KeysFile = Annotated[Path | None, typer.Option("--keys", help="The file of API keys.")]


@keys.command("create")
def keys_create(
    name: Annotated[str, typer.Argument(help="Whose key it is; runs and approvals name it.")],
    role: Annotated[
        list[str],
        typer.Option("--role", help="viewer, operator, approver, draft-reader or admin."),
    ],
    tenant: Annotated[str, typer.Option("--tenant", help="Whose runs it sees.")] = "local",
    keys_file: KeysFile = None,
    as_json: Json = False,
) -> None:
    """Make a key of the service. It is printed once, and kept as a hash."""
    from affidavit.cli import serving

    serving.create_key(name, tuple(role), tenant, keys_file, as_json=as_json)


@keys.command("list")
def keys_list(keys_file: KeysFile = None, as_json: Json = False) -> None:
    """The keys of the service: whose, of which tenant, with which roles."""
    from affidavit.cli import serving

    serving.list_keys(keys_file, as_json=as_json)


@keys.command("disable")
def keys_disable(
    key_id: Annotated[str, typer.Argument(help="The id of a key.", metavar="KEY_ID")],
    keys_file: KeysFile = None,
    as_json: Json = False,
) -> None:
    """That key opens nothing any more, at once."""
    from affidavit.cli import serving

    serving.disable_key(key_id, keys_file, as_json=as_json)
