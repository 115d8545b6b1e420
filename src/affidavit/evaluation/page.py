"""A report as one self-contained page: tables, plots, every case (pure).

No script, no network, and a policy that forbids both; the only style is the one whose digest the
policy names. Every text from a folder or a run is escaped.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from affidavit.evaluation.plots import Bar, Line, bar_plot, line_plot
from affidavit.evaluation.report import Report, Row
from affidavit.evaluation.tables import NOTHING, Table, number, rank_text, tables_of

STYLE: Final = (
    "body{font:15px/1.45 sans-serif;margin:2rem auto;max-width:80rem;padding:0 1rem;color:#222}"
    "table{border-collapse:collapse;font-size:13px}th,td{padding:.2rem .6rem;text-align:right;"
    "border-bottom:1px solid #ddd;vertical-align:top}th:nth-child(-n+2),td:nth-child(-n+2),"
    ".words td{text-align:left}.scroll{overflow-x:auto}.plots{display:flex;flex-wrap:wrap;gap:1rem}"
    "figure{margin:0}figcaption{font-weight:600}.note{color:#555}"
    ".right{color:#0b6e4f}.wrong,.alarm{color:#a03030;font-weight:600}"
)

CURVES_MAX: Final = 6
"""Contenders in one plot; the rest stands in the table."""


def render_page(report: Report) -> str:
    """The whole page."""
    return "".join(_parts(report))


def policy() -> str:
    """What the page may load: nothing but its own style, by digest."""
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def _parts(report: Report) -> Iterator[str]:
    title = f"Affidavit: evaluation of {report.agent}"
    yield (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy(), quote=True)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>"
        f"<h1>{escape(title)}</h1>"
    )
    yield from (f'<p class="note">{escape(note)}</p>' for note in report.notes)
    yield from _plots(report)
    for table in tables_of(report):
        yield from _table(table)
    yield from _cases(report)
    yield from _left_out(report)
    yield "</body></html>\n"


def _plots(report: Report) -> Iterator[str]:
    groups = tuple(dict.fromkeys(row.group for row in report.rows))
    yield "<h2>Right place first, by set</h2><div class='plots'>"
    for group in groups:
        rows = [row for row in report.rows if row.group == group and row.figures.top]
        if rows:
            yield bar_plot(f"{group}: top-1", [_bar(row) for row in rows])
    yield "</div><h2>Risk and coverage</h2>"
    yield (
        '<p class="note">If only the surest answers were given: across, the share of cases that '
        "would be answered; up, the share of those answers that would be wrong.</p>"
        "<div class='plots'>"
    )
    for group in groups:
        lines = list(_curves([row for row in report.rows if row.group == group]))
        if lines:
            yield line_plot(group, ("coverage", "risk"), lines)
    yield "</div>"


def _bar(row: Row) -> Bar:
    first = row.figures.top[0]
    return Bar(row.contender, first.value or 0.0, first.interval())


def _curves(rows: Sequence[Row]) -> Iterator[Line]:
    for row in [row for row in rows if row.figures.curve][:CURVES_MAX]:
        yield Line(row.contender, tuple((at.coverage, at.risk) for at in row.figures.curve))


def _table(table: Table) -> Iterator[str]:
    yield f'<h2>{escape(table.title)}</h2><div class="scroll"><table><thead><tr>'
    yield from (f"<th>{escape(head)}</th>" for head in table.heads)
    yield "</tr></thead><tbody>"
    for row in table.rows:
        yield "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
    yield f'</tbody></table></div><p class="note">{escape(table.note)}</p>'


CLASS_OF: Final = {"right": "right", "quiet": "right", "wrong": "wrong", "false alarm": "alarm"}


def _cases(report: Report) -> Iterator[str]:
    yield '<h2>Cases</h2><div class="scroll"><table class="words"><thead><tr>'
    heads = ("set", "case", "truth", "fault", "became", "rank", "margin", "suspects", "why", "s")
    yield from (f"<th>{head}</th>" for head in heads)
    yield "</tr></thead><tbody>"
    for item in report.cases:
        cells = (
            item.source, item.case, item.truth, item.fault, item.verdict, rank_text(item.rank),
            number(item.margin, 2), ", ".join(item.suspects) or NOTHING, item.why,
            number(item.case_s, 2),
        )  # fmt: skip
        mark = f' class="{CLASS_OF[item.verdict]}"' if item.verdict in CLASS_OF else ""
        yield f"<tr{mark}>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
    yield "</tbody></table></div>"


def _left_out(report: Report) -> Iterator[str]:
    if report.left_out:
        yield "<h2>Not evaluated</h2><ul>"
        for item in report.left_out:
            words = " · ".join(
                part for part in (item.source, item.case, item.contender, item.why) if part
            )
            yield f"<li>{escape(words)}</li>"
        yield "</ul>"
