"""Chat's own work: routing a question by rules, and searching a tenant's indexed pages.

    python bench/chat.py [PASSAGES…]

Routing reads the written questions of tests/data/routing. A search asks an index of so many
passages, made of words in the frequencies of ordinary text (Zipf), for ten words of one of them;
what is timed is the whole search, from words to passages.
"""

# ruff: noqa: INP001, S311, T201 -- a script that prints figures, over made-up words

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from pathlib import Path

import anyio

from affidavit.adapters.knowledge_index import KnowledgeFiles, SqliteKnowledge
from affidavit.adapters.knowledge_pages import ReadPage
from affidavit.application.routing import route_by_rules
from affidavit.ports.knowledge import Passage

DATA = Path(__file__).parents[1] / "tests" / "data" / "routing"
SIZES = (1_000, 10_000, 50_000)
SEARCHES = 50
WORDS = 8_000
"""Different words of the made-up pages: a vocabulary of a technical wiki."""

PAGE = 20
"""Passages of one page."""


def questions() -> list[str]:
    """Every written question."""
    lines = [line for file in DATA.glob("*.jsonl") for line in file.read_text().splitlines()]
    return [json.loads(line)["text"] for line in lines]


def pages(size: int, dice: random.Random) -> list[ReadPage]:
    """Pages with so many passages of forty words each."""
    weights = [1 / (rank + 1) for rank in range(WORDS)]
    texts = [
        " ".join(f"w{word}x" for word in dice.choices(range(WORDS), weights, k=40))
        for _ in range(size)
    ]
    return [
        ReadPage(
            f"p{start}.md",
            "",
            tuple(
                Passage(f"p{start}.md", place, "", text)
                for place, text in enumerate(texts[start : start + PAGE])
            ),
        )
        for start in range(0, size, PAGE)
    ]


def search(index: SqliteKnowledge, asked: list[str]) -> list[float]:
    """The milliseconds of each search, in order of size."""

    async def ask() -> list[float]:
        took = []
        for query in asked:
            began = time.perf_counter()
            await index.search(query, 8)
            took.append((time.perf_counter() - began) * 1000)
        return sorted(took)

    return anyio.run(ask)


def main() -> None:
    """Print one line a figure."""
    asked = questions()
    began = time.perf_counter()
    for question in asked:
        route_by_rules(question)
    each_us = (time.perf_counter() - began) / len(asked) * 1_000_000
    print(f"route by rules         {each_us:8.0f} µs a question, {len(asked)} questions")
    dice = random.Random(7)
    for size in [int(word) for word in sys.argv[1:]] or SIZES:
        with tempfile.TemporaryDirectory() as folder:
            index = KnowledgeFiles(Path(folder)).of("bench")
            made = pages(size, dice)
            began = time.perf_counter()
            index.add(made)
            adding_s = time.perf_counter() - began
            queries = [
                " ".join(dice.choice(dice.choice(made).passages).text.split()[:10])
                for _ in range(SEARCHES)
            ]
            took = search(index, queries)
            megabytes = index.file.stat().st_size / 1_000_000
        print(
            f"search {size:7} passages {took[len(took) // 2]:6.1f} ms median, {took[-1]:6.1f} ms "
            f"worst of {SEARCHES}; indexed in {adding_s:.1f} s, {megabytes:.0f} MB"
        )


if __name__ == "__main__":
    main()
