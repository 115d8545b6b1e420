"""The values of Kubernetes Secrets in text: YAML, and JSON that was cut or stands among words.

JSON that can be parsed is not read here but in `documents`. Base64 hides nothing, so every value
under `data` and `stringData` of a Secret is one, whatever its key is called.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from affidavit.tools.redaction.hints import Strength, is_secret
from affidavit.tools.redaction.marks import STRUCTURE, Span
from affidavit.tools.redaction.shapes import Text
from affidavit.tools.redaction.values import end_of_quoted

KIND: Final = "kubernetes-secret"

SECRET_KINDS: Final = frozenset({"Secret", "SealedSecret"})
SECRET_LIST: Final = "SecretList"  # noqa: S105 - a kind
KIND_BYTES_MAX: Final = 32
"""Of `"kind": "Secret"`, however it is escaped."""

SECRET_FIELDS: Final = ("data", "stringData")

_LINE: Final = re.compile(
    rb"(?P<indent>[ ]*)(?P<dashes>(?:-[ ]+)*)(?:(?P<key>[\w./-]+):(?:[ \t]+(?P<value>[^\r\n]*))?"
    rb"[ \t]*\r?$)?",
)
_SECRET_LINE: Final = re.compile(rb"[\"']?(?:sealed)?secret[\"']?\s*(?:#.*)?")
_SECRET_KIND: Final = re.compile(rb"kind:[ \t]{1,8}[\"']?(?:sealed)?secret(?P<list>list)?")
_KIND_CUT: Final = re.compile(rb"kind(?:\\*+\"?[ ]?:?[ ]?\\*+[\"']?(?:s(?:e(?:c(?:re?)?)?)?)?)?\Z")
"""A text that was cut off while it named its kind."""
_BASE64: Final = re.compile(rb"[A-Za-z0-9+/\s]{1,}={0,2}\s*")
_FLOW_VALUE: Final = re.compile(rb":\s*[\"']?([^\s,{}\"'][^,{}\"']*)")


@dataclass(slots=True)
class _Mapping:
    """One open mapping of YAML, by the column of its keys."""

    column: int
    start: int
    is_secret: bool = False
    has_kind: bool = False
    is_core: bool = False
    block: int | None = None
    blocks: list[tuple[int, int]] = field(default_factory=list)


def find_yaml_secrets(text: Text) -> Iterator[Span]:
    """The values of Secrets in YAML, also where the text was cut before or after `kind`."""
    if not _may_hold_yaml(text.low):
        return
    if b"\\n" in text.raw and _SECRET_KIND.search(text.low):
        yield Span(0, 0, STRUCTURE)  # lines that are escaped are read in their document
    is_list = any(found["list"] for found in _SECRET_KIND.finditer(text.low))
    stack: list[_Mapping] = []
    orphan: tuple[int, int] | None = None
    at, cut_at = 0, _end(text.low)
    for line in text.raw.splitlines(keepends=True):
        start, at = at, at + len(line)
        found = _LINE.match(line.rstrip(b"\r\n"))
        if not line.strip() or not found:
            continue
        indent = len(found["indent"])
        column = indent + len(found["dashes"])
        floor = -1 if line.startswith(b"---") else indent
        while stack and stack[-1].column > floor:
            closed = stack.pop()
            if not stack and closed.start == 0:
                orphan = (0, start)
            closed.is_secret = closed.is_secret or is_list
            yield from _close(text, closed, start)
        if not stack or stack[-1].column != column:
            stack.append(_Mapping(column, start))
        _read_line(stack[-1], found, start, at)
        if start >= cut_at:
            stack[-1].has_kind = False
        if orphan and stack[-1].is_secret and column == 0:
            yield from _values(text, *orphan)
            orphan = None
    while stack:
        mapping = stack.pop()
        mapping.is_secret = mapping.is_secret or is_list
        if mapping.is_core and not mapping.has_kind:
            yield from _if_all_base64(text, mapping)
        yield from _close(text, mapping, len(text.raw))


def _may_hold_yaml(low: bytes) -> bool:
    if _SECRET_KIND.search(low):
        return True
    return b"apiversion: v1" in low and low.rfind(b"data:") > low.rfind(b"kind:", 0, _end(low))


def _end(low: bytes) -> int:
    """Where a text ends, without a kind that was cut off."""
    cut = _KIND_CUT.search(low, max(0, len(low) - KIND_BYTES_MAX))
    return cut.start() if cut else len(low)


def _read_line(mapping: _Mapping, found: re.Match[bytes], start: int, end: int) -> None:
    """Take in one line of a mapping: what the object is, and where its values begin and end."""
    if mapping.block is not None:
        mapping.blocks.append((mapping.block, start))
        mapping.block = None
    key, value = found["key"] or b"", (found["value"] or b"").strip()
    if key == b"kind":
        mapping.has_kind = True
        mapping.is_secret = mapping.is_secret or bool(_SECRET_LINE.fullmatch(value.lower()))
    elif key == b"apiVersion":
        mapping.is_core = value == b"v1"
    elif key in {b"data", b"stringData"}:
        mapping.block = start if value.startswith(b"{") else end


def _close(text: Text, mapping: _Mapping, end: int) -> Iterator[Span]:
    if mapping.is_secret:
        blocks = mapping.blocks + ([] if mapping.block is None else [(mapping.block, end)])
        for block in blocks:
            yield from _values(text, *block)


def _if_all_base64(text: Text, mapping: _Mapping) -> Iterator[Span]:
    """The values of an object that looks like a Secret, whose kind was cut away."""
    blocks = mapping.blocks + ([] if mapping.block is None else [(mapping.block, len(text.raw))])
    spans = [span for block in blocks for span in _values(text, *block)]
    if all(_BASE64.fullmatch(text.raw[span.start : span.end]) for span in spans):
        yield from spans


def _values(text: Text, start: int, end: int) -> Iterator[Span]:
    """Every value of a mapping's lines: a word, a quoted text, or all lines that are deeper."""
    flow = text.raw[start:end]
    if b"{" in flow.split(b"\n", 1)[0]:
        for one in _FLOW_VALUE.finditer(flow, flow.find(b"{")):
            yield Span(start + one.start(1), start + one.end(1), KIND, _quotes(flow, one.start(1)))
        return
    column: int | None = None
    deeper: Span | None = None
    at = start
    for line in flow.splitlines(keepends=True):
        begin, at = at, at + len(line)
        body = line.strip()
        if not body or body.startswith(b"#"):
            continue
        indent = len(line) - len(line.lstrip(b" "))
        column = indent if column is None else column
        if indent > column:
            last = begin + indent + len(body)
            deeper = Span(deeper.start if deeper else begin + indent, last, KIND)
            continue
        if deeper:
            yield deeper
            deeper = None
        yield from _value_of_line(begin + indent, body)
    if deeper:
        yield deeper


