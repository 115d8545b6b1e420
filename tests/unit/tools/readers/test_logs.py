"""Log lines: entries, levels, fields, exception chains, and whose words they are."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from affidavit.contract.evidence import Line
from affidavit.contract.states import Emitter
from tests.unit.tools.readers.shown import cells, edges, lines, quantity, read, rows


def read_log(text: str, **arguments: object):  # type: ignore[no-untyped-def]  # see `read`
    """A text that a log tool returned."""
    return read(text, "kubectl_logs", arguments=arguments)


@pytest.mark.spec("T5")
@pytest.mark.parametrize(
    ("line", "level"),
    [
        ("2031-05-04T01:10:00.5Z ERROR seat map missing", "ERROR"),
        ("2031-05-04 01:10:00,500 - WARNING - seat map missing", "WARN"),
        ("2031/05/04 01:10:00 [crit] 31#31: seat map missing", "FATAL"),
        ("E0504 01:10:00.500000 7 main.go:8] seat map missing", "ERROR"),
        ('ts=2031-05-04T01:10:00.5Z level=info msg="seat map missing"', "INFO"),
        ('{"ts": "2031-05-04T01:10:00.5Z", "level": "error", "msg": "seat map missing"}', "ERROR"),
        ('{"time": 1935623400500, "level": 50, "msg": "seat map missing"}', "ERROR"),
        ("May  4 01:10:00 pier-2 gate[77]: seat map missing", None),
        ("[pod/gate-1/app] 2031-05-04T01:10:00.5Z FATAL seat map missing", "FATAL"),
        ("[ERROR] 2031-05-04T01:10:00.5Z plugin/seats: map missing", "ERROR"),
        ("1:X 04 May 2031 01:10:00.500 # seat map missing", None),
        ("<27>May  4 01:10:00 pier-2 gate[77]: seat map missing", None),
    ],
)
def test_time_and_level_are_read_from_every_logger(line: str, level: str | None) -> None:
    """One moment, one vocabulary of levels."""
    first = lines(read_log(line, service="gate"))[0]
    assert first.text == line
    assert first.level == level
    assert first.at is not None
    assert first.at.replace(microsecond=0) == datetime(2031, 5, 4, 1, 10, tzinfo=UTC)


def test_a_line_is_about_the_service_that_was_asked_or_names_itself() -> None:
    """The arguments name the subject; a line's own service or pod is narrower."""
    assert lines(read_log("2031-05-04T01:10:00Z INFO up", service="gate"))[0].subject == "gate"
    own = read_log('{"service": "kiosk", "msg": "up", "level": "info"}', service="gate")
    assert lines(own)[0].subject == "kiosk"
    prefixed = read_log("[pod/gate-1/app] 2031-05-04T01:10:00Z INFO up", service="gate")
    assert lines(prefixed)[0].subject == "gate-1"


def test_fields_of_a_line_are_cells_with_units() -> None:
    """logfmt, and pairs inside a sentence."""
    envelope = read_log(
        '2031-05-04T01:10:00Z WARN pool (total=20, idle=0) took=22.5s err="no seat left" mem=7.9GiB'
    )
    row = rows(envelope)[0]
    assert quantity(row, "total") == ("20", "")
    assert quantity(row, "took") == ("22.5", "s")
    assert quantity(row, "mem") == ("7.9", "GiB")
    assert cells(row)["err"] == "no seat left"
    assert row.at == datetime(2031, 5, 4, 1, 10, tzinfo=UTC)


CHAIN = """\
2031-05-04T01:10:00Z ERROR boarding failed
com.acme.SeatException: no seat
\tat com.acme.Seats.take(Seats.java:41)
Caused by: java.sql.SQLTimeoutException: pool-3 - timed out after 30000ms (active=20)
\t... 7 more
2031-05-04T01:10:05Z INFO next
"""


def test_a_chain_of_exceptions_is_one_entry() -> None:
    """Stack lines hang on their entry; each exception is a row, a cause says so."""
    envelope = read_log(CHAIN, service="boarding")
    assert envelope.count == 2
    chain = [row for row in rows(envelope) if "exception" in cells(row)]
    assert [cells(row)["exception"] for row in chain] == [
        "com.acme.SeatException",
        "java.sql.SQLTimeoutException",
    ]
    assert cells(chain[1])["role"] == "cause"
    quoted = [line for line in lines(envelope) if line.text.startswith("Caused by:")]
    assert (quoted[0].level, quoted[0].subject) == ("ERROR", "boarding")
    assert quoted[0].at == datetime(2031, 5, 4, 1, 10, tzinfo=UTC)


