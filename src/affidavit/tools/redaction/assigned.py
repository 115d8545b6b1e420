"""Secrets that are known by what stands beside them: a name, a header, a scheme, a URL (T7).

One grammar of assignments serves env lists, flags, logfmt, properties, YAML, JSON that cannot be
parsed, query strings and XML. Where a value ends is decided by how it began; in doubt more is
masked rather than less.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from typing import Final

from affidavit.tools.redaction.hints import (
    KEY_NEEDLES,
    Strength,
    hint_of,
    is_secret,
    looks_random,
)
from affidavit.tools.redaction.marks import MASK_START, Span
from affidavit.tools.redaction.shapes import CUT, Rule, Text

_KEY: Final = re.compile(rb"[A-Za-z0-9_.-]{1,64}")
_ASSIGNED: Final = re.compile(
    rb"(?P<close>\\{0,8}[\"'`]?)\]?[ \t]{0,64}(?P<sign>=>|:=|==?|:|%3[Dd]|>)[ \t]{0,64}"
)
_BESIDE: Final = re.compile(
    rb"(?P<close>\\{0,8}[\"'])\s{0,64},?\s{0,64}(?:\\+n\s{0,64})?"
    rb"\\{0,8}[\"']?[Vv]alue\\{0,8}[\"']?"
    rb"[ \t]{0,64}(?P<sign>[:=])[ \t]{0,64}"
    rb"|(?P<close2>\\{0,8}[\"']?)[ \t]{0,64}(?:\r?\n|\\+n)[ \t]{0,64}"
    rb"[Vv]alue(?P<sign2>:)[ \t]{0,64}"
)
"""`{"name": "DB_PASSWORD", "value": "…"}`, and the same in YAML."""
_FLAGGED: Final = re.compile(rb"[ \t]{1,64}(?![-\s])|[\"'],[ \t\n]{0,64}(?=[\"'])")
_QUOTED: Final = re.compile(rb"[ \t]{1,64}(?=[\"'])")
_OPENING: Final = re.compile(rb"(?P<slashes>\\{0,8})(?P<quote>[\"'`])")
_BARE: Final = re.compile(
    rb"(?:[^\s\"'`<>&,;)\]}|\\]|\\(?![nrtu\"'\\])"
    rb"|[,;&)\]}|](?![\s,;&)\]}|\"'\\]|\Z|[\w.-]{1,64}\s?[=:]))++"
)
_QUERY: Final = re.compile(rb"(?:(?!%26)[^\s\"'`<>&\\;#])*+")
_REST: Final = re.compile(rb"[^\r\n]*")
_LINE_START: Final = re.compile(rb"(?:^|[\r\n])[ \t]*(?:- |export |set )?[\"']?\Z")
_INDENT: Final = re.compile(rb"\n[ \t]*\Z")  # a block scalar's, which holds quotes as they are
_PAIR: Final = re.compile(rb"[\w.-]{1,64}=")
_NEXT_PAIR: Final = re.compile(rb"[\s,;&][\w.-]{1,64}[=:]")
_BLOCK: Final = re.compile(rb"[|>][-+0-9]{0,2}[ \t]*\r?\n(?P<indent>[ \t]+)")
_PROSE: Final = re.compile(rb"[a-z]+[ \t]+[A-Za-z]")
_NUMBER: Final = re.compile(rb"-?\d+(?:\.\d+)?")


def look_at_key(text: Text, at: int) -> Iterator[Span]:
    """The value of an assignment whose key hints at a secret."""
    back = _KEY.match(text.raw[max(0, at - 64) : at][::-1])  # backwards: no start is tried twice
    start = at - (back.end() if back else 0)
    ahead = _KEY.match(text.raw, at)
    if not ahead:
        return
    stop = ahead.end() - (len(ahead[0]) - len(ahead[0].rstrip(b".-")))
    key = text.low[start:stop]
    if text.raw.endswith(MASK_START, 0, start):
        return
    strength, kind = hint_of(key)
    if strength is Strength.NONE:
        yield Span(stop, stop, kind)  # an empty span: the name needs no second look
        return
    is_flag = key.startswith(b"-")
    separator = _ASSIGNED.match(text.raw, stop) or _BESIDE.match(text.raw, stop)
    if separator:
        groups = separator.groupdict()
        sign = groups["sign"] or groups.get("sign2") or b""
        close = groups["close"] or groups.get("close2") or b""
        value_at = separator.end()
    else:
        beside = (_FLAGGED if is_flag else _QUOTED).match(text.raw, stop)
        if not beside or not (is_flag or strength is Strength.STRONG):
            return
        sign, close, value_at = b" ", b"", beside.end()
    span = _value(text, start, value_at, sign, kind)
    if span is None:
        return
    value = text.raw[span.start : span.end]
    bare = not _OPENING.match(text.raw, value_at)
    if bare and sign in {b":", b">"} and _is_prose(text, start, span):
        return
    if _NUMBER.fullmatch(value) and (strength is not Strength.STRONG or len(value) < 4):
        return
    if is_secret(strength, value):
        yield Span(span.start, span.end, kind, _quote(text, bare, sign, close, span))


def _is_prose(text: Text, key_at: int, span: Span) -> bool:
    """`invalid password: user is unknown` in the middle of a line says nothing secret."""
    if _LINE_START.search(text.raw[max(0, key_at - 80) : key_at]):
        return False
    return bool(_PROSE.match(text.raw, span.start))


def _quote(text: Text, bare: bool, sign: bytes, close: bytes, span: Span) -> bytes:
    """Quotes for the mask of a bare word where YAML or JSON would read the mask as a list."""
    if not bare or sign != b":" or _INDENT.search(text.raw[max(0, span.start - 16) : span.start]):
        return b""
    if close.endswith(b'"'):
        return close
    is_last = text.raw[span.end : span.end + 1] in {b"", b"\n", b"\r"}
    return b'"' if is_last and text.raw[span.start - 1 : span.start] != b":" else b""


def _value(text: Text, key_at: int, at: int, sign: bytes, kind: str) -> Span | None:
    """Where the value lies that begins at `at`, whatever it is."""
    raw = text.raw
    opening = _OPENING.match(raw, at)
    if opening:
        begin = opening.end()
        return Span(begin, end_of_quoted(raw, begin, opening["slashes"], opening["quote"]), kind)
    if sign == b">":
        end = raw.find(b"<", at, at + 4096)
        return Span(at, end, kind) if end >= 0 else None
    if sign.lower() == b"%3d" or raw[key_at - 1 : key_at] in {b"?", b"&"}:
        found = _QUERY.match(raw, at)
        return Span(at, found.end(), kind) if found and found[0] else None
    if sign == b":" and (block := _BLOCK.match(raw, at)):
        return Span(block.end(), end_of_block(raw, block), kind)
    if sign == b":" and raw[at : at + 1] in {b"[", b"{", b"&", b"*"}:
        return None  # a collection or an alias, not a word
    if raw[at - 1 : at] == b" " and _PAIR.match(raw, at):
        return None  # nothing, and then the next pair
    found = _BARE.match(raw, at)
    if _LINE_START.search(raw[max(0, key_at - 80) : key_at]) and sign in {b":", b"="}:
        rest = _REST.match(raw, at)
        line = rest[0].rstrip() if rest else b""
        if line and b'"' not in line and not _NEXT_PAIR.search(line[:1024]):
            return Span(at, at + len(line), kind)
    return Span(at, found.end(), kind) if found else None


def end_of_quoted(raw: bytes, begin: int, slashes: bytes, quote: bytes) -> int:
    """Where a quoted text ends: at a quote that is escaped no deeper than the first one was.

    A text that was cut off before its closing quote ends with its line.
    """
    level = len(slashes)
    for found in _STOPS[quote].finditer(raw, begin):
        if found[0][-1:] == b"\n":
            return found.start()
        run = len(found[0]) - 1
        if run == level or run < level or (level == 0 and run % 2 == 0):
            # An even run at level 0 is escaped backslashes, which belong to the value.
            return found.end() - 1 - min(level, run)
    return len(raw)


_STOPS: Final = {quote: re.compile(rb"\\*+" + quote + rb"|\n") for quote in (b'"', b"'", b"`")}


def end_of_block(raw: bytes, block: re.Match[bytes]) -> int:
    """Where the lines of a YAML block scalar end: before the first that is indented less."""
    indent, end = block["indent"], block.end()
    while True:
        newline = raw.find(b"\n", end)
        if newline < 0:
            return len(raw)
        if not raw.startswith(indent, newline + 1) and raw[newline + 1 : newline + 2] not in {
            b"\n",
            b"\r",
        }:
            return newline - (raw[newline - 1 : newline] == b"\r")
        end = newline + 1


# --- Headers ---------------------------------------------------------------------------------

_HEADER_SIGN: Final = re.compile(
    rb"\\{0,8}[\"']?[ \t]{0,16}(?:=>|[:=,]|%3[Aa])[ \t]{0,16}\[?[ \t]{0,16}"
)
_SCHEME: Final = re.compile(
    rb"(?:(bearer|basic|token|apikey|negotiate|digest|ntlm|aws4-hmac-sha256|key|hmac|bot)"
    rb"(?:[ \t]+|%20|\+))?",
    re.IGNORECASE,
)
_HEADERS: Final = re.compile(rb"(?:proxy-|x-)?authorization|(?:set-)?cookie2?")


def header_value(key: bytes, value: bytes) -> Span | None:
    """The secret part of a header's value; None where the key names no such header."""
    if not _HEADERS.fullmatch(key):
        return None
    if b"cookie" in key:
        return Span(0, len(value), "cookie") if b"=" in value else None
    scheme = _SCHEME.match(value)
    word = scheme[1].lower() if scheme and scheme[1] else b""
    start = scheme.end() if scheme else 0
    if not is_secret(Strength.STRONG if word else Strength.MIDDLE, value[start:]):
        return None
    return Span(start, len(value), "bearer-token" if word == b"bearer" else "authorization")