def _value_of_line(at: int, body: bytes) -> Iterator[Span]:
    key, colon, value = body.partition(b":")
    stripped = value.strip()
    if not colon or not stripped or re.fullmatch(rb"[|>][-+0-9]{0,2}", stripped):
        return
    begin = at + len(key) + 1 + len(value) - len(value.lstrip())
    quote = stripped[:1] if stripped[:1] in {b'"', b"'"} else b""
    inside = stripped[1:] if quote else stripped
    inside = inside.removesuffix(quote) if quote else inside
    if is_secret(Strength.STRONG, inside):
        yield Span(
            begin + len(quote), begin + len(quote) + len(inside), KIND, b"" if quote else b'"'
        )


def _quotes(flow: bytes, at: int) -> bytes:
    return b"" if flow[at - 1 : at] in {b'"', b"'"} else b'"'


# --- JSON that cannot be parsed --------------------------------------------------------------

_JSON_KIND: Final = re.compile(rb"\\*+\"kind\\*+\"\s*+:\s*+\\*+\"(?:Sealed)?Secret(?:List)?\\*+\"")
_JSON_DATA: Final = re.compile(rb"\\*+\"(?:data|stringData)\\*+\"\s*+:\s*+\{")
_JSON_PAIR: Final = re.compile(
    rb"(?:\s|\\+n)*+,?(?:\s|\\+n)*+\\*+\"[^\"\\]{1,253}\\*+\"\s*+:\s*+(?P<slashes>\\*+)\""
)
_JSON_CUT: Final = re.compile(
    rb"\\*+\"apiVersion\\*+\"\s*+:\s*+\\*+\"v1\\*+\"\s*+,(?:\s|\\+n)*+\\*+\"data\\*+\"\s*+:\s*+\{"
)


def find_json_secrets(text: Text) -> Iterator[Span]:
    """The values of every `data` object of a text that holds a Secret, also without its kind."""
    if b'"data' not in text.low and b'"stringdata' not in text.low and b"data\\" not in text.low:
        return
    first = 0
    if not _JSON_KIND.search(text.raw):
        first = text.low.rfind(b'"kind', 0, _end(text.low) - 1)
        cut = _JSON_CUT.search(text.raw, max(0, first))
        if not cut:
            return
        first = cut.start()
    at = first
    while data := _JSON_DATA.search(text.raw, at):
        at = data.end()
        while pair := _JSON_PAIR.match(text.raw, at):
            end = end_of_quoted(text.raw, pair.end(), pair["slashes"], b'"')
            if is_secret(Strength.STRONG, text.raw[pair.end() : end]):
                yield Span(pair.end(), end, KIND)
            at = min(len(text.raw), end + len(pair["slashes"]) + 1)
