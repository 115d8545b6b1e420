"""The real command, with one tool that does something and an agent that wants to use it.

    acting_command.py FILE [dying] [danger] -- affidavit's own arguments …

`restart` adds a line to FILE. With `dying` the process kills itself right after it, before anything
is on record. All else is the product: catalogue, guards, store, command line.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import affidavit.wiring.worlds
from affidavit.cli import main
from affidavit.contract.agent import Act, AgentState, Decision, GiveUp, ToolCallRequest, ToolSpec
from affidavit.contract.evidence import Scope, Value
from affidavit.core.canonical import canonical_json
from affidavit.guards.permission import Permit, Policy
from affidavit.testing.scripted import ScriptedArguments, scripted_tool
from affidavit.tools.capture import capture_catalogue
from affidavit.tools.catalogue import Catalogue


class RestartingAgent:
    """Restarts something, then gives up."""

    name = "restarting"

    async def decide(self, state: AgentState) -> Decision:
        """One action, and no more."""
        if state.step == 1:
            asked = ToolCallRequest("restart", {"service": "checkout"})
            return Act((asked,), "PLEA: trust me")
        return GiveUp(str([item.code for item in state.observations]))


def start(file: str, *options: str) -> None:
    """The command with its tool."""

    async def read(arguments: ScriptedArguments) -> tuple[Value, ...]:
        raise AssertionError("it is performed, not read")

    async def perform(arguments: Any, scope: Scope, key: str) -> bytes:
        with Path(file).open("a") as stream:  # noqa: ASYNC230 - one line
            stream.write(f"{arguments.service} {key}\n")
        if "dying" in options:
            os.kill(os.getpid(), signal.SIGKILL)
        done = Value(subject="checkout", attribute="restarted", text="yes")
        return canonical_json({"facts": [done.model_dump(mode="json")]})

    tool = replace(
        scripted_tool("restart", read),
        effect="write",
        perform=perform,
        destructive="danger" in options,
        description="restarts a service",
    )

    def with_restart(folder: Any) -> Catalogue:
        real = capture_catalogue(folder)
        return Catalogue.of((*real.tools.values(), tool), real.unavailable)

    def permit_everything(tools: Iterable[ToolSpec]) -> Policy:
        return Policy(tuple(Permit(spec.name) for spec in tools))

    wiring: Any = affidavit.wiring.worlds
    wiring.capture_catalogue = with_restart
    wiring.permit_reads = permit_everything
    wiring.PlaybookInvestigator = RestartingAgent
    main()


if __name__ == "__main__":
    own, arguments = sys.argv[1 : sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1 :]
    sys.argv = ["affidavit", *arguments]
    start(*own)
