"""Recorded changes as leads: which run, where, and which came too late."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from affidavit.agents.changes import leads_of
from affidavit.agents.reading import read_material
from affidavit.agents.signals import rank
from affidavit.agents.weighing import shipped_weights
from affidavit.contract.evidence import Cell, Line, Quantity, Row, Value
from affidavit.tools.capture.log_shifts import EXCESS
from tests.support.runs import WINDOW
from tests.unit.agents.test_playbook import saw, state

SHA = "0123456789abcdef0123456789abcdef01234567"


def event(id_: str, kind: str, minutes: float, service: str = "", **attributes: object) -> Row:
    """One event, so many minutes before the window."""
    cells = {"event": kind, "id": id_, "body": f"{kind} {id_}"}
    cells |= {"attributes": json.dumps(attributes)} if attributes else {}
    return Row(
        subject=service or None,
        cells=tuple(Cell(name=name, text=text) for name, text in cells.items()),
        at=WINDOW.start - timedelta(minutes=minutes),
    )


def told(*events: Row, error_at: datetime | None = None) -> list[str]:
    """The ids of the leads, best first, where api logs errors from `error_at` on."""
    error = Value(subject="api", attribute=EXCESS, quantity=Quantity(number=Decimal(4)))
    line = Line(text="no route", subject="api", at=error_at or WINDOW.start, count=9)
    run = state(saw(1, "error_rise", error, line), saw(2, "change_events", *events))
    material = read_material(run)
    leads = leads_of(run, material, rank(material.seen, shipped_weights()))
    return [
        cell.text or ""
        for lead in leads
        if isinstance(lead.fact, Row)
        for cell in lead.fact.cells
        if cell.name == "id"
    ]


@pytest.mark.spec("C9")
def test_a_change_that_reached_a_suspect_goes_before_one_that_did_not() -> None:
    assert told(event("a", "flag", 5, "cart"), event("b", "flag", 50, "api")) == ["b", "a"]


def test_a_commit_and_what_deployed_it_are_one_lead() -> None:
    deploy = event("d", "deploy", 10, "api", commit_sha=SHA)
    commit = event(SHA, "commit", 300, commit_sha=SHA, files_changed=["api/routes.go"])
    assert told(deploy, commit) == [SHA]
    assert told(deploy) == ["d"]


def test_a_commit_that_nothing_deployed_runs_nowhere() -> None:
    idle = event("c", "commit", 5, files_changed=["api/routes.go"])
    assert told(idle, event("f", "flag", 60, "api"))[0] == "f"


def test_what_came_after_the_suspect_was_seen_to_deviate_is_no_lead() -> None:
    late = event("late", "flag", -3, "api")
    assert told(late, error_at=WINDOW.start + timedelta(minutes=1)) == []
    assert told(late, error_at=WINDOW.start + timedelta(minutes=5)) == ["late"]


def test_attributes_that_are_no_object_are_left_alone() -> None:
    texts = {"event": "flag", "id": "x", "body": "b", "attributes": '{"cut": '}
    cells = tuple(Cell(name=name, text=text) for name, text in texts.items())
    row = Row(subject="api", cells=cells, at=datetime(2026, 3, 2, 9, 50, tzinfo=UTC))
    assert told(row) == ["x"]


def test_without_changes_there_is_no_lead() -> None:
    assert told() == []
