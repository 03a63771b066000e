"""The channel layer of several web processes: in memory, with Redis to carry on what is said.

What goes over it are hints, and PostgreSQL decides: without Redis everything works in each process,
and only what others say is not heard until it is back.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from typing import Any
from uuid import uuid4

from channels.layers import InMemoryChannelLayer
from django.utils.crypto import salted_hmac
from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)

# The group of all sockets of this process.
PROCESS = f"process.{uuid4().hex}"
# Redis is given up after this long, whether it is gone or accepts and never answers.
ANSWER_SECONDS = 1.0
RETRY_SECONDS = 1.0
# More hints than this are not kept while Redis is slow.
LONGEST_QUEUE = 1000


class RelayedChannelLayer(InMemoryChannelLayer):
    """Sends to groups in this process at once, and to those in others by way of Redis.

    Messages must be JSON. Nothing that is sent waits for Redis: it is passed on by a task. It
    listens from the first channel on; `aclose` ends that.
    """

    def __init__(self, url: str, **options: Any) -> None:
        super().__init__(**options)
        self.url = url
        self.redis = self.connect()
        # Sites that share a Redis do not hear each other: each has a key of its own.
        self.topic = f"ragsite.{salted_hmac('channel layer', '').hexdigest()[:16]}"
        self.process = PROCESS
        self.outgoing: asyncio.Queue[str] = asyncio.Queue(LONGEST_QUEUE)
        self.tasks: list[asyncio.Task[None]] = []
        self.heard = asyncio.Event()
        self.lost = False

    def connect(self) -> Redis:
        """Return a client, which connects when it is used."""
        return Redis.from_url(
            self.url,
            socket_connect_timeout=ANSWER_SECONDS,
            socket_timeout=ANSWER_SECONDS,
            socket_keepalive=True,
            retry=Retry(NoBackoff(), 0),
        )

    async def new_channel(self, prefix: str = "specific.") -> str:
        """Return a channel of this process; listen to the others, and speak, from now on."""
        if not self.tasks:
            self.tasks = [
                asyncio.create_task(self.listen(), name="listen to other processes"),
                asyncio.create_task(self.speak(), name="speak to other processes"),
            ]
        name: str = await super().new_channel(prefix)
        return name

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        """Send to the group's channels, wherever they are; this process does not wait for Redis."""
        await super().group_send(group, message)
        said = json.dumps({"from": self.process, "group": group, "message": message})
        if not self.is_of_this_loop():
            await self.publish_once(said)
        elif not self.lost:
            # One that does not fit is missed: it is a hint.
            with contextlib.suppress(asyncio.QueueFull):
                self.outgoing.put_nowait(said)

    def is_of_this_loop(self) -> bool:
        """Whether the tasks of this layer run where it is called from."""
        return bool(self.tasks) and self.tasks[0].get_loop() is asyncio.get_running_loop()

    async def publish_once(self, said: str) -> None:
        """Let Redis pass on what a command says, whose event loop ends with this call."""
        try:
            async with asyncio.timeout(ANSWER_SECONDS), self.connect() as once:
                await once.publish(self.topic, said)
        except (RedisError, OSError) as error:
            self.note_loss(error)

    async def speak(self) -> None:
        """Let Redis pass on what is said here, in order; what it does not take is missed."""
        while True:
            said = await self.outgoing.get()
            try:
                if not self.lost:
                    await self.redis.publish(self.topic, said)
            except (RedisError, OSError) as error:
                self.note_loss(error)
            finally:
                self.outgoing.task_done()

    async def listen(self) -> None:
        """Hand on what other processes say, through times when Redis is away."""
        while True:
            try:
                async with self.redis.pubsub() as subscription:
                    await subscription.subscribe(self.topic)
                    while True:
                        said = await self.next_reply(subscription)
                        self.note_return()
                        if said["type"] == "message":
                            await self.hand_on(json.loads(said["data"]))
            except (RedisError, OSError) as error:
                self.note_loss(error)
                # Kept connections would fail the first who speaks when Redis is back.
                await self.redis.connection_pool.disconnect(inuse_connections=False)
            await asyncio.sleep(RETRY_SECONDS)

    async def next_reply(self, subscription: PubSub) -> dict[str, Any]:
        """Return what Redis says next. Raises TimeoutError if it does not even answer a ping."""
        reply: dict[str, Any] | None = await subscription.get_message(timeout=RETRY_SECONDS)
        if reply is None:
            # A connection that is dead, or a Redis that hangs, is as silent as one with no news.
            await subscription.ping()
            reply = await subscription.get_message(timeout=ANSWER_SECONDS)
        if reply is None:
            raise TimeoutError("it accepts connections, but does not answer")
        return reply

    async def hand_on(self, said: dict[str, Any]) -> None:
        """Send to this process's channels what another process said to a group."""
        if said["from"] != self.process:
            await super().group_send(said["group"], said["message"])

    def note_loss(self, error: Exception) -> None:
        """Log once that Redis is away."""
        self.heard.clear()
        if not self.lost:
            self.lost = True
            logger.warning("Redis is away (%s): other processes are not heard", error)

    def note_return(self) -> None:
        """Log once that Redis is back."""
        self.heard.set()
        if self.lost:
            self.lost = False
            logger.warning("Redis is back")

    async def aclose(self) -> None:
        """Say what is still to be said, stop listening, and close the connections."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(ANSWER_SECONDS):
                await self.outgoing.join()
        while self.tasks:  # Redis's client may take a cancellation for its own timeout
            for task in self.tasks:
                task.cancel()
            _, pending = await asyncio.wait(self.tasks, timeout=ANSWER_SECONDS)
            self.tasks = list(pending)
        await self.redis.aclose()
