"""HTTP requests as Daphne takes them, with limits in both directions.

Daphne stores a request as a whole before the site sees any of it, and keeps what a slow client
has not read yet in memory. So one that is too large is refused here, while it comes in, and what
answers a request is told to wait for its client.
"""

from __future__ import annotations

import asyncio
from typing import Any

from daphne import server as daphne_server
from daphne.http_protocol import HTTPFactory, WebRequest
from django.conf import settings

# What a form has around the files, and requests that are no uploads.
SLACK_BYTES = 2**20
# A client that still sends would not see the answer if the connection was closed at once.
LINGER_SECONDS = 5
TEXT = b"This is more than can be uploaded at once.\n"
REFUSED = (
    b"HTTP/1.1 413 Content Too Large\r\nContent-Type: text/plain; charset=utf-8\r\n"
    b"Content-Length: %d\r\nConnection: close\r\n\r\n%b" % (len(TEXT), TEXT)
)


class Flow:
    """Whether a client keeps up with its response: a push producer, as Twisted calls it."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.resumeProducing()

    def pauseProducing(self) -> None:  # noqa: N802 - Twisted's names
        """Hear that what was sent lies here unread."""
        self.open.clear()

    def resumeProducing(self) -> None:  # noqa: N802
        """Hear that there is room again."""
        self.open.set()

    def stopProducing(self) -> None:  # noqa: N802
        """Hear that the client has gone: nobody waits for it."""
        self.open.set()


class LimitedRequest(WebRequest):  # type: ignore[misc]
    """A request of at most UPLOAD_MAX_REQUEST_BYTES and a little for the form around it."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.received = 0
        self.closing: Any = None
        self.flow: Flow | None = None

    def gotLength(self, length: int | None) -> None:  # noqa: N802
        """Refuse a request that says it is too large, before anything of it is stored."""
        too_large = (length or 0) > _limit()
        super().gotLength(0 if too_large else length)
        if too_large:
            self.refuse()

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802
        """Store a piece of a request, unless it is one too many."""
        self.received += len(data)
        if self.closing is None and self.received > _limit():
            self.content.truncate(0)
            self.refuse()
        if self.closing is None:
            super().handleContentChunk(data)

    def refuse(self) -> None:
        """Answer at once, pass over what still comes, and close the connection soon."""
        self.channel.transport.write(REFUSED)
        close = self.channel.loseConnection
        self.closing = daphne_server.reactor.callLater(LINGER_SECONDS, close)

    def process(self) -> Any:
        """Hand the request to the site, unless it is refused."""
        return super().process() if self.closing is None else None

    def connectionLost(self, reason: Any) -> None:  # noqa: N802
        """Clean up after a connection that has ended."""
        if self.closing is not None and self.closing.active():
            self.closing.cancel()
        if self.flow is not None:
            self.flow.stopProducing()
        super().connectionLost(reason)

    def handle_reply(self, message: dict[str, Any]) -> None:
        """Send a piece of the response; `keep_up` says when the next one may follow."""
        if message["type"] == "http.response.body" and not self.finished and self.channel:
            more = message.get("more_body", False)
            if more and self.flow is None:
                self.flow = Flow()
                self.registerProducer(self.flow, True)
            elif not more and self.producer is not None:
                self.unregisterProducer()
        super().handle_reply(message)

    async def keep_up(self) -> None:
        """Return when the client has read most of what was sent, or has gone."""
        if self.flow is not None:
            await self.flow.open.wait()


def _limit() -> int:
    return int(settings.UPLOAD_MAX_REQUEST_BYTES) + SLACK_BYTES


class LimitedFactory(HTTPFactory):  # type: ignore[misc]
    """Makes connections whose requests are limited."""

    def buildProtocol(self, addr: Any) -> Any:  # noqa: N802
        """Return what handles a connection."""
        protocol = super().buildProtocol(addr)
        protocol.requestFactory = LimitedRequest
        return protocol
