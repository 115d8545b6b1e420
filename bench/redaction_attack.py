"""How many secrets get past redaction, by the form in which they are printed:
`python bench/redaction_attack.py`.

Each form is tried with `TRIES` random secrets of a fixed lot; a form that leaks once is named.
"""

# ruff: noqa: INP001, T201, S311 -- a script, it prints, and its secrets are made up

from __future__ import annotations

import base64
import json
import random
import re
import string
import urllib.parse
from collections.abc import Callable
from typing import Final

from affidavit.tools.redaction import redact_bytes

TRIES: Final = 30
DICE: Final = random.Random(41)
LETTERS: Final = string.ascii_letters + string.digits


def opaque(size: int = 40) -> Callable[[], str]:
    """Random letters and digits."""
    return lambda: "".join(DICE.choices(LETTERS, k=size))


def strong() -> str:
    """A password as a generator makes it, with a mark and a digit."""
    return opaque(14)() + DICE.choice("!#^") + DICE.choice("0123456789")


def word() -> str:
    """A password that is a word."""
    return DICE.choice(["sunshine", "dragonfly", "letmein", "qwertz", "kartoffel"])


def quoted() -> str:
    """A password as a URL carries it."""
    return urllib.parse.quote(strong())


def basic() -> str:
    """A user and a password in base64."""
    return base64.b64encode(f"admin:{opaque(14)()}".encode()).decode()


def body() -> str:
    """The lines of a private key."""
    return "\n".join(opaque(64)() for _ in range(8))


def pem(text: str, kind: str = "PRIVATE KEY") -> str:
    """A private key of those lines."""
    return f"-----BEGIN {kind}-----\n{text}\n-----END {kind}-----\n"


def nested(value: dict[str, str], depth: int) -> str:
    """JSON inside JSON."""
    text = json.dumps(value)
    for _ in range(depth):
        text = json.dumps({"log": text})
    return text


def coded(form: Callable[[str], str]) -> Callable[[str], str]:
    """The form in base64, as the value of a name that promises nothing."""
    return lambda secret: "note: " + base64.b64encode(form(secret).encode()).decode()


Form = tuple[str, Callable[[str], str], Callable[[], str]]

