"""Secrets that are known by the name beside them (T7).

One grammar of assignments serves env lists, flags, logfmt, properties, YAML, JSON that cannot be
parsed, query strings and XML. Where a value ends is decided by how it began (`values`); in doubt
more is masked rather than less.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from affidavit.tools.redaction.hints import (
    KEY_NEEDLES,
    Strength,
    hint_of,
    is_secret,
    looks_like_password,
)
from affidavit.tools.redaction.marks import MASK_START, STRUCTURE, Span
from affidavit.tools.redaction.shapes import Rule, Text
from affidavit.tools.redaction.tables import cells_below
from affidavit.tools.redaction.values import OPENING, Place, items_of_list, value_at

_KEY: Final = re.compile(rb"[A-Za-z0-9_.-]{1,64}")
_KEY_BYTES: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-")
_ASSIGNED: Final = re.compile(
    rb"(?P<close>\\{0,8}[\"'`]?|%22|&quot;|&#34;)\]?[ \t]{0,64}"
    rb"(?P<sign>=>|:=|==?|:|%3[AaDd]|>)[ \t]{0,64}"
)
_BESIDE: Final = re.compile(
    rb"(?P<close>\\{0,8}[\"'])\s{0,64},?\s{0,64}(?:\\+n\s{0,64})?"
    rb"\\{0,8}[\"']?[Vv]alue\\{0,8}[\"']?"
    rb"[ \t]{0,64}(?P<sign>[:=])[ \t]{0,64}"
    rb"|(?P<close2>\\{0,8}[\"']?)[ \t]{0,64}(?:\r?\n|\\+n)[ \t]{0,64}"
    rb"[Vv]alue(?P<sign2>:)[ \t]{0,64}"
)
"""`{"name": "DB_PASSWORD", "value": "…"}`, and the same in YAML."""
_ELEMENT: Final = re.compile(
    rb"(?P<close>[\"']?)\s{0,16}(?:/?>|</[Nn]ame>)\s{0,64}<[Vv]alue(?P<sign>>)"
)
"""`<property name="password"><value>…`, `<name>password</name> <value>…`."""
_BEFORE: Final = re.compile(
    rb"[Vv]alue\\{0,8}[\"']?[ \t]{0,8}:[ \t]{0,8}(?:\\{0,8}[\"'])?(?P<value>[^\s\"'\\]{1,256})"
    rb"(?:\\{0,8}[\"'])?,?(?:\s|\\+n){0,64}\\{0,8}[\"']?[Nn]ame\\{0,8}[\"']?[ \t]{0,8}:[ \t]{0,8}"
    rb"(?:\\{0,8}[\"'])?\Z"
)
"""The same with the value first."""
_BEFORE_BYTES: Final = 400
_FLAGGED: Final = re.compile(
    rb"[ \t]{1,64}(?:\\\r?\n[ \t]{1,64})?(?![-\s\\])"
    rb"|[\"']?[ \t]{0,8}\r?\n[ \t]{0,64}- (?!-)|[\"'],[ \t\n]{0,64}(?=[\"'])"
)
_QUOTED: Final = re.compile(rb"[ \t]{1,64}(?=[EeNn]?[\"'])")
_LINE_START: Final = re.compile(rb"(?:^|[\r\n])[ \t]*(?:- |export |set )?[\"']?\Z")
_INDENT: Final = re.compile(rb"\n[ \t]*\Z")  # a block scalar's, which holds quotes as they are
_PROSE: Final = re.compile(rb"[a-z]+[ \t]+[A-Za-z]")
_NUMBER: Final = re.compile(rb"-?\d+(?:\.\d+)?")
_SAID: Final = re.compile(
    rb"[\"'`]?(?:[ \t]{1,8}(?:is|was))?[ \t]{0,8}[:=]?\s{1,8}(?P<word>[^\s\"'`,;<>()\[\]{}]{8,128})"
)
"""`the password is …`, `Password` and the value on the line after it."""
_SPOKEN: Final = re.compile(rb"[ ][A-Za-z]")
_CONFIGURED: Final = re.compile(rb"[ \t]{1,8}(?P<word>[^\s\"'`]{1,128})")
_NETRC: Final = re.compile(
    rb"(?:machine\s{1,8}\S{1,128}|default)\s{1,8}login\s{1,8}\S{1,128}\s{1,8}\Z"
)
_NETRC_BYTES: Final = 300
_ARN: Final = re.compile(rb"arn:[\w-]{1,24}:[\w-]{1,40}:[\w-]{0,24}:\d{0,12}:\Z")
_ARN_BYTES: Final = 120


def look_at_key(text: Text, at: int) -> Iterator[Span]:
    """The value of an assignment whose key hints at a secret."""
    raw, start = text.raw, at
    if at and raw[at - 1] in _KEY_BYTES:
        back = _KEY.match(raw[max(0, at - 64) : at][::-1])  # backwards: no start is tried twice
        start = at - (back.end() if back else 0)
    ahead = _KEY.match(raw, at)
    if not ahead:
        return
    stop = ahead.end()
    while raw[stop - 1] in b".-":
        stop -= 1
    strength, kind = hint_of(text.low[start:stop])
    if raw.endswith(MASK_START, 0, start) or (
        raw[start - 1 : start] == b":" and _ARN.search(raw[max(0, start - _ARN_BYTES) : start])
    ):
        return
    if strength is Strength.NONE:
        yield Span(stop, stop, kind)  # an empty span: the name needs no second look
        return
    place = _place(text, start, stop, strength)
    span = value_at(text, place, kind) if place else None
    if place and span is not None and _is_value(text, place, span, strength):
        yield Span(span.start, span.end, kind, _quote(text, place, span))
        return
    if raw[stop : stop + 1] in _QUOTES:
        yield Span(stop, stop, STRUCTURE)  # what it names may stand elsewhere in a document
    if strength is Strength.STRONG:
        yield from _told(text, start, stop, kind)
        if not place:
            yield from cells_below(text, start, stop, kind)
        if place:
            yield from items_of_list(text, place, kind)


def _place(text: Text, start: int, stop: int, strength: Strength) -> Place | None:
    """Where the value of the key between these places begins, and what stands before it."""
    is_flag = text.raw[start : start + 1] == b"-"
    if not is_flag and strength is not Strength.STRONG and _SPOKEN.match(text.raw, stop):
        return None  # `token expired`, as most are
    separator = (
        (_ELEMENT.match(text.raw, stop) if text.raw[stop : stop + 1] in _ELEMENT_STARTS else None)
        or _ASSIGNED.match(text.raw, stop)
        or _BESIDE.match(text.raw, stop)
    )
    if separator:
        groups = separator.groupdict()
        sign = groups["sign"] or groups.get("sign2") or b""
        close = groups["close"] or groups.get("close2") or b""
        return Place(start, separator.end(), sign, close)
    beside = (_FLAGGED if is_flag else _QUOTED).match(text.raw, stop)
    if beside and (is_flag or strength is Strength.STRONG):
        return Place(start, beside.end(), b" ", b"")
    return None


_ELEMENT_STARTS: Final = frozenset({b'"', b"'", b">", b"<", b"/"})
_QUOTES: Final = frozenset({b'"', b"\\"})


def _is_value(text: Text, place: Place, span: Span, strength: Strength) -> bool:
    """Whether what stands there is a value, and one to be masked."""
    value = text.raw[span.start : span.end]
    bare = not OPENING.match(text.raw, place.at)
    if bare and place.sign in {b":", b">"} and _is_prose(text, place, span):
        return False
    if _NUMBER.fullmatch(value) and (strength is not Strength.STRONG or len(value) < 4):
        return False
    return is_secret(strength, value)


def _told(text: Text, start: int, stop: int, kind: str) -> Iterator[Span]:
    """A value that is told, not assigned: in prose where it can be nothing else, in the words of a
    .netrc or of a server's configuration, or before its name."""
    raw = text.raw
    if raw[start - 1 : start] in _NAMED_BY:
        before = _BEFORE.search(raw[max(0, start - _BEFORE_BYTES) : start])
        if before and is_secret(Strength.STRONG, before["value"]):
            offset = max(0, start - _BEFORE_BYTES)
            yield Span(offset + before.start("value"), offset + before.end("value"), kind)
            return
    if text.low[start:stop] == b"requirepass" or (
        text.low[start:stop] == b"password"
        and _NETRC.search(text.low[max(0, start - _NETRC_BYTES) : start])
    ):
        found = _CONFIGURED.match(raw, stop) or _SAID.match(raw, stop)
        if found and is_secret(Strength.STRONG, found["word"]):
            yield Span(found.start("word"), found.end("word"), kind)
        return
    said = _SAID.match(raw, stop)
    if said:
        word = said["word"].rstrip(b".:!?")
        if looks_like_password(word):
            yield Span(said.start("word"), said.start("word") + len(word), kind)


