"""API keys: made once, shown once, kept as a hash, bound to a tenant and roles.

    affk_<id>_<secret>     the id finds the entry, the secret proves it

A secret is 256 bits of chance, so one SHA-256 of it is as good as a slow hash: there is nothing to
guess. The ring is one file that only its owner can read, replaced whole and never in part; every
process of the service reads it anew when it changes, so that a disabled key is out at once.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import os
import re
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal

from pydantic import ValidationError

from affidavit.contract.errors import InputRefused
from affidavit.contract.record import Instant, Record
from affidavit.server.permits import Principal, Role

OWNER_ONLY: Final = 0o600
OWNER_ONLY_FOLDER: Final = 0o700

KEYS_MAX: Final = 10_000
"""Entries of one ring; a file of some 3 MB, read in a tenth of a second."""

NAME: Final = re.compile(r"(?!\.{1,2}\Z)[\w.@-]{1,64}", re.ASCII)
"""Of a key's owner, and of a tenant: what is written into runs and shown to approvers. A tenant is
a folder's name too, and `.` and `..` would be another tenant's folder, or none of ours."""

TOKEN: Final = re.compile(r"affk_([0-9a-f]{12})_([0-9A-Za-z_-]{43})", re.ASCII)

CERTIFICATE_NAME: Final = re.compile(r"(DNS|URI|email|CN):[\x21-\x7e]{1,200}")
"""A name as a certificate has it; a wildcard is the letter `*`, and means nothing more."""

_NOBODY: Final = hashlib.sha256(b"nobody").hexdigest()
"""What an unknown id is compared with, so that it takes as long as a wrong secret."""


class KeyEntry(Record):
    """One key as it is kept."""

    id: str
    name: str
    tenant: str
    roles: tuple[Role, ...]
    secret_sha256: str
    created_at: Instant
    disabled: bool = False
    certificate: str = ""
    """The name that a client's certificate proves, instead of a secret; empty for a key."""


class RingFile(Record):
    """The file. `pepper` makes ids from idempotency keys that nobody outside can compute."""

    version: Literal[1] = 1
    pepper: str
    keys: tuple[KeyEntry, ...] = ()


