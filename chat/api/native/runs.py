"""Asking, and following answers: as events, or as a whole."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext
from ninja import Header, Query, Router

from chat import runs
from chat.accounts.models import Scope
from chat.api import asking, streaming
from chat.api.credentials import Request
from chat.api.native.answers import RunOut, run_out
from chat.api.native.callers import Caller
from chat.api.native.idempotency import REPLAYED
from chat.api.native.paging import Page, Page_, page
from chat.api.native.run_schemas import AnswerOut, RunIn, answer_out
from chat.api.refusing import ConflictError, FieldError, checked_metadata
from chat.frames import BaseFrame
from chat.models import Message, Run, RunState
from retrieval.database import in_thread

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

router = Router(tags=["runs"], auth=Caller(Scope.ASK))

LONGEST_KEY = 64


@router.post(
    "",
    response={200: AnswerOut},
    operation_id="ask",
    summary="Ask a question",
    openapi_extra={"x-stream": "Frame", "x-stream-or": "application/json"},
)
async def ask(
    request: Request,
    body: RunIn,
    key: Annotated[
        str | None,
        Header(
            None, alias="Idempotency-Key", min_length=1, max_length=LONGEST_KEY,
            description="As `id` in the body.",
        ),
    ],
) -> HttpResponseBase:  # fmt: skip
    """Start an answer, and send it: frame by frame, or as a whole with `stream: false`.

    What is refused is refused before anything is sent. A frame's event is named by its type, and
    its id is its number, from which it can be gone on with.
    """
    id_ = body.id or key
    if key is not None and id_ != key:
        raise FieldError(("body", "id"), gettext("is not the same as the Idempotency-Key"))
    names = await asking.collection_names(request.user, body.collections or [])
    run = await asking.begin(
        request, body.ask(id_, names), body.terms(checked_metadata(body.metadata))
    )
    if id_ is not None and body.text != await in_thread(_question, run):
        message = gettext("This id was sent with another question before.")
        raise ConflictError(message, "idempotency_key_reused", 422)
    headers = {"Location": f"{request.path}/{run.pk}", **(REPLAYED if run.is_repeat else {})}
    if body.stream:
        events = frames_as_events(request, run.pk, 0)
        return await streaming.respond(request, events, headers=headers)
    # Spaces before it keep the connection alive.
    parts = streaming.beating(_whole(request, run), beat=b"\n")
    return await streaming.respond(
        request, parts, heartbeat=False, headers=headers, content_type="application/json"
    )


@router.get("", response=Page[RunOut], operation_id="listRuns", summary="List runs")
def list_runs(
    request: Request,
    paging: Page_,
    conversation: Annotated[UUID | None, Query(None)],
    state: Annotated[RunState | None, Query(None)],
) -> dict[str, Any]:
    """List your questions and how their answers ended, the newest first."""
    rows = _own(request.user)
    if conversation is not None:
        rows = rows.filter(conversation=conversation)
    if state is not None:
        rows = rows.filter(state=state)
    return page(request, rows, paging, "-pk", shown=run_out)


@router.get("{uuid:run_id}", response=RunOut, operation_id="getRun", summary="The state of a run")
def get_run(request: Request, run_id: UUID) -> RunOut:
    """Return how far an answer is, or how it ended."""
    return run_out(_one(request.user, run_id))


@router.get(
    "{uuid:run_id}/events",
    response={200: str},
    operation_id="followRun",
    summary="Follow a run",
    openapi_extra={"x-stream": "Frame"},
)
async def follow_run(
    request: Request,
    run_id: UUID,
    after: Annotated[
        int,
        Query(0, ge=0, le=2_000_000_000, description="The number of the last frame you have."),
    ],
    last_event_id: Annotated[
        str | None, Header(None, alias="Last-Event-ID", description="The same, of a reconnect.")
    ],
) -> HttpResponseBase:
    """Send the frames of an answer behind a number, to the end, whether that was long ago or not.

    Where they cannot be had one by one any more, a `snapshot` has the text.
    """
    run = await sync_to_async(_one)(request.user, run_id)
    seen = streaming.last_event_id(request)
    events = frames_as_events(request, run.pk, after if seen is None else seen)
    return await streaming.respond(request, events)


@router.post(
    "{uuid:run_id}/stop", response=RunOut, operation_id="stopRun", summary="Stop an answer"
)
async def stop_run(request: Request, run_id: UUID) -> RunOut:
    """Stop it; what there is of the answer is kept. One that has ended stays as it is."""
    await sync_to_async(_one)(request.user, run_id)
    await runs.stop(request.user, run_id)
    return run_out(await sync_to_async(_one)(request.user, run_id))


async def frames_as_events(request: Request, run: UUID, after: int) -> AsyncGenerator[bytes]:
    """Yield the frames of a run as events."""
    async with aclosing(asking.frames(request, run, after)) as frames:
        async for frame in frames:
            yield event_of(frame)


def event_of(frame: BaseFrame) -> bytes:
    """Return a frame as an event; what has no number of its run has no id."""
    data = frame.model_dump(mode="json")
    number = str(frame.seq) if frame.seq else None
    return streaming.event(streaming.to_json(data), event=data["type"], id=number)


async def _whole(request: Request, run: Run) -> AsyncGenerator[bytes]:
    answered = await asking.whole(request, run.pk)
    stored = await in_thread(_one, request.user, run.pk)
    yield streaming.to_json(answer_out(stored, answered).model_dump(mode="json")).encode()


def _own(user: User) -> QuerySet[Run]:
    return Run.objects.filter(user=user, conversation__deleted_at=None)


def _one(user: User, key: UUID) -> Run:
    return get_object_or_404(_own(user), pk=key)


def _question(run: Run) -> str:
    return Message.objects.values_list("text", flat=True).get(pk=run.question_id)
