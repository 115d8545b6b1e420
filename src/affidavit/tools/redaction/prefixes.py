"""Keys that their issuers gave a prefix, and hashes of passwords that say which they are (T7)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from affidavit.tools.redaction.marks import Span
from affidavit.tools.redaction.shapes import CUT, Rule, Text

_EDGE: Final = rb"(?<![A-Za-z0-9_])"

_LETTERS, _WORD, _NAME, _HEX = rb"[A-Za-z0-9]", rb"\w", rb"[\w-]", rb"[a-f0-9]"

KEY_SHAPES: Final[tuple[tuple[bytes, bytes, int], ...]] = (
    (b"AKIA", rb"[A-Z0-9]", 16), (b"ASIA", rb"[A-Z0-9]", 16),
    (b"AIza", _NAME, 30), (b"ya29.", _NAME, 20), (b"GOCSPX-", _NAME, 20),
    (b"ghp_", _LETTERS, 30), (b"gho_", _LETTERS, 30), (b"ghs_", _LETTERS, 30),
    (b"ghu_", _LETTERS, 30), (b"ghr_", _LETTERS, 30), (b"github_pat_", _WORD, 40),
    (b"glpat-", _NAME, 16), (b"glrt-", _NAME, 16), (b"gldt-", _NAME, 16), (b"glft-", _NAME, 16),
    (b"glptt-", _NAME, 16), (b"glcbt-", _NAME, 16), (b"glsoat-", _NAME, 16),
    (b"glagent-", _NAME, 16),
    (b"xoxb-", _NAME, 16), (b"xoxp-", _NAME, 16), (b"xoxa-", _NAME, 16), (b"xoxs-", _NAME, 16),
    (b"xoxr-", _NAME, 16), (b"xoxc-", _NAME, 16), (b"xoxd-", rb"[\w%/+=-]", 16),
    (b"xoxe.", rb"[\w.-]", 16), (b"xapp-", _NAME, 16),
    (b"hooks.slack.com/", rb"[\w/]", 16),
    (b"sk-", _NAME, 20), (b"sk_live_", _WORD, 16), (b"rk_live_", _WORD, 16),
    (b"sk_test_", _WORD, 16), (b"rk_test_", _WORD, 16), (b"whsec_", rb"[\w+/=]", 16),
    (b"npm_", _LETTERS, 30), (b"pypi-AgE", _NAME, 40), (b"dckr_pat_", _NAME, 20),
    (b"SG.", rb"[\w.-]", 40), (b"key-", _HEX, 32), (b"hf_", _LETTERS, 30),
    (b"hvs.", _NAME, 20), (b"hvb.", _NAME, 20), (b"hvr.", _NAME, 20),
    (b"dop_v1_", _HEX, 40), (b"shpat_", _HEX, 32), (b"shpca_", _HEX, 32), (b"shppa_", _HEX, 32),
    (b"shpss_", _HEX, 32), (b"glsa_", _WORD, 32), (b"glc_", rb"[\w+/=-]", 32),
    (b"NRAK-", rb"[A-Z0-9]", 20), (b"ATATT3xFf", rb"[\w=-]", 30),
    (b"lin_api_", _LETTERS, 30), (b"sntrys_", rb"[\w+/=]", 30),
    (b"AGE-SECRET-KEY-1", rb"[A-Z0-9]", 40),
)  # fmt: skip
"""Prefix, alphabet and least length of keys as their issuers document them."""


def _key_rule(prefix: bytes, alphabet: bytes, least: int) -> Rule:
    letters = alphabet[:-1] if alphabet.endswith(b"]") else b"[" + alphabet
    run, cut = letters + b"]{%d,512}+" % least, letters + b"]{4,512}+" + CUT
    if prefix == b"key-":
        cut = run  # so short a prefix says nothing of a key that was cut
    shape = re.compile(_EDGE + re.escape(prefix) + b"(?:" + run + b"|" + cut + b")")

    def look(text: Text, at: int) -> Iterator[Span]:
        found = shape.match(text.raw, at)
        if found:
            words = prefix == b"sk-" and _WORDS.fullmatch(found[0])
            begin = found.end() if words else at  # an empty span: nothing, and no second look
            yield Span(begin, found.end(), "api-key" if prefix == b"sk-" else "cloud-key")

    return Rule(prefix.lower(), look)


_WORDS: Final = re.compile(rb"[a-z]+(?:-[a-z]+)*(?:-[a-z0-9]{1,10})*")

# --- Keys whose letters are known around a mark in their midst -------------------------------

_AZURE: Final = re.compile(rb"(?<![\w~.-])[\w~.-]{3}(?:7|8)Q~[\w~.-]{31,34}(?![\w~.-])")
_TELEGRAM: Final = re.compile(rb"\d{8,10}:AA[\w-]{32,34}(?![\w-])")
_WEBHOOK: Final = re.compile(
    rb"webhook(?:s/[0-9]{15,20}/|\.office\.com/webhookb2/)([\w@./-]{16,512})", re.IGNORECASE
)
_PASETO: Final = re.compile(rb"v[1-4]\.(?:local|public)\.[\w-]{32,}+(?:\.[\w-]*+)?")


def look_at_azure(text: Text, at: int) -> Iterator[Span]:
    """A client secret of Entra ID: `8Q~` in its fourth place."""
    found = _AZURE.match(text.raw, at - 3) if at >= 3 else None
    if found:
        yield Span(found.start(), found.end(), "cloud-key")


def look_at_telegram(text: Text, at: int) -> Iterator[Span]:
    """A bot's token: its number, a colon, `AA…`."""
    back = _DIGITS.match(text.raw[max(0, at - 10) : at][::-1])
    found = _TELEGRAM.match(text.raw, at - back.end()) if back else None
    if found:
        yield Span(found.start(), found.end(), "cloud-key")


