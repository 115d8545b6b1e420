"""What a test of an agent, a tool or an adapter needs; part of the product, and public.

ScriptedModel, say, call_tools      a model that answers from a list
ScriptedInvestigator, scripted_tool an agent and tools that do what the test says
VirtualClock                        time that the test owns
FaultPlan                           what goes wrong in one run: models, tools, the store
FaultyStore, Fault, every_fault     a store that fails, or is killed, at a write that the test names
…_CHECKS                            what every adapter of a port must do
"""

from affidavit.testing.conformance import ConformanceFailed
from affidavit.testing.conformance_ceilings import CEILING_CHECKS
from affidavit.testing.conformance_clock import CLOCK_CHECKS
from affidavit.testing.conformance_engine import ENGINE_CHECKS
from affidavit.testing.conformance_store import STORE_CHECKS
from affidavit.testing.fault_plan import FaultPlan
from affidavit.testing.faulty_store import Effect, Fault, FaultyStore, Killed, Moment, every_fault
from affidavit.testing.scripted import ScriptedInvestigator, scripted_tool
from affidavit.testing.scripted_model import ScriptedModel, call_tools, say
from affidavit.testing.virtual_clock import VirtualClock

__all__ = [
    "CEILING_CHECKS",
    "CLOCK_CHECKS",
    "ENGINE_CHECKS",
    "STORE_CHECKS",
    "ConformanceFailed",
    "Effect",
    "Fault",
    "FaultPlan",
    "FaultyStore",
    "Killed",
    "Moment",
    "ScriptedInvestigator",
    "ScriptedModel",
    "VirtualClock",
    "call_tools",
    "every_fault",
    "say",
    "scripted_tool",
]
