"""Pages as clients get them."""

from __future__ import annotations

from typing import Any

from django.test import Client


def text_of(client: Client, url: str, **headers: Any) -> str:
    """Return a page's source; fails the test where there is no page."""
    response = client.get(url, **headers)
    assert response.status_code == 200, url
    return response.content.decode()
