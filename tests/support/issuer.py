"""A small real OpenID Connect issuer in a process of its own, which lies when it is told to.

    with issuer_at(tmp_path) as issuer: …

Discovery, keys, the code flow with PKCE and a client secret; every signature is real. What is
posted to `/control` changes what it does: `discovery`, `keys` and `id_token` are laid over its own
answers, `down` makes it answer 500.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
from joserfc import jwt
from joserfc.jwk import ECKey, KeyParameters, RSAKey
from joserfc.jws import JWSRegistry
from joserfc.registry import HeaderParameter

from tests.support.service import WAIT_S, wait_until

ROOT: Final = Path(__file__).parents[2]
CLIENT: Final = "affidavit-console"
SECRET: Final = "the-client's-secret/+"
PERSON: Final = {"sub": "ann", "org": "acme-corp", "groups": ["sre", "staff"]}


@dataclass(frozen=True, slots=True)
class TestIssuer:
    """The running issuer, as a test speaks to it."""

    __test__ = False
    url: str

    def tell(self, **what: Any) -> None:
        """From now on it does so."""
        assert httpx2.post(f"{self.url}/control", json=what, timeout=WAIT_S).status_code == 200

    def sign(
        self, claims: Mapping[str, Any], alg: str = "RS256", key: str = "own", **header: Any
    ) -> str:
        """A token with exactly these claims, signed by its own keys or by a stranger's."""
        asked = {"claims": dict(claims), "alg": alg, "key": key, "header": header}
        told = httpx2.post(f"{self.url}/control/sign", json=asked, timeout=WAIT_S)
        assert told.status_code == 200, told.text
        return str(told.json()["token"])

    def seen(self) -> dict[str, int]:
        """How often each path was asked for."""
        found: dict[str, int] = httpx2.get(f"{self.url}/control/seen", timeout=WAIT_S).json()
        return found


@contextmanager
def issuer_at(folder: Path) -> Iterator[TestIssuer]:
    """The issuer's process, until the context ends."""
    ready = folder / "issuer.url"
    command = [sys.executable, "-m", "tests.support.issuer", str(ready)]
    process = subprocess.Popen(command, cwd=ROOT)
    try:
        wait_until(lambda: ready.exists() and ready.read_text() != "")
        yield TestIssuer(ready.read_text())
    finally:
        process.kill()
        process.wait(WAIT_S)


class Keys:
    """A pair of each kind under one generation's ids."""

    def __init__(self, generation: str) -> None:
        kid: KeyParameters = {"kid": f"rsa-{generation}", "use": "sig"}
        self.rsa = RSAKey.generate_key(2048, kid)
        self.ec = ECKey.generate_key("P-256", {"kid": f"ec-{generation}", "use": "sig"})

    def of(self, alg: str) -> Any:
        """The key for an algorithm."""
        return self.ec if alg.startswith("ES") else self.rsa

    def public(self) -> list[dict[str, Any]]:
        """As they are published."""
        return [dict(key.as_dict(private=False)) for key in (self.rsa, self.ec)]


