"""Names that would be more than names: a tenant that is a path, a Host with something behind it."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.datastructures import Headers

from affidavit.contract.errors import InputRefused
from affidavit.server.gatekeeper import LOOPBACK_NAMES, check_host
from affidavit.server.keyring import Keyring
from affidavit.server.permits import Role
from affidavit.server.problems import Problem


@pytest.mark.fault("R69")
@pytest.mark.parametrize("tenant", [".", ".."])
def test_a_tenant_that_is_another_folder_gets_no_key(tmp_path: Path, tenant: str) -> None:
    ring = Keyring(tmp_path / "keys.json")
    with pytest.raises(InputRefused, match="is no tenant"):
        ring.create("eve", tenant, (Role.ADMIN,))


@pytest.mark.parametrize("tenant", ["a.b", "...", "..a", "team@example"])
def test_a_tenant_with_dots_in_it_is_a_name(tmp_path: Path, tenant: str) -> None:
    assert Keyring(tmp_path / "keys.json").create("ann", tenant, (Role.VIEWER,))


@pytest.mark.parametrize(
    "host",
    ["localhost:80.evil.example", "localhost:999999", "localhost:x", "[::1]evil.test", ""],
)
def test_a_host_with_something_behind_its_name_is_refused(host: str) -> None:
    with pytest.raises(Problem):
        check_host(Headers({"host": host}), LOOPBACK_NAMES)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:80", "127.0.0.1:1", "[::1]:80", "[::1]"])
def test_a_name_of_ours_is_let_in(host: str) -> None:
    check_host(Headers({"host": host}), LOOPBACK_NAMES)
