"""The weights that ship: one versioned file, read once and checked whole."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Final

from affidavit.agents.signals import Weights, read_weights

WEIGHTS_FILE: Final = "weights.json"


@cache
def shipped_weights() -> Weights:
    """The weights of this version. Raises InputRefused when the file is not what it should be."""
    return read_weights(json.loads(files(__package__).joinpath(WEIGHTS_FILE).read_bytes()))
