"""Private keys in a folder: made once, whole, for their owner alone, one a purpose (A4, L5)."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from affidavit.adapters.ed25519_signer import check_ed25519
from affidavit.adapters.key_files import KeyFolder, public_pem, read_public_pem
from affidavit.contract.errors import InputRefused, RecordFailed
from affidavit.ports.signer import Purpose, key_id

pytestmark = pytest.mark.spec("A4")

HEADS = Purpose.RUN_HEADS


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_key_is_made_on_first_need_for_its_owner_alone(tmp_path: Path) -> None:
    keys = KeyFolder(tmp_path / "state" / "keys")
    old = os.umask(0)
    try:
        signature = keys.signer(HEADS).sign(b"message")
    finally:
        os.umask(old)
    assert check_ed25519(signature.public_key, b"message", signature.value)
    assert mode_of(keys.folder) == mode_of(keys.folder.parent) == 0o700
    assert [path.name for path in keys.folder.iterdir()] == ["run-heads.key"]
    assert mode_of(keys.folder / "run-heads.key") == 0o600
    assert keys.signer(HEADS).sign(b"message") == signature


def test_processes_that_need_it_first_get_the_same_key(tmp_path: Path) -> None:
    def sign(_: int) -> bytes:
        return KeyFolder(tmp_path / "keys").signer(HEADS).sign(b"").public_key

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(sign, range(32)))) == 1
    assert [path.name for path in (tmp_path / "keys").iterdir()] == ["run-heads.key"]


def test_of_those_who_rotate_at_once_no_key_is_lost(tmp_path: Path) -> None:
    """What may have signed something stays on record, or its owner could not revoke it."""
    KeyFolder(tmp_path / "keys").signer(HEADS)

    def rotate(_: int) -> str:
        return KeyFolder(tmp_path / "keys").rotate(HEADS).key_id

    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(rotate, range(16)))
    known = KeyFolder(tmp_path / "keys").list_keys()
    assert len(known) == 17
    assert set(made) <= {facts.key_id for facts in known}
    assert [facts.state for facts in known].count("in force") == 1


def test_no_two_purposes_share_a_key(tmp_path: Path) -> None:
    keys = KeyFolder(tmp_path / "keys")
    ids = {keys.signer(purpose).sign(b"").key_id for purpose in Purpose}
    assert len(ids) == len(Purpose)
    content = (keys.folder / "run-heads.key").read_bytes()
    (keys.folder / "webhooks.key").write_bytes(content)
    for purpose in (HEADS, Purpose.WEBHOOKS):
        with pytest.raises(RecordFailed, match="have the same key") as refused:
            keys.signer(purpose)
        assert refused.value.code == "KEY_REFUSED"
    assert keys.signer(Purpose.RETRACTIONS).sign(b"").key_id in ids


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o660, 0o777])
def test_what_others_can_read_or_write_is_not_used_and_not_repaired(
    tmp_path: Path, mode: int
) -> None:
    keys = KeyFolder(tmp_path / "keys")
    signer = keys.signer(HEADS)
    for place in (keys.folder / "run-heads.key", keys.folder):
        before = mode_of(place)
        place.chmod(mode | 0o500)
        with pytest.raises(RecordFailed, match="open to others") as refused:
            signer.sign(b"message")
        assert (refused.value.code, "chmod" in refused.value.hint) == ("KEY_REFUSED", True)
        assert mode_of(place) == mode | 0o500
        place.chmod(before)
    signer.sign(b"message")


@pytest.mark.parametrize("content", [b"", b"no key", b"-----BEGIN PRIVATE KEY-----\n", b"x" * 9999])
def test_a_file_that_holds_no_key_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    keys = KeyFolder(tmp_path / "keys")
    signer = keys.signer(HEADS)
    place = keys.folder / "run-heads.key"
    place.write_bytes(content)
    with pytest.raises(RecordFailed, match="holds no Ed25519 key"):
        signer.sign(b"message")
    assert place.read_bytes() == content


def test_a_link_and_a_folder_in_the_key_s_place_are_refused(tmp_path: Path) -> None:
    other = KeyFolder(tmp_path / "other")
    other.signer(HEADS)
    keys = KeyFolder(tmp_path / "keys")
    keys.signer(Purpose.WEBHOOKS)
    place = keys.folder / "run-heads.key"
    place.symlink_to(other.folder / "run-heads.key")
    with pytest.raises(RecordFailed) as refused:
        keys.signer(HEADS)
    assert refused.value.code == "KEY_UNREADABLE"
    place.unlink()
    place.mkdir(mode=0o700)
    with pytest.raises(RecordFailed):
        keys.signer(HEADS)


def test_a_folder_that_cannot_be_made_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(RecordFailed, match="key folder cannot be used") as refused:
        KeyFolder(tmp_path / "file" / "keys").signer(HEADS)
    assert refused.value.hint


def test_a_new_key_takes_over_and_the_old_one_stays_known(tmp_path: Path) -> None:
    keys = KeyFolder(tmp_path / "keys")
    signer = keys.signer(HEADS)
    old = signer.sign(b"message")
    rotated = keys.rotate(HEADS)
    new = signer.sign(b"message")
    assert new.key_id == rotated.key_id != old.key_id
    assert [(facts.key_id, facts.state) for facts in keys.list_keys()] == [
        (new.key_id, "in force"),
        (old.key_id, "retired"),
    ]
    secrets = [path for path in keys.folder.iterdir() if b"PRIVATE" in path.read_bytes()]
    assert [path.name for path in secrets] == ["run-heads.key"]


def test_a_key_that_others_could_read_can_be_replaced(tmp_path: Path) -> None:
    keys = KeyFolder(tmp_path / "keys")
    signer = keys.signer(HEADS)
    old = signer.sign(b"").key_id
    (keys.folder / "run-heads.key").chmod(0o644)
    keys.rotate(HEADS)
    assert signer.sign(b"").key_id != old
    assert mode_of(keys.folder / "run-heads.key") == 0o600


def test_a_revoked_key_signs_no_more(tmp_path: Path) -> None:
    keys = KeyFolder(tmp_path / "keys")
    old = keys.signer(HEADS).sign(b"").key_id
    revoked = keys.revoke(old)
    assert revoked is not None
    assert (revoked.key_id, revoked.state) == (old, "revoked")
    assert keys.signer(HEADS).sign(b"").key_id != old
    assert keys.revoke("0" * 64) is None


def test_a_public_key_travels_as_pem(tmp_path: Path) -> None:
    keys = KeyFolder(tmp_path / "keys")
    keys.signer(HEADS)
    (facts,) = keys.list_keys()
    pem = public_pem(facts)
    assert key_id(read_public_pem(pem.encode())) == facts.key_id
    assert pem.startswith(f"# affidavit run-heads {facts.key_id}\n")
    with pytest.raises(InputRefused):
        read_public_pem(b"-----BEGIN PUBLIC KEY-----\n")
    private = (keys.folder / "run-heads.key").read_bytes()
    with pytest.raises(InputRefused):
        read_public_pem(private)
