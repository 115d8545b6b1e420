"""The only door to a model: reserved, recorded, repeated, handed over, reused."""

from __future__ import annotations

from datetime import UTC, datetime

import anyio
import pytest

from affidavit.adapters.memory_ceilings import MemoryCeilings
from affidavit.adapters.memory_store import MemoryStore
from affidavit.contract.errors import (
    BudgetSpent,
    DeadlineReached,
    ModelFailed,
    RecordFailed,
    RunCancelled,
)
from affidavit.contract.journal import Event, EventType
from affidavit.core.breaker import BreakerRule, Circuits, CircuitState
from affidavit.core.run import LEASE_TTL_S, Run
from affidavit.models.attempts import ANSWERED, STOPPED, Gate
from affidavit.models.desk import ModelDesk
from affidavit.models.layers import Ask
from affidavit.models.roster import Roster
from affidavit.ports.ceiling import CeilingRule
from affidavit.ports.model import (
    ModelAnswer,
    ModelRequest,
    Price,
    Purpose,
    TokenUsage,
    encode_request,
    model_failure,
)
from affidavit.testing.faulty_store import Fault, FaultyStore
from affidavit.testing.scripted_model import ScriptedModel, say
from affidavit.testing.virtual_clock import VirtualClock
from tests.support.desks import WIDE, ask_for, desk_of, limits
from tests.support.runs import RUN_ID, driven, request

pytestmark = pytest.mark.anyio


def lines(run: Run, type_: EventType) -> list[dict[str, object]]:
    return [dict(entry.data) for entry in run.entries if entry.type is type_]


def results(run: Run) -> list[object]:
    return [line["result"] for line in lines(run, EventType.MODEL_ATTEMPT)]


@pytest.mark.spec("K3", "K7", "A1", "H6")
async def test_a_call_is_intended_before_and_settled_after_with_both_texts_kept() -> None:
    model = ScriptedModel([say("fine", usage=TokenUsage(input_tokens=70, output_tokens=9))])
    async with driven(asked=request(limits=WIDE)) as run:
        answer = await desk_of(run, model).ask(ask_for())
        (intent,) = lines(run, EventType.MODEL_CALL_INTENDED)
        (attempt,) = lines(run, EventType.MODEL_ATTEMPT)
        assert answer.text == "fine"
        assert (attempt["attempt"], attempt["result"], attempt["counted"]) == (
            1,
            ANSWERED,
            "PROVIDER",
        )
        assert run.contents[str(intent["input_digest"])] == encode_request(ask_for())
        assert b"fine" in run.contents[str(attempt["output_digest"])]
        assert run.view.spend.accounts["decide"].tokens == 79
        assert not run.view.spend.held


@pytest.mark.spec("K3", "K6")
@pytest.mark.fault("F1", "R37")
async def test_a_call_without_room_is_not_sent_and_says_so_on_record() -> None:
    model = ScriptedModel([say("x", usage=TokenUsage(input_tokens=300, output_tokens=100))])
    async with driven(asked=request(limits=limits(tokens=1000))) as run:
        desk = desk_of(run, model)
        await desk.ask(ask_for("1", answer_tokens=300))
        await desk.ask(ask_for("2", answer_tokens=100))
        with pytest.raises(BudgetSpent) as stop:
            await desk.ask(ask_for("3", answer_tokens=300))
        assert stop.value.limit == "tokens"
        assert len(model.asked) == 2
        assert run.view.spend.committed.tokens == 800
        (refused,) = lines(run, EventType.MODEL_CALL_REFUSED)
        assert refused["code"] == "BUDGET_TOKENS"


@pytest.mark.spec("K3")
@pytest.mark.fault("F2")
async def test_a_provider_that_ignores_its_maximum_overruns_once_and_is_said_to_have() -> None:
    model = ScriptedModel([say("x", usage=TokenUsage(input_tokens=100, output_tokens=12_000))])
    async with driven(asked=request(limits=limits(tokens=1000))) as run:
        desk = desk_of(run, model)
        assert (await desk.ask(ask_for())).text == "x"
        with pytest.raises(BudgetSpent):
            await desk.ask(ask_for("again"))
        assert len(model.asked) == 1
        assert run.view.spend.overruns == 1


