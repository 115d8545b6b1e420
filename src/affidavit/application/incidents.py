"""From a notification to runs: one a group, started once, whoever brings the alerts (I5, R39).

The book gives a group its run's id in a transaction of its own; then the run is started under that
id. A crash between the two is mended by the next alert of the group, or by the sender's own second
try: it is told the id, finds no run of it, and starts it. A store takes an id once, so two who do
that at the same time start one run.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final

from affidavit.application.alerts import (
    AlertRules,
    IncidentGroup,
    Notification,
    groups_of,
    request_of_group,
)
from affidavit.application.pagerduty import check_age, check_signature, read_pagerduty
from affidavit.contract.agent import AgentRequest
from affidavit.contract.errors import InputRefused
from affidavit.core.chain import to_us
from affidavit.ports.clock import Clock
from affidavit.ports.incidents import Admission, Admitted, GroupAsk, GroupLimits, IncidentBook
from affidavit.ports.store import Store

MICRO: Final = 1_000_000

EVENT_KEPT_S: Final = 7 * 86_400
"""PagerDuty tries for two days; an id is remembered longer than that, and than any age."""

Begin = Callable[[AgentRequest], Awaitable[None]]
"""Starts a run, as `diagnose.start` does; raises InputRefused (RUN_EXISTS) where it is there."""


@dataclass(frozen=True, slots=True)
class AlertDesk:
    """What alerts need: the book, the store with the runs, how one is begun, ids, the clock."""

    book: IncidentBook
    store: Store
    rules: AlertRules
    begin: Begin
    new_run_id: Callable[[], str]
    clock: Clock


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of one group."""

    key: str
    admitted: Admitted
    alerts: int


async def take_alerts(
    desk: AlertDesk, notification: Notification, tenant: str
) -> tuple[Taken, ...]:
    """Start what has to be started. Raises RecordFailed; then the sender has to come again."""
    return tuple(
        [await _take(desk, group, tenant) for group in groups_of(notification, desk.rules)]
    )


async def take_pagerduty(
    desk: AlertDesk, content: bytes, signature: str, secrets: tuple[str, ...], tenant: str
) -> tuple[Taken, ...]:
    """The same of PagerDuty's webhook. Raises InputRefused for one that is not theirs, or too old.

    An event that was taken before starts nothing; it is remembered only after its run is there,
    so that a crash between the two loses none.
    """
    check_signature(content, signature, secrets)
    event = read_pagerduty(content)
    check_age(event, desk.clock.now(), desk.rules.pagerduty_age_s)
    sender = f"pagerduty:{tenant}"  # an id that one tenant has seen is news to another
    if await desk.book.knows_event(sender, event.id):
        return ()
    taken = await take_alerts(desk, event.notification, tenant)
    now_us = to_us(desk.clock.now())
    await desk.book.note_event(sender, event.id, now_us, EVENT_KEPT_S * MICRO)
    return taken


async def _take(desk: AlertDesk, group: IncidentGroup, tenant: str) -> Taken:
    now = desk.clock.now()
    rules = desk.rules
    ask = GroupAsk(
        tenant=tenant,
        key=group.key,
        run_id=desk.new_run_id(),
        alerts=len(group.alerts),
        labels=group.labels,
        at_us=to_us(now),
    )
    limits = GroupLimits(
        cooldown_us=rules.cooldown_s * MICRO,
        runs_per_hour=rules.runs_per_hour,
        runs_per_day=rules.runs_per_day,
        tokens_per_day=rules.tokens_per_day,
    )
    admitted = await desk.book.admit(ask, limits)
    run_id = admitted.run_id
    if run_id is not None and await desk.store.head(run_id) is None:
        request = request_of_group(group, rules, run_id=run_id, tenant=tenant, now=now)
        try:
            await desk.begin(request)
        except InputRefused as refused:
            if refused.code != "RUN_EXISTS":
                raise
    return Taken(group.key, admitted, len(group.alerts))


def counted(taken: tuple[Taken, ...]) -> Mapping[str, int]:
    """How many groups met with which answer; for the sender and the metrics."""
    return {str(kind): sum(item.admitted.admission is kind for item in taken) for kind in Admission}
