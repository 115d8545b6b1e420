"""Canaries planted in raw results, prompts, errors and reasoning are in no published byte (N2, T7).

Each run is a whole one through the real harness. What leaves it is everything that anybody but an
auditor with a role for it can read: answer, card, `--json`, page, file, journal, timeline, what is
told while it works on the terminal and on the stream, and the log.
"""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from io import StringIO
from typing import Any, Final

import pytest

from affidavit.adapters.memory_store import MemoryStore
from affidavit.affidavit.card import render_card
from affidavit.affidavit.narration import Narrator
from affidavit.affidavit.page import render_page
from affidavit.affidavit.timeline import write_timeline
from affidavit.application.answers import release_json
from affidavit.contract.agent import Act, AgentState, Conclude, GiveUp, ToolCallRequest
from affidavit.contract.decisions import DecisionId
from affidavit.contract.errors import ModelFailed, ToolFailed
from affidavit.contract.evidence import Cell, Fact, Line, Row
from affidavit.contract.limits import Limits
from affidavit.contract.report import ReleaseRecord
from affidavit.contract.states import SemanticVerdict
from affidavit.core.canonical import canonical_json
from affidavit.diagnose import World, drive, start
from affidavit.release.asking import REPAIR, WITHDRAW
from affidavit.server.stream import StreamFold
from affidavit.testing.scripted import ScriptedArguments
from affidavit.testing.scripted_model import ScriptedModel, call_tools, say
from affidavit.verify.judges import JudgeVerdict
from tests.simulation.test_model_runs import LIMITS as MODEL_LIMITS
from tests.simulation.test_model_runs import sheet, thinking
from tests.support.checking import recheck
from tests.support.runs import LIMITS, RUN_ID, reading, request
from tests.support.worlds import ScriptedJudge, act, conclude, true_draft, world

pytestmark = [pytest.mark.anyio, pytest.mark.spec("N2", "T7"), pytest.mark.fault("R74")]

PEM: Final = (
    "-----BEGIN RSA PRIVATE KEY-----\n"
    "MIIEpAIBAAKCAQEAcanaryPemBody0123456789abcdefghijklmnopqrstuvwxyz\n"
    "-----END RSA PRIVATE KEY-----"
)
SECRETS: Final = {
    "canary-Pw-8842x": "login failed with password=canary-Pw-8842x for user app",
    "canaryBearer7f3e9a2c51": "Authorization: Bearer canaryBearer7f3e9a2c51",
    "AKIAZ7CANARY4EXAMPL2": "aws_access_key_id = AKIAZ7CANARY4EXAMPL2",
    "canary-Url-77": "cannot reach postgres://app:canary-Url-77@orders-db:5432/orders",
    "eyJjYW5hcnkiOiJqd3QifQ": "token eyJhbGciOiJIUzI1NiJ9.eyJjYW5hcnkiOiJqd3QifQ.c2lnbmF0dXJl",
    "canaryPemBody": PEM,
    "canary@example.org": "mail to canary@example.org bounced",
}
"""A secret, and a line of a log that holds it."""

WORDS: Final = (
    "canary-exception",
    "canary-reasoning",
    "canary-draft",
    "canary-verdict",
    "canary-giving-up",
    "canary-model-error",
    "canary-arguments",
)
"""What is said where nobody outside may hear it."""

PROMPTS: Final = (REPAIR.splitlines()[0], WITHDRAW.splitlines()[0], "Not proved:")


async def leaking(arguments: ScriptedArguments) -> tuple[Fact, ...]:
    """A log with a secret in each line, and a table with them in its cells."""
    lines = tuple(Line(text=text, subject="checkout", level="ERROR") for text in SECRETS.values())
    cells = tuple(Cell(name=f"column{n}", text=text) for n, text in enumerate(SECRETS.values()))
    return (*lines, Row(subject="checkout", cells=cells), reading())


async def raising(arguments: ScriptedArguments) -> tuple[Fact, ...]:
    raise OSError("canary-exception: /srv/secret/path refused")


async def failing(arguments: ScriptedArguments) -> tuple[Fact, ...]:
    raise ToolFailed("canary-exception at 10.0.0.7", code="SOURCE_UNAVAILABLE")


BACKENDS: Final = {"leak": leaking, "raise": raising, "fail": failing}


@dataclass
class Told:
    """Listens to a run as a terminal does."""

    narrator: Narrator = field(default_factory=Narrator)
    lines: list[str] = field(default_factory=list)

    def __call__(self, entry: Any, contents: Any) -> None:
        self.lines.extend(self.narrator.tell(entry, contents))


