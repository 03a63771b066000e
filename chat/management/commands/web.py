"""Serve the site with Daphne, ending in order."""

from __future__ import annotations

import argparse
import asyncio
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

from autobahn.websocket.types import ConnectionDeny
from channels.layers import get_channel_layer
from channels.routing import get_default_application
from daphne import server as daphne_server
from daphne.endpoints import build_endpoint_description_strings
from daphne.ws_protocol import WebSocketProtocol
from django.conf import settings
from django.core.management import CommandError, CommandParser
from django.db import connection

from chat import runs
from chat.channel_layer import PROCESS, RelayedChannelLayer
from chat.management import garbage
from chat.management.connections import warn_if_scarce
from chat.management.handover import Taker
from chat.management.http_requests import LimitedFactory, LimitedRequest
from chat.management.supervisor import TOGETHER_SECONDS, how
from chat.management.web_processes import WebProcesses, bind, metrics_folder
from retrieval import backends, per_loop
from retrieval.management.ready import ReadyCommand

SERVICE_RESTART = 1012
STOPPING = "Stopping: no new questions are taken."
OTHERWISE = "Set PORT or HOST to something else."
# Connections that wait to be accepted.
BACKLOG = 1024
# Ctrl-C in a terminal does not wait for long answers.
HURRIED_SECONDS = 3.0
# A process whose starter has ended is killed if it has not ended by itself after this long.
ORPHAN_SECONDS = 30
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
        self.signalled = 0.0

    @property
    def http_factory(self) -> LimitedFactory:
        """What makes connections: Daphne sets its own, which has no limits."""
        return self._http_factory

    @http_factory.setter
    def http_factory(self, daphnes: Any) -> None:
        self._http_factory = LimitedFactory(daphnes.server)

    def serve_from(self, channel: socket.socket, giver_ended: Callable[[], None]) -> None:
        """Serve connections that another process hands over, in place of the endpoints."""

        def serve(connection: socket.socket) -> None:
            adopt(connection.fileno(), connection.family, self.http_factory)

        def start() -> None:
            taker.start(daphne_server.twisted_loop)

        adopt = daphne_server.reactor.adoptStreamConnection
        taker = Taker(channel, serve, giver_ended)
        self.ports.append(taker)
        self.endpoints: list[str] = []
        self.ready_callable = start

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
            self.signalled = time.monotonic()
            self.draining = asyncio.ensure_future(self.drain(seconds))
            self.draining.add_done_callback(lambda _: self.stop())
        elif time.monotonic() - self.signalled > TOGETHER_SECONDS:
            self.draining.cancel()

    async def drain(self, seconds: float) -> None:
        """Refuse new questions, let runs end, close sockets with 1012, let requests end.

        Until then pages are served, and `/healthz` and the handshakes of sockets answer 503, so
        that a proxy sends people to another process.
        """
        self.tell(STOPPING)
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
                if isinstance(protocol, LimitedRequest):
                    await protocol.keep_up()

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
    """Open what the first question would wait for, and spare the garbage collector."""
    backends.load_all()
    await per_loop.open_all()
    garbage.freeze()


def restart(protocol: Any) -> None:
    """Close a socket, telling its client to connect again."""
    # Not sendClose(), which allows applications' own codes only.
    protocol.sendCloseFrame(code=SERVICE_RESTART)


@contextmanager
def told_if_refused() -> Iterator[None]:
    """Raise CommandError, as when Daphne cannot listen, for what listening raises."""
    try:
        yield
    except OSError as error:
        where = f"{settings.WEB_HOST}:{settings.WEB_PORT}"
        raise CommandError(f"Couldn't listen on {where}: {error}. {OTHERWISE}") from error


class Command(ReadyCommand):
    help = "Serve the site with Daphne on HOST and PORT, by WEB_PROCESSES processes."

    def add_arguments(self, parser: CommandParser) -> None:
        # How this command starts itself as one process of several.
        parser.add_argument("--fd", type=int, help=argparse.SUPPRESS)

    def execute(self, *args: Any, **options: Any) -> str | None:
        # Each process that serves prepares the model for itself.
        self.only_starts = settings.WEB_PROCESSES > 1 and options["fd"] is None
        self.needs_model = not self.only_starts
        return super().execute(*args, **options)

    def handle(self, *args: Any, **options: Any) -> None:
        self.verbosity: int = options["verbosity"]
        if options["fd"] is None:
            warn_if_scarce()
        if self.only_starts:
            self.start_processes(settings.WEB_PROCESSES)
        else:
            self.serve(options["fd"])

    def tell(self, text: str) -> None:
        """Tell a person how far it is, unless asked to be silent."""
        if self.verbosity:
            self.say(text)

    def start_processes(self, count: int) -> None:
        """Run processes that serve on one socket. Raises CommandError if they cannot."""
        host, port = settings.WEB_HOST, settings.WEB_PORT
        connection.close()
        cast("Any", connection).close_pool()  # nothing is asked from here on
        with told_if_refused():
            listener = bind(host, port)
        processes = WebProcesses(count, listener, metrics_folder(host, port))

        def begin() -> None:
            with told_if_refused():
                listener.listen(BACKLOG)
            self.tell(f"Serving on http://{host}:{port} with {count} processes")

        status = asyncio.run(processes.run(begin, lambda: self.tell(STOPPING)))
        if status is not None:
            raise CommandError(f"A web process {how(status)}; see above.")

    def serve(self, descriptor: int | None) -> None:
        """Serve on HOST and PORT, or what is handed over. Raises CommandError if it cannot."""
        host, port = settings.WEB_HOST, settings.WEB_PORT
        server = DrainingServer(
            self.tell,
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
        if descriptor is not None:
            channel = socket.socket(fileno=descriptor)

            def end_soon() -> None:
                signal.alarm(ORPHAN_SECONDS)
                server.begin_draining(hurried)

            server.serve_from(channel, end_soon)
        server.run()
        if server.failure:
            raise CommandError(f"{server.failure} {OTHERWISE}")
