"""Delivers to Slack: one thread an incident, the observation first, then the card in pieces.

What comes from logs or drafts is escaped before it gets here (`application.slack_text`); here link
parsing, unfurling and group mentions are switched off as well.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from affidavit.adapters.delivery_tables import SlackTable
from affidavit.adapters.delivery_webhook import LATER, after_s
from affidavit.adapters.outgoing_http import HttpCall, OutgoingHttp, read_secret
from affidavit.contract.errors import AffidavitError
from affidavit.ports.incidents import Delivery, Sent

PIECES_MAX: Final = 10
"""Messages of one delivery; a card has two or three."""

ANSWER_BYTES_MAX: Final = 262_144

TRY_AGAIN: Final = frozenset({"ratelimited", "internal_error", "fatal_error", "service_unavailable",
                              "request_timeout"})  # fmt: skip
"""What Slack says in a body of status 200 when the same message may be welcome later."""


class SlackSender:
    """One channel (`ports.incidents.Sender`)."""

    def __init__(self, table: SlackTable, token: str, http: OutgoingHttp) -> None:
        self._table = table
        self._token = token
        self._http = http

    async def send(self, delivery: Delivery, now_s: float, thread: str | None) -> Sent:
        """See `Sender.send`. The body is a JSON list of texts, each one message."""
        begun = thread
        for text in json.loads(delivery.body)[:PIECES_MAX]:
            sent = await self._post(text, begun)
            if sent.code:
                # What went out before is not sent again but with the whole: at least once.
                return Sent(sent.code, sent.retry, sent.after_s, begun)
            begun = begun or sent.thread
        return Sent(thread=begun)

    async def _post(self, text: str, thread: str | None) -> Sent:
        message: dict[str, object] = {
            "channel": self._table.channel,
            "text": text,
            "mrkdwn": True,
            "parse": "none",
            "link_names": False,
            "unfurl_links": False,
            "unfurl_media": False,
        }
        if thread is not None:
            message["thread_ts"] = thread
        call = HttpCall(
            what="slack",
            url=f"{self._table.api.rstrip('/')}/chat.postMessage",
            method="POST",
            headers={
                "content-type": "application/json; charset=utf-8",
                "authorization": f"Bearer {self._token}",
            },
            body=json.dumps(message, ensure_ascii=False).encode(),
            timeout_s=self._table.timeout_s,
            bytes_max=ANSWER_BYTES_MAX,
        )
        try:
            answer = await self._http.send(call)
            said = json.loads(answer.body) if answer.status == 200 else {}
        except AffidavitError as error:
            return Sent(error.code, retry=not error.code.startswith(("OUTGOING", "URL", "REDIR")))
        except (ValueError, RecursionError):
            return Sent("SLACK_UNREADABLE")
        if answer.status != 200:
            return Sent(f"HTTP_{answer.status}", answer.status in LATER, after_s(answer))
        if not isinstance(said, dict) or said.get("ok") is not True:
            word = str(said.get("error", "")) if isinstance(said, dict) else ""
            code = "".join(sign if sign.isalnum() else "_" for sign in word.upper())[:40]
            return Sent(f"SLACK_{code or 'REFUSED'}", word in TRY_AGAIN, after_s(answer))
        return Sent(thread=str(said.get("ts", "")) or None)


def slack_sender(
    table: SlackTable, http: OutgoingHttp, environment: Mapping[str, str]
) -> SlackSender:
    """The sender. Raises InputRefused (SECRET_MISSING)."""
    return SlackSender(table, read_secret(table.token_env, table.token_file, environment), http)
