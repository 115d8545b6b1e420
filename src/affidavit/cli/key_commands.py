"""`affidavit keys …` and `heads …`: every command, its options and its help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from affidavit.contract.ids import LOCAL_TENANT

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
    certificate: Annotated[
        str,
        typer.Option(
            "--certificate",
            help="No secret: whoever shows a client certificate of this name, as in DNS:NAME.",
        ),
    ] = "",
    keys_file: KeysFile = None,
    as_json: Json = False,
) -> None:
    """Make a key of the service. It is printed once, and kept as a hash."""
    from affidavit.cli import serving

    new = serving.NewKey(name, tuple(role), tenant, certificate)
    serving.create_key(new, keys_file, as_json=as_json)


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


PurposeName = Annotated[
    str, typer.Option("--purpose", help="What the key signs: run-heads, retractions or webhooks.")
]
FileOrId = Annotated[
    str, typer.Argument(help="A public key's file, or a key's id.", metavar="FILE|ID")
]


@keys.command("show")
def keys_show(as_json: Json = False) -> None:
    """This installation's keys; one that signs runs is made if there is none."""
    from affidavit.cli import trusting

    trusting.show(as_json=as_json)


@keys.command("rotate")
def keys_rotate(purpose: PurposeName = "run-heads", as_json: Json = False) -> None:
    """A new key takes over; the old secret is destroyed."""
    from affidavit.cli import trusting

    trusting.rotate(purpose, as_json=as_json)


@keys.command("export")
def keys_export(
    purpose: PurposeName = "run-heads",
    out: Annotated[Path | None, typer.Option("--out", help="Write it to this file.")] = None,
    as_json: Json = False,
) -> None:
    """The public key, for those who are to check what it signs."""
    from affidavit.cli import trusting

    trusting.export(purpose, out, as_json=as_json)


@keys.command("trust")
def keys_trust(
    key: FileOrId,
    name: Annotated[str, typer.Option("--name", help="Whose key it is.")] = "",
    purpose: PurposeName = "run-heads",
    as_json: Json = False,
) -> None:
    """Believe what this key signs."""
    from affidavit.cli import trusting

    trusting.trust(key, name, purpose, as_json=as_json)


@keys.command("revoke")
def keys_revoke(key: FileOrId, as_json: Json = False) -> None:
    """Believe nothing that this key signed; if it is ours, it signs no more."""
    from affidavit.cli import trusting

    trusting.revoke(key, as_json=as_json)


heads = typer.Typer(
    help="Sealed runs, each in its place.", no_args_is_help=True, rich_markup_mode=None
)


@heads.command("check")
def heads_check(
    anchor: Annotated[
        Path | None, typer.Option("--anchor", help="A file with the heads that were anchored.")
    ] = None,
    tenant: Annotated[str, typer.Option("--tenant", help="Whose runs.")] = LOCAL_TENANT,
    key: Annotated[
        list[str] | None, typer.Option("--key", help="Every signer must be one of these keys.")
    ] = None,
    store: Annotated[str, typer.Option("--store", help="Where runs live.")] = "",
    as_json: Json = False,
) -> None:
    """Find runs that were left out, cut off or exchanged. Exit as `verify`: 0, 3, 1, 2."""
    from affidavit.cli.heads import check_heads

    check_heads(anchor, tenant, key or (), store, as_json=as_json)
