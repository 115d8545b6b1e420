"""Which part of a table a word means: rows by what stands in a cell, a column by its name.

A word may mean several things ("queued" is a state of one column and the name of another); every
reading is offered, the fuller one first, and the whole sentence decides which of them holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import Final

from affidavit.verify.prose.clauses import OTHERS, Clause
from affidavit.verify.prose.desk import Desk
from affidavit.verify.prose.figures import figures_of
from affidavit.verify.prose.lexicon import EVERY, FUNCTION, VAGUE, Role
from affidavit.verify.prose.nouns import KINDS, claims, is_label
from affidavit.verify.prose.numbering import IDENTITY_DIGITS_MIN, names_thing
from affidavit.verify.prose.relating import operates, relation_of
from affidavit.verify.prose.tables import TEXT_WORDS_MAX, Cell, Table
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.statements.select import kin, statistics_in
from affidavit.verify.statements.units import unit_of
from affidavit.verify.statements.words import is_within, parts_of, stem, stems_of


class Means(StrEnum):
    """What a token may mean in a table."""

    TIES = "TIES"
    NUMBER = "NUMBER"
    MOMENT = "MOMENT"
    ROWS = "ROWS"
    COLUMN = "COLUMN"
    DENIES = "DENIES"
    ALL = "ALL"
    OTHERS = "OTHERS"
    SUMS = "SUMS"
    ONLY = "ONLY"


@dataclass(frozen=True, slots=True)
class Meaning:
    """One reading of a token: the rows that it picks under a column, or the columns that it names.

    `must` says that a named column has to be one that the sentence gives something of.
    """

    means: Means
    columns: frozenset[str] = frozenset()
    rows: frozenset[int] = frozenset()
    must: bool = False


TIES: Final = Meaning(Means.TIES)
_ALL: Final = frozenset(
    "both all each every 都 均 各 全部 所有 每 每个 两者 各自 均为 都是 均处于 都处于 分别".split()
)
_ONLY: Final = frozenset("only 只 仅 只有 仅有".split())
_NEGATORS: Final = frozenset("not no non never un without none nor fail failed".split())
_SEPARATORS: Final = re.compile(r"[,;|\s()\[\]]+")
_QUANTILE: Final = re.compile(r"p(\d{2,3})")
SUMMING: Final = frozenset(
    "total sum together altogether combined 合计 共 总共 一共 共计 总".split()
)


def meanings(
    desk: Desk, table: Table, tokens: tuple[Token, ...], place: int
) -> tuple[Meaning, ...]:
    """What a token may mean in a table, the fullest reading first; none where it means nothing."""
    token = tokens[place]
    low = token.text.casefold()
    if token.kind is Kind.SIGN:
        return (TIES,)
    if token.kind is Kind.MOMENT:
        return (Meaning(Means.MOMENT),)
    if place in relating_words(tokens):
        return (TIES,)
    if low in OTHERS:
        return (Meaning(Means.OTHERS),)
    if low in _ONLY:
        return (Meaning(Means.ONLY),)
    if low in _ALL:
        return (Meaning(Means.ALL),)
    if token.kind is Kind.WORD and token.role in {Role.NEGATION, Role.NONE}:
        return (Meaning(Means.DENIES),)
    if token.kind is Kind.NUMBER and not names_thing(tokens, place):
        return (*_numbered(table, token), Meaning(Means.NUMBER))
    if token.kind is Kind.WORD and _is_statistic(token):
        return _statistic(table, token)
    if token.kind is Kind.WORD and (stem(low) in FUNCTION or token.role is Role.FREE):
        return _free(table, token)
    return _content(desk, table, tokens, place)


@lru_cache(maxsize=256)
def relating_words(tokens: tuple[Token, ...]) -> frozenset[int]:
    """The places of the words that compare a number, and of those that look from one moment on.

    The number is compared so itself ("at most 655"), and the span is measured ("6 seconds after").
    """
    found: set[int] = set()
    for figure in figures_of(Clause(tokens)):
        operator, words = relation_of(figure)
        if operator in COMPARED:
            found |= words
        behind = tokens[figure.place + 1 : figure.place + 2]
        unit = unit_of(figure.stated.unit) if figure.stated.unit else None
        if unit is not None and unit.dimension == "time" and behind:
            if behind[0].text.casefold() in {"after", "before"}:
                found.add(figure.place + 1)
    return frozenset(found)


COMPARED: Final = frozenset({"<", "<=", ">", ">="})


def _free(table: Table, token: Token) -> tuple[Meaning, ...]:
    """An ordinary word ties, unless it is what a cell holds; one that relates two things is neither."""
    low = token.text.casefold()
    if operates(token) or low in VAGUE | _TELLING or stem(low) in EVERY:
        return tuple(_picked(table, token)) if low in _STATES else ()
    if stem(low) in FUNCTION or not low.isascii():
        return (TIES,)
    found = tuple(_picked(table, token))
    return (*found, TIES)


_STATES: Final = frozenset("up down off out open new current running".split())
"""Short words that may be a state: then a cell has to hold it."""
_TELLING: Final = _STATES | frozenset(
    "close near full wide back ahead away behind over along again further longer twice once thrice every time times "
    "反复 多次 持续 自动 新 直接 长达 最终 可以 可 能 能够 会 要 需 需要 应 应该 较 比 更 很 非常 十分 相当 极 太 稍 略 "
    "几乎 同一 相同 不同 同样 一样 一致 相符 吻合 又 再 还 才 就 编 副 全程 停留在 卡在 停在".split()
)
"""Words that tie nothing: they say how often, how long, how much, or what is possible."""


def _is_statistic(token: Token) -> bool:
    return bool(statistics_in(frozenset({stem(token.text)})))


def _statistic(table: Table, token: Token) -> tuple[Meaning, ...]:
    """A word such as "average" has to be a column's, a label's, or what was asked for."""
    word = stem(token.text)
    wanted = statistics_in(frozenset({word}))
    columns = frozenset(
        name for name, words in table.words.items() if statistics_in(words) & wanted
    )
    found = [Meaning(Means.COLUMN, columns, must=True)] if columns else []
    found.extend(_picked(table, token))
    if not found and statistics_in(table.call.about_stems) & wanted:
        return (TIES,)
    if token.text.casefold() in SUMMING:
        found.append(Meaning(Means.SUMS))
    return tuple(found)


def _content(
    desk: Desk, table: Table, tokens: tuple[Token, ...], place: int
) -> tuple[Meaning, ...]:
    token = tokens[place]
    if token.kind is Kind.WORD and token.role is not Role.CONTENT:
        return tuple(_picked(table, token))
    found = [*_picked(table, token), *_flagged(table, token)]
    columns = _named(table, token)
    if columns:
        found.append(Meaning(Means.COLUMN, columns, must=not columns & (table.keys | table.same)))
    if found and not (_is_alike_only(table, token) and desk.is_about(table.call, token)):
        return tuple(found)
    if token.kind is Kind.NUMBER:
        asked = token.text in table.call.about_names
        return (TIES,) if asked else (Meaning(Means.NUMBER),)
    if desk.is_about(table.call, token) and not _happens(token):
        return (*found, TIES)
    if token.text.casefold() in {"ended", "ends"} and _leads(tokens, place):
        return (TIES,)
    if found:
        return tuple(found)
    if is_label(tokens, place) or (token.kind is Kind.WORD and token.text.casefold() in KINDS):
        return (TIES,)
    return ()


def _is_alike_only(table: Table, token: Token) -> bool:
    """Whether a word is in the table by its like alone, and not as it is written."""
    own = replace(token, stems=stems_of(token.text))
    return token.kind is Kind.WORD and not _holding(table, own)


def _leads(tokens: tuple[Token, ...], place: int) -> bool:
    """Whether a verb only leads to what follows: "ended in gateway_timeout"."""
    behind = tokens[place + 1 : place + 2]
    return bool(behind) and behind[0].text.casefold() in {"in", "as", "with"}


def _happens(token: Token) -> bool:
    low = token.text.casefold()
    return token.kind is Kind.WORD and (claims(token) or low.endswith(("ed", "ing")))


def _named(table: Table, token: Token) -> frozenset[str]:
    """The columns that a token names; no quotation and no number names one."""
    if token.kind not in {Kind.WORD, Kind.NAME}:
        return frozenset()
    low = token.text.casefold()
    if token.kind is Kind.NAME:
        exact = frozenset(name for name in table.words if name.casefold() == low)
        if exact or not token.text.isalnum():
            return exact
    for words in _words(token):
        found = frozenset(name for name, named in table.words.items() if words & named)
        if found:
            return found
    return frozenset()


def _words(token: Token) -> tuple[frozenset[str], ...]:
    """The stems that a token is written with, and then those that mean the same."""
    own = stems_of(token.text) if token.text.isascii() else token.stems
    return tuple(
        frozenset(other for word in words for other in kin(word)) for words in (own, token.stems)
    )


def _numbered(table: Table, token: Token) -> Iterable[Meaning]:
    """The row that a bare number is the name of."""
    rows = frozenset(
        place
        for place, line in enumerate(table.lines)
        for column in table.keys
        for cell in line.under(column)
        if cell.low == token.text and len(token.text) >= IDENTITY_DIGITS_MIN
    )
    if rows:
        yield Meaning(Means.ROWS, table.keys, rows)


def _flagged(table: Table, token: Token) -> Iterable[Meaning]:
    """The rows of which a column says yes: "busy" of `busy true`."""
    if token.kind is not Kind.WORD:
        return
    for name in _named(table, token):
        yes = table.flags.get(name)
        if yes is not None:
            yield Meaning(Means.ROWS, frozenset({name}), yes)


def _picked(table: Table, token: Token) -> Iterable[Meaning]:
    """The rows in which a cell holds what a token says, under each column that does."""
    own = replace(token, stems=stems_of(token.text)) if token.text.isascii() else token
    alike = not _named(table, own) and token.text.casefold() not in KINDS
    for said in (own, token) if alike else (own,):
        found = _holding(table, said)
        if found:
            rows = frozenset[int]().union(*found.values())
            yield Meaning(Means.ROWS, frozenset(found), rows)
            return


def _holding(table: Table, token: Token) -> dict[str, frozenset[int]]:
    """The rows in which a cell holds a token, by column."""
    key = (token.kind, token.text, token.stems)
    return table.picked(key, lambda cell, tells: holds(cell, token, whole=tells))


def holds(cell: Cell, token: Token, *, whole: bool = False) -> bool:
    """Whether a cell holds a name, a quotation or a word, whole or as one of its items.

    `whole` allows no word out of several: the row is a line of a log.
    """
    low = " ".join(token.text.casefold().split())
    if low == cell.low:
        return True
    if cell.number is not None or token.kind is Kind.NUMBER:
        return _is_quantile(cell, low) or (token.kind is Kind.NUMBER and low in _items(cell))
    if token.kind is Kind.QUOTE:
        return low in " ".join(cell.low.split())
    if token.kind is Kind.NAME:
        return low in _items(cell) or is_within(low, cell.low) or _is_quantile(cell, low)
    return _is_quantile(cell, low) or _is_word_of(cell, token, 1 if whole else TEXT_WORDS_MAX)


def _items(cell: Cell) -> frozenset[str]:
    return frozenset(_SEPARATORS.split(cell.low)) - {""}


def _is_quantile(cell: Cell, low: str) -> bool:
    """p95 is the reading that is labelled `quantile 0.95`, and the median that of 0.5."""
    wanted = statistics_in(frozenset({stem(low)}))
    if wanted and cell.low and wanted == statistics_in(frozenset({stem(cell.low)})):
        return True
    match = _QUANTILE.fullmatch("p50" if low in {"median", "中位数"} else low)
    if match is None or cell.column.casefold() != "quantile":
        return False
    return cell.low == f"0.{match[1]}".rstrip("0")


def _is_word_of(cell: Cell, token: Token, most: int) -> bool:
    words = cell.text.split()
    if not words or len(words) > most:
        return False
    if len(words) == 1 and not all(part.isalpha() and part[1:] for part in parts_of(cell.text)):
        return False
    parts = [stem(part) for part in parts_of(cell.text)]
    said = token.stems | ({stem(token.text)} if token.text.isascii() else frozenset())
    if not parts or set(parts) & _NEGATORS:
        return bool(parts) and len(words) == 1 and parts[0] in said
    if len(words) > 1:
        return bool(said & set(parts))
    return bool(said & {parts[0], parts[-1]})
