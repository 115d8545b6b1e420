"""The table of formats is what the command line offers."""

from __future__ import annotations

from pathlib import Path

import pytest

from affidavit.contract.errors import InputRefused
from affidavit.importers.formats import FORMATS, import_incidents


def test_every_promised_format_is_there() -> None:
    assert set(FORMATS) == {
        "nezha",
        "nezha-quiet",
        "rcaeval",
        "petshop",
        "opensre",
        "rootcausebench",
        "holmes",
        "otlp",
    }


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_an_empty_source_is_refused_in_one_sentence(name: str, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    with pytest.raises(InputRefused) as refused:
        import_incidents(name, tmp_path / "src", tmp_path / "dst")
    assert "\n" not in refused.value.message
    assert not (tmp_path / "dst").exists()


def test_an_unknown_format_names_the_known(tmp_path: Path) -> None:
    with pytest.raises(InputRefused, match="'foo' is no known format") as refused:
        import_incidents("foo", tmp_path, tmp_path)
    assert "nezha" in refused.value.hint


def test_a_source_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputRefused, match="is not there"):
        import_incidents("nezha", tmp_path / "nowhere", tmp_path)
