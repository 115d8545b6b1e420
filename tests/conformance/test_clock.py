"""Every clock through the same checks."""

from __future__ import annotations

import pytest

from affidavit.adapters.system_clock import SystemClock
from affidavit.testing.conformance_clock import CLOCK_CHECKS, ClockCheck
from affidavit.testing.virtual_clock import VirtualClock


@pytest.mark.spec("K3", "K5")
@pytest.mark.fault("R26")
@pytest.mark.parametrize("check", CLOCK_CHECKS, ids=lambda check: check.__name__)
async def test_system_clock_conforms(check: ClockCheck) -> None:
    """The machine's clock keeps what the port promises."""
    await check(SystemClock())


@pytest.mark.spec("K3", "K5")
@pytest.mark.parametrize("check", CLOCK_CHECKS, ids=lambda check: check.__name__)
async def test_virtual_clock_conforms(check: ClockCheck) -> None:
    """So does a virtual one that jumps."""
    clock = VirtualClock()
    async with clock.jumping():
        await check(clock)
