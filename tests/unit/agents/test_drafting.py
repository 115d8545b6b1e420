"""What the embedded agent quotes can be found word for word, and ends where its marks end."""

from __future__ import annotations

import pytest

from affidavit.agents.drafting import QUOTE_CHARS_MAX, quotable


@pytest.mark.spec("C4")
@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("payment timed out", "payment timed out"),
        ('failed: File "node.py", line 196', "failed: File"),
        ('"level": "error", "msg": "pool exhausted after 30 s"', "pool exhausted after 30 s"),
        ("read «pool» twice", "twice"),
        ("  spread   over\nlines ", "spread over lines"),
        ("", ""),
    ],
)
def test_a_quotation_holds_no_quotation_mark(text: str, quoted: str) -> None:
    assert quotable(text) == quoted
    assert quoted in " ".join(text.split())


def test_a_long_line_is_cut_between_words() -> None:
    text = "abcdefg " * 100
    quoted = quotable(text)
    assert len(quoted) <= QUOTE_CHARS_MAX
    assert set(quoted.split()) == {"abcdefg"}
