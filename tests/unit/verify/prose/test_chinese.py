"""Chinese sentences about English evidence: honest ones pass, each lie beside one is refused."""

from __future__ import annotations

import pytest

from tests.support.saying import Said, misjudged, read_sayings


@pytest.mark.spec("M4", "C4")
@pytest.mark.parametrize("said", read_sayings("chinese"), ids=range(len(read_sayings("chinese"))))
def test_a_chinese_sentence_is_judged_as_an_english_one(said: Said) -> None:
    """Dates, measures, lists, comparisons, negations and causes, in domains of their own."""
    assert misjudged(said) == []