@pytest.mark.spec("K3", "K8")
@pytest.mark.fault("F4")
async def test_what_was_spent_is_spent_after_a_resume_also_a_call_that_never_came_back() -> None:
    store = MemoryStore()
    asked = request(limits=limits(tokens=1000))
    model = ScriptedModel([say("x", usage=TokenUsage(input_tokens=700, output_tokens=100))])
    async with driven(store, asked=asked) as run:
        await desk_of(run, model).ask(ask_for("1"))
        intent = dict(lines(run, EventType.MODEL_CALL_INTENDED)[0]) | {"call": 2}
        await run.note(Event(EventType.MODEL_CALL_INTENDED, intent | {"reserved_tokens": 150}))
    async with driven(store, asked=asked, holder="second") as run:
        assert run.view.spend.committed.tokens == 950
        with pytest.raises(BudgetSpent):
            await desk_of(run, model).ask(ask_for("2", answer_tokens=50))
        assert len(model.asked) == 1


@pytest.mark.spec("K4", "K3")
@pytest.mark.fault("F7")
async def test_the_release_reserve_is_kept_from_the_author_and_free_for_the_judge() -> None:
    model = ScriptedModel([say("x")])
    judge = ScriptedModel([say("y")], name="judge")
    async with driven(asked=request(limits=limits(tokens=1000))) as run:
        desk = desk_of(run, model, judges=(judge,), reserve=800)
        with pytest.raises(BudgetSpent):
            await desk.ask(ask_for(answer_tokens=200))
        await desk.ask(ask_for(purpose=Purpose.JUDGE, answer_tokens=200))
        assert run.view.spend.accounts.keys() == {"judge"}
        assert len(judge.asked) == 1


@pytest.mark.spec("K3")
@pytest.mark.fault("R38")
async def test_money_is_a_limit_and_an_unknown_price_is_not_nothing() -> None:
    priced = ScriptedModel(
        [say("x", usage=TokenUsage(input_tokens=1000, output_tokens=1000))],
        price=Price(input_micros=3_000_000, output_micros=6_000_000),
    )
    strange = ScriptedModel([say("z")], name="unpriced")
    async with driven(asked=request(limits=limits(tokens=90_000, money_micros=10_000))) as run:
        await desk_of(run, priced).ask(ask_for(answer_tokens=1000))
        assert run.view.spend.settled.micros == 9_000
        with pytest.raises(BudgetSpent, match="money"):
            await desk_of(run, priced).ask(ask_for("more", answer_tokens=1000))
        with pytest.raises(ModelFailed) as failed:
            await desk_of(run, strange).ask(ask_for("more"))
        assert failed.value.code == "NO_MODEL_LEFT"
        assert strange.asked == []


@pytest.mark.spec("K7", "H8")
async def test_attempts_are_numbered_metered_and_end_where_repeating_cannot_help() -> None:
    clock = VirtualClock()
    model = ScriptedModel(
        [model_failure("MODEL_SERVER_ERROR"), model_failure("MODEL_CUT"), say("at last")]
    )
    async with clock.jumping(), driven(clock=clock, asked=request(limits=WIDE)) as run:
        circuits = Circuits(clock, BreakerRule(failures_max=9))
        answer = await desk_of(run, model, circuits=circuits).ask(ask_for())
        attempts = lines(run, EventType.MODEL_ATTEMPT)
        assert answer.text == "at last"
        assert [line["attempt"] for line in attempts] == [1, 2, 3]
        assert results(run) == ["MODEL_SERVER_ERROR", "MODEL_CUT", ANSWERED]
        assert [line["counted"] for line in attempts] == ["NOTHING", "RESERVED", "PROVIDER"]
        assert clock.monotonic_s() > 0.7
    for code in ("MODEL_REQUEST_REFUSED", "MODEL_UNAUTHORIZED"):
        refused = ScriptedModel([model_failure(code)])
        async with driven(asked=request(limits=WIDE)) as run:
            with pytest.raises(ModelFailed):
                await desk_of(run, refused).ask(ask_for())
            assert results(run) == [code]


