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
from dataclasses import dataclass, field
from typing import Final

from affidavit.core.canonical import NotCanonical, canonical_json
from affidavit.tools.redaction.assigned import header_value
from affidavit.tools.redaction.hints import Strength, hint_of, is_secret, looks_random
from affidavit.tools.redaction.kubernetes import KIND, SECRET_FIELDS, SECRET_KINDS
from affidavit.tools.redaction.marks import ECHOES_MAX, Mask, Marks, Span, replace
from affidavit.tools.redaction.scan import RULES, Rule, find_spans, live_rules

NESTED_MAX: Final = 4
"""Documents inside texts inside documents; deeper ones are read as text."""

DEPTH_MAX: Final = 200
"""Of one document; what lies deeper cannot be judged and is masked whole."""

PARTS_MAX: Final = 8
"""Documents that begin on a line of a text and may end on another one; each failed attempt costs
one more reading of the rest."""

Hint = tuple[Strength, str]
NO_HINT: Final[Hint] = (Strength.NONE, "")
_SECRET: Final[Hint] = (Strength.STRONG, KIND)

_LITERAL: Final = re.compile(
    rb"\"(?:[^\"\\]|\\.)*+\"|-?(?:[0-9][0-9.eE+-]*+|Infinity)|NaN", re.DOTALL
)
_HIDDEN: Final = re.compile(rb"\\u00[2-7]|\\/")
"""Escapes of plain letters and slashes: the bytes do not show what the text says."""
_PART: Final = re.compile(rb"^[ \t]*(?=[\[{])", re.MULTILINE)
_ECHO_SAFE: Final = re.compile(rb"[!#-\[\]-~]+")


class Members(tuple[tuple[str, object], ...]):
    """An object as its pairs, in order, doubled keys and all."""

    __slots__ = ()


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
    redaction = Redaction(Marks.after(raw), _live(raw))
    out = redaction.echoed(redaction.text(raw))
    return Redacted(text if out == raw else _to_text(out), redaction.marks.masks())


def redact_json(value: object) -> RedactedJson:
    """The value with its secrets masked: texts, numbers and keys; mappings come back as dicts.

    What is not changed comes back as it is. Never raises: what JSON does not know stays.
    """
    redaction = _prepare(value)
    out = redaction.value(value, NO_HINT, Edits(), 0)
    if redaction.marks.echoes:
        redaction.only_echoes = True
        out = redaction.value(out, NO_HINT, Edits(), 0)
    return RedactedJson(out, redaction.marks.masks())


def _prepare(value: object) -> Redaction:
    try:
        shown = _to_bytes(json.dumps(value, ensure_ascii=False, default=str, skipkeys=True))
    except (ValueError, RecursionError):
        return Redaction(Marks(), RULES)
    return Redaction(Marks.after(shown), _live(shown))


def redact_bytes(raw: bytes) -> bytes:
    """A raw response with its secrets masked; the same object where there are none.

    JSON stays JSON, canonical JSON canonical. What is no JSON is a text; bytes that are no UTF-8
    stay as they are.
    """
    redaction = Redaction(Marks.after(raw), _live(raw))
    out = redaction.echoed(redaction.text(raw))
    if out == raw:
        return raw
    if _is_canonical(raw):  # a masked key may sort elsewhere
        out = canonical_json(json.loads(out))
    return out


def _live(raw: bytes) -> tuple[Rule, ...]:
    """What to look for in the parts of a text; everything where escapes hide its letters."""
    return RULES if _HIDDEN.search(raw) else live_rules(raw.lower())


def _is_canonical(raw: bytes) -> bool:
    if raw[:1] not in {b"{", b"["} or raw[-1:] not in {b"}", b"]"}:
        return False
    try:
        return canonical_json(json.loads(raw)) == raw
    except (NotCanonical, ValueError, RecursionError):
        return False


def _to_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _to_text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogatepass")


@dataclass(slots=True)
class Edits:
    """The literals of one document by their place in its bytes, and what becomes of them."""

    place: int = 0
    changed: dict[int, str] = field(default_factory=dict)

    def take(self, old: object, new: object) -> None:
        """The next literal of the document was read."""
        if new is not old and new != old:
            self.changed[self.place] = str(new)
        self.place += 1


