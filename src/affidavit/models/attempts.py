"""One attempt at one model: reserved, journalled, timed, admitted by its breaker, settled.

    circuit open?         → not asked (CircuitOpen); the next model is
    too large?            → not sent (REQUEST_TOO_LARGE): request and answer exceed the window
    no room?              → not sent: one MODEL_CALL_REFUSED line, then the budget stop
    MODEL_CALL_INTENDED   → with the request as artifact, before anything is sent
    the model, once       → bounded by its own time limit and by the run's stops
    MODEL_ATTEMPT         → at every exit, with the answer as artifact where there is one

What an attempt cost: what the provider counted; where nobody counted, an estimate; where no answer
came but the provider may have worked, the whole reservation; where nothing was sent, nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

import anyio

from affidavit.contract.errors import BudgetSpent, ModelFailed, RecordFailed
from affidavit.contract.journal import Event, EventType
from affidavit.core.breaker import Circuits, Outcome
from affidavit.core.budget import Amount, Reserve, estimate_tokens, refusal_of
from affidavit.core.canonical import digest
from affidavit.core.pen import Stage
from affidavit.core.run import CallTimedOut, Run
from affidavit.models.layers import Filter, through
from affidavit.models.roster import circuit_of, dependency_of
from affidavit.ports.ceiling import CeilingRequest, Ceilings
from affidavit.ports.model import (
    Model,
    ModelAnswer,
    ModelRequest,
    Purpose,
    encode_answer,
    encode_request,
    model_failure,
)
from affidavit.ports.store import Artifact

ANSWERED: Final = "ANSWERED"
"""The result of an attempt that gave an answer; any other result is why it did not."""

STOPPED: Final = "STOPPED"
"""The result of an attempt that the run, or whoever asked, did not wait for."""

BREAKER_WORDS: Final[Mapping[str, Outcome]] = MappingProxyType(
    {
        "MODEL_UNAUTHORIZED": Outcome.NEITHER,
        "MODEL_UNKNOWN": Outcome.NEITHER,
        "MODEL_REQUEST_REFUSED": Outcome.NEITHER,
        "MODEL_RATE_LIMITED": Outcome.NEITHER,
        "REQUEST_TOO_LARGE": Outcome.NEITHER,
        "PRICE_UNKNOWN": Outcome.NEITHER,
    }
)
"""What a failure says about the dependency (H8): a caller's 4xx says nothing; the rest is a
failure."""


@dataclass(frozen=True, slots=True)
class Gate:
    """What every attempt of one run passes: its budget, its circuits, its ceilings, its filters.

    `reserving` is held while room is looked for and held back, and while a call is settled: an
    overrun that became known between the look and the intent would let a call start over the limit.
    """

    run: Run
    circuits: Circuits
    reserve: Reserve
    ceilings: Ceilings | None = None
    filters: tuple[Filter, ...] = ()
    reserving: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass(frozen=True, slots=True)
class Asked:
    """One request on its way: the request, and its one byte string."""

    request: ModelRequest
    content: bytes
    digest: str

    @classmethod
    def of(cls, request: ModelRequest) -> Asked:
        """The request with its bytes, and their address."""
        content = encode_request(request)
        return cls(request, content, digest(content))


@dataclass(slots=True)
class _Call:
    """One call that was let through: its number, its reservation, and how it went."""

    number: int
    attempt: int
    held: Amount
    input_tokens: int
    result: str = STOPPED
    counted: str = "RESERVED"
    tokens_in: int = 0
    tokens_out: int = 0
    answer: bytes | None = None


async def attempt_once(gate: Gate, model: Model, asked: Asked, attempt: int) -> ModelAnswer:
    """Ask that model once.

    Raises ModelFailed, CircuitOpen (nothing was sent), or a stop of the run.
    """
    with gate.circuits.breaker(circuit_of(model)).call(_breaker_word):
        call = await _reserve(gate, model, asked, attempt)
        try:
            return await _send(gate, model, asked, call)
        finally:
            # At every exit, also when the run was stopped meanwhile; a store that cannot take the
            # line leaves the reservation standing, which counts as spent.
            with anyio.CancelScope(shield=True), suppress(*_UNRECORDED[call.result == ANSWERED]):
                await _settle(gate, model, asked, call)


_UNRECORDED: Final[Mapping[bool, tuple[type[Exception], ...]]] = MappingProxyType(
    {True: (), False: (RecordFailed,)}
)
"""An answer that cannot be recorded is not used (L5); a failure that cannot stays what it was."""


def _breaker_word(error: Exception) -> Outcome:
    if isinstance(error, ModelFailed):
        return BREAKER_WORDS.get(error.code, Outcome.FAILURE)
    return Outcome.NEITHER


async def _reserve(gate: Gate, model: Model, asked: Asked, attempt: int) -> _Call:
    """Hold room for the call and write down that it will be made, as one step (K3)."""
    async with gate.reserving:
        run = gate.run
        await run.check()
        spend = run.view.spend
        input_tokens = estimate_tokens(spend, dependency_of(model), len(asked.content))
        output_tokens = asked.request.max_output_tokens
        _refuse_too_large(model, input_tokens + output_tokens)
        price = model.price
        micros = None if price is None else price.of(input_tokens, output_tokens)
        need = Amount(input_tokens + output_tokens, micros)
        purpose = asked.request.purpose
        limit = refusal_of(spend, run.request.limits, gate.reserve, purpose, need)
        call = _Call(spend.calls + 1, attempt, need, input_tokens)
        if limit is None and gate.ceilings is not None:
            limit = await gate.ceilings.reserve(_ceiling(run, call.number, need))
        if limit is not None:
            await _refuse(gate, model, asked, need, limit)
        data = {
            "call": call.number,
            "purpose": str(purpose),
            "model": dependency_of(model),
            "attempt": attempt,
            "input_digest": asked.digest,
            "input_bytes": len(asked.content),
            "reserved_tokens": need.tokens,
            "reserved_micros": need.micros,
        }
        artifact = Artifact(asked.digest, "model_request", asked.content)
        await run.record(Stage((Event(EventType.MODEL_CALL_INTENDED, data),), (artifact,)))
        return call


def _refuse_too_large(model: Model, tokens: int) -> None:
    if tokens > model.window_tokens:
        raise model_failure(
            "REQUEST_TOO_LARGE",
            f"request and answer need some {tokens} tokens, and {model.name} has a window of "
            f"{model.window_tokens}",
        )


async def _refuse(gate: Gate, model: Model, asked: Asked, need: Amount, limit: str) -> None:
    """There is no room: it is written down, and nothing is sent. Always raises."""
    data = {
        "purpose": str(asked.request.purpose),
        "model": dependency_of(model),
        "code": f"BUDGET_{limit.upper()}",
        "needed_tokens": need.tokens,
    }
    await gate.run.note(Event(EventType.MODEL_CALL_REFUSED, data))
    if limit == "price":
        raise model_failure("PRICE_UNKNOWN", f"the price of {model.name} is not known")
    raise BudgetSpent(limit)


async def _send(gate: Gate, model: Model, asked: Asked, call: _Call) -> ModelAnswer:
    """The model's answer, or why there is none; the call says what it cost."""
    ask = through(gate.filters, model.complete)
    try:
        answer = await gate.run.interruptible(
            lambda: ask(asked.request), timeout_s=model.answer_timeout_s
        )
    except ModelFailed as failed:
        call.result = failed.code
        call.counted = "RESERVED" if failed.billed else "NOTHING"
        raise
    except CallTimedOut:
        call.result = "MODEL_TIMEOUT"
        raise model_failure(
            "MODEL_TIMEOUT", f"{model.name} gave no answer within {model.answer_timeout_s:.0f} s"
        ) from None
    call.result = ANSWERED
    call.answer = encode_answer(answer)
    if answer.usage is None:
        spend, name = gate.run.view.spend, dependency_of(model)
        call.counted, call.tokens_in = "ESTIMATE", call.input_tokens
        call.tokens_out = estimate_tokens(spend, name, len(call.answer))
    else:
        call.counted = "PROVIDER"
        call.tokens_in = answer.usage.input_tokens
        call.tokens_out = answer.usage.output_tokens
    return answer


