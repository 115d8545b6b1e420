"""Recorded answers of a strong model, with the harness and without it.

    python bench/transcripts.py [--write]

Replays tests/data/transcripts/strong over examples/ and prints, an incident a line: the outcome,
the steps and tokens (estimates: nobody counted), the sentences that claim something in the draft as
the model wrote it, how many of them the support check refuses (the harness kept them back; without
it they would have been published), where the draft's conclusion points, where the published one
points, and the refusals by code. Refused is not false: an honest sentence that the prover cannot
read counts too. Places are compared with `truth.yaml`, here alone. `--write` writes outcomes.json.
"""

# ruff: noqa: INP001 -- a script

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from affidavit.cli import main
from affidavit.contract.errors import InputRefused
from affidavit.evaluation.incidents import Truth, read_truth
from affidavit.evaluation.scorer import CLAIMS, score_file
from affidavit.release import examine
from affidavit.verify.support import SupportReport, check_support

ROOT = Path(__file__).parents[1]
STRONG = ROOT / "tests" / "data" / "transcripts" / "strong"
LINE = "{:19} {:4} {:8} {:>5} {:>7} {:>6} {:>7}  {:8} {:9} {}"


@dataclass(frozen=True)
class Replayed:
    """One incident: the public answer, its file, and the first support check."""

    answer: dict[str, Any]
    file: bytes
    draft: SupportReport


def replay(name: str, folder: Path) -> Replayed:
    """The command itself, in this process; the draft as written is what it checks first."""
    seen: list[SupportReport] = []

    def check(*given: Any) -> SupportReport:
        seen.append(check_support(*given))
        return seen[-1]

    examine.check_support = check
    file, out = folder / f"{name}.affidavit", io.StringIO()
    sys.argv = ["affidavit", "diagnose", str(ROOT / "examples" / name), "--json", "--store"]
    sys.argv += ["memory:", "--limits", "research", "--out", str(file), "--model"]
    sys.argv += [f"replay:{STRONG / name}.jsonl"]
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(io.StringIO()),
        contextlib.suppress(SystemExit),
    ):
        main()
    return Replayed(json.loads(out.getvalue()), file.read_bytes(), seen[0])


def point(name: str, truth: Truth) -> str:
    """Whether the draft's own conclusion names one place, and the right one."""
    lines = (STRONG / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line)["answer"]["text"] for line in lines[1:]]
    draft = next(json.loads(text) for text in texts if '"analyses"' in text)
    sentences = (draft["conclusion"] or {}).get("sentences", ())
    named = {item["subject"] for sentence in sentences for item in sentence["statements"]}
    if len(named) != 1:
        return "several" if named else "none"
    return "right" if truth.holds(*named) else "wrong"


def row(name: str, run: Replayed) -> str:
    """The line of one incident."""
    truth = read_truth(ROOT / "examples" / name)
    score = score_file(run.file, (), truth)
    refused = {item.sentence for item in run.draft.refusals}
    claims = [proof for proof in run.draft.proofs if proof.pointer.startswith(CLAIMS)]
    codes = Counter(str(item.code) for item in run.draft.refusals)
    where = "-" if not score.published else "right" if score.right else "none"
    if score.published and score.located.named and not score.right:
        where = "wrong" if len(score.located.named) == 1 else "several"
    usage = run.answer["usage"]
    return LINE.format(
        name,
        run.answer["decision"],
        run.answer["outcome"],
        usage["iterations"],
        usage["tokens"],
        len(claims),
        sum(proof.number in refused for proof in claims),
        point(name, truth),
        where,
        " ".join(f"{code}:{count}" for code, count in sorted(codes.items())),
    )


def show() -> None:
    """The table; with --write the outcomes too."""
    write, outcomes = "--write" in sys.argv[1:], {}
    head = ("incident", "row", "outcome", "steps", "tokens", "claims", "refused")
    sys.stdout.write(LINE.format(*head, "draft", "published", "refusals by code").rstrip() + "\n")
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(STRONG.glob("*.jsonl")):
            run = replay(path.stem, Path(folder))
            outcomes[path.stem] = {key: run.answer[key] for key in ("decision", "outcome")}
            sys.stdout.write(row(path.stem, run).rstrip() + "\n")
    if write:
        text = json.dumps(outcomes, indent=1, sort_keys=True) + "\n"
        (STRONG / "outcomes.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    try:
        show()
    except InputRefused as refused:
        sys.exit(refused.message)
