"""A client of the native API, for the module's site."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.chat.api.conftest import Live


@pytest.fixture(scope="module")
def ada(live: Live) -> Iterator[httpx.Client]:
    """Return a client of who manages the collection."""
    with live.client() as client:
        client.base_url = f"{live.base_url}/api/v1/"
        yield client


@pytest.fixture(scope="module")
def bob(live: Live) -> Iterator[httpx.Client]:
    """Return a client of who may only read it."""
    with live.client(live.other_token) as client:
        client.base_url = f"{live.base_url}/api/v1/"
        yield client
