"""Named checks over HTTP: is it there, how fast, until when does its certificate last?

Only GET and HEAD, only what is configured: an agent chooses a check by its name. Every host is on
the list of places to connect to, its name is resolved once, and redirects are not followed
(`outgoing_http`). A body is searched for a text and thrown away. That something cannot be reached
is an answer of a check; that it may not be reached, or a secret is missing, is an error.
"""

from __future__ import annotations

import re
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from affidavit.adapters.cluster_tables import CheckTable, HttpTable
from affidavit.adapters.outgoing_http import HttpAnswer, HttpCall, OutgoingHttp, authorization
from affidavit.adapters.outgoing_rules import check_host, place_of
from affidavit.contract.errors import InputRefused, ToolFailed
from affidavit.contract.evidence import Window
from affidavit.contract.states import EvidenceClass
from affidavit.ports.lookups import WHOSE, Looked, Proof
from affidavit.ports.telemetry import Plain

BODY_BYTES_MAX: Final = 1024 * 1024
"""A health page; what is longer is no page to be checked."""

ALL: Final = "all"
"""The look that makes every check, one after another."""

ALL_S: Final = 20.0
"""For all checks together, below what a tool call has."""

DAY_S: Final = 86_400

ANSWERS: Final = frozenset(
    {"SOURCE_UNAVAILABLE", "TIMEOUT", "CERTIFICATE_EXPIRED", "CERTIFICATE_REFUSED",
     "RESULT_TOO_LARGE", "REDIRECT_REFUSED", "SOURCE_FAILED"}
)  # fmt: skip
"""Failures that say something about what was checked."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A check with what proves who we are, and the TLS context where a CA is its own."""

    table: CheckTable
    headers: Mapping[str, str]
    tls: ssl.SSLContext | None = None


class HttpChecks:
    """One configured group (`ports.lookups.Lookup`)."""

    source_type = "http"
    evidence_class = EvidenceClass.OBSERVATION
    description = (
        "Makes a configured check over HTTP now: whether it answers and is well, its status, how "
        "long it took, and until when its certificate lasts."
    )
    windowed: frozenset[str] = frozenset()
    spoken: frozenset[str] = frozenset()
    service = ""

    def __init__(
        self, name: str, table: HttpTable, checks: Mapping[str, Prepared], http: OutgoingHttp
    ) -> None:
        self.name = f"http_{re.sub(r'[^a-z0-9]', '_', name.lower())}"
        self.source = f"http:{name}"
        self.looks = (ALL, *table.checks)
        self._table = table
        self._checks = checks
        self._http = http

    async def probe(self) -> Proof:
        """See `Lookup.probe`: whether every check may be made; none of them is made.

        What is down is what a check is there to see, and no back end that is missing.
        """
        for check in self._checks.values():
            check_host(place_of(check.table.url), self._http.table)
        methods = sorted({check.table.method for check in self._checks.values()})
        return Proof(f"{len(self._checks)} checks, by {' and '.join(methods)} alone; none was made")

    async def look(self, what: str, window: Window | None = None) -> Looked:
        """See `Lookup.look`. Raises ToolFailed, InputRefused for a place that is not listed."""
        names = tuple(self._checks) if what == ALL else (what,)
        until_s = time.monotonic() + ALL_S
        rows: list[dict[str, Plain]] = []
        for place, name in enumerate(names):
            if time.monotonic() > until_s:
                left = f"{len(names) - place} checks, for want of time"
                return Looked(rows, len(names), (left,))
            rows.append(await self._check(name))
        return Looked(rows, len(rows))

    async def _check(self, name: str) -> dict[str, Plain]:
        """One check as a row. A refusal of ours is an error and no row."""
        check = self._checks[name]
        call = HttpCall(
            what=f"{self.source} {name}",
            url=check.table.url,
            method=check.table.method,
            headers=check.headers,
            timeout_s=self._table.timeout_s,
            bytes_max=BODY_BYTES_MAX,
            tls=check.tls,
        )
        row: dict[str, Plain] = {
            WHOSE: check.table.service,
            "check": name,
            "host": place_of(check.table.url).host,
        }
        began_s = time.monotonic()
        try:
            answer = await self._http.send(call)
        except InputRefused as refused:
            raise ToolFailed(refused.message, code=refused.code, hint=refused.hint) from None
        except ToolFailed as failed:
            if failed.code not in ANSWERS:
                raise
            return {**row, "well": False, "failed": failed.code, **_took(began_s)}
        took = _took(began_s)
        return {**row, **_judged(answer, check.table, float(str(took["latency_ms"]))), **took}


def _took(began_s: float) -> dict[str, Plain]:
    return {"latency_ms": f"{(time.monotonic() - began_s) * 1000:.0f}"}


def _judged(answer: HttpAnswer, table: CheckTable, latency_ms: float) -> dict[str, Plain]:
    """What was found, and by which of the configured conditions it is not well."""
    days = _days_left(answer.tls_until)
    wrong = []
    if answer.status not in (table.statuses or range(200, 300)):
        wrong.append("status")
    if table.contains and table.contains.encode() not in answer.body:
        wrong.append("body")
    if table.latency_max_ms and latency_ms > table.latency_max_ms:
        wrong.append("latency")
    if table.certificate_days_min and (days is None or days < table.certificate_days_min):
        wrong.append("certificate")
    found: dict[str, Plain] = {"well": not wrong, "not well": ", ".join(wrong) or None}
    found["status"] = answer.status
    if table.contains:
        found["body holds the text"] = "body" not in wrong
    if answer.tls_until:
        found["certificate until"] = answer.tls_until
        found["certificate days left"] = days
    return found


def _days_left(until: str) -> int | None:
    if not until:
        return None
    return int((ssl.cert_time_to_seconds(until) - datetime.now(UTC).timestamp()) // DAY_S)


def prepare(table: CheckTable, environment: Mapping[str, str]) -> Prepared:
    """A check that can be made. Raises InputRefused: SECRET_MISSING, CERTIFICATE_UNREADABLE."""
    headers = authorization(table.credential, environment)
    if not table.ca_file:
        return Prepared(table, headers)
    try:
        return Prepared(table, headers, ssl.create_default_context(cafile=table.ca_file))
    except (OSError, ssl.SSLError):
        raise InputRefused(
            f"{table.ca_file} cannot be read as PEM",
            code="CERTIFICATE_UNREADABLE",
            hint="check the path and that this user may read it",
        ) from None
