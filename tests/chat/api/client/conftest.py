from __future__ import annotations

from collections.abc import Iterator

import pytest

from chat.client import RagClient
from tests.chat.api.conftest import Live
from tests.servers import Relay


@pytest.fixture(scope="module")
def client(live: Live) -> Iterator[RagClient]:
    """Return a client of ada's."""
    with RagClient(live.base_url, live.token) as made:
        yield made


@pytest.fixture
def relay(live: Live) -> Iterator[Relay]:
    """Return what passes connections on to the site, until it drops them."""
    made = Relay(live.site.port)
    made.open()
    yield made
    made.cut()
