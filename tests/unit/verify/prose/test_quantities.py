"""both, all, each, only, the others: proved by counting rows, or by what was named before."""

from __future__ import annotations

import pytest

from tests.support.saying import Said, misjudged, read_sayings


@pytest.mark.spec("M4")
@pytest.mark.parametrize("said", read_sayings("quantities"), ids=lambda said: said.true[:60])
def test_how_many_is_counted(said: Said) -> None:
    """A quantifier is true of the rows that it ranges over; its neighbours are refused."""
    assert misjudged(said) == []
