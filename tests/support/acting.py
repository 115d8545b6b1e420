"""A world in which something can be done: tools with effects, seven guards, people who decide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import cast

from affidavit.adapters.memory_store import MemoryStore
from affidavit.adapters.system_clock import SystemClock
from affidavit.contract.agent import AgentRequest
from affidavit.contract.errors import ToolFailed
from affidavit.contract.evidence import Fact, Scope
from affidavit.contract.journal import Entry, EventType
from affidavit.contract.record import Record
from affidavit.contract.report import ReleaseRecord
from affidavit.core.breaker import Circuits
from affidavit.core.canonical import canonical_json
from affidavit.core.chain import to_us
from affidavit.core.fold import RunView, fold
from affidavit.core.run import LEASE_TTL_S
from affidavit.diagnose import Paused, World, drive, start
from affidavit.guards.chain import Guard, GuardChain, in_order
from affidavit.guards.permission import PermissionGuard, Permit, Policy
from affidavit.ports.clock import Clock
from affidavit.ports.store import Store
from affidavit.testing.scripted import ScriptedArguments, scripted_tool
from affidavit.testing.virtual_clock import VirtualClock
from affidavit.tools.approval_desk import Decision, decide_approval, record_outcome
from affidavit.tools.catalogue import Catalogue, Tool
from affidavit.wiring import standard_guards
from tests.support.runs import RUN_ID, reading, request
from tests.support.worlds import Backend, Script, ScriptedJudge, found, world

Perform = Callable[[ScriptedArguments, str], Awaitable[None]]


@dataclass
class Outside:
    """What was done outside, by idempotency key, and what was read, by query."""

    done: Counter[str] = field(default_factory=Counter)
    read: Counter[str] = field(default_factory=Counter)
    fails: ToolFailed | None = None

    async def look(self, arguments: ScriptedArguments) -> tuple[Fact, ...]:
        """Read something."""
        self.read[arguments.query] += 1
        return (reading(arguments.service or "checkout"),)

    async def restart(self, arguments: ScriptedArguments, key: str) -> None:
        """Do something."""
        if self.fails is not None:
            raise self.fails
        self.done[key] += 1

    @property
    def most(self) -> int:
        """How often the same thing was done, at most."""
        return max(self.done.values(), default=0)


def writing_tool(
    name: str,
    perform: Perform,
    *,
    destructive: bool = False,
    timeout_s: float = 30.0,
    description: str = "restarts a service",
) -> Tool[Record]:
    """A tool that does something and answers with one fact."""
    reader = scripted_tool(name, found, timeout_s=timeout_s)

    async def act(arguments: Record, _: Scope, key: str) -> bytes:
        asked = cast("ScriptedArguments", arguments)
        await perform(asked, key)
        return canonical_json(
            {"facts": [reading(asked.service or "checkout").model_dump(mode="json")]}
        )

    async def never(arguments: Record, _: Scope) -> bytes:
        raise AssertionError("a tool with an effect is performed, and not read")

    return replace(
        reader,
        effect="write",
        perform=act,
        fetch=never,
        destructive=destructive,
        description=description,
    )


def permit_all(tools: Iterable[str]) -> PermissionGuard:
    """A table that allows these tools to everybody."""
    return PermissionGuard(Policy(tuple(Permit(name) for name in tools)))


def guards_for(catalogue: Catalogue, further: Iterable[Guard] = ()) -> GuardChain:
    """The seven guards, with every tool of the catalogue allowed."""
    seven = standard_guards(catalogue.specs(), further=further).guards
    permission = permit_all(catalogue.tools)
    return in_order(permission if guard.name == "permission" else guard for guard in seven)


@dataclass
class Theatre:
    """One run on a store, told by several drivers, with people who decide in between."""

    script: Script
    store: MemoryStore = field(default_factory=MemoryStore)
    clock: VirtualClock = field(default_factory=VirtualClock)
    outside: Outside = field(default_factory=Outside)
    tools: tuple[Tool[Record], ...] = ()
    backends: dict[str, Backend] = field(default_factory=dict)
    guards: tuple[Guard, ...] = ()
    asked: AgentRequest = field(default_factory=request)
    circuits: Circuits | None = None
    judge: ScriptedJudge = field(default_factory=ScriptedJudge)
    real_time: SystemClock | None = None
    drivers: int = 0

    @property
    def time(self) -> Clock:
        """The clock of drivers and people: the virtual one, unless a test needs real threads."""
        return self.real_time or self.clock

    def world(self, store: Store | None = None) -> World:
        """The world of the next driver."""
        self.drivers += 1
        told = world(
            self.script,
            store=store or self.store.reopen(),
            clock=self.time,
            judge=self.judge,
            backends={"look": self.outside.look, **self.backends},
            holder=f"driver {self.drivers}",
        )
        own = (writing_tool("restart", self.outside.restart), *self.tools)
        named = {tool.name: tool for tool in (*told.collection.catalogue.tools.values(), *own)}
        catalogue = Catalogue.of(named.values())
        collection = replace(
            told.collection,
            catalogue=catalogue,
            guards=guards_for(catalogue, self.guards),
            circuits=self.circuits,
        )
        return replace(told, collection=collection)

    async def drive(self, store: Store | None = None) -> ReleaseRecord | Paused:
        """Start the run if it is not there, and drive it."""
        told = self.world(store)
        if await told.driver.store.head(RUN_ID) is None:
            await start(told, self.asked)
        return await drive(RUN_ID, told)

    async def finish(self) -> ReleaseRecord:
        """Drive it to its end."""
        release = await self.drive()
        assert isinstance(release, ReleaseRecord), release
        return release

    def outlive_lease(self) -> None:
        """Let the lease of a dead driver run out."""
        self.clock.shift(LEASE_TTL_S + 1)

    async def decide(
        self, call: str, decision: str = "approve", by: str = "Mo", digest: str | None = None
    ) -> None:
        """Somebody decides about a call."""
        said = Decision(RUN_ID, call, decision == "approve", by, digest)
        await decide_approval(self.store, to_us(self.time.now()), said)

    async def resolve(self, call: str, outcome: str = "done", by: str = "Mo") -> None:
        """An operator says what became of a call."""
        await record_outcome(self.store, RUN_ID, call, outcome, by)

    async def entries(self) -> tuple[Entry, ...]:
        """The journal."""
        return await self.store.read(RUN_ID)

    async def view(self) -> RunView:
        """Where the run stands."""
        return fold(await self.entries())

    async def kinds(self) -> list[EventType]:
        """The kinds of its lines."""
        return [entry.type for entry in await self.entries()]

    async def data(self, kind: EventType) -> list[dict[str, object]]:
        """What the lines of one kind say."""
        return [dict(entry.data) for entry in await self.entries() if entry.type is kind]
