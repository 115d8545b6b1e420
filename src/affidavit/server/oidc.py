"""Somebody whom an OpenID Connect issuer knows: by a bearer token, or by a browser's login.

What a token says gives nobody anything by itself: tenant and roles come from `[oidc]` alone, which
names the values of claims that mean one; no value that is named, or two tenants, is no access.

A browser's login keeps its state in the browser, sealed: the cookie holds state, nonce and PKCE
verifier under a secret of this installation, so that nobody can fill this process with logins that
never end, and any process of the service can end one. A login lasts an hour here: the issuer is
asked again, and whoever was put out there is out here.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlencode

from anyio import CapacityLimiter, WouldBlock

from affidavit.adapters.oidc_issuer import Issuer, TokenRefused, need_joserfc
from affidavit.adapters.oidc_tables import OidcTable
from affidavit.adapters.outgoing_http import OutgoingHttp, read_secret
from affidavit.adapters.outgoing_rules import check_host, place_of
from affidavit.contract.errors import InputRefused, ToolFailed
from affidavit.server.keyring import NAME
from affidavit.server.logbook import LOGGER
from affidavit.server.permits import Principal, Role
from affidavit.server.problems import Problem
from affidavit.settings import Settings

LOGIN_LIVES_S: Final = 600
"""From the way out to the way back: somebody types a password and a second factor."""

SESSION_LIVES_S: Final = 3_600.0

EXCHANGES_MAX: Final = 16
"""Codes that are exchanged at once; what is more comes again."""

CODE_CHARS_MAX: Final = 2_048

SUBJECT: Final = re.compile(r"[\x21-\x7e]{1,90}")
"""What is written into runs and approvals; `oidc:` before it, which no key's name can have."""

PREFIX: Final = "oidc:"


@dataclass(frozen=True, slots=True)
class Way:
    """A login that begins: where the browser goes, and what it carries until it comes back."""

    url: str
    cookie: str


@dataclass(frozen=True, slots=True)
class Return:
    """What a browser comes back with."""

    code: str
    state: str
    issuer: str
    cookie: str


@dataclass(slots=True)
class Oidc:
    """The service's dealings with its issuer."""

    table: OidcTable
    issuer: Issuer
    secret: bytes
    exchanging: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(EXCHANGES_MAX))

    async def bearer(self, token: str) -> Principal | None:
        """Who shows this token; None for one that is not believed.

        Raises Problem: 403 for somebody without access, 503 where it cannot be checked now.
        """
        if not self.table.audiences:
            return None
        try:
            claims = await self._claims(token, self.table.audiences)
        except TokenRefused as refused:
            LOGGER.info("a token was refused: %s", refused.message, extra={"code": refused.code})
            return None
        return self._admit(claims)

    async def begin(self) -> Way:
        """A login. Raises Problem (503)."""
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        told = {"state": state, "nonce": nonce, "verifier": verifier, "at": int(time.time())}
        challenge = hashlib.sha256(verifier.encode("ascii")).digest()
        query = {
            "response_type": "code",
            "client_id": self.table.client_id,
            "redirect_uri": self.table.redirect_uri,
            "scope": " ".join(self.table.scopes),
            "state": state,
            "nonce": nonce,
            "code_challenge": base64.urlsafe_b64encode(challenge).decode("ascii").rstrip("="),
            "code_challenge_method": "S256",
        }
        try:
            where = (await self.issuer.metadata()).authorization_endpoint
        except (ToolFailed, InputRefused) as error:
            raise _unavailable(error) from None
        joint = "&" if "?" in where else "?"
        return Way(f"{where}{joint}{urlencode(query)}", self._sealed(told))

    async def finish(self, back: Return) -> Principal:
        """Who has logged in. Raises Problem: 403 for a login that is not one, 429, 503."""
        kept = self._opened(back.cookie)
        is_ours = hmac.compare_digest(str(kept.get("state", "")).encode(), back.state.encode())
        if not kept or not is_ours or not 0 < len(back.code) <= CODE_CHARS_MAX:
            raise _refused("it was not begun here, or took too long")
        if back.issuer not in {"", self.table.issuer}:  # RFC 9207: mixed up with another issuer
            raise _refused("another issuer answered")
        try:
            self.exchanging.acquire_nowait()
        except WouldBlock:
            raise Problem(
                429,
                "REQUESTS_TOO_MANY",
                "too many logins are under way",
                hint="come again in a moment",
                headers={"retry-after": "1"},
            ) from None
        try:
            token = await self.issuer.exchange(back.code, str(kept["verifier"]))
            claims = await self._claims(token, (self.table.client_id,), str(kept["nonce"]))
        except TokenRefused as refused:
            LOGGER.info("a login was refused: %s", refused.message, extra={"code": refused.code})
            raise _refused("the issuer's answer does not hold") from None
        except (ToolFailed, InputRefused) as error:
            raise _unavailable(error) from None
        finally:
            self.exchanging.release()
        return self._admit(claims)

    async def close(self) -> None:
        """No connection is open."""
        await self.issuer.http.close()

    async def _claims(
        self, token: str, audiences: tuple[str, ...], nonce: str | None = None
    ) -> dict[str, Any]:
        try:
            return await self.issuer.claims_of(token, audiences, nonce)
        except TokenRefused:
            raise
        except (ToolFailed, InputRefused) as error:
            raise _unavailable(error) from None

    def _admit(self, claims: Mapping[str, Any]) -> Principal:
        who = principal_of_claims(claims, self.table)
        if who is None:
            raise Problem(
                403,
                "ACCESS_UNMAPPED",
                "you are known, and have no access here",
                hint="an operator maps your tenant and roles: [oidc] tenants, roles",
            )
        return who

    def _sealed(self, told: Mapping[str, object]) -> str:
        body = base64.urlsafe_b64encode(json.dumps(told).encode("ascii")).decode("ascii")
        return f"{body}.{self._mark(body)}"

    def _opened(self, cookie: str) -> dict[str, Any]:
        """What the cookie holds; nothing for one that is not ours or too old."""
        body, _, mark = cookie.partition(".")
        if not hmac.compare_digest(self._mark(body).encode(), mark.encode("utf-8", "replace")):
            return {}
        try:
            told: dict[str, Any] = json.loads(base64.urlsafe_b64decode(body))
        except (binascii.Error, ValueError):
            return {}
        age_s = time.time() - told["at"]
        return told if 0 <= age_s <= LOGIN_LIVES_S else {}

    def _mark(self, body: str) -> str:
        told = b"oidc-login\0" + body.encode("utf-8", "replace")
        return hmac.new(self.secret, told, hashlib.sha256).hexdigest()


