"""The indexed pages of one tenant: one SQLite file with a full-text index (I2).

A file a tenant, so that no page, count or word frequency of one is in the search of another. Its
name is a digest: a tenant is never a path. Words are cut by this module, also where Chinese has no
spaces; what SQLite is asked for is a list of quoted words, so that no query of anybody is read as
its search syntax.
"""

from __future__ import annotations

import re
import sqlite3
import time
import unicodedata
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from math import sqrt
from pathlib import Path
from typing import Final

from anyio import to_thread

from affidavit.adapters.knowledge_pages import ReadPage
from affidavit.contract.errors import InputRefused, RecordFailed, ToolFailed
from affidavit.ports.knowledge import Embedder, PageEntry, Passage, PassagesFound

PASSAGES_MAX: Final = 200_000
"""Of one tenant: some ten thousand pages; a search of that many takes a few milliseconds."""

TERMS_MAX: Final = 64
"""Different words of a query that are looked for; a question has a dozen."""

CANDIDATES_MAX: Final = 200
"""Passages that share a word with the query, the likeliest first; of these the best are kept."""

SHARE_MIN: Final = 0.5
"""A passage matches when it holds half of the query's words, a word weighing as much as it is
rare: one common word that happens to stand in both is no answer."""

NEAR_MIN: Final = 0.6
"""From this cosine on a passage is near a query in meaning."""

BUSY_MS: Final = 5_000
"""Another process that indexes is waited for so long."""

