"""Clients of the R2R dialect, as their makers have them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.chat.api.conftest import Live
from tests.chat.api.r2r import sdk

Connect = Callable[..., Any]


@pytest.fixture
def connect(live: Live) -> Iterator[Connect]:
    """Return a function that makes a client, of whoever a token is of."""
    with ExitStack() as stack:

        def make(token: str | None = None, base: str = "/r2r") -> Any:
            client = sdk.R2RClient(f"{live.base_url}{base}", timeout=20)
            stack.callback(client.client.close)
            if token:
                client.set_api_key(token)
            return client

        yield make


@pytest.fixture
def client(live: Live, connect: Connect) -> Any:
    """Return ada's client."""
    return connect(live.token)


@pytest.fixture
def other(live: Live, connect: Connect) -> Any:
    """Return the client of bob, who may only read."""
    return connect(live.other_token)
