"""Arguments and options that several commands share, each with its one help text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print exactly one JSON object.")]
StoreUrl: TypeAlias = Annotated[
    str, typer.Option("--store", help="Where runs live: sqlite:PATH or memory:.")
]
RunId: TypeAlias = Annotated[str, typer.Argument(help="The id of a run.", metavar="RUN_ID")]
CallId: TypeAlias = Annotated[
    str, typer.Argument(help="The id of one of its calls.", metavar="CALL_ID")
]
By: TypeAlias = Annotated[str, typer.Option("--by", help="The name of the person who says so.")]
Digest: TypeAlias = Annotated[
    str, typer.Option("--digest", help="Only if exactly this action waits: the page's digest.")
]
FileOrRun: TypeAlias = Annotated[
    str, typer.Argument(help="An affidavit file, or the id of a run.", metavar="FILE|RUN_ID")
]
Out: TypeAlias = Annotated[
    Path | None, typer.Option("--out", help="Write the affidavit file here.")
]
Profile: TypeAlias = Annotated[
    str, typer.Option("--limits", help="The profile of limits: simple, standard or research.")
]
Question: TypeAlias = Annotated[
    str, typer.Option("--question", "-q", help="Ask this instead of the incident's own question.")
]
Models: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        help="A model that investigates: exec:COMMAND, mailbox:FOLDER, replay:FILE, VENDOR:NAME; "
        "further ones take over.",
    ),
]
Judges: TypeAlias = Annotated[
    list[str] | None, typer.Option("--judge", help="A model that judges; else the embedded judge.")
]
