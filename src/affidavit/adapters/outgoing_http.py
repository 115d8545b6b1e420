"""The one way out over HTTP: a listed host, an address that was checked, and bounds on everything.

A name is resolved once; every address is checked; the connection goes to the very address that
was checked, and stays with it as long as somebody answers there. So a name that changes its mind
between the check and the connection (DNS rebinding) changes nothing. Where nobody can be connected
to, the next call resolves the name anew, and checks what it finds like the first time. Redirects
are not followed, not even to the same host: a back end that moves is configured anew. No proxy of
the environment is used, nothing compressed is accepted (a small answer must not unpack to a large
one).
"""

from __future__ import annotations

import base64
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import anyio
from pydantic import Field

from affidavit.adapters.option_table import OptionTable
from affidavit.adapters.outgoing_rules import (
    OutgoingTable,
    Place,
    bare,
    check_addresses,
    check_host,
    place_of,
)
from affidavit.contract.errors import InputRefused, ToolFailed

if TYPE_CHECKING:
    import httpx2

CONNECT_TIMEOUT_S: Final = 3.0
"""A back end that needs longer to accept is down for our purpose."""

ANSWER_TIMEOUT_S: Final = 10.0
"""From the first byte sent to the last byte read, unless the call says otherwise."""

ANSWER_BYTES_MAX: Final = 16 * 1024 * 1024
"""A matrix of half a million samples; more is asked too widely."""

ADDRESSES_MAX: Final = 4
"""Of one name that are tried, one after another, within the time of the call."""

SECRET_BYTES_MAX: Final = 16_384
"""A token or a password; a larger file is another file."""

X509_EXPIRED: Final = 10
"""OpenSSL's X509_V_ERR_CERT_HAS_EXPIRED."""

Resolve: TypeAlias = Callable[[str, int], Awaitable[list[str]]]


class Credential(OptionTable):
    """Who we are to a back end, named and never written down: a variable, or a file."""

    bearer_env: str = Field(default="", description="the variable that holds a bearer token")
    bearer_file: str = Field(default="", description="the file that holds it, on one line")
    username: str = Field(default="", description="for basic authentication, without a token")
    password_env: str = Field(default="", description="the variable that holds its password")
    password_file: str = Field(default="", description="the file that holds it, on one line")


@dataclass(frozen=True, slots=True)
class HttpCall:
    """One request. `what` names it for messages, for example `prometheus main`."""

    what: str
    url: str
    method: str = "GET"
    query: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    timeout_s: float = ANSWER_TIMEOUT_S
    bytes_max: int = ANSWER_BYTES_MAX
    tls: ssl.SSLContext | None = None  # whom we believe and who we are, where not the usual


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """What came back. `tls_until` is the end of the server's certificate, as it says it."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    tls_until: str = ""


async def resolve_by_system(host: str, port: int) -> list[str]:
    """The addresses of a name, as the system's resolver has them."""
    found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


@dataclass(slots=True)
class OutgoingHttp:
    """Sends calls under the rules of `table`; close it."""

    table: OutgoingTable
    resolve: Resolve = resolve_by_system
    _pinned: dict[tuple[str, int], tuple[str, ...]] = field(default_factory=dict)
    _clients: dict[ssl.SSLContext | None, httpx2.AsyncClient] = field(default_factory=dict)

    async def send(self, call: HttpCall) -> HttpAnswer:
        """The answer, whatever its status but a redirect.

        Raises InputRefused for a place that may not be reached, ToolFailed for one that does not
        answer: SOURCE_UNAVAILABLE, CERTIFICATE_EXPIRED, CERTIFICATE_REFUSED, TIMEOUT,
        RESULT_TOO_LARGE, REDIRECT_REFUSED. The messages name the URL, without its query and
        without credentials.
        """
        where = f"{call.what}: {call.method} {bare(call.url)}"
        place = place_of(call.url)
        check_host(place, self.table)
        if not all(_is_text(part) for pair in call.query for part in pair):
            raise ToolFailed(f"{where} cannot be asked for what no text holds", code="BAD_REQUEST")
        with anyio.move_on_after(call.timeout_s):
            answer = await self._answer(call, place, where)
            if 300 <= answer.status < 400 and answer.status != 304:
                raise ToolFailed(
                    f"{where} answered {answer.status}, a redirect, which is not followed",
                    code="REDIRECT_REFUSED",
                    hint="configure the address that it leads to",
                )
            return answer
        raise ToolFailed(f"{where} took more than {call.timeout_s:g} s", code="TIMEOUT")

    async def close(self) -> None:
        """No connection is open."""
        for client in self._clients.values():
            await client.aclose()
        self._clients.clear()

    async def _answer(self, call: HttpCall, place: Place, where: str) -> HttpAnswer:
        """From the first address that can be connected to; it is asked first from then on. Nothing
        is sent twice: a connection that stood is not given up for another."""
        key = (place.host, place.port)
        if key not in self._pinned:
            self._pinned[key] = await self._addresses(place, where)
        addresses = self._pinned[key]
        for number, address in enumerate(addresses, 1):
            try:
                answer = await self._exchange(call, place, address, where)
            except _Unconnected:
                if number < len(addresses):
                    continue
                self._pinned.pop(key, None)
                raise
            if number > 1:
                self._pinned[key] = (address, *(one for one in addresses if one != address))
            return answer
        raise AssertionError("check_addresses returns at least one")

    async def _addresses(self, place: Place, where: str) -> tuple[str, ...]:
        try:
            found = await self.resolve(place.host, place.port)
        except (OSError, UnicodeError):
            raise ToolFailed(
                f"{where}: the name {place.host} cannot be resolved", code="SOURCE_UNAVAILABLE"
            ) from None
        return tuple(map(str, check_addresses(place, found, self.table)))[:ADDRESSES_MAX]

    async def _exchange(self, call: HttpCall, place: Place, address: str, where: str) -> HttpAnswer:
        import httpx2

        client = self._clients.get(call.tls) or _open_client(call.tls)
        self._clients[call.tls] = client
        headers = {**call.headers, "host": place.authority, "accept-encoding": "identity"}
        request = client.build_request(
            call.method,
            httpx2.URL(call.url).copy_with(host=address),
            params=call.query or None,
            headers=headers,
            content=call.body,
            extensions={"sni_hostname": place.host},
        )
        try:
            response = await client.send(request, stream=True, follow_redirects=False)
            try:
                until = _certificate_end(response)
                body = await _read(response, call, where)
            finally:
                await response.aclose()
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            raise _Unconnected(
                f"{where} cannot be reached ({type(error).__name__})", code=_code_of(error)
            ) from None
        except httpx2.TimeoutException:
            raise ToolFailed(f"{where} does not answer in time", code="TIMEOUT") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, ssl.SSLError) as error:
            raise ToolFailed(
                f"{where} cannot be reached ({type(error).__name__})", code=_code_of(error)
            ) from None
        kept = {name.lower(): value for name, value in response.headers.items()}
        return HttpAnswer(response.status_code, kept, body, until)