VERSION: Final = 1

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS page (
  name TEXT PRIMARY KEY, digest TEXT NOT NULL, added_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS passage (
  id INTEGER PRIMARY KEY, page TEXT NOT NULL REFERENCES page (name) ON DELETE CASCADE,
  place INTEGER NOT NULL, heading TEXT NOT NULL, text TEXT NOT NULL,
  embedder TEXT, vector BLOB, UNIQUE (page, place)
) STRICT;
CREATE VIRTUAL TABLE IF NOT EXISTS word USING fts5 (
  terms, tokenize = 'unicode61'
);
CREATE VIRTUAL TABLE IF NOT EXISTS word_count USING fts5vocab (word, row);
"""

STEM_CHARS_MIN: Final = 4
"""What is left of a word has to be a word."""

_HAN: Final = r"\u3400-\u9fff\uf900-\ufaff"
_RUN: Final = re.compile(rf"[{_HAN}]+|[a-z0-9]+(?:[._:/-][a-z0-9]+)*")

_ASKING: Final = (
    "a an the of in on at to for by with from and or is are was were be been do does did how what "
    "when where which who why whom can could should would must may might i we you it its this that "
    "these those there if then than so as about into our your my me us please tell show say says "
    "said know get have has had will not no any some all according runbook runbooks playbook wiki "
    "handbook manual documentation docs document documents page pages guide knowledge base"
).split()
"""Words that ask, or name pages as such, and tell nothing of what a page is about."""

_ASKING_HAN: Final = re.compile(
    "为什么|是什么|什么时候|什么样|什么|怎么办|怎么做|怎么样|怎么|怎样|如何|哪些|哪里|哪个|请问|请|"
    "需要|应该|可以|能否|是否|有没有|我们|你们|他们|这个|那个|一个|关于|知识库|手册|文档|步骤|流程|"
    "处理|多久|多少|几天|谁|的|了|吗|呢|吧|啊|里|中|在|对|把|被|和|与|或|是|有"
)
"""The same in Chinese; they are taken out before the rest is cut into pairs."""


def terms_of(text: str) -> tuple[str, ...]:
    """The words of a text, in order, repetitions among them: a run of letters and digits with its
    parts, a pair of neighbouring Chinese characters, or a single one that stands alone."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return tuple(term for run in _RUN.findall(folded) for term in _terms_of_run(run))


def _terms_of_run(run: str) -> Iterator[str]:
    if re.match(rf"[{_HAN}]", run):
        pairs = [run[place : place + 2] for place in range(len(run) - 1)]
        yield from pairs or [run]
        return
    parts = re.split(r"[._:/-]", run)
    for part in parts:
        yield _stem(part)
    if len(parts) > 1:
        yield "".join(parts)


def _stem(word: str) -> str:
    """A word without its commonest endings, so that `restarts` finds `restart`."""
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= STEM_CHARS_MIN:
            return word[: -len(ending)]
    return word[:-1] if word.endswith("e") and len(word) > STEM_CHARS_MIN else word


def wanted_terms(query: str) -> tuple[str, ...]:
    """The different words of a query that say what it is about, at most `TERMS_MAX`."""
    bare = _ASKING_HAN.sub(" ", unicodedata.normalize("NFKC", query))
    told = (term for term in terms_of(bare) if term not in STOP_WORDS)
    return tuple(dict.fromkeys(term for term in told if len(term) > 1 or term.isdigit()))[
        :TERMS_MAX
    ]


STOP_WORDS: Final = frozenset(_stem(word) for word in _ASKING)


@dataclass(frozen=True, slots=True)
class KnowledgeFiles:
    """The folder of all indexes, one file a tenant."""

    folder: Path
    embedder: Embedder | None = None

    def of(self, tenant: str) -> SqliteKnowledge:
        """That tenant's index; it need not be there yet."""
        name = sha256(tenant.encode("utf-8")).hexdigest()[:32]
        return SqliteKnowledge(self.folder / f"{name}.db", self.embedder)


@dataclass(frozen=True, slots=True)
class SqliteKnowledge:
    """One tenant's index (`ports.knowledge.KnowledgeIndex`)."""

    file: Path
    embedder: Embedder | None = None

    async def search(self, query: str, most: int) -> PassagesFound:
        """As the port says; the reading happens on a thread."""
        return await to_thread.run_sync(self._search, query, most)

    def add(self, pages: Sequence[ReadPage]) -> int:
        """Index these pages, in place of those of the same names; how many passages they have.

        One transaction: all of them, or none. Raises InputRefused (KNOWLEDGE_FULL) and RecordFailed
        (KNOWLEDGE_UNWRITABLE).
        """
        vectors = self._vectors([item for page in pages for item in page.passages])
        with self._writing() as open_:
            for page in pages:
                _remove(open_, page.name)
                open_.execute(
                    "INSERT INTO page VALUES (?, ?, ?)",
                    (page.name, page.digest, time.time_ns() // 1_000),
                )
                for passage in page.passages:
                    _insert(open_, passage, next(vectors))
            (stored,) = open_.execute("SELECT count(*) FROM passage").fetchone()
            if stored > PASSAGES_MAX:
                raise InputRefused(
                    f"the index would hold {stored} passages, and may hold {PASSAGES_MAX}",
                    code="KNOWLEDGE_FULL",
                    hint="remove pages first: affidavit knowledge remove; nothing was indexed",
                )
        return sum(len(page.passages) for page in pages)

    def pages(self) -> tuple[PageEntry, ...]:
        """Every page, by name. Raises ToolFailed as `search` does, but an empty index has none."""
        if not self.file.exists():
            return ()
        with self._reading() as open_:
            rows = open_.execute(
                "SELECT name, digest, (SELECT count(*) FROM passage WHERE page = name), added_us "
                "FROM page ORDER BY name"
            ).fetchall()
        return tuple(PageEntry(*row) for row in rows)

    def remove(self, names: Sequence[str]) -> int:
        """Take pages out, by name; how many there were. Raises InputRefused (PAGE_UNKNOWN) for the
        first name that is no page: then nothing was removed."""
        known = {entry.name for entry in self.pages()}
        for name in names:
            if name not in known:
                raise InputRefused(
                    f"no page is called {name!r}",
                    code="PAGE_UNKNOWN",
                    hint="affidavit knowledge list has the names; nothing was removed",
                )
        with self._writing() as open_:
            for name in names:
                _remove(open_, name)
        return len(set(names))

    # --- How a search is made ---

    def _search(self, query: str, most: int) -> PassagesFound:
        if not self.file.exists():
            raise ToolFailed("no page was ever indexed", code="SOURCE_UNAVAILABLE")
        with self._reading() as open_:
            (indexed,) = open_.execute("SELECT count(*) FROM passage").fetchone()
            found = _by_words(open_, wanted_terms(query), indexed)
            near = self._by_meaning(open_, query)
            ranked = _merge([row for row, _ in found], near)
            rows = [_passage(open_, row) for row in ranked[:most]]
        return PassagesFound(tuple(rows), len(ranked), indexed)

    def _by_meaning(self, open_: sqlite3.Connection, query: str) -> list[int]:
        """Passages that the embedder finds near, nearest first; none without an embedder."""
        if self.embedder is None:
            return []
        try:
            (asked,) = self.embedder.embed([query])
        except Exception as error:
            raise ToolFailed("the embedder failed", code="EMBEDDER_FAILED") from error
        rows = open_.execute(
            "SELECT id, vector FROM passage WHERE embedder = ?", (self.embedder.name,)
        )
        near = ((_cosine(asked, array("f", vector)), row) for row, vector in rows)
        return [row for how, row in sorted(near, reverse=True)[:CANDIDATES_MAX] if how >= NEAR_MIN]

    def _vectors(self, passages: Sequence[Passage]) -> Iterator[tuple[str | None, bytes | None]]:
        if self.embedder is None:
            return iter([(None, None)] * len(passages))
        try:
            vectors = self.embedder.embed([f"{one.heading}\n{one.text}" for one in passages])
            kept = [array("f", vector).tobytes() for vector in vectors]
        except Exception as error:
            raise RecordFailed(
                f"the embedder {self.embedder.name} failed: {type(error).__name__}",
                code="EMBEDDER_FAILED",
                hint="mend it, or leave it out of [knowledge]; nothing was indexed",
            ) from error
        if len(kept) != len(passages):
            raise RecordFailed(
                f"the embedder {self.embedder.name} gave {len(kept)} vectors for {len(passages)}",
                code="EMBEDDER_FAILED",
                hint="it has to give one a text; nothing was indexed",
            )
        return iter([(self.embedder.name, vector) for vector in kept])

    # --- How the file is opened ---

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        try:
            address = f"{self.file.absolute().as_uri()}?mode=ro"
            with closing(sqlite3.connect(address, uri=True, isolation_level=None)) as open_:
                open_.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
                _check_version(open_)
                yield open_
        except sqlite3.Error as error:
            raise ToolFailed(
                "the index of pages cannot be read", code="KNOWLEDGE_UNREADABLE"
            ) from error

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.file.touch(mode=0o600)
            with closing(sqlite3.connect(self.file, isolation_level=None)) as open_:
                open_.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
                open_.execute("PRAGMA journal_mode = WAL")
                open_.execute("PRAGMA foreign_keys = ON")
                open_.execute("BEGIN IMMEDIATE")
                try:
                    _make(open_)
                    yield open_
                    open_.execute("COMMIT")
                finally:
                    if open_.in_transaction:
                        open_.execute("ROLLBACK")
        except (sqlite3.Error, OSError) as error:
            raise RecordFailed(
                f"the index of pages cannot be written: {error}",
                code="KNOWLEDGE_UNWRITABLE",
                hint=f"look at {self.file.parent}: its permissions and the disk; nothing changed",
            ) from error


def _make(open_: sqlite3.Connection) -> None:
    (version,) = open_.execute("PRAGMA user_version").fetchone()
    if version == 0:
        for statement in filter(str.strip, _SCHEMA.split(";")):
            open_.execute(statement)
        open_.execute(f"PRAGMA user_version = {VERSION}")
    _check_version(open_)


def _check_version(open_: sqlite3.Connection) -> None:
    (version,) = open_.execute("PRAGMA user_version").fetchone()
    if version not in {0, VERSION}:
        raise sqlite3.DatabaseError("it was written by another version")


def _insert(
    open_: sqlite3.Connection, passage: Passage, vector: tuple[str | None, bytes | None]
) -> None:
    row = open_.execute(
        "INSERT INTO passage (page, place, heading, text, embedder, vector) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        (passage.page, passage.place, passage.heading, passage.text, *vector),
    ).lastrowid
    terms = " ".join(terms_of(f"{passage.page} {passage.heading} {passage.text}"))
    open_.execute("INSERT INTO word (rowid, terms) VALUES (?, ?)", (row, terms))


def _remove(open_: sqlite3.Connection, name: str) -> None:
    open_.execute(
        "DELETE FROM word WHERE rowid IN (SELECT id FROM passage WHERE page = ?)", (name,)
    )
    open_.execute("DELETE FROM passage WHERE page = ?", (name,))
    open_.execute("DELETE FROM page WHERE name = ?", (name,))


def _passage(open_: sqlite3.Connection, row: int) -> Passage:
    found = open_.execute(
        "SELECT page, place, heading, text FROM passage WHERE id = ?", (row,)
    ).fetchone()
    return Passage(*found)


def _by_words(
    open_: sqlite3.Connection, terms: Sequence[str], indexed: int
) -> list[tuple[int, float]]:
    """The passages that hold enough of these words, those that hold most first."""
    if not terms:
        return []
    weights = _weights(open_, terms, indexed)
    asked = " OR ".join(f'"{term}"' for term in terms)  # letters and digits: nothing to escape
    rows = open_.execute(
        "SELECT rowid FROM word WHERE word MATCH ? ORDER BY bm25(word), rowid LIMIT ?",
        (asked, CANDIDATES_MAX),
    ).fetchall()
    enough = SHARE_MIN * sum(weights.values())
    held = [(row, _held(open_, row, weights)) for (row,) in rows]
    good = [(row, share) for row, share in held if share >= enough]
    return sorted(good, key=lambda item: -item[1])


def _weights(open_: sqlite3.Connection, terms: Sequence[str], indexed: int) -> Mapping[str, float]:
    """How much each word says: the rarer, the more; one that stands nowhere as much as a rare
    one, for it is asked about and not there."""
    weights = {}
    for term in terms:
        row = open_.execute("SELECT doc FROM word_count WHERE term = ?", (term,)).fetchone()
        weights[term] = 1 / sqrt(max(1, row[0] if row else 0))
    return weights if indexed else {}


def _held(open_: sqlite3.Connection, row: int, weights: Mapping[str, float]) -> float:
    found = _passage(open_, row)
    there = set(terms_of(f"{found.page} {found.heading} {found.text}"))
    return sum(weight for term, weight in weights.items() if term in there)


def _merge(by_words: Sequence[int], by_meaning: Sequence[int]) -> list[int]:
    """Both lists as one, by reciprocal rank (Cormack et al., 2009): what stands high in either."""
    scores: dict[int, float] = {}
    for ranked in (by_words, by_meaning):
        for place, row in enumerate(ranked):
            scores[row] = scores.get(row, 0.0) + 1 / (RANK_CONSTANT + place)
    return sorted(scores, key=lambda row: (-scores[row], row))


RANK_CONSTANT: Final = 60
"""That of the paper: how little the first places of a list differ."""


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    if len(one) != len(other):
        return 0.0
    product = sum(a * b for a, b in zip(one, other, strict=True))
    size = sqrt(sum(a * a for a in one)) * sqrt(sum(b * b for b in other))
    return product / size if size else 0.0
