"""Secrets in the forms in which back ends print them, and what only looks like one (T7).

Each form was found by an attack on the redaction, and leaked or was masked wrongly once.
"""

from __future__ import annotations

import base64
import json
from typing import Final

import pytest

from affidavit.tools.redaction import redact_bytes, redact_json
from tests.unit.tools.test_redaction import (
    JWT_PARTS,
    OPAQUE,
    PASSWORD,
    PEM_BODY,
    b64,
    pem,
)

pytestmark = pytest.mark.spec("T7")

WORD: Final = "sunshine"
"""A password that is a word: nothing but what stands around it gives it away."""

TOLD_BY_CONTEXT: Final = (
    # Kubernetes and containers
    "kind:   Secret\nstringData:\n    a:   {}\n",
    "apiVersion: v1\nkind: SecretList\nitems:\n- metadata: {{}}\n  stringData:\n    a: {}\n",
    '{{"kind":"SecretList","items":[{{"metadata":{{"name":"x"}},"stringData":{{"a":"{}"}}}}]}}',
    '{{"log":"kind: Secret\\nstringData:\\n  a: {}"}}',
    '{{"op":"replace","path":"/data/password","value":"{}"}}',
    '[{{"value":"{}","name":"DB_PASSWORD"}}]',
    "- value: {}\n  name: DB_PASSWORD\n",
    'Secret{{Data:map[string][]byte{{"password":[]byte("{}")}}}}',
    "{{Host:db Password:{} Port:5432}}",
    "docker login -u bot -p {} registry.example.com",
    "helm registry login -u bot -p '{}' registry.example.com",
    # commands
    "curl -u admin:{} https://x/",
    "curl --user admin:{} https://x/",
    '["curl", "-u", "admin:{}", "https://x/"]',
    "args:\n- --password\n- {}\n- --verbose\n",
    "etcdctl --user root:{} get /a",
    "mysql -u root -p{} -h db",
    "mysqldump -uroot -p'{}' orders",
    "mongosh --username u -p {}",
    "redis-cli -a {} ping",
    "app --password \\\n  {} \\\n  --verbose",
    "sshpass -p {} ssh host",
    "sshpass -p'{}' ssh host",
    "sqlplus scott/{}@ORCL",
    # files and protocols
    "machine api.example.com login bob password {}",
    "machine api.example.com\n  login bob\n  password {}\n",
    "db.example.com:5432:orders:app:{}",
    "*:*:*:postgres:{}\n",
    "requirepass {}",
    '"AUTH" "default" "{}"',
    "jdbc:oracle:thin:scott/{}@//host:1521/o",
    "CREATE USER x IDENTIFIED BY '{}'",
    "CREATE USER x IDENTIFIED WITH mysql_native_password BY '{}';",
    "ALTER ROLE app PASSWORD E'{}'",
    # languages and markup
    '<property name="password"><value>{}</value></property>',
    "<name>db.password</name>\n  <value>{}</value>",
    'password = """\n{}\n"""',
    "Settings(password=SecretStr('{}'), n=1)",
    "-Password (ConvertTo-SecureString '{}' -AsPlainText)",
    "password: &pw {}\n",
    "password: !!str {}\n",
    "passwords:\n  - {}\n  - ''\n",
    '{{"passwords": ["{}"]}}',
    '{{"password": {{"value": "{}"}}}}',
    "%7B%22password%22%3A%22{}%22%7D",
    "{{&quot;password&quot;:&quot;{}&quot;}}",
    '{{"passw\\u006frd":"{}"}}',
    "密码是：{}",
    "口令: {}",
    # tables
    "user,password\nbob,{}\n",
    "| user | password |\n|---|---|\n| bob | {} |\n",
    " id | password \n----+----------\n  1 | {} \n",
    '{{"columns": ["user", "password"], "rows": [["bob", "{}"]]}}',
    # names
    *(name + "={}" for name in (
        "DB_PASS", "dbPass", "smtp_pass", "userpass", "rootpw", "ldap_bind_pw", "MYSQL_PWD",
        "rootPassword", "adminpassword", "keypass", "trustStorePass", "PRE_SHARED_KEY",
    )),
)  # fmt: skip

