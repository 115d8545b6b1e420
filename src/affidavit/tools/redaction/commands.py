"""Secrets that are known by the words around them: of a command, of SQL, of a file's line (T7)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from affidavit.tools.redaction.hints import Strength, hint_of, is_secret
from affidavit.tools.redaction.marks import STRUCTURE, Span
from affidavit.tools.redaction.shapes import Rule, Text

LINE_BYTES_MAX: Final = 256
"""Between a command and its option; what stands further away belongs to something else."""

_JOIN: Final = rb"(?:[\"'],\s{0,16}[\"']|[ \t=]{1,8}[\"']?|(?=[\"'])[\"'])"
_WORD: Final = rb"([^\s\"'`,;|&<>]{1,256})"
_USER: Final = re.compile(
    rb"(?:-u|-U|--(?:proxy-)?user)(?:%b)?[^\s:\"'/]{1,64}:%b" % (_JOIN, _WORD)
)
_APART: Final = re.compile(rb"-p%b%b" % (_JOIN, _WORD))
_ATTACHED: Final = re.compile(rb"-p[\"']?%b" % _WORD)
_AUTH: Final = re.compile(rb"-a%b%b" % (_JOIN, _WORD))

_WITH_USER: Final = re.compile(rb"\b(?:curl|wget|https?|etcdctl|influx|consul)\b")
_WITH_WORD: Final = re.compile(
    rb"\bsshpass\b|\bmongo\w*\b|\b(?:docker|podman|nerdctl|buildah|skopeo|crane|oras|helm|registry"
    rb"|oc|az|argocd|cf)[ \"',]{1,8}(?:registry[ \"',]{1,8})?login\b"
)
_WITH_ATTACHED: Final = re.compile(rb"\bsshpass\b|\b(?:mysql|mariadb)\w*\b")
_WITH_AUTH: Final = re.compile(rb"\b(?:redis|valkey|keydb)-cli\b")


def _command(text: Text, at: int) -> bytes:
    """What stands before a place on its line, in lower case."""
    first = max(0, at - LINE_BYTES_MAX)
    return text.low[max(first, text.low.rfind(b"\n", first, at) + 1) : at]


def look_at_option(text: Text, at: int) -> Iterator[Span]:
    """The password that an option of a known command takes: `curl -u a:b`, `mysql -pb`."""
    if text.raw[at : at + 1] == b'"':
        yield Span(
            at, at, STRUCTURE
        )  # of a list of arguments, whose command stands on another line
    start = text.low.index(b"-", at)
    before = _command(text, start)
    for option, command in (
        (_USER, _WITH_USER),
        (_APART, _WITH_WORD),
        (_ATTACHED, _WITH_ATTACHED),
        (_AUTH, _WITH_AUTH),
    ):
        found = option.match(text.raw, start)
        if found and command.search(before) and is_secret(Strength.STRONG, found[1]):
            yield Span(found.start(1), found.end(1), "password")
            return


ARGUMENTS_MAX: Final = 256
"""Of one list; a longer one is no command."""


def secrets_of_arguments(items: Sequence[object]) -> dict[int, Span]:
    """Of a list that is a command's arguments: which items hold a secret, and where in each."""
    if not any(isinstance(item, str) and item[:1] == "-" for item in items[:ARGUMENTS_MAX]):
        return {}
    words = [
        item.encode("utf-8", "surrogatepass") if isinstance(item, str) else b""
        for item in items[:ARGUMENTS_MAX]
    ]
    line = b" ".join(words)
    text = Text(line, line.lower())
    told: dict[int, Span] = {}
    at = 0
    for place, word in enumerate(words):
        after = words[place + 1] if place + 1 < len(words) else b""
        if word[:1] == b"-":
            strength, kind = hint_of(word.lstrip(b"-").lower())
            if after[:1] != b"-" and is_secret(strength, after):
                told[place + 1] = Span(0, len(after), kind)
            for span in look_at_option(text, at):
                inside = span.start - at - len(word) - 1
                where, begin = (place + 1, inside) if inside >= 0 else (place, span.start - at)
                told[where] = Span(begin, begin + span.end - span.start, span.kind)
        at += len(word) + 1
    return told


_IDENTIFIED: Final = re.compile(
    rb"identified\s{1,8}(?:with\s{1,8}\S{1,64}\s{1,8}(?:by|as)|by)\s{1,8}(?:password\s{1,8})?"
    rb"\\{0,4}(?P<quote>['\"])(?P<secret>[^'\"\\\n]{1,256})",
    re.IGNORECASE,
)


