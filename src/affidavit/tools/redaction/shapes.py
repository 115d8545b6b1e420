"""Secrets that are known by their own shape: JWT, PEM blocks, mail addresses, card numbers.

Each rule is a needle (found at the speed of `bytes.find`) and a close look at the place where it
was hit. A look is bounded, or goes no further than what it returns, so that a text full of needles
costs no more than in proportion to its length.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from affidavit.tools.redaction.hints import looks_random
from affidavit.tools.redaction.marks import Span


@dataclass(frozen=True, slots=True)
class Text:
    """A text as bytes, and the same with ASCII letters in lower case, byte for byte."""

    raw: bytes
    low: bytes


Look = Callable[[Text, int], Iterator[Span]]
"""From the place of a needle to the secrets there."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A needle, in lower case, and what to do where it is hit."""

    needle: bytes
    look: Look
    hits: re.Pattern[bytes] | None = None
    """Where the needle needs a look, of all the places that hold it; everywhere without."""


CUT: Final = rb"(?=\Z|\.\.\.|\xe2\x80\xa6|[\[(<]trunc)"
"""Where a text was cut off: there a secret may be shorter than its kind is."""

# --- JWT -------------------------------------------------------------------------------------

JWT_PART: Final = "jwt-part"

_JWT: Final = re.compile(
    rb"eyJ[\w-]{8,}+\.[\w-]{0,4096}+(?:\.[\w-]*+){1,3}|eyJ[\w-]{8,}+\.[\w-]{4,}+"
    rb"|eyJ(?:hbGci|0eXAi|raWQi|jdHki|lbmMi|zdWIi|pc3Mi|hdWQi|leHAi|pYXQi|qdGki|uYmYi)[\w-]*+"
    rb"|eyJ[\w-]*+%b" % CUT
)
"""Three parts, or five; or what begins as a head or a body does, of which the rest stands apart."""
_JWT_NEXT: Final = re.compile(
    rb"\.?\\{0,4}[\"']?[ \t]{0,8}(?:,|\.|\r?\n|\\+n)[ \t]{0,8}(?:\r?\n[ \t]{0,8})?\\{0,4}[\"']?"
    rb"([\w-]{20,})(?![\w.-])"
)
"""The part after one that stands apart, in a list or on the next line."""
_JWT_HEAD: Final = re.compile(rb"\.[\w-]{1,64}+")


def look_at_jwt(text: Text, at: int) -> Iterator[Span]:
    """A JWT, whole or cut at either end."""
    found = _JWT.match(text.raw, at)
    if found:
        head = _JWT_HEAD.match(text.raw[max(0, at - 65) : at][::-1])
        yield Span(at - len(head[0]) if head else at, found.end(), "jwt")
        last, parts = found, 2 - found[0].count(b".")
        while parts > 0 and (after := _JWT_NEXT.match(text.raw, last.end())):
            if not looks_random(after[1]):
                break
            yield Span(after.start(1), after.end(1), JWT_PART)
            last, parts = after, parts - 1
        return
    coded = _JSON_BASE64.match(text.raw, at)
    if coded and _tells(coded[0]):
        yield Span(at, coded.end(), "base64-secret")


_JSON_BASE64: Final = re.compile(rb"eyJ[A-Za-z0-9+/_-]{17,65536}={0,2}")
_TELLING: Final = re.compile(
    rb"\"[^\"]{0,48}(?:pass(?:wor)?d?|pwd|secret|token|credentials?|api_?key)\"\s*:\s*\"[^\"]",
    re.IGNORECASE,
)


def _tells(coded: bytes) -> bool:
    """Whether JSON in base64 holds a secret by name; the whole is masked then."""
    plain = coded.rstrip(b"=").translate(_STANDARD)
    try:
        return bool(_TELLING.search(binascii.a2b_base64(plain + b"=" * (-len(plain) % 4))))
    except binascii.Error:
        return False


_STANDARD: Final = bytes.maketrans(b"-_", b"+/")


# --- PEM -------------------------------------------------------------------------------------

PRIVATE_KEY: Final = "private-key"

PEM_BYTES_MAX: Final = 16_384
"""Of one block: an RSA key of 16 384 bits takes 12 KB."""

