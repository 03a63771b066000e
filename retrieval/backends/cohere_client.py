"""Cohere's client, and what its errors mean."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import httpx
from cohere import AsyncClientV2
from cohere.core.api_error import ApiError
from django.conf import settings

from retrieval.backends import clients
from retrieval.per_loop import PerLoop

if TYPE_CHECKING:
    from collections.abc import Iterator

BASE_URL = "https://api.cohere.com"
CONNECTIONS = 1000


def open_clients(api_key: str, base_url: str) -> PerLoop[AsyncClientV2]:
    """Return the clients of one server."""

    async def limit_connecting(request: httpx.Request) -> None:
        # The SDK knows one timeout for everything; waiting for a connection has its own.
        timeouts = {**request.extensions["timeout"], "connect": settings.PROVIDER_CONNECT_TIMEOUT}
        request.extensions["timeout"] = timeouts

    def open_client() -> AsyncClientV2:
        return AsyncClientV2(
            api_key=api_key or "none",
            base_url=base_url or BASE_URL,
            timeout=settings.PROVIDER_FIRST_TOKEN_TIMEOUT,
            max_retries=0,
            httpx_client=httpx.AsyncClient(
                limits=httpx.Limits(max_connections=CONNECTIONS),
                event_hooks={"request": [limit_connecting]},
                follow_redirects=True,
            ),
        )

    return PerLoop(open_client, close)


async def close(client: AsyncClientV2) -> None:
    """Close the client's connections; as a context manager is how the SDK does it."""
    async with client:
        pass


@contextmanager
def backend_errors() -> Iterator[None]:
    """Turn the SDK's and the transport's errors into BackendError."""
    try:
        yield
    except ApiError as exc:
        status = exc.status_code or 500
        raise clients.status_error(status, exc.headers or {}, str(exc.body)) from exc
    except (httpx.ConnectError, httpx.ConnectTimeout) as exc:
        raise clients.error("unreachable") from exc
    except httpx.TimeoutException as exc:
        raise clients.error("timeout") from exc
    except httpx.TransportError as exc:
        raise clients.error("dropped") from exc
