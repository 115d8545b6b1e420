"""[oidc]: whose tokens are believed, and what their claims give; off while there is no issuer."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from pydantic import Field, model_validator

from affidavit.adapters.option_table import OptionTable
from affidavit.adapters.outgoing_rules import Place, place_of
from affidavit.contract.errors import InputRefused

Algorithm: TypeAlias = Literal[
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"
]
"""Signatures by a key pair. A secret that both sides know (HS256) and `none` cannot be named."""

RoleName: TypeAlias = Literal["viewer", "operator", "approver", "draft-reader", "admin"]

LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})


class OidcTable(OptionTable):
    """`[oidc]`. Whoever has no tenant and no role by these mappings has no access."""

    issuer: str = Field(
        default="", description="the issuer's URL, exactly as its tokens say it; empty: no OIDC"
    )
    audiences: tuple[str, ...] = Field(
        default=(), description="a bearer token has to be for one of them; empty: none is taken"
    )
    client_id: str = Field(
        default="", description="our client at the issuer, for browsers; empty: keys alone log in"
    )
    client_secret_env: str = Field(
        default="", description="the variable with the client's secret; empty: a public client"
    )
    redirect_uri: str = Field(
        default="", description="our own `…/login/oidc/callback`, as it is known to the issuer"
    )
    scopes: tuple[str, ...] = Field(
        default=("openid",), min_length=1, description="what a browser's login asks for"
    )
    algorithms: tuple[Algorithm, ...] = Field(
        default=("RS256", "ES256"), min_length=1, description="signatures that are believed"
    )
    subject_claim: str = Field(
        default="sub", min_length=1, description="the claim that names somebody for good"
    )
    tenant_claim: str = Field(default="", description="the claim that `tenants` looks up")
    tenants: Mapping[str, str] = Field(
        default_factory=lambda: MappingProxyType({}),
        description="a value of that claim → a tenant; exactly one has to fit",
    )
    roles_claim: str = Field(default="", description="the claim that `roles` looks up")
    roles: Mapping[str, RoleName] = Field(
        default_factory=lambda: MappingProxyType({}),
        description="a value of that claim → a role; at least one has to fit",
    )

    @property
    def has_login(self) -> bool:
        """Whether browsers log in at the issuer."""
        return bool(self.issuer and self.client_id)

    @model_validator(mode="after")
    def _is_whole(self) -> OidcTable:
        """Half a configuration is none: what was meant to keep somebody out might be missing."""
        if not self.issuer:
            if self.model_fields_set:
                raise ValueError("an OIDC setting without `issuer` does nothing")
            return self
        for name in ("tenant_claim", "tenants", "roles_claim", "roles"):
            if not getattr(self, name):
                raise ValueError(f"without `{name.replace('_', '-')}` nobody would have access")
        if not (self.audiences or self.client_id):
            raise ValueError(
                "name `audiences` for bearer tokens, `client-id` for browsers, or both"
            )
        if bool(self.client_id) != bool(self.redirect_uri):
            raise ValueError("`client-id` and `redirect-uri` belong together")
        if self.client_id and "openid" not in self.scopes:
            raise ValueError("without the scope openid a login has no ID token")
        for url in (self.issuer, *([self.redirect_uri] if self.redirect_uri else [])):
            check_secure(url)
        return self


def check_secure(url: str) -> Place:
    """The place of a URL that goes over TLS, or stays on this machine. Raises ValueError."""
    try:
        place = place_of(url)
    except InputRefused as refused:
        raise ValueError(refused.message) from None
    if place.scheme != "https" and place.host not in LOOPBACK:
        raise ValueError(f"{place.host} is not reached over https")
    return place
