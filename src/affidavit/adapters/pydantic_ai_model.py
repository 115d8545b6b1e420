"""Models of vendors, through pydantic-ai's model layer (`ports.model.Model`).

The one module that knows pydantic-ai, and it loads it only when a vendor's model is opened (extra
`models`). Used of it: the translation of messages, tools and schemas to a vendor's wire form and
back. Not used: its agent, its retries, its streams. The SDK's own retries are off (K7). Answers are
not streamed: a stream that is cut arrives as a whole one there, while a body that is cut is an
error of the transport. An answer without a finish reason is taken for cut.

Addresses and keys come from the environment: `AFFIDAVIT_MODEL_URL` and `AFFIDAVIT_MODEL_KEY` for
`compatible:NAME` (any OpenAI-compatible server: vLLM, llama.cpp, Ollama), the vendor's own
variables for the others. No key is ever part of a message.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from affidavit.contract.errors import InputRefused, ModelFailed
from affidavit.ports.model import (
    Finish,
    ModelAnswer,
    ModelRequest,
    ModelToolCall,
    Price,
    TokenUsage,
    model_failure,
)

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelRequestPart, ModelResponse
    from pydantic_ai.models import Model as VendorModel
    from pydantic_ai.models import ModelRequestParameters

VENDORS: Final = ("compatible", "openai", "anthropic", "ollama")
"""Vendors that can be named before the colon."""

WINDOW_TOKENS: Final = 128_000
"""What today's hosted models have at least; a smaller server is named with its own window."""

COMPATIBLE_WINDOW_TOKENS: Final = 8_192
"""What a small model on a server of one's own is started with."""

ANSWER_TIMEOUT_S: Final = 60.0
"""A whole report takes half of it; the run's deadline may end it before."""

URL_VARIABLE: Final = "AFFIDAVIT_MODEL_URL"
KEY_VARIABLE: Final = "AFFIDAVIT_MODEL_KEY"
WINDOW_VARIABLE: Final = "AFFIDAVIT_MODEL_WINDOW"

NO_KEY: Final = "none"
"""A server of one's own wants a key in the header and looks at none."""

_BY_STATUS: Final = MappingProxyType(
    {
        400: "MODEL_REQUEST_REFUSED",
        401: "MODEL_UNAUTHORIZED",
        403: "MODEL_UNAUTHORIZED",
        404: "MODEL_UNKNOWN",
        408: "MODEL_TIMEOUT",
        413: "REQUEST_TOO_LARGE",
        429: "MODEL_RATE_LIMITED",
    }
)
_SERVER_ERROR_FROM: Final = 500

_FINISH: Final = MappingProxyType(
    {
        "stop": Finish.STOP,
        "tool_call": Finish.TOOL_CALLS,
        "length": Finish.LENGTH,
        "content_filter": Finish.FILTERED,
    }
)


@dataclass(frozen=True, slots=True)
class VendorPort:
    """One model of one vendor."""

    model: VendorModel
    name: str
    vendor: str
    window_tokens: int = WINDOW_TOKENS
    price: Price | None = None
    answer_timeout_s: float = ANSWER_TIMEOUT_S
    address: str = ""

    @property
    def _place(self) -> str:
        """What an error names: model and address, without user or key (R75)."""
        return f"{self.name} at {self.address}" if self.address else self.name

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """One request, one answer, no stream. Raises ModelFailed."""
        from pydantic_ai import exceptions
        from pydantic_ai.direct import model_request

        try:
            response = await model_request(
                self.model,
                list(_messages(request)),
                model_settings={"max_tokens": request.max_output_tokens, "temperature": 0.0},
                model_request_parameters=_parameters(request),
            )
        except exceptions.ModelHTTPError as error:
            raise _http_failure(self._place, error.status_code) from None
        except exceptions.ModelAPIError as error:
            raise model_failure(_broken(error), f"{self._place}: no whole answer came") from None
        except (exceptions.UnexpectedModelBehavior, ValueError):
            raise model_failure(
                "MODEL_ANSWER_MALFORMED", f"{self._place}: what came is no answer"
            ) from None
        return _answer(self.name, response)


def open_vendor_model(vendor: str, name: str) -> VendorPort:
    """The model of that vendor. Asks nobody.

    Raises InputRefused: MODEL_EXTRA where the package is missing, MODEL_KEY where a key or an
    address is.
    """
    try:
        from pydantic_ai.exceptions import UserError
    except ImportError:
        raise InputRefused(
            f"models of {vendor} need the extra `models`",
            code="MODEL_EXTRA",
            hint="pip install 'affidavit[models]'",
        ) from None
    try:
        return _open(vendor, name)
    except (UserError, ImportError) as error:
        raise InputRefused(
            f"{vendor}:{name} cannot be used: {str(error).splitlines()[0]}",
            code="MODEL_KEY",
            hint="set the vendor's key in the environment; see docs/models.md",
        ) from None


def _open(vendor: str, name: str) -> VendorPort:
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    if vendor == "anthropic":
        from anthropic import AsyncAnthropic
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        key = os.environ.get("ANTHROPIC_API_KEY", "")
        if not key:
            raise _missing("ANTHROPIC_API_KEY")
        client = AsyncAnthropic(api_key=key, max_retries=0, timeout=ANSWER_TIMEOUT_S)
        provider = AnthropicProvider(anthropic_client=client)
        return VendorPort(AnthropicModel(name, provider=provider), name, vendor)
    base_url, key, window = _address(vendor)
    chat = AsyncOpenAI(base_url=base_url, api_key=key, max_retries=0, timeout=ANSWER_TIMEOUT_S)
    model = OpenAIChatModel(name, provider=OpenAIProvider(openai_client=chat))
    return VendorPort(model, name, vendor, window, address=_shown(str(chat.base_url)))


