"""Anchors: an append-only file, the system's log, a web address (`ports.anchor.Anchor`).

    file:PATH      one line a head, synced; make it append-only (chattr +a) or put it elsewhere
    syslog:        the local log daemon, which may forward it; facility auth, RFC 3164
    https://…      POST of the line; anything but a 2xx is a failure, redirects are not followed
    SCHEME:…       whatever another package offers under that scheme (`anchor_plugins`)

`http://` is taken for this machine alone: a head that travels in the open could be held back.
"""

from __future__ import annotations

import http.client
import os
import ssl
import syslog
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from anyio import to_thread

from affidavit.adapters.anchor_plugins import open_foreign
from affidavit.contract.errors import InputRefused, RecordFailed
from affidavit.ports.anchor import Anchor
from affidavit.ports.store import SealedHead

TIMEOUT_S: Final = 10.0
"""An anchor is told after the publication; whoever reads the answer does not wait for longer."""

OUR_SCHEMES: Final = frozenset({"file", "syslog", "https", "http"})
"""No package can take these over."""

FILE_MODE: Final = 0o600
_HERE: Final = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class FileAnchor:
    """Lines in a file that is only ever appended to."""

    path: Path

    @property
    def name(self) -> str:
        """See `Anchor.name`."""
        return f"file:{self.path}"

    async def tell(self, head: SealedHead, line: bytes) -> None:
        """See `Anchor.tell`. One write, so that two processes do not mix their lines."""
        await to_thread.run_sync(self._append, line + b"\n")

    def _append(self, line: bytes) -> None:
        try:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            descriptor = os.open(self.path, flags, FILE_MODE)
            try:
                if os.write(descriptor, line) != len(line):
                    raise OSError(0, "the line was written in part")
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise anchor_failed(self, error.strerror or "it cannot be written") from error


@dataclass(frozen=True, slots=True)
class SyslogAnchor:
    """The local log daemon. It does not answer: what it forwards is what counts."""

    @property
    def name(self) -> str:
        """See `Anchor.name`."""
        return "syslog:"

    async def tell(self, head: SealedHead, line: bytes) -> None:
        """See `Anchor.tell`."""
        await to_thread.run_sync(self._send, line.decode("ascii"))

    def _send(self, line: str) -> None:
        syslog.openlog("affidavit", syslog.LOG_PID, syslog.LOG_AUTH)
        syslog.syslog(syslog.LOG_NOTICE, line)


@dataclass(frozen=True, slots=True)
class WebhookAnchor:
    """A web address that keeps what it is told."""

    url: str

    @property
    def name(self) -> str:
        """See `Anchor.name`: without what may be secret in a query."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.hostname}{parts.path}"

    async def tell(self, head: SealedHead, line: bytes) -> None:
        """See `Anchor.tell`."""
        await to_thread.run_sync(self._post, line, abandon_on_cancel=True)

    def _post(self, line: bytes) -> None:
        parts = urlsplit(self.url)
        host = parts.hostname or ""
        connection = (
            http.client.HTTPSConnection(
                host, parts.port, timeout=TIMEOUT_S, context=ssl.create_default_context()
            )
            if parts.scheme == "https"
            else http.client.HTTPConnection(host, parts.port, timeout=TIMEOUT_S)
        )
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        try:
            connection.request("POST", target, line, {"Content-Type": "application/json"})
            status = connection.getresponse().status
        except (OSError, http.client.HTTPException) as error:
            raise anchor_failed(self, f"it cannot be reached ({type(error).__name__})") from error
        finally:
            connection.close()
        if status // 100 != 2:
            raise anchor_failed(self, f"it answered {status}")


def anchor_failed(anchor: Anchor, why: str) -> RecordFailed:
    """The error for an anchor that could not be told."""
    return RecordFailed(
        f"the anchor {anchor.name} could not be told: {why}",
        code="ANCHOR_FAILED",
        hint="mend it; the next run tells of this one too",
    )


def open_anchors(addresses: Iterable[str]) -> tuple[Anchor, ...]:
    """The anchors at these addresses. Raises `InputRefused` (ANCHOR_REFUSED)."""
    return tuple(_open(address) for address in addresses)


def _open(address: str) -> Anchor:
    parts = urlsplit(address)
    match parts.scheme:
        case "file" if address.removeprefix("file:").strip("/"):
            return FileAnchor(Path(address.removeprefix("file:")).expanduser())
        case "syslog" if address == "syslog:":
            return SyslogAnchor()
        case "https" if parts.hostname:
            return WebhookAnchor(address)
        case "http" if parts.hostname in _HERE:
            return WebhookAnchor(address)
        case _:
            return _open_foreign(address, parts.scheme)


def _open_foreign(address: str, scheme: str) -> Anchor:
    anchor = open_foreign(scheme, address) if scheme and scheme not in OUR_SCHEMES else None
    if anchor is None:
        raise InputRefused(
            f"{address!r} names no anchor",
            code="ANCHOR_REFUSED",
            hint="use file:PATH, syslog: or https://…; http:// for this machine alone; another "
            "scheme needs a package that offers it",
        )
    return anchor
