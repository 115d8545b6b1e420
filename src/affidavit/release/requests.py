"""What the agent asks for, as far as it may be shown: bounded, and stripped of causes (C7; pure).

The only words of a draft that a fallback ever shows, under the heading "the agent asks for". An
item that claims a cause, in English or Chinese, names an address, or hides a letter behind a
look-alike is dropped whole; nothing is rewritten.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from affidavit.progress.wording import plain
from affidavit.verify.prose.lexicon import CAUSED_BY

REQUESTS_MAX: Final = 5
"""A person answers a handful of questions; a longer list is a report in disguise."""

REQUEST_CHARS_MAX: Final = 200
"""One thing that is missing fits two lines; a longer text argues."""

_ENGLISH: Final = (
    r"becaus\w*|caus\w+|cuz|root[\s_-]*caus\w*|culprits?|"
    r"responsibl\w+|to\s+blame|blam(?:e[sd]?|ing)|at\s+fault|fault\s+of|led\s+to|lead(?:s|ing)?\s+to|"
    r"result(?:s|ed|ing)?\s+(?:in|from|of)|as\s+a\s+(?:result|consequence)|consequen\w+|"
    r"trigger\w*|stem(?:s|med|ming)?\s+from|originat\w+|aris(?:e|es|ing)\s+from|arose\s+from|"
    r"therefore|thus|hence|is\s+why|thats\s+why|explain\w*|reasons?\s+(?:for|is|was|that|why)|"
    r"attribut(?:ed|able)\s+to|traced?\s+(?:back\s+)?to|br(?:ings?|ought)\s+(?:it\s+|\w+\s+)?down|"
    r"t(?:akes?|ook|aking)\s+(?:it\s+|\w+\s+)?down|knock(?:s|ed)\s+(?:it\s+|\w+\s+)?(?:out|over|down)|"
    r"provok\w+|induc(?:ed|es|ing)|g(?:ives?|ave|iving)\s+rise|driven\s+by|"
    r"(?:is|was|lies?|lay)\s+behind|(?:source|origin)\s+of\s+the|"
    r"(?:problem|issue|failure|incident|outage|fault|error)\s+(?:is|was|lies|lay|comes|came|starts?|"
    r"started)\b"
)
"""Marks by which English says that one thing made another; general words, no product, no fault."""

_CHINESE: Final = (
    "因为|由于|导致|引起|引发|造成|致使|触发|诱发|根因|起因|成因|肇因|病因|原因|根源|源于|源自|缘于|"
    "归因|归咎|归结|元凶|罪魁|祸首|所致|以致|使得|从而|因此|因而|所以|故而|是因|拖垮|拖累|压垮|"
    "问题出在|问题在于|故障在于|故障点|因為|由於|導致|觸發|誘發|造成|歸因|歸咎|根源"
)
"""The same for Chinese, simplified and traditional."""

_SHARED: Final = "|".join(re.escape(marker).replace(r"\ ", r"\s+") for marker in CAUSED_BY)
"""The markers by which the support check too finds a cause in a sentence."""

_CAUSAL: Final = re.compile(rf"\b(?:{_SHARED}|{_ENGLISH})|(?:{_CHINESE})", re.IGNORECASE)

_ADDRESS: Final = re.compile(r"\w+://|\bwww\.|\]\(|<[a-z/!]", re.IGNORECASE)
"""A link or markup: nothing recorded vouches for where it leads (R14)."""

_ARROW: Final = re.compile(r"[-=~]+>|[→⇒⟶⟹➔➜➡]")
"""An arrow is a cause in disguise."""


@dataclass(frozen=True, slots=True)
class Requests:
    """The items that may be shown, and how many may not."""

    items: tuple[str, ...]
    dropped: int = 0


NO_REQUESTS: Final = Requests(())


def admit_requests(missing_info: Iterable[str]) -> Requests:
    """What may be shown of a draft's `missing_info`: at most five items of 200 characters."""
    written = tuple(dict.fromkeys(text for item in missing_info if (text := plain(item))))
    shown = tuple(text for text in written if _may_be_shown(text))[:REQUESTS_MAX]
    return Requests(shown, len(written) - len(shown))


def claims_cause(text: str) -> bool:
    """Whether a text says, or nearly says, that one thing made another happen."""
    folded = unicodedata.normalize("NFKC", plain(text)).replace("'", "").replace("’", "")
    return bool(_CAUSAL.search(folded) or _ARROW.search(folded))


def _may_be_shown(text: str) -> bool:
    short = len(text) <= REQUEST_CHARS_MAX
    return short and not (claims_cause(text) or _ADDRESS.search(text) or _mixes_alphabets(text))


def _mixes_alphabets(text: str) -> bool:
    """Whether one word holds letters of two alphabets, such as a Cyrillic о in an English word."""
    return any(
        len({alphabet for char in word if (alphabet := _alphabet(char))}) > 1
        for word in re.findall(r"\w+", text)
    )


def _alphabet(char: str) -> str | None:
    """Latin, Greek or Cyrillic; None for everything else, Chinese among it."""
    if not char.isalpha():
        return None
    alphabet = unicodedata.name(char, "").partition(" ")[0]
    return alphabet if alphabet in {"LATIN", "GREEK", "CYRILLIC"} else None
