"""Every command, its options and its one-line help; what it does stands in the module beside."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from affidavit import __version__
from affidavit.cli.chat_commands import ask, knowledge
from affidavit.cli.evaluations import evaluations
from affidavit.cli.key_commands import KeysFile, heads, keys
from affidavit.cli.lab import lab
from affidavit.cli.live_commands import deliveries, tools
from affidavit.cli.options import (
    FileOrRun,
    Json,
    Judges,
    Models,
    Out,
    Profile,
    Question,
    RunId,
    StoreUrl,
)
from affidavit.cli.run_commands import approvals, runs
from affidavit.cli.screen import (
    EXIT_INTERRUPTED,
    EXIT_REFUSED,
    leave_refused,
    leave_unheard,
    open_screen,
    say,
    tell,
)
from affidavit.contract.errors import AffidavitError, InputRefused, InternalFault

app = typer.Typer(
    help="Diagnose an incident, and publish only what recorded tool results prove.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(runs, name="runs")
app.add_typer(approvals, name="approvals")
app.add_typer(keys, name="keys")
app.add_typer(heads, name="heads")
app.add_typer(lab, name="lab")
app.add_typer(deliveries, name="deliveries")
app.add_typer(tools, name="tools")
app.add_typer(evaluations, name="eval")
app.add_typer(knowledge, name="knowledge")
app.command()(ask)


@app.callback()
def main(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Diagnose an incident, and publish only what recorded tool results prove."""
    if version:
        say(f"affidavit {__version__}")
        raise typer.Exit


@app.command()
def demo(
    out: Annotated[Path, typer.Option("--out", help="Where the affidavit file goes.")] = Path(
        "demo.affidavit"
    ),
    as_json: Json = False,
) -> None:
    """Diagnose the recorded incident that ships with the project."""
    from affidavit.cli import diagnosing

    diagnosing.demo(out, as_json=as_json)


@app.command()
def diagnose(  # noqa: PLR0913, PLR0917 - Typer makes an option of every parameter
    source: Annotated[
        str,
        typer.Argument(
            help="An incident folder, an alert's payload (.json), or live.", metavar="SOURCE"
        ),
    ],
    question: Question = "",
    service: Annotated[
        str, typer.Option("--service", help="Which service is in trouble (live).")
    ] = "",
    since: Annotated[
        str, typer.Option("--since", help="Since how long: 90s, 15m, 2h (live).")
    ] = "",
    limits: Profile = "",
    store: StoreUrl = "",
    model: Models = None,
    judge: Judges = None,
    record: Annotated[
        Path | None, typer.Option("--record", help="Write what the model is asked and says here.")
    ] = None,
    out: Out = None,
    as_json: Json = False,
    mask_name: Annotated[
        list[str] | None,
        typer.Option("--mask-name", help="Mask this name, and those of the topology; repeatable."),
    ] = None,
) -> None:
    """Diagnose an incident. Exit: 0 published, 3 fallback, 4 failed, 5 cancelled, 2 refused."""
    from affidavit.cli import diagnosing
    from affidavit.cli.thinking import Thinkers

    thinkers = Thinkers(tuple(model or ()), tuple(judge or ()), record)
    order = diagnosing.Order(
        Path(source),
        question,
        limits,
        store,
        out,
        as_json,
        thinkers,
        service=service,
        since=since,
        masked=tuple(mask_name or ()),
    )
    diagnosing.diagnose(order)


