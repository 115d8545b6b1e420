"""Pages of guidance from files: Markdown, text and HTML, read safely and cut into passages (I2).

A file is opened once, by descriptor, without following links, and read up to a bound. HTML is read
for its text alone: no script, style, form or attribute, and nothing that is marked as hidden. What
a page says is data whatever it says; it can be quoted and nothing else.
"""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

from affidavit.contract.errors import InputRefused
from affidavit.ports.knowledge import PAGE_NAME_CHARS_MAX, PASSAGE_CHARS_MAX, Passage

PAGE_BYTES_MAX: Final = 2_000_000
"""A long manual; what is larger is a dump, and its search would return noise."""

PAGES_MAX: Final = 5_000
"""Pages of one call: the wiki of a company."""

PASSAGES_OF_PAGE_MAX: Final = 5_000
"""A page of the largest size in short paragraphs."""

DEPTH_MAX: Final = 16
"""Folders in folders."""

KINDS: Final = frozenset({".md", ".markdown", ".txt", ".html", ".htm"})
"""What a page is by its name; other files are left alone, and counted."""

_HTML: Final = frozenset({".html", ".htm"})


@dataclass(frozen=True, slots=True)
class ReadPage:
    """One page, read: its name inside what was added, the digest of its bytes, its passages."""

    name: str
    digest: str
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class PagesRead:
    """Every page below a path, and how many files of other kinds were left alone."""

    pages: tuple[ReadPage, ...]
    left_alone: int


def read_pages(path: Path) -> PagesRead:
    """The page, or every page of the folder, in the order of their names.

    Raises InputRefused (PAGE_REFUSED, PAGES_MISSING) for the first thing that is no plain page: a
    link, a file that is too large or no text, too many pages. Then nothing is returned.
    """
    pages: list[ReadPage] = []
    left_alone = 0
    for file, name in _files(path):
        if file.suffix.lower() not in KINDS:
            left_alone += 1
            continue
        if len(pages) == PAGES_MAX:
            raise _refused(path, f"holds more than {PAGES_MAX} pages", "add its folders one by one")
        pages.append(read_page(file, name))
    if not pages:
        raise InputRefused(
            f"there is no page in {path}",
            code="PAGES_MISSING",
            hint=f"a page ends in {', '.join(sorted(KINDS))}",
        )
    return PagesRead(tuple(pages), left_alone)


def _files(path: Path) -> Iterator[tuple[Path, str]]:
    try:
        mode = path.lstat().st_mode
    except (OSError, ValueError) as error:
        raise _refused(path, _why(error), "check the path") from None
    if stat.S_ISLNK(mode):
        raise _refused(path, "is a link", "name what it leads to")
    if not stat.S_ISDIR(mode):
        yield path, path.name
        return
    yield from _below(path, path, 0)


def _below(root: Path, folder: Path, depth: int) -> Iterator[tuple[Path, str]]:
    if depth > DEPTH_MAX:
        raise _refused(folder, f"lies {DEPTH_MAX} folders deep", "add it by itself")
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        raise _refused(folder, _why(error), "check its permissions") from None
    for entry in entries:
        found = Path(entry.path)
        if entry.name.startswith("."):
            continue
        if entry.is_symlink():
            raise _refused(found, "is a link, and may lead anywhere", "copy the page, or remove it")
        if entry.is_dir(follow_symlinks=False):
            yield from _below(root, found, depth + 1)
        else:
            yield found, found.relative_to(root).as_posix()


def read_page(file: Path, name: str) -> ReadPage:
    """One page. Raises InputRefused (PAGE_REFUSED)."""
    if len(name) > PAGE_NAME_CHARS_MAX or any(_is_no_name(char) for char in name):
        raise _refused(file, "has a name that cannot be shown", "give it a shorter, plain name")
    content = _read_bytes(file)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _refused(file, "is no UTF-8 text", "convert it to UTF-8") from None
    if "\x00" in text:
        raise _refused(file, "is no text", "add text, Markdown or HTML")
    is_html = file.suffix.lower() in _HTML
    passages = tuple(cut(name, html_blocks(text) if is_html else markdown_blocks(text)))
    if len(passages) > PASSAGES_OF_PAGE_MAX:
        raise _refused(file, f"has more than {PASSAGES_OF_PAGE_MAX} paragraphs", "split it")
    return ReadPage(name, sha256(content).hexdigest(), passages)


def _is_no_name(char: str) -> bool:
    """Whether a page's name cannot hold it: what is not seen, and what would begin a quotation."""
    return not char.isprintable() or char in '"`“”「」'


def _read_bytes(file: Path) -> bytes:
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise _refused(file, _why(error), "check its permissions; links are not read") from None
    with os.fdopen(descriptor, "rb") as opened:
        if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
            raise _refused(file, "is no plain file", "add plain files")
        content = opened.read(PAGE_BYTES_MAX + 1)
    if len(content) > PAGE_BYTES_MAX:
        raise _refused(file, f"is larger than {PAGE_BYTES_MAX // 1_000_000} MB", "split it")
    return content


