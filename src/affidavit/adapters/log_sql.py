"""SQL over log lines: their templates, and the errors that a service did not have before.

The shape of these queries, the phases and the two views are explained in `telemetry_sql`.
"""

from __future__ import annotations

from typing import Final

from affidavit.adapters.duckdb_runner import Query
from affidavit.adapters.telemetry_sql import SERVICES_MAX, Bounds, bands, phased, views

BODY_CHARS: Final = 400
"""Of a line, before masking: beyond this a line holds payload and stack frames."""

TEMPLATE_CHARS: Final = 140
"""Of a template: enough to keep apart what a person would keep apart."""

EXAMPLE_CHARS: Final = 320
"""Of an example line: what a fact may hold (C5)."""

WORD_CHAR: Final = "[^\\s\\[\\](){},=:;\"''|/]"
"""A character of a word, as loggers delimit words; the quote is doubled for SQL."""

MASKS: Final = (
    (f"{WORD_CHAR}*[0-9]{WORD_CHAR}*", "#"),  # ids, times, numbers, versions, file:line
    (r"(\w)=[^\s,;&)\]]+", r"\1=*"),  # key=value
    (r": [^\]\[]*\]", ": *]"),  # [key: value]
    (r"#([\s,:.\-]*#)+", "#"),  # lists of masked words, whatever their length
    (r"\s+", " "),
)
"""What varies from line to line, in the order of masking (RE2)."""


def masked(body: str) -> str:
    """The template of a line: its head with everything masked that varies."""
    expression = f"left({body}, {BODY_CHARS})"
    for pattern, mask in MASKS:
        expression = f"regexp_replace({expression}, '{pattern}', '{mask}', 'g')"
    return f"left({expression}, {TEMPLATE_CHARS})"


LOG_COLUMNS: Final = """service_name AS service, at_us, body, trace_id, span_id, is_error,
    upper(severity_text) LIKE 'WARN%' AS is_warning, lower(emitter) = 'platform' AS is_platform"""

LINES_MIN: Final = 2
"""One error line of an application is an accident; the platform's is not, and counts fully."""

LINES_FULL: Final = 5
"""From here on a template counts fully."""

RISEN_LN: Final = 0.7
"""Twice as often as before."""

QUIET_SPANS: Final = 20
"""Added to either side's activity, so that an idle service's first error is no explosion."""

OTHER_SHARE: Final = 0.1
"""An error that names another service is about that one; what it weighs for the emitter."""

CARRIED_SHARE: Final = 0.3
"""An error of a call, a time-out, a refusal: probably another's."""

CARRIED: Final = (
    "(?i)HttpServerError|HttpClientError|ResourceAccess|timed? ?out|deadline exceeded|"
    "connection (refused|reset)|unavailable|upstream|StatusRuntime|UnknownHost|ENOTFOUND|"
    "no such host|broken pipe|bad gateway"
)

NAME_CHARS_MIN: Final = 5
"""Shorter service names occur in ordinary words."""

ERROR_RISE: Final = """
WITH {phased}, templates AS (
    SELECT service, template, any_value(body) AS body, bool_or(is_platform) AS platform,
           min(at_us) FILTER (WHERE phase IN (1, 3)) AS first_us, {bands}
    FROM (SELECT service, phase, {template} AS template, body, is_platform, at_us
          FROM lines WHERE is_error)
    GROUP BY service, template
), active AS ({active}
), compared AS (
    SELECT t.view, t.service, template, body, platform, first_us, lines1, lines0, active1, active0
    FROM ({views}) AS t JOIN ({active_views}) AS a USING (view, service)
), rated AS (
    SELECT *, ln((coalesce(lines1, 0) + 0.5) / (active1 + {quiet}))
            - ln((coalesce(lines0, 0) + 0.5) / (active0 + {quiet})) AS risen
    FROM compared WHERE lines1 >= CASE WHEN platform THEN 1 ELSE {lines_min} END
), named AS (
    SELECT r.*, (SELECT min(n.service) FROM (SELECT DISTINCT service FROM active) AS n
                 WHERE n.service <> r.service AND length(n.service) >= {name_min}
                   AND contains(r.body, n.service)) AS named,
           regexp_matches(body, '{carried}') AS carried
    FROM rated AS r WHERE risen > {risen}
), weighed AS (
    SELECT *, risen * least(1, lines1 / CASE WHEN platform THEN 1 ELSE {lines_full} END)
        * CASE WHEN named IS NOT NULL THEN {other}
        WHEN carried THEN {carried_share} ELSE 1 END AS weight
    FROM named
), services AS (
    SELECT view, service, sum(weight) AS strength,
           max(struct_pack(weight, template, example := left(body, {example}), first_us, lines1,
               lines0, named, carried)) AS worst
    FROM weighed GROUP BY view, service
)
SELECT service, sum(strength) / 2 AS strength, max(worst).template AS template,
       max(worst).example AS example, max(worst).first_us AS first_us,
       max(worst).lines1::BIGINT AS lines,
       max(worst).lines0::BIGINT AS baseline_lines, max(worst).named AS named,
       max(worst).carried AS carried
FROM services GROUP BY service ORDER BY strength DESC, service LIMIT {rows}"""


