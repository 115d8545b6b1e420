"""The index of pages: what is found, for whom, whatever is asked (I2)."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
import pytest

from affidavit.adapters.embedders import load_embedder
from affidavit.adapters.knowledge_index import (
    PASSAGES_MAX,
    KnowledgeFiles,
    SqliteKnowledge,
    terms_of,
    wanted_terms,
)
from affidavit.adapters.knowledge_pages import ReadPage
from affidavit.contract.errors import InputRefused, RecordFailed, ToolFailed
from affidavit.ports.knowledge import Passage, PassagesFound

pytestmark = pytest.mark.spec("I2")

PAGES = {
    "pool.md": (
        "If the connection pool of orders-db is exhausted, raise max_connections and restart.",
        "Run kubectl rollout undo deploy/checkout to roll back a deployment.",
    ),
    "owners.html": ("The payment service is owned by team Gold.", "Search is owned by team Red."),
    "zh.txt": ("连接池耗尽时，先调大最大连接数，然后重启结账服务。", "日志保留三十天。"),
}


def page(name: str, *texts: str) -> ReadPage:
    """A page with these passages."""
    passages = tuple(Passage(name, place, "", text) for place, text in enumerate(texts))
    return ReadPage(name, "0" * 64, passages)


def find(index: SqliteKnowledge, query: str, most: int = 8) -> PassagesFound:
    """One search."""
    return anyio.run(index.search, query, most)


@pytest.fixture
def index(tmp_path: Path) -> SqliteKnowledge:
    """Acme's index, with the pages above."""
    made = KnowledgeFiles(tmp_path).of("acme")
    made.add([page(name, *texts) for name, texts in PAGES.items()])
    return made


@pytest.mark.parametrize(
    ("query", "name", "place"),
    [
        ("What do I do when the connection pool is exhausted?", "pool.md", 0),
        ("how to roll back the deployment", "pool.md", 1),
        ("Who owns the payment service?", "owners.html", 0),
        ("连接池耗尽了怎么办？", "zh.txt", 0),
        ("日志保留多久", "zh.txt", 1),
        ("MAX_CONNECTIONS", "pool.md", 0),
    ],
)
def test_the_passage_that_is_asked_for_comes_first(
    index: SqliteKnowledge, query: str, name: str, place: int
) -> None:
    """English by words, Chinese by pairs of characters, identifiers by their parts."""
    found = find(index, query)
    assert (found.passages[0].page, found.passages[0].place) == (name, place)
    assert found.indexed == 6


@pytest.mark.parametrize(
    "query",
    [
        "What is the weather in Paris?",
        "巴黎今天天气怎么样",
        "the of and",
        "?!",
        "🙂",
        "a b c",
    ],
)
def test_what_no_page_is_about_is_not_found(index: SqliteKnowledge, query: str) -> None:
    """A word in common is no answer."""
    assert find(index, query).passages == ()


@pytest.mark.fault("R54")
@pytest.mark.parametrize(
    "query",
    [
        '" OR 1=1 --',
        'pool" NEAR("x" "y", 5)',
        "terms: pool",
        "pool AND NOT exhausted",
        "pool* ^pool {terms}: (pool)",
        "'; DROP TABLE passage; --",
        '"""""""',
        "pool\x00exhausted connection",
        "NEAR(pool exhausted)",
        "-pool +exhausted connection",
        "\ud800",
    ],
)
def test_no_query_is_read_as_search_syntax(index: SqliteKnowledge, query: str) -> None:
    """Operators, quotes and SQL are words or nothing; nothing breaks, and all pages are there."""
    found = find(index, query)
    assert found.indexed == 6
    assert {item.page for item in found.passages} <= {"pool.md"}
    assert len(index.pages()) == 3


@pytest.mark.fault("R69")
def test_a_tenant_has_an_index_of_its_own(tmp_path: Path, index: SqliteKnowledge) -> None:
    """No page, no count and no word frequency of another's; and a tenant's name is no path."""
    files = KnowledgeFiles(tmp_path)
    with pytest.raises(ToolFailed) as failed:
        find(files.of("globex"), "connection pool exhausted")
    assert failed.value.code == "SOURCE_UNAVAILABLE"
    before = find(index, "connection pool exhausted")
    files.of("globex").add([page("own.md", *(["connection pool exhausted"] * 50))])
    assert find(index, "connection pool exhausted") == before
    assert {item.page for item in find(files.of("globex"), "connection pool").passages} == {
        "own.md"
    }
    evil = files.of("../../etc/acme")
    assert evil.file.parent == tmp_path
    assert evil.pages() == ()


