"""docs/affidavit.schema.json describes the files that are really written, and nothing looser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest
from jsonschema_rs import validator_for

from affidavit.contract.journal import EVENT_FIELDS
from tests.simulation.test_release_table import CASES
from tests.support.worlds import Script, act, conclude
from tests.unit.affidavit.files import sealed_by

SCHEMA: Final = Path(__file__).parents[2] / "docs" / "affidavit.schema.json"
VALID: Final = validator_for(json.loads(SCHEMA.read_text(encoding="utf-8"))).is_valid


@pytest.mark.spec("A5")
def test_real_files_fit_the_schema() -> None:
    scripts: list[Script] = [case.script for case in CASES[::4]]
    scripts.append([act("probe", "search", "down"), conclude(conclusion=None)])
    for script in scripts:
        assert VALID(json.loads(sealed_by(script)))


@pytest.mark.spec("A5")
def test_what_lacks_or_adds_a_part_does_not() -> None:
    plain: dict[str, Any] = json.loads(sealed_by([act("probe", "search"), conclude()]))
    for name in plain:
        assert not VALID({key: value for key, value in plain.items() if key != name}), name
    assert not VALID({**plain, "more": 1})
    assert not VALID({**plain, "format": "affidavit/0"})
    for field in plain["journal"][0]["data"]:
        first = dict(plain["journal"][0])
        first["data"] = {k: v for k, v in first["data"].items() if k != field}
        fits = VALID({**plain, "journal": [first, *plain["journal"][1:]]})
        assert fits == (field == "policy_digest"), field
    unknown = {**plain["journal"][0], "type": "NO_SUCH_LINE"}
    assert not VALID({**plain, "journal": [unknown]})


def test_every_kind_of_line_is_there() -> None:
    text = SCHEMA.read_text(encoding="utf-8")
    for kind, fields in EVENT_FIELDS.items():
        assert f'"const": "{kind}"' in text
        assert all(f'"{field}"' in text for field in fields)
