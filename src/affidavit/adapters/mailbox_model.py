"""A folder as a model: `mailbox:FOLDER` (`ports.model.Model`).

`request-N.json` appears in the folder; whoever answers (a person, another system, an air-gapped
desk) writes `answer-N.json` beside it. Both appear whole: written under another name first, then
renamed. A request that nobody waits for any more is renamed to `request-N.withdrawn.json`, so that
no one works for nothing. An answer that cannot be read is a failed attempt, and asked for anew.
"""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio

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

LOOK_S: Final = 0.2
"""How often the folder is looked at; a person does not notice, and a file system bears it."""

ANSWER_TIMEOUT_S: Final = 3_600.0
"""A person takes her time; the run's own deadline ends the waiting before that."""

WINDOW_TOKENS: Final = 200_000
"""Whoever answers has room; the limits of the run bound what is sent."""

NUMBER_MAX: Final = 1_000_000
"""A folder with more requests than this is no mailbox."""

_REQUEST: Final = re.compile(r"request-([0-9]{1,7})(?:\.withdrawn)?\.json")


@dataclass(frozen=True, slots=True)
class MailboxModel:
    """One folder, one question at a time or many."""

    folder: Path
    name: str = "mailbox"
    vendor: str = "mailbox"
    window_tokens: int = WINDOW_TOKENS
    price: Price | None = None
    answer_timeout_s: float = ANSWER_TIMEOUT_S
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep

    @classmethod
    def parse(cls, path: str) -> MailboxModel:
        """The mailbox in that folder. Raises InputRefused (MODEL_MAILBOX) where there is none."""
        folder = Path(path)
        if not path or not folder.is_dir():
            raise InputRefused(
                f"there is no folder {path!r} for a mailbox",
                code="MODEL_MAILBOX",
                hint="make the folder first; write --model mailbox:FOLDER",
            )
        return cls(folder)

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """The answer that somebody puts into the folder. Raises ModelFailed."""
        number = self._post(encode_request(request))
        answer = self.folder / f"answer-{number}.json"
        answered = False
        try:
            while not answer.exists():
                await self.sleep(LOOK_S)
            answered = True
        finally:
            if not answered:
                self._withdraw(number)
        return self._read(answer)

    def _post(self, content: bytes) -> int:
        """Put the request under the next free number; two who post at once get two numbers."""
        try:
            number = 1 + max(
                (int(found[1]) for path in self.folder.iterdir() if (found := _match(path))),
                default=0,
            )
            draft = self.folder / f".request-{os.getpid()}-{id(content)}.tmp"
            draft.write_bytes(content)
            try:
                while number <= NUMBER_MAX:
                    with suppress(FileExistsError):
                        os.link(draft, self.folder / f"request-{number}.json")
                        return number
                    number += 1
            finally:
                draft.unlink(missing_ok=True)
        except OSError as error:
            raise model_failure(
                "MODEL_UNREACHABLE", f"the mailbox cannot be used: {error.strerror}"
            ) from None
        raise model_failure("MODEL_UNREACHABLE", "the mailbox is full")

    def _withdraw(self, number: int) -> None:
        """Nobody waits for this answer any more."""
        request = self.folder / f"request-{number}.json"
        with suppress(OSError):
            request.rename(self.folder / f"request-{number}.withdrawn.json")

    def _read(self, answer: Path) -> ModelAnswer:
        try:
            with answer.open("rb") as file:
                content = file.read(ANSWER_BYTES_MAX + 1)
            return decode_answer(content)
        except (OSError, ValueError) as error:
            raise model_failure(
                "MODEL_ANSWER_MALFORMED", f"{answer.name} cannot be read: {error}"
            ) from None


def _match(path: Path) -> re.Match[str] | None:
    return _REQUEST.fullmatch(path.name)
