"""Which network addresses http_get may connect to.

Only addresses that anybody on the internet could reach are open. Loopback, private, link-local, multicast and reserved
ones are refused, also when they come wrapped in IPv6 (mapped, 6to4, Teredo, NAT64). A host that the user named is open
whatever its address.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Resolve = Callable[[str, int], Awaitable[list[str]]]
"""The addresses of a host, as text."""

_NOT_FOR_PAGES = (IPv4Network("192.0.0.0/24"), IPv4Network("192.88.99.0/24"))
"""Protocol assignments and the old 6to4 relays, which Python counts as global in part."""
_NAT64 = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))


def is_public(address: str) -> bool:
    """Whether an address belongs to the open internet."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    return all(_is_open(one) for one in _layers(parsed))


def _layers(address: IPv4Address | IPv6Address) -> list[IPv4Address | IPv6Address]:
    """The address and every IPv4 address wrapped in it; for a mapped one only the inner one counts."""
    if isinstance(address, IPv4Address):
        return [address]
    if address.ipv4_mapped is not None:
        return [address.ipv4_mapped]
    wrapped: list[IPv4Address | IPv6Address] = [address]
    if address.sixtofour is not None:
        wrapped.append(address.sixtofour)
    if address.teredo is not None:
        wrapped.extend(address.teredo)
    if any(address in network for network in _NAT64):
        return [IPv4Address(int(address) & 0xFFFFFFFF)]
    return wrapped


def _is_open(address: IPv4Address | IPv6Address) -> bool:
    closed = (
        address.is_private
        or address.is_loopback
        or address.is_link_local
        or address.is_multicast
        or address.is_reserved
        or address.is_unspecified
        or (isinstance(address, IPv6Address) and address.is_site_local)
        or any(address in network for network in _NOT_FOR_PAGES)
    )
    return address.is_global and not closed


class AllowedHosts:
    """Hosts the user named, as `host` (any port) or `host:port`; IPv6 addresses may stand in brackets."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names = {self._key(name) for name in names if name.strip()}

    def admits(self, host: str, port: int) -> bool:
        plain = _plain_host(host)
        return (plain, None) in self._names or (plain, port) in self._names

    @staticmethod
    def _key(name: str) -> tuple[str, int | None]:
        text = name.strip()
        host, colon, port = text.rpartition(":")
        if colon and port.isdigit() and (":" not in host or host.endswith("]")):
            return _plain_host(host), int(port)
        return _plain_host(text), None


def _plain_host(host: str) -> str:
    return host.strip("[]").rstrip(".").lower()


async def resolve(host: str, port: int) -> list[str]:
    """Ask the system's resolver; each address once, in its order."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))
