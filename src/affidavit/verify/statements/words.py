"""Words, names and their parts: how text is compared here. No language model, no word list.

`stem` folds the common endings of English, so that "failed", "fails" and "failure" meet; it knows
no product and no fault. `parts_of` cuts a technical name (`HTTPCode_ELB_503_Count`, `durationMs`)
into its words. `names_in` gives the tokens of a text that can name a thing, whole and in parts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final

_PART: Final = re.compile(
    r"[pP]\d{2,3}(?![0-9A-Za-z])|[A-Z]{2,}s(?![A-Za-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+"
)
_NAME: Final = re.compile(r"[^\s,;\"'()<>\[\]{}|`“”‘’「」『』，。；：、（）！？《》]+")
_INNER: Final = re.compile(r"[=/:@#?&]+")
_CJK_EDGE: Final = re.compile(r"[\u3400-\u9fff]+|[^\u3400-\u9fff]+")

_IRREGULAR: Final[Mapping[str, str]] = MappingProxyType(
    {
        "rose": "rise", "risen": "rise", "fell": "fall", "fallen": "fall", "grew": "grow",
        "grown": "grow", "went": "go", "gone": "go", "goes": "go", "took": "take",
        "taken": "take", "gave": "give", "given": "give", "began": "begin", "begun": "begin",
        "ran": "run", "running": "run", "lost": "lose", "held": "hold", "sent": "send",
        "kept": "keep", "left": "leave", "said": "say", "shown": "show", "written": "write",
        "wrote": "write", "broke": "break", "broken": "break", "hung": "hang", "stood": "stand",
        "came": "come", "found": "find", "made": "make", "saw": "see", "seen": "see",
        "drew": "draw", "froze": "freeze", "frozen": "freeze", "spent": "spend", "met": "meet",
        "lay": "lie", "lying": "lie", "died": "die", "dying": "die", "dies": "die", "dead": "die",
        "bound": "bind", "built": "build", "caught": "catch", "chosen": "choose", "sat": "sit",
        "thrown": "throw", "threw": "throw", "woken": "wake", "knew": "know", "known": "know",
        "does": "do", "did": "do", "done": "do", "has": "have", "had": "have", "was": "be",
        "were": "be", "is": "be", "are": "be", "been": "be", "failure": "fail", "failures": "fail",
        "expiry": "expire", "expiration": "expire", "expires": "expire", "timeouts": "timeout",
        "queries": "query", "entries": "entry", "retries": "retry", "retried": "retry",
        "series": "series", "status": "status", "process": "process", "processes": "process",
        "access": "access", "address": "address", "addresses": "address", "bus": "bus",
        "dns": "dns", "tls": "tls", "https": "https", "ms": "ms", "s": "s", "us": "us",
        "indices": "index", "indexes": "index", "leaves": "leave", "caches": "cache",
        "killed": "kill", "killing": "kill", "kills": "kill", "less": "less", "lag": "lag",
        "lagged": "lag", "lagging": "lag", "dropped": "drop", "dropping": "drop",
        "stopped": "stop", "stopping": "stop", "spiked": "spike", "peaked": "peak",
        "vcpu": "cpu", "vcpus": "cpu", "higher": "high", "highest": "high", "lower": "low", "lowest": "low", "used": "use", "uses": "use", "using": "use",
    }
)  # fmt: skip
"""Forms whose ending tells nothing; general English only."""

_WHOLE: Final = frozenset({"note", "none"})
"""Words that would be another without their final e."""

_ENDINGS: Final = (
    ("ations", ""), ("ation", ""), ("ities", "y"), ("ility", "le"), ("ments", ""), ("ment", ""),
    ("ingly", ""), ("edly", ""), ("ies", "y"), ("ied", "y"), ("sses", "ss"), ("xes", "x"),
    ("ches", "ch"), ("shes", "sh"), ("ions", ""), ("ion", ""), ("ings", ""), ("ing", ""),
    ("ers", ""), ("ness", ""), ("ed", ""), ("ly", ""), ("es", "e"), ("er", ""), ("s", ""),
)  # fmt: skip

STEM_CHARS_MIN: Final = 3
"""A stem shorter than this is no longer the word."""


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The stem of a word: lower case, common endings folded, a final e or doubled letter dropped."""
    low = word.casefold().removesuffix("'s").removesuffix("’s")
    low = _IRREGULAR.get(low, low)
    if low in _APART:
        return low
    if not low.isascii() or not low.isalpha() or len(low) <= STEM_CHARS_MIN:
        return low
    for ending, instead in _ENDINGS:
        if low.endswith(ending) and not (ending == "s" and low[-2:] in {"ss", "us", "is"}):
            cut = low[: -len(ending)] + instead
            if len(cut) >= STEM_CHARS_MIN and any(letter in "aeiouy" for letter in cut):
                low = cut
                break
    low = _IRREGULAR.get(low, low)
    if len(low) > STEM_CHARS_MIN and low.endswith("e") and low not in _WHOLE:
        low = low[:-1]
    if len(low) > STEM_CHARS_MIN and low[-1] == low[-2] and low[-1] not in "aeiouls":
        low = low[:-1]
    return low


_APART: Final = frozenset({"timed"})
"""Forms that tell what their stem does not: what timed out, and the time."""


@lru_cache(maxsize=65_536)
def parts_of(name: str) -> tuple[str, ...]:
    """The words of a technical name in order, lower case: camel case, snakes, dots and digits cut."""
    return tuple(part.casefold() for part in _PART.findall(name))


@lru_cache(maxsize=65_536)
def stems_of(text: str) -> frozenset[str]:
    """The stems of all words of a text, names cut into their parts."""
    return frozenset(stem(part) for part in parts_of(text))


def _trim(token: str) -> str:
    return token.strip(".:!?*-=~%").casefold()


@lru_cache(maxsize=65_536)
def names_in(text: str) -> frozenset[str]:
    """Every token of a text that can name a thing, whole and cut at = / : @ # ? &, lower case."""
    found: set[str] = set()
    for token in _NAME.findall(text):
        for piece in _CJK_EDGE.findall(token):
            whole = _trim(piece)
            if whole:
                found.add(whole)
            inner = _INNER.split(piece)
            if len(inner) > 1:
                found.update(part for part in map(_trim, inner) if part)
    return frozenset(found)


def is_within(name: str, other: str) -> bool:
    """Whether one name is another's owner or prefix at a joint: `web` of `web-6c9f`, `a` of `a/b`."""
    return len(other) > len(name) and other.startswith(name) and not other[len(name)].isalnum()
