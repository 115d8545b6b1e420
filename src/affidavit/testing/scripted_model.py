"""A model that says what a test tells it to, through the real desk.

model = ScriptedModel([call_tools(("metric_scan", {})), say("I am done"), ModelFailed(...)])
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from affidavit.contract.errors import ModelFailed
from affidavit.ports.model import (
    Finish,
    ModelAnswer,
    ModelRequest,
    ModelToolCall,
    Price,
    TokenUsage,
)

Line = (
    ModelAnswer
    | ModelFailed
    | Callable[[ModelRequest], ModelAnswer]
    | Callable[[ModelRequest], Awaitable[ModelAnswer]]
)

USAGE: Final = TokenUsage(input_tokens=100, output_tokens=50)
"""What a scripted call costs unless it says otherwise."""


@dataclass(slots=True)
class ScriptedModel:
    """Answers from a list, then repeats the last line (`ports.model.Model`)."""

    script: Iterable[Line]
    name: str = "scripted"
    vendor: str = "test"
    window_tokens: int = 200_000
    price: Price | None = None
    answer_timeout_s: float = 60.0
    asked: list[ModelRequest] = field(default_factory=list)

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """The next line of the script."""
        self.asked.append(request)
        lines = list(self.script)
        line = lines[min(len(self.asked), len(lines)) - 1]
        if isinstance(line, ModelFailed):
            raise line
        if isinstance(line, ModelAnswer):
            return line
        made = line(request)
        return made if isinstance(made, ModelAnswer) else await made


def say(
    text: str | Mapping[str, object],
    *,
    finish: Finish = Finish.STOP,
    usage: TokenUsage | None = USAGE,
) -> ModelAnswer:
    """An answer in words, or an object as JSON."""
    words = text if isinstance(text, str) else json.dumps(text)
    return ModelAnswer(text=words, finish=finish, model="scripted", usage=usage)


def call_tools(
    *calls: tuple[str, Mapping[str, object]], text: str = "", usage: TokenUsage | None = USAGE
) -> ModelAnswer:
    """An answer that calls these tools side by side."""
    return ModelAnswer(
        text=text,
        calls=tuple(
            ModelToolCall(id=f"t{place}", name=name, arguments=json.dumps(arguments))
            for place, (name, arguments) in enumerate(calls, start=1)
        ),
        finish=Finish.TOOL_CALLS,
        model="scripted",
        usage=usage,
    )