def test_a_python_traceback_is_one_entry() -> None:
    """Its last line names the exception."""
    text = (
        "2031-05-04 01:10:00,1 ERROR job died\nTraceback (most recent call last):\n"
        '  File "/app/load.py", line 8, in load\n    rows = fetch()\n'
        "ValueError: bad row 17\n2031-05-04 01:10:09,1 INFO bye\n"
    )
    envelope = read_log(text)
    assert envelope.count == 2
    assert any(cells(row).get("exception") == "ValueError" for row in rows(envelope))


@pytest.mark.fault("R26")
def test_times_without_a_zone_are_declared() -> None:
    """The reading says what it took for granted, or that it could not place them."""
    inside = read_log("2031-05-04 01:10:00 ERROR a\n2031-05-04 01:10:01 ERROR b")
    assert any("read as UTC" in note for note in inside.notes)
    outside = read_log("2031-05-04 09:10:00 ERROR a\n2031-05-04 09:10:01 ERROR b")
    assert lines(outside)[0].at is None
    assert any("cannot be placed" in note for note in outside.notes)


def test_terminal_colours_and_hidden_characters_are_no_words() -> None:
    """What is quoted is what is seen."""
    text = "\x1b[31m2031-05-04T01:10:00Z ERROR\x1b[0m seat\u200b map \u202emissing"
    assert lines(read_log(text))[0].text == "2031-05-04T01:10:00Z ERROR seat map missing"


# --- Whose words --------------------------------------------------------------------------------

ATTACK = "because+the+pump+was+exhausted"


def own(found: list[Line], emitter: Emitter | None = None) -> str:
    """What a reading holds as somebody else's words than a caller's."""
    return "\n".join(line.text for line in found if line.emitter is emitter)


@pytest.mark.spec("C13", "N16")
@pytest.mark.fault("R54")
@pytest.mark.parametrize(
    "line",
    [
        f'192.0.2.7 - - [04/May/2031:01:10:00 +0000] "GET /?q={ATTACK} HTTP/1.1" 502 17 "-" "x"',
        f'192.0.2.7 - - [04/May/2031:01:10:00 +0000] "GET / HTTP/1.1" 200 2 "-" "{ATTACK}"',
        f"2031-05-04T01:10:00Z INFO gate GET /{ATTACK} 200 4ms",
        f'2031-05-04T01:10:00Z INFO done user_agent="{ATTACK}" status=200',
        f'2031/05/04 01:10:00 [error] 7#7: *1 open() failed, request: "GET /{ATTACK} HTTP/1.1"',
        f'192.0.2.7 - - [04/May/2031:01:10:00 +0000] "GET /x\\" {ATTACK} HTTP/1.1" 404 7 "-" "x"',
        f'192.0.2.7 - - [04/May/2031:01:10:00 +0000] "GET / HTTP/1.1" 404 7 "-" "x" why={ATTACK} "',
        f'192.0.2.7 - - [04/May/2031:01:10:00 +0000] "GET / HTTP/1.1" 404 7 "-" "x\\" y={ATTACK}"',
        f"2031-05-04T01:10:00Z INFO gate GET /{'a' * 5_000}{ATTACK} 200 4ms",
        f'2031-05-04T01:10:00Z INFO gate "GET /{"a" * 5_000} {ATTACK}" 200 4ms',
        f'2031-05-04T01:10:00Z INFO gate "GET /x never closed {ATTACK}',
        f"2031-05-04T01:10:00Z INFO done user_agent=Mozilla/5.0 (x; {ATTACK})",
        json.dumps({"level": "info", "msg": "served", "req": {"url": f"/{ATTACK}"}}),
        json.dumps({"level": "info", "msg": f"served GET /{ATTACK}"}),
        json.dumps({"level": "info", "msg": "served", "http.user_agent": ATTACK}),
    ],
)
def test_what_a_caller_wrote_is_only_ever_request_text(line: str) -> None:
    """Wherever the caller's words stand, every fact that holds them is marked."""
    envelope = read_log(line, service="gate")
    assert ATTACK in own(lines(envelope), Emitter.REQUEST)
    assert ATTACK not in own(lines(envelope))
    for row in rows(envelope):
        for cell in row.cells:
            assert cell.emitter is Emitter.REQUEST or ATTACK not in (cell.text or "")


