"""A sender for each configured destination; whatever cannot be signed or authorised refuses."""

from __future__ import annotations

from collections.abc import Mapping

from affidavit.adapters.delivery_slack import slack_sender
from affidavit.adapters.delivery_tables import DestinationTable, SlackTable
from affidavit.adapters.delivery_webhook import webhook_sender
from affidavit.adapters.outgoing_http import OutgoingHttp
from affidavit.adapters.outgoing_rules import check_host, place_of
from affidavit.contract.errors import InputRefused
from affidavit.ports.incidents import Sender


def open_senders(
    destinations: Mapping[str, DestinationTable],
    http: OutgoingHttp,
    environment: Mapping[str, str],
) -> dict[str, Sender]:
    """The senders by name. Raises InputRefused, naming the destination: a service that could not
    deliver does not start."""
    senders: dict[str, Sender] = {}
    for name, table in destinations.items():
        try:
            if isinstance(table, SlackTable):
                check_host(place_of(table.api), http.table)
                senders[name] = slack_sender(table, http, environment)
            else:
                check_host(place_of(table.url), http.table)
                senders[name] = webhook_sender(table, http, environment)
        except InputRefused as refused:
            raise InputRefused(
                f"destination {name}: {refused.message}", code=refused.code, hint=refused.hint
            ) from None
    return senders