_NAMED_BY: Final = frozenset({b" ", b'"', b"'", b":"})


def _is_prose(text: Text, place: Place, span: Span) -> bool:
    """`invalid password: user is unknown` in the middle of a line says nothing secret; where no
    space follows the colon (`{Host:db Password:hunter Port:5432}`) nobody speaks."""
    if text.raw[place.at - 1 : place.at] == b":":
        return False
    if _LINE_START.search(text.raw[max(0, place.key_at - 80) : place.key_at]):
        return False
    return bool(_PROSE.match(text.raw, span.start))


def _quote(text: Text, place: Place, span: Span) -> bytes:
    """Quotes for the mask of a bare word where YAML or JSON would read the mask as a list."""
    bare = not OPENING.match(text.raw, place.at)
    indent = text.raw[max(0, span.start - 16) : span.start]
    if not bare or place.sign != b":" or _INDENT.search(indent):
        return b""
    if place.close.endswith(b'"'):
        return place.close
    is_last = text.raw[span.end : span.end + 1] in {b"", b"\n", b"\r"}
    return b'"' if is_last and text.raw[span.start - 1 : span.start] != b":" else b""


_SPOKEN_OF: Final = frozenset({b"key", b"token", b"secret", b"cred"})
"""Needles that are words of prose too: `key and token` assigns nothing, and stands in many logs."""


def _rule(needle: bytes) -> Rule:
    if needle not in _SPOKEN_OF:
        return Rule(needle, look_at_key)
    unspoken = rb"%s(?:(?! [a-z])|(?<=[\w.-]%s))" % (needle, needle)
    return Rule(needle, look_at_key, re.compile(unspoken))


ASSIGNED_RULES: Final[tuple[Rule, ...]] = tuple(_rule(needle) for needle in KEY_NEEDLES)