TOLD_BY_LOOK: Final = (
    "the password is {}, use it",
    "password is: {}",
    "Login with user bob and password {}",
    "Password\n{}\n",
    "password\t{}",
    "pass={}",
    "auths:\n  reg.example.com:\n    auth: {}==\n",
    "AUTH={}",
    "Authorization: SSWS {}",
    "Authorization: GenieKey {}",
    "('authorization', b'Bearer {}')",
    "DD_APP_KEY={}",
    "licenseKey: {}",
    "GET https://x.io/v1?a=1&signature={}&b=2 200",
    "GET https://x.io/v1?key={} 200",
    "GET https://x.io/cb?state=1&code={} 200",
    "GET https://x.io/v1?X-Amz-Signature={}",
)


@pytest.mark.fault("R63")
@pytest.mark.parametrize("form", TOLD_BY_CONTEXT)
@pytest.mark.parametrize("secret", [WORD, PASSWORD])
def test_what_its_context_gives_away_is_masked(form: str, secret: str) -> None:
    raw = form.format(secret).encode()
    out = redact_bytes(raw)
    assert secret.encode() not in out
    assert b"[masked:" in out


@pytest.mark.parametrize("form", TOLD_BY_LOOK)
def test_what_a_name_and_its_own_look_give_away_is_masked(form: str) -> None:
    raw = form.format(OPAQUE + "-9Z").encode()
    assert OPAQUE.encode() not in redact_bytes(raw)


@pytest.mark.parametrize("value", ["0123456789abcdef" * 2, "12345678-1234-1234-1234-123456789012"])
def test_a_hash_beside_a_name_of_a_key_or_a_session_is_one(value: str) -> None:
    for form in ("JSESSIONID={}", "DD_APP_KEY={}", "DD-API-KEY: {}", "Authorization: Splunk {}"):
        assert value.encode() not in redact_bytes(form.format(value).encode())


HEX, LETTERS = "0123456789abcdef", "aBcDeFgHiJkLmNoPqRsTuVwXyZ"
ISSUED: Final = (
    ("GOC" + "SPX-", LETTERS), ("xo" + "xs-", "123456789012-" + HEX),
    ("gh" + "r_", LETTERS + "12345"),
    ("xo" + "xe.", "xoxp-1-Mi0yLTEyMzQ1"), ("gl" + "rt-", LETTERS), ("gl" + "dt-", LETTERS),
    ("gl" + "ptt-", HEX * 2), ("k" + "ey-", HEX * 2), ("hv" + "b.", LETTERS),
    ("NR" + "AK-", LETTERS.upper()), ("gl" + "sa_", LETTERS + HEX), ("gl" + "c_", LETTERS + HEX),
    ("ATATT" + "3xFf", LETTERS + HEX), ("shp" + "at_", HEX * 2), ("dckr" + "_pat_", LETTERS),
    ("lin" + "_api_", LETTERS + HEX), ("sntr" + "ys_", LETTERS + HEX),
    ("hooks.slack.com/" + "workflows/", "T0/A0/123/" + LETTERS),
    ("discord.com/api/webhooks/" + "123456789012345678/", LETTERS),
    ("x.webhook.office.com/" + "webhookb2/", LETTERS),
    ("api.telegram.org/bot" + "123456789:", "AA" + LETTERS + "1234567"),
    ("abc8" + "Q~", LETTERS + "1234567"), ("v4." + "local.", LETTERS * 2),
    ("$2b" + "$12$", LETTERS * 2 + "a"), ("$apr1" + "$Rk2$", LETTERS),
    ("$6" + "$salt$", LETTERS * 3),
    ("$argon2id" + "$v=19$m=65536,t=3,p=4$", LETTERS * 2),
)  # fmt: skip


