"""One admitted call, from its back end to READY or ERROR (T1, T3, T4).

Deliberately absent: retries (K7 has one place for them, and it is not here), and any text of an
error (T3): a stable code is what agents and guards see. Of an effect that was cut off or that broke
in an unknown way nobody knows the outcome; that is its code, and no second try (K9).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from affidavit.contract.errors import RecordFailed, ToolFailed
from affidavit.contract.evidence import Envelope
from affidavit.core.breaker import Outcome, Slot
from affidavit.core.canonical import canonical_json
from affidavit.core.fold import OUTCOME_UNKNOWN
from affidavit.core.run import CallTimedOut, Run
from affidavit.ledger.writer import Written, fail, late, project, settle
from affidavit.progress.reading import stable_code
from affidavit.tools.catalogue import blame
from affidavit.tools.planning import Planned
from affidavit.tools.redaction import redact_bytes

RAW_BYTES_MAX: Final = 8_000_000
"""A raw response beyond this is a back end that ignores its bound; nothing of it is kept."""

RESULT_BYTES_MAX: Final = 64_000
"""A projection that an agent can read and a guard can hold; what is larger was not bounded."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """A call that nobody objected to, and its slot in the circuit of its back end, if it has one.

    `probe_s` bounds a call that probes whether its back end is there again.
    """

    plan: Planned
    slot: Slot | None = None
    probe_s: float | None = None

    @property
    def timeout_s(self) -> float:
        """The call's own time limit."""
        own_s = self.plan.tool.timeout_s
        return own_s if self.probe_s is None else min(own_s, self.probe_s)

    def say(self, outcome: Outcome) -> None:
        """What the call says of its back end."""
        if self.slot is not None:
            self.slot.say(outcome)


async def act(run: Run, admitted: Admitted) -> Written:
    """Run one call to its end; a stop of the run passes through."""
    plan, key = admitted.plan, admitted.plan.tool_call_id
    header = plan.header
    try:
        raw = await run.interruptible(
            lambda: plan.tool.run(plan.arguments, header.scope, header.idempotency_key or ""),
            admitted.timeout_s,
            effect=plan.has_effect,
            late=lambda outcome: run.note_late(late(key, outcome)),
        )
    except CallTimedOut:
        admitted.say(Outcome.FAILURE)
        return fail(key, OUTCOME_UNKNOWN if plan.has_effect else "TIMEOUT")
    except ToolFailed as failed:
        admitted.say(blame(failed.code))
        return fail(key, stable_code(failed.code) or "TOOL_FAILED")
    except RecordFailed:
        raise
    except Exception:  # noqa: BLE001 - whatever a tool raises is its failure, and a code (T3)
        admitted.say(Outcome.FAILURE)
        return fail(key, OUTCOME_UNKNOWN if plan.has_effect else "TOOL_FAILED")
    admitted.say(Outcome.SUCCESS)
    return _read(plan, raw, run.clock.now)


def _read(plan: Planned, raw: bytes, now: Callable[[], datetime]) -> Written:
    """PROJECTING, then READY or ERROR. What is too large is not kept."""
    key = plan.tool_call_id
    if len(raw) > RAW_BYTES_MAX:
        return fail(key, "RESULT_TOO_LARGE")
    raw = redact_bytes(raw)
    stored = project(key, raw)
    shown = _project(plan, raw, now)
    last = fail(key, "PROJECTION_FAILED") if shown is None else settle(key, *shown)
    return Written((*stored.events, *last.events), (*stored.artifacts, *last.artifacts))


def _project(
    plan: Planned, raw: bytes, now: Callable[[], datetime]
) -> tuple[Envelope, bytes] | None:
    """The bounded projection and its canonical bytes, or None: there is no honest one."""
    try:
        envelope = plan.tool.project(raw, plan.arguments, plan.header.scope, now())
        content = canonical_json(envelope.model_dump(mode="json"))
        if _HALF in content:
            envelope = _whole(content)
            content = canonical_json(envelope.model_dump(mode="json"))
    except Exception:  # noqa: BLE001 - raw never stands in for a projection that failed (T3)
        return None
    fits = (
        envelope.scope == plan.header.scope
        and envelope.evidence_class is plan.header.evidence_class
        and envelope.contradiction() is None
        and len(content) <= RESULT_BYTES_MAX
    )
    return (envelope, content) if fits else None


_HALF: Final = b"\\ud"
"""How canonical JSON begins half of a surrogate pair, whole pairs included."""


def _whole(content: bytes) -> Envelope:
    """The projection with a question mark for what JSON can spell and no text can hold: half of a
    surrogate pair. With one in it nobody could read the record again."""
    told = json.dumps(json.loads(content), ensure_ascii=False)
    return Envelope.model_validate_json(told.encode("utf-8", "replace"))
