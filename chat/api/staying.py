"""Answers over HTTP that end when whoever reads them is signed out, or loses a right.

What a socket does of itself (chat/consumers.py) is done here for a stream.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING
from uuid import UUID

from channels.layers import BaseChannelLayer, get_channel_layer
from django.db import DatabaseError
from django.utils import timezone
from django.utils.translation import gettext

from chat import runs
from chat.access import EVERYONE, is_signed_in, user_group
from chat.accounts import tokens
from chat.frames import Error, Frame

if TYPE_CHECKING:
    from chat.api.credentials import Request

logger = logging.getLogger(__name__)


async def follow(request: Request, run: UUID, after: int = 0) -> AsyncGenerator[Frame]:
    """Yield a run's frames behind number `after` to its end, as long as the caller may go on.

    An error frame says that they may not: their token was revoked, or their session ended. Where
    they lose the right to what the answer draws on, the run ends. Raises RunRefused.
    """
    user = request.user
    layer = _layer()
    channel = await layer.new_channel()
    groups = (user_group(user), EVERYONE)
    for group in groups:
        await layer.group_add(group, channel)
    lost = asyncio.create_task(_lost(request, run, channel), name=f"rights to follow {run}")
    coming: asyncio.Future[Frame | None] | None = None
    try:
        async with aclosing(runs.follow(user, run, after)) as frames:
            try:
                while True:
                    coming = asyncio.ensure_future(anext(frames, None))
                    await asyncio.wait({coming, lost}, return_when=asyncio.FIRST_COMPLETED)
                    if lost.done():
                        message = gettext("You are signed out. Sign in, or use another token.")
                        yield Error(code="signed_out", message=message, recoverable=False)
                        return
                    frame = coming.result()
                    if frame is None:
                        return
                    yield frame
            finally:
                if coming is not None:
                    coming.cancel()
                    await asyncio.gather(coming, return_exceptions=True)
    finally:
        lost.cancel()
        for group in groups:
            await layer.group_discard(group, channel)


async def _lost(request: Request, run: UUID, channel: str) -> None:
    """Return when the caller may not go on; end the run where its reader may not see it."""
    layer = _layer()
    ends = request.token and request.token.expires_at
    while True:
        left = max(1.0, (ends - timezone.now()).total_seconds()) if ends else None
        with suppress(TimeoutError):
            await asyncio.wait_for(layer.receive(channel), left)
        try:
            if not await _is_in(request):
                return
            await runs.end_if_withdrawn(request.user, run)
        except DatabaseError:
            logger.exception("Rights could not be looked up after they changed")


def _layer() -> BaseChannelLayer:
    layer = get_channel_layer()
    assert layer is not None  # noqa: S101 - the settings always name one
    return layer


async def _is_in(request: Request) -> bool:
    if request.token is not None:
        return await tokens.is_in_force(request.token)
    return await is_signed_in(request.user, request.session.session_key)
