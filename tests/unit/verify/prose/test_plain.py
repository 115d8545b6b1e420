"""Plain words for searches, halves and projects: found where they are so, refused beside it."""

from __future__ import annotations

import pytest

from tests.support.saying import Said, misjudged, read_sayings


@pytest.mark.spec("M4")
@pytest.mark.parametrize("said", read_sayings("plain"), ids=lambda said: said.true[:60])
def test_plain_words_are_bound_or_refused(said: Said) -> None:
    """A search's window and words, a length with a half, a Chinese noun: each as it stands."""
    assert misjudged(said) == []