def error_rise(logs: str, traces: str | None, bounds: Bounds) -> Query:
    """Services whose error templates are new or have risen against their activity.

    Activity is the number of spans, or of log lines where there are no spans. A template's
    strength is the logarithm of the ratio of its rates above ln 2, in full from five lines; a
    tenth where the line names another service, three tenths where it is a call's failure. strength
    is the sum over the service's templates. Columns: service, strength, and of the strongest
    template: template, example, first_us (of the incident), lines, baseline_lines, named, carried.
    """
    pooled = {"lines": "count(*)"}
    activity = {"active": "count(*)"}
    spans = phased(traces or logs, "work", "service_name AS service").replace("bounds", "reach")
    sql = ERROR_RISE.format(
        phased=f"{phased(logs, 'lines', LOG_COLUMNS)}, {spans}",
        bands=bands(pooled),
        template=masked("body"),
        example=EXAMPLE_CHARS,
        active=f"SELECT service, {bands(activity)} FROM work GROUP BY service",  # noqa: S608 -- ours
        # errors are rare: all that came before is their baseline, in both views
        views=views(
            "templates", "service, template, body, platform, first_us", ("lines",), base="0"
        ),
        active_views=views("active", "service", ("active",), base="0"),
        quiet=QUIET_SPANS,
        lines_min=LINES_MIN,
        lines_full=LINES_FULL,
        name_min=NAME_CHARS_MIN,
        carried=CARRIED,
        risen=RISEN_LN,
        other=OTHER_SHARE,
        carried_share=CARRIED_SHARE,
        rows=SERVICES_MAX,
    )
    return Query(sql, bounds.given(), rows_max=SERVICES_MAX)


TEMPLATES_MAX: Final = 40
EXPECTED_MIN: Final = 3
"""Lines that a service's activity lets expect before their absence is news."""

TEMPLATE_CHANGES: Final = """
WITH {phased}, templates AS (
    SELECT service, template, any_value(example) AS example, any_value(is_error) AS is_error,
           count(*) FILTER (WHERE phase IN (1, 3)) AS lines,
           count(*) FILTER (WHERE phase IN (0, 2)) AS baseline_lines
    FROM (SELECT service, phase, is_error, {template} AS template, left(body, {example}) AS example
          FROM lines)
    GROUP BY service, template
), totals AS (
    SELECT service, sum(lines) AS all_lines, sum(baseline_lines) AS all_before
    FROM templates GROUP BY service
), expected AS (
    SELECT *, CASE WHEN lines = 0 THEN baseline_lines * all_lines / all_before
                   WHEN baseline_lines = 0 THEN lines * all_before / all_lines END AS expected
    FROM templates JOIN totals USING (service)
    WHERE NOT is_error AND all_lines > 0 AND all_before > 0 AND (lines = 0 OR baseline_lines = 0)
)
SELECT service, CASE WHEN lines = 0 THEN 'vanished' ELSE 'new' END AS change, is_error, template,
       example, lines, baseline_lines, expected
FROM expected WHERE expected >= {least}
ORDER BY expected DESC, service, template LIMIT {rows}"""


def template_changes(logs: str, bounds: Bounds) -> Query:
    """Templates that vanished or appeared although their service spoke on both sides.

    Error lines are left to error_lines and error_rise, so that no kind of line has two judgements.

    expected is how many lines the service's own volume lets expect on the side without any.
    Columns: service, change (vanished or new), is_error, template, example, lines,
    baseline_lines, expected.
    """
    sql = TEMPLATE_CHANGES.format(
        phased=phased(logs, "lines", LOG_COLUMNS),
        template=masked("body"),
        example=EXAMPLE_CHARS,
        least=EXPECTED_MIN,
        rows=TEMPLATES_MAX,
    )
    return Query(sql, bounds.given(), rows_max=TEMPLATES_MAX)
