"""Typed statements: each kind a pure function over the typed envelope (C4).

`prove` reads one statement as its author wrote it and checks it against the call that it names. A
statement that names a call outside its sentence's citations proves nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from affidavit.contract.statement import (
    AbsenceStatement,
    CauseStatement,
    ChangeStatement,
    ComparisonStatement,
    CountStatement,
    EdgeStatement,
    MembershipStatement,
    OnsetStatement,
    OrderStatement,
    PathStatement,
    QuoteStatement,
    Statement,
    TrendStatement,
    ValueStatement,
    read_statement,
)
from affidavit.contract.violations import SupportCode
from affidavit.verify.statements.absence import prove_absence
from affidavit.verify.statements.cause import prove_cause
from affidavit.verify.statements.change import prove_change, prove_trend
from affidavit.verify.statements.comparison import prove_comparison
from affidavit.verify.statements.counting import prove_count
from affidavit.verify.statements.graph import prove_edge, prove_path
from affidavit.verify.statements.outcome import Outcome, Unproved
from affidavit.verify.statements.quoting import prove_membership, prove_quote
from affidavit.verify.statements.recorded import prove_abnormal
from affidavit.verify.statements.records import CallView, Evidence
from affidavit.verify.statements.timing import prove_onset, prove_order
from affidavit.verify.statements.value import prove_value


@dataclass(frozen=True, slots=True)
class Checked:
    """One statement, read (None where it is none), and what its check came to."""

    statement: Statement | None
    outcome: Outcome


def prove(raw: Mapping[str, object], evidence: Evidence, citable: tuple[str, ...]) -> Checked:
    """Check one statement as it was written against the calls that its sentence may rest on."""
    statement = read_statement(raw)
    if statement is None:
        return Checked(None, Unproved(SupportCode.STATEMENT_MALFORMED))
    if any(call not in citable for call in statement.calls()):
        return Checked(statement, Unproved(SupportCode.STATEMENT_CALL_UNCITED))
    calls = evidence.of(statement.calls())
    if not calls:
        return Checked(statement, Unproved(SupportCode.STATEMENT_CALL_UNCITED))
    return Checked(statement, _prove(statement, calls))


def _prove(statement: Statement, calls: tuple[CallView, ...]) -> Outcome:
    call = calls[0]
    match statement:
        case ValueStatement():
            return prove_value(statement, call)
        case CountStatement():
            return prove_count(statement, call)
        case ChangeStatement():
            return prove_change(statement, call)
        case TrendStatement():
            return prove_trend(statement, call)
        case ComparisonStatement():
            return prove_comparison(statement, calls)
        case OnsetStatement():
            return prove_onset(statement, call)
        case OrderStatement():
            return prove_order(statement, calls)
        case QuoteStatement():
            return prove_quote(statement, call)
        case MembershipStatement():
            return prove_abnormal(statement, call) or prove_membership(statement, call)
        case AbsenceStatement():
            return prove_absence(statement, call)
        case EdgeStatement():
            return prove_edge(statement, calls)
        case PathStatement():
            return prove_path(statement, calls)
        case CauseStatement():
            return prove_cause(statement, calls)