_LONG_SCHEMES: Final = frozenset({b"digest", b"aws4-hmac-sha256", b"hmac"})
_CREDENTIAL: Final = re.compile(rb"[^\s\"'`,;\])}<>\\]+")
_COOKIES: Final = re.compile(rb"[^\r\n\"'`\\\])}]+")
_PARAMETERS: Final = re.compile(rb"[^\r\n\\]+")


def look_at_authorization(text: Text, at: int) -> Iterator[Span]:
    """An authorization header's credential, whatever writes it."""
    sign = _HEADER_SIGN.match(text.raw, at + len(b"authorization"))
    if not sign:
        return
    opening = _OPENING.match(text.raw, sign.end())
    begin = opening.end() if opening else sign.end()
    scheme = _SCHEME.match(text.raw, begin)
    word = scheme[1].lower() if scheme and scheme[1] else b""
    start = scheme.end() if scheme else begin
    if opening:
        end = end_of_quoted(text.raw, begin, opening["slashes"], opening["quote"])
    else:
        found = (_PARAMETERS if word in _LONG_SCHEMES else _CREDENTIAL).match(text.raw, start)
        end = found.end() if found else start
    value = text.raw[start:end]
    if is_secret(Strength.STRONG if word else Strength.MIDDLE, value):
        yield Span(start, end, "bearer-token" if word == b"bearer" else "authorization")