async def _settle(gate: Gate, model: Model, asked: Asked, call: _Call) -> None:
    """What was held becomes what was spent; no reservation is decided meanwhile (K3)."""
    async with gate.reserving:
        await _settle_alone(gate, model, asked, call)


async def _settle_alone(gate: Gate, model: Model, asked: Asked, call: _Call) -> None:
    if call.counted == "RESERVED":
        call.tokens_in, call.tokens_out = (
            call.input_tokens,
            call.held.tokens - call.input_tokens,
        )
    price = model.price
    micros = None if price is None else price.of(call.tokens_in, call.tokens_out)
    answer = None if call.answer is None else Artifact(digest(call.answer), "model", call.answer)
    data = {
        "call": call.number,
        "purpose": str(asked.request.purpose),
        "model": dependency_of(model),
        "attempt": call.attempt,
        "result": call.result,
        "input_digest": asked.digest,
        "output_digest": None if answer is None else answer.digest,
        "tokens_in": call.tokens_in,
        "tokens_out": call.tokens_out,
        "micros": micros,
        "counted": call.counted,
    }
    artifacts = () if answer is None else (answer,)
    stage = Stage((Event(EventType.MODEL_ATTEMPT, data),), artifacts)
    if asked.request.purpose is Purpose.DECIDE and call.result == ANSWERED:
        await gate.run.ride(stage)  # it is read at once, and no call leaves before it is written
    else:
        await gate.run.record(stage)
    if gate.ceilings is not None:
        spent = Amount(call.tokens_in + call.tokens_out, micros)
        await gate.ceilings.settle(_ceiling(gate.run, call.number, spent))


def _ceiling(run: Run, number: int, amount: Amount) -> CeilingRequest:
    return CeilingRequest(
        key=f"{run.id}/{number}",
        tenant=run.request.tenant,
        day=run.clock.now().date().isoformat(),
        tokens=amount.tokens,
        micros=amount.micros or 0,
    )