async def published(
    told: World, store: MemoryStore, heard: Told, limits: Limits = LIMITS
) -> dict[str, str]:
    """Everything that leaves a run, by the way it leaves."""
    with everything_logged() as log:
        await start(told, request(limits=limits))
        release = await drive(RUN_ID, told)
    assert isinstance(release, ReleaseRecord)
    entries = await store.read(RUN_ID)
    kept = {item.digest: item.content for item in await store.artifacts(RUN_ID)}
    (file,) = (i.content for i in await store.artifacts(RUN_ID) if i.kind == "affidavit")
    stream = StreamFold(RUN_ID, request().question, request().tenant)
    events = [repr(event) for entry in entries for event in stream.tell(entry, kept)]
    assert any("observation" in event or "done" in event for event in events)
    timeline = write_timeline(entries)
    return {
        "answer": release.model_dump_json(),
        "card": render_card(release),
        "json": json.dumps(release_json(release, None)),
        "page": render_page(file, recheck(file)),
        "file": file.decode("ascii"),
        "journal": "\n".join(canonical_json(dict(entry.data)).decode() for entry in entries),
        "timeline": "\n".join(f"{line.mark} {line.says}" for line in timeline),
        "terminal": "\n".join(heard.lines),
        "stream": "\n".join(events),
        "log": log.getvalue(),
    }


@contextmanager
def everything_logged() -> Iterator[StringIO]:
    """What any logger says meanwhile, tracebacks included."""
    text = StringIO()
    handler, root = logging.StreamHandler(text), logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield text
    finally:
        root.removeHandler(handler)
        root.setLevel(before)


def spoken(told: World, heard: Told) -> World:

    return replace(told, driver=replace(told.driver, listen=heard))


def leaks(way: str, text: str) -> Iterator[str]:
    """Each canary in these bytes, as it is or in base64."""
    for canary in (*SECRETS, *WORDS, *PROMPTS):
        inner = base64.b64encode(canary.encode()).decode().rstrip("=")[:-1]
        if canary in text or inner in text:
            yield f"{canary!r} in the {way}"


def blurt(state: AgentState) -> Act:
    raise RuntimeError("canary-exception in the agent")


def musing(*tools: str) -> Act:
    """A step that thinks aloud, with arguments that nobody should read."""
    calls = tuple(ToolCallRequest(tool, {"query": "canary-arguments"}) for tool in tools)
    return Act(calls, note="canary-reasoning: it must be the database")


UNTRUE: Final = true_draft() | {
    "conclusion": {
        "text": "canary-draft: payment is the root cause.",
        "based_on_analysis_ids": ["A1"],
    }
}
UNCITED: Final = true_draft("call_0099") | {
    "conclusion": {"text": "canary-draft says so.", "based_on_analysis_ids": ["A1"]}
}
CLAIMING: Final[dict[str, Any]] = {
    "analyses": [],
    "conclusion": None,
    "limitations": {"scope": "canary-draft", "missing_info": ["logs of checkout"]},
}

AGENTS: Final[dict[str, tuple[list[Any], DecisionId]]] = {
    "published beside leaking calls": ([act("probe"), act("leak"), conclude()], DecisionId.D1),
    "given up over leaking calls": (
        [act("leak"), GiveUp("canary-giving-up: no idea")],
        DecisionId.D9,
    ),
    "refused words": ([act("leak"), Conclude(UNTRUE)], DecisionId.D4),
    "invented citation": ([act("leak"), Conclude(UNCITED)], DecisionId.D3),
    "unreadable report": ([act("leak"), Conclude("canary-draft is no JSON")], DecisionId.D10),
    "nothing but a wish": ([act("raise"), Conclude(CLAIMING)], DecisionId.D7),
    "every tool fails": ([act("raise", "fail"), GiveUp("canary-giving-up")], DecisionId.D11),
    "the agent breaks": ([act("leak"), blurt], DecisionId.D15),
    "failures beside facts": (
        [act("probe", "raise", "fail"), GiveUp("canary-giving-up")],
        DecisionId.D9,
    ),
}


@pytest.mark.spec("C7", "T3", "C9")
@pytest.mark.parametrize("name", AGENTS)
async def test_nothing_of_a_scripted_run_leaks(name: str) -> None:
    script, decision = AGENTS[name]
    store, heard = MemoryStore(), Told()
    told = spoken(world(script, store=store, backends=BACKENDS), heard)
    ways = await published(told, store, heard)
    assert json.loads(ways["answer"])["decision"] == decision, name
    assert [leak for way, text in ways.items() for leak in leaks(way, text)] == []


