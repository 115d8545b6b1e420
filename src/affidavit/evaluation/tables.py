"""A report as columns: for a terminal, for the page, and as one JSON object (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Final

from affidavit.evaluation.figures import Rate
from affidavit.evaluation.report import AgentRow, CaseLine, Report, Row

NOTHING: Final = "–"

GAP: Final = "  "


@dataclass(frozen=True, slots=True)
class Table:
    """A titled table; the first two columns are text, the rest are figures."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def tables_of(report: Report) -> tuple[Table, ...]:
    """The tables of a report."""
    return (
        Table(
            "Located: is the right place among the first?",
            ("set", "by", "faulty", "top-1", "95 %", "top-3", "95 %", "top-5", "Avg@5"),
            tuple(_located(row) for row in report.rows),
            "the ranking, published or not; intervals are Wilson's at 95 %",
        ),
        Table(
            "Published: how often, and how often rightly?",
            ("set", "by", "coverage", "of", "precision", "95 %", "of",
             "false alarms", "95 %", "of", "risk area"),
            tuple(_published(row) for row in report.rows),
            "coverage of faulty cases; precision of all that was published, healthy windows too; "
            "a rule, and a held-out ranking, always names its first",
        ),
        Table(
            "Evidence: what do the answers rest on?",
            ("set", "by", "runs", "intact files", "sentences", "verifiable", "unsupported",
             "drafts refused", "steady", "lead shown", "change shown", "kept on stop", "facts"),
            tuple(_evidence(row) for row in report.agent_rows),
            "sentences: published analyses and conclusions; unsupported: not proved again from the "
            "sealed file; lead, change shown: of held faulty cases, a right one among the leads",
        ),
        Table(
            "Cost, a case",
            ("set", "by", "steps", "queries", "tokens", "money", "load s", "run s", "median s",
             "max s", "max MB"),
            tuple(_cost(row) for row in report.agent_rows),
            "load: reading the folder; MB: the peak of our process and of its query process",
        ),
        Table(
            f"By kind of fault, {report.agent}",
            ("set", "fault", "cases", "first", "in three", "right", "wrong", "held"),
            tuple(_by_fault(report.cases)),
            "first, in three: of the ranking; the last run of each case",
        ),
    )  # fmt: skip


def _located(row: Row) -> tuple[str, ...]:
    top = row.figures.top
    first, third, fifth = (top[0], top[2], top[4]) if top else (Rate(0, 0),) * 3
    return (
        row.group, row.contender, str(row.figures.faulty), share(first), interval(first),
        share(third), interval(third), share(fifth), number(row.figures.average, 3),
    )  # fmt: skip


def _published(row: Row) -> tuple[str, ...]:
    kept = row.figures
    return (
        row.group, row.contender, share(kept.coverage), str(kept.coverage.of),
        share(kept.precision), interval(kept.precision), str(kept.precision.of),
        share(kept.false_alarms), interval(kept.false_alarms), str(kept.false_alarms.of),
        number(kept.area, 3),
    )  # fmt: skip


def _evidence(row: AgentRow) -> tuple[str, ...]:
    kept = row.evidence
    unsupported = kept.proved.of - kept.proved.hits
    return (
        row.group, row.contender, str(kept.runs), counted(kept.intact), str(kept.cited.of),
        counted(kept.cited), f"{unsupported:g}", str(kept.refused), counted(kept.steady),
        counted(kept.leads), counted(kept.changes), counted(kept.stopped),
        number(kept.stopped_facts, 1),
    )  # fmt: skip


def _cost(row: AgentRow) -> tuple[str, ...]:
    kept = row.cost
    money = None if kept.money_micro is None else kept.money_micro / 1e6
    return (
        row.group, row.contender, number(kept.steps, 1), number(kept.queries, 1),
        number(kept.tokens, 0), number(money, 4), number(kept.load_s, 2), number(kept.run_s, 2),
        number(kept.case_s_median, 2), number(kept.case_s_max, 2), number(kept.peak_mb_max, 0),
    )  # fmt: skip


