"""Connections that one process accepts and others serve, each in its turn.

A socket that all of them accept from would not do: whoever is awake takes them all, and keeps them.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections import deque
from collections.abc import Callable

logger = logging.getLogger(__name__)

# Whenever nobody takes a connection, because all are busy or end, it waits this long.
WAIT_SECONDS = 0.05
READY = CONNECTION = b"."


class Giver:
    """Accepts connections, and gives them to those who are ready, in turn."""

    def __init__(self, listener: socket.socket, count: int) -> None:
        """Give what `listener` accepts, to `count` takers when all are there."""
        listener.setblocking(False)
        self.listener = listener
        self.count = count
        self.takers: deque[socket.socket] = deque()
        self.is_ready = asyncio.Event()
        """Set once all have been ready."""
        self.is_deserted = asyncio.Event()
        """Set while nobody takes connections."""
        self.is_deserted.set()

    def add(self, channel: socket.socket) -> None:
        """Give to whoever is at the other end of `channel`, from its being ready until its end."""
        channel.setblocking(False)
        asyncio.get_running_loop().add_reader(channel, self.hear, channel)

    def hear(self, channel: socket.socket) -> None:
        """Take note that a taker is ready, or takes no more."""
        try:
            said = channel.recv(1)
        except ConnectionResetError:  # it has ended without taking all
            said = b""
        if said != READY:
            self.leave(channel)
            return
        self.takers.append(channel)
        self.is_deserted.clear()
        if len(self.takers) == self.count:
            self.is_ready.set()

    def leave(self, channel: socket.socket) -> None:
        """Give nothing more to a taker, who still learns by `channel` when this process ends."""
        asyncio.get_running_loop().remove_reader(channel)
        if channel in self.takers:
            self.takers.remove(channel)
        if not self.takers:
            self.is_deserted.set()

    def remove(self, channel: socket.socket) -> None:
        """Forget a taker that has ended."""
        self.leave(channel)
        channel.close()

    async def give(self) -> None:
        """Give away connections for ever; the listener listens already."""
        while True:
            try:
                connection, _ = await asyncio.get_running_loop().sock_accept(self.listener)
            except OSError as error:  # too many open files, say
                logger.warning("A connection was not accepted: %s", error)
                await asyncio.sleep(WAIT_SECONDS)
                continue
            with connection:
                while not self.is_taken(connection):  # noqa: ASYNC110 - nobody tells
                    await asyncio.sleep(WAIT_SECONDS)

    def is_taken(self, connection: socket.socket) -> bool:
        """Whether somebody takes a connection, beginning with the next in turn."""
        for _ in range(len(self.takers)):
            channel = self.takers[0]
            self.takers.rotate(-1)
            try:
                socket.send_fds(channel, [CONNECTION], [connection.fileno()])
            except OSError:  # has many to take already, or has just ended
                continue
            return True
        return False


class Taker:
    """Takes connections until it is stopped, or until who gives them has ended."""

    def __init__(
        self,
        channel: socket.socket,
        serve: Callable[[socket.socket], None],
        giver_ended: Callable[[], None],
    ) -> None:
        """Call `serve` with each connection, which is closed afterwards: it makes its own of it."""
        channel.setblocking(False)
        self.channel = channel
        self.serve = serve
        self.giver_ended = giver_ended

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Take connections from now on."""
        self.loop = loop
        loop.add_reader(self.channel, self.take)
        self.channel.send(READY)

    def take(self) -> None:
        """Take one connection, so that the rest of the process has its turn."""
        try:
            said, descriptors, _, _ = socket.recv_fds(self.channel, len(CONNECTION), 1)
        except ConnectionResetError:  # it has ended before it heard of this process
            said, descriptors = b"", []
        for descriptor in descriptors:
            with socket.socket(fileno=descriptor) as connection:
                try:
                    self.serve(connection)
                except OSError as error:
                    logger.debug("A connection ended before it was served: %s", error)
        if not said:
            self.loop.remove_reader(self.channel)
            self.giver_ended()

    def stopListening(self) -> None:  # noqa: N802 - as Twisted's ports are told
        """Tell to give no more; what was given before is taken, and the giver's end heard."""
        with contextlib.suppress(OSError):  # it has ended
            self.channel.shutdown(socket.SHUT_WR)