def open_oidc(settings: Settings, environment: Mapping[str, str], secret: bytes) -> Oidc | None:
    """The service's issuer; None where none is configured. Raises InputRefused as
    `check_issuer` does."""
    check_issuer(settings, environment)
    table = settings.oidc
    if not table.issuer:
        return None
    return Oidc(table, Issuer(table, OutgoingHttp(settings.outgoing), environment), secret)


def check_issuer(settings: Settings, environment: Mapping[str, str]) -> None:
    """Raises InputRefused for an issuer that could never be asked, and for mappings that lead
    nowhere: such a service does not start."""
    table = settings.oidc
    if not table.issuer:
        return
    need_joserfc()
    check_host(place_of(table.issuer), settings.outgoing)
    if table.client_secret_env:
        read_secret(table.client_secret_env, "", environment)
    for tenant in table.tenants.values():
        if NAME.fullmatch(tenant) is None:
            raise InputRefused(
                f"[oidc] tenants: {tenant[:70]!r} is no tenant",
                code="SETTINGS_REFUSED",
                hint="letters, digits and . _ @ -",
            )


def principal_of_claims(claims: Mapping[str, Any], table: OidcTable) -> Principal | None:
    """Whom these claims make; None where the mappings give no tenant, two, or no role."""
    subject = _claim(claims, table.subject_claim)
    if not isinstance(subject, str) or SUBJECT.fullmatch(subject) is None:
        return None
    if table.subject_claim == "email" and claims.get("email_verified") is not True:
        return None  # else anybody could claim a colleague's address
    tenants = {
        table.tenants[value]
        for value in _values(_claim(claims, table.tenant_claim))
        if value in table.tenants
    }
    roles = {
        Role(table.roles[value])
        for value in _values(_claim(claims, table.roles_claim))
        if value in table.roles
    }
    if len(tenants) != 1 or not roles:
        return None
    return Principal(PREFIX + subject, tenants.pop(), frozenset(roles))


def _claim(claims: Mapping[str, Any], name: str) -> object:
    """A claim by its name; else by a path of names with dots between (`realm_access.roles`)."""
    if name in claims:
        return claims[name]
    found: object = claims
    for part in name.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _values(claim: object) -> tuple[str, ...]:
    told = claim if isinstance(claim, list) else [claim]
    return tuple(value for value in told if isinstance(value, str))


def _unavailable(error: ToolFailed | InputRefused) -> Problem:
    LOGGER.warning("the issuer cannot be asked: %s", error.message, extra={"code": error.code})
    return Problem(
        503,
        "ISSUER_UNAVAILABLE",
        "who you are cannot be checked now",
        hint="come again in a moment; a key works meanwhile",
        headers={"retry-after": "5"},
    )


def _refused(why: str) -> Problem:
    return Problem(403, "LOGIN_REFUSED", f"this login is refused: {why}", hint="begin it anew")
