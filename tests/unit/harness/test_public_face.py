"""The public face: at most twenty names, each typed and documented, and nothing loads unasked."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

import affidavit

NAMES_MAX: Final = 20
"""More than one remembers is no face (interfaces: Python)."""

HEAVY: Final = ("pydantic", "anyio", "yaml", "duckdb", "cryptography", "pydantic_ai", "typer")


def test_there_are_at_most_twenty_names_and_each_is_there() -> None:
    assert len(affidavit.__all__) <= NAMES_MAX
    assert sorted(affidavit.__all__, key=str) == sorted(set(affidavit.__all__), key=str)
    for name in affidavit.__all__:
        assert getattr(affidavit, name).__module__.startswith("affidavit.")
    assert set(dir(affidavit)) == {*affidavit.__all__, "__version__"}
    with pytest.raises(AttributeError, match="no attribute 'harnes'"):
        getattr(affidavit, "harnes")  # noqa: B009 - a name that is not there


def test_each_name_is_documented_and_typed() -> None:
    for name in affidavit.__all__:
        value = getattr(affidavit, name)
        assert inspect.getdoc(value), name
        if inspect.isfunction(value):
            hints = inspect.get_annotations(value)
            assert "return" in hints, name
            assert set(hints) >= set(inspect.signature(value).parameters), name


def test_type_checkers_are_told_the_same_homes() -> None:
    source = Path(str(affidavit.__file__)).read_text(encoding="utf-8")
    (block,) = [node for node in ast.parse(source).body if isinstance(node, ast.If)]
    told = {
        alias.name: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert sorted(told) == sorted(affidavit.__all__)
    for name, module in told.items():
        home = importlib.import_module(str(module))
        assert getattr(home, name) is getattr(affidavit, name)


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import affidavit, json, sys; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {module.partition(".")[0] for module in json.loads(done.stdout)}
    assert loaded.isdisjoint(HEAVY)
    assert [item for item in json.loads(done.stdout) if item.startswith("affidavit.")] == []
