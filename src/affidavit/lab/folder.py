"""Write an incident folder from what the processes wrote: Parquet for the signals, YAML for people.

The format is documented in docs/incident-folder.md. Rows are ordered by time and otherwise left
as they were emitted.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import duckdb
import yaml

COLUMNS: Final[Mapping[str, Mapping[str, str]]] = {
    "metrics": {
        "timestamp": "BIGINT",
        "service_name": "VARCHAR",
        "metric_name": "VARCHAR",
        "value": "DOUBLE",
        "unit": "VARCHAR",
        "statistic": "VARCHAR",
        "instance": "VARCHAR",
    },
    "logs": {
        "timestamp": "BIGINT",
        "service_name": "VARCHAR",
        "severity_text": "VARCHAR",
        "body": "VARCHAR",
        "instance": "VARCHAR",
        "trace_id": "VARCHAR",
        "span_id": "VARCHAR",
        "emitter": "VARCHAR",
    },
    "traces": {
        "trace_id": "VARCHAR",
        "span_id": "VARCHAR",
        "parent_span_id": "VARCHAR",
        "service_name": "VARCHAR",
        "name": "VARCHAR",
        "kind": "VARCHAR",
        "timestamp": "BIGINT",
        "duration_us": "BIGINT",
        "status_code": "VARCHAR",
        "status_message": "VARCHAR",
        "instance": "VARCHAR",
    },
    "events": {
        "timestamp": "BIGINT",
        "event_name": "VARCHAR",
        "service_name": "VARCHAR",
        "id": "VARCHAR",
        "body": "VARCHAR",
    },
}
"""The columns of each signal as the processes write them, and in this order in the folder."""


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Append rows as JSON lines, as every process of the rig does."""
    with path.open("a", encoding="utf-8") as stream:
        stream.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def write_signal(signal: str, sources: Path, since_us: int, out: Path) -> int:
    """Merge every `*.<signal>.jsonl` of `sources` into `out/<signal>.parquet`.

    Rows before `since_us` (epoch microseconds: the warm-up) are left out; times become UTC
    timestamps. Returns the number of rows; a signal without any row gets no file.
    """
    columns = COLUMNS[signal]
    if not any(path.stat().st_size for path in sources.glob(f"*.{signal}.jsonl")):
        return 0
    typed = ", ".join(f"'{name}': '{kind}'" for name, kind in columns.items())
    chosen = ", ".join(
        "make_timestamptz(timestamp) AS timestamp" if name == "timestamp" else name
        for name in columns
    )
    target = out / f"{signal}.parquet"
    with duckdb.connect(config={"threads": 1}) as session:
        session.execute("SET TimeZone = 'UTC'")
        session.execute(
            f"CREATE TABLE rows AS SELECT {chosen} FROM read_json(?, "  # noqa: S608 - own table
            f"format = 'newline_delimited', columns = {{{typed}}}) "
            "WHERE timestamp >= ? ORDER BY timestamp",
            [str(sources / f"*.{signal}.jsonl"), since_us],
        )
        found = session.execute("SELECT count(*) FROM rows").fetchone()
        count = int(found[0]) if found else 0
        if count:
            session.execute(f"COPY rows TO '{_quoted(target)}' (FORMAT parquet, COMPRESSION zstd)")
    return count


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")


def write_yaml(path: Path, content: Mapping[str, Any]) -> None:
    """Write a mapping as YAML, keys in the given order, no aliases."""
    text = yaml.safe_dump(dict(content), sort_keys=False, allow_unicode=True, width=96)
    path.write_text(text, encoding="utf-8")


def write_json(path: Path, content: Any) -> None:
    """Write JSON for people: indented, with a newline at the end."""
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