@pytest.mark.parametrize(("prefix", "rest"), ISSUED, ids=[prefix for prefix, _ in ISSUED])
def test_a_key_is_known_by_what_its_issuer_puts_before_it(prefix: str, rest: str) -> None:
    for text in (f"used {prefix}{rest} here", json.dumps({"a": f"{prefix}{rest}"})):
        out = redact_bytes(text.encode())
        assert rest.encode() not in out
        assert rest[-12:].encode() not in out


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(list(JWT_PARTS)),
        json.dumps({"header": JWT_PARTS[0], "payload": JWT_PARTS[1], "signature": JWT_PARTS[2]}),
        "\n".join(JWT_PARTS),
        ".\n".join(JWT_PARTS),
        ".".join((JWT_PARTS[0], "", *JWT_PARTS[1:], OPAQUE)),
    ],
)
def test_a_jwt_is_one_also_in_parts(text: str) -> None:
    out = redact_bytes(text.encode())
    assert not [part for part in JWT_PARTS if part.encode() in out]
    if text.startswith(("[", "{")):
        assert not [part for part in JWT_PARTS if part in str(redact_json(json.loads(text)).value)]


def test_a_secret_in_base64_of_json_is_masked_whole() -> None:
    told = b64(json.dumps({"user": "a", "password": WORD}))
    assert told.encode() not in redact_bytes(f"body={told}".encode())
    plain = b64(json.dumps({"user": "a", "service": "checkout"}))
    assert plain.encode() in redact_bytes(f"body={plain} ok".encode())


@pytest.mark.parametrize(
    "arguments",
    [
        ["psql", "--db-password", "{}"],
        ["curl", "-s", "-u", "admin:{}", "https://x/"],
        ["mysql", "-uroot", "-p{}", "-h", "db"],
        ["redis-cli", "-a", "{}", "ping"],
    ],
)
def test_a_secret_among_arguments_is_masked(arguments: list[str]) -> None:
    given = [one.format(WORD) for one in arguments]
    for text in (json.dumps(given), json.dumps({"args": given, "note": given}, indent=1)):
        out = redact_bytes(text.encode())
        assert WORD.encode() not in out
        assert json.loads(out)
    left = redact_json({"args": given}).value
    assert WORD not in str(left)
    assert len(left["args"]) == len(given)  # type: ignore[index]
    innocent = ["docker", "run", "-p", "8080:80", "-u", "1000:1000", "-a", "--token-ttl", "30s"]
    assert redact_json(innocent).value is innocent


@pytest.mark.parametrize("newline", ["\\x0a", "\\u000a", "%0A", "<br>", "&#10;", "\t", "|"])
def test_a_private_key_is_one_with_any_line_end(newline: str) -> None:
    out = redact_bytes(f"key={pem(newline)} after".encode())
    assert not [line for line in PEM_BODY[:2] if line.encode() in out]


def test_the_private_numbers_of_a_web_key_are_masked_and_its_public_ones_stay() -> None:
    key = {"kty": "RSA", "n": "n" + OPAQUE * 2, "e": "AQAB", "d": "d" + OPAQUE * 2, "kid": "2"}
    for text in (json.dumps(key), "got " + json.dumps(json.dumps(key)), str(json.dumps(key))[:-3]):
        out = redact_bytes(text.encode())
        assert ("d" + OPAQUE * 2).encode() not in out
        assert ("n" + OPAQUE * 2).encode() in out


@pytest.mark.parametrize(
    "card", ["4242 4242 4242 4242", "4242-4242-4242-4242", "4242+4242+4242+4242", "378282246310005"]
)
def test_a_card_is_one_in_groups_and_after_an_escape(card: str) -> None:
    assert card.encode() not in redact_bytes(f"charged {card} ok".encode())
    assert card.encode() not in redact_bytes(json.dumps({"m": f"paid\n{card}"}).encode())


