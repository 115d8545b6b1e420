"""Models on record: one that writes down what another says, and one that says it again.

A transcript is JSON lines. The first is `{"format": "affidavit.transcript/1", "model": …}`; each
further one is one call: `{"purpose", "request_digest", "request", "answer"}`, or `"failure":
{"code", "may_retry", "billed"}` in place of the answer. Requests and answers have the form of
`exec:` and `mailbox:` (docs/models.md).

Replaying takes the first unused line with the same request; where no line has it (the request holds
a time, or the prompt was changed since), the first unused one of the same purpose, and counts that
as a drift; `strict` refuses it instead. A transcript that has no line left answers REPLAY_ENDED.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from affidavit.contract.errors import InputRefused, ModelFailed
from affidavit.ports.model import (
    Model,
    ModelAnswer,
    ModelRequest,
    Price,
    decode_answer,
    encode_answer,
    encode_request,
)
from affidavit.ports.wrapped_model import WrappedModel

FORMAT: Final = "affidavit.transcript/1"

TRANSCRIPT_BYTES_MAX: Final = 100_000_000
"""Some thousand calls with long contexts; a larger file was not recorded here."""


@dataclass(slots=True)
class RecordingModel(WrappedModel):
    """Asks another model, and writes each call down before anybody sees the answer."""

    inner: Model
    file: Path

    def __post_init__(self) -> None:
        """Begin the transcript. Raises InputRefused where the file is there already."""
        try:
            with self.file.open("x", encoding="ascii") as lines:
                lines.write(json.dumps({"format": FORMAT, "model": self.inner.name}) + "\n")
        except OSError as error:
            raise InputRefused(
                f"the transcript {self.file} cannot be begun: {error.strerror}",
                code="TRANSCRIPT_REFUSED",
                hint="name a file that is not there yet",
            ) from None

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """The other model's answer, on record. Raises what it raises, on record too."""
        try:
            answer = await self.inner.complete(request)
        except ModelFailed as failed:
            failure = {
                "code": failed.code,
                "may_retry": failed.may_retry,
                "billed": failed.billed,
            }
            self._write(request, {"failure": failure})
            raise
        self._write(request, {"answer": json.loads(encode_answer(answer))})
        return answer

    def _write(self, request: ModelRequest, outcome: dict[str, object]) -> None:
        content = encode_request(request)
        line = {
            "purpose": str(request.purpose),
            "request_digest": _digest(content),
            "request": json.loads(content),
            **outcome,
        }
        with self.file.open("a", encoding="ascii") as lines:
            lines.write(json.dumps(line, sort_keys=True) + "\n")


@dataclass(slots=True)
class _Line:
    purpose: str
    request_digest: str
    outcome: ModelAnswer | ModelFailed
    used: bool = False


@dataclass(slots=True)
class ReplayModel:
    """Says again what a transcript holds; asks nobody."""

    lines: list[_Line]
    name: str
    vendor: str = "replay"
    window_tokens: int = 1_000_000
    price: Price | None = None
    answer_timeout_s: float = 60.0
    strict: bool = False
    drifts: int = field(default=0)

    @classmethod
    def read(cls, file: Path, *, strict: bool = False) -> ReplayModel:
        """The transcript in that file. Raises InputRefused (TRANSCRIPT_REFUSED)."""
        try:
            if file.stat().st_size > TRANSCRIPT_BYTES_MAX:
                raise ValueError("it is too large")
            head, *rest = file.read_text(encoding="utf-8").splitlines()
            title = json.loads(head)
            if not isinstance(title, dict) or title.get("format") != FORMAT:
                raise ValueError(f"its first line is not {FORMAT}")
            lines = [_line(text, number) for number, text in enumerate(rest, start=2) if text]
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise InputRefused(
                f"{file} is no transcript of a model: {error}",
                code="TRANSCRIPT_REFUSED",
                hint="record one with --record FILE",
            ) from None
        return cls(lines, f"replay:{title.get('model', '')}", strict=strict)

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """The recorded outcome of this request. Raises what was recorded, or REPLAY_…."""
        address = _digest(encode_request(request))
        waiting = [
            line for line in self.lines if not line.used and line.purpose == str(request.purpose)
        ]
        line = next((item for item in waiting if item.request_digest == address), None)
        if line is None:
            if self.strict and waiting:
                raise ModelFailed("the transcript has another request here", code="REPLAY_DRIFT")
            if not waiting:
                raise ModelFailed("the transcript has no line left", code="REPLAY_ENDED")
            line = waiting[0]
            self.drifts += 1
        line.used = True
        if isinstance(line.outcome, ModelFailed):
            raise line.outcome
        return line.outcome


def _line(text: str, number: int) -> _Line:
    try:
        raw = json.loads(text)
        failure = raw.get("failure")
        outcome: ModelAnswer | ModelFailed = (
            ModelFailed(
                "as recorded",
                code=str(failure["code"]),
                may_retry=bool(failure["may_retry"]),
                billed=bool(failure["billed"]),
            )
            if failure is not None
            else decode_answer(json.dumps(raw["answer"]).encode())
        )
        return _Line(str(raw["purpose"]), str(raw["request_digest"]), outcome)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"line {number}: {error}") from None


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
