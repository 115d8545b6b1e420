"""The real command, whose agent waits at one step until a test lets it go on.

    gated_command.py GATE STEP [lease=SECONDS] [full] -- affidavit's own arguments …

Before its decision at STEP the agent makes the file GATE and waits until that file is gone.
`lease` makes the leases of this process short, so that another need not wait half a minute for its
death; `full` lets no file of this process grow any more from then on. All else is the product.
"""

from __future__ import annotations

import resource
import sys
from dataclasses import dataclass, field
from pathlib import Path

import anyio

import affidavit.wiring.worlds
from affidavit.agents.playbook import PlaybookInvestigator
from affidavit.cli import main
from affidavit.contract.agent import AgentState, Decision
from affidavit.core import run

LOOK_S = 0.02


@dataclass
class GatedInvestigator:
    """The playbook, behind a gate."""

    gate: Path
    step: int
    full: bool
    name: str = PlaybookInvestigator.name
    inner: PlaybookInvestigator = field(default_factory=PlaybookInvestigator)

    async def decide(self, state: AgentState) -> Decision:
        """The playbook's decision, once the gate is open."""
        if state.step == self.step:
            self.gate.touch()
            while self.gate.exists():  # noqa: ASYNC110 - another process opens the gate
                await anyio.sleep(LOOK_S)
            if self.full:
                resource.setrlimit(resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
        return await self.inner.decide(state)


def start(gate: str, step: str, *options: str) -> None:
    """The command with its agent behind the gate."""
    for option in options:
        if option.startswith("lease="):
            seconds = float(option.removeprefix("lease="))
            vars(run).update(LEASE_TTL_S=seconds, LEASE_TTL_US=int(seconds * 1_000_000))
    agent = GatedInvestigator(Path(gate), int(step), "full" in options)
    vars(affidavit.wiring.worlds)["PlaybookInvestigator"] = lambda: agent
    main()


if __name__ == "__main__":
    own, arguments = sys.argv[1 : sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1 :]
    sys.argv = ["affidavit", *arguments]
    start(*own)
