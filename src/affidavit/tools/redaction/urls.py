"""The password in a URL or in a driver's connection string, and the secrets of a query (T7)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote_to_bytes

from affidavit.tools.redaction.hints import Strength, is_secret, looks_random
from affidavit.tools.redaction.marks import Span
from affidavit.tools.redaction.shapes import CUT, Rule, Text

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


_ORACLE: Final = re.compile(
    rb"(?:oracle:thin:|sqlplus[ ]{1,8})[\w$#.-]{1,64}/([^\s\"'@]{1,128})\Z", re.IGNORECASE
)


def look_at_oracle(text: Text, at: int) -> Iterator[Span]:
    """`jdbc:oracle:thin:user/password@host`, `sqlplus user/password@service`."""
    found = _ORACLE.search(text.raw[max(0, at - 220) : at])
    if found and is_secret(Strength.STRONG, found[1]):
        yield Span(at - len(found[1]), at, "url-password")


_QUERY: Final = re.compile(
    rb"[?&](?:[\w.-]{0,32}[_.-])?(key|auth|pass|pw|code|jwt|sid|hmac|sig|signature|ticket|assertion"
    rb"|samlresponse|samlrequest|otp|session|credential)=([^\s\"'`<>&\\;#]{16,%d})" % URL_BYTES_MAX,
    re.IGNORECASE,
)
_PART: Final = re.compile(rb"[?&][\w.%\[\]-]{0,64}=[^\s\"'`<>&\\;#]{0,2048}")


def look_at_query(text: Text, at: int) -> Iterator[Span]:
    """The parameters of a query that sign, admit or are exchanged for a token: those that look
    random, for a `code` and a `key` may be anything."""
    place = at
    while part := _PART.match(text.raw, place):
        found = _QUERY.fullmatch(part[0])
        if found and looks_random(unquote_to_bytes(found[2])):
            yield Span(place + found.start(2), place + found.end(2), "query-secret")
        place = part.end()
    yield Span(place, place, "query-secret")


_DRIVER: Final = re.compile(rb"[\w.-]{1,64}:([^\s\"'/]{1,128})\Z")


def look_at_driver(text: Text, at: int) -> Iterator[Span]:
    """`user:password@tcp(host:3306)/db`, as Go's drivers write it."""
    found = _DRIVER.search(text.raw[max(0, at - 200) : at])
    if found and is_secret(Strength.STRONG, found[1]):
        yield Span(at - len(found[1]), at, "url-password")


URL_RULES: Final[tuple[Rule, ...]] = (
    Rule(b"://", look_at_url),
    Rule(b":\\/\\/", look_at_url),
    Rule(b"@tcp(", look_at_driver),
    Rule(b"@unix(", look_at_driver),
    Rule(b"@", look_at_oracle),
    Rule(b"?", look_at_query),
)
