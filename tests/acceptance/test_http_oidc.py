"""Somebody whom an issuer knows: real tokens of a real issuer, and every way to forge one."""

from __future__ import annotations

import base64
import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
import pytest

from affidavit.adapters.oidc_tables import OidcTable
from affidavit.adapters.outgoing_rules import OutgoingTable
from affidavit.contract.errors import InputRefused
from affidavit.server.oidc import open_oidc
from affidavit.server.permits import Role
from affidavit.settings import Settings
from tests.support.gates import report
from tests.support.issuer import CLIENT, PERSON, SECRET, TestIssuer, issuer_at
from tests.support.service import Served, problem, served

pytestmark = [pytest.mark.slow, pytest.mark.fault("R67", "R69")]

AUDIENCE: Final = "affidavit"
ENVIRONMENT: Final = {"OIDC_SECRET": SECRET}
ISSUER: Final = "affidavit.adapters.oidc_issuer"


@pytest.fixture(scope="module")
def issuer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestIssuer]:
    """An issuer."""
    with issuer_at(tmp_path_factory.mktemp("issuer")) as own:
        yield own


@pytest.fixture(autouse=True)
def _honest(issuer: TestIssuer) -> Iterator[None]:
    """It begins each test as an honest one, with the keys that it has."""
    issuer.tell()
    yield
    issuer.tell()


def settings_for(issuer: TestIssuer, **changes: Any) -> Settings:
    """A service that believes the issuer, and maps an organisation and three groups."""
    table = {
        "issuer": issuer.url,
        "audiences": (AUDIENCE,),
        "client_id": CLIENT,
        "client_secret_env": "OIDC_SECRET",
        "redirect_uri": "http://127.0.0.1/login/oidc/callback",
        "tenant_claim": "org",
        "tenants": {"acme-corp": "acme", "other-corp": "theirs"},
        "roles_claim": "groups",
        "roles": {"sre": "operator", "leads": "approver", "owners": "admin"},
        **changes,
    }
    hosts = (issuer.url.removeprefix("http://"),)
    return Settings(oidc=OidcTable.model_validate(table), outgoing=OutgoingTable(hosts=hosts))


@pytest.fixture
def house(tmp_path: Path, issuer: TestIssuer) -> Iterator[Served]:
    """A service that has not asked the issuer anything yet."""
    with believing(tmp_path, settings_for(issuer)) as own:
        yield own


def believing(folder: Path, settings: Settings) -> Any:
    """A service with these settings."""
    return served(folder, environment=ENVIRONMENT, settings=settings)


def claims(issuer: TestIssuer, **changes: Any) -> dict[str, Any]:
    """What a right token says; a change to None leaves the claim out."""
    now = int(time.time())
    own = {"iss": issuer.url, "aud": AUDIENCE, "iat": now, "exp": now + 300, **PERSON}
    return {name: value for name, value in {**own, **changes}.items() if value is not None}


def me(house: Served, token: str) -> httpx2.Response:
    """Who the service takes the bearer for."""
    return house.open(token).get("/api/v1/me")


@pytest.mark.parametrize("alg", ["RS256", "ES256"])
def test_a_token_gives_what_the_mappings_say(house: Served, issuer: TestIssuer, alg: str) -> None:
    """Subject, tenant and roles; a run is theirs by name, and their tenant's alone."""
    token = issuer.sign(claims(issuer, role="admin", tenant="theirs", roles=["admin"]), alg)
    told = me(house, token).json()
    assert told == {"subject": "oidc:ann", "tenant": "acme", "roles": ["operator"]}
    api = house.open(token)
    run_id = api.post("/api/v1/gate", json=report()).json()["run_id"]
    assert house.client(Role.VIEWER).get(f"/api/v1/runs/{run_id}").status_code == 200
    foreign = issuer.sign(claims(issuer, sub="eve", org="other-corp", groups=["owners"]))
    problem(house.open(foreign).get(f"/api/v1/runs/{run_id}"), 404, "NOT_FOUND")
    assert me(house, foreign).json()["tenant"] == "theirs"
    both = claims(issuer, aud=["another", AUDIENCE], groups=["staff", "leads", "sre"])
    assert me(house, issuer.sign(both)).json()["roles"] == ["approver", "operator"]