def look_at_cookie(text: Text, at: int) -> Iterator[Span]:
    """The value of a Cookie or Set-Cookie header."""
    sign = _HEADER_SIGN.match(text.raw, at + len(b"cookie"))
    if not sign:
        return
    opening = _OPENING.match(text.raw, sign.end())
    begin = opening.end() if opening else sign.end()
    if opening:
        end = end_of_quoted(text.raw, begin, opening["slashes"], opening["quote"])
    else:
        found = _COOKIES.match(text.raw, begin)
        end = found.end() if found else begin
    if b"=" in text.raw[begin:end] and is_secret(Strength.STRONG, text.raw[begin:end]):
        yield Span(begin, end, "cookie")


_BEARER: Final = re.compile(
    rb"bearer(?:[ \t]{1,8}|%20|\+|[:=][ \t]?)([\w.~+/-]{6,}+={0,2}+)", re.IGNORECASE
)
_BASIC: Final = re.compile(rb"basic(?:[ \t]{1,8}|%20)([A-Za-z0-9+/]{6,4096}={0,2})", re.IGNORECASE)


def look_at_bearer(text: Text, at: int) -> Iterator[Span]:
    """`Bearer` and what follows, unless that is a word."""
    found = _BEARER.match(text.raw, at)
    if found and (not found[1].isalpha() or len(found[1]) >= 20):
        yield Span(found.start(1), found.end(1), "bearer-token")