FORMS: Final[tuple[Form, ...]] = (
    ("an environment", lambda s: f"PATH=/bin\nDB_PASSWORD={s}\nHOME=/root", strong),
    ("an environment, a word", lambda s: f"POSTGRES_PASSWORD={s}", word),
    ("YAML", lambda s: f"db:\n  password: {s}\n  host: x", strong),
    ("YAML, quoted", lambda s: f"db:\n  password: '{s}'\n", strong),
    ("YAML, a block", lambda s: f"stringData:\n  password: |\n    {s}\n", strong),
    ("YAML, over two lines", lambda s: f'password: "{s[:10]}\\\n   {s[10:]}"', opaque(24)),
    ("JSON", lambda s: nested({"password": s}, 0), strong),
    ("JSON in JSON", lambda s: nested({"password": s}, 1), strong),
    ("JSON in JSON in JSON", lambda s: nested({"apiKey": s}, 2), opaque()),
    ("a URL", lambda s: f"postgres://app:{s}@db:5432/x", opaque(16)),
    ("a URL, escaped", lambda s: f"amqp://u:{s}@mq", quoted),
    ("JDBC", lambda s: f"jdbc:mysql://h/db?user=a&password={s}&x=1", opaque(16)),
    ("ADO", lambda s: f"Server=x;User Id=sa;Password={s};Encrypt=true", opaque(16)),
    ("curl -H", lambda s: f"curl -H 'Authorization: Bearer {s}' https://x", opaque()),
    ("curl -u", lambda s: f"curl -u admin:{s} https://x/y", opaque(16)),
    ("Basic", lambda s: f"curl -H 'Authorization: Basic {s}' u", basic),
    ("a map of headers", lambda s: f'{{"headers": {{"Authorization": ["Bearer {s}"]}}}}', opaque()),
    ("X-Api-Key", lambda s: f"X-Api-Key: {s}", opaque()),
    ("a cookie", lambda s: f"Cookie: theme=dark; sid={s}", opaque()),
    ("kubectl describe", lambda s: f"    Environment:\n      DB_PASSWORD:  {s}\n", strong),
    (
        "env of a pod, JSON",
        lambda s: f'{{"env": [{{"name": "DB_PASSWORD", "value": "{s}"}}]}}',
        word,
    ),
    ("env of a pod, YAML", lambda s: f"env:\n- name: DB_PASSWORD\n  value: {s}\n", word),
    (
        "a Secret",
        lambda s: f'{{"kind": "Secret", "apiVersion": "v1", "data": {{"x": "{s}"}}}}',
        basic,
    ),
    ("mysql -p", lambda s: f"mysql -uroot -p{s} -h db", opaque(12)),
    ("a flag and a word", lambda s: f"app --db-password {s} --x", strong),
    ("a flag with =", lambda s: f"app --password={s}", strong),
    ("redis-cli -a", lambda s: f"redis-cli -a {s} ping", opaque(16)),
    ("helm --set", lambda s: f"helm upgrade x --set auth.password={s}", opaque(14)),
    ("docker -e", lambda s: f"docker run -e DB_PASSWORD={s} img", opaque(14)),
    ("prose", lambda s: f"the password is {s}!7Aa.", opaque(12)),
    ("prose, a word", lambda s: f"the password is {s}", word),
    ("Chinese", lambda s: f"数据库密码：{s}", opaque(14)),
    ("a secret key of AWS", lambda s: f"aws_secret_access_key = {s}", opaque()),
    ("a key id of AWS", lambda s: f"key AKIA{s.upper()} used", opaque(16)),
    ("a token of GitHub", lambda s: f"using ghp_{s} now", opaque(36)),
    ("a hook of Slack", lambda s: f"https://hooks.slack.com/services/T0AB/B0CD/{s}", opaque(24)),
    ("a token of Vault", lambda s: f"VAULT_TOKEN=hvs.{s}", opaque(90)),
    (".npmrc", lambda s: f"//registry/:_authToken={s}", opaque(36)),
    (".dockerconfigjson", lambda s: f'{{"auths": {{"r": {{"auth": "{s}"}}}}}}', basic),
    (".pgpass", lambda s: f"db.local:5432:shop:app:{s}", opaque(16)),
    (".netrc", lambda s: f"machine h login u password {s}", opaque(16)),
    ("a JWT", lambda s: f"token=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.{s}", opaque(43)),
    ("PEM", lambda s: pem(s, "RSA PRIVATE KEY"), body),
    ("PEM in JSON", lambda s: json.dumps({"k": pem(s)}), body),
    ("PEM, cut off", lambda s: f"-----BEGIN PRIVATE KEY-----\n{s}", body),
    ("XML", lambda s: f'<property name="x"/><password>{s}</password>', strong),
    ("XML, an attribute", lambda s: f'<add key="Password" value="{s}" />', opaque(16)),
    ("SQL, ALTER USER", lambda s: f"ALTER USER app WITH PASSWORD '{s}';", strong),
    ("SQL, IDENTIFIED BY", lambda s: f"CREATE USER a IDENTIFIED BY '{s}'", strong),
    ("CSV", lambda s: f"user,password,host\nbob,{s},h1\n", opaque(14)),
    ("a table of spaces", lambda s: f"USER   PASSWORD          HOST\nbob    {s}  h1\n", opaque(16)),
    ("properties", lambda s: f"spring.datasource.password={s}", strong),
    ("TOML", lambda s: f'[db]\npassword = "{s}"', strong),
    ("a dict of Python", lambda s: f"{{'user': 'a', 'password': '{s}'}}", strong),
    ("a struct of Go", lambda s: f"{{Host:db Password:{s} Port:5432}}", opaque(14)),
    ("a signed URL", lambda s: f"https://x.blob/y?sv=1&sig={s}%3D", opaque(43)),
    ("a query", lambda s: f"/login?user=a&password={s}", quoted),
    ("a form", lambda s: f"grant_type=password&client_secret={s}&x=1", opaque()),
    ("percent-encoded, a form", lambda s: f"body=user%3Da%26password%3D{s}%26x%3D1", opaque(16)),
    ("percent-encoded, JSON", lambda s: f"%7B%22password%22%3A%22{s}%22%7D", opaque(16)),
    ("letters as \\u in JSON", lambda s: f'{{"p\\u0061ssword": "{s}"}}', opaque(16)),
    ("HTML entities", lambda s: f"{{&quot;password&quot;:&quot;{s}&quot;}}", opaque(16)),
    ("a flag, its value on the next line", lambda s: f"app --password \\\n  {s}", opaque(16)),
    ("cut by a line end", lambda s: f"password={s[:12]}\n{s[12:]}", opaque(24)),
    ("PEM in base64", coded(pem), body),
    ("an environment in base64", coded(lambda s: f"A=b\nDB_PASSWORD={s}\n"), opaque(16)),
    ("JSON in base64", coded(lambda s: f'{{"password": "{s}"}}'), opaque(16)),
    ("an exception", lambda s: f"Access denied for user app (using password: {s})", opaque(16)),
)


def leaks(form: Callable[[str], str], secret: str) -> bool:
    """Whether any line of the secret is still there, as it is, in base64, or by half."""
    out = redact_bytes(form(secret).encode()).decode()
    for run in BASE64.findall(out):
        out += "\n" + base64.b64decode(run + "=" * (-len(run) % 4)).decode("latin-1")
    parts = [part for line in secret.split("\n") for part in halves(line)]
    return any(part in out or part.upper() in out for part in parts)


BASE64: Final = re.compile(r"[A-Za-z0-9+/]{24,}={0,2}")


def halves(line: str) -> tuple[str, ...]:
    """A line, and its halves where they are long enough to be known again."""
    middle = len(line) // 2
    return (line, line[:middle], line[middle:]) if middle >= HALF_LETTERS_MIN else (line,)


HALF_LETTERS_MIN: Final = 8


def main() -> None:
    """The count, and each form that leaked."""
    leaked = {name: sum(leaks(form, make()) for _ in range(TRIES)) for name, form, make in FORMS}
    bad = {name: count for name, count in leaked.items() if count}
    print(
        f"redaction: {len(FORMS) - len(bad)} of {len(FORMS)} forms masked in all of {TRIES} tries"
    )
    for name, count in bad.items():
        print(f"  {name}: {count} leaked")


if __name__ == "__main__":
    main()