NOW: Final = int(time.time())

WRONG: Final[dict[str, dict[str, Any]]] = {
    "expired": {"exp": NOW - 600},
    "without an end": {"exp": None},
    "an end that is none": {"exp": "NaN"},
    "an end in words": {"exp": "tomorrow"},
    "not yet valid": {"nbf": NOW + 9999},
    "from the future": {"iat": NOW + 9999},
    "for another": {"aud": "another"},
    "for nobody": {"aud": None},
    "for a list of others": {"aud": ["another", "affidavit-console"]},
    "another issuer's": {"iss": "https://issuer.example"},
    "nobody's": {"iss": None},
    "an issuer with a slash": {"iss": "SLASH"},
    "about nobody": {"sub": None},
    "about a number": {"sub": 7},
}


@pytest.mark.parametrize("name", WRONG)
def test_a_token_whose_claims_do_not_hold_is_nobody_s(
    house: Served, issuer: TestIssuer, name: str
) -> None:
    """Signed by the issuer, and still not for here and now."""
    changes = {k: f"{issuer.url}/" if v == "SLASH" else v for k, v in WRONG[name].items()}
    problem(me(house, issuer.sign(claims(issuer, **changes))), 401, "UNAUTHORIZED")
    assert me(house, issuer.sign(claims(issuer))).status_code == 200


def part(content: object) -> str:
    """One part of a token."""
    return base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")


def forged(issuer: TestIssuer) -> dict[str, str]:
    """Tokens that the issuer never signed so."""
    own = claims(issuer)
    right = issuer.sign(own)
    head, body, mark = right.split(".")
    header = json.loads(base64.urlsafe_b64decode(head + "=="))
    admin = part({**own, "groups": ["owners"]})
    jwks = httpx2.get(f"{issuer.url}/jwks").json()
    return {
        "unsigned": f"{part({**header, 'alg': 'none'})}.{body}.",
        "unsigned in capitals": f"{part({**header, 'alg': 'NONE'})}.{body}.",
        "by the public key as a secret": issuer.sign(own, "HS256"),
        "by an algorithm that is not listed": issuer.sign(own, "RS512"),
        "by a stranger with the same key id": issuer.sign(own, key="stranger"),
        "by a stranger's curve": issuer.sign(own, "ES256", key="stranger"),
        "by a key that it brings": issuer.sign(own, key="stranger", jwk=jwks["keys"][0]),
        "by a key that lies elsewhere": issuer.sign(
            own, key="stranger", kid="x", jku=f"{issuer.url}/evil"
        ),
        "with a condition that we do not know": issuer.sign(own, crit=["evil"], evil=1),
        "without a key id": issuer.sign(own, key="stranger", kid=None),
        "with other claims": f"{head}.{admin}.{mark}",
        "with another mark": f"{head}.{body}.{mark[:-6]}AAAAAA",
        "without a mark": f"{head}.{body}.",
        "two parts": f"{head}.{body}",
        "encrypted": f"{part({'alg': 'dir', 'enc': 'A128GCM'})}...." + body,
        "no token": "eyJ.eyJ.eyJ",
        "claims that are a list": f"{head}.{part([own])}.{mark}",
        "very large": f"{head}.{'A' * 20_000}.{mark}",
        "a key of ours, nearly": "affk_000000000000_" + "A" * 43,
    }


def test_a_forged_token_is_nobody_s(house: Served, issuer: TestIssuer) -> None:
    """Whatever was forged about it; nothing that it names is fetched."""
    for name, token in forged(issuer).items():
        answer = me(house, token)
        assert answer.status_code == 401, name
        problem(answer, 401, "UNAUTHORIZED")
    assert "/evil" not in issuer.seen()
    assert me(house, issuer.sign(claims(issuer))).status_code == 200


