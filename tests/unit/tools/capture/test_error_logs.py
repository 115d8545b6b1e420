"""`error_logs`: what the services complained of, by kind, and whether that is new."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest

from affidavit.adapters.duckdb_queries import LINE_CHARS_MAX, template_expression
from affidavit.adapters.incident_folder import load_incident
from affidavit.contract.evidence import Change, Envelope, Line
from affidavit.contract.states import Emitter, EvidenceStatus
from affidavit.tools.capture.error_logs import TEMPLATES_MAX
from tests.support.incidents import START, Cell, call, jsonl, log_row, write_folder

pytestmark = pytest.mark.anyio


async def errors(folder: Path, rows: Iterable[Mapping[str, Cell]], **arguments: object) -> Envelope:
    """The error lines of a folder with these log lines."""
    write_folder(folder, logs_jsonl=jsonl(rows))
    with load_incident(folder) as loaded:
        return await call(loaded, "error_logs", arguments)


def lines(envelope: Envelope) -> list[Line]:
    return [fact for fact in envelope.facts if isinstance(fact, Line)]


def changes(envelope: Envelope) -> list[Change]:
    return [fact for fact in envelope.facts if isinstance(fact, Change)]


def test_what_varies_is_masked() -> None:
    """Ids, numbers, addresses and quoted texts; words stay."""
    for line, template in (
        ("GET /orders/8391 failed after 5000ms", "GET /orders/<*> failed after <*>ms"),
        ("id 7f445865-ddfd-4e14-b752-31b5bb672cf7 ok", "id <*> ok"),
        ("user 'bob' isn't here, don't ask", "user <*> isn't here, don't ask"),
        ("to 10.0.0.1:8080 at 0x7ffe, deadbeefcafe", "to <*> at <*>, <*>"),
        ('{"a": "b c"}  \n done', "{<*>: <*>} done"),
        ("took 1,234.5 ms", "took <*> ms"),
        ("a bad decade", "a bad decade"),
    ):
        sql = f"SELECT {template_expression('$line')}"
        assert duckdb.execute(sql, {"line": line}).fetchone() == (template,)


async def test_lines_of_a_kind_are_one_fact(tmp_path: Path) -> None:
    """Counted, with the first one verbatim, its time, service and level."""
    rows = [
        log_row(3, "payment timed out after 6000 ms"),
        log_row(2, "payment timed out after 5000 ms"),
        log_row(4, "all is well", "INFO"),
        log_row(5, "cart is empty", "Fatal", service_name="cart"),
        log_row(11, "after the window"),
    ]
    found = await errors(tmp_path, rows)
    first, second = lines(found)
    assert (first.text, first.count) == ("payment timed out after 5000 ms", 2)
    assert (first.subject, first.level) == ("checkout", "ERROR")
    assert first.at == START + timedelta(minutes=2)
    assert (second.text, second.subject, second.level) == ("cart is empty", "cart", "FATAL")
    assert found.total == found.count == 2
    assert found.notes[0] == "3 error lines of 2 kinds, 0 of them new or risen"


async def test_new_and_risen_kinds_are_flagged_and_come_first(tmp_path: Path) -> None:
    """Against what came before, a minute for a minute."""
    before = [log_row(at, "retrying 1") for at in range(-10, 0)]
    before += [log_row(at, "slow answer 2") for at in range(-10, 0)]
    within = [log_row(at, "retrying 3") for at in range(10)]
    within += [log_row(at, "slow answer 4") for at in range(10)] * 4
    within += [log_row(5, "pool exhausted")]
    found = await errors(tmp_path, before + within)
    assert [line.text for line in lines(found)] == ["slow answer 4", "pool exhausted", "retrying 3"]
    risen, new = changes(found)
    assert risen.attribute == "error lines like: slow answer <*>"
    assert (risen.after.number, risen.after.unit) == (Decimal(4), "{line}/min")
    assert Decimal("0.9") < risen.before.number < Decimal("1.2")
    assert new.attribute == "error lines like: pool exhausted"
    assert (new.before.number, new.after.number) == (Decimal(0), Decimal("0.1"))
    assert {risen.direction, new.direction} == {"up"}
    assert new.baseline is not None
    assert new.baseline.start == START - timedelta(minutes=10)


async def test_nothing_is_new_where_nothing_was_recorded_before(tmp_path: Path) -> None:
    """A service without a line in the baseline was perhaps not recorded."""
    rows = [log_row(-5, "hello", "INFO", service_name="cart")]
    rows += [log_row(1, "down"), log_row(1, "down", service_name="cart")]
    found = await errors(tmp_path, rows)
    assert [(change.subject, change.before.number) for change in changes(found)] == [
        ("cart", Decimal(0))
    ]


@pytest.mark.spec("T4", "G9")
async def test_no_error_line_is_no_evidence(tmp_path: Path) -> None:
    """In that tenant, window and service nothing was found: that, and no more."""
    rows = [log_row(1, "fine", "INFO"), log_row(1, "down", service_name="cart")]
    found = await errors(tmp_path, rows, service="checkout")
    assert found.status is EvidenceStatus.NO_EVIDENCE
    assert (found.count, found.total, found.facts) == (0, 0, ())
    assert (found.scope.service, found.scope.query) == ("checkout", "error lines")


async def test_a_level_that_is_not_there_is_read_from_the_line(tmp_path: Path) -> None:
    """From the words that loggers print, and from them alone."""
    rows = [
        log_row(1, "12:00:01 ERROR c.e.Pool - exhausted", None),
        log_row(2, "panic: index out of range", None),
        log_row(3, "Traceback (most recent call last):", ""),
        log_row(4, "no errors found", None),
        log_row(5, "errors: 0", None),
    ]
    assert [line.text[:5] for line in lines(await errors(tmp_path, rows))] == [
        "12:00",
        "panic",
        "Trace",
    ]


@pytest.mark.spec("C13", "N16")
async def test_whose_words_they_are(tmp_path: Path) -> None:
    """As the line says; the application's where it says nothing; an unknown word earns no trust."""
    rows = [
        log_row(1, "one", emitter="platform"),
        log_row(2, "two"),
        log_row(3, "three", emitter="request"),
        log_row(4, "four", emitter="kernel"),
    ]
    assert [(line.text, line.emitter) for line in lines(await errors(tmp_path, rows))] == [
        ("one", Emitter.PLATFORM),
        ("two", Emitter.WORKLOAD),
        ("three", Emitter.REQUEST),
        ("four", Emitter.REQUEST),
    ]


@pytest.mark.spec("C15")
@pytest.mark.fault("R44")
async def test_what_is_left_out_is_declared(tmp_path: Path) -> None:
    """Kinds beyond the bound are counted, the most frequent stay; a long line is cut."""
    words = [f"{chr(97 + place // 26)}{chr(97 + place % 26)}" for place in range(60)]
    rows = [log_row(1, f"{word} failed") for word in words]
    rows += [log_row(2, "most frequent " + "x" * 5000)] * 3
    found = await errors(tmp_path, rows)
    assert len(lines(found)) == TEMPLATES_MAX
    assert lines(found)[0].count == 3
    assert len(lines(found)[0].text) == LINE_CHARS_MAX
    assert (found.truncated, found.total) == (True, 61)
    assert "63 error lines of 61 kinds" in found.notes[0]
