"""`affidavit eval`: the group, its options; what it does stands in evaluating and scoring."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from affidavit.cli.options import Json, Judges, Profile


class IncidentsByDefault(TyperGroup):
    """`affidavit eval FOLDER…` is `affidavit eval incidents FOLDER…`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As the group's own, after the left-out word was put in."""
        named = not args or args[0] in self.commands or args[0] == "--help"
        return super().parse_args(ctx, args if named else ["incidents", *args])


evaluations = typer.Typer(
    cls=IncidentsByDefault,
    help="How good is it? Against known answers.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@evaluations.command("incidents")
def eval_incidents(  # noqa: PLR0913, PLR0917 - Typer reads the options off the signature
    folders: Annotated[
        list[str],
        typer.Argument(
            help="Folders with incidents below them, or FORMAT:PATH.", metavar="FOLDER…"
        ),
    ],
    agent: Annotated[str, typer.Option("--agent", help="Who is put to the test.")] = "playbook",
    limits: Profile = "standard",
    repeats: Annotated[int, typer.Option("--repeats", help="How often each case is run.")] = 1,
    alert_off_s: Annotated[
        int, typer.Option("--alert-off", help="Also with the alert this many seconds off.")
    ] = 0,
    html: Annotated[
        Path | None, typer.Option("--html", help="Write one page with plots here.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Run an agent over incidents with known answers. Exit: 1 when a sentence does not verify."""
    from affidavit.cli import evaluating

    evaluating.evaluate(
        evaluating.Options(tuple(folders), agent, limits, repeats, alert_off_s, html, as_json)
    )


@evaluations.command("gate")
def eval_gate(
    files: Annotated[
        list[Path], typer.Argument(help="Labelled answers, JSON lines.", metavar="FILE…")
    ],
    judge: Judges = None,
    record: Annotated[
        Path | None, typer.Option("--record", help="Write what the judge is asked and says here.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Score the gate over labelled answers. Exit: 1 when something unsupported was published."""
    from affidavit.cli import scoring

    scoring.score(scoring.ScoreOptions(tuple(files), tuple(judge or ()), record, as_json))
