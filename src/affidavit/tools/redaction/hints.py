"""What a key's name says of its value, and whether a value looks like a secret (T7).

Three strengths, because names promise differently: what stands beside `password` is a secret
whatever it looks like; what stands beside `token` or `secret` may as well be a name or a count;
what stands beside `signing_key` must look random.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from enum import IntEnum
from functools import lru_cache
from typing import Final

from affidavit.tools.redaction.marks import MASK_START


class Strength(IntEnum):
    """How much a key's name promises; NONE: nothing."""

    NONE = 0
    WEAK = 1
    MIDDLE = 2
    STRONG = 3


KEY_NEEDLES: Final = (
    b"passw", b"passphrase", b"passcode", b"pwd", b"secret", b"token", b"cred", b"key",
    b"_auth", b'auth"', b"sessionid", b"session_id", b"session-id", b"sessid", b"sig=",
    b"signature=",
)  # fmt: skip
"""What a hinting key holds, in lower case; `hint_of` looks closely."""

HINT_BYTES_MAX: Final = 48
"""Of a key's end; the longest hint with all its tails is shorter."""

_TAIL: Final = rb"(?:[_.-]?(?:value|base64|base|b64|hash|text|old|new|[0-9]{1,3}))*s?"
_STRONG: Final = re.compile(
    rb"(?P<password>passw(?:or)?d|passwd|passphrase|passcode|(?<![a-z])pwd)"
    rb"|(?P<key>(?:api|secret|private|account|shared[_.-]?access|encryption|signing|master)"
    rb"(?:[_.-]?access)?[_.-]?key)"
    rb"|(?P<secret>(?:client|app|webhook|jwt|oauth|consumer|shared|signing|token)[_.-]?secret)"
)
_STRONG_KEY: Final = re.compile(rb"(?:%s)%s" % (_STRONG.pattern, _TAIL))
_MIDDLE_KEY: Final = re.compile(
    rb"(?P<token>token)%s|(?P<secret>secret|cred(?:ential)?)%s"
    rb"|(?P<credential>(?<![a-z])auth)" % (_TAIL, _TAIL)
)
_WEAK_KEY: Final = re.compile(
    rb"(?P<key>(?:access|auth|service|storage|license|subscription|webhook|deploy|ssh|rsa|aes|hmac"
    rb"|session|client|app|consumer|integration|host|server|tls)[_.-]?key)%s"
    rb"|(?P<session>sessionid|session[_-]id|sessid)|(?P<signature>sig"
    rb"|signature)" % _TAIL
)
_KINDS: Final = {
    "password": "password",
    "key": "api-key",
    "secret": "secret",
    "token": "token",
    "credential": "credential",
    "session": "session-id",
    "signature": "signature",
}

_BENIGN: Final = re.compile(
    rb"null|none|nil|true|false|undefined|unset|empty|yes|no|\*+|[xX]{3,}|\.{3,}|-+|[|>][-+]?|"
    rb"<[^<>]*>?|\$\{[^{}]*\}?|\$\([^()]*\)?|\$[A-Za-z_]\w*|%\w+%|%[sdvq]|\{\{.*|\{[a-z_.]*\}?|"
    rb"[\[(<]?(?:redacted|hidden|masked|omitted|sensitive|removed)[\])>]?|\[masked:[^\]]*\]?",
    re.IGNORECASE | re.DOTALL,
)
"""What stands where a secret was left out, or where one will be put in."""

_NAME: Final = re.compile(rb"[A-Za-z0-9]++(?:[-./_:][A-Za-z0-9]++)++")
"""A name of Kubernetes, a path, a host: words between dashes, dots and slashes."""

_NAME_WORD: Final = re.compile(rb"[A-Z]?[a-z]{2,}(?:[A-Z][a-z]+)*|[A-Z]{1,12}|[a-z0-9]{1,15}")
_WORD_EDGES: Final = re.compile(rb"[-./_:]")

_HEX: Final = re.compile(
    rb"(?:0x|sha\d+:)?(?:[0-9a-f]+|[0-9A-F]+)|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-\w{12}"
)
_MIXED: Final = re.compile(rb"(?=.*[0-9])(?=.*[A-Za-z])|(?=.*[a-z])(?=.*[A-Z])")

RANDOM_BYTES_MIN: Final = 16
"""A shorter value carries too little to be told from a word."""

RANDOM_BITS_MIN: Final = 3.2
"""Shannon entropy per byte; 16 random letters and digits have about 3.7, English words below 3."""

HEX_BYTES_MIN: Final = 8
"""Beside `token` a shorter one is a number or a word."""

SAMPLE_BYTES: Final = 256
"""Of a long value; more adds nothing to the judgement."""


HINTS_KEPT: Final = 4096
"""Names whose hint is remembered: those of a log repeat on every line."""


def hint_of(key: bytes) -> tuple[Strength, str]:
    """What a key's name, in lower case, promises, and the kind of secret it names.

    The hint must end the name: `secretName` and `tokenExpirationSeconds` name no secret.
    """
    return _hint_of(key[-HINT_BYTES_MAX:])


@lru_cache(HINTS_KEPT)
def _hint_of(key: bytes) -> tuple[Strength, str]:
    for strength, pattern in (
        (Strength.STRONG, _STRONG_KEY),
        (Strength.MIDDLE, _MIDDLE_KEY),
        (Strength.WEAK, _WEAK_KEY),
    ):
        for found in pattern.finditer(key):
            if found.end() == len(key):
                return strength, _KINDS[found.lastgroup or "secret"]
    return Strength.NONE, ""


def is_secret(strength: Strength, value: bytes) -> bool:
    """Whether a value beside a key of that strength is to be masked."""
    if not value or _BENIGN.fullmatch(value) or value.startswith(MASK_START):
        return False
    match strength:
        case Strength.STRONG:
            return True
        case Strength.MIDDLE:
            return _looks_opaque(value[:SAMPLE_BYTES])
        case Strength.WEAK:
            return looks_random(value[:SAMPLE_BYTES])
        case Strength.NONE:
            return False


def looks_random(value: bytes) -> bool:
    """Whether a value is as good as random, and neither a name, a hash, nor an id."""
    if len(value) < RANDOM_BYTES_MIN or b" " in value or _is_name(value) or _HEX.fullmatch(value):
        return False
    return bool(_MIXED.match(value)) and entropy_bits(value) >= RANDOM_BITS_MIN


def entropy_bits(value: bytes) -> float:
    """Shannon entropy of a value, bits per byte."""
    size = len(value)
    return -sum(n / size * math.log2(n / size) for n in Counter(value).values())


def _looks_opaque(value: bytes) -> bool:
    """Neither prose, nor a number, nor a name."""
    if len(value) < 6 or b" " in value or value.isdigit():
        return False
    if _HEX.fullmatch(value):
        return len(value) >= HEX_BYTES_MIN
    if _is_name(value):
        return False
    return bool(_MIXED.match(value)) or len(value) >= 20


def _is_name(value: bytes) -> bool:
    return bool(_NAME.fullmatch(value)) and all(
        _NAME_WORD.fullmatch(part) for part in _WORD_EDGES.split(value)
    )
