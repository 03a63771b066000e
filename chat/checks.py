"""System checks of settings that Django does not check."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, register

REDIS_SCHEMES = ("redis", "rediss", "unix")


@register
def public_url(**kwargs: Any) -> list[CheckMessage]:
    """PUBLIC_URL is a web address, or empty."""
    address = urlsplit(settings.PUBLIC_URL)
    if not settings.PUBLIC_URL or (address.scheme in ("http", "https") and address.hostname):
        return []
    return [
        Error(
            f"PUBLIC_URL={settings.PUBLIC_URL} is not an address.",
            hint="Give it as people open it, such as https://rag.example.org.",
            id="chat.E001",
        )
    ]


@register
def redis_url(**kwargs: Any) -> list[CheckMessage]:
    """REDIS_URL is an address of Redis, or empty."""
    if not settings.REDIS_URL or urlsplit(settings.REDIS_URL).scheme in REDIS_SCHEMES:
        return []
    return [
        Error(
            "REDIS_URL is not an address of Redis.",
            hint="Give it as redis://host:6379/0, rediss://host:6379/0 or unix:///path.",
            id="chat.E002",
        )
    ]