@pytest.mark.parametrize(
    "changes",
    [
        {"org": None},
        {"org": "unheard-of"},
        {"org": ["acme-corp", "other-corp"]},
        {"org": {"acme-corp": True}},
        {"groups": None},
        {"groups": []},
        {"groups": ["staff"]},
        {"groups": "owner"},
        {"sub": "two words"},
        {"sub": "x" * 200},
        {"sub": "a\x1bb"},
    ],
    ids=str,
)
def test_whoever_is_not_mapped_has_no_access(
    house: Served, issuer: TestIssuer, changes: dict[str, Any]
) -> None:
    """Known to the issuer is not enough: no tenant, two, no role, or no usable name is 403."""
    problem(me(house, issuer.sign(claims(issuer, **changes))), 403, "ACCESS_UNMAPPED")


def test_keys_are_fetched_once_and_made_up_ids_cause_no_storm(
    house: Served, issuer: TestIssuer
) -> None:
    """A hundred tokens, each with a key id of its own, ask the issuer once more at most."""
    before = issuer.seen()
    right = issuer.sign(claims(issuer))
    for number in range(100):
        made_up = issuer.sign(claims(issuer), key="stranger", kid=f"k{number}")
        assert me(house, made_up).status_code == 401
        assert me(house, right).status_code == 200
    after = issuer.seen()
    for path in ("/jwks", "/.well-known/openid-configuration"):
        assert after[path] - before.get(path, 0) <= 2


