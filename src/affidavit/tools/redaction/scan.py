"""One text: a fast search for needles, then a close look at what it hits (T7).

Most of a log holds no needle at all, and `bytes.find` passes over it at more than a gigabyte a
second; a dozen regular expressions over every byte would cost a hundred times that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from affidavit.tools.redaction.assigned import ASSIGNED_RULES
from affidavit.tools.redaction.kubernetes import find_json_secrets, find_yaml_secrets
from affidavit.tools.redaction.marks import Span
from affidavit.tools.redaction.shapes import SHAPE_RULES, Rule, Text, find_cards

RULES: Final = (*ASSIGNED_RULES, *SHAPE_RULES)
"""Everything that is looked for, but for cards and Secrets, which have no needle."""


@dataclass(frozen=True, slots=True)
class Gate:
    """One pass over a text that says whether any of some needles can be there.

    The pattern begins with a letter that is rare in logs, so that the search runs at the speed of
    `memchr` and looks around only where that letter stands.
    """

    pattern: re.Pattern[bytes]
    needles: tuple[bytes, ...]


def _gate(pattern: bytes, needles: bytes) -> Gate:
    return Gate(re.compile(pattern), tuple(needles.split()))


GATES: Final[tuple[Gate, ...]] = (
    _gate(rb"w(?:(?<=passw)|(?<=pw)d)", b"passw pwd"),
    _gate(
        rb"k(?:ey|(?<=tok)en|(?<=cook)ie|(?<=sk)(?:-|_live_|_test_)|(?<=rk)_live_|ia(?<=akia))",
        b"key token cookie sk- sk_live_ sk_test_ rk_live_ akia age-secret-key-1",
    ),
    _gate(rb"cre[td]", b"secret cred"),
    _gate(
        rb"h(?:(?<=passph)|(?<=auth)[\"o]|(?<=_auth)|(?<=gh)[posu]_|f_|vs\.|(?<=wh)sec_|ooks\.sl"
        rb"|(?<=gith)ub_pat_)",
        b'passphrase authorization auth" _auth ghp_ gho_ ghs_ ghu_ hf_ hvs. whsec_'
        b" hooks.slack.com/services/ github_pat_",
    ),
    _gate(rb"b(?:earer|asic|egin(?<=-----begin))", b"bearer basic -----begin"),
    _gate(rb"sess(?:id|ion[_-]?id)", b"sessid sessionid session_id session-id"),
    _gate(rb"passc", b"passcode"),
    _gate(rb"g(?:(?<=sig)(?:=|nature=)|lpat-|(?<=sg)\.)", b"sig= signature= glpat- sg."),
    _gate(rb"@", b"@ @tcp( @unix("),
    _gate(rb"%40", b"%40"),
    _gate(rb":\\?/\\?/", rb":// :\/\/"),
    _gate(rb"j(?<=eyj)", b"eyj"),
    _gate(rb"-----end", b"-----end"),
    _gate(rb"ls0tls1", b"ls0tls1crudjti"),
    _gate(rb"za(?<=aiza)", b"aiza"),
    _gate(rb"asia", b"asia"),
    _gate(rb"x(?:ox[abp]-|app-)", b"xoxb- xoxp- xoxa- xapp-"),
    _gate(rb"y(?:(?<=py)pi-age|a29\.)", b"pypi-age ya29."),
    _gate(rb"_v1_", b"dop_v1_"),
    _gate(rb"m_(?<=npm_)", b"npm_"),
)

_RULES_OF: Final = {
    gate: tuple(rule for rule in RULES if rule.needle in gate.needles) for gate in GATES
}


def live_rules(low: bytes) -> tuple[Rule, ...]:
    """The rules whose needle is in a text (in lower case): all that any part of it may need.

    JSON may write a slash as `\\/`; its needles count as there when that is.
    """
    slashes = b"\\/" in low
    return tuple(
        rule
        for gate, rules in _RULES_OF.items()
        if gate.pattern.search(low)
        for rule in rules
        if rule.needle in low or (slashes and b"/" in rule.needle)
    )


def find_spans(raw: bytes, rules: tuple[Rule, ...] = RULES) -> list[Span]:
    """Every secret of a text by the rules given; overlaps are left in."""
    low = raw.lower()
    there = [rule for rule in rules if rule.needle in low]
    may_be_secret = b"kind" in low or b"apiversion" in low
    if not there and not may_be_secret:  # most texts in a document
        return list(find_cards(raw))
    text = Text(raw, low)
    spans = [span for rule in there for span in _hits(text, rule)]
    spans += find_cards(raw)
    if may_be_secret:
        spans += find_yaml_secrets(text)
        spans += find_json_secrets(text)
    return [span for span in spans if span.end > span.start]


def _hits(text: Text, rule: Rule) -> Iterator[Span]:
    at = text.low.find(rule.needle)
    while at >= 0:
        done = at + len(rule.needle)
        for span in rule.look(text, at):
            done = max(done, span.end)
            yield span
        at = text.low.find(rule.needle, done)
