"""[server]: where the service listens, which names it answers to, where incidents and keys lie."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import Field

from affidavit.settings.table import Table


class ServerTable(Table):
    """[server]."""

    listen: str = Field(
        default="127.0.0.1:8080",
        description="HOST:PORT; another machine reaches the service only where that says so",
    )
    hosts: tuple[str, ...] = Field(
        default=(), description="names that the service answers to beside those of this machine"
    )
    incidents: str = Field(
        default="",
        description="the folder whose incident folders may be diagnosed; those of another tenant "
        "than `local` lie in a folder of its name",
    )
    keys: str = Field(
        default="",
        description="the file of API keys, for its owner alone; empty means `affidavit/keys.json` "
        "in the state folder",
    )
    tls_certificate: str = Field(
        default="",
        description="the PEM file of the service's certificate, with its chain; without one it "
        "speaks plain HTTP",
    )
    tls_key: str = Field(default="", description="the PEM file of its key, without a password")
    client_ca: str = Field(
        default="",
        description="the PEM file of the authority whose certificates clients may show at `/hooks/`"
        " (mTLS); `affidavit keys create --certificate` says whose they are",
    )

    def keys_file(self, environment: Mapping[str, str]) -> Path:
        """Where API keys are kept, with the default filled in from the environment (XDG)."""
        return Path(self.keys).expanduser() if self.keys else state_folder(environment) / KEYS_NAME


KEYS_NAME = "keys.json"


def state_folder(environment: Mapping[str, str]) -> Path:
    """Where what is kept between two commands lies, unless it is told (XDG)."""
    state = Path(environment.get("XDG_STATE_HOME", ""))
    if not state.is_absolute():  # as the XDG base directory specification has it
        state = Path(environment.get("HOME") or "~").expanduser() / ".local" / "state"
    return state / "affidavit"
