"""Which addresses a file may be fetched from: public ones, and hosts that the settings name.

A name can lead anywhere, and elsewhere the next time it is looked up. So names are not judged, but
the very address that a connection is made to (`Gate.socket`).
"""

from __future__ import annotations

import ipaddress
import socket
from typing import Any

from django.conf import settings
from yarl import URL

from retrieval.ingestion.incoming import UploadError

MAX_CHARACTERS = 2000
SCHEMES = ("http", "https")
# Where IPv6 that is routed begins, and the ranges in it that are not, or lead into IPv4.
GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")
NOT_GLOBAL = [
    ipaddress.ip_network(network)
    for network in (
        "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
        # The same of IPv4, where Python's own list lacks them; the last is a cloud's metadata.
        "192.0.0.0/24", "192.88.99.0/24", "168.63.129.16/32",
    )
]  # fmt: skip
# IPv4 as a network without it reaches it.
NAT64 = ipaddress.ip_network("64:ff9b::/96")

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class RefusedAddressError(OSError):
    """A connection would have gone to an address that is not public."""


def checked_url(text: str) -> URL:
    """Return a web address in its usual form, without its fragment.

    Raises UploadError for what is no address to fetch a file from, as far as the text shows.
    """
    try:
        url = URL(text.strip()).with_fragment(None)
        port = url.port  # read here, because it is checked only then
    except ValueError as error:
        raise _bad("This is not a web address.") from error
    if url.scheme not in SCHEMES or not url.host or not port:
        raise _bad("A web address begins with http:// or https://, and names a host.")
    if url.user is not None or url.password is not None:
        raise _bad("An address with a user name or a password in it is not fetched.")
    if len(str(url)) > MAX_CHARACTERS:
        raise _bad(f"An address has at most {MAX_CHARACTERS:,} characters.")
    literal = _literal(url.host)
    if literal is not None and not is_public(literal) and not may_be_private(url):
        raise _bad("Files are not fetched from private addresses.")
    return url


def _bad(message: str) -> UploadError:
    return UploadError("bad-address", message)


def _literal(host: str) -> Address | None:
    """Return the address that a host is written as, in whatever way the system reads it."""
    try:
        return ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        pass
    try:
        # 127.1, 0x7f000001, 2130706433 … are addresses to the system.
        return ipaddress.IPv4Address(socket.inet_aton(host)) if host[0].isdigit() else None
    except OSError:
        return None


def is_public(address: Address) -> bool:
    """Whether an address is one of the internet: not private, local, reserved or shared."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        if address in NAT64:
            return is_public(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
        if address not in GLOBAL_UNICAST:
            return False
    special = any(address in network for network in NOT_GLOBAL)
    return address.is_global and not address.is_multicast and not special


def may_be_private(url: URL) -> bool:
    """Whether FETCH_PRIVATE_HOSTS names the host of an address."""
    host = (url.raw_host or "").lower().rstrip(".")
    for entry in settings.FETCH_PRIVATE_HOSTS:
        name = entry.strip().lower()
        if name in {host, f"{host}:{url.port}"}:
            return True
        if name.startswith("*.") and host.endswith(name[1:]):
            return True
    return False


class Gate:
    """Opens sockets for the connections to one host, to addresses that may be fetched from only."""

    def __init__(self, url: URL) -> None:
        self.private = may_be_private(url)
        self.refused = False

    def socket(self, info: tuple[Any, ...]) -> socket.socket:
        """Return a socket for what getaddrinfo has found. Raises RefusedAddressError."""
        family, kind, protocol, _, target = info
        address = ipaddress.ip_address(str(target[0]).partition("%")[0])
        if not self.private and not is_public(address):
            self.refused = True
            raise RefusedAddressError("not a public address")
        return socket.socket(family, kind, protocol)
