"""What a mask looks like, and which secret has which (T7).

A mask is one word, `[masked:bearer-token:1]`: a table, logfmt, a URL, JSON and YAML still read as
before. The number tells secrets of one response apart and shows where one is met again; it is
counted, not computed from the secret, so nothing can be guessed from it (a short digest of a weak
password is the password).
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from affidavit.contract.masking import MASK_PATTERN

MASK_START: Final = b"[masked:"

_MASKS: Final = re.compile(rb"\[masked:[a-z-]+:([0-9]{1,9})\]")

STRUCTURE: Final = "structure"
"""The kind of an empty span that says: a secret was named here, and what it is may stand elsewhere
in the document."""

ECHOES_MAX: Final = 32
"""Secrets that are looked for once more without a hint; each is one more search of the text."""

ECHO_BYTES_MIN: Final = 8
"""A shorter value may be anybody's word."""


@dataclass(frozen=True, slots=True)
class Mask:
    """One secret that was masked: its kind, its number in this response, how often it was met."""

    kind: str
    number: int
    count: int


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes of a text that are a secret. `quote` stands around the mask where the secret was a
    bare word of JSON or YAML and a mask would be read as something else."""

    start: int
    end: int
    kind: str
    quote: bytes = b""


@dataclass(slots=True)
class Marks:
    """The secrets met in one response, in order; lives for one call.

    `echoes` are secrets that no innocent text holds by chance: they are masked wherever they stand.
    """

    first: int = 1
    known: dict[bytes, tuple[str, int]] = field(default_factory=dict)
    echoes: dict[bytes, bytes] = field(default_factory=dict)

    @classmethod
    def after(cls, text: bytes) -> Marks:
        """Marks whose numbers follow those that the text holds already."""
        if MASK_START not in text:
            return cls()
        return cls(first=1 + max((int(found[1]) for found in _MASKS.finditer(text)), default=0))

    def mark(self, kind: str, secret: bytes) -> bytes:
        """The mask of a secret: the same for the same secret."""
        kind, number = self.known.setdefault(secret, (kind, self.first + len(self.known)))
        return b"[masked:%s:%d]" % (kind.encode("ascii"), number)

    def remember(self, secret: bytes, of: bytes) -> None:
        """Mask `secret`, wherever it stands, like the secret `of`."""
        if len(self.echoes) < ECHOES_MAX and len(secret) >= ECHO_BYTES_MIN:
            self.echoes.setdefault(secret, of)

    def masks(self, text: str) -> tuple[Mask, ...]:
        """What is masked in the text that became of it all: one mask may have covered another."""
        counts = Counter(int(found[2]) for found in MASK_PATTERN.finditer(text))
        return tuple(
            Mask(kind, number, counts[number])
            for kind, number in self.known.values()
            if counts[number]
        )


def replace(text: bytes, spans: list[Span], marks: Marks) -> bytes:
    """The text with every span masked; spans that overlap become one."""
    parts: list[bytes] = []
    done = 0
    for span in _apart(spans):
        mask = marks.mark(span.kind, text[span.start : span.end])
        parts += [text[done : span.start], span.quote, mask, span.quote]
        done = span.end
    return b"".join([*parts, text[done:]])


def _apart(spans: list[Span]) -> list[Span]:
    """The spans in order, those that overlap joined under the first one's kind."""
    apart: list[Span] = []
    for span in sorted(spans, key=lambda one: (one.start, -one.end)):
        if apart and span.start < apart[-1].end:
            last = apart[-1]
            if span.end > last.end:
                apart[-1] = Span(last.start, span.end, last.kind, last.quote)
        else:
            apart.append(span)
    return apart
