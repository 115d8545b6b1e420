"""The lab's commands; what they do stands in affidavit.lab."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from affidavit.contract.errors import InputRefused

lab = typer.Typer(
    help="A small real system to break and record.", no_args_is_help=True, rich_markup_mode=None
)

TIMES = ("warm_up_s", "baseline_s", "before_s", "fault_s", "step_s")
"""The parts of a recording that can be given another length."""


@lab.command("faults")
def lab_faults() -> None:
    """List what can be broken."""
    _run("faults")


@lab.command("up")
def lab_up(
    plant: Annotated[str, typer.Option("--plant", help="pair or shop.")] = "shop",
    for_s: Annotated[float, typer.Option("--for-s", help="At most this many seconds.")] = 3600.0,
) -> None:
    """Bring a plant up and hold it until `lab down`, Ctrl-C, or its time is over."""
    _run("up", "--plant", plant, "--for-s", str(for_s))


@lab.command("inject")
def lab_inject(
    fault: Annotated[str, typer.Argument(help="One of `lab faults`.", metavar="FAULT")],
) -> None:
    """Break the plant that is up; one fault a session."""
    _run("inject", _known(fault))


@lab.command("record")
def lab_record(
    out: Annotated[Path, typer.Option("--out", help="A new folder.")],
    fault: Annotated[
        str, typer.Option("--fault", help="A whole recording, on a rig of its own.")
    ] = "",
    times: Annotated[
        list[str] | None,
        typer.Option("--time", help=f"NAME=SECONDS, of {', '.join(TIMES)}."),
    ] = None,
) -> None:
    """Record an incident folder; without --fault, what is up has said so far."""
    given: list[str] = []
    for item in times or ():
        name, _, seconds = item.partition("=")
        if name not in TIMES or not seconds.replace(".", "", 1).isdigit():
            raise InputRefused(
                f"--time {item[:40]!r} is no NAME=SECONDS",
                code="USAGE",
                hint=f"the names are {', '.join(TIMES)}",
            )
        given += [f"--{name.replace('_', '-')}", seconds]
    _run("record", "--out", str(out), *(("--fault", _known(fault)) if fault else ()), *given)


@lab.command("down")
def lab_down() -> None:
    """End the plant that is up."""
    _run("down")


def _known(fault: str) -> str:
    from affidavit.lab.faults import FAULTS

    if fault not in FAULTS:
        raise InputRefused(
            f"there is no fault {fault[:40]!r}",
            code="FAULT_UNKNOWN",
            hint=f"one of {', '.join(sorted(FAULTS))}",
        )
    return fault


def _run(*arguments: str) -> None:
    from affidavit.lab.__main__ import main

    raise SystemExit(main(list(arguments)))