@pytest.mark.spec("K7", "K5", "K6")
@pytest.mark.fault("F18")
async def test_a_cancel_during_the_wait_ends_it_and_makes_no_further_attempt() -> None:
    clock, store = VirtualClock(), MemoryStore()
    model = ScriptedModel([model_failure("MODEL_RATE_LIMITED", after_s=7.0)])
    async with driven(store, clock=clock, asked=request(limits=WIDE)) as run:
        stopped: list[BaseException] = []

        async def ask() -> None:
            try:
                await desk_of(run, model).ask(ask_for())
            except RunCancelled as stop:
                stopped.append(stop)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await clock.advance(1)
            await store.post(RUN_ID, "cancel", "somebody")
            await clock.advance(0.1)
        assert len(stopped) == 1
        assert len(model.asked) == 1
        assert clock.monotonic_s() < 1.2


@pytest.mark.spec("K7", "K3")
async def test_a_wait_never_goes_beyond_the_deadline() -> None:
    clock = VirtualClock()
    model = ScriptedModel([model_failure("MODEL_RATE_LIMITED", after_s=7.0)])
    asked = request(limits=limits(tokens=50_000, timeout_s=3))
    async with clock.jumping(), driven(clock=clock, asked=asked) as run:
        with pytest.raises(DeadlineReached):
            await desk_of(run, model).ask(ask_for())
        assert clock.monotonic_s() < 3.2
        assert len(model.asked) == 1


@pytest.mark.spec("K5", "K7")
@pytest.mark.fault("R31")
async def test_a_model_that_never_answers_is_a_timed_out_attempt_and_the_run_goes_on() -> None:
    clock = VirtualClock()

    async def hang(_: ModelRequest) -> ModelAnswer:
        await anyio.sleep_forever()
        raise AssertionError

    slow = ScriptedModel([hang], answer_timeout_s=5.0)
    other = ScriptedModel([say("here")], name="other", vendor="elsewhere")
    async with clock.jumping(), driven(clock=clock, asked=request(limits=WIDE)) as run:
        answer = await desk_of(run, slow, other).ask(ask_for())
        assert answer.text == "here"
        assert results(run)[0] == "MODEL_TIMEOUT"
        assert results(run)[-1] == ANSWERED


@pytest.mark.spec("H8")
async def test_an_open_circuit_hands_over_and_when_all_are_open_nobody_is_left() -> None:
    clock = VirtualClock()
    circuits = Circuits(clock, BreakerRule(failures_max=2))
    down = ScriptedModel([model_failure("MODEL_SERVER_ERROR")], name="a", vendor="one")
    up = ScriptedModel([say("yes")], name="b", vendor="two")
    async with clock.jumping(), driven(clock=clock, asked=request(limits=WIDE)) as run:
        desk = desk_of(run, down, up, circuits=circuits)
        assert (await desk.ask(ask_for("1"))).text == "yes"
        asked_before = len(down.asked)
        assert circuits.states()["model:one:a"] is CircuitState.OPEN
        assert (await desk.ask(ask_for("2"))).text == "yes"
        assert len(down.asked) == asked_before
        with pytest.raises(ModelFailed) as failed:
            await desk_of(run, down, circuits=circuits).ask(ask_for("3"))
        assert failed.value.code == "NO_MODEL_LEFT"


@pytest.mark.spec("H8")
async def test_a_caller_s_fault_and_a_cancelled_call_say_nothing_about_the_model() -> None:
    circuits = Circuits(VirtualClock(), BreakerRule(failures_max=1))
    refused = ScriptedModel([model_failure("MODEL_REQUEST_REFUSED")], name="a")
    async with driven(asked=request(limits=WIDE)) as run:
        for text in ("1", "2"):
            with pytest.raises(ModelFailed, match="refuses"):
                await desk_of(run, refused, circuits=circuits).ask(ask_for(text))
        assert circuits.states()["model:test:a"] is CircuitState.CLOSED


@pytest.mark.spec("H8", "N13")
async def test_a_tenant_is_handed_over_within_its_allowed_set_only() -> None:
    one, two = ScriptedModel([say("1")], name="one"), ScriptedModel([say("2")], name="two")
    async with driven(asked=request(limits=WIDE)) as run:
        roster = Roster(authors=(one, two), allowed={"acme": frozenset({"test:two"})})
        desk = ModelDesk(desk_of(run).gate, roster)
        assert (await desk.ask(ask_for())).text == "2"
        assert one.asked == []


