"""Sentences that are read off the rows of a table, cell by cell, and the lies next to them."""

from __future__ import annotations

import pytest

from tests.support.saying import Said, misjudged, read_sayings


@pytest.mark.spec("M4", "M5")
@pytest.mark.parametrize("said", read_sayings("rows"), ids=lambda said: said.true[:60])
def test_what_rows_say_is_read_off_them(said: Said) -> None:
    """Every word picks rows, names a column or ties; a swapped number, name or state is refused."""
    assert misjudged(said) == []
