"""Which words say that things are well, and which records say that they are not (pure).

General words of English and Chinese, no product and no fault. Deliberately narrow: what is no plain
claim ("most", "7 of 8", "should be healthy", "health check") is no claim here, and the prose check
alone looks at it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from affidavit.contract.evidence import Change, Line
from affidavit.verify.statements.records import RecordView
from affidavit.verify.statements.words import parts_of, stem, stems_of


class Trouble(Enum):
    """What a record says: nothing of the kind, a state of failure, something failing counted, or
    something abnormal by its tool's own rule."""

    NONE = auto()
    STATE = auto()
    COUNTED = auto()
    ABNORMAL = auto()


@dataclass(frozen=True, slots=True)
class Claim:
    """That something is well: `about` are the words around it, `nouns` what is denied (empty: all
    trouble), `sweeping` that it is said of everything, `dated` that a time is set apart."""

    about: str
    nouns: frozenset[str]
    sweeping: bool
    dated: bool

    def denies(self, trouble: Trouble, record: RecordView) -> bool:
        """Whether the claim and this trouble cannot both hold."""
        if self.nouns:
            said = record.stems
            kin = frozenset().union(*(_KIN.get(noun, frozenset({noun})) for noun in self.nouns))
            return bool(kin & said) or (trouble is Trouble.STATE and bool(self.nouns & _ANY))
        return trouble in {Trouble.STATE, Trouble.ABNORMAL}


_WELL: Final = r"healthy|fine|ok|okay|stable|operational|unaffected|normal|normally|well|in good (?:health|order)"
_BEING: Final = (
    r"is|are|was|were|be|been|remains?|remained|stays?|stayed|looks?|looked|seems?|seemed|appears?|"
    r"appeared|keeps?|kept|runs?|ran|running|operates?|operated|operating|behaves?|behaved|behaving|"
    r"works?|worked|working"
)
_IS_WELL: Final = re.compile(
    rf"\b(?:{_BEING})\s+(?:(?:all|fully|perfectly|still|otherwise|completely|entirely|both|running|"
    rf"operating|behaving|working|up and)\s+){{0,2}}(?:{_WELL})\b(?!\s+(?:threshold|check|range))",
    re.IGNORECASE,
)
_NOUN: Final = (
    r"problems?|issues?|errors?|failures?|faults?|anomal(?:y|ies)|restarts?|crash(?:es)?|"
    r"timeouts?|incidents?"
)
_IS_FREE: Final = re.compile(
    rf"\b(?:no|not any|without(?: any)?|zero|free of)\s+(?:\w+\s+){{0,2}}?(?P<noun>{_NOUN})\b",
    re.IGNORECASE,
)
_ZH_WELL: Final = re.compile(
    r"(?<!不)(?:一切|运行|工作|状态|均|都|全部|保持|是|为)(?:均|都|是|为)?(?:健康|正常|稳定)"
)
_ZH_FREE: Final = re.compile(
    r"(?:没有|无|未见|未出现|未发生|未发现|没出现|没发生)(?:任何|过)?"
    r"(?P<noun>错误|异常|故障|问题|重启|报错|失败|崩溃|超时)"
)
_ZH_NOUNS: Final = {
    "错误": "error", "异常": "problem", "故障": "fail", "问题": "problem", "重启": "restart",
    "报错": "error", "失败": "fail", "崩溃": "crash", "超时": "timeout",
}  # fmt: skip

_PARTIAL: Final = re.compile(
    r"\b(?:most|some|several|few|many|other|others|except|besides|apart from|aside from|only|half|"
    r"not|never|if|whether|should|would|could|may|might|must|until|unless|to be)\b|n't\b|"
    r"\b\d+\s*(?:of|/|out of)\s*\d+|\b(?:one|two|three|four|five|six|seven|eight|nine|ten)\s+of\b|"
    r"其他|其它|其余|大部分|部分|除了|除|只有|如果|是否|应该|可能|不",
    re.IGNORECASE,
)
"""Words by which a clause says less than that all is well; then nothing here refutes it."""

_DATED: Final = re.compile(
    r"\b(?:before|after|until|since|by|from|at|again|now|currently|today|recovered|later|earlier|"
    r"ago|then|first|back to|returned|so far)\b|\d:\d\d|之前|之后|以前|以后|自从|恢复|目前|现在|当前|随后|起|曾",
    re.IGNORECASE,
)
_SWEEPING: Final = re.compile(
    r"\b(?:everything|system|cluster|platform|environment|whole|all (?:pods?|services?|nodes?|"
    r"components?|workloads?|containers?|systems?|instances?)|(?:was|were|are|is|been|being) "
    r"(?:detected|found|observed|seen|identified|present))\b|系统|集群|整体|一切|所有|全部|整个|未发现|未见",
    re.IGNORECASE,
)
_OF: Final = re.compile(
    r"\b(?:in|of|for|on|at|with|from)\s+(?!the (?:window|run|period|time)\b)", re.IGNORECASE
)
_CLAUSES: Final = re.compile(
    r"[;；。]|[,，]\s*(?:but|while|whereas|although|though|yet|and|但|而|不过|然而)\s*|"
    r"\b(?:but|while|whereas|although|though)\b|但是?|而且?|不过|然而"
)


