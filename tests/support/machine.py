"""The real command as a process, in a home of its own, to be killed and started again."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import httpx2

from tests.support.service import WAIT_S, client, wait_until

AFFIDAVIT: Final = Path(sys.executable).parent / "affidavit"


class Machine:
    """A home, and the service that is started in it again and again."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.state = home / "affidavit"
        self.log = home / "serve.log"
        self.process: subprocess.Popen[bytes] | None = None
        self.clients = ExitStack()

    def start(self, *options: str, listen: str = "127.0.0.1:0") -> httpx2.Client:
        """The service, ready; an admin's client."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("AFFIDAVIT_", "XDG_"))}
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [AFFIDAVIT, "serve", "--listen", listen, *options],
                cwd=self.home,
                env={**kept, "HOME": str(self.home), "XDG_STATE_HOME": str(self.home)},
                stdout=subprocess.DEVNULL,
                stderr=log,
            )
        said = re.compile(r"^http://(127\.0\.0\.1:\d+) ", re.MULTILINE)
        wait_until(lambda: said.search(self.log.read_text()) is not None or self.ended)
        found = said.search(self.log.read_text())
        assert found is not None, self.log.read_text()
        api = client(f"http://{found[1]}", (self.state / "admin.key").read_text().strip())
        self.clients.enter_context(api)
        wait_until(lambda: self._is_ready(api) or self.ended)
        assert not self.ended, self.log.read_text()
        return api

    @property
    def ended(self) -> bool:
        """Whether the process is gone."""
        return self.process is not None and self.process.poll() is not None

    def _is_ready(self, api: httpx2.Client) -> bool:
        try:
            return api.get("/readyz").status_code == 200
        except httpx2.TransportError:
            return False

    def end(self, number: int) -> int:
        """Send it a signal and wait for its end."""
        assert self.process is not None
        self.process.send_signal(number)
        return self.process.wait(WAIT_S)


@contextmanager
def machine_at(home: Path) -> Iterator[Machine]:
    """A machine of its own; nothing of it is left."""
    own = Machine(home)
    try:
        yield own
    finally:
        own.clients.close()
        if own.process is not None and own.process.poll() is None:
            own.process.kill()
            own.process.wait(WAIT_S)
