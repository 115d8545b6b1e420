"""Answers that come later: `deferred:FOLDER` (`ports.model.Model`).

Nobody is waited for. A request is written down as `request-ID.json`, where ID names its bytes; if
`answer-ID.json` (a whole answer) or `answer-ID.txt` (its text alone) lies beside it, that is the
answer, and else there is none. So a batch of questions can be put once, answered by whoever can, in
any order and at any time, and then be used by asking the same again.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from affidavit.contract.errors import InputRefused
from affidavit.ports.model import (
    ANSWER_BYTES_MAX,
    ModelAnswer,
    ModelRequest,
    Price,
    decode_answer,
    encode_request,
    model_failure,
)

WINDOW_TOKENS: Final = 200_000
"""Whoever answers has room; the limits of the run bound what is sent."""

ID_CHARS: Final = 16
"""Of the request's digest: enough for every request that one folder will ever hold."""


@dataclass(frozen=True, slots=True)
class DeferredModel:
    """One folder of questions and answers."""

    folder: Path
    vendor: str = "deferred"
    window_tokens: int = WINDOW_TOKENS
    price: Price | None = None
    answer_timeout_s: float = 60.0

    @classmethod
    def parse(cls, path: str) -> DeferredModel:
        """The questions in that folder. Raises InputRefused (MODEL_DEFERRED) where there is none.

        The folder's name is the model's: it says whose answers these are.
        """
        folder = Path(path)
        if not path or not folder.is_dir():
            raise InputRefused(
                f"there is no folder {path!r} for questions and answers",
                code="MODEL_DEFERRED",
                hint="make the folder first; write deferred:FOLDER",
            )
        return cls(folder)

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.folder.resolve().name

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """The answer that lies there. Raises ModelFailed: MODEL_UNREACHABLE where none does."""
        content = encode_request(request)
        name = hashlib.sha256(content).hexdigest()[:ID_CHARS]
        self._put(name, content)
        whole = self._read(f"answer-{name}.json")
        if whole is not None:
            try:
                return decode_answer(whole)
            except ValueError as error:
                raise model_failure(
                    "MODEL_ANSWER_MALFORMED", f"answer-{name}.json cannot be read: {error}"
                ) from None
        text = self._read(f"answer-{name}.txt")
        if text is None:
            raise model_failure("MODEL_UNREACHABLE", f"request-{name}.json is not answered yet")
        return ModelAnswer(text=text.decode("utf-8", "replace").strip(), model=self.name)

    def _put(self, name: str, content: bytes) -> None:
        """The request, whole or not at all; one that lies there already is the same."""
        target = self.folder / f"request-{name}.json"
        if target.exists():
            return
        draft = self.folder / f".request-{name}-{os.getpid()}.tmp"
        try:
            draft.write_bytes(content)
            draft.rename(target)
        except OSError as error:
            raise model_failure(
                "MODEL_UNREACHABLE", f"the folder cannot be used: {error.strerror}"
            ) from None

    def _read(self, name: str) -> bytes | None:
        try:
            with (self.folder / name).open("rb") as file:
                return file.read(ANSWER_BYTES_MAX + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise model_failure(
                "MODEL_ANSWER_MALFORMED", f"{name} cannot be read: {error.strerror}"
            ) from None
