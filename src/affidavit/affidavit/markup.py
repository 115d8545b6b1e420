"""HTML in which no text is ever markup: whatever is no `Markup` is made visible and escaped (R74).

Only this file makes `Markup`, and only out of names that code chose and texts that it escaped. So a
log line, a service name or a question can neither break a page nor spoof it: `<`, `&` and quotes
are escaped, and every character that would steer the reader's eye or terminal (control, format,
bidirectional, private, unassigned) stands there as its number, `⟨U+202E⟩`.
"""

from __future__ import annotations

import base64
import hashlib
import unicodedata
from html import escape
from typing import Final

VOID: Final = frozenset({"meta", "br", "hr", "link"})
"""Elements that have no end (WHATWG HTML, 13.1.2)."""

KEPT: Final = frozenset("\n\t")
"""Of the characters that steer, those that a text may hold: they only part words."""

UNSEEN: Final = frozenset({"Zl", "Zp"})
"""Separators that break a line where no writer did."""


class Markup(str):
    """HTML that is safe to put on a page. Made by this file alone."""

    __slots__ = ()


Child = str | Markup | None


def visible(text: str) -> str:
    """The text with every character that steers written as its number."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(char) if _steers(char) else char for char in text)


def _steers(char: str) -> bool:
    category = unicodedata.category(char)
    return char not in KEPT and (category[0] == "C" or category in UNSEEN)


def _shown(char: str) -> str:
    return f"⟨U+{ord(char):04X}⟩"


def text(words: str) -> Markup:
    """A text as it is seen, never as markup."""
    return Markup(escape(visible(words), quote=True))


def join(*children: Child) -> Markup:
    """Children side by side; a plain text among them is escaped, None is nothing."""
    return Markup("".join(_child(child) for child in children))


def tag(kind: str, *children: Child, **attributes: str | bool | None) -> Markup:
    """One element. `class_` and `aria_label` name the attributes `class` and `aria-label`.

    An attribute that is None or False is left out, one that is True has no value. Attribute values
    are escaped as texts are; the names of element and attributes are the caller's own words.
    """
    named = "".join(_attribute(name, value) for name, value in attributes.items())
    if kind in VOID:
        return Markup(f"<{kind}{named}>")
    return Markup(f"<{kind}{named}>{join(*children)}</{kind}>")


def data(words: str) -> Markup:
    """A text that somebody else wrote, whose direction cannot leak into its neighbours."""
    return tag("bdi", words)


def inline(kind: str, content: str, **attributes: str) -> Markup:
    """A `style` or `script` element of ours, verbatim: its content is a constant of the program."""
    if "</" in content:
        raise ValueError(f"a {kind} of ours would end itself")
    named = "".join(_attribute(name, value) for name, value in attributes.items())
    return Markup(f"<{kind}{named}>{content}</{kind}>")


def source_hash(content: str) -> str:
    """What a content security policy calls a style or script of ours (CSP level 3, 2.3.1)."""
    digest = hashlib.sha256(content.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _child(child: Child) -> str:
    if child is None:
        return ""
    return child if isinstance(child, Markup) else text(child)


def _attribute(name: str, value: str | bool | None) -> str:
    if value is None or value is False:
        return ""
    shown = name.rstrip("_").replace("_", "-")
    return f" {shown}" if value is True else f' {shown}="{text(value)}"'