class State:
    """What one issuer has promised, and how it lies."""

    def __init__(self) -> None:
        self.url = ""
        self.keys, self.stranger = Keys("1"), Keys("1")  # the stranger's ids are the same
        self.codes: dict[str, dict[str, str]] = {}
        self.seen: Counter[str] = Counter()
        self.lies: dict[str, Any] = {}

    def discovery(self) -> dict[str, Any]:
        """The discovery document."""
        told = {
            "issuer": self.url,
            "jwks_uri": f"{self.url}/jwks",
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
        }
        return {**told, **self.lies.get("discovery", {})}

    def sign(self, asked: Mapping[str, Any]) -> str:
        """A token as a test wants it."""
        alg, keys = asked["alg"], self.stranger if asked["key"] == "stranger" else self.keys
        key = keys.of(alg)
        header = {"alg": alg, "kid": getattr(keys.of("RS"), "kid", None), **asked["header"]}
        if alg.startswith("ES"):
            header["kid"] = asked["header"].get("kid", key.kid)
        known = {"evil": HeaderParameter("what only a test knows", "int")}
        rules = JWSRegistry(known, [alg], strict_check_header=False)
        claims = {k: float("nan") if v == "NaN" else v for k, v in asked["claims"].items()}
        if alg == "HS256":  # by hand: the library does not take a public key for a secret
            signed = f"{_part(header)}.{_part(claims)}"
            mark = hmac.new(keys.rsa.as_pem(private=False), signed.encode(), hashlib.sha256)
            return f"{signed}.{_encoded(mark.digest())}"
        return jwt.encode(
            {k: v for k, v in header.items() if v is not None}, claims, key, [alg], rules
        )

    def authorize(self, query: Mapping[str, str]) -> str:
        """Somebody has logged in: where their browser goes."""
        assert query["response_type"] == "code"
        assert query["code_challenge_method"] == "S256"
        assert query["client_id"] == CLIENT
        code = secrets.token_urlsafe(16)
        self.codes[code] = dict(query)
        back = {"code": code, "state": query["state"], "iss": self.url}
        return f"{query['redirect_uri']}?{urlencode(back)}"

    def token(self, form: Mapping[str, str], authorization: str) -> dict[str, Any] | None:
        """The ID token of a code: once, for the client whose it is, with the right verifier."""
        asked = self.codes.pop(form.get("code", ""), None)
        pair = base64.b64encode(f"{CLIENT}:the-client%27s-secret%2F%2B".encode()).decode()
        if asked is None or authorization != f"Basic {pair}":
            return None
        hashed = hashlib.sha256(form["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(hashed).decode().rstrip("=")
        if challenge != asked["code_challenge"] or form["redirect_uri"] != asked["redirect_uri"]:
            return None
        now = int(time.time())
        own = {"iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 300, **PERSON}
        claims = {**own, "nonce": asked["nonce"], **self.lies.get("id_token", {})}
        key = self.lies.get("signer", "own")
        token = self.sign({"claims": claims, "alg": "RS256", "key": key, "header": {}})
        return {"token_type": "Bearer", "access_token": "opaque", "id_token": token}


def _part(content: object) -> str:
    return _encoded(json.dumps(content).encode())


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def answer_get(state: State, path: str, query: Mapping[str, str]) -> tuple[int, object, str]:
    """Status, body and where it leads."""
    if state.lies.get("down"):
        return 500, {}, ""
    match path:
        case "/.well-known/openid-configuration":
            return 200, state.discovery(), ""
        case "/jwks" if "moved" in state.lies:
            return 302, {}, state.lies["moved"]
        case "/jwks":
            return 200, state.lies.get("keys", {"keys": state.keys.public()}), ""
        case "/authorize":
            return 302, {}, state.authorize(query)
        case _:
            return 404, {}, ""


def answer_post(state: State, path: str, content: bytes, proof: str) -> tuple[int, object]:
    """Status and body."""
    match path:
        case "/control":
            told = json.loads(content)
            state.keys = Keys(told.pop("rotate")) if "rotate" in told else state.keys
            state.lies = told
            return 200, {}
        case "/control/sign":
            return 200, {"token": state.sign(json.loads(content))}
        case "/token":
            form = {name: values[0] for name, values in parse_qs(content.decode()).items()}
            given = state.token(form, proof)
            return (400, {"error": "invalid_grant"}) if given is None else (200, given)
        case _:
            return 404, {}


def speaker(state: State) -> type[BaseHTTPRequestHandler]:
    """What speaks for an issuer."""

    class Speaker(BaseHTTPRequestHandler):
        def _say(self, status: int, body: object, location: str = "") -> None:
            content = json.dumps(body).encode()
            self.send_response(status)
            if location:
                self.send_header("location", location)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            if parts.path == "/control/seen":
                self._say(200, dict(state.seen))
                return
            state.seen[parts.path] += 1
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            self._say(*answer_get(state, parts.path, query))

        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers.get("content-length") or 0))
            state.seen[self.path] += 1
            proof = self.headers.get("authorization", "")
            self._say(*answer_post(state, self.path, content, proof))

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Speaker


def main(ready: str) -> None:
    """Serve until killed."""
    state = State()
    server = ThreadingHTTPServer(("127.0.0.1", 0), speaker(state))
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    Path(ready).write_text(state.url)
    server.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1])