@dataclass(slots=True)
class Redaction:
    """One call: its marks, the rules that its bytes can need, and whether only echoes are left."""

    marks: Marks
    rules: tuple[Rule, ...]
    only_echoes: bool = False

    def text(self, raw: bytes, nested: int = 0) -> bytes:
        """A text, read as a document where it is one, part by part where it holds some."""
        if self.only_echoes:
            return self.echoed(raw)
        spans = find_spans(raw, self.rules)
        if not spans and not (self.rules is RULES and b"\\" in raw):
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
        kinds = self.marks.known
        return re.sub(
            b"|".join(re.escape(word) for word in words),
            lambda found: self.marks.mark(kinds[of := self.marks.echoes[found[0]]][0], of),
            raw,
        )

    def _masked(self, raw: bytes, spans: list[Span]) -> bytes:
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
        hits = None if self.rules is RULES else sorted(span.start for span in spans)
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
                end = _end_of_document(raw, start)
                part = self.document(raw[start:end], nested) if end > start else None
            if part is not None:
                out += [raw[done:start], part]
                done = end
        mixed = b"".join([*out, raw[done:]])
        return self._masked(mixed, find_spans(mixed, self.rules))

    def document(self, raw: bytes, nested: int) -> bytes | None:
        """A JSON document with its secrets masked in place; None when it is none."""
        try:
            value = json.loads(raw.decode("utf-8", "surrogatepass"), object_pairs_hook=Members)
            edits = Edits()
            self.value(value, NO_HINT, edits, 0, nested)
        except (ValueError, RecursionError):
            return None
        return _rewritten(raw, edits)

    def value(self, value: object, hint: Hint, edits: Edits, depth: int, nested: int = 0) -> object:
        """A value of a document, in the order of its bytes."""
        new: object
        if isinstance(value, str):
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
        items = [self.value(item, hint, edits, depth + 1, nested) for item in value]
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
        own = _Object.of(pairs)
        inherited = hint if hint is _SECRET else NO_HINT
        out: dict[object, object] = {}
        changed = False
        for key, item in pairs:
            name: object = key
            if isinstance(key, str):
                name = self._leaf(key, NO_HINT, NESTED_MAX)
                edits.take(key, name)
            below = inherited if inherited is _SECRET else own.hint_below(key, self.only_echoes)
            new = self.value(item, below, edits, depth + 1, nested)
            changed = changed or new is not item or name is not key
            out[name] = new
        return out if changed else value

    def _leaf(self, text: str, hint: Hint, nested: int) -> str:
        if not text:
            return text
        raw = _to_bytes(text)
        strength, kind = hint
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
        return value if not find_spans(digits, ()) else _to_text(self.marks.mark("card-number", digits))


@dataclass(frozen=True, slots=True)
class _Object:
    """What an object says of its own members."""

    is_secret: bool
    named: Hint

    @classmethod
    def of(cls, pairs: Sequence[tuple[object, object]]) -> _Object:
        """Whether it is a Kubernetes Secret, or a name beside a value."""
        is_secret_, named = False, NO_HINT
        for key, item in pairs:
            if key == "kind" and item in SECRET_KINDS:
                is_secret_ = True
            elif key in {"name", "Name", "key", "Key", "header"} and isinstance(item, str):
                named = _hint(item)
        return cls(is_secret_, named)

    def hint_below(self, key: object, quiet: bool) -> Hint:
        """What the object and the key say of the value there."""
        if quiet or not isinstance(key, str):
            return NO_HINT
        if self.is_secret and key in SECRET_FIELDS:
            return _SECRET
        if key in {"value", "Value"} and self.named is not NO_HINT:
            return self.named
        return _hint(key)


_HEADER_NAMES: Final = frozenset(
    "authorization proxy-authorization x-authorization cookie set-cookie cookie2 set-cookie2".split()
)


def _hint(key: str) -> Hint:
    """What a key promises; of a header its own name stands for the kind."""
    low = key.lower()
    if low in _HEADER_NAMES:
        return Strength.WEAK, low
    if len(low) > 64:
        low = low[-64:]
    strength, kind = hint_of(_to_bytes(low.replace(" ", "_")))
    return (strength, kind) if strength is not Strength.NONE else NO_HINT


def _rewritten(raw: bytes, edits: Edits) -> bytes:
    """The bytes of a document with some of its literals written anew."""
    if not edits.changed:
        return raw
    parts: list[bytes] = []
    done = 0
    for place, found in enumerate(_LITERAL.finditer(raw)):
        if place in edits.changed:
            literal = json.dumps(edits.changed[place]).encode("ascii")
            parts += [raw[done : found.start()], literal]
            done = found.end()
    return b"".join([*parts, raw[done:]])


def _end_of_document(raw: bytes, start: int) -> int:
    """Where the document that begins at `start` ends; `start` when there is none."""
    text = raw[start:].decode("utf-8", "surrogateescape")
    try:
        _, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return start
    return start + len(text[:end].encode("utf-8", "surrogateescape"))