def _why(error: OSError | ValueError) -> str:
    known = isinstance(error, OSError) and error.strerror
    return f"cannot be read: {known or 'no such path can be'}"


def _refused(path: Path, why: str, hint: str) -> InputRefused:
    return InputRefused(f"{path} {why}", code="PAGE_REFUSED", hint=f"{hint}; nothing was indexed")


# --- Passages ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Block:
    """One paragraph under its heading."""

    heading: str
    text: str


def markdown_blocks(text: str) -> Iterator[Block]:
    """The paragraphs of Markdown or plain text; a heading belongs to those below it."""
    heading = ""
    for block in re.split(r"\n\s*\n", text.replace("\r\n", "\n").replace("\r", "\n")):
        stripped = block.strip()
        while stripped.startswith("#"):
            title, _, stripped = stripped.partition("\n")
            heading = title.strip("# ").strip()
            stripped = stripped.strip()
        if stripped:
            yield Block(heading, stripped)


def html_blocks(text: str) -> Iterator[Block]:
    """The paragraphs of an HTML page, as a reader would see them."""
    reader = _HtmlReader()
    reader.feed(text)
    reader.close()
    reader.end_block()
    yield from reader.blocks


_UNSEEN: Final = frozenset(
    "script style template noscript iframe object svg math head form select textarea button "
    "canvas audio video nav".split()
)
"""Elements whose content is no text of the page."""

_VOID: Final = frozenset("area base br col embed hr img input link meta source track wbr".split())
"""Elements that have no end, and so hide nothing after them."""

_PARAGRAPHS: Final = frozenset(
    "p div section article main li ul ol tr td th table pre blockquote dt dd br hr header footer "
    "figure figcaption h1 h2 h3 h4 h5 h6 body html aside details summary".split()
)
_HEADINGS: Final = frozenset("h1 h2 h3 h4 h5 h6".split())
_HIDING: Final = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0", re.IGNORECASE
)


@dataclass
class _HtmlReader(HTMLParser):
    """Collects the visible text of a page, paragraph by paragraph."""

    blocks: list[Block] = field(default_factory=list)
    _heading: str = ""
    _text: list[str] = field(default_factory=list)
    _open: list[tuple[str, bool]] = field(default_factory=list)
    _in_heading: bool = False

    def __post_init__(self) -> None:
        """Read character references as what they stand for."""
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element begins, perhaps one that hides what is in it."""
        if tag in _PARAGRAPHS:
            self.end_block()
        if tag in _VOID:
            return
        named = dict(attrs)
        hides = (
            tag in _UNSEEN
            or "hidden" in named
            or named.get("aria-hidden") == "true"
            or bool(_HIDING.search(named.get("style") or ""))
        )
        self._open.append((tag, hides or self._is_hidden))
        self._in_heading = tag in _HEADINGS or (self._in_heading and tag not in _PARAGRAPHS)

    def handle_endtag(self, tag: str) -> None:
        """An element ends, with all that is still open in it."""
        if tag in _PARAGRAPHS:
            self.end_block()
        places = [place for place, (name, _) in enumerate(self._open) if name == tag]
        if places:
            del self._open[places[-1] :]
        if tag in _HEADINGS:
            self._in_heading = False

    def handle_data(self, data: str) -> None:
        """Words."""
        if not self._is_hidden:
            self._text.append(data)

    @property
    def _is_hidden(self) -> bool:
        return bool(self._open) and self._open[-1][1]

    def end_block(self) -> None:
        """What was read so far is one paragraph, or the heading of those below it."""
        text = " ".join("".join(self._text).split())
        self._text.clear()
        if text and self._in_heading:
            self._heading = text
        elif text:
            self.blocks.append(Block(self._heading, text))


def cut(name: str, blocks: Iterator[Block]) -> Iterator[Passage]:
    """The passages of a page: plain words, none longer than a paragraph, cut between words."""
    place = 0
    for block in blocks:
        rest = plain(block.text)
        heading = plain(block.heading)[:PAGE_NAME_CHARS_MAX]
        while rest:
            piece, rest = _first_piece(rest)
            yield Passage(name, place, heading, piece)
            place += 1


def _first_piece(text: str) -> tuple[str, str]:
    if len(text) <= PASSAGE_CHARS_MAX:
        return text, ""
    ends = [text.rfind(mark, 0, PASSAGE_CHARS_MAX) for mark in (". ", "。", "; ", "；", " ")]
    end = next((place for place in ends if place > PASSAGE_CHARS_MAX // 2), PASSAGE_CHARS_MAX - 1)
    return text[: end + 1].strip(), text[end + 1 :].strip()


def plain(text: str) -> str:
    """The text on one line, without control, format and direction characters."""
    kept = "".join(
        " " if unicodedata.category(char) in {"Cc", "Zl", "Zp"} else char
        for char in text
        if unicodedata.category(char) not in {"Cf", "Cs", "Co"}
    )
    return " ".join(kept.split())
