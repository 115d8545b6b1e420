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
    b"pass", b"pw", b"secret", b"token", b"cred", b"key", b"_auth", b'auth"', b"auth:", b"auth=",
    b"sessionid", b"session_id", b"session-id", b"sessid", b"sig=", b"signature=", b'signature"',
)  # fmt: skip
"""What a hinting key holds, in lower case; `hint_of` looks closely."""

HINT_BYTES_MAX: Final = 48
"""Of a key's end; the longest hint with all its tails is shorter."""

_TAIL: Final = rb"(?:[_.-]?(?:value|base64|base|b64|hex|hash|text|old|new|[0-9]{1,3}))*s?"
_WHOSE_PASS: Final = (
    rb"(?:(?<![a-z])(?:sa|es|db)|(?:my|pg|no)?sql|user|root|admin|smtp|mail|ldap|bind|redis|mongo"
    rb"|maria|postgres|rabbit|mq|kafka|elastic|ftp|http|proxy|sudo|key|trust|store|login|app|api"
    rb"|svc|service|account|cert|ssl|tls|require|vault|git|registry|default)[_.-]?(?:pass|pw|pwd)"
)
"""`smtpPass`, `DB_PASS`; a `render_pass`, a `bypass` and `pass=12 fail=0` are another thing."""
_STRONG: Final = re.compile(
    rb"(?P<password>passw(?:or)?d|passwd|passphrase|passcode|(?<![a-z])pwd|[_.-]pw|%s)"
    rb"|(?P<key>(?:api|secret|private|account|shared[_.-]?access|encryption|signing|master"
    rb"|pre[_.-]?shared)(?:[_.-]?access)?[_.-]?key)"
    rb"|(?P<secret>(?:client|app|webhook|jwt|oauth|consumer|shared|signing|token)[_.-]?secret)"
    % _WHOSE_PASS
)
_STRONG_KEY: Final = re.compile(rb"(?:%s)%s\Z" % (_STRONG.pattern, _TAIL))
_MIDDLE_KEY: Final = re.compile(
    rb"(?:(?P<token>token)|(?P<secret>secret|cred(?:ential)?)|(?P<credential>(?<![a-z])auth)"
    rb"|(?P<password>(?<![a-z])pass)|(?P<key>(?:access|auth|app|license|subscription|storage|webhook"
    rb"|deploy|certificate)[_.-]?key)|(?P<session>jsessionid|phpsessid))%s\Z" % _TAIL
)
_WEAK_KEY: Final = re.compile(
    rb"(?:(?P<key>(?:service|ssh|rsa|aes|hmac|session|client|consumer|integration|host|server|tls"
    rb"|shared)[_.-]?key)|(?P<session>sessionid|session[_-]id|sessid)"
    rb"|(?P<signature>sig(?:nature)?))%s\Z" % _TAIL
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
    rb"oauth2?|saml2|https?://[^\s@]*|(?:/[a-z_][\w.-]*){2,16}/?"
    rb"|/(?:root|home|app|apps|srv|opt|var|tmp|usr|data|work|workspace|workdir|src)?/?|"
    rb"[\[(<]?(?:redacted|hidden|masked|omitted|sensitive|removed)[\])>]?|\[masked:[^\]]*\]?",
    re.IGNORECASE | re.DOTALL,
)
"""What stands where a secret was left out, or where one will be put in; and a path or an address,
which say where one lies (`PWD=/srv/app` names a folder)."""

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
        found = pattern.search(key)
        if found:
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


def looks_like_password(value: bytes) -> bool:
    """Whether a word of prose can be nothing but a password: letters of both cases or a mark among
    letters and digits, and neither a name nor a word in humps."""
    if len(value) < PASSWORD_BYTES_MIN or _is_name(value) or _HEX.fullmatch(value):
        return False
    if _HUMPS.fullmatch(value) or _BENIGN.fullmatch(value) or _PLACE.match(value):
        return False
    classes = sum(bool(pattern.search(value)) for pattern in _CLASSES)
    return bool(_CLASSES[0].search(value)) and classes >= 3


PASSWORD_BYTES_MIN: Final = 8
"""In prose a shorter one may be a version or a code."""

_CLASSES: Final = tuple(
    re.compile(pattern) for pattern in (rb"[0-9]", rb"[a-z]", rb"[A-Z]", rb"[^A-Za-z0-9.:/_-]")
)
_HUMPS: Final = re.compile(rb"(?:[A-Z]{0,5}[a-z]{2,}[0-9]{0,2}[-._:/]?)+")
_PLACE: Final = re.compile(rb"[~.]{0,2}/|[A-Za-z]:\\|https?:|file:")
"""How a path or an address begins."""


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
    path = _PLACE.match(value)
    if path and (_is_name(value[path.end() :]) or _NAME_WORD.fullmatch(value[path.end() :])):
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
