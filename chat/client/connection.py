"""Requests to a site, and the frames it streams, with errors as RagError."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx2
from pydantic import ValidationError

from chat.client.errors import RagError, UnavailableError, of_status
from chat.client.options import check_site
from chat.frames import Frame, FrameAdapter

# The site sends something every 15 seconds while an answer is waited for.
SILENCE_SECONDS = 45.0
LARGEST_EVENT = 2**26


class Connection:
    """The native API of a site."""

    def __init__(self, base_url: str, token: str, timeout: float) -> None:
        """Speak to the site at `base_url`; `timeout` is in seconds. Raises BadRequestError."""
        check_site(base_url, token)
        self._http = httpx2.AsyncClient(
            base_url=f"{base_url.rstrip('/')}/api/v1/",
            headers={"Authorization": f"Bearer {token}"},
            timeout=timeout,
        )
        self._streaming = httpx2.Timeout(timeout, read=SILENCE_SECONDS)

    async def call(self, method: str, path: str, **options: Any) -> Any:
        """Return the JSON that a request is answered with, None if it is empty. Raises RagError."""
        with transport_errors():
            response = await self._http.request(method, path, **options)
        if not response.is_success:
            raise refusal(response)
        try:
            return response.json() if response.content else None
        except ValueError as error:
            message = "What answered at this address is not the site."
            raise UnavailableError(message, code="not_the_site") from error

    async def frames(
        self, method: str, path: str, *, after: int = 0, body: Mapping[str, Any] | None = None
    ) -> AsyncGenerator[Frame]:
        """Yield the frames of a stream, as long as the connection holds. Raises RagError."""
        headers = {"Last-Event-ID": str(after)} if after else {}
        with transport_errors():
            async with self._http.sse(
                path,
                method=method,
                json=body,
                headers=headers,
                timeout=self._streaming,
                max_event_size=LARGEST_EVENT,
            ) as events:
                if not events.response.is_success:
                    await events.response.aread()
                    raise refusal(events.response)
                async for event in events:
                    if (frame := _frame(event.data)) is not None:
                        yield frame

    async def items(self, path: str, params: Mapping[str, Any]) -> AsyncGenerator[Any]:
        """Yield the items of a list, page after page. Raises RagError."""
        cursor: str | None = ""
        while cursor is not None:
            page = await self.call("GET", path, params={**params, "cursor": cursor})
            for item in page["items"]:
                yield item
            cursor = httpx2.URL(page["next"]).params["cursor"] if page["next"] else None

    async def aclose(self) -> None:
        """Close all connections."""
        await self._http.aclose()


def _frame(data: str) -> Frame | None:
    """Return a frame; None for one of a kind that a newer site has."""
    try:
        return FrameAdapter.validate_json(data, extra="ignore")
    except ValidationError:
        return None


@contextmanager
def transport_errors() -> Iterator[None]:
    """Turn the transport's errors into UnavailableError."""
    try:
        yield
    except httpx2.TransportError as error:
        message = "The connection to the site was lost, or could not be made."
        raise UnavailableError(message, code="connection_lost") from error


def refusal(response: httpx2.Response) -> RagError:
    """Return the error that a response means: a problem, or what a proxy says in its place."""
    try:
        problem = response.json()
    except ValueError:
        problem = None
    if not isinstance(problem, dict):
        problem = {}
    message = str(problem.get("detail") or f"The site answered with status {response.status_code}.")
    wait = response.headers.get("Retry-After", "")
    return of_status(
        response.status_code,
        message,
        str(problem.get("code", "")),
        float(wait) if wait.isdigit() else None,
    )
