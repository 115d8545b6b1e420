"""The evidence on a page: the calls that recorded it, and the chain from a sentence (C10).

sentence → statement → tool call → fact, each fact once, with the source, the window and whose words
it holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from affidavit.affidavit.markup import Markup, data, join, tag
from affidavit.affidavit.page_facts import WHOSE, Exhibits, Shown, show_fact
from affidavit.affidavit.plots import PLOTS_MAX, Series, draw, series_of
from affidavit.contract.evidence import Envelope
from affidavit.contract.report import PublishedSentence, StatementChain
from affidavit.contract.states import Provenance

HOW: Final[Mapping[Provenance, str]] = {
    Provenance.RECORDED: "recorded: we executed this call",
    Provenance.SUPPLIED: "supplied: it came with somebody's answer",
}

CITED_PLOTS_MAX: Final = 6
"""Plots beside the answer: as many as one looks at; all others stand with their calls."""


def show_sentence(
    exhibits: Exhibits, sentence: PublishedSentence, calls: tuple[str, ...] = ()
) -> Markup:
    """A sentence that opens its evidence: `calls` are those of its part, where it names none."""
    cited = sentence.tool_call_ids or calls
    names = tuple(dict.fromkeys(item.tool_call_id for item in sentence.statements)) or cited
    said = "a model's word, from: " if sentence.unproved else "evidence: "
    summary = tag(
        "summary",
        tag(
            "span",
            tag("span", data(sentence.text), class_="say"),
            tag("span", said + ", ".join(names), class_="cites"),
        ),
    )
    if sentence.statements:
        chains: dict[str, list[StatementChain]] = {}
        for item in sentence.statements:
            chains.setdefault(item.tool_call_id, []).append(item)
        proof = join(*(_chain(exhibits, key, items) for key, items in chains.items()))
    else:
        proof = join(
            tag("p", "This sentence has no statement of its own. It rests on:", class_="note"),
            *(_call_line(exhibits, key) for key in cited),
        )
    if sentence.unproved:
        word = f"On the model judge's word; code does not prove it: {', '.join(sentence.unproved)}."
        proof = join(tag("p", word, class_="note"), proof)
    return tag("details", summary, tag("div", proof, class_="proof"), class_="sentence")


def _chain(exhibits: Exhibits, key: str, chains: Sequence[StatementChain]) -> Markup:
    """All that one call proves of a sentence: statement → call → fact, each fact shown once."""
    shown = exhibits.calls.get(key)
    kinds = ", ".join(dict.fromkeys(item.kind for item in chains))
    places = tuple(dict.fromkeys(place for item in chains for place in item.facts))
    steps = tag(
        "ol",
        tag("li", f"statement: {kinds}"),
        tag("li", key if shown is None else _link(shown)),
        tag("li", ", ".join(f"fact #{place}" for place in places) or "an empty answer"),
        class_="steps",
    )
    if shown is None:
        return join(steps, tag("p", "This call is not in the file.", class_="note"))
    facts = [
        tag("div", show_fact(exhibits, shown, place), class_="fact")
        for place in places
        if place < len(shown.envelope.facts)
    ]
    if not places:
        facts = [_nothing(exhibits, shown)]
    return join(steps, *facts, show_source(exhibits, shown))


def _link(shown: Shown) -> Markup:
    return tag("a", f"{shown.call.tool_call_id} ({shown.call.tool})", href=f"#{shown.anchor}")


def _call_line(exhibits: Exhibits, key: str) -> Markup:
    shown = exhibits.calls.get(key)
    if shown is None:
        return tag("p", f"{key} is not in the file.", class_="note")
    return join(tag("p", _link(shown)), show_source(exhibits, shown))


def show_reference(exhibits: Exhibits, key: str) -> Markup:
    """A link to a call, or its bare id where the file does not hold it."""
    shown = exhibits.calls.get(key)
    return join(key) if shown is None else _link(shown)


def show_absence(exhibits: Exhibits, shown: Shown) -> Markup:
    """An empty answer as what it is: nothing matched there, and nothing beyond that (G9)."""
    scope = shown.envelope.scope
    return join(
        tag("b", "Nothing matched"),
        " in ",
        data(f"{shown.envelope.source_type} {shown.envelope.source}"),
        join(", service ", data(scope.service)) if scope.service else ", any service",
        join(", ", exhibits.span(scope.window)) if scope.window else ", no window",
        join(", query “", data(scope.query), "”") if scope.query else None,
        ". It says nothing beyond that scope.",
    )


def show_source(exhibits: Exhibits, shown: Shown) -> Markup:
    """Where a call read, over what, and whose words it holds."""
    return tag("dl", *_source_rows(exhibits, shown), class_="src")


def _source_rows(exhibits: Exhibits, shown: Shown) -> Iterator[Markup]:
    envelope, scope = shown.envelope, shown.envelope.scope
    rows: tuple[tuple[str, Markup | str | None], ...] = (
        ("source", data(f"{envelope.source} ({envelope.source_type})")),
        ("class", str(envelope.evidence_class)),
        ("whose words", WHOSE[envelope.emitter]),
        ("window", exhibits.span(scope.window) if scope.window else "none"),
        ("service", data(scope.service) if scope.service else "any"),
        ("query", data(scope.query) if scope.query else None),
        ("read at", _read_at(exhibits, envelope)),
        ("provenance", HOW[shown.call.provenance]),
    )
    for name, value in rows:
        if value is not None:
            yield tag("div", tag("dt", name), tag("dd", value))


def _read_at(exhibits: Exhibits, envelope: Envelope) -> Markup:
    unsure = envelope.uncertainty_s
    more = "" if unsure is None else f", its clock within {unsure} s"
    return join(exhibits.when(envelope.observed_at), more)


def show_calls(exhibits: Exhibits) -> Iterator[Markup]:
    """Every call of the file, whole: its source, its plots, every fact of its projection."""
    for shown in exhibits.calls.values():
        envelope = shown.envelope
        summary = tag(
            "summary",
            tag(
                "span",
                tag("b", shown.call.tool_call_id),
                " ",
                data(shown.call.tool),
                " · ",
                data(envelope.source),
                " · ",
                _amount(envelope),
            ),
        )
        facts = (
            tag("li", show_fact(exhibits, shown, place), class_="fact", id=shown.fact_anchor(place))
            for place in range(len(envelope.facts))
        )
        inside = join(
            show_source(exhibits, shown),
            _plots(exhibits, shown),
            tag("ul", *facts, class_="facts") if envelope.facts else _nothing(exhibits, shown),
            _notes(envelope),
        )
        yield tag(
            "details",
            summary,
            tag("div", inside, class_="proof"),
            class_="call",
            id=shown.anchor,
        )


def _nothing(exhibits: Exhibits, shown: Shown) -> Markup:
    return tag("div", show_absence(exhibits, shown), class_="fact")


def _amount(envelope: Envelope) -> Markup:
    number = len(envelope.facts)
    words = f"{number} fact{'' if number == 1 else 's'}" if number else "nothing matched"
    if envelope.total is not None and envelope.total != number:
        words += f", {envelope.total} in the scope"
    cut = tag("span", "cut", class_="tag warn") if envelope.truncated else None
    return join(words, " " if cut else None, cut)


def _notes(envelope: Envelope) -> Markup | None:
    if not envelope.notes:
        return None
    notes = (tag("li", data(note)) for note in envelope.notes)
    return join(
        tag("p", "By which rule it was computed:", class_="note"),
        tag("ul", *notes, class_="plain note"),
    )


def _plots(exhibits: Exhibits, shown: Shown) -> Markup | None:
    """The call's signals, what the tool calls abnormal first."""
    series = sorted(series_of(shown.envelope.facts), key=_calm)
    if not series:
        return None
    more = len(series) - PLOTS_MAX
    drawn = (draw(item, exhibits.window) for item in series[:PLOTS_MAX])
    return join(
        tag("div", *drawn, class_="plots"),
        tag("p", f"{more} further signals are not drawn; their facts follow.", class_="note")
        if more > 0
        else None,
    )


def show_cited_plots(exhibits: Exhibits, cited: Mapping[str, frozenset[int]]) -> Iterator[Markup]:
    """The metric evidence that the answer itself names: `cited` holds facts by call."""
    figures = [
        draw(series, exhibits.window, shown.call.tool_call_id)
        for key, places in cited.items()
        if (shown := exhibits.calls.get(key)) is not None
        for series in series_of(shown.envelope.facts)
        if places & frozenset(series.facts)
    ]
    if figures:
        yield tag("h2", "Plots of the evidence", id="plots")
        yield tag("div", *figures[:CITED_PLOTS_MAX], class_="plots")
        more = len(figures) - CITED_PLOTS_MAX
        if more > 0:
            yield tag("p", f"{more} further plots stand with their calls.", class_="note")


def _calm(series: Series) -> bool:
    return series.change is not None and not series.change.anomalous
