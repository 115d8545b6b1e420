"""Words that tie others together and have an opposite: does the record say the opposite?

"before the restart" against a record that says "after the restart"; "maximum" against a record that
knows a minimum alone. Only ordinary words; what has to be found in evidence is found elsewhere.
"""

from __future__ import annotations

from typing import Final

from affidavit.verify.prose.binding import Binding
from affidavit.verify.prose.clauses import Clause
from affidavit.verify.prose.desk import TOLD
from affidavit.verify.prose.lexicon import Role
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.statements.records import RecordView
from affidavit.verify.statements.words import parts_of, stem


def _pairs(text: str) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for line in text.strip().split("|"):
        left, right = (frozenset(map(stem, side.split())) for side in line.split("~"))
        found.update(dict.fromkeys(left, right))
        found.update(dict.fromkeys(right, left))
    return found


_TYING: Final = _pairs("before ~ after|above ~ below|with ~ without|inside ~ outside|over ~ under")
"""Said of the word behind them."""
_TELLING: Final = _pairs(
    "max maximum ~ min minimum|accept accepts accepted ~ reject rejected refuse refused deny denied|"
    "open opens opened opening ~ close closes closed closing|include included ~ exclude excluded|"
    "true ~ false|start starts started starting ~ stop stops stopped stopping|allow allowed ~ deny "
    "denied|enable enabled ~ disable disabled|read reads ~ write writes written|up ~ down|"
    "first ~ last|earliest ~ latest"
)
"""Said of the whole record."""
_OWN: Final = frozenset(map(stem, "up first last read earliest latest".split()))
"""Words that do other things too: these count only where the record has the same word beside it."""


def turned(clause: Clause, bindings: list[Binding]) -> str:
    """The word of the clause whose opposite its records say, and not itself; or nothing."""
    said = [token.text.casefold() for token in clause.tokens]
    words = {stem(word) for word in said if word.isascii()}
    for place, token in enumerate(clause.tokens):
        base = _base(token)
        other = _TELLING.get(base) or _TYING.get(base)
        if other is None or other & words:
            continue
        beside = _beside(clause, place) if base in _TYING or base in _OWN else frozenset[str]()
        if (base in _TYING or base in _OWN) and not beside:
            continue
        if _opposed(bindings, base, other, beside):
            return token.text
    return ""


def _base(token: Token) -> str:
    if token.kind is not Kind.WORD or (token.role is Role.FREE and token.text == "close"):
        return ""
    return stem(token.text) if token.text.isascii() else _CHINESE.get(token.text, "")


_CHINESE: Final = {
    "最早": "first", "首次": "first", "第一次": "first", "最先": "first", "最近": "last",
    "最后": "last", "最近一次": "last", "上次": "last", "最后一次": "last",
}  # fmt: skip
_MEASURES: Final = frozenset("the a its 一 次 的 一次 条 个".split())


def _beside(clause: Clause, place: int) -> frozenset[str]:
    """The word right behind, "the" and its like left out."""
    for token in clause.tokens[place + 1 : place + 5]:
        if (token.kind is Kind.NUMBER and token.spelled) or token.text.casefold() in _MEASURES:
            continue
        if token.kind not in {Kind.WORD, Kind.NAME}:
            break
        if not token.text.isascii():
            return token.stems
        return frozenset({stem(token.text)}) if token.text.isalpha() else frozenset()
    return frozenset()


def _opposed(
    bindings: list[Binding], base: str, other: frozenset[str], beside: frozenset[str]
) -> bool:
    """Whether some record says the opposite, and none says the word itself."""
    seen = False
    for binding in bindings:
        if binding.call.id == TOLD:
            continue
        for record in binding.records():
            if base in record.stems:
                return False
            seen = seen or _says(record, other, beside)
    return seen


def _says(record: RecordView, words: frozenset[str], beside: frozenset[str]) -> bool:
    if not words & record.stems:
        return False
    if not beside:
        return bool(words & record.claimed)
    parts = [stem(part) for part in parts_of(record.text)]
    return any(
        part in words and beside & frozenset(parts[place + 1 : place + 3])
        for place, part in enumerate(parts)
    )
