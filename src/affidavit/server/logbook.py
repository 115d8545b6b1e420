"""What the service says on standard error: one JSON object a line, with run and request ids.

ASCII throughout: what a client made up stands there escaped, and no terminal obeys it. No body, no
key and no payload is ever logged.
"""

from __future__ import annotations

import json
import logging
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

LOGGER: Final = logging.getLogger("affidavit.server")

FIELDS: Final = ("request_id", "run_id", "tenant", "code", "again_in_s")
"""What a line may carry beside its message, in this order."""

MESSAGE_CHARS_MAX: Final = 2_000
"""Of one message: a traceback's last lines fit, a payload does not."""


class JsonLines(logging.Formatter):
    """A record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, without its line break."""
        line: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage()[:MESSAGE_CHARS_MAX],
        }
        line.update((name, getattr(record, name)) for name in FIELDS if hasattr(record, name))
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__  # its text may hold anything
        return json.dumps(line)


def place_of(error: BaseException) -> str:
    """Where in the code it broke, `file:line`: what a log may say of an exception."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "nowhere"


def open_log(level: str = "INFO") -> None:
    """From now on this process's lines look like that; the server's own among them."""
    spoken = logging.StreamHandler()
    spoken.setFormatter(JsonLines())
    for name in ("affidavit.server", "uvicorn", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [spoken]
        logger.propagate = False
        logger.setLevel(level)
