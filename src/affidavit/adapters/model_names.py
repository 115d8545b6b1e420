"""From what a user writes to a model: `exec:COMMAND`, `mailbox:FOLDER`,
`deferred:FOLDER`, `replay:FILE`, `VENDOR:NAME`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from affidavit.adapters.deferred_model import DeferredModel
from affidavit.adapters.exec_model import ExecModel
from affidavit.adapters.mailbox_model import MailboxModel
from affidavit.adapters.pydantic_ai_model import VENDORS, open_vendor_model
from affidavit.adapters.transcript_model import ReplayModel
from affidavit.contract.errors import InputRefused
from affidavit.ports.model import Model

LOCAL: Final = ("exec", "mailbox", "deferred", "replay")
"""Kinds that need no package and no network."""


def open_model(spec: str) -> Model:
    """The model that was named. Nothing is asked yet.

    Raises InputRefused: MODEL_NAME where the name is none, or the code of what is missing.
    """
    kind, colon, rest = spec.partition(":")
    if not colon or not rest:
        raise _unknown(spec)
    match kind:
        case "exec":
            return ExecModel.parse(rest)
        case "mailbox":
            return MailboxModel.parse(rest)
        case "deferred":
            return DeferredModel.parse(rest)
        case "replay":
            return ReplayModel.read(Path(rest))
        case vendor if vendor in VENDORS:
            return open_vendor_model(vendor, rest)
        case _:
            raise _unknown(spec)


def _unknown(spec: str) -> InputRefused:
    kinds = ", ".join((*(f"{kind}:…" for kind in LOCAL), *(f"{name}:MODEL" for name in VENDORS)))
    return InputRefused(f"{spec!r} names no model", code="MODEL_NAME", hint=f"write one of {kinds}")
