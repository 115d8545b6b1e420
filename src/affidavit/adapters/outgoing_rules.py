"""Where this process may connect to, decided on the address and never on the name alone.

A host has to be listed. What its name resolves to has to be a public address, or one that is listed
itself or lies in a listed network; loopback and private ranges are never implied. Link-local
addresses, where clouds keep their metadata and keys, are refused whatever is listed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final, TypeAlias
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from affidavit.adapters.option_table import OptionTable
from affidavit.contract.errors import InputRefused

Address: TypeAlias = IPv4Address | IPv6Address

NEVER: Final = tuple(
    ip_network(text)
    for text in (
        "0.0.0.0/8",
        "169.254.0.0/16",  # link-local: the metadata service of most clouds
        "100.100.100.200/32",  # Alibaba Cloud's
        "192.0.0.192/32",  # Oracle Cloud's
        "168.63.129.16/32",  # Azure's wire server, an address that looks public
        "224.0.0.0/4",
        "240.0.0.0/4",
        "::/128",
        "fe80::/10",
        "fd00:ec2::254/128",  # Amazon's over IPv6
        "fd20:ce::254/128",  # Google's
        "64:ff9b:1::/48",  # a translator's own prefix (RFC 8215): nobody knows where it leads
        "::ffff:0:0:0/96",  # translated addresses (RFC 2765)
        "2001::/32",  # Teredo: a tunnel to an address that is not shown
        "ff00::/8",
    )
)
"""Nothing that we want to read lives there."""

NAT64: Final = ip_network("64:ff9b::/96")
COMPATIBLE: Final = ip_network("::/96")
"""Prefixes of IPv6 addresses whose last four bytes are an IPv4 address."""

PORTS: Final = {"http": 80, "https": 443}


class OutgoingTable(OptionTable):
    """`[outgoing]`: the allow-list. Empty lists allow nothing."""

    hosts: tuple[str, ...] = Field(
        default=(),
        description="host names or addresses that may be connected to, each with or without :port",
    )
    networks: tuple[str, ...] = Field(
        default=(), description="private networks that a listed name may lie in, as CIDR"
    )

    @field_validator("networks")
    @classmethod
    def _are_networks(cls, networks: tuple[str, ...]) -> tuple[str, ...]:
        for text in networks:
            ip_network(text)  # raises ValueError, which names the text
        return networks


@dataclass(frozen=True, slots=True)
class Place:
    """Scheme, host and port of a URL; the host in lower case and without brackets."""

    scheme: str
    host: str
    port: int

    @property
    def authority(self) -> str:
        """As a Host header has it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if PORTS.get(self.scheme) == self.port else f"{host}:{self.port}"


def place_of(url: str) -> Place:
    """Where a URL leads. Raises InputRefused (URL_REFUSED) for one that we do not follow."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise _refused("a URL that cannot be read", "URL_REFUSED", "check it") from None
    if parts.scheme not in PORTS or not host:
        raise _refused(
            f"{bare(url)!r} is no http or https URL", "URL_REFUSED", "write https://HOST/PATH"
        )
    if parts.username is not None or parts.password is not None:
        raise _refused(
            f"the URL of {host} holds credentials", "URL_REFUSED", "name them by variable or file"
        )
    return Place(parts.scheme, host.lower(), port or PORTS[parts.scheme])


def bare(url: str) -> str:
    """The URL without credentials, query and fragment: what a message may show (R75)."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "an unreadable URL"
    host = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{host}{port}{parts.path}"


def check_host(place: Place, table: OutgoingTable) -> None:
    """Raises InputRefused (OUTGOING_UNLISTED) unless the host is listed."""
    listed = {entry.lower() for entry in table.hosts}
    if not _names_of(place) & listed:
        full = f"[{place.host}]" if ":" in place.host else place.host
        raise _refused(
            f"{full}:{place.port} is not listed as a place to connect to",
            "OUTGOING_UNLISTED",
            f'add it: [outgoing] hosts = ["{full}:{place.port}"]',
        )


def _names_of(place: Place) -> frozenset[str]:
    """The ways in which a place is listed: with its port or without; an IPv6 address with a port
    stands in brackets, as in a URL, since its own digits could be one."""
    if ":" in place.host:
        return frozenset({place.host, f"[{place.host}]", f"[{place.host}]:{place.port}"})
    return frozenset({place.host, f"{place.host}:{place.port}"})


def check_addresses(
    place: Place, found: Sequence[str], table: OutgoingTable
) -> tuple[Address, ...]:
    """The addresses to connect to, at least one. One bad address among several refuses the host:
    whoever mixes them hopes that the second try goes inside. Raises InputRefused
    (OUTGOING_REFUSED)."""
    addresses = [_unwrapped(ip_address(text.partition("%")[0])) for text in found]
    if not addresses:
        raise _refused(f"{place.host} has no address", "OUTGOING_REFUSED", "check the name")
    for address in addresses:
        if not _may_reach(address, place, table):
            raise _refused(
                f"{place.host} leads to {address}, which may not be reached",
                "OUTGOING_REFUSED",
                "list its network: [outgoing] networks; link-local addresses never",
            )
    return tuple(dict.fromkeys(addresses))


def _may_reach(address: Address, place: Place, table: OutgoingTable) -> bool:
    if any(address in network for network in NEVER):
        return False
    if address.is_global:
        return True
    if str(address) == place.host or _is_listed(address, table):  # by its number
        return True
    return any(address in ip_network(text) for text in table.networks)


def _is_listed(address: Address, table: OutgoingTable) -> bool:
    """Whether some entry is this very address, with a port or without."""
    literal = str(address)
    written = f"[{literal}]" if address.version == 6 else literal
    return any(
        entry in {literal, written} or entry.rpartition(":")[0] == written for entry in table.hosts
    )


def _unwrapped(address: Address) -> Address:
    """The IPv4 address that an IPv6 one stands for: a detour must not lead around the rules."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return address.ipv4_mapped
        if address.sixtofour is not None:
            return address.sixtofour
        if address in NAT64 or (address in COMPATIBLE and int(address) > 1):
            return IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def _refused(message: str, code: str, hint: str) -> InputRefused:
    return InputRefused(message, code=code, hint=hint)
