"""Which parts of a text a caller could have written: the request to a server (C13, N16).

A path, a query string, a user agent, a referrer, a body: whoever sends a request chooses them. A
line that holds such a part is request text as a whole; the words around it are read out a second
time, on their own, as what the server itself said.
"""

from __future__ import annotations

import re
from typing import Final

FIELDS: Final = frozenset(
    "useragent ua referer referrer httpreferer query querystring rawquery path requestpath url "
    "requesturl uri requesturi httpurl httptarget urlpath urlquery urlfull body "
    "requestbody payload form params requestparams headers requestheaders cookie cookies "
    "httpuseragent xforwardedfor remoteuser username useremail input userinput prompt comment "
    "searchterm requestline httprequest graphqlquery".split()
)
"""Names of fields that hold what a caller sent, without case, dots, dashes and underscores."""

_METHOD: Final = r"(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|CONNECT|TRACE)"
_QUOTED: Final = r'"(?:[^"\\]|\\.)*(?:"|$)'
_SPAN: Final = re.compile(
    rf'(?P<open>"{_METHOD} (?:[^"\\]|\\.)*(?:"|$)'
    r"|\b(?:request|referr?er|user[-_ ]?agent|host|query|body|payload|path|uri|url|upstream): ?"
    rf"{_QUOTED}"
    r"|\b(?:user[-_]?agent|referr?er|query|body|payload)=(?![^\s\"]+(?:\s+[\w.-]{1,64}=|\s*$))[^\"].*)"
    rf"|\b(?:user[-_]?agent|referr?er|query|body|payload)=(?:{_QUOTED}|[^\s\"]+)"
    rf"|\b{_METHOD} /\S*(?: HTTP/\d(?:\.\d)?)?"
    r"|\bhttps?://[^\s?\"]{1,400}\?[^\s\"]*"
    rf"|\b(?:path|uri|url)=(?:{_QUOTED}|[^\s\"]*)",
    re.DOTALL,
)
_SPOKEN: Final = re.compile(r"(?<![^\s(\[\"'])[^\W\d_]{2,}")
_FRONT: Final = re.compile(
    r"^\S{0,40}\d{2}:\d{2}\S{0,20}(?: {1,4}\[?[A-Za-z]{3,9}\]?:?)?(?: {1,4}[\w.-]{1,60})?"
)
_NORMAL: Final = re.compile(r"[^a-z0-9]")
WORDS_MIN: Final = 2
"""A remainder of fewer words says nothing on its own."""


def is_request_field(name: str) -> bool:
    """Whether a field of this name holds what a caller sent; the last parts of a path count."""
    parts = [part for part in re.split(r"[.\[\]]+", name.lower()) if part]
    last = _NORMAL.sub("", parts[-1]) if parts else ""
    if last in FIELDS:
        return True
    return any(
        part in ("headers", "cookies", "params", "querystring", "req") for part in parts[:-1]
    )


def request_spans(line: str) -> tuple[tuple[int, int], ...]:
    """Where in a line there is something that a caller wrote.

    What follows a quoted request line is not told apart from it (a quote inside may not have been
    escaped), nor what follows an agent that is not quoted at all: such a span reaches to the
    line's end. An unquoted target ends at the first space, which no target holds (RFC 9112
    section 3.2), a quoted field of logfmt at its closing quote.
    """
    spans: list[tuple[int, int]] = []
    for found in _SPAN.finditer(line):
        if found["open"]:
            return (*spans, (found.start(), len(line)))
        spans.append(found.span())
    return tuple(spans)


def own_words(line: str, spans: tuple[tuple[int, int], ...]) -> tuple[str, ...]:
    """The parts of a line between its request spans that say something, word for word."""
    parts: list[str] = []
    start = 0
    for begin, end in (*spans, (len(line), len(line))):
        part = line[start:begin].strip(' ,;:"\t')
        if len(_SPOKEN.findall(_FRONT.sub("", part) if not start else part)) >= WORDS_MIN:
            parts.append(part)
        start = end
    return tuple(parts)
