"""Headers that carry a credential: Authorization, Cookie, `Bearer …`, `Basic …` (T7)."""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from typing import Final

from affidavit.tools.redaction.hints import Strength, is_secret
from affidavit.tools.redaction.marks import Span
from affidavit.tools.redaction.shapes import Rule, Text
from affidavit.tools.redaction.values import OPENING, end_of_quoted

_HEADER_SIGN: Final = re.compile(
    rb"\\{0,8}[\"']?[ \t]{0,16}(?:=>|[:=,]|%3[Aa])[ \t]{0,16}\[?[ \t]{0,16}"
    rb"(?:[bu](?=[\"']))?"
)
_SCHEME: Final = re.compile(
    rb"(?:(bearer|basic|token|apikey|negotiate|digest|ntlm|aws4-hmac-sha256|key|hmac|bot)"
    rb"(?:[ \t]+|%20|\+))?",
    re.IGNORECASE,
)
_OWN_SCHEME: Final = re.compile(rb"[A-Z][\w-]{1,31}[ \t]+(?=\S)")
"""`Splunk …`, `GenieKey …`, `SSWS …`: a scheme that its vendor made up, and a credential."""
_HEADERS: Final = re.compile(rb"(?:proxy-|x-)?authorization|(?:set-)?cookie2?")


def header_value(key: bytes, value: bytes) -> Span | None:
    """The secret part of a header's value; None where the key names no such header."""
    if not _HEADERS.fullmatch(key):
        return None
    if b"cookie" in key:
        return Span(0, len(value), "cookie") if b"=" in value else None
    word, start = _scheme(value, 0)
    if not is_secret(Strength.STRONG if word else Strength.MIDDLE, value[start:]):
        return None
    return Span(start, len(value), "bearer-token" if word == b"bearer" else "authorization")


def _scheme(raw: bytes, begin: int) -> tuple[bytes, int]:
    """The scheme that is known, in lower case or empty, and where the credential begins."""
    known = _SCHEME.match(raw, begin)
    if known and known[1]:
        return known[1].lower(), known.end()
    own = _OWN_SCHEME.match(raw, begin)
    following = _CREDENTIAL.match(raw, own.end()) if own else None
    if own and following and is_secret(Strength.MIDDLE, following[0]):
        return b"", own.end()
    return b"", begin


_LONG_SCHEMES: Final = frozenset({b"digest", b"aws4-hmac-sha256", b"hmac"})
_CREDENTIAL: Final = re.compile(rb"[^\s\"'`,;\])}<>\\]+")
_COOKIES: Final = re.compile(rb"[^\r\n\"'`\\\])}]+")
_PARAMETERS: Final = re.compile(rb"[^\r\n\\]+")


def look_at_authorization(text: Text, at: int) -> Iterator[Span]:
    """An authorization header's credential, whatever writes it."""
    sign = _HEADER_SIGN.match(text.raw, at + len(b"authorization"))
    if not sign:
        return
    opening = OPENING.match(text.raw, sign.end())
    begin = opening.end() if opening else sign.end()
    word, start = _scheme(text.raw, begin)
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
    opening = OPENING.match(text.raw, sign.end())
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


HEADER_RULES: Final[tuple[Rule, ...]] = (
    Rule(b"authorization", look_at_authorization),
    Rule(b"cookie", look_at_cookie),
    Rule(b"bearer", look_at_bearer),
    Rule(b"basic", look_at_basic),
)
