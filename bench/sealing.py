"""What sealing and checking a file costs: `python bench/sealing.py`.

    chain       hash and link one journal line, as every append of a run does
    integrity   canonical bytes and chain of a whole file, in megabytes of journal a second
    signature   sign one head, check one signature
    verify      every check of one file of a real run, guards and proofs included

The goals (issue: the affidavit): chain ≤ 15 µs an entry, integrity ≥ 50 MB/s on one core. Each
figure is the best of `ROUNDS` rounds: the machine's noise only ever adds.
"""

# ruff: noqa: INP001, T201 -- a script, and it prints

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

import anyio

from affidavit.adapters.ed25519_signer import MemorySigner, check_ed25519
from affidavit.adapters.memory_store import MemoryStore
from affidavit.affidavit.integrity import open_file
from affidavit.contract.journal import Entry, Event
from affidavit.core.canonical import canonical_json
from affidavit.core.chain import GENESIS, extend
from affidavit.diagnose import drive, start
from affidavit.wiring import incident_world, recheck_file, request_of

ROUNDS: Final = 9
LINES: Final = 20_000
INCIDENT: Final = Path(__file__).parents[1] / "examples" / "slow-storefront"
MOMENT: Final = datetime(2026, 3, 2, 10, tzinfo=UTC)


async def run_once() -> tuple[tuple[Entry, ...], bytes]:
    """Lines and file of one real run of the example."""
    store = MemoryStore()
    async with incident_world(INCIDENT, store, signer=MemorySigner()) as (world, incident):
        request = request_of(incident, INCIDENT)
        await start(world, request)
        await drive(request.run_id, world)
        files = [i.content for i in await store.artifacts(request.run_id) if i.kind == "affidavit"]
        return await store.read(request.run_id), files[0]


def best_s(work: Callable[[], object], times: int = 1) -> float:
    """Seconds of one piece of work, in the best round."""
    rounds = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        for _ in range(times):
            work()
        rounds.append((time.perf_counter() - begin) / times)
    return min(rounds)


def long_journal(lines: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """A journal of `LINES` lines with the kinds, and the mixture, of a real run."""
    events = [Event(lines[n % len(lines)].type, lines[n % len(lines)].data) for n in range(LINES)]
    return extend("run_0123456789abcdef", 1, GENESIS, MOMENT, events)


def file_with(journal: tuple[Entry, ...]) -> bytes:
    """A file that holds these lines, and nothing else that weighs."""
    plain = [
        {name: getattr(entry, name) for name in Entry.__slots__ if name != "type"}
        | {"type": str(entry.type)}
        for entry in journal
    ]
    return canonical_json({"format": "affidavit/1", "journal": plain})


def main() -> None:
    """Print the figures."""
    lines, file = anyio.run(run_once)
    events = [Event(entry.type, entry.data) for entry in lines]
    chain_s = best_s(partial(extend, lines[0].run_id, 1, GENESIS, MOMENT, events), 20)
    print(f"chain, an entry             {chain_s / len(events) * 1e6:9.1f} µs   (goal 15)")

    content = file_with(long_journal(lines))
    opened = open_file(content)
    if opened.broken is not None:
        raise SystemExit("the journal of this measurement is broken")
    integrity_s = best_s(partial(open_file, content))
    speed = len(content) / integrity_s / 1e6
    print(f"integrity of {len(content) / 1e6:.1f} MB         {speed:9.1f} MB/s (goal 50)")
    print(f"  an entry of {len(content) / LINES:.0f} bytes     {integrity_s / LINES * 1e6:9.1f} µs")
    parse_s = best_s(partial(json.loads, content.decode()))
    print(f"  of it parsing JSON        {parse_s / LINES * 1e6:9.1f} µs an entry")

    signer, message = MemorySigner(), b"m" * 700
    signature = signer.sign(message)
    sign_s = best_s(partial(signer.sign, message), 50)
    check = partial(check_ed25519, signature.public_key, message, signature.value)
    print(f"sign a head                 {sign_s * 1e6:9.1f} µs")
    print(f"check a signature           {best_s(check, 50) * 1e6:9.1f} µs")
    verify_s = best_s(partial(recheck_file, file))
    print(f"verify, {len(lines)} lines, {len(file) / 1e3:.0f} KB    {verify_s * 1e3:9.1f} ms")


if __name__ == "__main__":
    main()
