"""[oidc]: half a configuration is refused, because what is missing might have kept somebody out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from pydantic import ValidationError

from affidavit.adapters.oidc_tables import OidcTable
from affidavit.contract.errors import InputRefused
from affidavit.server.oidc import principal_of_claims
from affidavit.server.permits import Role
from affidavit.settings import read_settings

WHOLE: Final = """
[oidc]
issuer = "https://login.example"
audiences = ["affidavit"]
client-id = "console"
redirect-uri = "https://affidavit.example/login/oidc/callback"
tenant-claim = "org"
tenants = { "acme-corp" = "acme" }
roles-claim = "realm_access.roles"
roles = { "sre" = "operator", "readers" = "draft-reader" }
"""


def table(**changes: Any) -> OidcTable:
    """A whole table, but for the changes."""
    return OidcTable.model_validate(
        {
            "issuer": "https://login.example",
            "audiences": ("affidavit",),
            "tenant_claim": "org",
            "tenants": {"acme-corp": "acme"},
            "roles_claim": "realm_access.roles",
            "roles": {"sre": "operator", "readers": "draft-reader"},
            **changes,
        }
    )


def test_a_file_with_everything_is_read(tmp_path: Path) -> None:
    (tmp_path / "affidavit.toml").write_text(WHOLE)
    told = read_settings({}, tmp_path).oidc
    assert told.has_login
    assert told.roles["sre"] == "operator"
    assert read_settings({}, tmp_path / "nowhere").oidc == OidcTable()


@pytest.mark.fault("F25")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('issuer = "https://login.example"', ""),
        ('issuer = "https://login.example"', 'issuer = "http://login.example"'),
        ('issuer = "https://login.example"', 'issuer = "login.example"'),
        ('issuer = "https://login.example"', 'issuer = "https://me:secret@login.example"'),
        ('audiences = ["affidavit"]', 'algorithms = ["HS256"]'),
        ('audiences = ["affidavit"]', 'algorithms = ["none"]'),
        ('audiences = ["affidavit"]', "algorithms = []"),
        ('audiences = ["affidavit"]', 'scopes = ["profile"]'),
        ('audiences = ["affidavit"]', 'audience = "affidavit"'),
        ('redirect-uri = "https://affidavit.example/login/oidc/callback"', ""),
        ("https://affidavit.example/login", "http://affidavit.example/login"),
        ('client-id = "console"', ""),
        ('tenant-claim = "org"', ""),
        ('tenants = { "acme-corp" = "acme" }', ""),
        ('roles-claim = "realm_access.roles"', ""),
        ('roles = { "sre" = "operator", "readers" = "draft-reader" }', ""),
        ('"operator"', '"root"'),
    ],
)
def test_what_is_missing_or_unsafe_refuses_the_start(tmp_path: Path, old: str, new: str) -> None:
    assert old in WHOLE
    (tmp_path / "affidavit.toml").write_text(WHOLE.replace(old, new))
    with pytest.raises(InputRefused) as refused:
        read_settings({}, tmp_path)
    assert refused.value.code == "SETTINGS_REFUSED"
    assert "secret" not in refused.value.message


def test_without_an_audience_and_a_client_nobody_could_come() -> None:
    with pytest.raises(ValidationError, match="audiences"):
        table(audiences=())


def told(**changes: Any) -> Mapping[str, Any]:
    """The claims of somebody who is mapped, but for the changes."""
    return {"sub": "ann", "org": "acme-corp", "realm_access": {"roles": ["sre"]}, **changes}


def test_claims_give_what_is_mapped_and_nothing_else() -> None:
    who = principal_of_claims(told(role="admin", roles=["admin"]), table())
    assert who is not None
    assert (who.subject, who.tenant, who.roles) == ("oidc:ann", "acme", frozenset({Role.OPERATOR}))


def test_a_claim_whose_name_has_dots_is_found_before_a_path() -> None:
    claims = {**told(), "realm_access.roles": ["readers"]}
    who = principal_of_claims(claims, table())
    assert who is not None
    assert who.roles == frozenset({Role.DRAFT_READER})


@pytest.mark.parametrize("verified", [None, False, "true", 1])
def test_an_address_that_nobody_verified_is_nobody_s_name(verified: object) -> None:
    claims = told(email="ann@example.org", email_verified=verified)
    assert principal_of_claims(claims, table(subject_claim="email")) is None
    claims = told(email="ann@example.org", email_verified=True)
    assert principal_of_claims(claims, table(subject_claim="email")) is not None


def test_every_role_of_a_table_is_a_role_of_the_service() -> None:
    for role in Role:
        who = principal_of_claims(told(), table(roles={"sre": str(role)}))
        assert who is not None
        assert who.roles == frozenset({role})