_DIGITS: Final = re.compile(rb"\d{8,10}")


def look_at_webhook(text: Text, at: int) -> Iterator[Span]:
    """The path of a webhook of Discord or Teams: who knows it may post."""
    found = _WEBHOOK.match(text.raw, at)
    if found:
        yield Span(found.start(1), found.end(1), "cloud-key")


def look_at_paseto(text: Text, at: int) -> Iterator[Span]:
    """A PASETO, which is what a JWT is."""
    found = _PASETO.match(text.raw, at)
    if found:
        yield Span(found.start(), found.end(), "jwt")


# --- Hashes of passwords ---------------------------------------------------------------------

_CRYPT: Final = re.compile(
    rb"\$(?:2[abxy]?\$\d\d\$[./A-Za-z0-9]{53}"
    rb"|(?:apr1|[156]|y|gy|7)\$(?:rounds=\d+\$)?[./A-Za-z0-9$]{20,200}"
    rb"|(?:argon2(?:id?|d)|scrypt|pbkdf2[\w-]{0,16})\$[\w$=,+./-]{20,300})"
)

CRYPT_NEEDLES: Final = (
    b"$2a$", b"$2b$", b"$2x$", b"$2y$", b"$apr1$", b"$1$", b"$5$", b"$6$", b"$y$", b"$argon2",
    b"$scrypt$", b"$pbkdf2",
)  # fmt: skip


def look_at_crypt(text: Text, at: int) -> Iterator[Span]:
    """A hash as `htpasswd`, `/etc/shadow` and frameworks keep it: a weak password is soon found."""
    found = _CRYPT.match(text.raw, at)
    if found:
        yield Span(at, found.end(), "password-hash")


PREFIX_RULES: Final[tuple[Rule, ...]] = (
    *(_key_rule(*shape) for shape in KEY_SHAPES),
    Rule(b"8q~", look_at_azure),
    Rule(b"7q~", look_at_azure),
    Rule(b":aa", look_at_telegram),
    Rule(b"webhook", look_at_webhook),
    *(
        Rule(b"v%d.%b." % (version, kind), look_at_paseto)
        for version in (1, 2, 3, 4)
        for kind in (b"local", b"public")
    ),
    *(Rule(needle, look_at_crypt) for needle in CRYPT_NEEDLES),
)
