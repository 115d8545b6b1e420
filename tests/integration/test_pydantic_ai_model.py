"""An OpenAI-compatible server over a real socket: asked once, heard whole, believed never."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest
from anyio.abc import SocketStream

from affidavit.adapters.model_names import open_model
from affidavit.adapters.pydantic_ai_model import KEY_VARIABLE, URL_VARIABLE, WINDOW_VARIABLE
from affidavit.contract.errors import InputRefused, ModelFailed
from affidavit.core.breaker import BreakerRule, Circuits
from affidavit.ports.model import (
    Finish,
    Message,
    Model,
    ModelRequest,
    ModelToolCall,
    OutputSchema,
    Purpose,
    TokenUsage,
    ToolOffer,
)
from tests.support.desks import WIDE, ask_for, desk_of
from tests.support.runs import driven, request

pytest.importorskip("pydantic_ai")

pytestmark = [pytest.mark.anyio, pytest.mark.integration("pydantic-ai"), pytest.mark.slow]

KEY = "sk-canary-0123456789"


@dataclass
class Reply:
    """What the server says: a status, a body, and whether it breaks off half-way."""

    body: bytes
    status: int = 200
    cut: bool = False
    hang: bool = False


@dataclass
class Server:
    """A small HTTP/1.1 server; each connection is one request."""

    replies: list[Reply]
    asked: list[dict[str, Any]] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)

    async def serve(self, stream: SocketStream) -> None:
        async with stream:
            head, body = await read_request(stream)
            self.heads.append(head)
            self.asked.append(json.loads(body) if body else {})
            reply = self.replies[min(len(self.asked), len(self.replies)) - 1]
            if reply.hang:
                await anyio.sleep_forever()
            sent = reply.body[: len(reply.body) // 2] if reply.cut else reply.body
            lines = (
                f"HTTP/1.1 {reply.status} X\r\ncontent-type: application/json\r\n"
                f"content-length: {len(reply.body)}\r\nconnection: close\r\n\r\n"
            )
            await stream.send(lines.encode() + sent)


async def read_request(stream: SocketStream) -> tuple[str, bytes]:
    received = b""
    while b"\r\n\r\n" not in received:
        received += await stream.receive()
    head, body = received.split(b"\r\n\r\n", 1)
    text = head.decode("latin-1")
    sizes = [
        line.split(":")[1]
        for line in text.splitlines()
        if line.lower().startswith("content-length:")
    ]
    while sizes and len(body) < int(sizes[0]):
        body += await stream.receive()
    return text, body


@asynccontextmanager
async def serving(
    monkeypatch: pytest.MonkeyPatch, *replies: Reply, path: str = "/v1"
) -> AsyncIterator[tuple[Server, Model]]:
    server = Server(list(replies))
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(anyio.abc.SocketAttribute.local_port)
    monkeypatch.setenv(URL_VARIABLE, f"http://127.0.0.1:{port}{path}")
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, server.serve)
        yield server, open_model("compatible:small")
        tasks.cancel_scope.cancel()


def completion(finish: str | None = "stop", **message: Any) -> Reply:
    body = {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "small-1",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "message": {"role": "assistant", "content": None} | message,
            }
        ],
        "usage": {"prompt_tokens": 12, "completion_tokens": 5, "total_tokens": 17},
    }
    return Reply(json.dumps(body).encode())


def failed_with(status: int) -> Reply:
    return Reply(json.dumps({"error": {"message": f"canary {KEY}"}}).encode(), status)


@pytest.mark.spec("K7", "H6")
async def test_a_request_arrives_whole_and_its_answer_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = ModelRequest(
        purpose=Purpose.DECIDE,
        system="You investigate.",
        messages=(
            Message(role="user", text="why?"),
            Message(
                role="assistant",
                calls=(ModelToolCall(id="s1c1", name="logs", arguments='{"service": "a"}'),),
            ),
            Message(role="tool", text="<data>", call_id="s1c1"),
            Message(role="user", text="next?"),
        ),
        tools=(ToolOffer(name="logs", description="reads logs", parameters={"type": "object"}),),
        max_output_tokens=321,
    )
    call = {"id": "c9", "type": "function", "function": {"name": "logs", "arguments": '{"x": 1}'}}
    async with serving(monkeypatch, completion("tool_calls", tool_calls=[call])) as (server, model):
        answer = await model.complete(asked)
    (sent,) = server.asked
    assert [item["role"] for item in sent["messages"]] == [
        "system",
        "user",
        "assistant",
        "tool",
        "user",
    ]
    assert (
        sent["messages"][2]["tool_calls"][0]["id"] == sent["messages"][3]["tool_call_id"] == "s1c1"
    )
    assert 321 in (sent.get("max_tokens"), sent.get("max_completion_tokens"))
    assert sent["tools"][0]["function"]["name"] == "logs"
    assert not sent.get("stream")
    assert f"authorization: bearer {KEY}" in server.heads[0].lower()
    (found,) = answer.calls
    assert (found.id, found.name, json.loads(found.arguments)) == ("c9", "logs", {"x": 1})
    assert answer.finish is Finish.TOOL_CALLS
    assert answer.usage == TokenUsage(input_tokens=12, output_tokens=5)


@pytest.mark.spec("M2", "C4")
async def test_a_schema_travels_as_structured_output(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    base = ask_for(purpose=Purpose.JUDGE)
    asked = ModelRequest(**{**base.__dict__, "output": OutputSchema(name="sheet", body=schema)})
    async with serving(monkeypatch, completion(content='{"a": 1}')) as (server, model):
        assert (await model.complete(asked)).text == '{"a": 1}'
    sent = server.asked[0]["response_format"]
    assert (sent["type"], sent["json_schema"]["name"]) == ("json_schema", "sheet")


FAILURES = [
    (failed_with(500), "MODEL_SERVER_ERROR", True),
    (failed_with(503), "MODEL_SERVER_ERROR", True),
    (failed_with(429), "MODEL_RATE_LIMITED", True),
    (failed_with(401), "MODEL_UNAUTHORIZED", False),
    (failed_with(403), "MODEL_UNAUTHORIZED", False),
    (failed_with(404), "MODEL_UNKNOWN", False),
    (failed_with(400), "MODEL_REQUEST_REFUSED", False),
    (failed_with(422), "MODEL_REQUEST_REFUSED", False),
    (Reply(b"{}"), "MODEL_ANSWER_MALFORMED", True),
    (Reply(b"not json"), "MODEL_ANSWER_MALFORMED", True),
    (Reply(completion(content="whole").body, cut=True), "MODEL_CUT", True),
    (completion(None, content="cut"), "MODEL_CUT", True),
]


@pytest.mark.spec("K7", "H8", "N2")
@pytest.mark.fault("F38", "R75", "R23")
@pytest.mark.parametrize(
    ("reply", "code", "may_retry"), FAILURES, ids=lambda value: str(value)[:40]
)
async def test_each_failure_is_told_apart_and_asked_once_without_a_secret(
    monkeypatch: pytest.MonkeyPatch, reply: Reply, code: str, may_retry: bool
) -> None:
    async with serving(monkeypatch, reply) as (server, model):
        with pytest.raises(ModelFailed) as failed:
            await model.complete(ask_for())
    assert (failed.value.code, failed.value.may_retry) == (code, may_retry)
    assert "canary" not in str(failed.value) + failed.value.hint
    assert len(server.asked) == 1, "the SDK's own retries are off"


@pytest.mark.spec("Q4")
@pytest.mark.fault("R48")
async def test_an_answer_cut_at_its_maximum_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(monkeypatch, completion("length", content='{"a')) as (_, model):
        assert (await model.complete(ask_for())).finish is Finish.LENGTH


@pytest.mark.spec("K7", "H8")
@pytest.mark.fault("R75")
async def test_a_server_that_is_not_there_is_named_with_its_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with serving(monkeypatch, completion(content="x")) as (_, model):
        pass
    with pytest.raises(ModelFailed) as failed:
        await model.complete(ask_for())
    assert failed.value.code == "MODEL_UNREACHABLE"
    assert "127.0.0.1" in failed.value.message + failed.value.hint


@pytest.mark.spec("K5", "K7")
async def test_a_server_that_never_answers_is_left_by_the_desk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hanging = Reply(b"", hang=True)
    async with serving(monkeypatch, hanging) as (server, model):
        quick = type(model)(model.model, model.name, model.vendor, answer_timeout_s=0.3)  # type: ignore[call-arg,attr-defined]
        async with driven(asked=request(limits=WIDE)) as run:
            circuits = Circuits(run.clock, BreakerRule(failures_max=1))
            with anyio.fail_after(10), pytest.raises(ModelFailed):
                await desk_of(run, quick, circuits=circuits).ask(ask_for())
        assert len(server.asked) == 1


@pytest.mark.spec("K0")
def test_what_is_missing_is_said_before_anything_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in (URL_VARIABLE, "OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    for name, variable in (("compatible:x", URL_VARIABLE), ("openai:x", "OPENAI_API_KEY")):
        with pytest.raises(InputRefused) as refused:
            open_model(name)
        assert refused.value.code == "MODEL_KEY"
        assert variable in refused.value.message
    monkeypatch.setenv(URL_VARIABLE, "http://127.0.0.1:9/v1")
    monkeypatch.setenv(WINDOW_VARIABLE, "many")
    with pytest.raises(InputRefused):
        open_model("compatible:x")
