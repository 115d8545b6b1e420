"""The log: one line an entry, whatever somebody outside made up."""

from __future__ import annotations

import json
import logging

from hypothesis import given
from hypothesis import strategies as st

from affidavit.server.logbook import MESSAGE_CHARS_MAX, JsonLines


@given(st.text(max_size=4000), st.text(max_size=200))
def test_no_control_character_reaches_a_terminal(message: str, code: str) -> None:
    """Escapes, line breaks, bidirectional marks and halves of surrogates: printable ASCII, one
    line, bounded; and what was said can be read back."""
    record = logging.LogRecord("affidavit.server", logging.INFO, "", 0, message, None, None)
    record.code = code
    line = JsonLines().format(record)
    assert all(" " <= sign <= "~" for sign in line)
    told = json.loads(line)
    assert told["message"] == message[:MESSAGE_CHARS_MAX]
    assert told["code"] == code


def test_the_text_of_an_error_is_not_told() -> None:
    """It may hold a payload: only its class is named."""
    error = ValueError("canary")
    record = logging.LogRecord("x", logging.ERROR, "", 0, "broke", None, (ValueError, error, None))
    assert json.loads(JsonLines().format(record))["error"] == "ValueError"
    assert "canary" not in JsonLines().format(record)
