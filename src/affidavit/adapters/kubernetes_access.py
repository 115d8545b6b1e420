"""Who we are to a Kubernetes API server, and whom we believe: from files, or from a kubeconfig.

Of a kubeconfig only what is plain is taken: a server, its CA, a token or a client certificate. What
would run a program, skip the check of a certificate or go over a proxy is refused. No message holds
a part of the file.
"""

from __future__ import annotations

import base64
import binascii
import ssl
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from affidavit.adapters.cluster_tables import KubernetesTable
from affidavit.adapters.incident_yaml import TextLoader
from affidavit.adapters.outgoing_http import authorization, read_secret
from affidavit.contract.errors import InputRefused

KUBECONFIG_BYTES_MAX: Final = 1024 * 1024
"""A file with some hundred clusters."""

CLUSTER_KEYS: Final = frozenset(
    {"server", "certificate-authority", "certificate-authority-data", "extensions"}
)
USER_KEYS: Final = frozenset(
    {"token", "tokenFile", "client-certificate", "client-certificate-data", "client-key",
     "client-key-data", "extensions"}
)  # fmt: skip
"""What is understood of a cluster and a user; any other key refuses the file."""


@dataclass(frozen=True, slots=True)
class Access:
    """Where the server is, what every request carries, and the TLS context (None over http)."""

    url: str
    headers: Mapping[str, str]
    tls: ssl.SSLContext | None


@dataclass(frozen=True, slots=True)
class _Material:
    """Certificates as PEM texts; empty where there are none."""

    ca: str = ""
    certificate: str = ""
    key: str = ""


def open_access(table: KubernetesTable, environment: Mapping[str, str]) -> Access:
    """The way in that the table names.

    Raises InputRefused: SECRET_MISSING, KUBECONFIG_REFUSED, CERTIFICATE_UNREADABLE.
    """
    if table.kubeconfig:
        return _of_kubeconfig(Path(table.kubeconfig), table.context)
    headers = authorization(table.credential, environment)
    material = _Material(
        _pem(table.ca_file), _pem(table.client_certificate_file), _pem(table.client_key_file)
    )
    return Access(table.url.rstrip("/"), headers, _context(table.url, material))


def _of_kubeconfig(path: Path, context: str) -> Access:
    document = _load(path)
    chosen = _named(document, "contexts", context or str(document.get("current-context") or ""))
    held = _part(chosen, "context")
    cluster = _part(_named(document, "clusters", str(held.get("cluster") or "")), "cluster")
    user = _part(_named(document, "users", str(held.get("user") or "")), "user")
    for part, known in ((cluster, CLUSTER_KEYS), (user, USER_KEYS)):
        if unknown := sorted(set(map(str, part)) - known):
            raise _refused(
                f"it uses {unknown[0]}", "name a token, a tokenFile or a client certificate"
            )
    headers: dict[str, str] = {}
    token = str(user.get("token") or "")
    if user.get("tokenFile"):
        token = read_secret("", str(_beside(path, user["tokenFile"])), {})
    if token:
        if any(ord(sign) < 33 for sign in token):
            raise _refused("its token is none", "write it on one line")
        headers["authorization"] = f"Bearer {token}"
    material = _Material(
        _either(cluster, "certificate-authority", path),
        _either(user, "client-certificate", path),
        _either(user, "client-key", path),
    )
    url = str(cluster.get("server") or "").rstrip("/")
    return Access(url, headers, _context(url, material))


class _PlainLoader(TextLoader):
    """Text alone, and no aliases: a small file must not unfold into a large one."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """The node. Raises ComposerError for an alias."""
        if self.check_event(yaml.AliasEvent):
            raise yaml.composer.ComposerError(None, None, "an alias", None)
        node: yaml.Node | None = super().compose_node(parent, index)
        return node


def _load(path: Path) -> Mapping[str, Any]:
    try:
        with path.open("rb") as file:
            content = file.read(KUBECONFIG_BYTES_MAX + 1)
        if len(content) > KUBECONFIG_BYTES_MAX:
            raise _refused("it is too large", "keep one cluster in it")
        found = yaml.load(content.decode("utf-8"), Loader=_PlainLoader)  # noqa: S506 -- a SafeLoader
    except OSError as error:
        raise _refused(f"it cannot be read: {error.strerror}", "check the path") from None
    except (UnicodeDecodeError, yaml.YAMLError, RecursionError):
        raise _refused("it is no plain YAML", "write it with kubectl config view --raw") from None
    if not isinstance(found, dict):
        raise _refused("it is no mapping", "write it with kubectl config view --raw")
    return found


def _named(document: Mapping[str, Any], kind: str, name: str) -> Mapping[str, Any]:
    entries = document.get(kind)
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and entry.get("name") == name:
            return entry
    raise _refused(f"it has no entry {name!r} under {kind}", "name a context that is there")


def _part(entry: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = entry.get(name)
    return found if isinstance(found, dict) else {}


def _either(part: Mapping[str, Any], name: str, path: Path) -> str:
    """A PEM text that stands in the kubeconfig, or in a file that it names."""
    if data := part.get(f"{name}-data"):
        try:
            return base64.b64decode(str(data), validate=True).decode("ascii")
        except (binascii.Error, UnicodeDecodeError):
            raise _refused(f"its {name}-data is no certificate or key", "write it anew") from None
    return _pem(str(_beside(path, part[name]))) if part.get(name) else ""


def _beside(path: Path, name: object) -> Path:
    return path.parent / str(name)


def _pem(file: str) -> str:
    if not file:
        return ""
    try:
        return Path(file).read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        raise InputRefused(
            f"{file} cannot be read as PEM",
            code="CERTIFICATE_UNREADABLE",
            hint="check the path and that this user may read it",
        ) from None


def _context(url: str, material: _Material) -> ssl.SSLContext | None:
    """Certificates are always verified; a key is on the disk only while it is loaded, and only
    for this user."""
    if not url.startswith("https:"):
        return None
    try:
        context = ssl.create_default_context(cadata=material.ca or None)
        if material.certificate:
            with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:  # made with mode 0600
                file.write(f"{material.certificate}\n{material.key}")
                file.flush()
                context.load_cert_chain(file.name)
    except (ssl.SSLError, ValueError, OSError):
        raise InputRefused(
            "a certificate or key of a Kubernetes back end is none",
            code="CERTIFICATE_UNREADABLE",
            hint="it has to be PEM, and the key has to belong to the certificate",
        ) from None
    return context


def _refused(what: str, hint: str) -> InputRefused:
    return InputRefused(
        f"a kubeconfig cannot be used: {what}", code="KUBECONFIG_REFUSED", hint=hint
    )