def test_a_new_key_is_found_and_an_old_one_is_out(
    house: Served, issuer: TestIssuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a rotation the first token under the new key leads to a fetch; the old key's tokens
    are nobody's from then on."""
    monkeypatch.setattr(f"{ISSUER}.REFETCH_S", 0.0)
    old = issuer.sign(claims(issuer))
    assert me(house, old).status_code == 200
    issuer.tell(rotate="2")
    assert me(house, issuer.sign(claims(issuer))).status_code == 200
    problem(me(house, old), 401, "UNAUTHORIZED")
    issuer.tell(rotate="1")


def test_without_the_issuer_its_tokens_wait_and_keys_work(
    house: Served, issuer: TestIssuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody gets in unchecked: 503 where its keys were never had, or are too old by now; for a
    while the keys that were had are still good. A key of ours never needs the issuer."""
    monkeypatch.setattr(f"{ISSUER}.REFETCH_S", 0.0)
    token = issuer.sign(claims(issuer))
    issuer.tell(down=True)
    answer = me(house, token)
    problem(answer, 503, "ISSUER_UNAVAILABLE")
    assert int(answer.headers["retry-after"]) > 0
    assert house.client(Role.VIEWER).get("/api/v1/me").status_code == 200
    issuer.tell()
    assert me(house, token).status_code == 200
    issuer.tell(down=True)
    monkeypatch.setattr(f"{ISSUER}.LIVES_S", 0.0)
    assert me(house, token).status_code == 200
    monkeypatch.setattr(f"{ISSUER}.STALE_S", 0.0)
    problem(me(house, token), 503, "ISSUER_UNAVAILABLE")


LIES: Final[dict[str, Callable[[str], dict[str, Any]]]] = {
    "another issuer's discovery": lambda _: {"discovery": {"issuer": "https://evil.example"}},
    "keys in the clear elsewhere": lambda _: {"discovery": {"jwks_uri": "http://evil.example/k"}},
    "keys at an unlisted host": lambda _: {"discovery": {"jwks_uri": "https://evil.example/k"}},
    "keys at the metadata service": lambda _: {
        "discovery": {"jwks_uri": "https://169.254.169.254/latest"}
    },
    "keys nowhere": lambda _: {"discovery": {"jwks_uri": None}},
    "keys that moved": lambda url: {"moved": f"{url}/elsewhere"},
    "no keys": lambda _: {"keys": {"keys": []}},
    "a secret among its keys": lambda _: {
        "keys": {"keys": [{"kty": "oct", "kid": "rsa-1", "k": "c2VjcmV0"}]}
    },
    "a key that is too small": lambda _: {
        "keys": {"keys": [{"kty": "RSA", "kid": "rsa-1", "n": "A" * 171, "e": "AQAB"}]}
    },
    "keys for something else": lambda _: {
        "keys": {"keys": [{"kty": "EC", "kid": "rsa-1", "use": "enc"}]}
    },
    "thousands of keys": lambda _: {"keys": {"keys": [{"kty": "EC", "kid": "x"}] * 1000}},
    "a flood": lambda _: {"keys": {"keys": [], "padding": "x" * 400_000}},
    "no document": lambda _: {"keys": [1, 2]},
}


@pytest.mark.parametrize("name", LIES)
def test_an_issuer_that_answers_nonsense_lets_nobody_in(
    house: Served, issuer: TestIssuer, name: str
) -> None:
    """A right token is 503 then, and never taken unchecked; the outgoing rules hold for all of
    it."""
    token = issuer.sign(claims(issuer))
    issuer.tell(**LIES[name](issuer.url))
    problem(me(house, token), 503, "ISSUER_UNAVAILABLE")


def test_a_private_address_has_to_be_listed(tmp_path: Path, issuer: TestIssuer) -> None:
    """A listed name that leads to this machine is not enough; an unlisted host ends the start."""
    by_name = issuer.url.replace("127.0.0.1", "localhost")
    table = settings_for(issuer).oidc.model_dump()
    told = OidcTable.model_validate({**table, "issuer": by_name})
    hosts = (by_name.removeprefix("http://"),)
    settings = Settings(oidc=told, outgoing=OutgoingTable(hosts=hosts))
    with believing(tmp_path, settings) as house:
        token = issuer.sign(claims(issuer, iss=by_name))
        problem(me(house, token), 503, "ISSUER_UNAVAILABLE")
    with pytest.raises(InputRefused) as refused:
        open_oidc(Settings(oidc=told), ENVIRONMENT, b"secret")
    assert refused.value.code == "OUTGOING_UNLISTED"
    with pytest.raises(InputRefused) as refused:
        open_oidc(settings, {}, b"secret")
    assert refused.value.code == "SECRET_MISSING"


def leave(house: Served, browser: httpx2.Client) -> tuple[str, dict[str, str]]:
    """A browser that goes to the issuer: where it comes back, and with what."""
    out = browser.get("/login/oidc")
    assert out.status_code == 303
    asked = parse_qs(urlsplit(out.headers["location"]).query)
    assert asked["redirect_uri"] == ["http://127.0.0.1/login/oidc/callback"]
    assert len({asked["state"][0], asked["nonce"][0], asked["code_challenge"][0]}) == 3
    cookie = out.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    back = httpx2.get(out.headers["location"])
    assert back.status_code == 302
    parts = urlsplit(back.headers["location"])
    return parts.path, {name: values[0] for name, values in parse_qs(parts.query).items()}


def test_a_browser_logs_in_at_the_issuer(house: Served) -> None:
    """There and back; then a cookie of an hour stands for that person, and needs the page's
    second secret for what changes something. A logout ends it."""
    browser = house.open(None)
    assert "/login/oidc" in browser.get("/login").text
    path, query = leave(house, browser)
    entered = browser.get(path, params=query)
    assert entered.status_code == 200, entered.text
    assert "oidc:ann" in entered.text
    cookie = next(c for c in entered.headers.get_list("set-cookie") if "affidavit_session" in c)
    assert "httponly; max-age=3600" in cookie.lower()
    assert "samesite=strict" in cookie.lower()
    told = browser.get("/api/v1/me").json()
    assert told == {"subject": "oidc:ann", "tenant": "acme", "roles": ["operator"]}
    problem(browser.post("/api/v1/gate", json=report()), 403, "CSRF_TOKEN_WRONG")
    page = browser.get("/", headers={"accept": "text/html"}).text
    found = re.search(r'name="csrf" content="([^"]+)"', page)
    assert found is not None
    right = {"x-csrf-token": found[1]}
    assert browser.post("/api/v1/gate", json=report(), headers=right).status_code == 200
    stolen = dict(browser.cookies)
    assert browser.post("/logout", headers=right).status_code == 204
    browser.cookies.update(stolen)
    problem(browser.get("/api/v1/me"), 401, "UNAUTHORIZED")


def turned_away(answer: httpx2.Response, status: int = 403) -> None:
    """No session came of it; the page says why in our words."""
    assert answer.status_code == status, answer.text
    assert 'role="alert"' in answer.text
    set_ = [c for c in answer.headers.get_list("set-cookie") if "affidavit_session" in c]
    assert set_ == []


@pytest.mark.parametrize(
    "changes",
    [
        {"state": "guessed"},
        {"state": ""},
        {"code": ""},
        {"code": "guessed"},
        {"code": "x" * 3000},
        {"iss": "https://evil.example"},
        {"error": "access_denied", "code": ""},
    ],
    ids=str,
)
def test_a_way_back_that_is_not_ours_leads_nowhere(
    house: Served, issuer: TestIssuer, changes: dict[str, str]
) -> None:
    """Another state, another issuer's answer (mix-up), no code: refused; and what was not begun
    here never reaches the issuer."""
    browser = house.open(None)
    path, query = leave(house, browser)
    before = issuer.seen().get("/token", 0)
    turned_away(browser.get(f"{path}?{urlencode({**query, **changes})}"))
    if changes != {"code": "guessed"}:
        assert issuer.seen().get("/token", 0) == before


def test_a_login_belongs_to_the_browser_that_began_it(
    house: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody else's way back (login CSRF), none, a forged and an old cookie, and a code that was
    used before: refused."""
    victim, attacker = house.open(None), house.open(None)
    path, query = leave(house, attacker)
    turned_away(victim.get(path, params=query))
    leave(house, victim)
    turned_away(victim.get(path, params=query))
    for forged_ in ("", "x", "e30.0", "e30=." + "0" * 64, "ü"):
        headers = [(b"cookie", f"affidavit_login={forged_}".encode())]
        turned_away(house.open(None).get(path, params=query, headers=headers))
    begun = dict(attacker.cookies)
    assert attacker.get(path, params=query).status_code == 200
    attacker.cookies.update(begun)
    turned_away(attacker.get(path, params=query))
    path, query = leave(house, victim)
    monkeypatch.setattr("affidavit.server.oidc.LOGIN_LIVES_S", -1)
    turned_away(victim.get(path, params=query))


@pytest.mark.parametrize(
    "lies",
    [
        {"id_token": {"nonce": "another"}},
        {"id_token": {"nonce": None}},
        {"id_token": {"nonce": ["another"]}},
        {"id_token": {"aud": AUDIENCE}},
        {"id_token": {"aud": [CLIENT, "another"], "azp": "another"}},
        {"id_token": {"iss": "https://evil.example"}},
        {"id_token": {"exp": 1_700_000_000}},
        {"signer": "stranger"},
        {"id_token": {"org": "unheard-of"}},
        {"id_token": {"groups": []}},
    ],
    ids=str,
)
def test_an_id_token_that_does_not_hold_logs_nobody_in(
    house: Served, issuer: TestIssuer, lies: dict[str, Any]
) -> None:
    """Another login's, another client's, another issuer's, old, a stranger's, or of somebody who
    is not mapped."""
    browser = house.open(None)
    path, query = leave(house, browser)
    issuer.tell(**lies)
    turned_away(browser.get(path, params=query))
    problem(browser.get("/api/v1/me"), 401, "UNAUTHORIZED")


def test_a_login_waits_for_the_issuer_and_a_service_without_one_has_no_such_way(
    house: Served, issuer: TestIssuer, tmp_path: Path
) -> None:
    """503 on the page while it is down; 404 where none is configured; a token for browsers is no
    bearer where no audience is named."""
    issuer.tell(down=True)
    turned_away(house.open(None).get("/login/oidc"), 503)
    issuer.tell()
    (tmp_path / "bare").mkdir()
    with served(tmp_path / "bare") as bare:
        problem(bare.open(None).get("/login/oidc"), 404, "NOT_FOUND")
        problem(bare.open(None).get("/login/oidc/callback"), 404, "NOT_FOUND")
        assert "/login/oidc" not in bare.open(None).get("/login").text
        problem(me(bare, issuer.sign(claims(issuer))), 401, "UNAUTHORIZED")
    (tmp_path / "browsers").mkdir()
    with believing(tmp_path / "browsers", settings_for(issuer, audiences=())) as browsers:
        for audience in (AUDIENCE, CLIENT):
            token = issuer.sign(claims(issuer, aud=audience))
            problem(me(browsers, token), 401, "UNAUTHORIZED")
