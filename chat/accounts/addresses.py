"""Where guests ask from, as a number that tells nobody their address."""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from ipaddress import IPv6Address, ip_address, ip_network

from django.conf import settings

# Providers give each customer a network of IPv6, whose addresses change at will.
IPV6_PREFIX = 64


def of_client(peer: str, forwarded: Iterable[str]) -> int:
    """Return the key of a client's address, or of its network where that is IPv6.

    `peer` is who opened the connection. Behind TRUSTED_PROXIES the client is that many from the
    right in `forwarded`, the values of X-Forwarded-For; what stands before was said by itself.
    """
    hops = [hop.strip() for value in forwarded for hop in value.split(",")]
    proxies = settings.ALLAUTH_TRUSTED_PROXY_COUNT
    return key(network(hops[-proxies] if 0 < proxies <= len(hops) else peer))


def network(client: str) -> str:
    """Return what guests of one place have in common; "" for what is no address."""
    bare = client.partition("]")[0].lstrip("[") if client.startswith("[") else client
    if bare.count(":") == 1:  # an IPv4 address with a port
        bare = bare.partition(":")[0]
    try:
        address = ip_address(bare.partition("%")[0])
    except ValueError:
        return ""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is None:
            return str(ip_network((address, IPV6_PREFIX), strict=False))
        address = address.ipv4_mapped
    return str(address)


def key(place: str) -> int:
    """Return a hash in the range of PostgreSQL's bigint that only this site can make."""
    digest = hmac.digest(f"guest address {settings.SECRET_KEY}".encode(), place.encode(), "sha256")
    return int.from_bytes(digest[:8], signed=True)