@pytest.mark.spec("K8")
@pytest.mark.fault("F12")
async def test_a_recorded_answer_is_used_on_a_resume_once_and_in_its_order() -> None:
    store = MemoryStore()
    model = ScriptedModel([say("first"), say("second"), say("third")])
    async with driven(store, asked=request(limits=WIDE)) as run:
        desk = desk_of(run, model)
        await desk.ask(ask_for())
        await desk.ask(ask_for())
    async with driven(store, asked=request(limits=WIDE), holder="second") as run:
        desk = desk_of(run, model)
        texts = [(await desk.ask(ask_for())).text for _ in range(3)]
        assert texts == ["first", "second", "third"]
        assert len(model.asked) == 3


@pytest.mark.spec("K8", "M3")
async def test_an_answer_that_something_came_of_is_not_used_again() -> None:
    store = MemoryStore()
    model = ScriptedModel([say("malformed"), say("good")])
    question = ask_for(purpose=Purpose.JUDGE)
    async with driven(store, asked=request(limits=WIDE)) as run:
        await desk_of(run, judges=(model,)).ask(question)
        attempted = {"judge": "m", "attempt": 1, "result": "ANSWER_MALFORMED"}
        await run.note(Event(EventType.SEMANTIC_GUARD_ATTEMPT, attempted))
    async with driven(store, asked=request(limits=WIDE), holder="second") as run:
        assert (await desk_of(run, judges=(model,)).ask(question)).text == "good"


@pytest.mark.spec("L5", "K8")
async def test_an_answer_that_cannot_be_recorded_is_not_used() -> None:
    inner = MemoryStore()
    clock = VirtualClock()
    async with driven(inner, clock=clock, asked=request(limits=WIDE)):
        pass
    clock.shift(LEASE_TTL_S + 1)
    model = ScriptedModel([say("lost"), say("never asked for")])
    broken = FaultyStore(inner, Fault(4, times=None))
    async with driven(broken, clock=clock, asked=request(limits=WIDE)) as run:
        desk = desk_of(run, model)
        await desk.ask(ask_for())
        with pytest.raises(RecordFailed):  # whatever would come of it has a line of its own first
            await desk.ask(ask_for("and then?"))
    assert len(model.asked) == 1
    told = [entry.type for entry in await inner.read(RUN_ID)]
    assert EventType.MODEL_ATTEMPT not in told


@pytest.mark.spec("L5", "M3")
async def test_a_verdict_that_cannot_be_recorded_is_none() -> None:
    inner = MemoryStore()
    clock = VirtualClock()
    async with driven(inner, clock=clock, asked=request(limits=WIDE)):
        pass
    clock.shift(LEASE_TTL_S + 1)
    judge = ScriptedModel([say("lost")])
    broken = FaultyStore(inner, Fault(4, times=None))
    with pytest.raises(RecordFailed):
        async with driven(broken, clock=clock, asked=request(limits=WIDE)) as run:
            await desk_of(run, judges=(judge,)).ask(ask_for(purpose=Purpose.JUDGE))
    assert len(judge.asked) == 1


@pytest.mark.spec("K5")
async def test_a_stopped_call_is_on_record_and_costs_what_was_held() -> None:
    clock, store = VirtualClock(), MemoryStore()

    async def hang(_: ModelRequest) -> ModelAnswer:
        await anyio.sleep_forever()
        raise AssertionError

    async with driven(store, clock=clock, asked=request(limits=WIDE)) as run:

        async def ask() -> None:
            with pytest.raises(RunCancelled):
                await desk_of(run, ScriptedModel([hang])).ask(ask_for())

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await clock.advance(1)
            await store.post(RUN_ID, "cancel", "somebody")
            await clock.advance(0.2)
        (held,) = lines(run, EventType.MODEL_CALL_INTENDED)
        assert results(run) == [STOPPED]
        assert run.view.spend.committed.tokens == held["reserved_tokens"]


@pytest.mark.spec("K3")
async def test_ceilings_of_a_tenant_s_day_and_of_everybody_stop_a_run() -> None:
    day = datetime.now(UTC).date().isoformat()
    model = ScriptedModel([say("x", usage=TokenUsage(input_tokens=400, output_tokens=50))])
    for rule, name in (
        (CeilingRule(tenant_tokens=700), "tenant_day"),
        (CeilingRule(global_tokens=700), "global"),
    ):
        ceilings = MemoryCeilings(rule)
        async with driven(asked=request(limits=WIDE)) as run:
            desk = desk_of(run, model, ceilings=ceilings)
            await desk.ask(ask_for("1", answer_tokens=250))
            with pytest.raises(BudgetSpent, match=name):
                await desk.ask(ask_for("2", answer_tokens=250))
            assert ceilings.spent("acme", day)[0] == 450


