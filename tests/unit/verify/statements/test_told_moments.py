"""An instant is the same in any notation; what happened to a thing did so when its record says."""

from __future__ import annotations

import pytest

from affidavit.contract.violations import SupportCode
from tests.unit.verify.statements.checking import check, evidence_of

BERTHS = (
    "  berth |          moored_at            |   state\n"
    "--------+-------------------------------+-----------\n"
    "  b-7   | 2031-05-04 01:14:09.551204+00 | occupied\n"
    "  b-8   | 2031-05-04 01:30:40.118832+00 | occupied\n"
    "(2 rows)\n"
)
LOCK = "Name:  gate-3\nLast Move:\n  Opened:  Sun, 04 May 2031 01:44:18 +0000\n  Reason:  Tide\n"
AUDIT = {
    "columns": ["time", "actor", "action", "berth"],
    "rows": [
        ["2031-05-04T01:10:12Z", "m.okoro", "close_berth", "b-7"],
        ["2031-05-04T01:25:00Z", "l.brandt", "open_berth", "b-8"],
    ],
}


@pytest.mark.spec("M2")
@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("moored_at", "2031-05-04T01:14:09.551204Z"),
        ("moored_at", "2031-05-04T01:14:09Z"),
        ("moored_at", "2031-05-04 03:14:09.551204+02:00"),
    ],
)
def test_an_instant_is_the_same_in_any_notation(attribute: str, value: str) -> None:
    found = evidence_of({"tool": "psql", "result": BERTHS})
    assert check(found, kind="value", subject="b-7", attribute=attribute, value=value) is None
    for wrong in ("2031-05-04T01:14:10Z", "2031-05-04T01:30:40Z", "2031-05-04T03:14:09Z",
                  "2031-05-03T01:14:09Z"):  # fmt: skip
        code = check(found, kind="value", subject="b-7", attribute=attribute, value=wrong)
        assert code is SupportCode.SUBJECT_REFUTED


@pytest.mark.spec("M2")
def test_the_notation_of_mail_is_one() -> None:
    found = evidence_of({"tool": "describe", "result": LOCK})
    said = {"kind": "value", "subject": "gate-3", "attribute": "Opened"}
    assert check(found, **said, value="2031-05-04T01:44:18Z") is None
    assert check(found, **said, value="2031-05-04T01:44:19Z") is not None


@pytest.mark.spec("M2")
@pytest.mark.parametrize(
    ("subject", "attribute", "value", "holds"),
    [
        ("b-7", "close_berth", "2031-05-04T01:10:12Z", True),
        ("b-8", "open_berth", "2031-05-04T01:25:00Z", True),
        ("b-7", "close_berth", "2031-05-04T01:25:00Z", False),
        ("b-8", "close_berth", "2031-05-04T01:10:12Z", False),
        ("b-7", "open_berth", "2031-05-04T01:10:12Z", False),
        ("b-7", "sink_berth", "2031-05-04T01:10:12Z", False),
    ],
)
def test_what_happened_did_so_when_its_record_says(
    subject: str, attribute: str, value: str, holds: bool
) -> None:
    found = evidence_of({"tool": "audit", "result": AUDIT})
    code = check(found, kind="value", subject=subject, attribute=attribute, value=value)
    assert (code is None) is holds


@pytest.mark.spec("G9")
@pytest.mark.parametrize(
    ("query", "holds"),
    [("mooring_jobs b-7", True), ("mooring jobs", True), ("mooring_jobs b-8", False),
     ("storms b-7", False)],
)  # fmt: skip
def test_nothing_listed_is_nothing_of_what_was_asked(query: str, holds: bool) -> None:
    found = evidence_of(
        {"tool": "mooring_jobs", "arguments": {"berth": "b-7"}, "status": "no_data", "result": []}
    )
    assert (check(found, kind="absence", query=query) is None) is holds