@pytest.mark.spec("C13", "N16")
def test_fields_inside_a_request_are_the_caller_s() -> None:
    """A decoded path may look like fields; a field after it may not be hidden by it."""
    line = '2031-05-04T01:10:00Z INFO done user_agent="x status=500" status=200'
    marks = [(c.name, cells_text, c.emitter) for row in rows(read_log(line)) for c in row.cells
             for cells_text in [str(c.quantity.number) if c.quantity else c.text]]  # fmt: skip
    assert ("status", "200", None) in marks
    assert all(emitter is Emitter.REQUEST for _, text, emitter in marks if text == "500")
    forged = '2031-05-04T01:10:00Z INFO "GET /a status=500 HTTP/1.1" 200'
    for row in rows(read_log(forged)):
        assert {cell.emitter for cell in row.cells if cell.name == "status"} <= {Emitter.REQUEST}


@pytest.mark.spec("C13", "N16")
def test_a_forged_upstream_is_no_relation() -> None:
    """nginx prints the request unescaped; two upstreams prove none."""
    line = (
        "2031/05/04 01:10:00 [error] 7#7: *1 connect() failed, client: 192.0.2.7, server: api, "
        'request: "GET /", upstream: "http://victim/" HTTP/1.1", upstream: "http://10.1.0.4:8080/"'
    )
    assert not edges(read(line, "read_error_log", arguments={"host": "edge-1"}))


@pytest.mark.spec("C13")
def test_the_server_s_own_words_survive_beside_the_request() -> None:
    """A line with a request is read a second time without it."""
    envelope = read_log("2031-05-04T01:10:00Z ERROR POST /pay 500 — seat service lookup failed")
    assert "500 — seat service lookup failed" in own(lines(envelope))


def test_an_access_log_is_read_by_field() -> None:
    """Status and bytes are the server's, path and agent the caller's."""
    line = (
        '192.0.2.7 - - [04/May/2031:01:10:00 +0000] "POST /seat HTTP/1.1" 502 157 "-" "x" '
        "rt=0.003 upstream_addr=10.1.0.4:8080"
    )
    envelope = read(line, "read_access_log", arguments={"host": "edge-1"})
    row = rows(envelope, "edge-1")[0]
    assert quantity(row, "status") == ("502", "")
    assert cells(row)["path"] == "/seat"
    marks = {cell.name: cell.emitter for cell in row.cells}
    assert (marks["status"], marks["path"]) == (None, Emitter.REQUEST)


def test_a_proxy_s_error_names_its_upstream() -> None:
    """nginx prints whom it called; the URL's path is the caller's."""
    line = (
        "2031/05/04 01:10:00 [error] 7#7: *1 connect() failed (111: Connection refused) while "
        'connecting to upstream, client: 192.0.2.7, server: api, request: "GET /a HTTP/1.1", '
        'upstream: "http://10.1.0.4:8080/a"'
    )
    envelope = read(
        line, "read_error_log", arguments={"host": "edge-1", "path": "/var/log/nginx/error.log"}
    )
    assert envelope.emitter is Emitter.PLATFORM
    assert ("edge-1", "calls", "10.1.0.4:8080") in edges(envelope)
    assert any(
        line.emitter is None and "Connection refused" in line.text for line in lines(envelope)
    )


def test_a_log_about_certificates_or_answers_is_a_log() -> None:
    """What a line mentions does not make the text something else."""
    text = (
        "2031-05-04T01:10:00Z WARN leaf CN=pay.svc notAfter=May  4 01:00:00 2031 GMT is expired\n"
        "2031-05-04T01:10:01Z ERROR got\nHTTP/1.1 503 Service Unavailable\n"
        "2031-05-04T01:10:02Z INFO retry\n"
    )
    envelope = read_log(text, service="till")
    assert envelope.notes[0] == "shape: log"
    assert {line.subject for line in lines(envelope)} == {"till"}
