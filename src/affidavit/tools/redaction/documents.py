"""JSON, structurally and in place; and the three doors of the room (T7).

A document is parsed to know what stands where, and then only the literals of secrets are rewritten
in the bytes that came: numbers keep their digits, keys their order, canonical bytes stay canonical,
and JSON stays JSON. A text inside a document may be a document again
(`kubectl.kubernetes.io/last-applied-configuration`) and is read the same way.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from affidavit.core.canonical import canonical_json
from affidavit.tools.redaction.commands import secrets_of_arguments
from affidavit.tools.redaction.headers import header_value
from affidavit.tools.redaction.hints import Strength, is_secret, looks_random
from affidavit.tools.redaction.kubernetes import KIND
from affidavit.tools.redaction.literals import (
    Edits,
    Members,
    end_of_document,
    is_canonical,
    rewritten,
)
from affidavit.tools.redaction.marks import ECHOES_MAX, Marks, Mask, Span, replace
from affidavit.tools.redaction.objects import NO_HINT, ROWS, SECRET_VALUE, Hint, ObjectHints
from affidavit.tools.redaction.scan import EVERYTHING, Search, find_spans
from affidavit.tools.redaction.shapes import JWT_PART, PRIVATE_KEY, find_cards

NESTED_MAX: Final = 4
"""Documents inside texts inside documents; deeper ones are read as text."""

DEPTH_MAX: Final = 200
"""Of one document; what lies deeper cannot be judged and is masked whole."""

PARTS_MAX: Final = 8
"""Documents that begin on a line of a text and may end on another one; each failed attempt costs
one more reading of the rest."""

TOLD_TOGETHER: Final = frozenset({PRIVATE_KEY, JWT_PART})

_HIDDEN: Final = re.compile(rb"\\u00(?:2[d-f]|3[0-9ad]|[4-6][0-9a-f]|7[0-9a-e])", re.IGNORECASE)
"""Escapes of letters, digits and `=:@-./`: the bytes do not show what the text says. What encoders
escape by habit (`<`, `>`, `&`, quotes) hides nothing."""
_PART: Final = re.compile(rb"^[ \t]*(?=[\[{])", re.MULTILINE)
_ECHO_SAFE: Final = re.compile(rb"[!#-\[\]-~]+")


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets, and what was masked."""

    text: str
    masks: tuple[Mask, ...]


@dataclass(frozen=True, slots=True)
class RedactedJson:
    """A JSON value without its secrets, and what was masked."""

    value: object
    masks: tuple[Mask, ...]


def redact_text(text: str) -> Redacted:
    """The text with its secrets masked; a text that is JSON stays JSON."""
    raw = _to_bytes(text)
    redaction = Redaction(Marks.after(raw), _search(raw))
    out = redaction.echoed(redaction.text(raw))
    left = text if out == raw else _to_text(out)
    return Redacted(left, redaction.marks.masks(left))


def redact_json(value: object) -> RedactedJson:
    """The value with its secrets masked: texts, numbers and keys; mappings come back as dicts.

    What is not changed comes back as it is. Never raises: what JSON does not know stays.
    """
    redaction = _prepare(value)
    out = redaction.value(value, NO_HINT, Edits(), 0)
    if redaction.marks.echoes:
        redaction.only_echoes = True
        out = redaction.value(out, NO_HINT, Edits(), 0)
    if not redaction.marks.known:
        return RedactedJson(out, ())
    shown = json.dumps(out, default=str, skipkeys=True)
    return RedactedJson(out, redaction.marks.masks(shown))


def _prepare(value: object) -> Redaction:
    try:
        shown = _to_bytes(json.dumps(value, ensure_ascii=False, default=str, skipkeys=True))
    except (ValueError, RecursionError):
        return Redaction(Marks(), EVERYTHING)
    redaction = Redaction(Marks.after(shown), _search(shown))
    if b"-----BEGIN" in shown or b"eyJ" in shown:  # their parts may be texts of their own
        for span in find_spans(shown, redaction.search):
            if span.kind in TOLD_TOGETHER:
                redaction.marks.echoes[shown[span.start : span.end]] = span.kind.encode()
    return redaction


def redact_bytes(raw: bytes) -> bytes:
    """A raw response with its secrets masked; the same object where there are none.

    JSON stays JSON, canonical JSON canonical. What is no JSON is a text; bytes that are no UTF-8
    stay as they are.
    """
    redaction = Redaction(Marks.after(raw), _search(raw))
    out = redaction.echoed(redaction.text(raw))
    if out == raw:
        return raw
    may_sort_elsewhere = redaction.is_key_masked or redaction.marks.echoes
    if may_sort_elsewhere and is_canonical(raw):
        out = canonical_json(json.loads(out))
    return out


