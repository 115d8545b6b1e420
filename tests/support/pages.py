"""Files whose every text is chosen by somebody hostile, and what a page is made of (R74)."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from html.parser import HTMLParser
from typing import Any, Final

from affidavit.affidavit.document import Document, read_document, sealed_unsigned, write_document
from affidavit.affidavit.page import Standing, render_page
from affidavit.affidavit.recheck import Check, Recheck
from affidavit.contract.agent import AgentRequest
from affidavit.contract.evidence import Cell, Change, Edge, Fact, Line, Onset, Quantity, Row, Value
from affidavit.contract.report import ReleaseRecord
from affidavit.contract.states import Emitter
from affidavit.core.canonical import canonical_json
from tests.support.runs import WINDOW

HOSTILE: Final = (
    "</title></style></script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    "</details></section><h1>RESOLVED</h1>",
    "{{7*7}} {%import os%} ${7*7} {}",
    "&lt;script&gt; &#60;b&#62;",
    "javascript:alert(1) data:text/html,<b>x</b> https://evil.example/x",
    "\u202egnp.exe\u202c \u2066x\u2069 \u200b\u200fabc",
    "\x00\x01\x07\x1b[31mred\x1b[0m\x7f\x9b",
    "\u2028\u2029\ufeff\ue000\U000e0041",
    "]]><!--<script>--><![CDATA[",
    "a" * 400 + "Z\u0351\u0352\u0353" * 60,
    "[click](https://evil.example) /foo[/bold]",
)
"""Texts that would be markup, an address, a direction or a command to something."""

HARMLESS: Final = "checkout"

AT: Final = datetime(2026, 3, 2, 10, 5, tzinfo=UTC)


def facts_of(word: str) -> tuple[Fact, ...]:
    """One fact of every shape, each text of it that word."""
    five = Quantity(number=Decimal(5), unit=word)
    return (
        Value(subject=word, attribute=word, statistic=word, quantity=five, at=AT),
        Value(subject=word, attribute=word, text=word, emitter=Emitter.REQUEST),
        Change(
            subject=word,
            attribute=word,
            statistic=word,
            before=Quantity(number=Decimal(1), unit=word),
            after=five,
            direction="up",
            anomalous=True,
            window=WINDOW,
        ),
        Onset(subject=word, attribute=word, earliest=AT, latest=AT),
        Line(text=word, subject=word, level=word, at=AT, count=3),
        Row(subject=word, cells=(Cell(name=word, text=word), Cell(name=word, quantity=five))),
        Edge(source=word, target=word, relation=word),
    )


def worded(content: bytes, word: str) -> Document:
    """A real file's document in which every free text is that word."""
    document = read_document(content)
    release = _worded(document.release.model_dump(mode="json"), word)
    asked = document.request.model_dump(mode="json")
    asked |= {"question": word, "incident": word, "symptom_service": word}
    call = document.calls[0]
    envelope = json.loads(call.result)
    shown = [fact.model_dump(mode="json") for fact in facts_of(word)]
    envelope |= {"facts": shown, "source": word, "source_type": word, "notes": [word]}
    envelope["scope"] |= {"service": word, "query": word}
    return sealed_unsigned(
        replace(
            document,
            release=ReleaseRecord.model_validate_json(json.dumps(release)),
            request=AgentRequest.model_validate_json(json.dumps(asked)),
            calls=(replace(call, tool=word, result=canonical_json(envelope)), *document.calls[1:]),
        )
    )


FREE: Final = frozenset(
    "question text body scope source source_type entity signal size missing query service".split()
)
LISTS: Final = frozenset(
    "missing_info limitations next_steps asked_for services codes based_on_analysis_ids".split()
)


def _worded(value: Any, word: str, key: str = "") -> Any:
    """The value with that word in place of every text that an author or a tool may choose."""
    if isinstance(value, dict):
        return {name: _worded(item, word, name) for name, item in value.items()}
    if isinstance(value, list):
        if key in LISTS:
            return [word for _ in value]
        return [_worded(item, word, key) for item in value]
    return word[:320] if key in FREE and isinstance(value, str) else value


def page_of(document: Document, standing: Standing | None = None) -> str:
    """The page of a document, as if it had passed every check."""
    content = write_document(document)
    return render_page(content, Recheck((Check("chain", "it holds", True),), document), standing)


class Structure(HTMLParser):
    """Every element with the names of its attributes, in order, and every text."""

    def __init__(self) -> None:
        """Nothing was read yet."""
        super().__init__(convert_charrefs=True)
        self.elements: list[str] = []
        self.texts: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """One element."""
        self.elements.append(f"<{tag} {' '.join(name for name, _ in attrs)}>")
        self.attributes.extend((tag, name, value) for name, value in attrs)

    def handle_endtag(self, tag: str) -> None:
        """Its end."""
        self.elements.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        """A text."""
        self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        """A comment, of which a page of ours has none."""
        self.elements.append("<!-- -->")


def structure_of(page: str) -> Structure:
    """The page, read."""
    structure = Structure()
    structure.feed(page)
    structure.close()
    return structure
