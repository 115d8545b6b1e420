"""Private keys in a folder that only its owner can enter, one file a purpose.

    PURPOSE.key        the key in force: PKCS8 PEM, 0600, in a folder 0700
    KEY_ID.json        a key that was in force and is no more: its public bytes, and until when

A key is written beside its place, synced, and then linked there: so it is there whole or not at
all, and two processes that need it first get the same one. What others can read or could exchange
is refused, never used and never repaired: its owner has to look at it.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from affidavit.adapters.ed25519_signer import is_sound_key, new_key, sign_with, signing_missing
from affidavit.contract.errors import InputRefused, RecordFailed
from affidavit.ports.signer import Purpose, Signature, key_id

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

KEY_FILE_BYTES_MAX: Final = 4096
"""An Ed25519 key in PEM has 119 bytes; what is larger is no key of ours."""

FOLDER_MODE: Final = 0o700
FILE_MODE: Final = 0o600
_OTHERS: Final = 0o077


@dataclass(frozen=True, slots=True)
class KeyFacts:
    """What may be shown of a key: all but its secret. `until_us` is when it stopped to sign."""

    key_id: str
    purpose: Purpose
    public_key: bytes
    state: str
    until_us: int | None = None


class KeyFolder:
    """The keys of one installation. Every method raises `RecordFailed` (KEY_REFUSED,
    KEY_UNREADABLE, SIGNING_MISSING) when a key cannot be read, made or trusted to be secret."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.expanduser().absolute()

    def signer(self, purpose: Purpose) -> KeyFileSigner:
        """The signer of that purpose; its key is made now if there is none."""
        self.load(purpose)
        return KeyFileSigner(self, purpose)

    def signer_later(self, purpose: Purpose) -> KeyFileSigner:
        """The signer of that purpose. A key that is there and cannot be used is refused now; one
        that is not there is made when it is first needed."""
        if self.holds(purpose):
            self.load(purpose)
        return KeyFileSigner(self, purpose)

    def holds(self, purpose: Purpose) -> bool:
        """Whether there is a key of that purpose, usable or not."""
        place = self._place(purpose)
        return place.exists() or place.is_symlink()

    def load(self, purpose: Purpose) -> Ed25519PrivateKey:
        """The key in force, made if there is none; no other purpose may have the same one."""
        with _explained(self.folder):
            self._make_folder()
            place = self._place(purpose)
            if not self.holds(purpose):
                self._put(place, new_key(), anew=True)
            key = _read_key(place)
            self._refuse_shared(purpose, key)
            return key

    def rotate(self, purpose: Purpose) -> KeyFacts:
        """A new key takes over; the old secret is destroyed, its public part stays on record.

        Also for a key that may not be used any more, since others could read it. Of two who rotate
        at once the second retires the first one's key: none is lost from the record.
        """
        with _explained(self.folder), self._alone():
            if self._place(purpose).exists():
                with suppress(RecordFailed):  # what is no key leaves nothing to keep
                    self._note(self._current(purpose, exposed=True), "retired")
            self._put(self._place(purpose), new_key(), anew=False)
            return self._current(purpose)

    def revoke(self, identity: str) -> KeyFacts | None:
        """That key signs no more, and nothing that it signed is to be trusted; None if it is none
        of this folder. A key in force is destroyed; the next need makes a new one."""
        with _explained(self.folder):
            if not self.folder.exists():
                return None
            with self._alone():
                known = next((each for each in self.list_keys() if each.key_id == identity), None)
                if known is None:
                    return None
                self._note(known, "revoked")
                if known.state == "in force":
                    self._place(known.purpose).unlink()
                    self._sync()
                return next(each for each in self.list_keys() if each.key_id == identity)

    def list_keys(self) -> tuple[KeyFacts, ...]:
        """Every key, those in force first; nothing is made."""
        with _explained(self.folder):
            if not self.folder.exists():
                return ()
            self._check_folder()
            now = [self._current(p) for p in Purpose if self._place(p).exists()]
            current = {facts.key_id for facts in now}
            past = [
                facts
                for place in sorted(self.folder.glob("*.json"))
                if (facts := _read_facts(place)) and facts.key_id not in current
            ]
            return (*now, *sorted(past, key=lambda facts: -(facts.until_us or 0)))

    def _place(self, purpose: Purpose) -> Path:
        return self.folder / f"{purpose}.key"

    def _current(self, purpose: Purpose, *, exposed: bool = False) -> KeyFacts:
        key = _read_key(self._place(purpose), exposed=exposed)
        public = key.public_key().public_bytes_raw()
        return KeyFacts(key_id(public), purpose, public, "in force")

    def _refuse_shared(self, purpose: Purpose, key: Ed25519PrivateKey) -> None:
        for other in Purpose:
            place = self._place(other)
            if other is purpose or not place.exists():
                continue
            if _read_key(place).private_bytes_raw() == key.private_bytes_raw():
                raise _refused(
                    f"the purposes {purpose} and {other} have the same key",
                    f"make another one: affidavit keys rotate --purpose {other}",
                )

    def _make_folder(self) -> None:
        if not self.folder.exists():
            self.folder.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
            with suppress(FileExistsError):
                self.folder.mkdir(mode=FOLDER_MODE)
        self._check_folder()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Nobody else exchanges or destroys keys of this folder meanwhile, in any process."""
        self._make_folder()
        descriptor = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _check_folder(self) -> None:
        found = self.folder.lstat()
        if not stat.S_ISDIR(found.st_mode):
            raise _refused(f"{self.folder} is no folder", "correct the setting `signing.keys`")
        _refuse_open(self.folder, found, FOLDER_MODE)

    def _put(self, place: Path, key: Ed25519PrivateKey, *, anew: bool) -> None:
        """The key at its place, whole. `anew` never replaces one that is there already."""
        from cryptography.hazmat.primitives import serialization

        pem = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        self._write(place, pem, anew=anew)

    def _write(self, place: Path, content: bytes, *, anew: bool) -> None:
        beside = self.folder / f".{place.name}.{os.getpid()}.{time.monotonic_ns()}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            with os.fdopen(os.open(beside, flags, FILE_MODE), "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            if anew:
                with suppress(FileExistsError):  # another process was first: its key is the key
                    os.link(beside, place, follow_symlinks=False)
            else:
                beside.replace(place)
        finally:
            beside.unlink(missing_ok=True)
        self._sync()

    def _sync(self) -> None:
        """A name is on the disk only when its folder is."""
        descriptor = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _note(self, facts: KeyFacts, state: str) -> None:
        record = {
            "key_id": facts.key_id,
            "purpose": str(facts.purpose),
            "public_key": base64.b64encode(facts.public_key).decode("ascii"),
            "state": state,
            "until_us": facts.until_us or time.time_ns() // 1000,
        }
        content = json.dumps(record, sort_keys=True).encode("ascii")
        self._write(self.folder / f"{facts.key_id}.json", content, anew=False)


@dataclass(frozen=True, slots=True)
class KeyFileSigner:
    """Signs with the key that is in force at that moment (`ports.signer.Signer`)."""

    keys: KeyFolder
    purpose: Purpose

    def ready(self) -> None:
        """See `Signer.ready`."""
        self.keys.load(self.purpose)

    def sign(self, message: bytes) -> Signature:
        """See `Signer.sign`."""
        return sign_with(self.keys.load(self.purpose), message)


def _read_key(place: Path, *, exposed: bool = False) -> Ed25519PrivateKey:
    """The key in that file, which nobody but its owner can read or exchange, unless `exposed`."""
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    except ImportError:
        raise signing_missing() from None
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    with os.fdopen(os.open(place, flags), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise _refused(f"{place} is no plain file", "remove it; a new key is made when needed")
        if not exposed:
            _refuse_open(place, found, FILE_MODE)
        content = file.read(KEY_FILE_BYTES_MAX + 1)
    try:
        key = load_pem_private_key(content, password=None)
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise _refused(
            f"{place} holds no Ed25519 key",
            "bring the key back from a copy, or remove the file: then a new key is made",
        )
    return key


def _read_facts(place: Path) -> KeyFacts | None:
    """The record of a former key; None for a file that is none."""
    try:
        raw = json.loads(place.read_bytes()[:KEY_FILE_BYTES_MAX])
        public = base64.b64decode(raw["public_key"], validate=True)
        facts = KeyFacts(
            str(raw["key_id"]), Purpose(raw["purpose"]), public, raw["state"], int(raw["until_us"])
        )
    except (ValueError, KeyError, TypeError):
        return None
    return facts if is_sound_key(public) and facts.key_id == key_id(public) else None


def _refuse_open(place: Path, found: os.stat_result, mode: int) -> None:
    """Raises `RecordFailed` for what is not its user's own, or open to others."""
    if found.st_uid != os.geteuid():
        raise _refused(f"{place} belongs to another user", f"chown it, and: chmod {mode:o} {place}")
    if found.st_mode & _OTHERS:
        shown = stat.S_IMODE(found.st_mode)
        raise _refused(
            f"{place} is open to others (mode {shown:o}), so its key is no secret",
            f"if nobody can have read it: chmod {mode:o} {place}; else: affidavit keys rotate",
        )


