"""The channel layer of several web processes: in memory, with Redis to carry on what is said.

What goes over it are hints, and PostgreSQL decides: without Redis everything works in each process,
and only what others say is not heard until it is back.
"""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any
from uuid import uuid4

from channels.layers import InMemoryChannelLayer
from django.utils.crypto import salted_hmac
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)

# The group of all sockets of this process.
PROCESS = f"process.{uuid4().hex}"
# Redis is a hint's length away, or is not waited for.
ANSWER_SECONDS = 1.0
RETRY_SECONDS = 1.0


class RelayedChannelLayer(InMemoryChannelLayer):
    """Sends to groups in this process at once, and to those in others by way of Redis.

    Messages must be JSON. It listens from the first channel on; `aclose` ends that.
    """

    def __init__(self, url: str, **options: Any) -> None:
        super().__init__(**options)
        self.url = url
        self.redis = self.connect()
        # Sites that share a Redis do not hear each other: each has a key of its own.
        self.topic = f"ragsite.{salted_hmac('channel layer', '').hexdigest()[:16]}"
        self.process = PROCESS
        self.listening: asyncio.Task[None] | None = None
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
        """Return a channel of this process, and listen to the others from now on."""
        if self.listening is None:
            self.listening = asyncio.create_task(self.listen(), name="listen to other processes")
        name: str = await super().new_channel(prefix)
        return name

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        """Send to the group's channels, wherever they are; never waits for Redis for long."""
        await super().group_send(group, message)
        said = json.dumps({"from": self.process, "group": group, "message": message})
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await self.publish(said)
        except (RedisError, OSError, TimeoutError) as error:
            self.note_loss(error)

    async def publish(self, said: str) -> None:
        """Let Redis pass on a message. Raises RedisError or OSError."""
        if self.listening and self.listening.get_loop() is asyncio.get_running_loop():
            await self.redis.publish(self.topic, said)
            return
        # A command, whose event loop ends with this call, and connections with it.
        async with self.connect() as once:
            await once.publish(self.topic, said)

    async def listen(self) -> None:
        """Hand on what other processes say, through times when Redis is away."""
        while True:
            try:
                async with self.redis.pubsub() as subscription:
                    await subscription.subscribe(self.topic)
                    while True:
                        # Without a message for that long, a ping finds a connection that is dead.
                        said = await subscription.get_message(
                            ignore_subscribe_messages=True, timeout=RETRY_SECONDS
                        )
                        self.note_return()
                        if said:
                            await self.hand_on(json.loads(said["data"]))
            except (RedisError, OSError) as error:
                self.note_loss(error)
            await asyncio.sleep(RETRY_SECONDS)

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
        """Stop listening, and close the connections."""
        if self.listening:
            self.listening.cancel()
            await asyncio.gather(self.listening, return_exceptions=True)
            self.listening = None
        await self.redis.aclose()
