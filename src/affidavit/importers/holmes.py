"""HolmesGPT's recorded tool outputs: what its tools answered, to be answered again.

Layout: `test_*/CASE/` with `test_case.yaml` (question and expected answer), perhaps
`issue_data.json`, and a file an answer: one JSON line with the tool and the parameters that it
matches, one with status (success, error, no_data), invocation and parameters, then the raw text.

There are no series: a folder holds `recordings/` alone, one JSON file an answer. The window is what
the zoned times in the answers span; a case without any is asked about all of time, and says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import yaml

from affidavit.contract.errors import InputRefused
from affidavit.importers.folder import (
    Alert,
    Incident,
    Json,
    Symptom,
    Truth,
    Window,
    new_folder,
    read_object,
    read_text,
    write_json,
)

STATUSES: Final = ("success", "error", "no_data")

STAMP: Final = re.compile(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)")
"""An RFC 3339 time with a zone, as Kubernetes and loggers print it."""

EVER: Final = Window(datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC))
"""For answers that say no time at all."""

STAMPS_MAX: Final = 10_000
"""Times looked at in one answer; only the first and the last matter."""

QUESTION_CHARS_MAX: Final = 4000
TITLE_CHARS_MAX: Final = 120


@dataclass(frozen=True, slots=True)
class Answer:
    """One recorded tool answer; `matches` is empty where any parameters match."""

    name: str
    toolset: str
    tool: str
    matches: Mapping[str, Json]
    status: str
    invocation: str
    parameters: Mapping[str, Json]
    error: str
    text: str


def import_holmes(src: Path, dst: Path) -> list[Path]:
    """Writes one folder a case of `src` under `dst`."""
    cases = sorted(path.parent for path in src.glob("*/*/test_case.yaml"))
    if not cases:
        raise InputRefused(f"{src} holds no case", hint="expected test_*/CASE/test_case.yaml")
    return [import_case(path, dst) for path in cases]


def import_case(path: Path, dst: Path) -> Path:
    """Writes one case."""
    case = read_case(path / "test_case.yaml")
    answers = tuple(read_answer(file) for file in sorted(path.glob("*.txt")))
    name = f"holmes-{path.parent.name.removeprefix('test_').split('_')[0]}-{number_of(path.name)}"
    window = window_of(answer.text for answer in answers)
    incident = make_incident(name, path, case, window)
    expected = case.get("expected_output") or ()
    lines = [expected] if isinstance(expected, str) else [str(line) for line in expected]
    truth = Truth(faulty=True if answers_alert(path) else None, notes="\n".join(lines))
    with new_folder(dst, incident, truth) as folder:
        (folder / "recordings").mkdir()
        for answer in answers:
            write_json(folder / "recordings" / f"{answer.name}.json", answer_record(answer))
    return dst / name


def answers_alert(path: Path) -> bool:
    """Whether the case is about an alert; the others ask anything, such as a count."""
    return (path / "issue_data.json").is_file()


def number_of(name: str) -> str:
    """The case's number; the words behind it may say what is wrong.

    Variants share a number, so that a few letters of a digest follow where there are words.
    """
    digits = re.match(r"\d+[a-z]?", name)
    mark = format(sum(ord(c) * 31**i for i, c in enumerate(name)) % 0x10000, "04x")
    return f"{digits[0] if digits else 'x'}-{mark}"


def make_incident(name: str, path: Path, case: Mapping[str, Any], window: Window) -> Incident:
    """The question; where the case is an alert, the alert as it came."""
    issue_file = path / "issue_data.json"
    issue = read_object(issue_file) if issue_file.is_file() else {}
    subject = issue.get("subject") or {}
    question = str(case.get("user_prompt") or issue.get("description") or issue.get("name") or "")
    alert = None
    if issue:
        alert = Alert(
            str(issue.get("name") or issue.get("title") or "issue"),
            window.end,
            {k: str(v) for k, v in subject.items() if isinstance(v, str) and v},
            str(issue.get("description") or ""),
        )
    untimed = " The answers carry no time with a zone." if window == EVER else ""
    return Incident(
        id=name,
        title=question.strip().split("\n", 1)[0][:TITLE_CHARS_MAX] or name,
        question=question.strip()[:QUESTION_CHARS_MAX] or "What is wrong?",
        window=window,
        symptom=Symptom(str(subject.get("name") or "unknown")),
        alert=alert,
        description="HolmesGPT, Apache-2.0. Recorded tool answers, no series." + untimed,
    )


def read_case(path: Path) -> Mapping[str, Any]:
    """The case's question and answer. Errors: InputRefused."""
    try:
        value = yaml.safe_load(read_text(path))
    except yaml.YAMLError as error:
        raise InputRefused(f"{path} is no YAML: {error}") from error
    if not isinstance(value, dict):
        raise InputRefused(f"{path} is no YAML mapping")
    return value


def read_answer(path: Path) -> Answer:
    """One recorded answer. Errors: InputRefused."""
    head, _, rest = read_text(path).partition("\n")
    state, _, text = rest.partition("\n")
    try:
        tool, outcome = json.loads(head), json.loads(state)
        status = str(outcome["status"])
        if status not in STATUSES:
            raise ValueError(f"status {status!r}")
        return Answer(
            name=path.stem,
            toolset=str(tool["toolset_name"]),
            tool=str(tool["tool_name"]),
            matches=dict(tool.get("match_params") or {}),
            status=status,
            invocation=str(outcome.get("invocation") or ""),
            parameters=dict(outcome.get("params") or {}),
            error=str(outcome.get("error") or ""),
            text=text,
        )
    except (json.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise InputRefused(f"{path} is no recorded answer: {error!r}") from error


def answer_record(answer: Answer) -> dict[str, Json]:
    """An answer as it is kept."""
    return {
        "toolset": answer.toolset,
        "tool": answer.tool,
        "matches": dict(answer.matches),
        "status": answer.status,
        "invocation": answer.invocation,
        "parameters": dict(answer.parameters),
        "error": answer.error,
        "result": answer.text,
    }


def window_of(texts: Iterable[str]) -> Window:
    """From the first to the last zoned time that the answers print."""
    stamps = [
        at
        for text in texts
        for found in list(STAMP.finditer(text))[:STAMPS_MAX]
        if (at := moment(found[0])) is not None
    ]
    if not stamps:
        return EVER
    return Window(min(stamps), max(*stamps, min(stamps) + timedelta(seconds=1)))


def moment(text: str) -> datetime | None:
    """A printed time, cut to microseconds; None where it is none, such as a 13th month."""
    try:
        return datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", text)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
