"""Serve the site with Daphne, ending in order."""

from __future__ import annotations

import asyncio
import gc
import signal
from collections.abc import Callable
from typing import Any

from autobahn.websocket.types import ConnectionDeny
from channels.layers import get_channel_layer
from channels.routing import get_default_application
from daphne import server as daphne_server
from daphne.endpoints import build_endpoint_description_strings
from daphne.ws_protocol import WebSocketProtocol
from django.conf import settings
from django.core.management import CommandError

from chat import runs
from chat.channel_layer import PROCESS, RelayedChannelLayer
from chat.management.connections import warn_if_scarce
from retrieval import backends, per_loop
from retrieval.management.ready import ReadyCommand

SERVICE_RESTART = 1012
# New objects before the garbage collector looks at them, and how often it looks at older ones.
COLLECT_AFTER = (20_000, 10, 100)
# Ctrl-C in a terminal does not wait for long answers.
HURRIED_SECONDS = 3.0
# What requests that are being answered, and sockets, get to end once the runs have.
CLOSE_SECONDS = 5.0


class DrainingServer(daphne_server.Server):  # type: ignore[misc]
    """Daphne's server without its own signal handling, which would cut every socket at once."""

    def __init__(self, tell: Callable[[str], None], **options: Any) -> None:
        super().__init__(signal_handlers=False, **options)
        self.tell = tell
        self.connections: dict[Any, dict[str, Any]] = {}
        self.ports: list[Any] = []
        self.failure = ""
        self.draining: asyncio.Task[None] | None = None

    def listen_success(self, port: Any) -> None:
        """Keep the port, which Daphne does not, and tell that the site is there."""
        super().listen_success(port)
        self.ports.append(port)
        host, number = settings.WEB_HOST, settings.WEB_PORT
        self.tell(f"Serving on http://{host}:{number}")

    def listen_error(self, failure: Any) -> None:
        """Keep the reason for the command to tell."""
        self.failure = failure.getErrorMessage()
        self.stop()

    def begin_draining(self, seconds: float) -> None:
        """End the server from a signal handler: in order, and on a second signal at once."""
        if self.draining is None:
            self.draining = asyncio.ensure_future(self.drain(seconds))
        else:
            self.draining.cancel()

    async def drain(self, seconds: float) -> None:
        """Refuse new questions, let runs end, close sockets with 1012, let requests end, stop.

        Until then pages are served, and `/healthz` and the handshakes of sockets answer 503, so
        that a proxy sends people to another process.
        """
        self.tell("Stopping: no new questions are taken.")
        try:
            running = asyncio.ensure_future(runs.drain(seconds))
            layer: Any = get_channel_layer()
            await layer.group_send(PROCESS, {"type": "process.draining"})
            await running
            for port in self.ports:
                port.stopListening()
            for protocol in list(self.connections):
                if getattr(protocol, "state", None) == WebSocketProtocol.STATE_OPEN:
                    restart(protocol)
            if applications := self.applications():
                await asyncio.wait(applications, timeout=CLOSE_SECONDS)
            # A question that came in right before the signal may have become a run only now.
            await runs.drain(0)
            await per_loop.aclose()
            if isinstance(layer, RelayedChannelLayer):
                await layer.aclose()
        finally:
            self.stop()

    def applications(self) -> list[asyncio.Future[None]]:
        """Return what answers requests and sockets."""
        return [
            details["application_instance"]
            for details in self.connections.values()
            if "application_instance" in details
        ]

    async def handle_reply(self, protocol: Any, message: dict[str, Any]) -> None:
        """Pass on what the application says; while draining, no socket is opened."""
        match message:
            case {"type": "websocket.accept"} if self.draining and self.is_open(protocol):
                denied = ConnectionDeny(503, "restarting")  # type: ignore[no-untyped-call]
                protocol.handshake_deferred.errback(denied)
                del protocol.handshake_deferred
                self.protocol_disconnected(protocol)
            case {"type": "websocket.close", "code": code} if code == SERVICE_RESTART:
                restart(protocol)
            case _:
                await super().handle_reply(protocol, message)

    def is_open(self, protocol: Any) -> bool:
        """Whether a connection is there and has not ended."""
        return "disconnected" not in self.connections.get(protocol, {"disconnected": True})

    def kill_all_applications(self) -> Any:
        """Cancel what has not ended, skipping connections that never had an application."""
        self.connections = {
            protocol: details
            for protocol, details in self.connections.items()
            if "application_instance" in details
        }
        return super().kill_all_applications()


async def make_ready() -> None:
    """Open what the first question would wait for, and spare the garbage collector.

    It went over everything that was ever imported, 100 ms and more each time, while streams
    waited. What is there by now stays.
    """
    backends.load_all()
    await per_loop.open_all()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)


def restart(protocol: Any) -> None:
    """Close a socket, telling its client to connect again."""
    # Not sendClose(), which allows applications' own codes only.
    protocol.sendCloseFrame(code=SERVICE_RESTART)


class Command(ReadyCommand):
    help = "Serve the site with Daphne on HOST and PORT."

    def handle(self, *args: Any, **options: Any) -> None:
        host, port = settings.WEB_HOST, settings.WEB_PORT
        warn_if_scarce()

        def tell(text: str) -> None:
            if options["verbosity"]:
                self.say(text)

        server = DrainingServer(
            tell,
            application=get_default_application(),
            endpoints=build_endpoint_description_strings(host=host, port=port),
            server_name="ragsite",
            verbosity=0,
        )
        hurried = min(HURRIED_SECONDS, settings.DRAIN_SECONDS)
        loop = daphne_server.twisted_loop
        loop.run_until_complete(make_ready())
        loop.add_signal_handler(signal.SIGTERM, server.begin_draining, settings.DRAIN_SECONDS)
        loop.add_signal_handler(signal.SIGINT, server.begin_draining, hurried)
        server.run()
        if server.failure:
            raise CommandError(f"{server.failure} Set PORT or HOST to something else.")
