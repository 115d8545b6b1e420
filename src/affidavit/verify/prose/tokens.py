"""A sentence as atoms: quotations, moments, durations, numbers with units, names and words.

Linear in the text: every pattern is a plain alternation of bounded runs. What an atom means is for
others; here it only gets its kind, its place and its comparable form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Final

from affidavit.verify.prose import chinese
from affidavit.verify.prose.atoms import Kind, Token
from affidavit.verify.prose.halving import halve
from affidavit.verify.prose.lexicon import (
    NUMBERS,
    ORDINALS,
    SCALES,
    Role,
    alike,
    role_of,
)
from affidavit.verify.prose.neutral import NEUTRAL
from affidavit.verify.prose.phrases import mark_phrases
from affidavit.verify.statements.moments import find_moments
from affidavit.verify.statements.units import UNITS, Stated, read_duration, unit_of
from affidavit.verify.statements.words import stem

__all__ = ["Kind", "Token", "tokenize"]

_QUOTE: Final = re.compile(
    r"\"(?P<a>[^\"]{1,600})\"|“(?P<b>[^”]{1,600})”|`(?P<c>[^`]{1,600})`|「(?P<d>[^」]{1,600})」"
    r"|(?<![^\s(\[])'(?P<e>[^'\n]{1,200})'(?!\w)"
)
_DURATION: Final = re.compile(
    r"(?<![\w.])\d{1,6}(?:\.\d{1,6})? ?(?:d|days?|天|h|hrs?|hours?|个?小时|m|min|mins?|minutes?|分钟?)"
    r" ?(?:and )?\d{1,4}(?:\.\d{1,6})? ?"
    r"(?:h|hrs?|hours?|个?小时|m|min|mins?|minutes?|分钟?|s|secs?|seconds?|秒)"
    r"(?: ?(?:and )?\d{1,4}(?:\.\d{1,6})? ?(?:s|secs?|seconds?|秒))?(?![A-Za-z0-9])"
)
_CHUNK: Final = re.compile(
    r"[\u3400-\u9fff]+|[，。；：、（）！？《》—–…]|[^\s\u3400-\u9fff，。；：、（）！？《》—–…\0]+"
)
_EDGE: Final = "()[]{}<>'\".,;:!?*"
_PLAIN: Final = re.compile(
    r"(?P<sign>[~≈<>≥≤]?=?)(?P<num>[+-]?(?:\d{1,3}(?:,\d{3})+|\d{1,20})(?:\.\d{1,12})?)"
    r"(?P<unit>%|‰|x|×|/s|/sec|/min|/h|[A-Za-zµ]{1,6}(?:/s|/min|/h)?)?"
)
_WORDLIKE: Final = re.compile(r"[A-Za-z]+(?:['’][A-Za-z]{1,3})?")
_HYPHENED: Final = re.compile(r"[A-Za-z]+(?:-[A-Za-z]+){1,3}")
_ORDINAL: Final = re.compile(r"(\d{1,3})(?:st|nd|rd|th)")
_WORD_UNITS: Final = frozenset(
    "ms s sec secs second seconds min mins minute minutes h hour hours day days week weeks millisecond "
    "milliseconds byte bytes KB KiB MB MiB GB GiB TB TiB kB percent cores rps qps bps kbps Mbps Gbps Mbit/s Gbit/s Pa hPa kPa mbar bar psi Hz kHz MHz GHz kW mV kV mA "
    "dBm °C °F".split()
)


def tokenize(text: str) -> tuple[Token, ...]:
    """The atoms of a sentence, in order."""
    found: list[Token] = []
    masked = _take_quotes(text, found)
    for moment in find_moments(masked):
        if _is_in_name(masked, moment.start, moment.end):
            continue
        found.append(Token(Kind.MOMENT, moment.text, moment.start, moment.end, moment=moment))
    masked = _mask(masked, found)
    masked = _take_durations(masked, found)
    found.extend(_chunks(masked))
    found = [_doer(token) for token in found] if chinese.CJK.search(text) else found
    found.sort(key=lambda token: token.start)
    return mark_phrases(_rated(_scaled(_united(list(halve(found))))))


def _doer(token: Token) -> Token:
    """In a Chinese sentence an English "recorder" is a name, and not the record that it makes."""
    if token.role is not Role.FREE or not chinese.is_doer(token.text.casefold()):
        return token
    return replace(token, role=Role.CONTENT, stems=frozenset({token.text.casefold()}))


def _mask(text: str, found: list[Token]) -> str:
    signs = list(text)
    for token in found:
        signs[token.start : token.end] = "\0" * (token.end - token.start)
    return "".join(signs)


def _is_in_name(text: str, start: int, end: int) -> bool:
    """Whether a date is a part of a file's or an object's name: `orders_2031-06-29_07.csv`."""
    return text[max(0, start - 1) : start] == "_" or text[end : end + 1] == "_"


def _take_quotes(text: str, found: list[Token]) -> str:
    for match in _QUOTE.finditer(text):
        inner = next(part for part in match.groups() if part is not None)
        found.append(Token(Kind.QUOTE, inner, match.start(), match.end()))
    return _mask(text, found)


def _take_durations(text: str, found: list[Token]) -> str:
    taken: list[Token] = []
    for match in _DURATION.finditer(text):
        seconds = read_duration(chinese.to_english(match[0]))
        if seconds is not None:
            taken.append(
                Token(Kind.NUMBER, match[0], match.start(), match.end(),
                      stated=Stated(seconds, "s"))
            )  # fmt: skip
    found.extend(taken)
    return _mask(text, taken)


def _chunks(text: str) -> Iterator[Token]:
    first = True
    for match in _CHUNK.finditer(text):
        chunk, start = match[0], match.start()
        if chinese.CJK.match(chunk):
            yield from _chinese(chunk, start)
        elif len(chunk) == 1 and chunk in "，。；：、（）！？《》—–…":
            yield Token(Kind.SIGN, chunk, start, start + 1)
        else:
            yield from _latin(chunk, start, first=first)
        first = False


def _chinese(run: str, start: int) -> Iterator[Token]:
    for word, place in chinese.cut(run):
        begin, end = start + place, start + place + len(word)
        number = chinese.numeral(word)
        if number is not None:
            stated = Stated(Decimal(number), "%" if word.endswith("成") else "")
            yield Token(Kind.NUMBER, word, begin, end, stated=stated, spelled=True)
        elif word in SCALES or word in UNITS:
            yield Token(Kind.WORD, word, begin, end, Role.FREE, frozenset({word}))
        else:
            role, glosses = chinese.WORDS.get(word, (Role.CONTENT, frozenset()))
            yield Token(Kind.WORD, word, begin, end, role, glosses | {word})


def _latin(chunk: str, start: int, *, first: bool) -> Iterator[Token]:
    lead = len(chunk) - len(chunk.lstrip(_EDGE))
    core = chunk.strip(_EDGE)
    for place in range(lead):
        yield Token(Kind.SIGN, chunk[place], start + place, start + place + 1)
    begin = start + lead
    if core:
        core, tail = _balanced(core, chunk, lead)
        yield from _core(core, begin, first=first)
        for place, sign in enumerate(tail):
            yield Token(Kind.SIGN, sign, begin + len(core) + place, begin + len(core) + place + 1)


def _balanced(core: str, chunk: str, lead: int) -> tuple[str, str]:
    """The core keeps a closing bracket that it opened itself: `pg_terminate_backend(50377)`."""
    tail = chunk[lead + len(core) :]
    while (
        tail and tail[0] in ")]}" and core.count("([{"[")]}".index(tail[0])]) > core.count(tail[0])
    ):
        core, tail = core + tail[0], tail[1:]
    return core, tail


def _core(core: str, start: int, *, first: bool) -> Iterator[Token]:
    end = start + len(core)
    if not any(sign.isalnum() for sign in core):
        yield Token(Kind.SIGN, core, start, end)
        return
    plain = _PLAIN.fullmatch(core)
    if plain and _is_number(plain):
        number = Decimal(plain["num"].replace(",", ""))
        unit = plain["unit"] or ""
        about = plain["sign"] in {"~", "≈"}
        yield Token(Kind.NUMBER, core, start, end, stated=Stated(number, unit, about))
    elif _ORDINAL.fullmatch(core):
        yield Token(Kind.WORD, core, start, end, Role.ORDINAL, frozenset({core}))
    elif _WORDLIKE.fullmatch(core):
        yield _word(core, start, first=first)
    elif _HYPHENED.fullmatch(core) and _all_general(core):
        yield Token(Kind.WORD, core, start, end, Role.FREE, frozenset({core.casefold()}))
    else:
        yield Token(Kind.NAME, core, start, end, Role.CONTENT, _name_stems(core))


def _name_stems(core: str) -> frozenset[str]:
    low = core.casefold()
    return frozenset({low, stem(low)}) if low.isalpha() else frozenset({low})


def _is_number(plain: re.Match[str]) -> bool:
    unit = plain["unit"] or ""
    return not unit or unit in {"x", "×"} or unit_of(unit) is not None


_HYPHENED_ENDS: Final = frozenset(
    "like wide based related level time side only ended up off out in by running known called to term "
    "minute minutes second seconds hour hours day days week weeks month months year years".split()
)


def _all_general(core: str) -> bool:
    """Whether a word with hyphens is an ordinary one ("read-only"), and no name ("sink-a")."""
    first, *rest = core.split("-")
    if first.lower() in NUMBERS and rest[0].lower() in _WORD_UNITS:
        return True
    return (
        core.islower()
        and rest[-1] in _HYPHENED_ENDS
        and all(role_of(stem(part)) is not Role.CONTENT for part in (first, *rest))
    )


def _word(core: str, start: int, *, first: bool) -> Token:
    low, end = core.casefold(), start + len(core)
    fold = low.removesuffix("fold")
    if fold != low and fold in NUMBERS:
        many = Stated(Decimal(NUMBERS[fold]), about=True)
        return Token(Kind.NUMBER, core, start, end, stated=many, spelled=True)
    if low in NUMBERS and low not in {"both"}:
        return Token(
            Kind.NUMBER,
            core,
            start,
            end,
            stated=Stated(Decimal(NUMBERS[low])),
            spelled=True,
        )
    if low in ORDINALS and low != "second":
        return Token(Kind.WORD, core, start, end, Role.ORDINAL, frozenset({low}))
    if _is_name(core, first=first):
        return Token(Kind.NAME, core, start, end, Role.CONTENT, _name_stems(core), proper=True)
    base = stem(core)
    proper = core[0].isupper() and not first and len(core) > 1
    role = role_of(base)
    if role is Role.CONTENT and low in NEUTRAL:
        role = Role.FREE
    if proper and role is Role.FREE and core not in _PLAIN_CAPS:
        role = Role.CONTENT
    return Token(Kind.WORD, core, start, end, role, alike(base), proper=proper)


def _is_name(core: str, *, first: bool) -> bool:
    """A word with a capital beyond its first letter names something."""
    if len(core) == 1:
        return False
    inner = core.split("'", maxsplit=1)[0][1:]
    return inner != inner.lower() and not (
        core.isupper() and len(core) <= 4 and core in _PLAIN_CAPS
    )


_PLAIN_CAPS: Final = frozenset("UTC GMT OK ID IDS NOT AND A I".split())


def _united(found: list[Token]) -> Iterator[Token]:
    """Joins a number with the unit word after it: `29 seconds`, `5 per second`, `30 分钟`."""
    place = 0
    while place < len(found):
        token = found[place]
        after = found[place + 1] if place + 1 < len(found) else None
        if (
            token.kind is Kind.NUMBER and token.stated is not None and not token.stated.unit
            and after is not None and after.kind in {Kind.WORD, Kind.NAME}
            and after.start - token.end <= 1
            and _unit_word(after.text)
        ):  # fmt: skip
            yield Token(
                Kind.NUMBER, f"{token.text} {after.text}", token.start, after.end,
                stated=Stated(token.stated.number, after.text, token.stated.about),
                spelled=token.spelled,
            )  # fmt: skip
            place += 2
            continue
        yield token
        place += 1


_PER: Final = {"second": "/s", "minute": "/min", "hour": "/h", "sec": "/s"}


def _rated(tokens: Iterator[Token]) -> Iterator[Token]:
    """Joins a number with its "per second": a rate, or of bytes a flow."""
    held = list(tokens)
    place = 0
    while place < len(held):
        token = held[place]
        behind = [item.text.casefold() for item in held[place + 1 : place + 3]]
        per = _PER.get(behind[1], "") if len(behind) == 2 and behind[0] in {"per", "a"} else ""
        if token.kind is Kind.NUMBER and token.stated is not None and per and behind[0] == "per":
            unit = token.stated.unit
            known = unit_of(unit) if unit else None
            if not unit or (known is not None and known.dimension == "bytes"):
                rate = f"{'B' if unit in {'bytes', 'byte'} else unit}{per}"
                yield replace(
                    token, text=f"{token.text} per {behind[1]}", end=held[place + 2].end,
                    stated=Stated(token.stated.number, rate, token.stated.about),
                )  # fmt: skip
                place += 3
                continue
        yield token
        place += 1


def _unit_word(text: str) -> bool:
    return text in _WORD_UNITS or (unit_of(text) is not None and not text.isascii())


def _scaled(tokens: Iterator[Token]) -> Iterator[Token]:
    """Joins a number with its scale: `40 million`, `3 万`."""
    held: Token | None = None
    for token in tokens:
        if (
            held is not None and held.stated is not None and token.text.lower() in SCALES
            and not held.stated.unit
        ):  # fmt: skip
            number = scale(held.stated.number, SCALES[token.text.lower()])
            yield Token(
                Kind.NUMBER, f"{held.text} {token.text}", held.start, token.end,
                stated=Stated(number, "", held.stated.about), spelled=held.spelled,
            )  # fmt: skip
            held = None
            continue
        if held is not None:
            yield held
        held = token if token.kind is Kind.NUMBER else None
        if held is None:
            yield token
    if held is not None:
        yield held


def scale(number: Decimal, by: int) -> Decimal:
    """A number times a power of ten, with its last place scaled alike: 41.2 million is no 41200000."""
    return number.scaleb(len(str(by)) - 1)