@pytest.mark.spec("K3", "H6")
@pytest.mark.fault("R40")
async def test_a_request_beyond_the_window_is_not_sent() -> None:
    model = ScriptedModel([say("x")], window_tokens=1_000)
    async with driven(asked=request(limits=WIDE)) as run:
        with pytest.raises(ModelFailed) as failed:
            await desk_of(run, model).ask(ask_for("y" * 20_000))
        assert failed.value.code == "REQUEST_TOO_LARGE"
        assert model.asked == []
        assert run.view.spend.committed.tokens == 0


@pytest.mark.spec("K3")
async def test_the_estimate_learns_from_what_the_model_counted() -> None:
    text = "z" * 10_000
    model = ScriptedModel([say("x", usage=TokenUsage(input_tokens=1_000, output_tokens=1))])
    async with driven(asked=request(limits=WIDE)) as run:
        desk = desk_of(run, model)
        await desk.ask(ask_for(text))
        await desk.ask(ask_for(text + "!"))
        first, second = (
            int(str(line["reserved_tokens"])) for line in lines(run, EventType.MODEL_CALL_INTENDED)
        )
        assert first > 4_000
        assert 1_000 < second < 1_500


class Remembering:
    """Adds a line to whatever it is given."""

    def recall(self, asked: ModelRequest) -> ModelRequest:
        return ModelRequest(**{**asked.__dict__, "system": asked.system + " REMEMBERED"})


class Looking:
    """Keeps what passes."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    async def ask(self, asked: ModelRequest, proceed: Ask) -> ModelAnswer:
        self.seen.append(asked.system)
        return await proceed(asked)


@pytest.mark.spec("H6")
async def test_memory_is_the_author_s_alone_and_a_filter_sees_what_is_sent() -> None:
    looking = Looking()
    author, judge = ScriptedModel([say("a")]), ScriptedModel([say("b")], name="judge")
    async with driven(asked=request(limits=WIDE)) as run:
        base = desk_of(run).gate
        gate = Gate(base.run, base.circuits, base.reserve, None, (looking,))
        desk = ModelDesk(gate, Roster((author,), (judge,)), Remembering())
        await desk.ask(ask_for())
        for purpose in (Purpose.JUDGE, Purpose.REPAIR, Purpose.WITHDRAW, Purpose.ROUTE):
            await desk.ask(ask_for(purpose=purpose))
        assert [("REMEMBERED" in text) for text in looking.seen] == [True, *[False] * 4]


@pytest.mark.spec("H8")
@pytest.mark.fault("F45")
async def test_fifty_callers_at_half_open_send_one_probe_and_a_cancelled_probe_frees_its_slot() -> (
    None
):
    clock = VirtualClock()
    circuits = Circuits(clock, BreakerRule(failures_max=1, open_s=10.0))
    hanging = anyio.Event()

    async def slow(_: ModelRequest) -> ModelAnswer:
        await hanging.wait()
        return say("late")

    down = ScriptedModel([model_failure("MODEL_REQUEST_REFUSED")])
    down.script = [model_failure("MODEL_SERVER_ERROR"), slow]
    refused = 0
    async with driven(clock=clock, asked=request(limits=WIDE)) as run:
        desk = desk_of(run, down, circuits=circuits)

        async def ask(text: str) -> None:
            nonlocal refused
            try:
                await desk.ask(ask_for(text, answer_tokens=10))
            except ModelFailed:
                refused += 1

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask, "first")
            await clock.advance(11)
        assert circuits.states()["model:test:scripted"] is CircuitState.HALF_OPEN
        before = len(down.asked)
        async with anyio.create_task_group() as tasks:
            for place in range(50):
                tasks.start_soon(ask, str(place))
            await clock.advance(0.1)
            assert len(down.asked) == before + 1, "one probe"
            tasks.cancel_scope.cancel()
        hanging.set()
        assert (await desk.ask(ask_for("next"))).text == "late"
        assert circuits.states()["model:test:scripted"] is CircuitState.CLOSED
