"""How severe a line says it is, in one vocabulary for every logger's spelling."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Final

from affidavit.tools.readers.reading import Weight

LEVELS: Final = MappingProxyType(
    {
        "TRACE": "TRACE", "VERBOSE": "TRACE", "FINEST": "TRACE", "FINER": "TRACE", "10": "TRACE",
        "DEBUG": "DEBUG", "DBG": "DEBUG", "FINE": "DEBUG", "20": "DEBUG",
        "INFO": "INFO", "INFORMATION": "INFO", "NORMAL": "INFO", "30": "INFO", "LOG": "INFO",
        "NOTICE": "NOTICE", "OK": "INFO",
        "WARN": "WARN", "WARNING": "WARN", "40": "WARN",
        "ERROR": "ERROR", "ERR": "ERROR", "SEVERE": "ERROR", "50": "ERROR",
        "FATAL": "FATAL", "CRITICAL": "FATAL", "CRIT": "FATAL", "PANIC": "FATAL",
        "ALERT": "FATAL", "EMERG": "FATAL", "EMERGENCY": "FATAL", "60": "FATAL",
    }
)  # fmt: skip
"""Numbers are those of bunyan and pino."""

LEVEL_FIELDS: Final = frozenset(
    "level severity severity_text severitytext loglevel log_level lvl status type priority".split()
)

_WORD: Final = re.compile(
    r"(?<![\w/.=-])\[?(TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERR(?:OR)?|SEVERE|FATAL|CRIT(?:ICAL)?"
    r"|PANIC|ALERT|EMERG(?:ENCY)?|LOG)\]?(?=[\s:|\]]|$)"
    r"|\[(trace|debug|info|notice|warn(?:ing)?|err(?:or)?|fatal|crit(?:ical)?|alert|emerg)\]"
    r"|\b(?:level|lvl|severity)=\"?([A-Za-z]{2,9})\"?"
    r"|^(Trace|Debug|Info|Notice|Warning|Error|Fatal|Critical|panic)(?=:)"
)
_KLOG: Final = {"I": "INFO", "W": "WARN", "E": "ERROR", "F": "FATAL"}

PREFIX_CHARS: Final = 160
"""A level stands near the front of a line; a word further on is part of the message."""


def level_of(text: str) -> str | None:
    """The level that a field's value names, or None."""
    return LEVELS.get(text.strip().upper())


def find_level(line: str) -> str | None:
    """The level that a log line carries near its front, or None."""
    if re.match(r"[IWEF]\d{4} \d\d:", line):
        return _KLOG[line[0]]
    found = _WORD.search(line[:PREFIX_CHARS])
    if found is None:
        return None
    return level_of(next(part for part in found.groups() if part))


def weight_of(level: str | None) -> Weight:
    """What is kept first: warnings and worse, then unlabelled lines, then chatter."""
    if level in ("WARN", "ERROR", "FATAL"):
        return Weight.ALARMING
    if level in ("TRACE", "DEBUG", "INFO"):
        return Weight.ROUTINE
    return Weight.ORDINARY
