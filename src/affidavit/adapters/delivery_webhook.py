"""Delivers by a signed POST (R71): one attempt; when to try again is not decided here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from affidavit.adapters.delivery_tables import WebhookTable
from affidavit.adapters.outgoing_http import HttpAnswer, HttpCall, OutgoingHttp, read_secret
from affidavit.adapters.webhook_signature import SIGNATURE_HEADER, sign
from affidavit.contract.errors import AffidavitError
from affidavit.ports.incidents import Delivery, Sent

LATER: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Answers after which the same message may be welcome; any other refusal is final."""

AFTER_MAX_S: Final = 3600.0
ANSWER_BYTES_MAX: Final = 65_536


class WebhookSender:
    """One webhook (`ports.incidents.Sender`)."""

    def __init__(self, table: WebhookTable, secrets: Sequence[str], http: OutgoingHttp) -> None:
        self._table = table
        self._secrets = tuple(secrets)
        self._http = http

    async def send(self, delivery: Delivery, now_s: float, thread: str | None) -> Sent:
        """See `Sender.send`."""
        body = delivery.body.encode()
        call = HttpCall(
            what="webhook",
            url=self._table.url,
            method="POST",
            headers={
                "content-type": "application/json",
                "user-agent": "affidavit",
                "affidavit-delivery": delivery.id,
                SIGNATURE_HEADER.lower(): sign(body, self._secrets, int(now_s)),
            },
            body=body,
            timeout_s=self._table.timeout_s,
            bytes_max=ANSWER_BYTES_MAX,
        )
        return await attempt(self._http, call)


async def attempt(http: OutgoingHttp, call: HttpCall) -> Sent:
    """One POST; whatever goes wrong is a code."""
    try:
        answer = await http.send(call)
    except AffidavitError as error:
        return Sent(error.code, retry=not error.code.startswith(("OUTGOING", "URL", "REDIRECT")))
    if 200 <= answer.status < 300:
        return Sent()
    return Sent(f"HTTP_{answer.status}", answer.status in LATER, after_s(answer))


def after_s(answer: HttpAnswer) -> float:
    """What Retry-After asks for, within our bound; 0 where it asks for nothing readable."""
    text = answer.headers.get("retry-after", "")
    return min(float(text), AFTER_MAX_S) if text.isascii() and text.isdigit() else 0.0


def webhook_sender(
    table: WebhookTable, http: OutgoingHttp, environment: Mapping[str, str]
) -> WebhookSender:
    """The sender. Raises InputRefused (SECRET_MISSING): nothing goes out unsigned."""
    variables = [read_secret(name, "", environment) for name in table.secret_env]
    files = [read_secret("", name, environment) for name in table.secret_file]
    secrets = (*variables, *files) or (read_secret("", "", environment),)
    return WebhookSender(table, secrets, http)
