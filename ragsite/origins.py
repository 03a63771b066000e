"""Which pages may open the socket: those of this site, as its forms may be posted."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import SplitResult, urlsplit

from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.http.request import split_domain_port, validate_host
from django.utils.http import is_same_domain

# As a browser serialises an origin: nothing before the host, nothing behind the port.
ORIGIN = re.compile(r"https?://[^\s/@?#\\]+", re.IGNORECASE)
PORTS = {"http": 80, "https": 443}


class SameOriginValidator:
    """Denies handshakes of other origins, of none, and those that name a host that is not ours.

    Cookies know no ports and are sent along from anywhere, so the origin is what tells the site's
    own pages. It is the address of the request's own Host header, or one of CSRF_TRUSTED_ORIGINS.
    """

    def __init__(self, application: Any) -> None:
        self.application = application

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Hand the handshake on, or deny it."""
        allowed = is_allowed(header(scope, b"origin"), header(scope, b"host"))
        application: Any = self.application if allowed else WebsocketDenier.as_asgi()
        await application(scope, receive, send)


def header(scope: dict[str, Any], name: bytes) -> str:
    """Return a header's value; "" if it is not there, or there twice."""
    values = [value for key, value in scope.get("headers", ()) if key.lower() == name]
    return str(values[0].decode("latin1")) if len(values) == 1 else ""


def is_allowed(origin: str, host: str) -> bool:
    """Whether a page of `origin` may open a socket at `host`, which is host and port."""
    domain, _ = split_domain_port(host)
    parts = split(origin)
    if parts is None or not domain or not validate_host(domain, settings.ALLOWED_HOSTS):
        return False
    return is_trusted(parts) or is_own(parts, host)


def split(origin: str) -> SplitResult | None:
    """Return the parts of an origin, None if it is none."""
    if not ORIGIN.fullmatch(origin):
        return None
    try:
        parts = urlsplit(origin.lower())
        complete = bool(parts.hostname) and parts.port != 0
    except ValueError:  # a bracket too many, or a port that is none
        return None
    return parts if complete else None


def is_own(origin: SplitResult, host: str) -> bool:
    """Whether an origin is that of the request's own host, port included."""
    if settings.SECURE_SSL_REDIRECT and origin.scheme != "https":
        return False
    own = split(f"{origin.scheme}://{host}")
    return own is not None and address(own) == address(origin)


def is_trusted(origin: SplitResult) -> bool:
    """Whether an origin is among CSRF_TRUSTED_ORIGINS, whose hosts may begin with `*.`."""
    for trusted in settings.CSRF_TRUSTED_ORIGINS:
        known = urlsplit(trusted.lower())
        if known.scheme != origin.scheme:
            continue
        if known.netloc.startswith("*"):
            if is_same_domain(origin.netloc, known.netloc.lstrip("*")):
                return True
        elif (parts := split(trusted)) and address(parts) == address(origin):
            return True
    return False


def address(parts: SplitResult) -> tuple[str, int]:
    """Return host and port; the scheme's own port need not be said."""
    return parts.hostname or "", parts.port or PORTS[parts.scheme]