class RamblingJudge(ScriptedJudge):
    """Says more than a verdict."""

    async def review(self, query: str, draft: Any, snapshot: Any) -> JudgeVerdict:
        verdict = await super().review(query, draft, snapshot)
        return JudgeVerdict(verdict=verdict.verdict, reason="canary-verdict: I felt like it")


@pytest.mark.spec("M2")
@pytest.mark.parametrize("verdict", [*SemanticVerdict, "MODEL_FAILED"])
async def test_the_reason_of_a_verdict_stays_in_the_private_audit(
    verdict: SemanticVerdict | str,
) -> None:
    store, heard = MemoryStore(), Told()
    told = world([musing("probe"), conclude()], store=store, judge=RamblingJudge([verdict]))
    ways = await published(spoken(told, heard), store, heard)
    found = [leak for way, text in ways.items() for leak in leaks(way, text)]
    # The query is the scope of the record that is cited: what was asked is shown, by design (G9).
    assert [leak for leak in found if "canary-arguments" not in leak] == []


LEAK: Final = call_tools(("leak", {"service": "checkout"}), text="canary-reasoning: look there")
PROBE: Final = call_tools(("probe", {"service": "checkout"}), text="canary-reasoning: and there")
WRITE: Final = call_tools(("write_report", {}), text="canary-reasoning: enough")
DOWN: Final = ModelFailed("canary-model-error: sk-live at 10.0.0.9", code="MODEL_SERVER_ERROR")

MODELS: Final[dict[str, Callable[[], list[Any]]]] = {
    "reports truly": lambda: [PROBE, WRITE, say(true_draft())],
    "leaks and reports": lambda: [LEAK, WRITE, say(UNTRUE)],
    "thinks aloud around its report": lambda: [
        PROBE,
        WRITE,
        say(f"canary-reasoning first.\n```json\n{json.dumps(true_draft())}\n```"),
    ],
    "never reports": lambda: [LEAK, WRITE, say("canary-draft: I will not")],
    "is down": lambda: [DOWN],
    "goes down": lambda: [LEAK, DOWN],
    "names a tool that is none": lambda: [call_tools(("canary-reasoning", {})), WRITE, say("x")],
}


@pytest.mark.spec("H1")
@pytest.mark.parametrize("name", MODELS)
async def test_nothing_of_a_model_s_run_leaks(name: str) -> None:
    """Its prompts, its thoughts, its errors and its secrets stay inside."""
    store, heard = MemoryStore(), Told()
    author = ScriptedModel(MODELS[name]())
    judge = ScriptedModel([say(sheet() | {"reason": "canary-verdict"})])
    told = thinking(author, judges=(judge,), store=store, backends=dict(BACKENDS))
    ways = await published(spoken(told, heard), store, heard, MODEL_LIMITS)
    asked = "\n".join(item.system for item in (*author.asked, *judge.asked))
    prompts = {line for line in asked.splitlines() if len(line) > 40}
    assert prompts, "the model was asked"
    found = [leak for way, text in ways.items() for leak in leaks(way, text)]
    found += [
        f"{line!r} in the {way}" for way, text in ways.items() for line in prompts if line in text
    ]
    assert found == []


@pytest.mark.spec("A1", "N6", "H7")
async def test_a_tool_that_is_none_has_no_name_in_the_journal() -> None:
    """Its name is the agent's own words: it could say a cause, and the file would carry it."""
    store, heard = MemoryStore(), Told()
    told = world([act("canary-draft_is_the_root_cause"), GiveUp("no")], store=store)
    ways = await published(spoken(told, heard), store, heard)
    assert [leak for way, text in ways.items() for leak in leaks(way, text)] == []
    assert "TOOL_CALL_REFUSED=TOOL_UNKNOWN" in ways["timeline"]
    assert "tool=unregistered" in ways["timeline"]


def test_a_canary_would_be_seen() -> None:
    """What is looked for can be found."""
    assert list(leaks("card", "x password=canary-Pw-8842x y")) == ["'canary-Pw-8842x' in the card"]
    hidden = base64.b64encode(b"canary-exception").decode()
    assert list(leaks("page", hidden)) == ["'canary-exception' in the page"]
    with everything_logged() as log:
        logging.getLogger("affidavit.anywhere").debug("canary-exception")
    assert list(leaks("log", log.getvalue()))
