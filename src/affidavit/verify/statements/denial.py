"""What a record denies: words behind a "not", fields that are false or zero, names like OutOfSync."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from affidavit.verify.statements.fields import Field
from affidavit.verify.statements.records import RecordView
from affidavit.verify.statements.words import parts_of, stem

_NEGATORS: Final = frozenset(
    "not no never without cannot unable isn wasn doesn didn couldn can't couldn't non none neither "
    "nor insufficient missing lacks lacking".split()
)
FAILING: Final = frozenset(
    stem(word) for word in
    "fail failed error errors refuse refused deny denied reject rejected unable cannot timeout "
    "exceeded expired missing forbidden invalid unknown unavailable unhealthy lost down false none "
    "null disabled stopped killed terminated evicted aborted unreachable mismatch insufficient no "
    "not never without suspended pending waiting empty nil zero".split()
)  # fmt: skip
FAILING_ZH: Final = ("失败", "错误", "拒绝", "异常", "超时", "未", "无", "不", "没")
_COMPOUND_NEGATORS: Final = frozenset("not out no non un fail failed err error without".split())
_WORD: Final = re.compile(r"[A-Za-z']+|\d+|[^\sA-Za-z\d]")
_REACH: Final = 3
_FALSE: Final = frozenset(
    "false f no none null 0 never disabled off - -- n/a <none> <unset> unset [] {}".split()
)


@lru_cache(maxsize=8_192)
def denied_in(text: str) -> frozenset[str]:
    """The stems that stand close behind a negator in a text, or inside a negated name."""
    return _read(text)[0]


@lru_cache(maxsize=8_192)
def _read(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The stems that a text denies somewhere, and those that it says outright somewhere."""
    denied: set[str] = set()
    plain: set[str] = set()
    reach = 0
    for word in _WORD.findall(text):
        low = word.casefold()
        if low in _NEGATORS:
            reach = _REACH
        elif low == "0":
            reach = 1
        elif not low[0].isalnum():
            reach = 0 if low in {".", ";", ",", ":"} else reach
        else:
            (denied if reach else plain).update(map(stem, parts_of(word) or (low,)))
            reach = max(0, reach - 1)
    for name in re.findall(r"[A-Z][a-z]+(?:[A-Z][a-z]+)+", text):
        parts = parts_of(name)
        for place, part in enumerate(parts):
            if part in _COMPOUND_NEGATORS:
                denied.update(stem(other) for other in parts[place + 1 :])
                plain.difference_update(stem(other) for other in parts[place + 1 :])
    return frozenset(denied), frozenset(plain)


def is_false(field: Field) -> bool:
    """Whether a named field is false, zero, or holds nothing."""
    if field.loose:
        return False
    if field.number is None and not field.text.strip():
        return True
    text = field.text.strip().casefold()
    return text in _FALSE or field.number == 0 or _NONE_OF.fullmatch(text) is not None


_NONE_OF: Final = re.compile(r"0/\d{1,6}")
"""None of so many: `READY 0/1`."""


def denies(record: RecordView, stems: frozenset[str]) -> bool:
    """Whether a record holds these stems only in a denial."""
    here = stems & record.stems
    if not here:
        return False
    false_names = frozenset(
        name for field in record.fields if is_false(field) for name in field.names
    )
    true_names = frozenset(
        name for field in record.fields if not is_false(field) and not field.loose
        for name in field.names
    )  # fmt: skip
    denied = denied_in(record.text) | (false_names - true_names)
    if not here <= denied:
        return False
    return not any(_affirmed(record, word) for word in here)


def is_false_field(record: RecordView, stems: frozenset[str]) -> bool:
    """Whether a record holds these stems only as the names of fields that are false, zero or empty."""
    here = stems & record.stems
    false_names = frozenset(
        name for field in record.fields if is_false(field) for name in field.names
    )
    true_names = frozenset(
        name for field in record.fields if not is_false(field) and not field.loose
        for name in field.names
    )  # fmt: skip
    return bool(here) and here <= false_names - true_names


def _affirmed(record: RecordView, word: str) -> bool:
    """Whether the word also stands in the record without a denial.

    A field's name stands there too, so that a false field's is counted and not only looked for.
    """
    denied, outright = _read(record.text)
    if word in denied:
        return word in outright
    plain = sum(1 for part in parts_of(record.text) if stem(part) == word)
    return plain > 1 + sum(1 for part in _NEGATORS if part in record.text.casefold().split())


@lru_cache(maxsize=8_192)
def failed_in(text: str) -> frozenset[str]:
    """The stems that stand within a few words of a word of failure, on either side."""
    near: set[str] = set()
    for piece in _PIECE.split(text):
        words = [word for word in _WORD.findall(piece) if word[0].isalnum()]
        stems = [frozenset({stem(word)}) | frozenset(map(stem, parts_of(word))) for word in words]
        for place, held in enumerate(stems):
            if held & _FAILED:
                reach = stems[max(0, place - FAIL_REACH) : place + FAIL_REACH + 1]
                near |= frozenset().union(*reach)
    return frozenset(near)


_PIECE: Final = re.compile(r" ;|\n|; ")
_FAILED: Final = frozenset(
    stem(word) for word in
    "fail failed error errors refuse refused deny denied reject rejected unable cannot timeout "
    "exceeded expired missing forbidden invalid unavailable aborted unreachable insufficient no not "
    "never without lost".split()
)  # fmt: skip
FAIL_REACH: Final = 4
"""How many words away from "failed" something has failed."""


def fails_near(record: RecordView, word: str) -> bool:
    """Whether a record speaks of a failure close to a word."""
    return word in failed_in(record.text)


def fails(record: RecordView) -> bool:
    """Whether a record denies or reports a failure at all."""
    if record.stems & FAILING or any(sign in record.text for sign in FAILING_ZH):
        return True
    return any(is_false(field) for field in record.fields)
