"""A desk over scripted models, on a real run."""

from __future__ import annotations

from affidavit.contract.limits import Limits
from affidavit.core.breaker import BreakerRule, Circuits
from affidavit.core.budget import Amount, Reserve
from affidavit.core.run import Run
from affidavit.models.attempts import Gate
from affidavit.models.desk import ModelDesk
from affidavit.models.roster import Roster
from affidavit.ports.ceiling import Ceilings
from affidavit.ports.model import Message, Model, ModelRequest, Purpose
from tests.support.runs import LIMITS

WIDE = Limits(iterations=10, tokens=100_000, timeout_s=60, tool_calls=20, concurrency=4)


def desk_of(
    run: Run,
    *models: Model,
    judges: tuple[Model, ...] = (),
    circuits: Circuits | None = None,
    reserve: int = 0,
    ceilings: Ceilings | None = None,
) -> ModelDesk:
    """A desk that asks these models."""
    gate = Gate(
        run,
        circuits or Circuits(run.clock, BreakerRule(failures_max=2)),
        Reserve(Amount(reserve, 0)),
        ceilings,
    )
    return ModelDesk(gate, Roster(authors=models, judges=judges))


def ask_for(
    text: str = "why?", *, purpose: Purpose = Purpose.DECIDE, answer_tokens: int = 100
) -> ModelRequest:
    """A short request."""
    return ModelRequest(
        purpose=purpose,
        system="You investigate.",
        messages=(Message(role="user", text=text),),
        max_output_tokens=answer_tokens,
    )


def limits(**changes: int | None) -> Limits:
    """The usual limits of a test, but for the changes."""
    values = LIMITS.model_dump() | changes
    return Limits.model_validate(values)