def test_a_page_is_replaced_by_one_of_its_name_and_removed_by_it(index: SqliteKnowledge) -> None:
    """The old words are found no more; an unknown name removes nothing."""
    index.add([page("pool.md", "Ask the database team.")])
    assert find(index, "connection pool exhausted max_connections").passages == ()
    assert find(index, "database team").passages[0].text == "Ask the database team."
    with pytest.raises(InputRefused) as refused:
        index.remove(["zh.txt", "nowhere.md"])
    assert refused.value.code == "PAGE_UNKNOWN"
    assert len(index.pages()) == 3
    assert index.remove(["zh.txt", "pool.md"]) == 2
    assert [entry.name for entry in index.pages()] == ["owners.html"]
    assert find(index, "连接池耗尽").passages == ()


def test_all_pages_or_none_are_indexed(
    index: SqliteKnowledge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call that would fill the index over its bound leaves it as it was."""
    monkeypatch.setattr("affidavit.adapters.knowledge_index.PASSAGES_MAX", 8)
    before = index.pages()
    with pytest.raises(InputRefused) as refused:
        index.add([page("pool.md", "new"), page("big.md", *(["word"] * 9))])
    assert refused.value.code == "KNOWLEDGE_FULL"
    assert index.pages() == before
    assert find(index, "connection pool exhausted").passages
    assert PASSAGES_MAX > 8


def test_a_damaged_index_is_a_failure_and_not_an_empty_answer(index: SqliteKnowledge) -> None:
    """T4: found, empty, failed; and an index of another version is not read."""
    with sqlite3.connect(index.file) as open_:
        open_.execute("PRAGMA user_version = 99")
    with pytest.raises(ToolFailed) as failed:
        find(index, "pool")
    assert failed.value.code == "KNOWLEDGE_UNREADABLE"
    for extra in (Path(f"{index.file}-wal"), Path(f"{index.file}-shm")):
        extra.unlink(missing_ok=True)
    index.file.write_bytes(b"not a database at all" * 100)
    with pytest.raises(ToolFailed):
        find(index, "pool")
    with pytest.raises(RecordFailed) as unwritable:
        index.add([page("a.md", "x")])
    assert unwritable.value.code == "KNOWLEDGE_UNWRITABLE"


@dataclass
class ByTopic:
    """An embedder that knows two topics; and may break."""

    name: str = "by-topic/1"
    broken: bool = False

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Nearer to the first axis the more a text speaks of people."""
        if self.broken:
            raise RuntimeError("no")
        about = ("team", "owned", "people", "staff")
        return [
            [float(any(word in text for word in about)), 0.1 + 0.9 * ("pool" in text)]
            for text in texts
        ]


def test_an_embedder_finds_by_meaning_what_no_word_finds(tmp_path: Path) -> None:
    """With one, near passages are found beside those that share words; another's vectors are not
    compared; one that breaks is a failure, and nothing is indexed."""
    made = KnowledgeFiles(tmp_path, ByTopic()).of("acme")
    made.add([page(name, *texts) for name, texts in PAGES.items()])
    found = find(made, "which staff")
    assert {item.page for item in found.passages} == {"owners.html"}
    assert find(replace(made, embedder=None), "which staff").passages == ()
    assert find(replace(made, embedder=ByTopic("other/1")), "which staff").passages == ()
    with pytest.raises(ToolFailed) as failed:
        find(replace(made, embedder=ByTopic(broken=True)), "which staff")
    assert failed.value.code == "EMBEDDER_FAILED"
    with pytest.raises(RecordFailed):
        replace(made, embedder=ByTopic(broken=True)).add([page("new.md", "new")])
    assert "new.md" not in {entry.name for entry in made.pages()}


def test_an_embedder_is_a_plug_in_by_name() -> None:
    """None by default; a name that nobody offers is refused."""
    assert load_embedder("") is None
    with pytest.raises(InputRefused) as refused:
        load_embedder("nowhere")
    assert refused.value.code == "EMBEDDER_UNKNOWN"


def test_words_are_cut_the_same_way_in_pages_and_in_queries() -> None:
    """Letters and digits, parts of identifiers, pairs of Chinese characters; nothing else."""
    assert terms_of("Restarting orders-db: 连接池") == (
        "restart",
        "order",
        "db",
        "ordersdb",
        "连接",
        "接池",
    )
    assert wanted_terms("How do I restart the orders-db?") == ("restart", "order", "db", "ordersdb")
    assert wanted_terms("的？") == ()
