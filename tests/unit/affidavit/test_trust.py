"""Whose signature counts: pinned, listed, revoked (A4)."""

from __future__ import annotations

import pytest

from affidavit.adapters.ed25519_signer import MemorySigner, check_ed25519
from affidavit.affidavit.recheck import Verdict
from affidavit.affidavit.seal import Sealer
from affidavit.affidavit.trust import (
    TRUSTED_MAX,
    Trust,
    TrustedKey,
    TrustList,
    read_trust,
    write_trust,
)
from affidavit.contract.errors import InputRefused
from affidavit.ports.signer import Purpose
from tests.support.checking import KEY_ID, recheck
from tests.support.worlds import act, conclude
from tests.unit.affidavit.files import sealed_by

pytestmark = pytest.mark.spec("A4", "A5")

OTHER = MemorySigner().sign(b"").key_id


@pytest.fixture(scope="module")
def content() -> bytes:
    """A file that the tests' own key signed."""
    return sealed_by([act("probe"), conclude()])


def trust(
    *trusted: str, pinned: tuple[str, ...] = (), revoked: tuple[str, ...] = (), **more: Purpose
) -> Trust:
    keys = tuple(TrustedKey(key_id=key, name="us", **more) for key in trusted)
    return Trust(check_ed25519, frozenset(pinned), TrustList(trusted=keys, revoked=revoked))


@pytest.mark.parametrize(
    ("told", "verdict"),
    [
        (trust(), Verdict.INTACT_SIGNER_UNKNOWN),
        (trust(OTHER), Verdict.INTACT_SIGNER_UNKNOWN),
        (trust(KEY_ID, purpose=Purpose.WEBHOOKS), Verdict.INTACT_SIGNER_UNKNOWN),
        (trust(KEY_ID), Verdict.INTACT_TRUSTED),
        (trust(OTHER, KEY_ID), Verdict.INTACT_TRUSTED),
        (trust(pinned=(KEY_ID,)), Verdict.INTACT_TRUSTED),
        (trust(pinned=(OTHER, KEY_ID)), Verdict.INTACT_TRUSTED),
        (trust(pinned=(OTHER,)), Verdict.ALTERED),
        (trust(KEY_ID, pinned=(OTHER,)), Verdict.ALTERED),
        (trust(revoked=(OTHER,)), Verdict.INTACT_SIGNER_UNKNOWN),
        (trust(revoked=(KEY_ID,)), Verdict.ALTERED),
        (trust(KEY_ID, revoked=(KEY_ID,)), Verdict.ALTERED),
        (trust(pinned=(KEY_ID,), revoked=(KEY_ID,)), Verdict.ALTERED),
    ],
)
def test_what_a_reader_knows_decides(content: bytes, told: Trust, verdict: Verdict) -> None:
    found = recheck(content, told)
    assert found.verdict is verdict
    assert found.signer is not None
    assert found.signer.key_id == KEY_ID
    if verdict is Verdict.ALTERED:
        assert found.failure is not None
        assert (found.failure.name, found.failure.pointer) == ("signer", "/signature/public_key")


def test_a_list_travels_as_a_file() -> None:
    known = TrustList().with_key(TrustedKey(key_id=KEY_ID, name="us")).without(OTHER)
    assert read_trust(write_trust(known)) == known
    renamed = known.with_key(TrustedKey(key_id=KEY_ID, name="them"))
    assert [key.name for key in renamed.trusted] == ["them"]
    assert known.without(KEY_ID).trusted == ()


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b'{"format":"affidavit-trust/2"}',
        b'{"trusted":[{"key_id":"ab"}]}',
        b'{"trusted":[{"key_id":"%b"}],"more":1}' % KEY_ID.encode(),
        b'{"revoked":["%b\\n"]}' % KEY_ID.encode(),
    ],
    ids=["nothing", "a list", "another format", "a short id", "an unknown field", "a line break"],
)
def test_a_list_that_cannot_be_read_is_refused(text: bytes) -> None:
    with pytest.raises(InputRefused) as refused:
        read_trust(text)
    assert refused.value.code == "TRUST_REFUSED"


def test_a_full_list_says_so_and_is_not_cut() -> None:
    """Nobody learns from a traceback that a revocation did not happen."""
    ids = [f"{number:064x}" for number in range(TRUSTED_MAX)]
    full = TrustList(trusted=tuple(TrustedKey(key_id=each) for each in ids), revoked=tuple(ids))
    with pytest.raises(InputRefused, match="1000 trusted keys already") as refused:
        full.with_key(TrustedKey(key_id=KEY_ID))
    assert refused.value.code == "TRUST_REFUSED"
    with pytest.raises(InputRefused, match="1000 revoked keys already"):
        full.without(KEY_ID)
    assert full.without(ids[0]).revoked[-1] == ids[0], "one that is there already is no more"


def test_a_sealer_signs_for_runs_alone(content: bytes) -> None:
    from affidavit.affidavit.document import read_document
    from affidavit.affidavit.seal import head_of, sign
    from affidavit.contract.errors import InternalFault

    document = read_document(content)
    sealer = Sealer(MemorySigner(Purpose.WEBHOOKS))
    with pytest.raises(InternalFault, match="does not sign"):
        sign(document, head_of(document, 1, "0" * 64), sealer.signer)
