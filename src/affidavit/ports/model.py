"""What the outside must provide for a model: one request in, one answer out.

A request is a whole: system text, messages, tools on offer, schema of the answer, bound of the
answer. A model keeps nothing between two requests, executes nothing, and retries nothing (K7: the
one loop of attempts stands above this port). The same request has the same bytes
(`encode_request`), so that it has one digest in the journal, in a recording and in a mailbox.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType
from typing import Final, Literal, Protocol, Self, TypeVar

from pydantic import Field, ValidationError

from affidavit.contract.errors import ModelFailed
from affidavit.contract.record import Record

R = TypeVar("R", bound=Record)

ANSWER_BYTES_MAX: Final = 4_000_000
"""An answer beyond this is no answer; the longest report that anybody reads has a tenth of it."""


class Purpose(StrEnum):
    """What a model is asked for; each purpose has its own account (K3)."""

    DECIDE = "decide"
    ROUTE = "route"
    JUDGE = "judge"
    REPAIR = "repair"
    WITHDRAW = "withdraw"


RELEASE_PURPOSES: Final = frozenset({Purpose.JUDGE, Purpose.REPAIR, Purpose.WITHDRAW})
"""What the release reserve is for (K4); collecting evidence may not spend it."""

AUTHOR_PURPOSES: Final = frozenset({Purpose.DECIDE})
"""Who may be given a memory (H6): the author alone. A judge that remembers is no judge."""


class ModelToolCall(Record):
    """A tool call as a model wrote it. `arguments` is the model's own text, not yet read."""

    id: str
    name: str
    arguments: str


class Encoded(Record):
    """A request, or a part that stands in one request after another: its bytes are made once.

    A copy makes its own, for it may be changed on the way (`model_copy`).
    """

    @cached_property
    def encoded(self) -> bytes:
        """Its one byte string: JSON, keys sorted, ASCII."""
        return _encode(self)

    def __copy__(self) -> Self:
        """Without the bytes."""
        copied = super().__copy__()
        copied.__dict__.pop("encoded", None)
        return copied

    def __deepcopy__(self, memo: dict[int, object] | None = None) -> Self:
        """Without the bytes."""
        copied = super().__deepcopy__(memo)
        copied.__dict__.pop("encoded", None)
        return copied


class Message(Encoded):
    """One message. A `tool` message answers the call whose id is `call_id`."""

    role: Literal["user", "assistant", "tool"]
    text: str = ""
    calls: tuple[ModelToolCall, ...] = ()
    call_id: str | None = None


class ToolOffer(Encoded):
    """A tool that the model may call; `parameters` is a JSON Schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, object]


class OutputSchema(Encoded):
    """The shape that the answer's text must have. The receiver checks it all the same."""

    name: str
    body: Mapping[str, object]


class ModelRequest(Encoded):
    """One question to a model, whole. `system` is ours; whatever a tool said stands fenced."""

    purpose: Purpose
    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolOffer, ...] = ()
    output: OutputSchema | None = None
    max_output_tokens: int = Field(ge=1)

    @cached_property
    def encoded(self) -> bytes:
        """Its one byte string, put together from those of its parts."""
        return b'{"max_output_tokens":%d,"messages":[%b],"output":%b,%b,"tools":[%b]}' % (
            self.max_output_tokens,
            b",".join(message.encoded for message in self.messages),
            b"null" if self.output is None else self.output.encoded,
            _dumped({"purpose": str(self.purpose), "system": self.system})[1:-1],
            b",".join(offer.encoded for offer in self.tools),
        )


class TokenUsage(Record):
    """What the provider says that it counted."""

    input_tokens: int = Field(ge=0)
    output_tokens: int = Field(ge=0)


class Finish(StrEnum):
    """Why the answer ended. LENGTH is an answer cut short: never a whole one (Q4, R48)."""

    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    FILTERED = "filtered"


class ModelAnswer(Record):
    """One answer. `usage` is None where nobody counted; then it is estimated, and said so."""

    text: str = ""
    calls: tuple[ModelToolCall, ...] = ()
    finish: Finish = Finish.STOP
    model: str
    usage: TokenUsage | None = None


