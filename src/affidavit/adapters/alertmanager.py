"""Looks at an Alertmanager: what fires around the window, what is silenced, and by what.

Only GET, only `/api/v2/status`, `/api/v2/alerts` and `/api/v2/silences`. An alert is what a rule
said, never evidence of a cause: its class is ALERT. Alertmanager forgets an alert once it is
resolved, so that an empty answer means "none that still fires". Who made a silence is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, TypeAlias

from anyio import to_thread

from affidavit.adapters.cluster_tables import AlertmanagerTable
from affidavit.adapters.json_api import ODD_SHAPES
from affidavit.adapters.outgoing_http import HttpCall, OutgoingHttp, expect_ok
from affidavit.contract.errors import ToolFailed
from affidavit.contract.evidence import Window
from affidavit.contract.states import EvidenceClass
from affidavit.ports.lookups import AT, WHOSE, Looked, Proof
from affidavit.ports.telemetry import Plain

ROWS_MAX: Final = 100
"""More alerts at once are a storm, whose first hundred say what it is."""

ANSWER_BYTES_MAX: Final = 8 * 1024 * 1024
"""Some ten thousand alerts: the API knows no pages."""

LABELS_MAX: Final = 30
TEXT_CHARS_MAX: Final = 300

STATES: Final[Mapping[str, tuple[str, str]]] = {
    "firing": ("true", "false"),
    "silenced": ("false", "true"),
}
"""Of each look at alerts: whether active ones, and whether silenced or inhibited ones."""


SIGNS: Final[Mapping[str, tuple[str, str]]] = {"True": ("=", "=~"), "False": ("!=", "!~")}
"""Of a matcher: equal or not, and whether its value is a pattern."""

Reading: TypeAlias = Callable[
    [Sequence[Mapping[str, object]], Window | None], Iterator[dict[str, Plain]]
]


class AlertmanagerLookup:
    """One configured server (`ports.lookups.Lookup`)."""

    source_type = "alerts"
    evidence_class = EvidenceClass.ALERT
    description = (
        "Alerts of the Alertmanager around the window: firing, silenced (or inhibited), and the "
        "silences themselves. What a rule said, not what is so."
    )
    looks: tuple[str, ...] = ("firing", "silenced", "silences")
    windowed = frozenset(looks)
    spoken = frozenset({"labels", "summary", "description", "comment", "matchers"})
    service = ""

    def __init__(
        self, name: str, table: AlertmanagerTable, http: OutgoingHttp, headers: Mapping[str, str]
    ) -> None:
        self.name = f"alertmanager_{re.sub(r'[^a-z0-9]', '_', name.lower())}"
        self.source = f"alertmanager:{name}"
        self._table = table
        self._http = http
        self._headers = headers

    async def probe(self) -> Proof:
        """See `Lookup.probe`. Alertmanager has no roles, so that only our own paths prove it."""
        status = await self._get("status", ())
        if not isinstance(status, dict) or "versionInfo" not in status:
            raise self._no("no status of an Alertmanager")
        return Proof(
            "answers; read by GET on three paths of its API. It has no roles of its own: whoever "
            "reaches it may silence, so let a proxy pass GET on those paths alone"
        )

    async def look(self, what: str, window: Window | None = None) -> Looked:
        """See `Lookup.look`."""
        if what == "silences":
            found = await self._get("silences", self._filters())
            rows = self._rows(self._silences, found, window)
        else:
            active, silenced = STATES[what]
            query = (("active", active), ("silenced", silenced), ("inhibited", silenced))
            found = await self._get("alerts", (*query, *self._filters()))
            rows = self._rows(self._alerts, found, window)
        rows.sort(key=lambda row: (-int(row[AT] or 0), str(row)))
        return Looked(rows[:ROWS_MAX], len(rows))

    def _rows(self, read: Reading, found: object, window: Window | None) -> list[dict[str, Plain]]:
        """Raises ToolFailed where the answer is no list of what the API promises."""
        try:
            if not isinstance(found, list):
                raise TypeError("no list")
            return list(read(found, window))
        except ODD_SHAPES:
            raise self._no("no list of alerts or silences") from None

    def _filters(self) -> tuple[tuple[str, str], ...]:
        return tuple(("filter", matcher) for matcher in self._table.matchers)

    def _alerts(
        self, found: Sequence[Mapping[str, object]], window: Window | None
    ) -> Iterator[dict[str, Plain]]:
        """Alerts that began before the window's end; all of them are still there now."""
        for alert in found:
            began = _instant(alert["startsAt"])
            if window is not None and began > window.end:
                continue
            labels, notes, status = (
                _texts(alert.get(name)) for name in ("labels", "annotations", "status")
            )
            yield {
                AT: _us(began),
                WHOSE: self._service(labels),
                "alert": labels.get("alertname", ""),
                "state": status.get("state", ""),
                "severity": labels.get("severity", ""),
                "labels": _labels(labels),
                "summary": notes.get("summary", "")[:TEXT_CHARS_MAX],
                "description": notes.get("description", "")[:TEXT_CHARS_MAX],
                "silenced by": ", ".join(_ids(alert, "silencedBy")),
                "inhibited by": ", ".join(_ids(alert, "inhibitedBy")),
            }

    def _silences(
        self, found: Sequence[Mapping[str, object]], window: Window | None
    ) -> Iterator[dict[str, Plain]]:
        """Silences of which a part lies within the window."""
        for silence in found:
            began, ends = _instant(silence["startsAt"]), _instant(silence["endsAt"])
            if window is not None and (began > window.end or ends < window.start):
                continue
            matchers = silence.get("matchers")
            told = [_texts(one) for one in matchers] if isinstance(matchers, list) else []
            equal = {one.get("name", ""): one.get("value", "") for one in told}
            yield {
                AT: _us(began),
                WHOSE: self._service(equal),
                "silence": str(silence.get("id", "")),
                "state": _texts(silence.get("status")).get("state", ""),
                "until": ends.isoformat(),
                "matchers": ", ".join(map(_matcher, told))[:TEXT_CHARS_MAX],
                "comment": str(silence.get("comment", ""))[:TEXT_CHARS_MAX],
            }

    def _service(self, labels: Mapping[str, str]) -> str:
        return next((labels[n] for n in self._table.service_labels if labels.get(n)), "")

    async def _get(self, path: str, query: tuple[tuple[str, str], ...]) -> object:
        call = HttpCall(
            what=self.source,
            url=f"{self._table.url.rstrip('/')}/api/v2/{path}",
            query=query,
            headers=self._headers,
            timeout_s=self._table.timeout_s,
            bytes_max=ANSWER_BYTES_MAX,
        )
        answer = expect_ok(await self._http.send(call), call)
        try:
            found: object = await to_thread.run_sync(json.loads, answer.body)
        except (ValueError, RecursionError):
            raise self._no("no JSON") from None
        return found

    def _no(self, what: str) -> ToolFailed:
        return ToolFailed(
            f"{self.source} answered {what}", code="SOURCE_FAILED", hint="check its url"
        )


def _instant(value: object) -> datetime:
    """Raises ValueError for what is no moment with a zone."""
    read = datetime.fromisoformat(str(value))
    if read.tzinfo is None:
        raise ValueError("no zone")
    return read.astimezone(UTC)


def _us(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000_000)


def _texts(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        return {}
    return {str(name): str(text) for name, text in value.items()}


def _ids(alert: Mapping[str, object], name: str) -> list[str]:
    status = alert.get("status")
    ids = status.get(name) if isinstance(status, dict) else None
    return [str(one) for one in ids] if isinstance(ids, list) else []


def _labels(labels: Mapping[str, str]) -> str:
    kept = sorted(labels.items())[:LABELS_MAX]
    return ", ".join(f"{name}={value}" for name, value in kept)[:TEXT_CHARS_MAX]


def _matcher(told: Mapping[str, str]) -> str:
    """As Alertmanager writes one; servers before 0.22 do not say `isEqual`."""
    signs = SIGNS["False" if told.get("isEqual") == "False" else "True"]
    sign = signs[told.get("isRegex") == "True"]
    return f'{told.get("name", "")}{sign}"{told.get("value", "")}"'
