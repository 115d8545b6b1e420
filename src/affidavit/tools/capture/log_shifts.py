"""`error_rise` and `template_changes`: what lines tell of each service.

`error_logs` lists error lines and flags kinds of them by the clock. `error_rise` weighs a service's
error lines against its activity: that is a figure of the service, not of a kind of line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final

from affidavit.contract.evidence import Change, Fact, Line, Quantity, Scope, Value
from affidavit.contract.states import Emitter
from affidavit.ports.telemetry import Plain
from affidavit.tools.capture.comparisons import Analysis
from affidavit.tools.capture.rows import count, moment, number, text

EXCESS: Final = "excess of error lines"
"""The name of a service's strength."""

EXCESS_ABNORMAL: Final = Decimal("0.7")
"""One kind of error line, twice as frequent as before."""


def _error_rise(row: Mapping[str, Plain], scope: Scope) -> Sequence[Fact]:
    service = text(row, "service")
    line = Line(
        text=text(row, "example"),
        subject=service,
        at=moment(row, "first_us"),
        count=count(row, "lines"),
    )
    size = Quantity(number=number(row, "strength"))
    return (Value(subject=service, attribute=EXCESS, quantity=size, window=scope.window), line)


def _template(row: Mapping[str, Plain], scope: Scope) -> Sequence[Fact]:
    vanished = text(row, "change") == "vanished"
    change = Change(
        subject=text(row, "service"),
        attribute=f"lines like: {text(row, 'template')}",
        before=Quantity(number=Decimal(count(row, "baseline_lines")), unit="{line}"),
        after=Quantity(number=Decimal(count(row, "lines")), unit="{line}"),
        direction="down" if vanished else "up",
        anomalous=True,
        window=scope.window,
    )
    return (change,)


ERROR_RISE: Final = Analysis(
    name="error_rise",
    question="error_rise",
    signal="logs",
    description="Services whose error lines are new or have risen against their own activity, with "
    "one line verbatim. Strongest first.",
    rule="activity: spans, or lines where there are none; a template of error lines counts ln of "
    "the ratio of its rates to activity + 20 above ln 2, in full from 5 lines (a platform's: 1); "
    "a tenth where the line names another service, three tenths where it is a call's failure; "
    "value: the sum over the service's templates, mean of the window and its later half; the line "
    "is one of the strongest template, verbatim",
    facts=_error_rise,
    emitter=Emitter.WORKLOAD,
)

TEMPLATE_CHANGES: Final = Analysis(
    name="template_changes",
    question="template_changes",
    signal="logs",
    description="Kinds of log lines that vanished or appeared although their service spoke on both "
    "sides: steps that are no longer taken, or taken anew.",
    rule="before and after: lines in the quiet time and in the window; listed where one side has "
    "none although the service's own volume lets expect 3 or more there; all are anomalous",
    facts=_template,
    emitter=Emitter.WORKLOAD,
)
