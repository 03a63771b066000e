"""A run as LangGraph's clients know it: what it is, its events as they come, its final values."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.http import Http404

from chat import runs
from chat.api import asking, streaming
from chat.api.langgraph import messages, states
from chat.api.langgraph.assistants import graph_id
from chat.api.langgraph.events import Mode, Position, Translation, failure
from chat.models import Run, RunState
from retrieval.database import in_thread

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet
    from django.http import StreamingHttpResponse

    from chat.api.credentials import Request
    from chat.models import Assistant


def runs_of(user: User, thread: UUID) -> QuerySet[Run]:
    """Return the runs of somebody's thread, the newest first."""
    own = Run.objects.filter(user=user, conversation=thread, conversation__deleted_at=None)
    about = own.select_related("assistant_version__assistant", "conversation__assistant")
    return about.order_by("-created_at", "-pk")


async def own_run(user: User, thread: UUID, run: UUID) -> Run:
    """Return a run of somebody's thread. Raises Http404."""
    found = await in_thread(runs_of(user, thread).filter(pk=run).first)
    if found is None:
        raise Http404
    return found


def run_json(run: Run) -> dict[str, Any]:
    """Return a run as LangGraph has it."""
    assistant = assistant_of(run)
    return {
        "run_id": str(run.pk),
        "thread_id": str(run.conversation_id),
        "assistant_id": str(assistant.pk) if assistant else "",
        "status": states.STATUSES[RunState(run.state)],
        "metadata": states.metadata_of(run),
        "multitask_strategy": _own(run).get("multitask_strategy", "enqueue"),
        "created_at": run.created_at.isoformat(),
        "updated_at": (run.finished_at or run.created_at).isoformat(),
    }


def assistant_of(run: Run) -> Assistant | None:
    """Return the assistant that answers, or the conversation's if that one is gone."""
    version = run.assistant_version
    return (version.assistant if version else None) or run.conversation.assistant


def modes_of(run: Run) -> list[Mode]:
    """Return the modes in which a run is shown where nothing else is asked for: its first ones."""
    return _own(run).get("stream_mode") or ["values"]


def _own(run: Run) -> dict[str, Any]:
    return run.metadata.get(states.OWN) or {}


async def stream(
    request: Request,
    run: Run,
    modes: Sequence[Mode],
    *,
    last_event_id: str | None = None,
    stop_on_leave: bool = False,
) -> StreamingHttpResponse:
    """Return the response that shows a run's events behind the last that its reader has."""
    coming = _events(request, run, modes, Position.parse(last_event_id))
    if stop_on_leave:
        coming = _stopping(coming, request.user, run)
    headers = {"Location": f"{address(run)}/stream", "Content-Location": address(run)}
    return await streaming.respond(request, coming, headers=headers)


async def final(request: Request, run: Run) -> StreamingHttpResponse:
    """Return the response that has a run's final values, when it has ended; newlines before."""
    headers = {"Location": f"{address(run)}/join", "Content-Location": address(run)}
    return await streaming.respond(
        request,
        streaming.beating(_final(request, run), b"\n"),
        heartbeat=False,
        headers=headers,
        content_type="application/json",
    )


def address(run: Run) -> str:
    """Return where a run is below the API's own address, which the SDK puts before it."""
    return f"/threads/{run.conversation_id}/runs/{run.pk}"


async def _events(
    request: Request, run: Run, modes: Sequence[Mode], after: Position
) -> AsyncGenerator[bytes]:
    translation = Translation(run, modes, _about(run), after)
    asked = False
    async with aclosing(asking.frames(request, run.pk)) as frames:
        async for frame in frames:
            if frame.seq > 1 and not asked and "values" in modes:
                asked = True
                translation.before = await in_thread(states.before_answer, request.user, run)
            for event in translation.events(frame):
                data = streaming.to_json(event.data)
                # That a run cannot be read on is none of its events: it is come back to before it.
                id_ = str(event.id) if frame.run else None
                yield streaming.event(data, event=event.name, id=id_)


async def _stopping(events: AsyncGenerator[bytes], user: User, run: Run) -> AsyncGenerator[bytes]:
    """Yield the events; stop the run if their reader leaves, whoever else reads."""
    async with aclosing(events):
        try:
            async for event in events:
                yield event
        finally:
            await runs.stop(user, run.pk)


def _about(run: Run) -> dict[str, Any]:
    assistant = assistant_of(run)
    return {
        "run_id": str(run.pk),
        "thread_id": str(run.conversation_id),
        "assistant_id": str(assistant.pk) if assistant else "",
        "graph_id": graph_id(assistant) if assistant else "",
    }


async def _final(request: Request, run: Run) -> AsyncGenerator[bytes]:
    answered = await asking.whole(request, run.pk)
    yield streaming.to_json(await _values(request.user, run, answered)).encode()


async def _values(user: User, run: Run, answered: asking.Answered) -> dict[str, Any]:
    if answered.done is None:
        assert answered.error is not None  # noqa: S101 - every run has an end
        return {"__error__": failure(answered.error)}
    said = await in_thread(states.before_answer, user, run)
    if answered.done.answer:
        said.append(messages.answer(run.answer_id, answered.done))
    return {"messages": said}