def _search(raw: bytes) -> Search:
    """What to look for in the parts of a text; everything where escapes hide its letters."""
    return EVERYTHING if _HIDDEN.search(raw) else Search.of(raw)


def _to_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _to_text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogatepass")


@dataclass(slots=True)
class Redaction:
    """One call: its marks, what its bytes can need, and whether only echoes are left."""

    marks: Marks
    search: Search
    only_echoes: bool = False
    is_key_masked: bool = False

    def text(self, raw: bytes, nested: int = 0) -> bytes:
        """A text, read as a document where it is one, part by part where it holds some."""
        if self.only_echoes:
            return self.echoed(raw)
        spans = find_spans(raw, self.search)
        ahead = [span for span in spans if span.kind in TOLD_TOGETHER]
        if ahead:  # its lines may stand in one literal each; apart they could not be told
            raw = replace(raw, ahead, self.marks)
            spans = find_spans(raw, self.search)
        if not spans and not (self.search is EVERYTHING and b"\\" in raw):
            return raw
        if nested < NESTED_MAX:
            if raw.lstrip()[:1] in {b"{", b"[", b'"'}:
                whole = self.document(raw, nested)
                if whole is not None:
                    return whole
            if raw.count(b"{") or raw.count(b"["):
                return self._parts(raw, spans, nested)
        return self._masked(raw, spans)

    def echoed(self, raw: bytes) -> bytes:
        """The bytes with what was a secret elsewhere masked here too."""
        if not self.marks.echoes:
            return raw
        words = sorted(self.marks.echoes, key=len, reverse=True)
        return re.sub(
            b"|".join(re.escape(word) for word in words),
            lambda found: self._echo(found[0]),
            raw,
        )

    def _echo(self, word: bytes) -> bytes:
        of = self.marks.echoes[word]
        kind, _ = self.marks.known.get(of, (of.decode("ascii", "replace"), 0))
        return self.marks.mark(kind, of)

    def _masked(self, raw: bytes, spans: list[Span]) -> bytes:
        spans = [span for span in spans if span.end > span.start]
        out = replace(raw, spans, self.marks)
        for span in spans[:ECHOES_MAX]:
            self._remember(raw[span.start : span.end])
        return out

    def _remember(self, secret: bytes) -> None:
        """What cannot stand anywhere by chance is looked for everywhere."""
        if looks_random(secret) and _ECHO_SAFE.fullmatch(secret):
            self.marks.remember(secret, secret)

    def _parts(self, raw: bytes, spans: list[Span], nested: int) -> bytes:
        """A text that holds documents: JSON lines, or JSON after some words.

        Only what the look at the text hit is parsed, or all where escapes hide its letters.
        """
        hits = None if self.search is EVERYTHING else sorted(span.start for span in spans)
        out: list[bytes] = []
        done, failures = 0, 0
        for begin in _PART.finditer(raw):
            start = begin.end()
            if start < done:
                continue
            newline = raw.find(b"\n", start)
            end = len(raw) if newline < 0 else newline
            is_hit = hits is None or bisect_left(hits, end) > bisect_left(hits, start)
            opens = not raw[start + 1 : end].strip()
            if not is_hit and not opens:
                continue
            part = self.document(raw[start:end], nested)
            if part is None and failures < PARTS_MAX:
                failures += 1
                end = end_of_document(raw, start)
                part = self.document(raw[start:end], nested) if end > start else None
            if part is not None:
                out += [raw[done:start], part]
                done = end
        mixed = b"".join([*out, raw[done:]])
        return self._masked(mixed, find_spans(mixed, self.search))

    def document(self, raw: bytes, nested: int) -> bytes | None:
        """A JSON document with its secrets masked in place; None when it is none."""
        try:
            value = json.loads(raw.decode("utf-8", "surrogatepass"), object_pairs_hook=Members)
            edits = Edits()
            self.value(value, NO_HINT, edits, 0, nested)
        except (ValueError, RecursionError):
            return None
        return rewritten(raw, edits)

    def value(self, value: object, hint: Hint, edits: Edits, depth: int, nested: int = 0) -> object:
        """A value of a document, in the order of its bytes."""
        new: object
        if isinstance(value, str):
            if hint[0] is Strength.NONE and not self.only_echoes and self.search.passes_over(value):
                edits.place += 1  # most texts of a document, and nothing more is spent on them
                return value
            new = self._leaf(value, hint, nested)
            edits.take(value, new)
            return new
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, (int, float)):
            new = self._number(value, hint)
            edits.take(value, new)
            return new
        if not isinstance(value, (Mapping, Sequence)) or isinstance(value, (bytes, bytearray)):
            return value
        if depth >= DEPTH_MAX:
            if nested or isinstance(value, Members):
                raise RecursionError
            return _to_text(self.marks.mark("too-deep", b"%d" % depth))
        if isinstance(value, (Members, Mapping)):
            return self._object(value, hint, edits, depth, nested)
        told = {} if self.only_echoes else secrets_of_arguments(value)
        items = [
            self._argument(str(item), told[place], edits)
            if place in told
            else self.value(item, hint, edits, depth + 1, nested)
            for place, item in enumerate(value)
        ]
        return value if all(a is b for a, b in zip(items, value, strict=True)) else items

    def _object(
        self,
        value: Members | Mapping[object, object],
        hint: Hint,
        edits: Edits,
        depth: int,
        nested: int,
    ) -> object:
        pairs = value if isinstance(value, Members) else tuple(value.items())
        own = ObjectHints.of(pairs, hint)
        inherited = hint if hint is SECRET_VALUE else NO_HINT
        out: dict[object, object] = {}
        changed = False
        for key, item in pairs:
            name: object = key
            if isinstance(key, str):
                name = self._leaf(key, NO_HINT, NESTED_MAX)
                edits.take(key, name)
                self.is_key_masked = self.is_key_masked or name is not key
            below = (
                inherited if inherited is SECRET_VALUE else own.hint_below(key, self.only_echoes)
            )
            if key in ROWS and any(hint is not NO_HINT for hint in own.columns):
                new = self._rows(item, own, edits, depth + 1, nested)
            else:
                new = self.value(item, below, edits, depth + 1, nested)
            changed = changed or new is not item or name is not key
            out[name] = new
        return out if changed else value

    def _argument(self, item: str, span: Span, edits: Edits) -> str:
        """An argument of a command, with the secret in it masked."""
        raw = _to_bytes(item)
        self._remember(raw[span.start : span.end])
        mask = self.marks.mark(span.kind, raw[span.start : span.end])
        new = _to_text(raw[: span.start] + mask + raw[span.end :])
        edits.take(item, new)
        return new

    def _rows(
        self, rows: object, own: ObjectHints, edits: Edits, depth: int, nested: int
    ) -> object:
        """The rows of a table whose headings name secrets."""
        if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
            return self.value(rows, NO_HINT, edits, depth, nested)
        out = []
        for row in rows:
            hints = own.row_hints(row) if not self.only_echoes else (NO_HINT,) * len(row)
            cells = zip(row, hints, strict=True)
            out.append([self.value(cell, hint, edits, depth + 1, nested) for cell, hint in cells])
        return rows if out == rows else out

    def _leaf(self, text: str, hint: Hint, nested: int) -> str:
        if not text:
            return text
        strength, kind = hint
        if strength is Strength.NONE and not self.only_echoes and self.search.passes_over(text):
            return text
        raw = _to_bytes(text)
        if not self.only_echoes and strength is not Strength.NONE:
            span = header_value(_to_bytes(kind), raw)
            if span is None and is_secret(strength, raw):
                span = Span(0, len(raw), kind)
            if span is not None:
                return _to_text(self._whole(raw, span))
        out = self.text(raw, nested + 1)
        return text if out == raw else _to_text(out)

    def _whole(self, raw: bytes, span: Span) -> bytes:
        secret = raw[span.start :]
        if span.kind == KIND:
            self._remember_decoded(secret)
        self._remember(secret)
        return raw[: span.start] + self.marks.mark(span.kind, secret)

    def _remember_decoded(self, secret: bytes) -> None:
        """What a Secret's base64 says is as secret as the base64."""
        try:
            plain = base64.b64decode(secret, validate=True)
        except binascii.Error:
            return
        if _ECHO_SAFE.fullmatch(plain) and looks_random(plain):
            self.marks.remember(plain, secret)

    def _number(self, value: int | float, hint: Hint) -> object:
        """A number is a secret beside a strong hint, or as a card number."""
        if self.only_echoes:
            return value
        strength, kind = hint
        digits = str(value).encode("ascii")
        if strength is Strength.STRONG and len(digits) >= 4:
            return _to_text(self.marks.mark(kind, digits))
        return (
            value
            if not tuple(find_cards(digits))
            else _to_text(self.marks.mark("card-number", digits))
        )
