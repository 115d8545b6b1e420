"""[signing]: where keys lie, whom to believe, where sealed runs are told of (A4)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import Field

from affidavit.settings.server import state_folder
from affidavit.settings.table import Table


class SigningTable(Table):
    """[signing]."""

    keys: str = Field(
        default="",
        description="the folder of this installation's private keys, for its owner alone; empty "
        "means `affidavit/keys` in the state folder",
    )
    trust: str = Field(
        default="",
        description="the trust file: whose signatures `affidavit verify` believes; empty means "
        "`affidavit/trust.json` in the state folder",
    )
    anchors: tuple[str, ...] = Field(
        default=(),
        description="places that are told of each sealed run, so that a cut tail shows: "
        "`file:PATH`, `syslog:`, `https://…`, or `SCHEME:…` of an installed package",
    )

    def key_folder(self, environment: Mapping[str, str]) -> Path:
        """The folder of the private keys, with the default filled in from the environment (XDG)."""
        return Path(self.keys) if self.keys else state_folder(environment) / "keys"

    def trust_file(self, environment: Mapping[str, str]) -> Path:
        """The trust file, with the default filled in; it need not be there."""
        return Path(self.trust) if self.trust else state_folder(environment) / "trust.json"
