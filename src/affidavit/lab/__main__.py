"""`python -m affidavit.lab`: list the faults, record an incident, hold a rig up and order it about.

Exit codes: 0 done, 2 refused (one clear line on standard error).
"""

import argparse
import signal
import sys
from dataclasses import replace
from pathlib import Path

from affidavit.lab.faults import FAULTS
from affidavit.lab.recording import Schedule, record
from affidavit.lab.rig import RigError
from affidavit.lab.session import Course, control_path, find_plant, order, up

_TIMES = ("warm_up_s", "baseline_s", "before_s", "fault_s", "step_s")


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    chosen = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, _stop)
    try:
        _run(chosen)
    except RigError as error:
        _say(f"affidavit: {error}")
        return 2
    except KeyboardInterrupt:
        _say("stopped")
    return 0


def _stop(*_: object) -> None:
    raise KeyboardInterrupt  # as Ctrl-C: the rig goes down and its folder is removed


def _run(chosen: argparse.Namespace) -> None:
    match chosen.command:
        case "faults":
            for fault in FAULTS.values():
                place = fault.component or "-"
                sys.stdout.write(f"{fault.name:16} {fault.plant:5} {place:14} {fault.notes}\n")
        case "record" if chosen.fault:
            given = {name: getattr(chosen, name) for name in _TIMES}
            times = {name: value for name, value in given.items() if value is not None}
            made = record(FAULTS[chosen.fault], chosen.out, replace(Schedule(), **times), _say)
            _say(f"{made.folder}: {made.rows} rows, {made.size_bytes} bytes")
        case "record":
            _say(order(control_path(), "record", out=str(chosen.out.absolute())))
        case "up":
            up(find_plant(chosen.plant), Course(for_s=chosen.for_s), control_path(), _say)
        case "inject":
            _say(order(control_path(), "inject", fault=chosen.fault))
        case _:  # down: the parser lets nothing else through
            _say(order(control_path(), "down"))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m affidavit.lab", description="A small real system to break and record."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("faults", help="list what can be broken")
    up_command = commands.add_parser("up", help="bring a plant up and hold it until `down`")
    up_command.add_argument("--plant", default="shop", help="pair or shop")
    up_command.add_argument("--for-s", type=float, default=3600.0, help="at most this long")
    inject = commands.add_parser("inject", help="break the plant that is up")
    inject.add_argument("fault")
    recording = commands.add_parser(
        "record",
        help="with --fault: a whole recording on a rig of its own; without: what is up, so far",
    )
    recording.add_argument("--fault", choices=sorted(FAULTS))
    recording.add_argument("--out", required=True, type=Path, help="a new folder")
    for name in _TIMES:
        recording.add_argument(f"--{name.replace('_', '-')}", type=float)
    commands.add_parser("down", help="end the plant that is up")
    return parser


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