class _Unconnected(ToolFailed):
    """No connection came to stand, so that nothing was sent."""


def _is_text(told: str) -> bool:
    """JSON can spell half a character (a surrogate), which no request can carry on."""
    try:
        told.encode()
    except UnicodeEncodeError:
        return False
    return True


def _certificate_end(response: httpx2.Response) -> str:
    """`notAfter` of the certificate that was verified; empty without TLS."""
    stream = response.extensions.get("network_stream")
    tls = stream.get_extra_info("ssl_object") if stream is not None else None
    found = tls.getpeercert() if tls is not None else None
    return str(found.get("notAfter", "")) if found else ""


def _code_of(error: BaseException) -> str:
    """A certificate that was refused is told from a server that is not there."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            expired = cause.verify_code == X509_EXPIRED
            return "CERTIFICATE_EXPIRED" if expired else "CERTIFICATE_REFUSED"
        cause = cause.__cause__ or cause.__context__
    return "SOURCE_UNAVAILABLE"


def _open_client(tls: ssl.SSLContext | None) -> httpx2.AsyncClient:
    from httpx2 import AsyncClient, Timeout

    return AsyncClient(
        verify=tls if tls is not None else True,
        timeout=Timeout(ANSWER_TIMEOUT_S * 3, connect=CONNECT_TIMEOUT_S),
        follow_redirects=False,
        trust_env=False,
    )


async def _read(response: httpx2.Response, call: HttpCall, where: str) -> bytes:
    """The body, in pieces, so that what is too long is left at the bound."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise ToolFailed(f"{where} answered compressed, though asked not to", code="SOURCE_FAILED")
    body = bytearray()
    async for piece in response.aiter_raw():
        body += piece
        if len(body) > call.bytes_max:
            raise ToolFailed(
                f"{where} answered more than {call.bytes_max} bytes", code="RESULT_TOO_LARGE"
            )
    return bytes(body)


def expect_ok(answer: HttpAnswer, call: HttpCall) -> HttpAnswer:
    """The answer if it is a success. Raises ToolFailed (HTTP_…), naming URL and status (R75)."""
    if not 200 <= answer.status < 300:
        raise ToolFailed(
            f"{call.what}: {call.method} {bare(call.url)} answered {answer.status}",
            code=f"HTTP_{answer.status}",
        )
    return answer


def authorization(credential: Credential, environment: Mapping[str, str]) -> dict[str, str]:
    """The header that proves who we are. Raises InputRefused (SECRET_MISSING)."""
    if credential.bearer_env or credential.bearer_file:
        token = read_secret(credential.bearer_env, credential.bearer_file, environment)
        return {"authorization": f"Bearer {token}"}
    if credential.username:
        password = read_secret(credential.password_env, credential.password_file, environment)
        pair = base64.b64encode(f"{credential.username}:{password}".encode()).decode()
        return {"authorization": f"Basic {pair}"}
    return {}


def read_secret(variable: str, file: str, environment: Mapping[str, str]) -> str:
    """A secret from a variable, else a file; never part of a message. Raises InputRefused."""
    value = environment.get(variable, "") if variable else ""
    if not value and file:
        try:
            with Path(file).open("rb") as opened:
                content = opened.read(SECRET_BYTES_MAX + 1)
            value = content.decode("utf-8").strip() if len(content) <= SECRET_BYTES_MAX else ""
        except (OSError, UnicodeDecodeError):
            value = ""
    if not value or any(ord(sign) < 32 for sign in value):
        raise InputRefused(
            f"the secret of {f'${variable}' if variable else file or 'a back end'} is not there",
            code="SECRET_MISSING",
            hint="set the variable, or put one line into the file",
        )
    return value
