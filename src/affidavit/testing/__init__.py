"""What a test of an agent, a tool or an adapter needs; part of the product, and public.

VirtualClock                   time that the test owns
FaultyStore, Fault             a store that fails, or is killed, at a write that the test names
STORE_CHECKS, CLOCK_CHECKS     what every adapter of a port must do
"""

from affidavit.testing.conformance import ConformanceFailed
from affidavit.testing.conformance_clock import CLOCK_CHECKS
from affidavit.testing.conformance_store import STORE_CHECKS
from affidavit.testing.faulty_store import Effect, Fault, FaultyStore, Killed, Moment, every_fault
from affidavit.testing.virtual_clock import VirtualClock

__all__ = [
    "CLOCK_CHECKS",
    "STORE_CHECKS",
    "ConformanceFailed",
    "Effect",
    "Fault",
    "FaultyStore",
    "Killed",
    "Moment",
    "VirtualClock",
    "every_fault",
]
