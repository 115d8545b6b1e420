"""Browsers: a key is shown once, and from then on a cookie stands for it.

EventSource can send no header, so a browser needs a cookie. It is 256 bits of chance, known here as
a hash and only in this process: a restart or a logout ends it for good. Whatever changes something
carries the session's second secret as well, which no other site can read (CSRF).
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final

from affidavit.server.permits import Principal

SESSIONS_MAX: Final = 10_000
"""A hundred bytes each; beyond it the oldest has to log in again."""

SESSION_LIVES_S: Final = 12 * 3600.0
"""A working day."""

COOKIE: Final = "affidavit_session"
SECURE_COOKIE: Final = "__Host-affidavit_session"
"""The name that browsers take only over HTTPS, for this host alone, and for every path."""

CSRF_HEADER: Final = "x-csrf-token"


@dataclass(frozen=True, slots=True)
class Session:
    """One logged-in browser: the id of its key, its second secret, and until when.

    `who` stands instead of a key for somebody whom an issuer knows.
    """

    key_id: str
    csrf: str
    until_s: float
    who: Principal | None = None


@dataclass(slots=True)
class Sessions:
    """The browsers of this process."""

    _open: OrderedDict[str, Session] = field(default_factory=OrderedDict)

    def begin(self, key_id: str) -> str:
        """A new session for that key; its cookie."""
        return self._keep(key_id, None, SESSION_LIVES_S)

    def begin_for(self, who: Principal, lives_s: float) -> str:
        """A new session for somebody without a key; its cookie."""
        return self._keep("", who, lives_s)

    def _keep(self, key_id: str, who: Principal | None, lives_s: float) -> str:
        cookie = secrets.token_urlsafe(32)
        until_s = time.monotonic() + lives_s
        self._open[_hashed(cookie)] = Session(key_id, secrets.token_urlsafe(32), until_s, who)
        while len(self._open) > SESSIONS_MAX:
            self._open.popitem(last=False)
        return cookie

    def find(self, cookie: str) -> Session | None:
        """The session of that cookie, unless it is over."""
        found = self._open.get(_hashed(cookie))
        if found is not None and found.until_s < time.monotonic():
            self.end(cookie)
            return None
        return found

    def end(self, cookie: str) -> None:
        """The cookie opens nothing any more."""
        self._open.pop(_hashed(cookie), None)


def is_csrf_right(session: Session, told: str) -> bool:
    """Whether the request carries the session's second secret; takes as long either way."""
    return hmac.compare_digest(session.csrf.encode(), told.encode())


def _hashed(cookie: str) -> str:
    """What is kept and looked up: a guess at a prefix learns nothing from the time it takes."""
    return hashlib.sha256(cookie.encode("utf-8", "surrogateescape")).hexdigest()
