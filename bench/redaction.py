"""What redaction costs and what it leaves alone: `python bench/redaction.py [FOLDER] [--show]`.

Without FOLDER: megabytes a second of processor time over made-up logs, the best of `ROUNDS` rounds.
With FOLDER (recorded tool results, any files): also how many pod names, trace ids, uuids, hashes
and digests of those files are still there after redaction, and what was masked, by kind; `--show`
prints each mask with the words before it, to judge whether a secret was there.
"""

# ruff: noqa: INP001, T201 -- a script, and it prints

from __future__ import annotations

import json
import random
import re
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Final

from affidavit.tools.redaction import MASK_PATTERN, redact_bytes

ROUNDS: Final = 3
LINES: Final = 20_000

KEPT: Final = {
    "pod names": rb"\b[a-z0-9][a-z0-9-]*-[a-f0-9]{8,10}-[a-z0-9]{5}\b",
    "trace ids, md5": rb"\b[0-9a-f]{32}\b",
    "span ids": rb"\b[0-9a-f]{16}\b",
    "commit ids": rb"\b[0-9a-f]{40}\b",
    "digests": rb"\bsha256:[0-9a-f]{64}\b",
    "uuids": rb"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b",
    "resource versions": rb"resourceVersion\\*\"?: ?\\*\"?[0-9]+",
}


def make_lines() -> list[str]:
    """Lines of a shop's log, with ids as random as real ones."""
    dice = random.Random(7)  # noqa: S311 - made-up logs

    def ident(size: int) -> str:
        return "".join(dice.choices("0123456789abcdef", k=size))

    return [
        f"2031-05-04T01:{n % 60:02d}:{n * 7 % 60:02d}.{n % 1000:03d}Z INFO [http-nio-{n % 20}] "
        f"c.h.s.OrderService - order {n} placed by pod checkout-{ident(9)}-{ident(5)} "
        f"trace_id={ident(32)} span_id={ident(16)} status=200 duration={n % 999}ms "
        f"path=/api/v1/orders/{n}"
        for n in range(LINES)
    ]


def corpora() -> dict[str, bytes]:
    """What is measured, by name."""
    lines = make_lines()
    rows = [{"time": "2031-05-04T01:00:00Z", "level": "info", "msg": line} for line in lines]
    some = [line + " password=hunter2" * (n % 100 == 0) for n, line in enumerate(lines)]
    return {
        "log lines": "\n".join(lines).encode(),
        "JSON lines": "\n".join(json.dumps(row) for row in rows).encode(),
        "one JSON document": json.dumps({"rows": rows}).encode(),
        "log lines, `key` and `token` in each": "\n".join(
            line.replace("placed by", "placed with key and token by") for line in lines
        ).encode(),
        "log lines, one in 100 with a secret": "\n".join(some).encode(),
        "one JSON document, one in 100 with a secret": json.dumps({"rows": some}).encode(),
    }


def measure_speed() -> None:
    """Megabytes a second of processor time."""
    for name, raw in corpora().items():
        best = float("inf")
        for _ in range(ROUNDS):
            begin = time.process_time()
            redact_bytes(raw)
            best = min(best, time.process_time() - begin)
        print(f"{len(raw) / 1e6 / best:7.1f} MB/s  {name} ({len(raw) / 1e6:.1f} MB)")


def measure_kept(folder: Path, show: bool) -> None:
    """What of the recordings survived, and what was masked."""
    before: Counter[str] = Counter()
    after: Counter[str] = Counter()
    masks: Counter[str] = Counter()
    files = [file for file in sorted(folder.rglob("*")) if file.is_file()]
    for file in files:
        raw = file.read_bytes()
        out = redact_bytes(raw)
        for name, pattern in KEPT.items():
            there = Counter(re.findall(pattern, raw))
            before[name] += there.total()
            after[name] += (there & Counter(re.findall(pattern, out))).total()
        text = out.decode("utf-8", "replace")
        for found in MASK_PATTERN.finditer(text):
            masks[found[1]] += 1
            if show:
                print(f"  {file.name[:40]}: …{text[max(0, found.start() - 60) : found.end()]!r}")
    print(f"{len(files)} files")
    for name, count in before.items():
        share = 100 * after[name] / count if count else 100.0
        print(f"{share:7.2f} % kept of {count} {name}")
    print(
        "masked:", ", ".join(f"{count} {kind}" for kind, count in masks.most_common()) or "nothing"
    )


if __name__ == "__main__":
    folders = [Path(word) for word in sys.argv[1:] if not word.startswith("--")]
    measure_speed()
    for each in folders:
        measure_kept(each, "--show" in sys.argv)
