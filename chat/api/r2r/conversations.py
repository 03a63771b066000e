"""Conversations, with their questions and answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.shortcuts import get_object_or_404
from django.utils.translation import gettext
from ninja import Router

from chat import evidence, tidying
from chat.accounts.models import Scope
from chat.api.credentials import Caller, Request
from chat.api.r2r import shapes, wire
from chat.models import Conversation

if TYPE_CHECKING:
    from django.http import HttpResponse

router = Router(auth=Caller(Scope.CONVERSATIONS))


@router.post("conversations")
def create(request: Request) -> HttpResponse:
    """Make a conversation, in which nothing has been asked."""
    name = _name(wire.object_of(request))
    made = Conversation.objects.create(user=request.user)
    tidying.rename(made, name)
    return wire.results(shapes.conversation(made))


@router.get("conversations")
def listing(request: Request) -> HttpResponse:
    """List the conversations of whoever calls, the newest first."""
    own = Conversation.objects.filter(user=request.user, listed=True)
    found, total = wire.Page(request).of(own)
    return wire.results([shapes.conversation(each) for each in found], total=total)


@router.get("conversations/{uuid:conversation_id}")
def retrieve(request: Request, conversation_id: UUID) -> HttpResponse:
    """Return the messages of a conversation, the oldest first."""
    found = _own(request, conversation_id)
    messages = evidence.messages(request.user, conversation=found)
    return wire.results([shapes.message(each) for each in messages])


@router.post("conversations/{uuid:conversation_id}")
def rename(request: Request, conversation_id: UUID) -> HttpResponse:
    """Give a conversation another name."""
    found = _own(request, conversation_id)
    if not tidying.rename(found, _name(wire.object_of(request))):
        wire.refuse("name", gettext("must not be empty"))
    return wire.results(shapes.conversation(found))


@router.delete("conversations/{uuid:conversation_id}")
def delete(request: Request, conversation_id: UUID) -> HttpResponse:
    """Delete a conversation; what is being answered in it is stopped."""
    tidying.delete(request.user, _own(request, conversation_id))
    return wire.success()


def _own(request: Request, conversation_id: UUID) -> Conversation:
    own = Conversation.objects.filter(user=request.user)
    return get_object_or_404(own, pk=conversation_id)


def _name(said: dict[str, Any]) -> str:
    name = said.get("name") or ""
    if not isinstance(name, str):
        wire.refuse("name", gettext("must be a text"))
    return name
