"""Tables in JSON are read as the records that they stand for; all else stays as it was."""

from __future__ import annotations

import pytest

from affidavit.tools.readers.grids import unfold

RECORDS = [{"pod": "a-1", "restarts": 3}, {"pod": "a-2", "restarts": 0}]


@pytest.mark.spec("T5")
@pytest.mark.parametrize(
    "document",
    [
        {"columns": ["pod", "restarts"], "rows": [["a-1", 3], ["a-2", 0]]},
        {"fields": [{"name": "pod"}, {"name": "restarts"}], "rows": [["a-1", 3], ["a-2", 0]]},
        {"schema": {"fields": [{"name": "pod"}, {"name": "restarts"}]},
         "rows": [["a-1", 3], ["a-2", 0]]},
        {"header": ["pod", "restarts"], "rows": [["a-1", 3], ["a-2", 0]]},
    ],
)  # fmt: skip
def test_a_table_is_its_records(document: dict[str, object]) -> None:
    assert unfold(document) == {"rows": RECORDS}


@pytest.mark.spec("T5")
def test_a_table_lies_inside_an_answer_that_keeps_its_other_fields() -> None:
    series = {"name": "cpu", "columns": ["time", "mean"], "values": [["10:00", 3]]}
    answer = {"results": [{"statement_id": 0, "series": [series]}], "took_ms": 4}
    inner = {"name": "cpu", "values": [{"time": "10:00", "mean": 3}]}
    assert unfold(answer) == {"results": [{"statement_id": 0, "series": [inner]}], "took_ms": 4}


@pytest.mark.spec("T5")
@pytest.mark.parametrize(
    "document",
    [
        {"columns": ["pod", "restarts"], "rows": [["a-1"], ["a-2", 0]]},
        {"columns": ["pod", "pod"], "rows": [["a-1", 3]]},
        {"columns": ["pod", ""], "rows": [["a-1", 3]]},
        {"columns": ["pod", "restarts"], "rows": []},
        {"columns": 2, "rows": [[1, 2]]},
        {"metric": {"pod": "a"}, "values": [[1, "2"], [3, "4"]]},
        {"rows": [{"pod": "a-1"}]},
        [[1, 2], [3, 4]],
        "text",
        None,
    ],
)
def test_what_is_no_table_is_the_very_same(document: object) -> None:
    assert unfold(document) is document
