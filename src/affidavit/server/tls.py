"""The service's own TLS, for where no proxy ends it; and who a client's certificate says it is.

A certificate of a client is asked for where `client-ca` is set, and never needed: browsers have
none. What it proves is a name that this authority signed. Whose that name is, the ring of keys
says.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from affidavit.contract.errors import InputRefused
from affidavit.settings.server import ServerTable

HANDSHAKE_S: Final = 10.0
"""From a connection's beginning to the end of its handshake, like the head of a request."""

CERTIFICATE: Final = "certificate"
"""Under which a request's state has its client's certificate."""

NAMES_MAX: Final = 20
"""Of one certificate; a sender has one."""

KINDS: Final = frozenset({"DNS", "URI", "email"})
"""Kinds of names (RFC 5280, 4.2.1.6) that a key can be bound to."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """What a client's certificate says, which the handshake verified: its names, and until when."""

    names: tuple[str, ...]
    until_s: float

    @property
    def is_over(self) -> bool:
        """Whether it has ended since: a connection may live longer."""
        return time.time() > self.until_s


def open_tls(table: ServerTable) -> ssl.SSLContext | None:
    """What the service speaks with; None where no certificate is set.

    Raises InputRefused (TLS_REFUSED) for files that are none, or do not belong together.
    """
    if not table.tls_certificate:
        if table.tls_key or table.client_ca:
            raise _refused("a key or an authority is set, and no certificate")
        return None
    if not table.tls_key:
        raise _refused("a certificate is set, and no key")
    try:
        context = ssl.create_default_context(
            ssl.Purpose.CLIENT_AUTH, cafile=table.client_ca or None
        )
        context.load_cert_chain(table.tls_certificate, table.tls_key, password=_no_password)
    except (OSError, ValueError) as error:  # an SSLError is an OSError
        raise _refused(
            f"a file is not there, or no PEM, or does not belong to the others "
            f"({type(error).__name__})"
        ) from None
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.verify_mode = ssl.CERT_OPTIONAL if table.client_ca else ssl.CERT_NONE
    return context


def certificate_of(transport: asyncio.BaseTransport) -> Certificate | None:
    """The certificate of the client at the other end; None without one."""
    spoken = transport.get_extra_info("ssl_object")
    found: Mapping[str, Any] | None = None if spoken is None else spoken.getpeercert()
    if not found or "notAfter" not in found:
        return None
    until_s = float(ssl.cert_time_to_seconds(str(found["notAfter"])))
    return Certificate(_names_of(found), until_s)


def _names_of(found: Mapping[str, Any]) -> tuple[str, ...]:
    """`DNS:…`, `URI:…`, `email:…`; the common name (`CN:…`) alone where there is none of them."""
    told = tuple(
        f"{kind}:{value}" for kind, value in found.get("subjectAltName", ()) if kind in KINDS
    )
    if told:
        return told[:NAMES_MAX]
    parts = (pair for part in found.get("subject", ()) for pair in part)
    return tuple(f"CN:{value}" for name, value in parts if name == "commonName")[:1]


def _no_password() -> str:
    """An encrypted key is refused: nobody is there to be asked at a start."""
    return ""


def _refused(what: str) -> InputRefused:
    return InputRefused(
        f"the service cannot speak TLS: {what}",
        code="TLS_REFUSED",
        hint="set tls-certificate, tls-key and client-ca of [server] to PEM files; docs/http.md",
    )
