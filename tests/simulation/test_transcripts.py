"""Recorded and malformed model answers through the whole harness (tests/data/transcripts)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from affidavit.contract.journal import EventType
from affidavit.wiring import recheck_file
from tests.acceptance.conftest import Shell

pytestmark = pytest.mark.slow

ROOT: Final = Path(__file__).parents[2]
TRANSCRIPTS: Final = ROOT / "tests" / "data" / "transcripts"
STRONG: Final = tuple(sorted(path.stem for path in (TRANSCRIPTS / "strong").glob("*.jsonl")))
WEAK: Final = tuple(sorted(path.stem for path in (TRANSCRIPTS / "weak").glob("*.jsonl")))
OUTCOMES: Final[dict[str, Any]] = json.loads(
    (TRANSCRIPTS / "strong" / "outcomes.json").read_text(encoding="utf-8")
)
INTACT: Final = 3
"""What `affidavit verify` says of an intact file whose signer nobody told it to trust."""

ANEW: Final = (
    "a prompt, a tool or the prover changed what a recorded answer comes to: see what it was; if "
    "it is meant, tests/data/transcripts/strong/README.md says how to record anew"
)


def replay(folder: Path, transcript: Path, incident: str) -> dict[str, Any]:
    """The answer to an example by these lines; its sealed file verifies."""
    shell, file = Shell(folder), folder / "run.affidavit"
    named = ("--model", f"replay:{transcript}", "--limits", "research", "--out", file, "--json")
    done = shell.run("diagnose", ROOT / "examples" / incident, *named)
    assert shell.run("verify", file).code == INTACT
    answer: dict[str, Any] = done.json
    return answer


def last_check(folder: Path) -> dict[str, Any]:
    """What the last support check of the sealed file said."""
    document = recheck_file((folder / "run.affidavit").read_bytes()).document
    assert document is not None
    return dict([e.data for e in document.journal if e.type is EventType.SUPPORT_CHECK][-1])


def test_there_are_ten_recorded_incidents_with_an_outcome() -> None:
    assert len(STRONG) == 10
    assert set(OUTCOMES) == set(STRONG)
    assert {item["outcome"] for item in OUTCOMES.values()} == {"SUCCESS", "FALLBACK"}


@pytest.mark.spec("T2", "D1", "D2b", "D4")
@pytest.mark.parametrize("name", STRONG)
def test_a_strong_models_answers_come_to_what_they_came_to(tmp_path: Path, name: str) -> None:
    answer = replay(tmp_path, TRANSCRIPTS / "strong" / f"{name}.jsonl", name)
    assert answer["decision"] != "D15"
    came = {"decision": answer["decision"], "outcome": answer["outcome"]}
    assert came == OUTCOMES[name], ANEW
    if answer["outcome"] == "SUCCESS":
        assert last_check(tmp_path) == {"codes": [], "refusals": 0, "result": "PASSED"}
    else:
        assert answer["result"] is None


@pytest.mark.spec("T2")
@pytest.mark.parametrize("name", WEAK)
def test_malformed_answers_publish_nothing(tmp_path: Path, name: str) -> None:
    answer = replay(tmp_path, TRANSCRIPTS / "weak" / f"{name}.jsonl", "slow-storefront")
    assert answer["outcome"] in {"FALLBACK", "FAILED"}
    assert answer["decision"] != "D15"
    assert answer["result"] is None
    fallback = answer["fallback"]
    assert fallback is None or fallback["conclusion"] is None