@app.command()
def gate(  # noqa: PLR0913, PLR0917 - Typer makes an option of every parameter
    answer: Annotated[
        str, typer.Argument(help="A file with the answer; - is standard input.", metavar="ANSWER")
    ],
    source_format: Annotated[
        str, typer.Option("--from", help="The answer's form: gate, or holmes.")
    ] = "gate",
    question: Annotated[
        str, typer.Option("--question", "-q", help="What was asked, where the answer names none.")
    ] = "",
    withdraw: Annotated[
        bool,
        typer.Option("--withdraw", help="Take back single sentences that nothing proves."),
    ] = False,
    require_recorded: Annotated[
        bool,
        typer.Option("--require-recorded", help="Refuse calls that came with the answer."),
    ] = False,
    judge: Judges = None,
    store: StoreUrl = "",
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Check another agent's answer against its tool calls; exits as `diagnose` does."""
    from affidavit.cli import gating
    from affidavit.cli.thinking import Thinkers

    gating.gate(
        gating.GateOptions(
            answer=answer,
            source_format=source_format,
            question=question,
            store=store,
            out=out,
            withdraw=withdraw,
            require_recorded=require_recorded,
            as_json=as_json,
            thinkers=Thinkers(judges=tuple(judge or ())),
        )
    )


@app.command()
def show(
    source: FileOrRun,
    store: StoreUrl = "",
    out: Out = None,
    html: Annotated[
        Path | None, typer.Option("--html", help="Write one self-contained page here.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Print the report card of a file or a run; with --out its file, with --html one page."""
    from affidavit.cli import reading

    reading.show(source, store, reading.Copies(out, html), as_json=as_json)


@app.command()
def verify(  # noqa: PLR0913, PLR0917 - Typer makes an option of every parameter
    source: FileOrRun,
    store: StoreUrl = "",
    require_recorded: Annotated[
        bool,
        typer.Option("--require-recorded", help="Refuse calls that came with somebody's answer."),
    ] = False,
    expect_incident: Annotated[
        str, typer.Option("--expect-incident", help="The incident must be the one with this id.")
    ] = "",
    key: Annotated[
        list[str] | None,
        typer.Option("--key", help="The signer must be this key: its public file, or its id."),
    ] = None,
    anchor: Annotated[
        Path | None, typer.Option("--anchor", help="The run must stand in this file of heads.")
    ] = None,
    raw: Annotated[
        list[str] | None,
        typer.Option("--raw", help="CALL=FILE: that call answered what this file holds."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Re-check everything, offline. Exit: 0 trusted, 3 signer unknown, 1 altered, 2 unreadable."""
    from affidavit.cli import reading

    asked = (require_recorded, expect_incident, tuple(key or ()), anchor, tuple(raw or ()))
    demands = reading.Demands(*asked)
    reading.verify(source, store, demands, as_json=as_json)


@app.command()
def timeline(run_id: RunId, store: StoreUrl = "", as_json: Json = False) -> None:
    """Print each gate that a run passed, and why."""
    from affidavit.cli import reading

    reading.timeline(run_id, store, as_json=as_json)


@app.command()
def replay(run_id: RunId, store: StoreUrl = "", as_json: Json = False) -> None:
    """Make a run's decisions again from what was recorded. Exit: 1 different, 3 partly expired."""
    from affidavit.cli import replaying

    replaying.replay_run(run_id, store, as_json=as_json)


@app.command()
def doctor(store: StoreUrl = "", as_json: Json = False) -> None:
    """What is in force, what is missing and how to mend it. Exit: 1 where something fails."""
    from affidavit.cli import doctoring

    doctoring.doctor(store, as_json=as_json)


@app.command()
def worker(
    store: StoreUrl = "",
    runs_max: Annotated[int, typer.Option("--runs-max", help="So many runs at once.")] = 4,
    model: Models = None,
    judge: Judges = None,
) -> None:
    """Drive what is due in a store, beside the service or the command that started it."""
    from affidavit.cli import working
    from affidavit.cli.thinking import Thinkers

    working.work(store, runs_max, Thinkers(tuple(model or ()), tuple(judge or ())))


@app.command()
def drill(
    faults: Annotated[
        list[str] | None,
        typer.Argument(help="The faults to inject, by name.", metavar="[FAULT…]"),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Inject every fault.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Print each gate that a run passed.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Inject faults into runs of their own. Exit: 1 when one is not caught."""
    from affidavit.cli import drilling

    drilling.drill(tuple(faults or ()), every=every, verbose=verbose, as_json=as_json)


@app.command("import")
def import_(
    format_name: Annotated[str, typer.Argument(help="Which data set it is.", metavar="FORMAT")],
    source: Annotated[Path, typer.Argument(help="Where it lies.", metavar="SRC")],
    destination: Annotated[Path, typer.Argument(help="Where the folders go.", metavar="DST")],
    as_json: Json = False,
) -> None:
    """Turn a foreign data set into incident folders."""
    from affidavit.cli import importing

    importing.import_set(format_name, source, destination, as_json=as_json)


@app.command()
def serve(  # noqa: PLR0913, PLR0917 - Typer makes an option of every parameter
    listen: Annotated[
        str, typer.Option("--listen", help="HOST:PORT; 127.0.0.1:8080 unless told.")
    ] = "",
    incidents: Annotated[
        Path | None,
        typer.Option("--incidents", help="The folder whose incident folders may be diagnosed."),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", help="A name under which the service is reached."),
    ] = None,
    limits: Profile = "",
    store: StoreUrl = "",
    keys_file: KeysFile = None,
    drills: Annotated[
        bool, typer.Option("--drills", help="Take faults to inject; on this machine alone.")
    ] = False,
) -> None:
    """The HTTP service with its console. Stop it with Ctrl-C: runs pause, and none is lost."""
    from affidavit.cli import serving

    serving.serve(
        serving.Asked(listen, incidents, tuple(allow_host or ()), limits, store, keys_file, drills)
    )


def run() -> NoReturn:
    """Run the command; every refusal is one clear line, and never a traceback."""
    open_screen()
    as_json = "--json" in sys.argv[1:]
    try:
        code = app(standalone_mode=False)
    except AffidavitError as error:
        leave_refused(error, as_json=as_json)
    except BrokenPipeError:
        leave_unheard()
    except Exception as error:  # noqa: BLE001 - one clear line, whatever broke
        _leave_unexpected(error, as_json=as_json)
    if code == EXIT_INTERRUPTED:
        tell("affidavit: interrupted before anything was started")
    raise SystemExit(code or 0)


def _leave_unexpected(error: Exception, *, as_json: bool) -> NoReturn:
    """A wrong command line, or a fault of ours."""
    message = getattr(error, "format_message", None)  # what every usage error of Typer's has
    if message is None:
        if sys.flags.dev_mode:
            raise error
        fault = InternalFault(
            f"a fault of ours ({type(error).__name__})",
            hint="please report it; PYTHONDEVMODE=1 shows where it happened",
        )
        leave_refused(fault, as_json=as_json)
    if type(error).__name__ == "NoArgsIsHelpError":
        say(message())
        raise SystemExit(EXIT_REFUSED)
    command = getattr(getattr(error, "ctx", None), "command_path", None) or "affidavit"
    refused = InputRefused(message().rstrip("."), code="USAGE", hint=f"see: {command} --help")
    leave_refused(refused, as_json=as_json)