@pytest.mark.parametrize("mail", ["jäne@bücher.example", "o'brien@example.com", "a@b.technology"])
def test_a_mail_address_goes_whole(mail: str) -> None:
    assert redact_bytes(f"sent to {mail} ok".encode()) == b"sent to [masked:e-mail:1] ok"


INNOCENT: Final = (
    "pods passed: 12 failed: 0 pass=12 fail=3 pass: true bypass=on first_pass=ok",
    "auth: enabled auth=none auth: required auth=basic auth: oauth2 auth: kubernetes.io/account",
    "password policy requires 12 characters; password changed at 2026-01-02T10:03:11.123Z",
    "the password is OAuth2Client managed; Password reset link sent; password hash bcrypt",
    "token: /var/run/secrets/kubernetes.io/serviceaccount/token tls_key=/etc/ssl/a.key",
    "mkdir -p /var/lib/data docker run -p 8080:80 -u 1000:1000 nginx kubectl logs -p web-0 -a",
    "密钥：2026-a 和 2026-b；密钥 7Q2K9T4XLM 已吊销；密钥：primary",
    "psql -p 5432 -u app -h db; mysql -u root -h db -P 3306; redis-cli -h cache; sudo -u x",
    "arn:aws:iam::123456789012:role/eks-node arn:aws:kms:us-east-1:123456789012:key/1234abcd-12ab",
    "arn:aws:secretsmanager:us-east-1:123456789012:secret:prod/db-AbCdEf",
    "image: 123456789012.dkr.ecr.us-east-1.amazonaws.com/api@sha256:" + "9f86d081884c7d65" * 4,
    'etag: W/"33a64df551425fcc55e4d42a148795d9f25f89d4" x-b3-traceid: 80f198ee56343ba864fe8b2a57d3',
    "x-amzn-trace-id: Root=1-67891233-abcdef012345678912345678;Parent=53995c3f42cd8ad8;Sampled=1",
    "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "GET /q?trace=4bf92f3577b34da6a3ce929d0e0e4736&code=200",
    "GET /q?code=ECONNREFUSED_TIMEOUT_1&key=order:12345:items:67890&key=checkout-7d9f8b6c5d-x2k4q",
    'calling webhook "validate.nginx.ingress.kubernetes.io": webhooks/validate called',
    "mac 0a:aa:bb:cc:dd:ee ipv6 fe80::aa:1 2001:db8::aaaa:bbbb postgres:5432:orders refused *:5432",
    "$1$ cost $5.00 price $6$ awk '{print $1}' ${1} user identified by id 42, as 'leader'",
    '{"kty":"RSA","n":"' + LETTERS * 3 + '","e":"AQAB","kid":"1"}',
    "Authorization: denied for 12345678-1234-1234-1234-123456789012; Authorization: required",
    "topic=orders.v1.local.events gl-sast gldt-none sk-learn hf_model npm_config_cache xoxo-",
    "name,pass,fail\na,12,3\nb,10,5\n\ntest,key,value\n1,color,blue",
    "p, role:x, accounts, apiKey, allow\np, bob, applications, manifests, allow",
    "pwd=/home/app PWD=/srv/app pwd: /var/lib/app proxy_pass=http://backend:8080/api",
    "DB_PASS_FILE=/run/secrets/db PASS_MAX_DAYS 99999 --pass-credentials passthrough: true",
    "serial=5248200507305230 offset=4242424242424242 order 4111-1111 0.4242424242424242",
)


@pytest.mark.parametrize("text", INNOCENT)
def test_what_only_looks_like_a_secret_is_left_alone(text: str) -> None:
    raw = text.encode()
    assert redact_bytes(raw) is raw
    assert redact_json({"a": [text]}).value == {"a": [text]}


def test_a_basic_pair_is_one_beside_any_case_of_its_header() -> None:
    pair = base64.b64encode(f"u:{WORD}".encode()).decode()
    for form in (
        "Authorization: Basic {}",
        "authorization=Basic {}",
        "> proxy-authorization: basic {}",
    ):
        assert pair.encode() not in redact_bytes(form.format(pair).encode())
