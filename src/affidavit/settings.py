"""What can be set, in one documented table (`docs/settings.md`).

A value comes from `affidavit.toml` in the working folder, or the file that `AFFIDAVIT_CONFIG`
names, and is overruled by `AFFIDAVIT_…` variables; an empty variable sets nothing. An unknown key
refuses the start (F25): a setting that is misspelt must not be a setting that is not there.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

from pydantic import Field, ValidationError

from affidavit.contract.errors import InputRefused
from affidavit.contract.record import Record

PREFIX: Final = "AFFIDAVIT_"
CONFIG_NAME: Final = "affidavit.toml"


class Settings(Record):
    """Everything that can be set. `store` empty means the user's own state folder."""

    store: str = Field(default="", description="where runs live: `sqlite:PATH` or `memory:`")
    limits: Literal["simple", "standard", "research"] = Field(
        default="standard", description="the profile of limits of a run"
    )

    def store_url(self, environment: Mapping[str, str]) -> str:
        """The store's address, with the default filled in from the environment (XDG)."""
        if self.store:
            return self.store
        state = Path(environment.get("XDG_STATE_HOME", ""))
        if not state.is_absolute():  # as the XDG base directory specification has it
            state = Path(environment.get("HOME") or "~").expanduser() / ".local" / "state"
        return f"sqlite:{state}/affidavit/runs.db"


def read_settings(environment: Mapping[str, str], folder: Path) -> Settings:
    """The settings in force.

    Raises InputRefused (SETTINGS_REFUSED) for a file that cannot be read, an unknown key or a
    value that does not fit, and names the key.
    """
    named = environment.get(PREFIX + "CONFIG")
    path = Path(named) if named else folder / CONFIG_NAME
    values: dict[str, object] = {}
    if path.is_file():
        values.update(_read_toml(path))
    elif named:
        raise _refused(f"{PREFIX}CONFIG names {path}, which is no file", "correct the path")
    for name, value in environment.items():
        if name.startswith(PREFIX) and name != PREFIX + "CONFIG" and value:
            values[name.removeprefix(PREFIX).lower()] = value
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        known = ", ".join(Settings.model_fields)
        wrong = "is no setting" if first["type"] == "extra_forbidden" else first["msg"]
        raise _refused(f"{key!r}: {wrong}", f"the settings are {known}") from None


def _read_toml(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise _refused(f"{path}: {error}", "mend the file, or remove it") from None


def _refused(message: str, hint: str) -> InputRefused:
    return InputRefused(message, code="SETTINGS_REFUSED", hint=hint)
