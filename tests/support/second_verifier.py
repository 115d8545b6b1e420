"""The verifier of contrib/, loaded as the script that it is."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Final

PATH: Final = Path(__file__).parents[2] / "contrib" / "verify_affidavit.py"


def load() -> ModuleType:
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("verify_affidavit", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SECOND: Final = load()
