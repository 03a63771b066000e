"""Threads, which are conversations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Case, CharField, Exists, OuterRef, QuerySet, Subquery, Value, When
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext
from ninja import Query, Router
from ninja.errors import HttpError

from chat import tidying
from chat.accounts.models import Scope
from chat.api.credentials import Caller, Request
from chat.api.langgraph import states
from chat.api.langgraph.schemas import (
    History,
    Select,
    StateAt,
    ThreadCreate,
    ThreadPatch,
    ThreadSearch,
)
from chat.api.langgraph.states import State
from chat.api.langgraph.wire import json, selected
from chat.models import ACTIVE, Conversation, Run, RunState

if TYPE_CHECKING:
    from django.contrib.auth.models import User

router = Router(auth=Caller(Scope.CONVERSATIONS))

COLUMNS = {"thread_id": "id", "state_updated_at": "updated_at"}
# A run that ended otherwise leaves a thread idle.
LEFT = (RunState.CANCELLED, RunState.FAILED, RunState.INTERRUPTED)


@router.post("threads", auth=Caller(Scope.ASK))
def create(request: Request, new: ThreadCreate) -> HttpResponse:
    """Make a thread, unless there is one of that id."""
    if new.if_exists == "do_nothing" and new.thread_id:
        found = threads_of(request.user).filter(pk=new.thread_id).first()
        if found is not None:
            return json(_shown(request.user, [found])[0])
    made = make(request.user, new.thread_id, new.metadata)
    return json(_shown(request.user, [threads_of(request.user).get(pk=made.pk)])[0])


def make(user: User, thread: UUID | None, metadata: dict[str, Any] | None = None) -> Conversation:
    """Make a conversation. Raises HttpError if the id is taken, by whomever."""
    said = {"id": thread} if thread else {}
    try:
        with transaction.atomic():
            new = Conversation(user=user, title="", metadata=metadata or {}, **said)
            new.save(force_insert=True)
    except IntegrityError as error:
        raise HttpError(409, gettext("There is a thread of this id already.")) from error
    return new


@router.post("threads/search")
def search(request: Request, wanted: ThreadSearch) -> HttpResponse:
    """List threads, those last changed first."""
    found = threads_of(request.user).filter(listed=True)
    if wanted.metadata:
        found = found.filter(metadata__contains=wanted.metadata)
    if wanted.ids is not None:
        found = found.filter(pk__in=wanted.ids)
    if wanted.status:
        found = found.filter(status=wanted.status)
    sign = "" if wanted.sort_order == "asc" else "-"
    column = COLUMNS.get(wanted.sort_by, wanted.sort_by)
    found = found.order_by(f"{sign}{column}", f"{sign}pk")
    page = list(found[wanted.offset : wanted.offset + wanted.limit])
    return json(_shown(request.user, page, wanted.select))


@router.get("threads/{thread_id}")
def get(request: Request, thread_id: UUID) -> HttpResponse:
    """Show a thread, with its newest state."""
    return json(_shown(request.user, [own_thread(request.user, thread_id)])[0])


@router.patch("threads/{thread_id}")
def update(request: Request, thread_id: UUID, new: ThreadPatch) -> HttpResponse:
    """Put metadata over what a thread has."""
    with transaction.atomic():
        own = Conversation.objects.select_for_update(no_key=True).filter(user=request.user)
        thread = get_object_or_404(own, pk=thread_id)
        thread.metadata |= new.metadata
        thread.save(update_fields=["metadata", "updated_at"])
    if "return=minimal" in request.headers.get("Prefer", ""):
        return HttpResponse(status=204)
    return get(request, thread_id)


@router.delete("threads/{thread_id}")
def delete(request: Request, thread_id: UUID) -> HttpResponse:
    """Delete a thread; answers in it are stopped."""
    tidying.delete(request.user, own_thread(request.user, thread_id))
    return HttpResponse(status=204)


@router.get("threads/{thread_id}/state")
def get_state(request: Request, thread_id: UUID, wanted: Query[Select]) -> HttpResponse:
    """Show a thread's newest state."""
    thread = own_thread(request.user, thread_id)
    newest = states.of_thread(request.user, thread_id)[-1:] or [states.empty(thread)]
    return json(selected(newest[0], wanted.select))


@router.post("threads/{thread_id}/state/checkpoint")
def get_state_of(request: Request, thread_id: UUID, wanted: StateAt) -> HttpResponse:
    """Show a state of a thread by its checkpoint."""
    checkpoint = str(wanted.checkpoint.get("checkpoint_id"))
    return get_state_at(request, thread_id, checkpoint, wanted)


@router.get("threads/{thread_id}/state/{checkpoint_id}")
def get_state_at(
    request: Request, thread_id: UUID, checkpoint_id: str, wanted: Query[Select]
) -> HttpResponse:
    """Show a state of a thread by its checkpoint's id."""
    own_thread(request.user, thread_id)
    for state in states.of_thread(request.user, thread_id):
        if state["checkpoint"]["checkpoint_id"] == checkpoint_id:
            return json(selected(state, wanted.select))
    raise Http404


@router.post("threads/{thread_id}/history")
def get_history(request: Request, thread_id: UUID, wanted: History) -> HttpResponse:
    """List a thread's states, one for each question, the newest first."""
    own_thread(request.user, thread_id)
    found = states.of_thread(request.user, thread_id)[::-1]
    if wanted.before_id:
        found = found[_place(found, wanted.before_id) + 1 :]
    kept = [each for each in found if wanted.metadata.items() <= each["metadata"].items()]
    return json([selected(each, wanted.select) for each in kept[: wanted.limit]])


def _place(found: list[State], checkpoint: str) -> int:
    ids = [each["checkpoint"]["checkpoint_id"] for each in found]
    return ids.index(checkpoint) if checkpoint in ids else len(ids)


def threads_of(user: User) -> QuerySet[Any, Any]:
    """Return somebody's conversations with their status, that of the newest run in each."""
    of_thread = Run.objects.filter(conversation=OuterRef("pk"))
    newest = of_thread.order_by("-created_at", "-pk").values("state")[:1]
    return Conversation.objects.filter(user=user).annotate(
        newest=Subquery(newest),
        status=Case(
            When(Exists(of_thread.filter(state__in=ACTIVE)), then=Value("busy")),
            *(When(newest=state, then=Value(states.STATUSES[state])) for state in LEFT),
            default=Value("idle"),
            output_field=CharField(),
        ),
    )


def own_thread(user: User, thread: UUID) -> Conversation:
    """Return somebody's thread. Raises Http404."""
    found: Conversation = get_object_or_404(threads_of(user), pk=thread)
    return found


def _shown(user: User, threads: list[Any], select: list[str] | None = None) -> list[dict[str, Any]]:
    """Return threads as LangGraph has them."""
    with_values = not select or any(each.partition(".")[0] == "values" for each in select)
    known = states.of_threads(user, [each.pk for each in threads]) if with_values else {}
    return [selected(_thread(each, known.get(each.pk, [])), select) for each in threads]


def _thread(thread: Any, known: list[State]) -> dict[str, Any]:
    newest = known[-1] if known else states.empty(thread)
    return {
        "thread_id": str(thread.pk),
        "status": thread.status,
        "metadata": thread.metadata,
        "config": {},
        "values": newest["values"],
        "interrupts": {},
        "created_at": thread.created_at.isoformat(),
        "updated_at": thread.updated_at.isoformat(),
    }
