"""Numbers told to a scale, by the second, as often as, and up to where: each as it stands."""

from __future__ import annotations

import pytest

from tests.support.saying import Said, misjudged, read_sayings


@pytest.mark.spec("M4")
@pytest.mark.parametrize("said", read_sayings("scales"), ids=lambda said: said.true[:60])
def test_scaled_numbers_are_bound_or_refused(said: Said) -> None:
    """4.2 million to its last digit, a rate of seconds, a limit passed so often, an offset."""
    assert misjudged(said) == []
