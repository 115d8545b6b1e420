"""Certificates of a test: a private authority, and what it signs."""

from __future__ import annotations

import ipaddress
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

HERE: Final = (x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1")))


@dataclass(frozen=True)
class Paper:
    """A certificate and its key, as PEM files."""

    certificate: Path
    key: Path


class Authority:
    """Signs what a test needs; its own certificate lies in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test authority")])
        made = self._build(self._name, self._key.public_key(), timedelta(days=30), is_ca=True)
        self.file = folder / "ca.pem"
        self.file.write_bytes(made.public_bytes(serialization.Encoding.PEM))

    def sign(
        self,
        name: str,
        lives: timedelta = timedelta(days=7),
        names: tuple[x509.GeneralName, ...] = HERE,
    ) -> Paper:
        """A certificate for this name, and for `names`, which are localhost and 127.0.0.1 where
        nothing is said; a negative life is over."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        made = self._build(subject, key.public_key(), lives, is_ca=False, names=names)
        paper = Paper(self._folder / f"{name}.pem", self._folder / f"{name}.key")
        paper.certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
        paper.key.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        return paper

    def server(self, lives: timedelta = timedelta(days=7), *, asks: bool = False) -> ssl.SSLContext:
        """What a server speaks with; `asks` for certificates of its clients."""
        paper = self.sign("server", lives)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(paper.certificate, paper.key)
        if asks:
            context.load_verify_locations(self.file)
            context.verify_mode = ssl.CERT_REQUIRED
        return context

    def _build(
        self,
        subject: x509.Name,
        key: ec.EllipticCurvePublicKey,
        lives: timedelta,
        *,
        is_ca: bool,
        names: tuple[x509.GeneralName, ...] = HERE,
    ) -> x509.Certificate:
        ends = datetime.now(UTC) + lives
        made = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(min(ends, datetime.now(UTC)) - timedelta(days=1))
            .not_valid_after(ends)
            .add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()),
                critical=False,
            )
        )
        if names:
            made = made.add_extension(x509.SubjectAlternativeName(names), critical=False)
        return made.sign(self._key, hashes.SHA256())