def _refused(message: str, hint: str) -> RecordFailed:
    return RecordFailed(message, code="KEY_REFUSED", hint=hint)


@contextmanager
def _explained(folder: Path) -> Iterator[None]:
    """What the operating system says, as one clear error."""
    try:
        yield
    except OSError as error:
        where = error.filename or folder
        raise RecordFailed(
            f"the key folder cannot be used: {where}: {error.strerror}",
            code="KEY_UNREADABLE",
            hint="mend its permissions, or name another folder with the setting `signing.keys`",
        ) from error


def public_pem(facts: KeyFacts) -> str:
    """The public key as PEM that `openssl` reads, with its id and purpose above it (RFC 7468)."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    pem = Ed25519PublicKey.from_public_bytes(facts.public_key).public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return f"# affidavit {facts.purpose} {facts.key_id}\n{pem.decode('ascii')}"


def read_public_pem(content: bytes) -> bytes:
    """The raw public key in a PEM file. Raises `InputRefused` (KEY_REFUSED) for anything else, and
    for a key of small order."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        key = load_pem_public_key(content)
    except (ValueError, TypeError):
        key = None
    raw = key.public_bytes_raw() if isinstance(key, Ed25519PublicKey) else b""
    if not is_sound_key(raw):
        raise InputRefused(
            "this is no Ed25519 public key that can be trusted",
            code="KEY_REFUSED",
            hint="give a file from `affidavit keys export`, or a key's id",
        )
    return raw
