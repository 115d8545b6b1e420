"""Tables in text."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from affidavit.contract.states import EvidenceStatus
from tests.unit.tools.readers.shown import cells, edges, lines, quantity, read, rows, values

PODS = """\
NAMESPACE   NAME          READY   STATUS             RESTARTS         AGE
harbour     gate-7f-x2    0/1     CrashLoopBackOff   16 (5m11s ago)   57m
harbour     gate-7f-q9    1/1     Running            0                9d
"""


@pytest.mark.spec("T5")
def test_aligned_columns_give_a_row_an_entity() -> None:
    """The row's key is its NAME, and every line stays quotable."""
    envelope = read(PODS, "kubectl_get")
    assert envelope.count == 2
    row = rows(envelope, "gate-7f-x2")[0]
    assert cells(row)["STATUS"] == "CrashLoopBackOff"
    assert quantity(row, "RESTARTS") == ("16", "")
    assert quantity(row, "AGE") == ("57", "min")
    texts = [line.text for line in lines(envelope)]
    assert texts == PODS.rstrip("\n").split("\n")


def test_an_empty_cell_in_the_middle_shifts_nothing() -> None:
    """A claim without a volume keeps its class."""
    text = (
        "NAME       STATUS    VOLUME   CAPACITY   STORAGECLASS   AGE\n"
        "seats-pv   Pending                       fast-v2        6m58s\n"
    )
    row = rows(read(text, "kubectl_get"))[0]
    assert cells(row)["STORAGECLASS"] == "fast-v2"
    assert cells(row)["VOLUME"] is None
    assert quantity(row, "AGE") == ("418", "s")


def test_two_tables_in_one_text_are_both_read() -> None:
    """`kubectl get jobs,pods` prints two."""
    text = (
        "NAME               COMPLETIONS   DURATION\njob.batch/night-1   0/1           10h\n\n"
        "NAME              READY   STATUS\npod/night-1-p4   1/1     Running\n"
    )
    envelope = read(text, "kubectl_get")
    assert {row.subject for row in rows(envelope)} == {"night-1", "night-1-p4"}


def test_events_say_how_often_and_about_whom() -> None:
    """The object names the subject; `(x26 over …)` is a count."""
    text = (
        "LAST SEEN             TYPE      REASON    OBJECT       MESSAGE\n"
        "21s (x26 over 6m35s)  Warning   BackOff   pod/gate-1   Back-off restarting container\n"
    )
    envelope = read(text, "kubectl_events")
    row = rows(envelope, "gate-1")[0]
    assert quantity(row, "count") == ("26", "")
    assert quantity(row, "LAST SEEN") == ("21", "s")
    line = lines(envelope)[-1]
    assert (line.level, line.count, line.subject) == ("WARN", 26, "gate-1")


PSQL = """\
 blocked_pid | blocking_pid |            query             | waiting_for
-------------+--------------+------------------------------+-------------
        4120 |         3977 | UPDATE berth SET free = true | 00:06:41
(1 row)
"""


def test_sql_output_has_rows_a_total_and_relations() -> None:
    """psql counts its rows; a blocking tree says who blocks whom."""
    envelope = read(PSQL, "pg_query", arguments={"sql": "select … from pg_locks"})
    assert (envelope.count, envelope.total, envelope.truncated) == (1, 1, False)
    assert cells(rows(envelope, "4120")[0])["waiting_for"] == "00:06:41"
    assert ("3977", "blocks", "4120") in edges(envelope)
    assert "(1 row)" in [line.text for line in lines(envelope)]


@pytest.mark.parametrize(
    "text",
    [
        "| tier | who |\n|---|---|\n| 1 | on call |\n| 2 | team |\n",
        (
            "+------+---------+\n| tier | who     |\n+------+---------+\n| 1    | on call |\n"
            "| 2    | team    |\n+------+---------+\n"
        ),
        "tier | who\n-----------\n1 | on call\n2 | team\n",
        "tier,who\n1,on call\n2,team\n",
        "TIER\tWHO\n1\ton call\n2\tteam\n",
    ],
    ids=["markdown", "mysql", "pipes", "csv", "tabs"],
)
def test_every_drawing_of_a_table_is_the_same_table(text: str) -> None:
    """Two rows, each with its two cells."""
    found = [{k.lower(): v for k, v in cells(row).items()} for row in rows(read(text))]
    assert found == [{"tier": "1", "who": "on call"}, {"tier": "2", "who": "team"}]


