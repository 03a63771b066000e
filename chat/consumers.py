"""The socket of a page: parse what comes in, hand it to `runs`, send the frames of what it follows.

Channels handles one message at a time, so nothing here waits for an answer: every run that is
followed has a task of its own.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing, suppress
from typing import Any, cast
from uuid import UUID

from autobahn.exception import Disconnected
from channels.generic.websocket import AsyncWebsocketConsumer
from django.contrib.auth.models import User
from django.db import DatabaseError
from django.utils.translation import gettext
from pydantic import ValidationError

from chat import metrics, runs
from chat.access import EVERYONE, is_signed_in, user_group
from chat.accounts import guests, tokens
from chat.accounts.models import ApiToken, Guest
from chat.accounts.sockets import PROTOCOL
from chat.announcing import announce, conversation_group
from chat.channel_layer import PROCESS
from chat.client_messages import (
    Ack,
    Ask,
    ClientMessage,
    ClientMessageAdapter,
    Ping,
    Prefetch,
    Resume,
    Stop,
    Watch,
)
from chat.frames import BaseFrame, Error, Pong
from chat.refusals import ask_id, refusal, unavailable
from chat.runs import RunRefused
from chat.window import Window

logger = logging.getLogger(__name__)

NOT_SIGNED_IN = 4401
# A server may send no code below 3000 but 1000, and the few that Daphne sends itself.
MESSAGE_TOO_BIG = 4413
SERVICE_RESTART = 1012
LARGEST_MESSAGE = 1_000_000


class ChatConsumer(AsyncWebsocketConsumer):
    """One page's socket, for all of a person's conversations."""

    async def connect(self) -> None:
        """Accept everyone, so that the close code can say why it is closed again."""
        self.following: dict[UUID, asyncio.Task[None]] = {}
        self.windows: dict[UUID, Window] = {}
        self.newest: UUID | None = None
        self.looking_ahead: asyncio.Task[Any] | None = None
        self.watching: set[UUID] = set()
        await self.channel_layer.group_add(PROCESS, self.channel_name)
        await self.accept(PROTOCOL if PROTOCOL in self.scope.get("subprotocols", ()) else None)
        if self.is_known:
            await self.channel_layer.group_add(self.own_group, self.channel_name)
            await self.channel_layer.group_add(EVERYONE, self.channel_name)
        else:
            await self.close(NOT_SIGNED_IN)

    @property
    def user(self) -> User:
        """Whose socket this is."""
        return cast("User", self.scope["user"])

    @property
    def is_known(self) -> bool:
        """Whether somebody is there who may ask: signed in, or a guest."""
        return self.user.is_authenticated or isinstance(self.user, Guest)

    @property
    def own_group(self) -> str:
        """The channel-layer group of this person's sockets."""
        user = self.user
        return guests.group(user) if isinstance(user, Guest) else user_group(user)

    async def disconnect(self, code: int) -> None:
        """Stop reading; the runs go on for their grace period."""
        await self.channel_layer.group_discard(PROCESS, self.channel_name)
        await self.channel_layer.group_discard(self.own_group, self.channel_name)
        await self.channel_layer.group_discard(EVERYONE, self.channel_name)
        await self.stop_reading()
        for conversation in self.watching:
            await self.channel_layer.group_discard(
                conversation_group(conversation), self.channel_name
            )

    async def stop_reading(self) -> None:
        """End everything this socket follows or looks for."""
        tasks: list[asyncio.Task[Any]] = list(self.following.values())
        if self.looking_ahead is not None:
            tasks.append(self.looking_ahead)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def look_again(self, event: dict[str, Any]) -> None:
        """Rights have changed: close the socket if its session ended, end answers it lost."""
        try:
            if await self.may_go_on():
                for run in list(self.following):
                    await runs.end_if_withdrawn(self.user, run)
        except DatabaseError:
            logger.exception("Rights could not be looked up after they changed")

    async def may_go_on(self) -> bool:
        """Close the socket if its session or token has ended; return whether it may go on."""
        if isinstance(self.user, Guest):
            is_in = await guests.may_stay(self.user)
        elif token := cast("ApiToken | None", self.scope.get("token")):
            is_in = await tokens.is_in_force(token)
        else:
            is_in = await is_signed_in(self.user, self.scope["session"].session_key)
        if not is_in:
            await self.signed_in()
        return is_in

    async def signed_in(self, event: dict[str, Any] | None = None) -> None:
        """Have the page sign in, or see that its guest has done so on another."""
        await self.stop_reading()
        await self.close(NOT_SIGNED_IN)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Handle one message, and answer a bad one with an error frame that ends no run."""
        if not self.is_known:
            return
        if len(text_data or bytes_data or "") > LARGEST_MESSAGE:
            await self.close(MESSAGE_TOO_BIG)
            return
        raw = text_data if text_data is not None else (bytes_data or b"")
        try:
            message = ClientMessageAdapter.validate_json(raw)
            if isinstance(message, Ack | Ping) or await self.may_go_on():
                await self.handle(message)
        except ValidationError as error:
            await self.send_frame(refusal(error, raw))
        except RunRefused as refused:
            await self.send_frame(refused.frame(ask_id(raw)))
        except DatabaseError:
            logger.exception("A message could not be handled")
            await self.send_frame(unavailable(raw))

    async def handle(self, message: ClientMessage) -> None:
        """Do what the client asks. Raises RunRefused."""
        match message:
            case Ask():
                await self.ask(message)
            case Stop():
                await self.stop(message)
            case Resume():
                metrics.RESUMES.inc()
                await self.resume(message.run, message.after)
            case Watch():
                await self.watch(message.conversation)
            case Prefetch():
                await self.prefetch(message)
            case Ack():
                if window := self.windows.get(message.run):
                    window.acknowledge(message.seq)
            case Ping():
                await self.send_frame(Pong())

    async def ask(self, message: Ask) -> None:
        """Start a run, follow it, and tell others who watch the conversation."""
        run = await runs.start(self.user, message)
        if isinstance(self.user, Guest):
            # Stored with the first question, if not before.
            self.scope["user"] = await guests.keep(self.user)  # type: ignore[typeddict-item]
        self.newest = run.id
        await self.resume(run.id, 0)
        await self.join(run.conversation_id)
        await announce(run)

    async def prefetch(self, message: Prefetch) -> None:
        """Look ahead for what is being typed, instead of what was typed before."""
        if self.looking_ahead is not None:
            self.looking_ahead.cancel()
        # Whoever asks is told; who types is left alone.
        with suppress(RunRefused, DatabaseError):
            self.looking_ahead = await runs.look_ahead(self.user, message)

    async def stop(self, message: Stop) -> None:
        """Stop a run; with nothing named, the newest of this socket."""
        run = message.run if message.run or message.ask else self.newest
        if run is None and message.ask is None:
            raise RunRefused("not_found", gettext("There is nothing to stop."))
        if await runs.stop(self.user, run, message.ask) is None:
            raise RunRefused("not_found", gettext("There is no such answer."))

    async def resume(self, run: UUID, after: int) -> None:
        """Follow a run from the frame behind number `after`."""
        if previous := self.following.pop(run, None):
            previous.cancel()
        window = self.windows[run] = Window()
        task = asyncio.create_task(self.follow(run, after, window), name=f"follow {run}")
        self.following[run] = task
        metrics.SUBSCRIBERS.inc()
        task.add_done_callback(lambda done: self.forget(run, done))

    def forget(self, run: UUID, task: asyncio.Task[None]) -> None:
        """Let go of a reader that has ended."""
        metrics.SUBSCRIBERS.dec()
        if self.following.get(run) is task:
            del self.following[run], self.windows[run]

    async def follow(self, run: UUID, after: int, window: Window) -> None:
        """Send a run's frames up to its end, no faster than the client takes them in."""
        try:
            async with aclosing(runs.follow(self.user, run, after)) as frames:
                async for frame in frames:
                    await window.room()
                    text = frame.to_json()
                    await self.send(text_data=text)
                    window.sent(frame.seq, len(text))
        except RunRefused as refused:
            await self.send_frame(refused.frame())
        except Disconnected:
            pass  # the page is gone; Daphne is about to say so
        except Exception:  # the outermost edge of this task
            logger.exception("Run %s: could not be followed", run)
            message = gettext("The connection to this answer was lost. Reload the page.")
            await self.send_frame(Error(code="internal", message=message, recoverable=True))

    async def watch(self, conversation: UUID) -> None:
        """Follow the runs that are active in a conversation, and those to come."""
        # Joined first, so that none starts unheard while those that are active are looked up.
        await self.join(conversation)
        try:
            active = await runs.active_in(self.user, conversation)
        except RunRefused:
            await self.part(conversation)
            raise
        for run in active:
            if run not in self.following:
                await self.resume(run, 0)

    async def join(self, conversation: UUID) -> None:
        """Hear of runs that start in a conversation, in any tab."""
        if conversation not in self.watching:
            self.watching.add(conversation)
            await self.channel_layer.group_add(conversation_group(conversation), self.channel_name)

    async def part(self, conversation: UUID) -> None:
        """Hear no more of a conversation."""
        self.watching.discard(conversation)
        await self.channel_layer.group_discard(conversation_group(conversation), self.channel_name)

    async def run_started(self, event: dict[str, Any]) -> None:
        """Follow a run that was started elsewhere, in a conversation this page watches."""
        run, conversation = UUID(event["run"]), UUID(event["conversation"])
        if conversation not in self.watching:
            return  # somebody else's, heard of before that was known
        if run not in self.following and run != self.newest:
            await self.resume(run, 0)

    async def process_draining(self, event: dict[str, Any]) -> None:
        """Have the page connect to another process, unless it follows an answer of this one."""
        if not self.following:
            await self.close(SERVICE_RESTART)

    async def send_frame(self, frame: BaseFrame) -> None:
        """Send a frame of no run, as JSON."""
        if isinstance(frame, Error):
            metrics.REFUSALS.labels(frame.code).inc()
        await self.send(text_data=frame.to_json())
