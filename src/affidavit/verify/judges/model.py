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
from affidavit.verify.judges.exhibit import exhibit
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
Check each number, unit, statistic, time, window, name, direction, order and quantifier against the
lines; count, add, convert and round yourself. One record may stand in several lines, as text, as
cells and as a value; "items" says how many records there are. Paraphrase, translation and what
follows beyond doubt are carried. What another shown result of the same thing and time refutes is
CONTRADICTED. What is cut or not shown proves nothing about the whole.
A cause needs evidence that states it (where only an application says so, a second record of either
end), or an abnormality at the cause that began before the symptom with a recorded path to it. That
two things changed together, or one after the other, is none; nor are guidance, an alert, or words
that a caller could have written (emitter request). The deepest thing that was seen need not be the
cause. An empty result carries only that nothing matched in its scope; an error carries nothing.
ACTION: advice is not judged, but every fact that it takes for granted is. SCOPE: it may not claim
more than was looked at. Both may have no evidence_ids.

Examples, in pairs:
1a evidence: checkout logs "payment timeout after 5000 ms". "checkout logged a payment timeout after
   5000 ms." SUPPORTED, NONE.
1b same evidence. "The connection pool of payment is exhausted." UNSUPPORTED, NOT_IN_EVIDENCE,
   ["connection pool of payment is exhausted"].
2a evidence: an empty result for "timeout" in the logs of cart. "No log line of cart matched
   timeout." SUPPORTED, NONE.
2b same evidence. "cart did not fail." UNSUPPORTED, OVERSTATED, ["did not fail"].
3a evidence: a deploy of cart at 10:02; its errors from 10:03. "cart was deployed at 10:02, before
   its errors began." SUPPORTED, NONE.
3b same evidence. "cart fails because of the deploy at 10:02." UNSUPPORTED, CAUSE_NOT_SHOWN,
   ["because of the deploy"].
4a evidence: pod cart-1 was OOMKilled; cart-2 runs. "Pod cart-1 was OOMKilled." SUPPORTED, NONE.
4b same evidence. "All pods of cart were OOMKilled." UNSUPPORTED, OVERSTATED, ["All pods"]."""


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
    parts += [fence(exhibit(call, words, facts_max), call.tool_call_id) for call in calls]
    parts += ["", "Sentences:"]
    parts += [
        f"{item.number} [{item.part}; evidence: {', '.join(item.calls) or 'none'}] "
        + json.dumps(item.text, ensure_ascii=False)
        for item in sentences
    ]
    return "\n".join(parts)