def test_a_table_in_long_form_gives_values_with_their_time() -> None:
    """time, service, metric, value."""
    text = "timestamp,service,metric,value\n2031-05-04T01:02:00Z,kiosk,refused_ratio,0.7\n"
    value = values(read(text, "query_metrics"))[0]
    assert (value.subject, value.attribute) == ("kiosk", "refused_ratio")
    assert value.at == datetime(2031, 5, 4, 1, 2, tzinfo=UTC)
    assert value.quantity is not None
    assert (str(value.quantity.number), value.quantity.unit) == ("0.7", "1")


def test_a_column_that_repeats_names_no_row() -> None:
    """Two sockets in one state are about whom the call asked, not about the state."""
    text = (
        "State  Recv-Q  Send-Q   Local Address:Port      Peer Address:Port\n"
        "ESTAB  0       0           10.1.7.33:45218     192.0.2.77:22\n"
        "ESTAB  0       0           10.1.7.33:51904      10.1.0.15:5432\n"
    )
    envelope = read(text, "exec", arguments={"pod": "gate-7", "cmd": "ss -tn"})
    assert {row.subject for row in rows(envelope)} == {"gate-7"}
    assert cells(rows(envelope)[0])["Peer Address:Port"] == "192.0.2.77:22"


def test_a_tree_in_the_first_column_says_who_owns_whom() -> None:
    """kube-lineage draws it."""
    text = (
        "NAME                        READY   STATUS    AGE\n"
        "Deployment/gate             1/1               27d\n"
        "└── ReplicaSet/gate-f7      1/1               27d\n"
        "    └── Pod/gate-f7-bj      1/1     Running   27d\n"
    )
    envelope = read(text, "kubectl_lineage")
    assert ("gate", "owns", "gate-f7") in edges(envelope)
    assert ("gate-f7", "owns", "gate-f7-bj") in edges(envelope)
    assert rows(envelope, "gate-f7-bj")


def test_filtered_rows_without_a_header_are_named_by_their_program() -> None:
    """`kubectl get -A -o wide | grep`: the order of columns is kubectl's."""
    text = "harbour   gate-7f-x2   0/1   Error   16 (5m11s ago)   57m   10.1.1.9   pier-2\n"
    envelope = read(text, "kubectl_find_resource", arguments={"kind": "pod"})
    row = rows(envelope, "gate-7f-x2")[0]
    assert (cells(row)["STATUS"], quantity(row, "RESTARTS")) == ("Error", ("16", ""))
    assert ("gate-7f-x2", "runs on", "pier-2") in edges(envelope)


def test_a_commit_list_is_named_by_hashes() -> None:
    """`git log --oneline` with dates."""
    text = "d00c9a1 2031-05-03T16:02:11+00:00 Ana Ruiz  berth table: add index\n"
    row = rows(read(text, "git_log"), "d00c9a1")[0]
    assert cells(row)["message"] == "berth table: add index"
    assert row.at == datetime(2031, 5, 3, 16, 2, 11, tzinfo=UTC)


@pytest.mark.spec("T4")
def test_a_table_without_rows_is_empty() -> None:
    """psql's `(0 rows)`."""
    envelope = read(" a | b\n---+---\n(0 rows)\n", "pg_query")
    assert envelope.status is EvidenceStatus.NO_EVIDENCE


@pytest.mark.parametrize(
    ("text", "subject", "column", "expected"),
    [
        (
            "Filesystem  Size  Used Avail Use% Mounted on\n/dev/sda1    50G   47G  1.2G  98% /",
            "/dev/sda1",
            "Use%",
            ("98", "%"),
        ),
        (
            (
                "USER   PID %CPU %MEM    VSZ   RSS TTY  STAT START   TIME COMMAND\n"
                "app   4120 97.3 12.4 990000 81000 ?    Rl   01:02  44:10 java -jar gate.jar"
            ),
            "4120",
            "%CPU",
            ("97.3", ""),
        ),
        (
            (
                "       total   used    free  shared  buff/cache   available\n"
                "Mem:   15Gi    14Gi   210Mi    12Mi       689Mi       620Mi"
            ),
            "Mem",
            "free",
            ("210", "Mi"),
        ),
    ],
    ids=["df", "ps", "free"],
)
def test_what_a_host_s_programs_print_is_split_by_words(
    text: str, subject: str, column: str, expected: tuple[str, str]
) -> None:
    """Their columns stand one space apart."""
    envelope = read(text, "exec", arguments={"cmd": "df -h", "host": "pier-2"})
    assert quantity(rows(envelope, subject)[0], column) == expected
