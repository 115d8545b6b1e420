"""Keys and whom to trust: `keys show|rotate|export|trust|revoke`, and what `--key` means."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NoReturn

from affidavit.adapters.key_files import KeyFacts, KeyFolder, public_pem, read_public_pem
from affidavit.affidavit.trust import (
    KEY_ID,
    NAME_CHARS_MAX,
    Trust,
    TrustedKey,
    TrustList,
    read_trust,
    write_trust,
)
from affidavit.cli.opening import settings_in_force
from affidavit.cli.outlet import write_whole
from affidavit.cli.screen import one_line, say, say_json
from affidavit.contract.errors import InputRefused, RecordFailed
from affidavit.ports.signer import Purpose, key_id
from affidavit.wiring import trust_in

TRUST_BYTES_MAX: Final = 1_000_000
"""A thousand keys with names are 200 KB."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def trust_of(keys: Iterable[str]) -> Trust:
    """What the reader trusts: the pinned keys, and the trust file where there is one.

    Raises InputRefused (KEY_UNKNOWN, KEY_REFUSED, TRUST_REFUSED).
    """
    return trust_in((_pinned(key) for key in keys), _trust_list())


def _pinned(key: str) -> str:
    """The id that `--key FILE|ID` means."""
    if KEY_ID.match(key):
        return key
    path = Path(key)
    try:
        content = path.read_bytes()[:TRUST_BYTES_MAX]
    except (OSError, ValueError):
        raise InputRefused(
            f"{key!r} is neither a key's id nor a file that can be read",
            code="KEY_UNKNOWN",
            hint="give all 64 digits of an id, or a file of `affidavit keys export`",
        ) from None
    return key_id(read_public_pem(content))


def _trust_file() -> Path:
    return settings_in_force().signing.trust_file(os.environ).expanduser()


def _trust_list() -> TrustList:
    place = _trust_file()
    try:
        with place.open("rb") as file:
            content = file.read(TRUST_BYTES_MAX + 1)
    except FileNotFoundError:
        if settings_in_force().signing.trust:
            raise _no_trust(place, "it is not there") from None
        return TrustList()
    except OSError as error:
        raise _no_trust(place, error.strerror or "it cannot be read") from None
    return read_trust(content)


def _no_trust(place: Path, why: str) -> InputRefused:
    return InputRefused(
        f"the trust file {place} cannot be read: {why}",
        code="TRUST_REFUSED",
        hint="correct the setting `signing.trust`, or make the file with `affidavit keys trust`",
    )


def show(*, as_json: bool) -> NoReturn:
    """Every key of this installation; one for run heads is made if there is none."""
    with _keys() as folder:
        folder.load(Purpose.RUN_HEADS)
        found = folder.list_keys()
    if as_json:
        say_json({"folder": str(folder.folder), "keys": [_plain(facts) for facts in found]})
    else:
        for facts in found:
            until = f" until {_day(facts.until_us)}" if facts.until_us else ""
            say(f"{facts.key_id}  {facts.purpose}  {facts.state}{until}")
        say(f"private keys are in {folder.folder}")
    raise SystemExit(0)


def rotate(purpose: str, *, as_json: bool) -> NoReturn:
    """A new key for that purpose; what the old one signed stays as good as before."""
    with _keys() as folder:
        facts = folder.rotate(purpose_of(purpose))
    _leave(facts, as_json=as_json)


def export(purpose: str, out: Path | None, *, as_json: bool) -> NoReturn:
    """The public key of that purpose, for those who are to check."""
    asked = purpose_of(purpose)
    with _keys() as folder:
        folder.load(asked)
        facts = next(facts for facts in folder.list_keys() if facts.purpose is asked)
    if out is not None:
        write_whole(out, public_pem(facts).encode("ascii"))
    if as_json or out is not None:
        _leave(facts, as_json=as_json)
    say(public_pem(facts).rstrip("\n"))
    raise SystemExit(0)


def trust(key: str, name: str, purpose: str, *, as_json: bool) -> NoReturn:
    """From now on this reader believes that key."""
    identity = _pinned(key)
    if len(name) > NAME_CHARS_MAX:
        raise InputRefused(
            f"the name has {len(name)} characters",
            code="USAGE",
            hint=f"call the key something of at most {NAME_CHARS_MAX} characters",
        )
    entry = TrustedKey(key_id=identity, name=name, purpose=purpose_of(purpose))
    with _changing_trust():
        before = _trust_list()
        if identity in before.revoked:
            raise InputRefused(
                f"the key {identity} was revoked",
                code="KEY_REVOKED",
                hint="a revoked key stays revoked; ask for the new one",
            )
        _write_trust(before.with_key(entry))
    _tell(f"trusted  {identity}  {purpose}  {name}", {"trusted": identity}, as_json=as_json)


def revoke(key: str, *, as_json: bool) -> NoReturn:
    """Nothing that key signed is believed any more, here; if it is ours, it signs no more."""
    identity = _pinned(key)
    with _changing_trust():
        after = _trust_list().without(identity)  # before the key is destroyed: it may be refused
        with _keys() as folder:
            facts = folder.revoke(identity)
        _write_trust(after)
    whose = f"{facts.purpose} of this installation" if facts else "somebody else's"
    _tell(f"revoked  {identity}  {whose}", {"revoked": identity}, as_json=as_json)


@contextmanager
def _changing_trust() -> Iterator[None]:
    """Of two who change the trust file at once, one waits: no revocation is lost."""
    place = _trust_file()
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(place.with_name(f".{place.name}.lock"), flags, 0o600)
    except OSError as error:
        raise _no_trust(place, error.strerror or "its folder cannot be used") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _write_trust(known: TrustList) -> None:
    write_whole(_trust_file(), write_trust(known))


def purpose_of(name: str) -> Purpose:
    """The purpose of that name. Raises InputRefused (USAGE)."""
    try:
        return Purpose(name)
    except ValueError:
        raise InputRefused(
            f"no key has the purpose {name!r}",
            code="USAGE",
            hint=f"use one of {', '.join(Purpose)}",
        ) from None


@contextmanager
def _keys() -> Iterator[KeyFolder]:
    """The key folder of the settings; what it cannot do is the user's to mend (exit 2)."""
    try:
        yield KeyFolder(settings_in_force().signing.key_folder(os.environ))
    except RecordFailed as failed:
        raise InputRefused(failed.message, code=failed.code, hint=failed.hint) from failed


def _leave(facts: KeyFacts, *, as_json: bool) -> NoReturn:
    _tell(f"{facts.key_id}  {facts.purpose}  {facts.state}", _plain(facts), as_json=as_json)


def _tell(text: str, plain: dict[str, object], *, as_json: bool) -> NoReturn:
    if as_json:
        say_json(plain)
    else:
        say(one_line(text))
    raise SystemExit(0)


def _plain(facts: KeyFacts) -> dict[str, object]:
    return {
        "key_id": facts.key_id,
        "purpose": str(facts.purpose),
        "state": facts.state,
        "until": _day(facts.until_us) if facts.until_us else None,
    }


def _day(moment_us: int) -> str:
    return (_EPOCH + timedelta(microseconds=moment_us)).strftime("%Y-%m-%dT%H:%M:%SZ")
