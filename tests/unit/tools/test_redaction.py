"""Secrets leave every carrier; what a diagnosis consists of stays (T7)."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Final

import pytest

from affidavit.core.canonical import canonical_json
from affidavit.tools.redaction import MASK_PATTERN, redact_bytes, redact_json, redact_text
from affidavit.tools.redaction.scan import GATES, RULES

# Canaries are put together here, so that no scanner takes this file for a leak.
AWS_KEY: Final = "AKIA" + "QX7Z3MWPLT5RKDVN"
PASSWORD: Final = "Tr0ub4dor-Kx9q"
PLAIN_PASSWORD: Final = "hunter2"
OPAQUE: Final = "q8Zk2Lw0Vx7Rt5Nb3Mc9Yd1F"
JWT_PARTS: Final = (
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9",
    "eyJzdWIiOiI0MiIsIm4iOiJKIn0",
    "Sfl_KxwRJSMeKKF2QT4f",
)
JWT: Final = ".".join(JWT_PARTS)
MAIL: Final = "jane.roe+ops@harbour.example"
CARD: Final = "4242" * 4
PEM_BODY: Final = (
    "MIIEpAIBAAKCAQEA7bq0ZpVQ1mXc3oT9Yl5sW8uRk2Hn4Jd6Gf1Aa0Ee3Cc5Bb7D",
    "zX9wV8uT7sR6qP5oN4mL3kJ2iH1gF0eD9cB8aZ7yX6wV5uT4sR3qP2oN1mL0kJ9i",
    "aGVsbG8gd29ybGQ=",
)


def pem(newline: str) -> str:
    """A private key block with line ends of some kind."""
    label = "RSA PRIVATE KEY"
    return newline.join([f"-----BEGIN {label}-----", *PEM_BODY, f"-----END {label}-----"])


def b64(text: str) -> str:
    """Base64 as a Secret holds it."""
    return base64.b64encode(text.encode()).decode()


SHAPED: Final[dict[str, tuple[str, str]]] = {
    "cloud key": (AWS_KEY, "cloud-key"),
    "jwt": (JWT, "jwt"),
    "mail": (MAIL, "e-mail"),
    "card": (CARD, "card-number"),
    "bearer": (f"Bearer {OPAQUE}", "bearer-token"),
    "url": (f"postgres://app:{PASSWORD}@db.harbour:5432/seats", "url-password"),
    "pair": (f"password={PASSWORD}2", "password"),
    "pem": (pem("\n"), "private-key"),
    "github": ("ghp_" + "a1B2c3D4e5" * 4, "cloud-key"),
    "slack": ("xoxb-" + "123456789012-abcDEF", "cloud-key"),
    "service": ("sk-" + "proj-A1b2C3d4E5f6G7h8J9", "api-key"),
}
"""Secrets that are known wherever they stand."""

CANARY: Final = {
    "bearer": OPAQUE, "url": PASSWORD, "pair": PASSWORD, "pem": PEM_BODY[1],
}  # fmt: skip
"""The part that must not be left, where that is not the whole."""

CARRIERS: Final[dict[str, Callable[[str], str]]] = {
    "alone": lambda secret: secret,
    "a log line": lambda secret: f"2031-05-04T01:10:00Z ERROR seat: {secret} refused\nnext line",
    "a quoted field": lambda secret: f'level=error msg="failed with {_escaped(secret)}" n=3',
    "JSON": lambda secret: json.dumps({"rows": [{"msg": f"saw {secret} here", "n": 1.50}]}),
    "JSON in JSON": lambda secret: json.dumps({"log": json.dumps({"msg": f"saw {secret} here"})}),
    "JSON three deep": lambda secret: json.dumps([json.dumps([json.dumps([secret])])]),
    "a key of JSON": lambda secret: json.dumps({f"saw {secret} here": 1}),
    "JSON lines": lambda secret: "\n".join(
        json.dumps({"n": n, "msg": f"saw {secret} here"}) for n in range(3)
    ),
    "words before JSON": lambda secret: "stdout:\n" + json.dumps({"m": secret}, indent=2) + "\nend",
    "escaped letters": lambda secret: '{"m": "' + _unicode(f"x {secret} y") + '"}',
    "YAML": lambda secret: f"a:\n  msg: |\n    {secret}\n  n: 1\n",
    "slashes escaped": lambda secret: json.dumps([secret, "a"]).replace("/", "\\/"),
    "bytes that are no UTF-8": lambda secret: f"\udcff {secret} \udcfe",
    "JSON cut off": lambda secret: json.dumps({"a": [f"saw {secret} here", 1]})[:-4],
}


def _escaped(text: str) -> str:
    return json.dumps(text)[1:-1]


def _unicode(text: str) -> str:
    return "".join(f"\\u{ord(letter):04x}" for letter in text)


@pytest.mark.spec("T7")
@pytest.mark.fault("R63")
@pytest.mark.parametrize("carrier", CARRIERS)
@pytest.mark.parametrize("secret", SHAPED)
def test_no_byte_of_a_secret_is_left_in_any_carrier(secret: str, carrier: str) -> None:
    text, kind = SHAPED[secret]
    raw = CARRIERS[carrier](text).encode("utf-8", "surrogateescape")
    out = redact_bytes(raw)
    assert CANARY.get(secret, text).encode() not in out
    assert kind.encode() in out
    if carrier in {"JSON", "JSON in JSON", "JSON three deep", "a key of JSON", "escaped letters"}:
        shown = str(json.loads(out))
        assert CANARY.get(secret, text) not in shown.replace("\\\\", "\\")


ASSIGNMENTS: Final = (
    "password={}", "DB_PASSWORD={}", "export DB_PASSWORD='{}'", "db.password = {}", 'pwd: "{}"',
    "--password {} --user x", "--password={}", '["--db-password", "{}"]',
    "spring.datasource.password={}", "Server=db;User Id=sa;Password={};Encrypt=true",
    "user=a password={} host=b", "<password>{}</password>", "{{'password': '{}', 'n': 1}}",
    "map[password:{} user:a]", 'msg="x \\"password\\":\\"{}\\" y"', "?password={}&user=1",
    "redirect=%3Fpassword%3D{}%26n%3D1", "ALTER USER app PASSWORD '{}';",
    "- name: DB_PASSWORD\n  value: {}\n- name: LEVEL\n  value: debug",
    '[{{"name": "DB_PASSWORD", "value": "{}"}}]', "    DB_PASSWORD:   {}\n    LEVEL:  debug",
    "password: |\n  {}\nnext: 1", '{{"password": "{}"', "PGPASSWORD={} psql", "api_key={}",
    "X-Api-Key: {}", "client_secret={}&grant_type=x", '{{"accountKey":"{}"}}',
    "app:{}@tcp(db:3306)/seats", "redis://:{}@cache:6379/0", "mongodb://u:{}@a,b/x?y=1",
    "jdbc:mysql://db/x?user=a&password={}", "amqp:\\/\\/u:{}@mq", 'Authorization: Basic {}',
    '"authorization": ["Bearer {}"]', "Cookie: sid={}; theme=dark",
    "curl -H 'Authorization: Bearer {}' http://x", "set-cookie: a={}; Path=/",
)  # fmt: skip
"""Carriers of a value that only its name gives away."""


@pytest.mark.spec("T7")
@pytest.mark.parametrize("form", ASSIGNMENTS)
@pytest.mark.parametrize("value", [PLAIN_PASSWORD, PASSWORD, OPAQUE])
def test_what_its_name_gives_away_is_masked(form: str, value: str) -> None:
    text = form.format(value)
    out = redact_text(f"before\n{text}\nafter")
    assert value not in out.text
    assert out.text.startswith("before\n")
    assert out.text.endswith("\nafter")
    assert len(out.masks) == 1


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ('password="a \\"b\\" c" next', 'password="[masked:password:1]" next'),
        ("password=p@ss,w0rd!x user=a", "password=[masked:password:1] user=a"),
        ("postgres://u:p@s/s@db:5432/x", "postgres://u:[masked:url-password:1]@db:5432/x"),
        ("https://u:pw@host/@scope/p", "https://u:[masked:url-password:1]@host/@scope/p"),
        ("password: correct horse battery", 'password: "[masked:password:1]"'),
        ("GET /x?token=a1B2c3D4&n=1", "GET /x?token=[masked:token:1]&n=1"),
        ('{"password":12345}', '{"password":"[masked:password:1]"}'),
        ('a {"password":12345,"n":1}', 'a {"password":"[masked:password:1]","n":1}'),
        (
            '{"n":[1.10,1e400,NaN],"password":"x"}',
            '{"n":[1.10,1e400,NaN],"password":"[masked:password:1]"}',
        ),
        (
            '{"password":"a","password":"b"}',
            '{"password":"[masked:password:1]","password":"[masked:password:2]"}',
        ),
    ],
)  # fmt: skip
def test_exactly_the_secret_is_masked(text: str, rest: str) -> None:
    assert redact_text(text).text == rest


SECRET: Final[dict[str, object]] = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "seat-db", "uid": "6f1e0d1a-9c5b-4f7e-8a51-0c2d3e4f5a6b"},
    "data": {"a": b64(PASSWORD), "plain": b64("harbour")},
    "stringData": {"b": "words with spaces"},
}
CONFIG: Final = {"kind": "ConfigMap", "data": {"level": "debug"}}
YAML_SECRET: Final = f"""\
apiVersion: v1
data:
  a: {b64(PASSWORD)}
  plain: '{b64("harbour")}'
  long: |
    {b64("one")}
    {b64("two")}
