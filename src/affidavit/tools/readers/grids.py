"""Tables in JSON: names of columns beside rows of bare values, as databases and notebooks answer.

`{"columns": ["pod", "restarts"], "rows": [["a-1", 3]]}` is read as the records that it stands for;
BigQuery's and Athena's `fields`, InfluxDB's `values`, Grafana's and Kusto's named columns alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from affidavit.tools.readers.fields import is_list

HEADS: Final = ("columns", "fields", "header", "headers", "column_names", "columnNames", "schema")
BODIES: Final = ("rows", "values", "data", "records", "result", "results")
NAME_KEYS: Final = ("name", "text", "ColumnName", "columnName", "Name", "label")
COLUMNS_MAX: Final = 200
"""More columns are a matrix of numbers."""
DEPTH_MAX: Final = 5
"""So deep in an answer a table may lie."""


def unfold(document: object, depth: int = DEPTH_MAX) -> object:
    """The document with each such table as a list of records; the very same where there is none."""
    if isinstance(document, Mapping):
        table = _table(document)
        if table is not None:
            return table
        if not depth:
            return document
        inner = {key: unfold(value, depth - 1) for key, value in document.items()}
        same = all(inner[key] is value for key, value in document.items())
        return document if same else inner
    if is_list(document) and depth and any(isinstance(entry, Mapping) for entry in document):
        entries = [unfold(entry, depth - 1) for entry in document]
        same = all(new is old for new, old in zip(entries, document, strict=True))
        return document if same else entries
    return document


def _table(document: Mapping[str, object]) -> dict[str, object] | None:
    for head in HEADS:
        names = _names(document.get(head))
        if names is None:
            continue
        for body in BODIES:
            rows = document.get(body)
            if body != head and is_list(rows) and _fit(rows, len(names)):
                records = [dict(zip(names, row, strict=True)) for row in rows if is_list(row)]
                rest = {key: value for key, value in document.items() if key not in {head, body}}
                return {**rest, body: records}
    return None


def _names(head: object) -> tuple[str, ...] | None:
    """The names of columns: texts, or objects that have a name; each once."""
    if isinstance(head, Mapping):
        head = head.get("fields")
    if not is_list(head) or not 1 < len(head) <= COLUMNS_MAX:
        return None
    names = [_name(entry) for entry in head]
    kept = [name for name in names if name]
    return tuple(kept) if len(set(kept)) == len(names) else None


def _name(entry: object) -> str:
    if isinstance(entry, Mapping):
        entry = next((entry[key] for key in NAME_KEYS if isinstance(entry.get(key), str)), None)
    return entry.strip() if isinstance(entry, str) else ""


def _fit(rows: Sequence[object], size: int) -> bool:
    return bool(rows) and all(is_list(row) and len(row) == size for row in rows)