_PEM_BEGIN: Final = re.compile(rb"-----BEGIN ([A-Z0-9 ]{1,40})-----")
_PEM_END: Final = re.compile(rb"-----END ([A-Z0-9 ]{1,40})-----")
_PUBLIC: Final = re.compile(
    rb"(?:TRUSTED |X509 |NEW )?CERTIFICATE(?: REQUEST)?|X509 CRL|(?:RSA |SSH2 )?PUBLIC KEY"
    rb"|(?:DH|EC|DSA) PARAMETERS|PGP (?:PUBLIC KEY BLOCK|SIGNATURE|SIGNED MESSAGE)|PKCS7|CMS"
)
_PEM_BODY: Final = re.compile(
    rb"(?:[A-Za-z0-9+/=\s]|\\+[nrt/]|\\+u000[aAdD]|\\+x0[aAdD]"
    rb"|(?:Proc-Type|DEK-Info|Comment|Version|Hash): ?[\w ,.-]{1,80})*+"
)
_PEM_RUN: Final = re.compile(rb"(?:(?<=\\[nrt])|(?<=\\x0[adAD])|(?<![\w\\-]))[A-Za-z0-9+/=]{16,}+")
_PEM_LIKE: Final = re.compile(rb"(?=.*[0-9+/=])(?=.*[A-Z])")  # no word, no hash
_PEM_LONG_RUN: Final = re.compile(  # no hash, and not the letter of an escape
    rb"(?:(?<=\\[nrt])|(?<=\\x0[adAD])|(?<!\\))(?![0-9a-f]{40})[A-Za-z0-9+/=]{40,}+"
)
_PEM_LINE: Final = re.compile(rb"[A-Za-z0-9+/=]+")
_LINE_BREAK: Final = re.compile(rb"(?:\\+r)?\\+n|\r?\n")


def look_at_pem(text: Text, at: int) -> Iterator[Span]:
    """A private PEM block: whole, cut off at its end, or with something before each line."""
    begin = _PEM_BEGIN.match(text.raw, at)
    if not begin or _PUBLIC.fullmatch(begin[1]):
        return
    limit = min(len(text.raw), at + PEM_BYTES_MAX)
    body = _PEM_BODY.match(text.raw, begin.end(), limit)
    end = _PEM_END.match(text.raw, body.end()) if body else None
    closing = text.raw.find(b"-----END ", begin.end(), limit)
    if body and (end or (closing < 0 and _PEM_RUN.search(text.raw, begin.end(), body.end()))):
        yield Span(at, end.end() if end else body.end(), PRIVATE_KEY)
        return
    stop = closing if closing >= 0 else limit
    runs = _PEM_RUN if closing >= 0 else _PEM_LONG_RUN
    yield Span(at, begin.end(), PRIVATE_KEY)
    for run in runs.finditer(text.raw, begin.end(), stop):
        if _PEM_LIKE.search(run[0]):
            yield Span(run.start(), run.end(), PRIVATE_KEY)
    # What is looked through is given up to `stop`, so that no byte is looked at twice.
    yield Span(stop, stop, PRIVATE_KEY)


def look_at_pem_tail(text: Text, at: int) -> Iterator[Span]:
    """The lines of a private PEM block whose beginning was cut off."""
    end = _PEM_END.match(text.raw, at)
    if not end or _PUBLIC.fullmatch(end[1]):
        return
    first = max(0, at - PEM_BYTES_MAX)
    if text.raw.rfind(b"-----", first, at) >= 0:
        return  # its beginning is there, and look_at_pem has seen it
    start, window = at, text.raw[first:at]
    breaks = [0, *(found.end() for found in _LINE_BREAK.finditer(window))]
    ends = [*(found.start() for found in _LINE_BREAK.finditer(window)), len(window)]
    for begin, stop in zip(reversed(breaks), reversed(ends), strict=True):
        line = window[begin:stop].strip()
        word = line.rsplit(maxsplit=1)[-1] if line else b""
        if word and not (
            _PEM_LINE.fullmatch(word)
            and (len(word) >= 16 or _is_edge(word, stop, at - first, begin))
        ):
            break
        start = first + begin
        if b" " in line:  # something stands before the line: its last word is of the key
            start = first + stop - len(line.rsplit(maxsplit=1)[-1])
            break
    if start < at:
        yield Span(start, end.end(), PRIVATE_KEY)


def _is_edge(word: bytes, stop: int, last: int, begin: int) -> bool:
    """A short line ends a key, begins a text that was cut, or holds what no word does."""
    return stop >= last - 4 or not word.isalpha() or (begin == 0 and not word.islower())


_PEM_BASE64: Final = re.compile(
    rb"LS0tLS1CRUdJTi(?!BDRVJU|BUUlVTVEVEIENFUl|BQVUJMSUMg)[A-Za-z0-9+/=]*+"
)


def look_at_pem_base64(text: Text, at: int) -> Iterator[Span]:
    """A private PEM block in base64, as kubeconfigs and Secrets hold it."""
    found = _PEM_BASE64.match(text.raw, at)
    if found:
        yield Span(at, found.end(), PRIVATE_KEY)


# --- Mail addresses --------------------------------------------------------------------------

