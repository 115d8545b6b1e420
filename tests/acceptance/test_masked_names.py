"""A run with masked names, from outside: no name in any byte that leaves it, and the way back."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from tests.acceptance.conftest import Shell

pytestmark = [pytest.mark.spec("T7", "N2", "A5"), pytest.mark.fault("R65")]

EXAMPLE: Final = Path(__file__).parents[2] / "examples" / "slow-storefront"
NAMES: Final = re.compile(rb"storefront|orders|orders-db|spring_banner", re.IGNORECASE)


def test_names_are_in_no_byte_that_leaves_and_come_back_for_who_has_the_store(
    shell: Shell,
) -> None:
    done = shell.run(
        "diagnose", EXAMPLE, "--mask-name", "spring_banner", "--out", "a.affidavit", "--json"
    )
    assert done.code == 0, done.err
    run_id = done.json["run_id"]
    shown = shell.run("show", run_id, "--html", "a.html")
    said = {
        "answer": done.out.encode(),
        "terminal": done.err.encode(),
        "card": shown.out.encode(),
        "file": (shell.home / "a.affidavit").read_bytes(),
        "page": (shell.home / "a.html").read_bytes(),
        "timeline": shell.run("timeline", run_id).out.encode(),
    }
    with closing(sqlite3.connect(shell.store)) as store:
        rows = store.execute("SELECT kind, content FROM artifacts").fetchall()
        said |= {f"{kind} {n}": bytes(content) for n, (kind, content) in enumerate(rows)}
        said["lines"] = repr(store.execute("SELECT * FROM lines").fetchall()).encode()
    (secret,) = [way for way in said if way.startswith("names ")]
    list_ = said.pop(secret)
    assert NAMES.search(list_)
    assert {way: NAMES.search(said[way]) for way in said if NAMES.search(said[way])} == {}
    assert b"raw" in b" ".join(way.encode() for way in said), "the raw responses were looked at"

    assert shell.run("verify", "a.affidavit").code == 3
    assert shell.run("replay", run_id).code == 0
    back = shell.run("runs", "unmask", run_id)
    assert back.code == 0
    assert "Why is storefront slow" in back.out
    assert "orders-db is abnormal" in back.out
    assert "name-" not in back.out


def test_where_nothing_is_masked_nothing_is_unmasked(shell: Shell, incident: Path) -> None:
    run_id = shell.run("diagnose", incident, "--json").json["run_id"]
    done = shell.run("runs", "unmask", run_id, "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "NAMES_REFUSED")
    live = shell.run("diagnose", "live", "--mask-name", "checkout", "--json")
    assert (live.code, live.json["error"]["code"]) == (2, "USAGE")
