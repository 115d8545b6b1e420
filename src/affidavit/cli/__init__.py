"""The command line. Heavy packages load inside the commands that need them, so that
`affidavit --version` answers at once."""

from __future__ import annotations

import sys


def main() -> None:
    """The `affidavit` command."""
    if sys.argv[1:] == ["--version"]:
        from affidavit import __version__

        sys.stdout.write(f"affidavit {__version__}\n")
        return
    from affidavit.cli.app import run

    run()
