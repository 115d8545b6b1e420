"""What is not so is proved by a zero, a gap, a bound or an empty search; its neighbours are not."""

from __future__ import annotations

import pytest

from tests.support.saying import Said, misjudged, read_sayings


@pytest.mark.spec("M4", "G9")
@pytest.mark.parametrize("said", read_sayings("denials"), ids=lambda said: said.true[:60])
def test_a_denial_holds_where_a_record_shows_it(said: Said) -> None:
    """Zero, missing key, bound, nothing received, nothing found: true of one, false of the next."""
    assert misjudged(said) == []
