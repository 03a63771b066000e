"""How far the ingestion of a document is: waited for, or told as it goes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING
from uuid import UUID

from asgiref.sync import sync_to_async
from django.http import Http404

from chat.api import streaming
from chat.api.native import library
from retrieval.database import in_thread
from retrieval.models import ENDED

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.http import StreamingHttpResponse

    from chat.api.credentials import Request
    from chat.api.native.document_schemas import DocumentDetail

# How often it is looked for what workers, which are other processes, have done.
POLL_SECONDS = 0.3


async def waited_for(request: Request, document: UUID, seconds: float) -> DocumentDetail:
    """Return a document when its newest file has been read, or after so many seconds.

    Raises Http404.
    """
    found = await sync_to_async(_look)(request.user, document)
    if has_ended(found) or not seconds:
        return found
    await sync_to_async(streaming.let_go)()
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    while not has_ended(found) and loop.time() < until:
        await asyncio.sleep(min(POLL_SECONDS, max(0.0, until - loop.time())))
        found = await in_thread(_look, request.user, document)
    return found


async def events(request: Request, document: UUID) -> StreamingHttpResponse:
    """Return the stream of a document's progress. Raises Http404."""
    first = await sync_to_async(_look)(request.user, document)
    return await streaming.respond(request, _told(request.user, document, first))


async def _told(user: User, document: UUID, found: DocumentDetail) -> AsyncGenerator[bytes]:
    number, before = 0, ""
    while True:
        told = found.model_dump_json()
        if told != before:
            number, before = number + 1, told
            name = "end" if has_ended(found) else "progress"
            data = streaming.to_json(found.model_dump(mode="json"))
            yield streaming.event(data, event=name, id=str(number))
            if name == "end":
                return
        await asyncio.sleep(POLL_SECONDS)
        try:
            found = await in_thread(_look, user, document)
        except Http404:  # deleted, or closed to them
            yield streaming.event("null", event="end", id=str(number + 1))
            return


def _look(user: User, document: UUID) -> DocumentDetail:
    return library.detailed(user, library.document(user, document))


def has_ended(document: DocumentDetail) -> bool:
    """Whether nothing more is done to a document."""
    return document.newest is None or document.newest.stage in ENDED
