"""Because, after, why: a reason that a record gives itself, and its false neighbours."""

from __future__ import annotations

import pytest

from tests.support.saying import Said, misjudged, read_sayings


@pytest.mark.spec("M5", "M4")
@pytest.mark.parametrize("said", read_sayings("reasons"), ids=lambda said: said.true[:60])
def test_a_reason_is_what_the_record_gives(said: Said) -> None:
    """The same reason passes; another one, another thing, or the order turned does not."""
    assert misjudged(said) == []
