"""Where a value lies that begins at a place: quoted, bare, a block, a call, a query's (T7)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from affidavit.tools.redaction.hints import Strength, is_secret
from affidavit.tools.redaction.marks import Span
from affidavit.tools.redaction.shapes import Text


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value begins: after which key, sign and closing quote of the key."""

    key_at: int
    at: int
    sign: bytes
    close: bytes


OPENING: Final = re.compile(
    rb"(?:[A-Za-z&](?=[\"'])|\[\]byte\(|[A-Za-z_][\w.]{0,40}\((?:[bu](?=[\"']))?(?=[\"'])"
    rb"|\(ConvertTo-SecureString[ ]{1,4}(?:-String[ ]{1,4})?(?=[\"']))?"
    rb"(?P<slashes>\\{0,8})(?P<quote>[\"'`])"
)
"""A quote, with what a language writes before it: `E'…'`, `SecretStr('…')`, `[]byte("…")`."""
_CODED: Final = re.compile(rb"%22|&quot;|&#34;")
_BARE: Final = re.compile(
    rb"(?:[^\s\"'`<>&,;)\]}|\\]|\\(?![nrtu\"'\\])"
    rb"|[,;&)\]}|](?![\s,;&)\]}|\"'\\]|\Z|[\w.-]{1,64}\s?[=:]))++"
)
_QUERY: Final = re.compile(rb"(?:(?!%26)[^\s\"'`<>&\\;#])*+")
_REST: Final = re.compile(rb"[^\r\n]*")
_LINE_START: Final = re.compile(rb"(?:^|[\r\n])[ \t]*(?:- |export |set )?[\"']?\Z")
_PAIR: Final = re.compile(rb"[\w.-]{1,64}=(?![=\s]|\Z)")
_NEXT_PAIR: Final = re.compile(rb"[\s,;&][\w.-]{1,64}[=:]")
_BLOCK: Final = re.compile(rb"[|>][-+0-9]{0,2}[ \t]*\r?\n(?P<indent>[ \t]+)")
_TAGGED: Final = re.compile(rb"(?:&[\w-]{1,64}|!!?\w{1,32})[ \t]{1,8}")
_ITEM: Final = re.compile(rb"\s*\n[ \t]*- [ \t]*(?P<quote>[\"']?)(?P<item>[^\r\n\"']{1,256})")
_CODED_BYTES_MAX: Final = 512
_TRIPLE_BYTES_MAX: Final = 4096


def value_at(text: Text, place: Place, kind: str) -> Span | None:
    """Where the value lies that begins there, whatever it is."""
    raw, at, sign = text.raw, place.at, place.sign
    if sign == b":" and (tagged := _TAGGED.match(raw, at)):
        at = tagged.end()
    opening = OPENING.match(raw, at)
    if opening:
        return _quoted(raw, opening, kind)
    if coded := _CODED.match(raw, at):
        end = raw.find(coded[0], coded.end(), coded.end() + _CODED_BYTES_MAX)
        return Span(coded.end(), end, kind) if end >= 0 else None
    if sign == b">":
        end = raw.find(b"<", at, at + 4096)
        return Span(at, end, kind) if end >= 0 else None
    if sign[:1] == b"%" or raw[place.key_at - 1 : place.key_at] in {b"?", b"&"}:
        found = _QUERY.match(raw, at)
        return Span(at, found.end(), kind) if found and found[0] else None
    if sign == b":" and (block := _BLOCK.match(raw, at)):
        return Span(block.end(), end_of_block(raw, block), kind)
    if sign == b":" and raw[at : at + 1] in {b"[", b"{", b"*"}:
        return None  # a collection or an alias, not a word
    if raw[at - 1 : at] == b" " and _PAIR.match(raw, at):
        return None  # nothing, and then the next pair
    return _bare(raw, place, at, kind)


def _bare(raw: bytes, place: Place, at: int, kind: str) -> Span | None:
    """A word without quotes; on a line of its own the rest of the line."""
    found = _BARE.match(raw, at)
    is_line = _LINE_START.search(raw[max(0, place.key_at - 80) : place.key_at])
    if is_line and place.sign in {b":", b"="}:
        rest = _REST.match(raw, at)
        line = rest[0].rstrip() if rest else b""
        if line and b'"' not in line and not _NEXT_PAIR.search(line[:1024]):
            return Span(at, at + len(line), kind)
    return Span(at, found.end(), kind) if found else None


def _quoted(raw: bytes, opening: re.Match[bytes], kind: str) -> Span:
    begin, quote = opening.end(), opening["quote"]
    if raw.startswith(quote * 2, begin):
        end = raw.find(quote * 3, begin + 2, begin + _TRIPLE_BYTES_MAX)
        if end >= 0:
            return Span(begin + 2, end, kind)
    return Span(begin, end_of_quoted(raw, begin, opening["slashes"], quote), kind)


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


def items_of_list(text: Text, place: Place, kind: str) -> Iterator[Span]:
    """The items of a YAML list that stands below its key."""
    if place.sign != b":":
        return
    at = place.at
    while found := _ITEM.match(text.raw, at):
        at = found.end()
        if b": " in found["item"]:
            return
        if is_secret(Strength.STRONG, found["item"].rstrip()):
            end = found.start("item") + len(found["item"].rstrip())
            yield Span(found.start("item"), end, kind, b"" if found["quote"] else b'"')
