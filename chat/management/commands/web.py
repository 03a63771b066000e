"""Serve the site with Daphne, ending in order."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from typing import Any

from channels.routing import get_default_application
from daphne import server as daphne_server
from daphne.endpoints import build_endpoint_description_strings
from daphne.ws_protocol import WebSocketProtocol
from django.conf import settings
from django.core.management import CommandError

from retrieval import backends
from retrieval.management.ready import ReadyCommand

SERVICE_RESTART = 1012
# What is still being answered when the site stops gets this long.
DRAIN_SECONDS = 5.0


class DrainingServer(daphne_server.Server):  # type: ignore[misc]
    """Daphne's server without its own signal handling, which would cut every socket at once."""

    def __init__(self, tell: Callable[[], None], **options: Any) -> None:
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
        self.tell()

    def listen_error(self, failure: Any) -> None:
        """Keep the reason for the command to tell."""
        self.failure = failure.getErrorMessage()
        self.stop()

    def begin_draining(self) -> None:
        """End the server from a signal handler; a second signal changes nothing."""
        if self.draining is None:
            self.draining = asyncio.ensure_future(self.drain())

    async def drain(self) -> None:
        """Refuse new connections, close sockets with 1012, let requests end, stop."""
        try:
            for port in self.ports:
                port.stopListening()
            for protocol in list(self.connections):
                if getattr(protocol, "state", None) == WebSocketProtocol.STATE_OPEN:
                    # Not sendClose(), which allows applications' own codes only.
                    protocol.sendCloseFrame(code=SERVICE_RESTART)
            running = [
                details["application_instance"]
                for details in self.connections.values()
                if "application_instance" in details
            ]
            if running:
                await asyncio.wait(running, timeout=DRAIN_SECONDS)
            await backends.aclose()
        finally:
            self.stop()

    def kill_all_applications(self) -> Any:
        """Cancel what has not ended, skipping connections that never had an application."""
        self.connections = {
            protocol: details
            for protocol, details in self.connections.items()
            if "application_instance" in details
        }
        return super().kill_all_applications()


class Command(ReadyCommand):
    help = "Serve the site with Daphne on HOST and PORT."

    def handle(self, *args: Any, **options: Any) -> None:
        host, port = settings.WEB_HOST, settings.WEB_PORT

        def tell() -> None:
            if options["verbosity"]:
                self.say(f"Serving on http://{host}:{port}")

        server = DrainingServer(
            tell,
            application=get_default_application(),
            endpoints=build_endpoint_description_strings(host=host, port=port),
            server_name="ragsite",
            verbosity=0,
        )
        for number in (signal.SIGINT, signal.SIGTERM):
            daphne_server.twisted_loop.add_signal_handler(number, server.begin_draining)
        server.run()
        if server.failure:
            raise CommandError(f"{server.failure} Set PORT or HOST to something else.")