kind: Secret
metadata:
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: |
      {json.dumps(SECRET)}
  name: seat-db
"""
LEFT: Final = (PASSWORD, b64(PASSWORD), b64("harbour"), b64("one"), b64("two"), "words with spaces")


def in_list(manifest: str) -> str:
    """A YAML list that holds the manifest, and a ConfigMap after it."""
    lines = manifest.splitlines()
    item = "\n".join([f"- {lines[0]}", *(f"  {line}" for line in lines[1:])])
    other = "- apiVersion: v1\n  data:\n    level: debug\n  kind: ConfigMap"
    return f"apiVersion: v1\nitems:\n{item}\n{other}\nkind: List\n"


@pytest.mark.spec("T7")
@pytest.mark.fault("R41", "R64")
@pytest.mark.parametrize(
    "text",
    [
        json.dumps(SECRET),
        json.dumps({"items": [SECRET, CONFIG]}, indent=2),
        json.dumps({"stdout": json.dumps({"items": [SECRET]}, indent=2)}),
        f"saw {json.dumps(json.dumps(SECRET))}",
        "$ kubectl get secret -o json\n" + json.dumps(SECRET, indent=4),
        json.dumps({"result": YAML_SECRET}),
        YAML_SECRET,
        YAML_SECRET.replace("\n", "\r\n"),
        in_list(YAML_SECRET),
        f"---\n{YAML_SECRET}---\nkind: ConfigMap\ndata:\n  level: debug\n",
        YAML_SECRET[YAML_SECRET.index("  a:") :],
        f"kind: Secret\ndata: {{a: {b64(PASSWORD)}, plain: {b64('harbour')}}}\n",
    ],
)  # fmt: skip
def test_a_kubernetes_secret_keeps_names_and_loses_values(text: str) -> None:
    out = redact_text(text).text
    for word in LEFT:
        assert word not in out
    assert out.count("debug") == text.count("debug")
    assert out.count("seat-db") == text.count("seat-db")
    assert "kubernetes-secret" in out


@pytest.mark.parametrize("size", range(40, len(YAML_SECRET), 7))
def test_a_secret_that_was_cut_off_anywhere_is_masked(size: int) -> None:
    """Whatever was cut away, the kind among it."""
    for text in (
        YAML_SECRET[:size],
        json.dumps(SECRET | {"kind": "Secret"}, sort_keys=True)[:size],
    ):
        out = redact_text(text).text
        assert b64(PASSWORD)[:6] not in out
        assert b64("harbour")[:6] not in out


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\\n", "\\r\\n", "\\\\n", "\n    "])
def test_a_private_key_is_one_mask_whatever_its_line_ends(newline: str) -> None:
    out = redact_text(f"key: {pem(newline)} after")
    assert [mask.kind for mask in out.masks] == ["private-key"]
    assert out.text.endswith(" after")


@pytest.mark.parametrize("size", range(30, len(pem("\n")), 9))
def test_a_private_key_that_was_cut_off_is_masked(size: int) -> None:
    block = pem("\n")
    assert not [line for line in PEM_BODY[:2] if line[:12] in redact_text(block[:size]).text]
    tail = redact_text(f"words\n{block[size:]}").text
    assert PEM_BODY[1][-20:] not in tail
    assert tail.startswith("words\n")


def test_a_private_key_with_something_before_each_line_is_masked() -> None:
    lines = pem("\n").splitlines()
    logged = "\n".join(f"10:00:0{n} INFO pod-1 {line}" for n, line in enumerate(lines))
    out = redact_text(logged).text
    assert not [line for line in PEM_BODY if line in out]
    assert out.count("INFO pod-1") == len(lines)
    json_lines = "\n".join(json.dumps({"log": line}) for line in lines)
    assert not [line for line in PEM_BODY if line in redact_text(json_lines).text]
    assert all(json.loads(line) for line in redact_text(json_lines).text.splitlines())
    streams = {"values": [[str(n), line] for n, line in enumerate(lines)]}
    assert not [line for line in PEM_BODY if line in redact_text(json.dumps(streams)).text]
    assert not [line for line in PEM_BODY if line in json.dumps(redact_json(streams).value)]


def test_base64_of_a_private_key_is_masked_and_of_a_certificate_is_not() -> None:
    certificate = b64("-----BEGIN CERTIFICATE-----\nMIIB")
    out = redact_text(f"client-key-data: {b64(pem(chr(10)))}\ncaBundle: {certificate}\n").text
    assert "LS0tLS1CRUdJTiBSU0" not in out
    assert certificate in out


INNOCENT: Final = (
    "pod/checkout-7d9f8b6c5d-x2k4q Running on ip-10-0-3-17.ec2.internal",
    "trace_id=4bf92f3577b34da6a3ce929d0e0e4736 span_id=00f067aa0ba902b7 sampled=true",
    "span_id=5248200507305230 request_id: 4242424242424242",
    "image: registry:5000/shop/api:v1.2@sha256:" + "9f86d081884c7d65" * 4,
    "Image ID: docker-pullable://localhost:5000/api:v1@sha256:" + "9f86d081884c7d65" * 4,
    "commit 2fd4e1c67a2d28fced849ee1bb76e7391b93eb12 by ci",
    'resourceVersion: "837465912", uid: 6f1e0d1a-9c5b-4f7e-8a51-0c2d3e4f5a6b',
    "1756000000000000000 1756000000000 0.00012345678901234567 2031-05-04 01:02:03.123456789",
    'secret "seat-db" not found; token expired; invalid token: unexpected end',
    "secretName: seat-db-tls\n  secret:\n    secretName: default-token-x7k2p",
    "max_tokens=4096 tokens: 1500 completion_tokens=77 token_count=12",
    "partition_key=orders primary_key: id cache_key=v2:orders:17 routing_key=seat.booked",
    "cache_key=9f86d081884c7d659a2feaa0c55ad015 key=4bf92f3577b34da6a3ce929d0e0e4736",
    "password=${DB_PASSWORD} password: <redacted> password=**** password= token=null",
    "password is wrong; Invalid password: user is unknown; passwordless login",
    "PASSWORD_FILE=/run/secrets/db tokenExpirationSeconds: 3600",
    "DB_PASSWORD: <set to the key 'password' in secret 'seat-db'> Optional: false",
    "name: DB_PASSWORD\nvalueFrom:\n  secretKeyRef:\n    key: password\n    name: seat-db",
    "http://host:8080/@scope/pkg https://github.com/a/b git@github.com:a/b getty@tty1.service",
    "GET,shop@services-db.rds.example.com_Database,0.41234567890123 0.4242424242424242 12",
    "http://[2001:db8::1]:8080/a@b ftp.example.com:21 npm install left-pad@1.3.0",
    "-----BEGIN CERTIFICATE-----\nMIIBszCCARygAwIBAgIJ\n-----END CERTIFICATE-----",
    "authorization.k8s.io/v1 basic authentication failed; Bearer token missing; cookie: none",
    "task-runner-for-the-harbour-shop disk-pressure-eviction-manager-loop ask-me-later-please",
    'WWW-Authenticate: Bearer realm="harbour",error="invalid_token"',
    "signature mismatch: sig=ok key=value monkey=banana service_key=default/Deployment/web-app",
)  # fmt: skip


@pytest.mark.spec("T7")
@pytest.mark.parametrize("text", INNOCENT)
def test_what_a_diagnosis_consists_of_is_left_alone(text: str) -> None:
    raw = text.encode()
    assert redact_bytes(raw) is raw
    assert redact_text(text).text == text
    assert redact_json({"a": [text]}).value == {"a": [text]}


def test_equal_secrets_have_equal_masks_and_others_have_others() -> None:
    out = redact_text("password=first1 password=second2 password=first1")
    assert [found[2] for found in MASK_PATTERN.finditer(out.text)] == ["1", "2", "1"]
    assert [(mask.number, mask.count) for mask in out.masks] == [(1, 2), (2, 1)]


def test_a_secret_is_masked_where_nothing_hints_at_it_too() -> None:
    out = redact_json({"log": f"login with {OPAQUE} failed", "api_key": OPAQUE})
    assert OPAQUE not in json.dumps(out.value)
    assert [mask.count for mask in out.masks] == [2]
    opaque_secret = {"kind": "Secret", "data": {"a": b64(OPAQUE)}}
    plain = redact_json([opaque_secret, {"log": f"login with {OPAQUE} failed"}])
    assert OPAQUE not in json.dumps(plain.value)
    assert b64(OPAQUE) not in json.dumps(plain.value)
    kept = redact_text(f"echo {OPAQUE}\nmore {OPAQUE}\ntoken={OPAQUE}")
    assert OPAQUE not in kept.text


def test_a_common_word_that_is_a_password_stays_a_word_elsewhere() -> None:
    out = redact_text("password=postgres\npod postgres-0 restarted")
    assert out.text == "password=[masked:password:1]\npod postgres-0 restarted"


def test_a_mask_is_never_masked_again() -> None:
    for form in ASSIGNMENTS:
        once = redact_text(form.format(PASSWORD)).text
        assert redact_text(once).text == once


def test_numbers_of_masks_follow_those_that_are_there() -> None:
    out = redact_text("password=[masked:password:4] token=a1B2c3D4")
    assert out.text == "password=[masked:password:4] token=[masked:token:5]"


@pytest.mark.parametrize("value", [{"password": "a", "n": 1}, [{"x " + AWS_KEY: 1, "A": 2}, None]])
def test_canonical_bytes_stay_canonical(value: object) -> None:
    out = redact_bytes(canonical_json(value))
    assert out == canonical_json(json.loads(out))
    assert b"[masked:" in out


def test_json_values_keep_their_shape() -> None:
    value = {"a": (1, 2.5, True, None), "env": [{"name": "DB_PASSWORD", "value": "x1"}], 3: "n"}
    out = redact_json(value).value
    assert isinstance(out, dict)
    assert out["a"] is value["a"]
    assert out["env"] == [{"name": "DB_PASSWORD", "value": "[masked:password:1]"}]
    assert out[3] == "n"
    same = {"rows": [{"n": 1}]}
    assert redact_json(same).value is same


def test_what_is_too_deep_to_judge_is_masked() -> None:
    deep: object = "password=hunter2"
    for _ in range(300):
        deep = [deep]
    assert "hunter2" not in str(redact_json(deep).value)
    raw = b"[" * 5000 + b'"password=hunter2"' + b"]" * 5000
    assert b"hunter2" not in redact_bytes(raw)


def test_every_rule_has_one_gate_that_its_needle_opens() -> None:
    for rule in RULES:
        gates = [gate for gate in GATES if rule.needle in gate.needles]
        assert len(gates) == 1, rule.needle
        assert gates[0].pattern.search(rule.needle), rule.needle
    assert not any(gate.pattern.search(b"0 a - [9] _.") for gate in GATES)
    assert {needle for gate in GATES for needle in gate.needles} == {rule.needle for rule in RULES}


@pytest.mark.spec("T7")
def test_a_mask_says_what_it_is_and_is_found_by_its_pattern() -> None:
    text = "; ".join(secret for secret, _ in SHAPED.values())
    out = redact_text(text)
    found = {match[1] for match in MASK_PATTERN.finditer(out.text)}
    assert found == {kind for _, kind in SHAPED.values()}


@pytest.mark.spec("T7")
def test_the_letter_of_an_escape_is_no_part_of_a_secret() -> None:
    """What follows a line break of a JSON text is masked, and the break stays one."""
    line = "MIIEowIBAAKCAQEA7bq0xTz1" * 2
    raw = json.dumps(f"-----BEGIN RSA PRIVATE KEY-----kind: Secret\n{line}==")
    masked = redact_bytes(raw.encode()).decode()
    assert json.loads(masked).count("\n") == 1
    assert "MIIEow" not in masked
