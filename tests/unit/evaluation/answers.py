"""Whole runs of an agent that says what a test tells it to, over two broken services and a well
one; their sealed files are what is scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from affidavit.adapters.memory_store import MemoryStore
from affidavit.contract.evidence import Change, Edge, Fact, Quantity
from affidavit.diagnose import drive, start
from affidavit.evaluation.incidents import Truth
from affidavit.evaluation.rankings import Ranked
from affidavit.evaluation.scorer import RunScore, score_file
from affidavit.testing.scripted import ScriptedArguments
from tests.support.runs import RUN_ID, request
from tests.support.worlds import ScriptedJudge, act, conclude, world

CALL = "call_0001"
TRUTH = Truth(True, frozenset({"orders"}), "lock", ("chg-7",))

Statement = dict[str, object]


def change(service: str, after: str, *, anomalous: bool) -> Change:
    """A service's latency, from 20 ms."""
    return Change(
        subject=service,
        attribute="latency",
        before=Quantity(number=Decimal(20), unit="ms"),
        after=Quantity(number=Decimal(after), unit="ms"),
        direction="up" if anomalous else "flat",
        score=Decimal(9) if anomalous else Decimal(0),
        anomalous=anomalous,
    )


FACTS: tuple[Fact, ...] = (
    change("orders", "900", anomalous=True),
    change("payments", "400", anomalous=True),
    change("catalog", "20", anomalous=False),
    Edge(source="payments", target="orders"),
)


async def scan(_: ScriptedArguments) -> tuple[Fact, ...]:
    """What the one tool always finds."""
    return FACTS


def rose(service: str, after: int) -> Statement:
    """A typed statement: the service's latency rose to so much."""
    return {
        "kind": "change",
        "tool_call_id": CALL,
        "subject": service,
        "attribute": "latency",
        "from": 20,
        "to": after,
        "unit": "ms",
        "direction": "up",
    }


def sentence(text: str, *statements: Statement) -> dict[str, object]:
    """One sentence with its proof."""
    return {"text": text, "tool_call_ids": [CALL], "statements": list(statements)}


ORDERS_ROSE = sentence("At orders, latency rose from 20 ms to 900 ms.", rose("orders", 900))
PAYMENTS_ROSE = sentence("At payments, latency rose from 20 ms to 400 ms.", rose("payments", 400))


def bound(*sentences: Mapping[str, object]) -> dict[str, object]:
    """A conclusion or a recommendation of these sentences."""
    return {
        "text": " ".join(str(item["text"]) for item in sentences),
        "sentences": list(sentences),
        "based_on_analysis_ids": ["A1"],
    }


async def file_of(**parts: object) -> bytes:
    """The sealed file of a run whose draft has these parts. The judge lets through whatever is not
    contradicted, so that the scorer sees answers that a lenient judge would publish."""
    analyses = [
        {
            "id": "A1",
            "kind": "NORMAL",
            "sentences": [ORDERS_ROSE, PAYMENTS_ROSE],
            "tool_call_ids": [CALL],
        }
    ]
    store = MemoryStore()
    draft = conclude(**{"analyses": analyses, **parts})
    told = world([act("scan"), draft], store=store, judge=ScriptedJudge(), backends={"scan": scan})
    await start(told, request())
    await drive(RUN_ID, told)
    return next(item.content for item in await store.artifacts(RUN_ID) if item.kind == "affidavit")


async def scored(ranked: Sequence[Ranked] = (), truth: Truth = TRUTH, **parts: object) -> RunScore:
    """The score of such a run."""
    return score_file(await file_of(**parts), ranked, truth)
