"""One text: a fast search for needles, then a close look at what it hits (T7).

Most of a log holds no needle at all, and `bytes.find` passes over it at more than a gigabyte a
second; a dozen regular expressions over every byte would cost a hundred times that.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from affidavit.tools.redaction.assigned import ASSIGNED_RULES
from affidavit.tools.redaction.kubernetes import find_json_secrets, find_yaml_secrets
from affidavit.tools.redaction.marks import Span
from affidavit.tools.redaction.shapes import SHAPE_RULES, Rule, Text, find_cards

RULES: Final = (*ASSIGNED_RULES, *SHAPE_RULES)
"""Everything that is looked for, but for cards and Secrets, which have no needle."""

KUBERNETES_NEEDLES: Final = (b"kind", b"apiversion")


def live_rules(low: bytes) -> tuple[Rule, ...]:
    """The rules whose needle is in a text (in lower case): all that any part of it may need."""
    return tuple(rule for rule in RULES if rule.needle in low)


def find_spans(raw: bytes, rules: tuple[Rule, ...] = RULES) -> list[Span]:
    """Every secret of a text by the rules given; overlaps are left in."""
    text = Text(raw, raw.lower())
    spans = [span for rule in rules for span in _hits(text, rule)]
    spans += find_cards(raw)
    if any(needle in text.low for needle in KUBERNETES_NEEDLES):
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
