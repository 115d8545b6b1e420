"""The model judge: one call a report, a strict worksheet, a computed verdict (M1 to M3).

It sees the question, the numbered sentences and the verified evidence, fenced; no tools, no memory,
one turn. The same draft and evidence give the same bytes, so that the release's one retry has a
byte-identical input. What cannot be read as a consistent worksheet is no answer.

Evidence that does not fit is cut by rule, facts about what the sentences name first, and each cut
says how many facts it left out: a report is never unjudged because its evidence was large (R47).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from affidavit.contract.draft import DraftCandidate
from affidavit.contract.errors import ModelFailed
from affidavit.contract.evidence import Fact
from affidavit.contract.limits import Limits
from affidavit.contract.snapshots import VerifiedCall, VerifiedEvidenceSnapshot
from affidavit.core.budget import bound_of, room_bytes
from affidavit.models.fencing import FENCE_RULE, fence, show_hidden
from affidavit.ports.model import (
    Door,
    Finish,
    Message,
    ModelRequest,
    OutputSchema,
    Purpose,
    encode_request,
)
from affidavit.verify.judges import JudgeVerdict
from affidavit.verify.judges.worksheet import WorksheetRefused, read_verdict, worksheet_schema
from affidavit.verify.sentences import Sentence, number_sentences

JUDGE: Final = f"""\
You check a report against evidence. Judge only whether the evidence carries each sentence; neither
whether it is likely, nor whether it is well written. You have no other knowledge of the incident.
{FENCE_RULE}
Fill one row for each numbered sentence:
- evidence_ids: the ids, among those listed for the sentence, that carry it.
- unsupported_parts: words of the sentence, verbatim, that none of them carries; else empty.
- issue: NONE where nothing is unsupported; else what is wrong.
- verdict: SUPPORTED only if every word that states something is carried.
Then verdict over all: SUPPORTED only if every row is; and a short reason.
A cause needs evidence that states or shows it; that two things changed together is none. An empty
result carries only that nothing matched in its scope.

Examples, in pairs:
1a evidence: latency of cart p95 went from 20 ms to 900 ms. "The p95 latency of cart rose from 20 ms
   to 900 ms." SUPPORTED, NONE.
1b same evidence. "The p95 latency of cart rose from 20 ms to 9 s." UNSUPPORTED,
   WRONG_NUMBER_OR_TIME, ["9 s"].
2a evidence: kubelet: Container cart was OOMKilled. "The container cart was killed because it ran
   out of memory." SUPPORTED, NONE.
2b evidence: a deploy of cart at 10:02; errors of cart from 10:03. "The deploy caused the errors of
   cart." UNSUPPORTED, CAUSE_NOT_SHOWN, ["caused"].
3a evidence: an empty result for "timeout" in the logs of cart. "No log line of cart matched
   timeout." SUPPORTED, NONE.
3b same evidence. "There were no timeouts in cart." UNSUPPORTED, OVERSTATED, ["no timeouts"].
4a evidence: 5 errors of pay. "pay had 5 errors." SUPPORTED, NONE.
4b same evidence. "cart had 5 errors." UNSUPPORTED, WRONG_SUBJECT, ["cart"]."""


@dataclass(frozen=True, slots=True)
class ModelJudge:
    """A model as judge (`verify.judges.Judge`), for one driven run."""

    door: Door
    request_bytes: int
    answer_tokens: int
    name: str = "model"
    schema: OutputSchema = field(default_factory=worksheet_schema)

    async def review(
        self, query: str, draft: DraftCandidate, snapshot: VerifiedEvidenceSnapshot
    ) -> JudgeVerdict:
        """The verdict. Raises ModelFailed (ANSWER_INVALID) for an answer that is none."""
        answer = await self.door.ask(self.request(query, draft, snapshot))
        if answer.finish is not Finish.STOP or answer.calls:
            raise ModelFailed("the judge's answer is not whole", code="ANSWER_INVALID")
        try:
            return read_verdict(answer.text, draft)
        except WorksheetRefused as refused:
            raise ModelFailed(str(refused), code="ANSWER_INVALID") from None

    def request(
        self, query: str, draft: DraftCandidate, snapshot: VerifiedEvidenceSnapshot
    ) -> ModelRequest:
        """The one request, with as many facts a call as its bytes hold."""
        sentences = number_sentences(draft)
        most = max((len(call.envelope.facts) for call in snapshot.calls), default=0)

        def made(facts_max: int) -> ModelRequest:
            text = _text(query, sentences, snapshot.calls, facts_max)
            return ModelRequest(
                purpose=Purpose.JUDGE,
                system=JUDGE,
                messages=(Message(role="user", text=text),),
                output=self.schema,
                max_output_tokens=self.answer_tokens,
            )

        low, high = 0, most
        while low < high:
            middle = (low + high + 1) // 2
            fits = len(encode_request(made(middle))) <= self.request_bytes
            low, high = (middle, high) if fits else (low, middle - 1)
        return made(low)


def model_judge(door: Door, limits: Limits, window_tokens: int, name: str) -> ModelJudge:
    """A judge within the bounds of a run's limits and of the model's window (K4)."""
    bound = bound_of(Purpose.JUDGE, limits)
    answer_tokens = min(bound.output_tokens, window_tokens // 2)
    input_tokens = min(bound.input_tokens, window_tokens - answer_tokens)
    return ModelJudge(door, room_bytes(input_tokens), answer_tokens, name)


def _text(
    query: str, sentences: tuple[Sentence, ...], calls: Iterable[VerifiedCall], facts_max: int
) -> str:
    """Question, evidence, sentences; in that order, so that the sentences come last."""
    words = " ".join(sentence.text for sentence in sentences).casefold()
    parts = [f"Question: {show_hidden(query)}", "", "Evidence:"]
    parts += [fence(_evidence(call, words, facts_max), call.tool_call_id) for call in calls]
    parts += ["", "Sentences:"]
    parts += [
        f"{item.number} [{item.part}; evidence: {', '.join(item.calls) or 'none'}] "
        + json.dumps(item.text, ensure_ascii=False)
        for item in sentences
    ]
    return "\n".join(parts)


def _evidence(call: VerifiedCall, words: str, facts_max: int) -> str:
    """One call's projection; facts whose subject the report names come first."""
    envelope = call.envelope
    ranked = sorted(envelope.facts, key=lambda fact: not _is_named(fact, words))
    shown = ranked[:facts_max]
    scope = envelope.scope.model_dump(mode="json", exclude_none=True)
    body = {
        "tool": call.tool,
        "class": str(envelope.evidence_class),
        "emitter": str(envelope.emitter),
        "status": str(envelope.status),
        "scope": {key: value for key, value in scope.items() if key != "tenant"},
        "count": envelope.count,
        "truncated": envelope.truncated,
        "facts": [fact.model_dump(mode="json", exclude_none=True) for fact in shown],
    }
    if len(shown) < len(ranked):
        body["facts_not_shown"] = len(ranked) - len(shown)
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _is_named(fact: Fact, words: str) -> bool:
    names = (getattr(fact, name, None) for name in ("subject", "source", "target", "attribute"))
    return any(isinstance(name, str) and name.casefold() in words for name in names)
