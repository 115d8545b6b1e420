"""An OpenID Connect issuer: its keys, its tokens, and the exchange of a code for one.

Discovery (OpenID Connect Discovery 1.0), signatures and claims (RFC 7515, 7519; joserfc), the code
flow with PKCE (RFC 6749, 7636). Everything goes out under the rules of `[outgoing]`. Keys are kept
for a while and fetched anew for a key id that is not known, but not more often than twice a
minute, whoever makes key ids up. Only keys that sign, of at least 2048 bits where they are RSA, are
taken; where a header says where keys could be found, nobody looks.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlencode

import anyio

from affidavit.adapters.oidc_tables import OidcTable, check_secure
from affidavit.adapters.outgoing_http import HttpCall, OutgoingHttp, expect_ok, read_secret
from affidavit.contract.errors import InputRefused, ToolFailed

if TYPE_CHECKING:
    from joserfc.jwk import KeySet

TOKEN_CHARS_MAX: Final = 16_384
"""A token with a few hundred groups; the header that it comes in has its own bound."""

HEADER_BYTES_MAX: Final = 4_096
"""Of a token's own header: some issuers put a certificate into it."""

DOCUMENT_BYTES_MAX: Final = 65_536
KEYS_BYTES_MAX: Final = 262_144
KEYS_MAX: Final = 64
"""Large issuers publish a dozen; a set of thousands would make each token dear."""

LIVES_S: Final = 600.0
"""How long discovery and keys are believed: a key that was withdrawn is out within ten minutes."""

STALE_S: Final = 3_600.0
"""How long keys are still believed while the issuer does not answer; after that nobody gets in."""

REFETCH_S: Final = 30.0
"""The least time between two fetches."""

ANSWER_S: Final = 5.0
LEEWAY_S: Final = 60
"""How far two clocks may be apart."""

RSA_CHARS_MIN: Final = 342
"""Of a modulus of 2048 bits in base64url."""


class TokenRefused(InputRefused):
    """A token that is not believed. The message says which rule, and nothing of the token."""

    code = "TOKEN_REFUSED"


class IssuerUnavailable(ToolFailed):
    """Nothing can be checked now: the issuer does not answer, or answers nonsense."""

    code = "ISSUER_UNAVAILABLE"


@dataclass(frozen=True, slots=True)
class Metadata:
    """What discovery says, as far as it is used."""

    jwks_uri: str
    authorization_endpoint: str
    token_endpoint: str


