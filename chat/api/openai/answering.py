"""An answer to one request, of a client that keeps the conversation itself."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.urls import reverse

from chat.api import asking
from chat.api.openai import errors, models, requests
from chat.api.openai.completions import Chunks, Completion
from chat.api.streaming import event, to_json
from chat.frames import CitationData, Frame
from chat.terms import Terms

if TYPE_CHECKING:
    from django.http import HttpRequest

    from chat.api.credentials import Request
    from chat.api.openai.requests import ChatRequest
    from chat.models import Run

DONE = event("[DONE]")


async def begin(request: Request, asked: ChatRequest) -> Run:
    """Start an answer, which ends when its client leaves. Raises ApiError, RunRefused."""
    assistant = await models.assistant_of(request.user, asked.model)
    ask, history = requests.question(asked, assistant)
    if asked.collections:
        named = await asking.collection_names(request.user, asked.collections)
        ask = ask.model_copy(update={"collections": named})
    return await asking.begin(request, ask, Terms(history=history, listed=False, on_leave="stop"))


def completion(request: HttpRequest, run: Run, model: str) -> Completion:
    """Return what the answer of a run is called, and where its citations can be seen."""
    return Completion(
        id=f"chatcmpl-{run.id.hex}",
        created=int(time.time()),
        model=model,
        link=partial(link, _page(request, run), run),
    )


def link(page: str, run: Run, citation: CitationData) -> str:
    """Return the address of an answer on the site; each passage has one, for readers to count."""
    return f"{page}?source={citation.index}#message-{run.answer_id}"


def _page(request: HttpRequest, run: Run) -> str:
    path = reverse("chat:conversation", args=[run.conversation_id])
    return (
        f"{settings.PUBLIC_URL.rstrip('/')}{path}"
        if settings.PUBLIC_URL
        else request.build_absolute_uri(path)
    )


async def whole(request: Request, run: Run, answer: Completion) -> dict[str, Any]:
    """Return an answer when it has ended. Raises ApiError if it fails."""
    answered = await asking.whole(request, run.id)
    if answered.error:
        raise errors.failed(answered.error)
    assert answered.done is not None  # noqa: S101 - a run ends with the one or the other
    return answer.whole(answered.done)


async def stream(
    frames: AsyncGenerator[Frame], answer: Completion, *, with_usage: bool
) -> AsyncGenerator[bytes]:
    """Yield an answer as it comes: lines of data, and nothing else."""
    chunks = Chunks(answer, with_usage=with_usage)
    yield event(to_json(chunks.begin()))
    async with aclosing(frames):
        try:
            async for frame in frames:
                for chunk in chunks.take(frame):
                    yield event(to_json(chunk))
        except errors.ApiError as error:
            yield event(to_json(error.body()))
    yield DONE