class Price(Record):
    """What a million tokens cost, in millionths of the currency (3 dollars are 3 000 000)."""

    input_micros: int = Field(ge=0)
    output_micros: int = Field(ge=0)

    def of(self, input_tokens: int, output_tokens: int) -> int:
        """The cost in millionths, rounded up: a call is never free because it was small."""
        exact = input_tokens * self.input_micros + output_tokens * self.output_micros
        return -(-exact // 1_000_000)


class Model(Protocol):
    """One model of one vendor.

    `window_tokens` bounds request and answer together. `price` is None where nobody knows it,
    which is not zero. `answer_timeout_s` bounds one answer.
    """

    @property
    def name(self) -> str:
        """The model's name, as a user configures it."""
        ...

    @property
    def vendor(self) -> str:
        """Who runs it; a breaker belongs to vendor and name together (H8)."""
        ...

    @property
    def window_tokens(self) -> int:
        """Tokens of request and answer together."""
        ...

    @property
    def price(self) -> Price | None:
        """Its price, or None: unknown."""
        ...

    @property
    def answer_timeout_s(self) -> float:
        """How long one answer may take."""
        ...

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """One answer to one request, asked once. Can be cancelled; then nothing goes on.

        Raises ModelFailed with a code of `FAILURES`; whether it may be asked again is in there.
        """
        ...


class Door(Protocol):
    """The one way to ask a model from inside a run: metered, timed, recorded."""

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        """The answer. Raises ModelFailed when there is none, RunStopped when the run may not."""
        ...


FAILURES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "MODEL_UNREACHABLE": "no connection, or no such command; nothing was sent",
        "MODEL_TIMEOUT": "no answer in time",
        "MODEL_RATE_LIMITED": "the provider asks us to wait",
        "MODEL_SERVER_ERROR": "the provider failed",
        "MODEL_CUT": "the answer broke off on its way",
        "MODEL_ANSWER_MALFORMED": "the answer cannot be read",
        "MODEL_UNAUTHORIZED": "the key is missing or wrong",
        "MODEL_UNKNOWN": "there is no such model or address",
        "MODEL_REQUEST_REFUSED": "the provider refuses the request as it is",
        "REQUEST_TOO_LARGE": "the request does not fit into the model's window; it was not sent",
        "PRICE_UNKNOWN": "money is limited and the model's price is not known; it was not sent",
        "NO_MODEL_LEFT": "every configured model was tried, or is not asked now",
    }
)
"""Every code that a failed model has, and what it says."""

RETRIED: Final = frozenset(
    {
        "MODEL_UNREACHABLE",
        "MODEL_TIMEOUT",
        "MODEL_RATE_LIMITED",
        "MODEL_SERVER_ERROR",
        "MODEL_CUT",
        "MODEL_ANSWER_MALFORMED",
    }
)
"""Failures after which the same request may be sent again (K7)."""

BILLED: Final = frozenset({"MODEL_TIMEOUT", "MODEL_CUT", "MODEL_ANSWER_MALFORMED"})
"""Failures for which a provider may charge; the whole reservation counts as spent (K3)."""


def model_failure(
    code: str, message: str = "", *, hint: str = "", after_s: float | None = None
) -> ModelFailed:
    """The failure with that code of `FAILURES`; by it, whether it may be retried, and who pays."""
    return ModelFailed(
        message or FAILURES[code],
        code=code,
        hint=hint,
        may_retry=code in RETRIED,
        billed=code in BILLED,
        after_s=after_s,
    )


def encode_request(request: ModelRequest) -> bytes:
    """The one byte string of a request: JSON, keys sorted, ASCII."""
    return request.encoded


def encode_answer(answer: ModelAnswer) -> bytes:
    """The one byte string of an answer."""
    return _encode(answer)


def decode_request(content: bytes) -> ModelRequest:
    """A request from its bytes. Raises ValueError for anything else."""
    return _decode(ModelRequest, content)


def decode_answer(content: bytes) -> ModelAnswer:
    """An answer from its bytes. Raises ValueError for anything else, or a larger one."""
    if len(content) > ANSWER_BYTES_MAX:
        raise ValueError(f"an answer has at most {ANSWER_BYTES_MAX} bytes")
    return _decode(ModelAnswer, content)


def _encode(record: Record) -> bytes:
    return _dumped(record.model_dump(mode="json"))


_ENCODER: Final = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
)
"""Made once: `json.dumps` with options makes one for every call."""


def _dumped(body: Mapping[str, object]) -> bytes:
    return _ENCODER.encode(body).encode("ascii")


def _decode(kind: type[R], content: bytes) -> R:
    try:
        return kind.model_validate_json(content)
    except ValidationError as error:
        places = sorted({".".join(str(part) for part in item["loc"]) for item in error.errors()})
        raise ValueError(f"not readable at: {', '.join(places) or 'the whole'}") from None