def _address(vendor: str) -> tuple[str | None, str, int]:
    """Base URL, key and window of an OpenAI-compatible vendor."""
    match vendor:
        case "openai":
            key = os.environ.get("OPENAI_API_KEY", "")
            if not key:
                raise _missing("OPENAI_API_KEY")
            return None, key, WINDOW_TOKENS
        case "ollama":
            host = os.environ.get("OLLAMA_HOST", "http://127.0.0.1:11434").rstrip("/")
            return f"{host}/v1", NO_KEY, _window()
        case _:
            url = os.environ.get(URL_VARIABLE, "")
            if not url:
                raise _missing(URL_VARIABLE)
            return url, os.environ.get(KEY_VARIABLE) or NO_KEY, _window()


def _shown(url: str) -> str:
    """An address as an error may show it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname or ''}:{parts.port or ''}{parts.path}".rstrip(":/")


def _window() -> int:
    text = os.environ.get(WINDOW_VARIABLE, "")
    if not text:
        return COMPATIBLE_WINDOW_TOKENS
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise InputRefused(
            f"{WINDOW_VARIABLE} is no number of tokens", code="MODEL_KEY", hint="write 8192"
        )
    return int(text)


def _missing(variable: str) -> InputRefused:
    return InputRefused(
        f"{variable} is not set", code="MODEL_KEY", hint=f"export {variable}; see docs/models.md"
    )


def _messages(request: ModelRequest) -> Iterator[ModelMessage]:
    """Our messages in pydantic-ai's form: requests and responses, tool answers as parts."""
    from pydantic_ai import messages as wire

    names = {call.id: call.name for item in request.messages for call in item.calls}
    parts: list[ModelRequestPart] = [wire.SystemPromptPart(content=request.system)]
    for message in request.messages:
        if message.role == "assistant":
            if parts:
                yield wire.ModelRequest(parts=parts)
                parts = []
            calls = [
                wire.ToolCallPart(call.name, call.arguments, tool_call_id=call.id)
                for call in message.calls
            ]
            text = [wire.TextPart(message.text)] if message.text else []
            yield wire.ModelResponse(parts=[*text, *calls])
        elif message.role == "tool":
            key = message.call_id or ""
            parts.append(wire.ToolReturnPart(names.get(key, "tool"), message.text, key))
        else:
            parts.append(wire.UserPromptPart(content=message.text))
    if parts:
        yield wire.ModelRequest(parts=parts)


def _parameters(request: ModelRequest) -> ModelRequestParameters:
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition
    from pydantic_ai.tools import ToolDefinition

    tools = [
        ToolDefinition(
            name=tool.name,
            description=tool.description,
            parameters_json_schema=dict(tool.parameters),
        )
        for tool in request.tools
    ]
    if request.output is None:
        return ModelRequestParameters(function_tools=tools)
    output = OutputObjectDefinition(
        json_schema=dict(request.output.body), name=request.output.name, strict=False
    )
    return ModelRequestParameters(function_tools=tools, output_mode="native", output_object=output)


def _answer(name: str, response: ModelResponse) -> ModelAnswer:
    """The answer in our form. Raises ModelFailed (MODEL_CUT) where nobody says why it ended."""
    # pydantic-ai says "stop" for an answer that gives no reason at all; the provider's own word is
    # in the details.
    said = (response.provider_details or {}).get("finish_reason")
    finish = _FINISH.get(response.finish_reason or "") if said else None
    if finish is None:
        raise model_failure("MODEL_CUT", f"{name} does not say why its answer ended")
    calls = tuple(
        ModelToolCall(id=call.tool_call_id, name=call.tool_name, arguments=call.args_as_json_str())
        for call in response.tool_calls
    )
    usage = response.usage
    counted = bool(usage.input_tokens or usage.output_tokens)
    return ModelAnswer(
        text=response.text or "",
        calls=calls,
        finish=finish,
        model=response.model_name or name,
        usage=TokenUsage(input_tokens=usage.input_tokens, output_tokens=usage.output_tokens)
        if counted
        else None,
    )


_BROKEN: Final = MappingProxyType(
    {
        "APITimeoutError": "MODEL_TIMEOUT",
        "JSONDecodeError": "MODEL_ANSWER_MALFORMED",
        "RemoteProtocolError": "MODEL_CUT",
        "ReadError": "MODEL_CUT",
        "ReadTimeout": "MODEL_TIMEOUT",
    }
)
"""What a failed exchange was, by the names of the errors that it was raised from."""


def _broken(error: BaseException) -> str:
    """Cut, late, or never begun? An exchange that nothing says more about was not begun."""
    cause: BaseException | None = error
    while cause is not None:
        code = _BROKEN.get(type(cause).__name__)
        if code is not None:
            return code
        cause = cause.__cause__ or cause.__context__
    return "MODEL_UNREACHABLE"


def _http_failure(name: str, status: int) -> ModelFailed:
    """By status: whose fault it is, and whether to ask again (H8, K7). No body: it may hold all."""
    code = _BY_STATUS.get(status)
    if code is None:
        code = "MODEL_SERVER_ERROR" if status >= _SERVER_ERROR_FROM else "MODEL_REQUEST_REFUSED"
    hint = "does the address end in /v1?" if code == "MODEL_UNKNOWN" else ""
    return model_failure(code, f"{name} answered with status {status}", hint=hint)
