"""What was looked at, what came back empty, and what was never looked at (C11; by code, pure)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from affidavit.contract.evidence import Window
from affidavit.contract.report import Coverage, CoverageLine
from affidavit.contract.states import EvidenceStatus
from affidavit.ledger.snapshot import LedgerSnapshot
from affidavit.progress.reading import read_tracked, stable_code
from affidavit.progress.tracker import TrackedCall, Tracker

Status = Literal["consulted", "empty", "failed", "unavailable", "refused", "not_asked"]

SERVICES_MAX: Final = 40
"""Services named on one line; a call without a service speaks about all of them anyway."""

UNREGISTERED: Final = ("unknown", "unregistered tool")
"""What stands for a tool that nobody registered: its name is the agent's own words (N2)."""


class KnownSource(Protocol):
    """A registered tool, as far as coverage needs it; `tools.catalogue.Tool` is one."""

    @property
    def name(self) -> str:
        """The tool's name."""
        ...

    @property
    def source_type(self) -> str:
        """What kind of source it reads."""
        ...

    @property
    def source(self) -> str:
        """Which source it reads."""
        ...


class AbsentSource(Protocol):
    """A source that was expected and is not there; `tools.catalogue.UnavailableSource` is one."""

    @property
    def source_type(self) -> str:
        """What kind of source it would be."""
        ...

    @property
    def source(self) -> str:
        """Which source it would be."""
        ...

    @property
    def reason(self) -> str:
        """Why it is not there; shown only where it is a stable code."""
        ...


@dataclass(frozen=True, slots=True)
class Reach:
    """What a run could have asked: its registered tools, and what was expected in vain."""

    tools: tuple[KnownSource, ...] = ()
    unavailable: tuple[AbsentSource, ...] = ()


@dataclass(frozen=True, slots=True)
class _Look:
    """One call as coverage sees it."""

    source: tuple[str, str]
    status: Status
    window: Window | None = None
    service: str | None = None
    truncated: bool = False
    code: str | None = None
    executed: bool = True


def read_coverage(ledger: LedgerSnapshot, tracker: Tracker, reach: Reach) -> Coverage:
    """One line for each source, status and window, in the order in which they were met.

    Lines are kept apart by status, so that a service whose look-up failed never stands on the line
    of another that was read. There are no more lines than calls, tools and absent sources.
    """
    looks = (
        *(_look(call, ledger, reach) for call in tracker.calls()),
        *(_refused(call.tool, call.code, reach) for call in tracker.refused()),
    )
    lines: dict[tuple[tuple[str, str], Status, Window | None], list[_Look]] = {}
    for look in looks:
        lines.setdefault((look.source, look.status, look.window), []).append(look)
    asked = {source_of(call.tool, reach) for call in tracker.calls()}
    met = asked | {look.source for look in looks}
    return Coverage(
        lines=(
            *(_line(group) for group in lines.values()),
            *_absent(reach),
            *_not_asked(reach, met),
        )
    )


def source_of(tool: str, reach: Reach) -> tuple[str, str]:
    """Source type and source of a registered tool."""
    known = next((item for item in reach.tools if item.name == tool), None)
    return UNREGISTERED if known is None else (known.source_type, known.source)


def _look(call: TrackedCall, ledger: LedgerSnapshot, reach: Reach) -> _Look:
    read = read_tracked(call, ledger)
    if isinstance(read, str):
        return _Look(
            source=source_of(call.tool, reach),
            status="failed",
            window=call.scope.window if call.scope else None,
            service=call.scope.service if call.scope else None,
            code=read,
        )
    envelope = read.envelope
    found = envelope.status is EvidenceStatus.EVIDENCE_FOUND
    return _Look(
        source=(envelope.source_type, envelope.source),
        status="consulted" if found else "empty",
        window=envelope.scope.window,
        service=envelope.scope.service,
        truncated=envelope.truncated,
    )


def _refused(tool: str, code: str, reach: Reach) -> _Look:
    shown = stable_code(code) or "REFUSED"
    return _Look(source_of(tool, reach), "refused", code=shown, executed=False)


def _line(group: list[_Look]) -> CoverageLine:
    services = sorted({look.service for look in group if look.service is not None})
    codes = {look.code for look in group if look.code is not None}
    if len(services) > SERVICES_MAX:
        services, codes = services[:SERVICES_MAX], codes | {"SERVICES_CUT"}
    source_type, source = group[0].source
    return CoverageLine(
        source_type=source_type,
        source=source,
        status=group[0].status,
        truncated=any(look.truncated for look in group),
        calls=sum(look.executed for look in group),
        services=tuple(services),
        window=group[0].window,
        codes=tuple(sorted(codes)),
    )


def _absent(reach: Reach) -> Iterator[CoverageLine]:
    for absent in reach.unavailable:
        code = stable_code(absent.reason)
        yield CoverageLine(
            source_type=absent.source_type,
            source=absent.source,
            status="unavailable",
            codes=(code,) if code else (),
        )


def _not_asked(reach: Reach, met: set[tuple[str, str]]) -> Iterator[CoverageLine]:
    known = dict.fromkeys((tool.source_type, tool.source) for tool in reach.tools)
    for source_type, source in known:
        if (source_type, source) not in met:
            yield CoverageLine(source_type=source_type, source=source, status="not_asked")
