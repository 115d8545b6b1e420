"""The embedded agent over the recorded incidents: what it concludes is carried by what it cites."""

from __future__ import annotations

from pathlib import Path

import pytest

from affidavit.adapters.memory_store import MemoryStore
from affidavit.contract.decisions import DecisionId
from affidavit.diagnose import Paused, drive, start
from affidavit.evaluation.incidents import read_truth
from affidavit.wiring import incident_world, request_of

EXAMPLES = Path(__file__).parents[2] / "examples"
FOLDERS = sorted(path.parent for path in EXAMPLES.glob("*/incident.yaml"))

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@pytest.mark.spec("M4", "M5", "D1")
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
async def test_no_draft_of_the_embedded_agent_is_refused_for_its_words(folder: Path) -> None:
    """It writes typed sentences from recorded facts alone, so that a refusal (D3, D4) is a fault of
    the agent or of the check; and where nothing was broken it concludes nothing."""
    store = MemoryStore()
    async with incident_world(folder, store) as (world, incident):
        request = request_of(incident, folder)
        await start(world, request)
        release = await drive(request.run_id, world)
    assert not isinstance(release, Paused)
    assert release.decision not in {DecisionId.D3, DecisionId.D4}
    if not read_truth(folder).faulty:
        assert release.decision not in {DecisionId.D1, DecisionId.D2, DecisionId.D2B}