@dataclass(slots=True)
class Issuer:
    """One issuer. Safe for many requests at once; its clocks can be given."""

    table: OidcTable
    http: OutgoingHttp
    environment: Mapping[str, str]
    monotonic: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    _metadata: Metadata | None = None
    _keys: KeySet | None = None
    _metadata_s: float = 0.0
    _keys_s: float = 0.0
    _tried_s: float = float("-inf")
    _lock: anyio.Lock = field(default_factory=anyio.Lock)

    async def claims_of(
        self, token: str, audiences: tuple[str, ...], nonce: str | None = None
    ) -> dict[str, Any]:
        """The claims of a token that this issuer signed for one of the audiences, now.

        Raises TokenRefused, and IssuerUnavailable where no key can be had.
        """
        from joserfc.errors import InvalidKeyIdError

        if len(token) > TOKEN_CHARS_MAX or token.count(".") != 2:
            raise TokenRefused("not a signed token of a usable size")
        try:
            claims = _decoded(token, await self._current(), self.table)
        except InvalidKeyIdError:
            claims = self._decoded_again(token, await self._current(anew=True))
        self._check(claims, audiences, nonce)
        return claims

    async def metadata(self) -> Metadata:
        """Where the issuer is asked for what. Raises IssuerUnavailable."""
        async with self._lock:
            return await self._discover()

    async def exchange(self, code: str, verifier: str) -> str:
        """The ID token that a login's code stands for. Raises TokenRefused where the issuer does
        not take the code, IssuerUnavailable."""
        told = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.table.redirect_uri,
            "client_id": self.table.client_id,
            "code_verifier": verifier,
        }
        headers = {"content-type": "application/x-www-form-urlencoded", **self._client()}
        where = (await self.metadata()).token_endpoint
        call = HttpCall(
            "OIDC issuer",
            where,
            "POST",
            headers=headers,
            body=urlencode(told).encode("ascii"),
            timeout_s=ANSWER_S,
            bytes_max=DOCUMENT_BYTES_MAX,
        )
        answer = await self.http.send(call)
        if 400 <= answer.status < 500:
            raise TokenRefused("the issuer did not take the code")
        token = _object(expect_ok(answer, call).body).get("id_token")
        if not isinstance(token, str):
            raise TokenRefused("the issuer gave no ID token")
        return token

    def _client(self) -> dict[str, str]:
        """Who we are to the token endpoint: nothing for a public client (RFC 6749, 2.3.1)."""
        if not self.table.client_secret_env:
            return {}
        import base64

        secret = read_secret(self.table.client_secret_env, "", self.environment)
        pair = f"{quote(self.table.client_id, safe='')}:{quote(secret, safe='')}"
        return {"authorization": f"Basic {base64.b64encode(pair.encode()).decode('ascii')}"}

    def _decoded_again(self, token: str, keys: KeySet) -> dict[str, Any]:
        from joserfc.errors import InvalidKeyIdError

        try:
            return _decoded(token, keys, self.table)
        except InvalidKeyIdError:
            raise TokenRefused("signed by a key that is not the issuer's") from None

    def _check(
        self, claims: Mapping[str, Any], audiences: tuple[str, ...], nonce: str | None
    ) -> None:
        from joserfc.errors import JoseError
        from joserfc.jwt import JWTClaimsRegistry

        rules = JWTClaimsRegistry(
            now=int(self.wall()),
            leeway=LEEWAY_S,
            iss={"essential": True, "value": self.table.issuer},
            aud={"essential": True, "values": list(audiences)},
            exp={"essential": True},
            sub={"essential": True},
        )
        try:
            rules.validate(dict(claims))
        except JoseError as error:
            raise TokenRefused(f"its claims do not hold ({error.error})") from None
        if nonce is None:
            return
        if claims.get("nonce") != nonce:
            raise TokenRefused("it belongs to another login")
        if claims.get("azp", self.table.client_id) != self.table.client_id:
            raise TokenRefused("it was made for another client")

    async def _current(self, *, anew: bool = False) -> KeySet:
        """The issuer's keys, fetched anew when they are old or `anew` is asked for."""
        async with self._lock:
            now_s = self.monotonic()
            age_s = now_s - self._keys_s
            if self._keys is not None and not anew and age_s < LIVES_S:
                return self._keys
            if now_s - self._tried_s >= REFETCH_S:
                self._tried_s = now_s
                try:
                    self._keys = await self._fetch_keys()
                    self._keys_s = now_s
                except (ToolFailed, InputRefused):
                    if self._keys is None or age_s > STALE_S:
                        raise
            if self._keys is None or self.monotonic() - self._keys_s > STALE_S:
                raise IssuerUnavailable("the issuer's keys cannot be had")
            return self._keys

    async def _fetch_keys(self) -> KeySet:
        from joserfc.errors import JoseError
        from joserfc.jwk import KeySet

        document = await self._get((await self._discover()).jwks_uri, KEYS_BYTES_MAX)
        listed = document.get("keys")
        found = [item for item in listed if _signs(item)] if isinstance(listed, list) else []
        if not found or len(found) > KEYS_MAX:
            raise IssuerUnavailable("the issuer has no usable keys")
        try:
            return KeySet.import_key_set({"keys": found})
        except (JoseError, ValueError, TypeError, KeyError):
            raise IssuerUnavailable("the issuer's keys cannot be read") from None

    async def _discover(self) -> Metadata:
        now_s = self.monotonic()
        if self._metadata is not None and now_s - self._metadata_s < LIVES_S:
            return self._metadata
        place = self.table.issuer.rstrip("/") + "/.well-known/openid-configuration"
        document = await self._get(place, DOCUMENT_BYTES_MAX)
        if document.get("issuer") != self.table.issuer:
            raise IssuerUnavailable("the discovery document is another issuer's")
        names = ("jwks_uri", "authorization_endpoint", "token_endpoint")
        found = {name: document.get(name) for name in names}
        try:
            for url in found.values():
                check_secure(url if isinstance(url, str) else "")
        except ValueError:
            raise IssuerUnavailable("the discovery document leads nowhere safe") from None
        self._metadata, self._metadata_s = Metadata(**{k: str(v) for k, v in found.items()}), now_s
        return self._metadata

    async def _get(self, url: str, bytes_max: int) -> dict[str, Any]:
        call = HttpCall("OIDC issuer", url, timeout_s=ANSWER_S, bytes_max=bytes_max)
        return _object(expect_ok(await self.http.send(call), call).body)


def need_joserfc() -> None:
    """Raises InputRefused (OIDC_MISSING) where the extra is not installed."""
    try:
        import joserfc  # noqa: F401 - it is only looked for
    except ImportError:
        raise InputRefused(
            "[oidc] needs a package that is not installed: joserfc",
            code="OIDC_MISSING",
            hint="pip install 'affidavit[server,oidc]'",
        ) from None


def _decoded(token: str, keys: KeySet, table: OidcTable) -> dict[str, Any]:
    """The claims under a signature that holds. Raises InvalidKeyIdError for a key id that is not
    there, TokenRefused for everything else."""
    from joserfc import jwt
    from joserfc.errors import InvalidKeyIdError, JoseError
    from joserfc.jws import JWSRegistry

    rules = JWSRegistry(algorithms=list(table.algorithms), strict_check_header=False)
    rules.max_header_length = HEADER_BYTES_MAX
    try:
        return jwt.decode(token, keys, list(table.algorithms), rules).claims
    except InvalidKeyIdError:
        raise
    except (JoseError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise TokenRefused("its signature does not hold") from None


def _signs(key: object) -> bool:
    """Whether this is a public key for signatures. A secret among public keys is none: with it
    anybody who reads them could sign."""
    if not isinstance(key, dict) or key.get("use", "sig") != "sig":
        return False
    if "d" in key or not all(isinstance(key.get(name, ""), str) for name in ("kid", "n", "alg")):
        return False
    if key.get("kty") == "RSA":
        return len(key.get("n", "").rstrip("=")) >= RSA_CHARS_MIN
    return key.get("kty") in {"EC", "OKP"}


def _object(body: bytes) -> dict[str, Any]:
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise IssuerUnavailable("the issuer's answer is no JSON object")
    return document
