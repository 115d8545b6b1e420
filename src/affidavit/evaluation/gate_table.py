"""A gate score as a table for a person, and as one JSON object for a script (pure)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator

from affidavit.evaluation.gate_cases import Form, Label
from affidavit.evaluation.gate_judging import JudgedScore
from affidavit.evaluation.gate_scorer import CaseScore, Finding, GateScore
from affidavit.evaluation.proportions import Share

_PROSE = (Form.PROSE, Form.FREE_TEXT)

_LINES: tuple[tuple[str, str, Callable[[GateScore], Share]], ...] = (
    ("false_supported", "UNSUPPORTED, published", GateScore.false_supported),
    ("false_by_scenario", "  scenarios with one", GateScore.false_by_scenario),
    ("false_after_withdrawal", "  published after withdrawal", GateScore.false_after_withdrawal),
    ("asides_published", "WITHDRAWABLE, published whole", GateScore.asides_published),
    ("recall", "SUPPORTED, published", lambda score: score.recall(Label.SUPPORTED)),
    (
        "recall_typed",
        "  every finding typed",
        lambda score: score.recall(Label.SUPPORTED, Form.TYPED),
    ),
    (
        "recall_partly_typed",
        "  some findings typed",
        lambda score: score.recall(Label.SUPPORTED, Form.PARTLY_TYPED),
    ),
    ("recall_prose", "  prose and free text", lambda score: score.recall(Label.SUPPORTED, *_PROSE)),
    (
        "recall_free_text",
        "  free text alone",
        lambda score: score.recall(Label.SUPPORTED, Form.FREE_TEXT),
    ),
    (
        "recall_with_withdrawal",
        "  whole, or less a sentence",
        GateScore.supported_after_withdrawal,
    ),
    (
        "withdrawable_published",
        "WITHDRAWABLE, published without",
        lambda score: score.recall(Label.WITHDRAWABLE),
    ),
    (
        "no_conclusion_with_facts",
        "NO_CONCLUSION, facts shown",
        lambda score: score.recall(Label.NO_CONCLUSION),
    ),
)
"""Every share: its name in JSON, its line in the table, and how it is read off a score."""


def score_json(score: GateScore) -> dict[str, object]:
    """The whole score; a share of nothing is null."""
    return {
        "cases": len(score.cases),
        "evaluated": len(score.evaluated),
        **{name: _share_json(read(score)) for name, _, read in _LINES},
        "balanced_accuracy": score.balanced_accuracy(),
        "ms_per_statement": score.ms_per_statement(),
        "by_category": _groups_json(score, lambda item: item.case.category),
        "by_scenario": _groups_json(score, lambda item: item.case.scenario),
        "refusals_of_supported": dict(_refusals(score, Label.SUPPORTED, Label.WITHDRAWABLE)),
        "refusals_of_unsupported": dict(_refusals(score, Label.UNSUPPORTED)),
        "wrong": [_case_json(item) for item in score.evaluated if not item.is_right],
        "not_evaluated": [
            {"id": item.case.id, "why": item.plain.why or item.consenting.why}
            for item in score.cases
            if not item.evaluated
        ],
    }


def _share_json(share: Share) -> dict[str, object]:
    interval = share.interval()
    return {
        "hits": share.hits,
        "of": share.of,
        "share": share.value,
        "wilson_95": None if interval is None else list(interval),
    }


def _case_json(item: CaseScore) -> dict[str, object]:
    return {
        "id": item.case.id,
        "label": str(item.case.label),
        "category": item.case.category,
        "form": str(item.case.form),
        "finding": str(item.plain.finding),
        "decision": item.plain.decision,
        "withdrawn_with_consent": item.consenting.withdrawn,
        "codes": list(item.plain.codes),
    }


def _groups(score: GateScore, key: Callable[[CaseScore], str]) -> dict[str, list[CaseScore]]:
    groups: defaultdict[str, list[CaseScore]] = defaultdict(list)
    for item in score.evaluated:
        groups[key(item)].append(item)
    return dict(sorted(groups.items()))


def _groups_json(score: GateScore, key: Callable[[CaseScore], str]) -> dict[str, object]:
    return {
        name: {
            "cases": len(items),
            "right": sum(item.is_right for item in items),
            "false_supported": sum(item.is_false for item in items),
        }
        for name, items in _groups(score, key).items()
    }


def _refusals(score: GateScore, *labels: Label) -> list[tuple[str, int]]:
    """In how many held answers of these labels each code appears, the most frequent first."""
    counted = Counter(
        code
        for item in score.evaluated
        if item.case.label in labels and item.plain.finding is not Finding.PUBLISHED
        for code in item.plain.codes
    )
    return sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))


def render_score(score: GateScore) -> str:
    """The table, without a final line break."""
    return "\n".join(_table(score))


def _table(score: GateScore) -> Iterator[str]:
    yield f"{len(score.evaluated)} of {len(score.cases)} answers evaluated"
    yield ""
    yield f"{'':34}{'of':>11}  {'share':>7}  95 % (Wilson)"
    for _, title, read in _LINES:
        yield _line(title, read(score))
    accuracy, ms = score.balanced_accuracy(), score.ms_per_statement()
    yield f"{'balanced accuracy':34}{'':11}  {_percent(accuracy):>7}"
    yield f"{'milliseconds a statement':34}{'':11}  {'–' if ms is None else f'{ms:.2f}':>7}"
    yield from _table_of_groups("category", _groups(score, lambda item: item.case.category))
    by_scenario = _groups(score, lambda item: item.case.scenario)
    unlike = {
        name: items
        for name, items in by_scenario.items()
        if not all(item.is_right for item in items)
    }
    yield from _table_of_groups(f"scenario, {len(unlike)} of {len(by_scenario)}", unlike)
    yield from _codes("Why honest answers were held", score, Label.SUPPORTED, Label.WITHDRAWABLE)
    yield from _codes("Why false ones were held", score, Label.UNSUPPORTED)
    yield from _wrong(score)


def judged_json(judged: JudgedScore) -> dict[str, object]:
    """The three scores of the same answers, each whole."""
    return {name.split()[0]: score_json(score) for name, score in judged.named()}


def render_judged(judged: JudgedScore) -> str:
    """The three scores side by side, then the table of both together; no final line break."""
    return "\n".join((*_side_by_side(judged), "", "Both together", *_table(judged.both)))


def _side_by_side(judged: JudgedScore) -> Iterator[str]:
    scores = tuple(judged.named())
    yield f"{'':34}{''.join(f'{name:>24}' for name, _ in scores)}"
    evaluated = (f"{len(score.evaluated)} of {len(score.cases)}" for _, score in scores)
    yield f"{'evaluated':34}{''.join(f'{text:>24}' for text in evaluated)}"
    for _, title, read in _LINES:
        yield f"{title:34}{''.join(f'{_short(read(score)):>24}' for _, score in scores)}".rstrip()
    accuracies = "".join(f"{_percent(score.balanced_accuracy()):>24}" for _, score in scores)
    yield f"{'balanced accuracy':34}{accuracies}"
    yield ""
    yield f"{'Right, by category':34}{''.join(f'{name:>24}' for name, _ in scores)}"
    by_score = [_groups(score, lambda item: item.case.category) for _, score in scores]
    for name in dict.fromkeys(name for groups in by_score for name in groups):
        shown = "".join(f"{_right(groups.get(name, [])):>24}" for groups in by_score)
        yield f"  {_plain(name)[:31]:32}{shown}".rstrip()


def _short(share: Share) -> str:
    interval = share.interval()
    if interval is None:
        return "–"
    low, high = (f"{100 * value:.0f}" for value in interval)
    return f"{share.hits}/{share.of} {_percent(share.value)} [{low}, {high}]"


def _right(items: list[CaseScore]) -> str:
    false = sum(item.is_false for item in items)
    marked = f", {false} false" if false else ""
    return f"{sum(item.is_right for item in items)}/{len(items)}{marked}"


def _line(title: str, share: Share) -> str:
    interval = share.interval()
    shown = "" if interval is None else f"{_percent(interval[0])} to {_percent(interval[1])}"
    counted = f"{share.hits} of {share.of}"
    return f"{title:34}{counted:>11}  {_percent(share.value):>7}  {shown}".rstrip()


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def _table_of_groups(title: str, groups: dict[str, list[CaseScore]]) -> Iterator[str]:
    yield ""
    yield f"{'By ' + title:46}{'right':>8}  {'false':>6}"
    for name, items in groups.items():
        right = f"{sum(item.is_right for item in items)}/{len(items)}"
        false = sum(item.is_false for item in items)
        yield f"  {_plain(name)[:43]:44}{right:>8}  {false or '':>6}".rstrip()


def _plain(name: str) -> str:
    """A name of a case's author on one line."""
    return " ".join(name.split())


def _codes(title: str, score: GateScore, *labels: Label) -> Iterator[str]:
    counted = _refusals(score, *labels)
    if counted:
        yield ""
        yield title
        yield from (f"  {code:44}{number:>8}" for code, number in counted)


def _wrong(score: GateScore) -> Iterator[str]:
    wrong = [item for item in score.evaluated if not item.is_right]
    broken = [item for item in score.cases if not item.evaluated]
    if wrong:
        yield ""
        yield "Not as labelled"
        for item in wrong:
            codes = ", ".join(item.plain.codes)
            yield (
                f"  {_plain(item.case.id)} {item.case.label} "
                f"({_plain(item.case.category)}, {item.case.form}): "
                f"{item.plain.finding} {item.plain.decision} {codes}".rstrip()
            )
    if broken:
        yield ""
        yield "Not evaluated"
        yield from (
            f"  {_plain(item.case.id)}: {_plain(item.plain.why or item.consenting.why)}"
            for item in broken
        )
