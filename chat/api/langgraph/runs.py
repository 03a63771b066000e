"""Runs: asking, whole or streamed, in a thread or without one; following, joining, stopping."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from django.http import HttpResponse, StreamingHttpResponse
from django.utils.translation import gettext
from ninja import Query, Router
from ninja.errors import HttpError

from chat import runs
from chat.accounts.models import Scope
from chat.api import asking
from chat.api.credentials import Caller, Request
from chat.api.langgraph import assistants, states, threads
from chat.api.langgraph.running import (
    address,
    final,
    modes_of,
    own_run,
    run_json,
    runs_of,
    stream,
)
from chat.api.langgraph.schemas import Cancelling, Joining, RunCreate, RunSearch
from chat.api.langgraph.wire import json, selected
from chat.models import Assistant, Run
from chat.terms import OnLeave, Terms
from retrieval.database import in_thread

if TYPE_CHECKING:
    from django.contrib.auth.models import User

router = Router(auth=Caller(Scope.ASK))

ON_LEAVE: dict[str | None, OnLeave] = {"cancel": "stop", "continue": "finish", None: "grace"}


@router.post("threads/{thread_id}/runs")
async def create(request: Request, thread_id: UUID, new: RunCreate) -> HttpResponse:
    """Ask in a thread, and return at once; the answer is written whether anybody reads it."""
    return await _created(request, new, thread_id)


@router.post("runs")
async def create_without_thread(request: Request, new: RunCreate) -> HttpResponse:
    """Ask without a thread, and return at once."""
    return await _created(request, new, None)


@router.post("threads/{thread_id}/runs/stream")
async def create_stream(request: Request, thread_id: UUID, new: RunCreate) -> StreamingHttpResponse:
    """Ask in a thread, and follow the answer."""
    run = await begin(request, new, thread_id, ON_LEAVE[new.on_disconnect])
    return await stream(request, run, new.stream_mode)


@router.post("runs/stream")
async def create_stream_without_thread(request: Request, new: RunCreate) -> StreamingHttpResponse:
    """Ask without a thread, and follow the answer."""
    run = await begin(request, new, None, ON_LEAVE[new.on_disconnect])
    return await stream(request, run, new.stream_mode)


@router.post("threads/{thread_id}/runs/wait")
async def create_wait(request: Request, thread_id: UUID, new: RunCreate) -> StreamingHttpResponse:
    """Ask in a thread, and wait for the answer."""
    run = await begin(request, new, thread_id, ON_LEAVE[new.on_disconnect])
    return await final(request, run)


@router.post("runs/wait")
async def create_wait_without_thread(request: Request, new: RunCreate) -> StreamingHttpResponse:
    """Ask without a thread, and wait for the answer."""
    run = await begin(request, new, None, ON_LEAVE[new.on_disconnect])
    return await final(request, run)


@router.get("threads/{thread_id}/runs")
def listing(request: Request, thread_id: UUID, wanted: Query[RunSearch]) -> HttpResponse:
    """List the runs of a thread, the newest first."""
    threads.own_thread(request.user, thread_id)
    found = runs_of(request.user, thread_id)
    if wanted.status:
        named = [state for state, name in states.STATUSES.items() if name == wanted.status]
        found = found.filter(state__in=named)
    page = found[wanted.offset : wanted.offset + wanted.limit]
    return json([selected(run_json(run), wanted.select) for run in page])


@router.get("threads/{thread_id}/runs/{run_id}")
async def get(request: Request, thread_id: UUID, run_id: UUID) -> HttpResponse:
    """Show a run."""
    return json(run_json(await own_run(request.user, thread_id, run_id)))


@router.get("threads/{thread_id}/runs/{run_id}/join")
async def join(request: Request, thread_id: UUID, run_id: UUID) -> StreamingHttpResponse:
    """Wait for a run's end."""
    return await final(request, await own_run(request.user, thread_id, run_id))


@router.get("threads/{thread_id}/runs/{run_id}/stream")
async def join_stream(
    request: Request, thread_id: UUID, run_id: UUID, wanted: Query[Joining]
) -> StreamingHttpResponse:
    """Follow a run, from its beginning or from behind an event."""
    run = await own_run(request.user, thread_id, run_id)
    return await stream(
        request,
        run,
        wanted.modes or modes_of(run),
        last_event_id=request.headers.get("Last-Event-ID"),
        stop_on_leave=wanted.cancel_on_disconnect,
    )


@router.post("threads/{thread_id}/runs/{run_id}/cancel")
async def cancel(
    request: Request, thread_id: UUID, run_id: UUID, wanted: Query[Cancelling]
) -> HttpResponse | StreamingHttpResponse:
    """Stop a run; show its values, if they are waited for."""
    run = await own_run(request.user, thread_id, run_id)
    await runs.stop(request.user, run.pk)
    return await final(request, run) if wanted.wait else HttpResponse(status=202)


async def begin(request: Request, new: RunCreate, thread: UUID | None, on_leave: OnLeave) -> Run:
    """Begin to answer a question, in a thread or a conversation that is not listed.

    Raises HttpError, Http404, RunRefused.
    """
    assistant = await in_thread(_prepared, request.user, new, thread)
    ask, history = new.asked()
    strategy = new.multitask_strategy or "enqueue"
    own = {"stream_mode": new.stream_mode, "multitask_strategy": strategy}
    run = await asking.begin(
        request,
        ask.model_copy(update={"conversation": thread, "assistant": assistant}),
        Terms(
            # A thread has its own.
            history=() if thread else history,
            listed=bool(thread) or new.on_completion == "keep",
            on_leave=on_leave,
            multitask=strategy,
            metadata={**new.metadata, states.OWN: own},
        ),
    )
    return await own_run(request.user, run.conversation_id, run.pk)


def _prepared(user: User, new: RunCreate, thread: UUID | None) -> str | None:
    """Make sure of the thread, and return the name of the assistant; None if there are none."""
    assistant = assistants.find(user, new.assistant_id)
    if assistant is None and Assistant.objects.exists():
        message = gettext("There is no assistant “{name}”.").format(name=new.assistant_id)
        raise HttpError(404, message)
    name = assistant.name if assistant else None
    known = thread is not None and threads.threads_of(user).filter(pk=thread).exists()
    if new.goes_on_from:
        newest = states.of_thread(user, thread)[-1:] if thread and known else []
        if [state["checkpoint"]["checkpoint_id"] for state in newest] != [new.goes_on_from]:
            raise HttpError(422, gettext("A thread goes on only from its newest state."))
    if thread is not None and not known:
        if new.if_not_exists != "create":
            raise HttpError(404, gettext("There is no such thread."))
        threads.make(user, thread)
    return name


async def _created(request: Request, new: RunCreate, thread: UUID | None) -> HttpResponse:
    run = await begin(request, new, thread, "finish")
    response = json(run_json(run))
    response.headers["Content-Location"] = address(run)
    return response