_LOCAL: Final = re.compile(
    rb"(?:[A-Za-z0-9._+'-]|[\x80-\xbf][\xc3-\xcf])(?:[A-Za-z0-9._+-]"
    rb"|[\x80-\xbf][\xc3-\xcf]|'(?=[A-Za-z])){0,63}+"
)
"""Read backwards. Letters with marks are part of a name; Chinese before it is not."""
_LABEL: Final = rb"(?:[A-Za-z0-9-]|[\xc3-\xcf][\x80-\xbf]){1,63}+"
_DOMAIN: Final = re.compile(rb"(?:@|%%40)(?:%b\.){1,8}([A-Za-z]{2,24})(?![\w-]|\.\w)" % _LABEL)
_UNITS: Final = frozenset(
    b"service socket target timer mount slice scope device path swap automount snap".split()
)


def look_at_mail(text: Text, at: int) -> Iterator[Span]:
    """A mail address; a unit of systemd and a Git remote are none."""
    domain = _DOMAIN.match(text.raw, at)
    if not domain or domain[1].lower() in _UNITS:
        return
    backwards = _LOCAL.match(text.raw[max(0, at - 64) : at][::-1])
    if not backwards:
        return
    local, start = backwards[0][::-1], at - backwards.end()
    if text.raw[start - 1 : start] == b":" and b"//" in text.raw[max(0, start - 72) : start]:
        return  # the password of a URL
    if local != b"git" and local.strip(b".-+_"):
        yield Span(at - len(local.lstrip(b".-+")), domain.end(), "e-mail")


# --- Card numbers ----------------------------------------------------------------------------

_WORD_BYTES: Final = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_."
_DIGIT_SHAPE: Final = bytes(
    ord(" " if n in b" -+" else "0" if n in b"0123456789" else "x" if n in _WORD_BYTES else "|")
    for n in range(256)
)
"""Digits, gaps, words and the rest: a fraction or an id with letters is no bare run of digits, but
the letter before it may be an escaped line end's."""
_CARD_SHAPES: Final = (
    b"|" + b"0" * 14,
    b" " + b"0" * 14,
    b"x" + b"0" * 14,
    b"0000 0000 0000",
    b"0000 000000 0000",
)
_SOLID: Final = b"0" * 14
_IN_GROUPS: Final = b"0000 0000"
"""One of the two is in each shape of a card."""
_CARD: Final = re.compile(
    rb"(?:(?<![\w.-])|(?<=\\[nrt]))(?:\d{14,19}|\d{4}([ +-])\d{4}\1\d{4}\1\d{3,4}"
    rb"|\d{4}([ +-])\d{6}\2\d{4,5})(?![\w-]|\.\d)"
)
_ID: Final = re.compile(
    rb"(?:id|serial|span|trace|hash|seq|sequence|offset|revision|version|generation|inode)[\"'\\]{0,4}"
    rb"[ ]?[:=][ ]?[\"'\\]{0,4}\Z",
    re.IGNORECASE,
)
"""Ids that happen to be all digits."""
_ISSUED: Final = re.compile(
    rb"4(?:\d{15}|\d{18})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}"
    rb"|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|35(?:2[89]|[3-8]\d)\d{12}"
    rb"|6(?:011|5\d\d|4[4-9]\d)\d{12}|62\d{14,17}"
)
"""Numbers that card networks issue (ISO/IEC 7812): most ids and all epochs of our age are none."""


def find_cards(raw: bytes) -> Iterator[Span]:
    """Card numbers: issued by a network, and with Luhn's check digit."""
    shape = b"|" + raw.translate(_DIGIT_SHAPE)  # a place here is one more than there
    there = tuple(part for part in (_SOLID, _IN_GROUPS) if part in shape)
    for needle in _CARD_SHAPES:
        if not any(part in needle for part in there):
            continue
        before = needle[:1] != b"0"
        place = shape.find(needle)
        while place >= 0:
            at = place if before else place - 1
            found = _CARD.match(raw, at)
            is_hit = found is not None and is_card(re.sub(rb"[ +-]", b"", found[0]))
            if found and is_hit and not _ID.search(raw[max(0, at - 24) : at]):
                yield Span(at, found.end(), "card-number")
            run = _RUN.match(raw, at)
            done = max(at + len(needle) - before, run.end() if run else 0)
            place = shape.find(needle, done if before else done + 1)


_RUN: Final = re.compile(rb"\d*")


def is_card(digits: bytes) -> bool:
    """Whether digits are a card number by issuer and check digit."""
    if not _ISSUED.fullmatch(digits):
        return False
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = (digit - 48) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0 and len(set(digits)) > 1


SHAPE_RULES: Final[tuple[Rule, ...]] = (
    Rule(b"eyj", look_at_jwt),
    Rule(b"-----begin", look_at_pem),
    Rule(b"-----end", look_at_pem_tail),
    Rule(b"ls0tls1crudjti", look_at_pem_base64),
    Rule(b"@", look_at_mail),
    Rule(b"%40", look_at_mail),
)