@dataclass(slots=True)
class Keyring:
    """The keys of one installation."""

    path: Path
    _read: RingFile | None = None
    _stamp: tuple[int, int, int] = field(default=(0, 0, 0))

    def contents(self) -> RingFile:
        """The file as it stands now. Raises InputRefused (KEYS_UNREADABLE)."""
        try:
            found = self.path.stat()
            stamp = (found.st_mtime_ns, found.st_size, found.st_ino)
            if self._read is None or stamp != self._stamp:
                if found.st_mode & 0o077:
                    raise _unreadable(self.path, "others than its owner may read or write it")
                self._read = RingFile.model_validate_json(self.path.read_bytes())
                self._stamp = stamp
        except FileNotFoundError:
            raise InputRefused(
                f"there are no keys at {self.path}",
                code="KEYS_MISSING",
                hint="start the service once, or: affidavit keys create NAME --role admin",
            ) from None
        except (OSError, ValidationError) as error:
            raise _unreadable(self.path, type(error).__name__) from None
        return self._read

    def verify(self, token: str) -> Principal | None:
        """Who shows this token; None for one that is malformed, unknown, wrong or disabled."""
        shape = TOKEN.fullmatch(token)
        id_, secret = shape.groups() if shape else ("", "")
        entry = self.entry(id_)
        told = hashlib.sha256(secret.encode("ascii")).hexdigest()
        is_right = hmac.compare_digest(told, entry.secret_sha256 if entry else _NOBODY)
        if entry is None or not is_right or entry.disabled:
            return None
        return Principal(entry.name, entry.tenant, frozenset(entry.roles))

    def holder(self, names: tuple[str, ...]) -> Principal | None:
        """Whose a client's certificate with these names is; None where it is nobody's, or where its
        names are of two."""
        found = [
            entry
            for entry in self.contents().keys
            if entry.certificate and entry.certificate in names and not entry.disabled
        ]
        if len(found) != 1:
            return None
        return Principal(found[0].name, found[0].tenant, frozenset(found[0].roles))

    def entry(self, id_: str) -> KeyEntry | None:
        """The entry of that id."""
        return next((item for item in self.contents().keys if item.id == id_), None)

    def pepper(self) -> bytes:
        """The installation's own secret."""
        return bytes.fromhex(self.contents().pepper)

    def make(self) -> bool:
        """The file is there; True when it was not before. Its folder is made for its owner."""
        with self._locked():
            if self.path.exists():
                return False
            self._replace(RingFile(pepper=secrets.token_hex(32)))
            return True

    def create(self, name: str, tenant: str, roles: tuple[Role, ...], certificate: str = "") -> str:
        """A new key; its token is returned here and can never be read again. With `certificate`
        it is whoever shows a client certificate of that name, and nobody is told the token.

        Raises InputRefused (KEY_REFUSED) for a name that is taken in that tenant, or is no name,
        and for a certificate's name that is another key's.
        """
        for what, text in (("name", name), ("tenant", tenant)):
            if NAME.fullmatch(text) is None:
                raise _refused(f"{text[:70]!r} is no {what}", "letters, digits and . _ @ -")
        if certificate and CERTIFICATE_NAME.fullmatch(certificate) is None:
            raise _refused(
                f"{certificate[:70]!r} is no name of a certificate",
                "for example DNS:alerts.example, URI:spiffe://example/alerts or CN:alerts",
            )
        if not roles:
            raise _refused("a key without a role can do nothing", f"one of {', '.join(Role)}")
        self.make()
        id_, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
        with self._locked():
            kept = self.contents()
            if any((k.name, k.tenant, k.disabled) == (name, tenant, False) for k in kept.keys):
                raise _refused(f"{name} of {tenant} has a key", "disable it first, or name another")
            taken = {k.certificate for k in kept.keys if not k.disabled}
            if certificate and certificate in taken:
                raise _refused(f"{certificate} has a key", "disable that one first")
            if len(kept.keys) >= KEYS_MAX:
                raise _refused(f"there are {KEYS_MAX} keys", "remove the file's disabled ones")
            entry = KeyEntry(
                id=id_,
                name=name,
                tenant=tenant,
                roles=tuple(sorted(set(roles))),
                secret_sha256=hashlib.sha256(secret.encode("ascii")).hexdigest(),
                created_at=datetime.now(UTC),
                certificate=certificate,
            )
            self._replace(RingFile(pepper=kept.pepper, keys=(*kept.keys, entry)))
        return f"affk_{id_}_{secret}"

    def disable(self, id_: str) -> KeyEntry:
        """That key opens nothing any more. Raises InputRefused (KEY_UNKNOWN)."""
        with self._locked():
            kept, found = self.contents(), self.entry(id_)
            if found is None:
                raise InputRefused(
                    f"there is no key {id_[:70]!r}", code="KEY_UNKNOWN", hint="affidavit keys list"
                )
            out = KeyEntry.model_validate({**found.model_dump(), "disabled": True})
            keys = tuple(out if item.id == id_ else item for item in kept.keys)
            self._replace(RingFile(pepper=kept.pepper, keys=keys))
        return out

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One writer at a time, among all processes."""
        try:
            self.path.parent.mkdir(mode=OWNER_ONLY_FOLDER, parents=True, exist_ok=True)
            lock = os.open(f"{self.path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, OWNER_ONLY)
        except OSError as error:
            raise _unreadable(self.path, error.strerror or "it cannot be locked") from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def _replace(self, contents: RingFile) -> None:
        write_private(self.path, contents.model_dump_json(indent=1).encode("ascii") + b"\n")
        self._read = None


def write_private(path: Path, content: bytes) -> None:
    """The file, whole, on the disk and for its owner alone; what stood there is replaced."""
    try:
        descriptor, name = tempfile.mkstemp(prefix=".affidavit-", dir=path.parent)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)  # mkstemp's files are for their owner alone
    except OSError as error:
        raise _unreadable(path, error.strerror or "it cannot be written") from None


def first_key(ring: Keyring, place: Path, tenant: str) -> bool:
    """At the first start an admin's key is written where only the owner can read it.

    False where there are keys already. Raises InputRefused.
    """
    ring.make()
    if ring.contents().keys:
        return False
    token = ring.create("admin", tenant, (Role.ADMIN,))
    write_private(place, token.encode("ascii") + b"\n")
    return True


def _refused(message: str, hint: str) -> InputRefused:
    return InputRefused(message, code="KEY_REFUSED", hint=hint)


def _unreadable(path: Path, why: str) -> InputRefused:
    return InputRefused(
        f"the keys at {path} cannot be used: {why}",
        code="KEYS_UNREADABLE",
        hint=f"chmod 600 {path}, or bring back a copy",
    )