def claims_in(text: str) -> Iterator[Claim]:
    """Every plain claim of a sentence that something is well or did not happen."""
    dated = _DATED.search(text) is not None
    before = ""
    for clause in _CLAUSES.split(text):
        found = tuple(_found_in(clause))
        about = clause if names_known(clause) else f"{before} {clause}"
        before = clause
        for start, end, nouns in found:
            around = f"{clause[:start]} {clause[end:]}"
            if _PARTIAL.search(around if nouns else f"{around} {clause[start:end]}"):
                continue
            sweeping = bool(_SWEEPING.search(clause)) and not (nouns and _OF.search(around))
            yield Claim(about, nouns, sweeping, dated)


def _found_in(clause: str) -> Iterator[tuple[int, int, frozenset[str]]]:
    for pattern in (_IS_WELL, _ZH_WELL):
        for match in pattern.finditer(clause):
            yield match.start(), match.end(), frozenset()
    for match in _IS_FREE.finditer(clause):
        yield match.start(), match.end(), frozenset({stem(match["noun"].casefold())})
    for match in _ZH_FREE.finditer(clause):
        yield match.start(), match.end(), frozenset({stem(_ZH_NOUNS[match["noun"]])})


def names_known(clause: str) -> bool:
    """Whether a clause has a subject of its own in front of its verb, and no pronoun."""
    words = clause.split()
    return bool(words) and words[0].casefold() not in _POINTING


_POINTING: Final = frozenset("it its they them this these that those there both all".split())

_ANY: Final = frozenset(map(stem, "problem issue failure fault anomaly incident".split()))
"""Nouns that deny trouble of any kind."""

_KIN: Final = {
    stem("error"): frozenset(map(stem, "error err failed failure exception fatal panic".split())),
    stem("failure"): frozenset(map(stem, "fail failed failure error".split())),
    stem("crash"): frozenset(map(stem, "crash crashed panic segfault".split())),
    stem("restart"): frozenset(map(stem, "restart restarts restarted restarting crash".split())),
    stem("timeout"): frozenset(map(stem, "timeout timeouts".split())),
}

_FAILING: Final = frozenset(
    map(
        stem,
        "crash crashed error err fail failed failing killed evicted unhealthy degraded fatal "
        "critical panic unreachable aborted dead notready unavailable down".split(),
    )
)
_STATE_WORDS_MAX: Final = 3
"""A state is a word or three; a longer text is a story, and its words are not the thing's state."""

_PAST: Final = frozenset(map(stem, "last previous prior terminated history".split()))
"""Names of fields that tell of an earlier life."""

_STATES: Final = frozenset(
    map(stem, "status state phase reason health condition result outcome severity level".split())
)
"""Names of fields that hold a thing's state; another field's text names something else."""

_COUNTING: Final = frozenset(
    map(stem, "error errors failed failures failure restart restarts crashes timeouts".split())
)
_LIVENESS: Final = frozenset(map(stem, "ready healthy alive up".split()))
_LEVELS: Final = frozenset({"ERROR", "FATAL", "CRITICAL", "ALERT", "EMERGENCY", "PANIC"})


def trouble_in(record: RecordView) -> Trouble:
    """Whether a record says that something is not well, and in which way."""
    if isinstance(record.fact, Change):
        return Trouble.ABNORMAL if record.fact.anomalous else Trouble.NONE
    if isinstance(record.fact, Line) and (record.fact.level or "").upper() in _LEVELS:
        return Trouble.STATE
    counted = False
    for field in record.fields:
        if field.loose or field.names & _PAST:
            continue
        if field.number is None:
            if field.names & _STATES and _is_failing(field.text):
                return Trouble.STATE
            if field.names & _LIVENESS and field.text.strip().casefold() in {"false", "no"}:
                return Trouble.STATE
        elif field.names & _COUNTING and field.number > 0:
            counted = True
    return Trouble.COUNTED if counted else Trouble.NONE


def _is_failing(text: str) -> bool:
    words = text.split()
    if not words or len(words) > _STATE_WORDS_MAX or any(char.isdigit() for char in text):
        return False
    stems = [stem(part) for part in parts_of(text)]
    return bool(_FAILING & set(stems)) and not stems_of(text) & {"no", "not", "non", "0"}
