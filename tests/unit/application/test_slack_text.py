"""Slack messages: nothing in them can call, link or hide, and none is too long."""

from __future__ import annotations

import pytest

from affidavit.application.slack_text import (
    MESSAGE_CHARS_MAX,
    MESSAGES_MAX,
    escape,
    observation_messages,
    split,
)


@pytest.mark.parametrize(
    "text",
    [
        "<!channel>",
        "<!here|x>",
        "<!subteam^S123>",
        "<@U123>",
        "<http://evil.example|https://grafana.example>",
        "@channel look",
        "a\u202eb\x1b[31m\x00c",
    ],
)
def test_nothing_in_a_fact_calls_or_links_or_hides(text: str) -> None:
    shown = escape(text)
    assert "<" not in shown
    assert ">" not in shown
    assert "@channel" not in shown
    assert not set(shown) & set("\u202e\x1b\x00")


def test_escaping_keeps_the_words() -> None:
    assert escape("a < b & c > d\n中文") == "a &lt; b &amp; c &gt; d\n中文"


def test_an_observation_says_that_it_is_none_of_a_result() -> None:
    (message,) = observation_messages("Why <x>?", "run_1", ["orders: up down from 1 to 0"])
    assert message.startswith("*Why &lt;x&gt;?*")
    assert "• orders: up down from 1 to 0" in message
    assert "no result" in message


@pytest.mark.parametrize("count", [0, 1, 50, 5000])
def test_messages_are_bounded_in_length_and_number(count: int) -> None:
    messages = split([f"line {i} " + "x" * 200 for i in range(count)])
    assert len(messages) <= MESSAGES_MAX
    assert all(0 < len(message) <= MESSAGE_CHARS_MAX for message in messages)
    if count == 5000:
        assert "further lines" in messages[-1]
    else:
        assert "\n".join(messages).count("line ") == count


def test_a_single_endless_line_is_cut() -> None:
    (message,) = split(["x" * 100_000])
    assert len(message) == MESSAGE_CHARS_MAX
    assert message.endswith("…")
