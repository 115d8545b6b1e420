"""A strong judge at the gate, by its recorded answers (tests/data/judge_recordings)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).parents[2]
DATA: Final = ROOT / "tests" / "data"
AFFIDAVIT: Final = str(Path(sys.executable).with_name("affidavit"))
FILES: Final = [str(DATA / "gate_own" / f"{name}.jsonl") for name in ("first", "ten_sentences")]

FALSE_MIN: Final = 30
"""False reports that the recording answers for, at least; with fewer it says too little, and is to
be recorded anew (tests/data/judge_recordings/README.md)."""

pytestmark = pytest.mark.slow


@pytest.mark.spec("M1", "M3", "M4")
def test_with_a_strong_judge_nothing_false_is_published_and_the_three_stand_side_by_side(
    tmp_path: Path,
) -> None:
    recording = DATA / "judge_recordings" / "own.jsonl"
    done = subprocess.run(
        [AFFIDAVIT, "eval", "gate", *FILES, "--judge", f"replay:{recording}", "--json"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        timeout=600,
    )
    assert done.stdout, done.stderr
    scores: dict[str, Any] = json.loads(done.stdout)
    assert set(scores) == {"checker", "judge", "both"}
    for who in ("judge", "both"):
        false = scores[who]["false_supported"]
        assert false["of"] >= FALSE_MIN, "record anew: see tests/data/judge_recordings/README.md"
        assert false["hits"] == 0, who
    assert scores["both"]["false_after_withdrawal"]["hits"] == 0
    judge, checker = scores["judge"]["recall"], scores["checker"]["recall"]
    assert judge["hits"] * checker["of"] > checker["hits"] * judge["of"]