def look_at_basic(text: Text, at: int) -> Iterator[Span]:
    """`Basic` and base64 that holds a user and a password."""
    found = _BASIC.match(text.raw, at)
    if not found:
        return
    try:
        plain = binascii.a2b_base64(found[1] + b"=" * (-len(found[1]) % 4))
    except binascii.Error:
        return
    if b":" in plain:
        yield Span(found.start(1), found.end(1), "authorization")


# --- URLs ------------------------------------------------------------------------------------

URL_BYTES_MAX: Final = 2048
"""Of one URL; what follows cannot be its authority."""

_LOCATOR: Final = re.compile(rb":(?:\\?/){2}((?:[^\s\"'`<>\\]|\\/){1,%d}+)" % URL_BYTES_MAX)
_CUT: Final = re.compile(CUT)
_PORT: Final = re.compile(rb"\d{1,5}(?:[/?#,]|\Z)")
_DATA_SCHEME: Final = re.compile(
    rb"(?:postgres(?:ql)?|mysql|mariadb|mongodb(?:\+srv)?|rediss?|amqps?|mssql|sqlserver|clickhouse"
    rb"|ldaps?|ftp|sftp|smtps?|kafka|nats|https?)\Z"
)


def look_at_url(text: Text, at: int) -> Iterator[Span]:
    """The password of a URL, also where it holds `@` or `/`, or where the URL was cut off in it."""
    following = text.low.find(b"://", at + 3, at + URL_BYTES_MAX)
    found = _LOCATOR.match(text.raw, at, following if following >= 0 else len(text.raw))
    if not found:
        return
    run, base = found[1], found.start(1)
    authority = re.split(rb"[/?#]", run, maxsplit=1)[0]
    user, colon, rest = authority.partition(b":")
    last = authority.rfind(b"@")
    if run.startswith(b"[") or run.startswith(b"sha", last + 1):
        return  # an address of IPv6; the digest of an image
    if last < 0 and colon and not _PORT.match(rest) and b"@" not in user:
        last = run.rfind(b"@")  # a password may hold what it ought to have encoded
        if last < 0:
            scheme = _DATA_SCHEME.search(text.low[max(0, at - 16) : at])
            if scheme and rest and _CUT.match(text.raw, found.end()):
                yield Span(base + len(user) + 1, found.end(), "url-password")
            return
    if last < 0:
        return
    if not text.low.endswith((b"http", b"https"), 0, at):
        last = run.rfind(b"@")  # no path of a database holds one
    first = run.find(b":", 0, last)
    if first >= 0 and is_secret(Strength.STRONG, run[first + 1 : last]):
        yield Span(base + first + 1, base + last, "url-password")
    elif first < 0 and looks_random(run[:last]):
        yield Span(base, base + last, "url-password")


_DRIVER: Final = re.compile(rb"[\w.-]{1,64}:([^\s\"'/]{1,128})\Z")


def look_at_driver(text: Text, at: int) -> Iterator[Span]:
    """`user:password@tcp(host:3306)/db`, as Go's drivers write it."""
    found = _DRIVER.search(text.raw[max(0, at - 200) : at])
    if found and is_secret(Strength.STRONG, found[1]):
        yield Span(at - len(found[1]), at, "url-password")


ASSIGNED_RULES: Final[tuple[Rule, ...]] = (
    *(Rule(needle, look_at_key) for needle in KEY_NEEDLES),
    Rule(b"authorization", look_at_authorization),
    Rule(b"cookie", look_at_cookie),
    Rule(b"bearer", look_at_bearer),
    Rule(b"basic", look_at_basic),
    Rule(b"://", look_at_url),
    Rule(b":\\/\\/", look_at_url),
    Rule(b"@tcp(", look_at_driver),
    Rule(b"@unix(", look_at_driver),
)