def _by_fault(cases: Sequence[CaseLine]) -> Iterator[tuple[str, ...]]:
    kinds: dict[tuple[str, str], list[CaseLine]] = {}
    for item in cases:
        kinds.setdefault((item.source, item.fault or item.truth), []).append(item)
    for (source, fault), own in sorted(kinds.items()):
        ranks = [item.rank for item in own if item.rank is not None]
        verdicts = Counter(item.verdict for item in own)
        right, wrong = verdicts["right"], verdicts["wrong"] + verdicts["false alarm"]
        yield (
            source, fault, str(len(own)), str(sum(rank == 1 for rank in ranks)),
            str(sum(rank <= 3 for rank in ranks)), str(right), str(wrong),
            str(verdicts["held"] + verdicts["quiet"]),
        )  # fmt: skip


def share(rate: Rate) -> str:
    """A share with two decimals."""
    return number(rate.value, 2)


def interval(rate: Rate) -> str:
    """Its interval."""
    found = rate.interval()
    return NOTHING if found is None else f"{found[0]:.2f}-{found[1]:.2f}"


def counted(rate: Rate) -> str:
    """So many of so many."""
    return f"{rate.hits:g}/{rate.of}" if rate.of else NOTHING


def number(value: float | None, decimals: int) -> str:
    """A number, or a dash for none."""
    return NOTHING if value is None else f"{value:.{decimals}f}"


def render_text(report: Report) -> str:
    """The whole report as plain text, without a final line break."""
    return "\n".join(_lines(report))


def _lines(report: Report) -> Iterator[str]:
    for table in tables_of(report):
        yield table.title
        yield from _columns((table.heads, *table.rows))
        yield from (f"({table.note})", "")
    yield "Cases"
    yield from _columns(
        (item.source, item.case, item.verdict, item.truth, item.fault, rank_text(item.rank),
         number(item.margin, 2), ", ".join(item.suspects[:2]) or NOTHING, item.why)
        for item in report.cases
    )  # fmt: skip
    if report.left_out:
        yield from ("", "Not evaluated")
        yield from _columns(
            (item.source, item.case, item.contender, item.why) for item in report.left_out
        )
    if report.notes:
        yield from ("", *report.notes)


def rank_text(rank: int | None) -> str:
    """The place of the first right name."""
    return "no rank" if rank is None else f"rank {rank}"


def _columns(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Rows with aligned columns; the last may be as long as it likes."""
    kept = [tuple(" ".join(cell.split()) for cell in row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*kept, strict=True)]
    for row in kept:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        yield ("  " + GAP.join(cells)).rstrip()


def report_json(report: Report) -> dict[str, object]:
    """The whole report for a script; a rate has `hits`, `of`, `share` and `wilson_95`."""
    return {
        "agent": report.agent,
        "rows": [_row_json(row) for row in report.rows],
        "evidence": [
            {"group": row.group, "contender": row.contender, **_fields(row.evidence)}
            for row in report.agent_rows
        ],
        "cost": [
            {"group": row.group, "contender": row.contender, **asdict(row.cost)}
            for row in report.agent_rows
        ],
        "cases": [asdict(item) for item in report.cases],
        "not_evaluated": [asdict(item) for item in report.left_out],
        "notes": list(report.notes),
    }


def _row_json(row: Row) -> dict[str, object]:
    kept = row.figures
    return {
        "group": row.group,
        "contender": row.contender,
        "faulty": kept.faulty,
        "healthy": kept.healthy,
        "top": [_rate_json(rate) for rate in kept.top],
        "avg_5": kept.average,
        "coverage": _rate_json(kept.coverage),
        "precision": _rate_json(kept.precision),
        "false_alarms": _rate_json(kept.false_alarms),
        "risk_coverage": [asdict(point) for point in kept.curve],
        "risk_area": kept.area,
    }


def _fields(record: object) -> dict[str, object]:
    names = getattr(record, "__slots__", ())
    found = {name: getattr(record, name) for name in names}
    return {k: _rate_json(v) if isinstance(v, Rate) else v for k, v in found.items()}


def _rate_json(rate: Rate) -> dict[str, object]:
    found = rate.interval()
    return {
        "hits": rate.hits,
        "of": rate.of,
        "share": rate.value,
        "wilson_95": None if found is None else list(found),
    }