def look_at_identified(text: Text, at: int) -> Iterator[Span]:
    """`CREATE USER a IDENTIFIED BY 'b'`."""
    found = _IDENTIFIED.match(text.raw, at)
    if found and is_secret(Strength.STRONG, found["secret"]):
        yield Span(found.start("secret"), found.end("secret"), "password")


_REDIS: Final = re.compile(
    rb"\"auth\" (?:\"[^\"]{1,128}\" )?\"(?P<secret>[^\"]{1,256})\"", re.IGNORECASE
)


def look_at_redis(text: Text, at: int) -> Iterator[Span]:
    """`"AUTH" "user" "password"`, as MONITOR and the slow log of Redis print it."""
    found = _REDIS.match(text.raw, at)
    if found and is_secret(Strength.STRONG, found["secret"]):
        yield Span(found.start("secret"), found.end("secret"), "password")


_PGPASS: Final = re.compile(
    rb"(?:^|[\s\"'])[\w.*-]{1,128}:(?:5432|\*):[\w.*-]{1,64}:[\w.*@-]{1,64}:(?P<secret>[^\s\"']{1,256})"
)


def look_at_pgpass(text: Text, at: int) -> Iterator[Span]:
    """A line of a .pgpass: `host:port:database:user:password`."""
    first = max(0, at - 130)
    for found in _PGPASS.finditer(text.raw, first, at + 512):
        if found.start() <= at < found.end() and is_secret(Strength.STRONG, found["secret"]):
            yield Span(found.start("secret"), found.end("secret"), "password")
            return


_CHINESE: Final = re.compile(
    rb"(?:\xe5\xaf\x86\xe7\xa0\x81|\xe5\x8f\xa3\xe4\xbb\xa4|\xe5\xaf\x86\xe9\x92\xa5)"
    rb"(?:(?:\xe6\x98\xaf|\xe4\xb8\xba)[ \t]{0,8}(?:[:=]|\xef\xbc\x9a)?"
    rb"|[ \t]{0,8}(?:[:=]|\xef\xbc\x9a))[ \t]{0,8}"
    rb"[\"'`]?(?P<secret>[!-~]{4,128})"
)


_KEY_ZH: Final = b"\xe5\xaf\x86\xe9\x92\xa5"


def look_at_chinese(text: Text, at: int) -> Iterator[Span]:
    """A password (密码, 口令) or a key (密钥) named in Chinese, and no Chinese letters in it."""
    found = _CHINESE.match(text.raw, at)
    if found:
        secret = found["secret"].rstrip(b"\"'`,.;)]}")
        # a key may be spoken of by its id (`2026-a`); a password is one whatever it looks like
        strength = Strength.MIDDLE if text.raw.startswith(_KEY_ZH, at) else Strength.STRONG
        if is_secret(strength, secret) and not secret.isdigit():
            yield Span(found.start("secret"), found.start("secret") + len(secret), "password")


_JWK: Final = re.compile(
    rb"\\{0,8}\"(?:d|p|q|dp|dq|qi|k)\\{0,8}\"\s{0,16}:\s{0,16}\\{0,8}\"(?P<secret>[\w-]{20,2048})"
)
JWK_BYTES_MAX: Final = 8_192
"""Of one key: RSA of 4096 bits takes four."""


def look_at_jwk(text: Text, at: int) -> Iterator[Span]:
    """The private numbers of a JSON Web Key, on either side of its `kty`."""
    begin = max(text.raw.rfind(b"{", max(0, at - JWK_BYTES_MAX), at), 0)
    end = text.raw.find(b"}", at, at + JWK_BYTES_MAX)
    end = end if end >= 0 else min(len(text.raw), at + JWK_BYTES_MAX)
    for found in _JWK.finditer(text.raw, begin, end):
        yield Span(found.start("secret"), found.end("secret"), "private-key-number")
    yield Span(end, end, "private-key-number")


COMMAND_RULES: Final[tuple[Rule, ...]] = (
    *(
        Rule(needle, look_at_option)
        for needle in (b" -u", b'"-u', b" -p", b'"-p', b" -a ", b'"-a"', b"--user", b"--proxy-user")
    ),
    Rule(b"identified", look_at_identified),
    Rule(b'"auth" "', look_at_redis),
    Rule(b":5432:", look_at_pgpass),
    Rule(b":*:", look_at_pgpass),
    Rule(b"\xe5\xaf\x86\xe7\xa0\x81", look_at_chinese),
    Rule(b"\xe5\xaf\x86\xe9\x92\xa5", look_at_chinese),
    Rule(b"\xe5\x8f\xa3\xe4\xbb\xa4", look_at_chinese),
    Rule(b'kty"', look_at_jwk),
    Rule(b"kty\\", look_at_jwk),
)
