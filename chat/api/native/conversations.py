"""A person's conversations: listed, made, read, named, pinned, deleted and brought back."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext
from ninja import Field, Query, Router, Schema
from ninja.responses import Status
from pydantic import StringConstraints

from chat import tidying
from chat.accounts.models import Scope
from chat.api.credentials import Request
from chat.api.native import answers
from chat.api.native.answers import MessageOut
from chat.api.native.callers import Caller
from chat.api.native.document_schemas import CollectionName
from chat.api.native.idempotency import idempotent
from chat.api.native.paging import Page, Page_, page
from chat.api.native.parsing import Body
from chat.api.refusing import ConflictError, FieldError, checked_metadata
from chat.models import Assistant, Conversation
from chat.sidebar import conversations_of
from chat.tidying import TITLE_MAX_CHARS
from retrieval.text.cleaning import label

router = Router(tags=["conversations"], auth=Caller(Scope.CONVERSATIONS))

Title = Annotated[str, StringConstraints(max_length=1000)]


class ConversationOut(Schema):
    """A conversation; its title is empty until something was asked, unless it was given one."""

    id: UUID
    title: str
    assistant: str | None
    pinned: bool
    listed: bool = Field(description="Whether it is among those that its person sees.")
    metadata: dict[str, Any]
    created_at: datetime
    updated_at: datetime


class ConversationDetail(ConversationOut):
    """A conversation with all that was said."""

    messages: list[MessageOut]


class NewConversation(Body):
    """What a new conversation is to be."""

    id: UUID | None = Field(None, description="Its id, if you want to choose it.")
    title: Title = ""
    assistant: CollectionName | None = None
    metadata: dict[str, Any] = Field({})


class ConversationChange(Body):
    """What is to be different; what is left out stays."""

    title: Title | None = None
    pinned: bool | None = None
    metadata: dict[str, Any] | None = Field(None, description="In place of what is there.")


@router.get(
    "",
    response=Page[ConversationOut],
    operation_id="listConversations",
    summary="List conversations",
)
def list_conversations(
    request: Request,
    paging: Page_,
    listed: Annotated[
        bool | None, Query(True, description="Null: also those that programs keep themselves.")
    ],
    pinned: Annotated[bool | None, Query(None)],
) -> dict[str, Any]:
    """List your conversations, the one that was used last first."""
    rows = conversations_of(request.user).select_related("assistant")
    if listed is not None:
        rows = rows.filter(listed=listed)
    if pinned is not None:
        rows = rows.filter(pinned_at__isnull=not pinned)
    return page(
        request, rows, paging, "-updated_at", shown=lambda each: ConversationOut(**_fields(each))
    )


@router.post(
    "",
    response={201: ConversationOut},
    operation_id="createConversation",
    summary="Begin a conversation",
)
@idempotent
def create_conversation(request: Request, new: NewConversation) -> Status[ConversationOut]:
    """Make an empty conversation; a question without one begins one, too."""
    assistant = _assistant(request, new.assistant)
    title = label(new.title, TITLE_MAX_CHARS)
    made = Conversation(
        user=request.user, title=title, assistant=assistant, metadata=checked_metadata(new.metadata)
    )
    if new.id is not None:
        made.pk = new.id
    try:
        with transaction.atomic():
            made.save(force_insert=True)
    except IntegrityError as error:
        message = gettext("There is a conversation of this id already.")
        raise ConflictError(message, "exists") from error
    return Status(201, ConversationOut(**_fields(made)))


@router.get(
    "{uuid:conversation_id}",
    response=ConversationDetail,
    operation_id="getConversation",
    summary="One conversation",
)
def get_conversation(request: Request, conversation_id: UUID) -> ConversationDetail:
    """Return a conversation with its messages, their citations and their sources."""
    found = _own(request, conversation_id)
    return ConversationDetail(
        **_fields(found), messages=answers.messages(request.user, conversation=found)
    )


@router.patch(
    "{uuid:conversation_id}",
    response=ConversationOut,
    operation_id="changeConversation",
    summary="Rename or pin a conversation",
)
def change_conversation(
    request: Request, conversation_id: UUID, change: ConversationChange
) -> ConversationOut:
    """Give it a name, put it on top of the list, or keep something with it."""
    found = _own(request, conversation_id)
    if change.title is not None and not tidying.rename(found, change.title):
        raise FieldError(("body", "title"), gettext("A title says something."))
    if change.pinned is not None:
        tidying.pin(found, pinned=change.pinned)
    if change.metadata is not None:
        found.metadata = checked_metadata(change.metadata)
        Conversation.objects.filter(pk=found.pk).update(metadata=found.metadata)
    return ConversationOut(**_fields(found))


@router.delete(
    "{uuid:conversation_id}",
    response={204: None},
    operation_id="deleteConversation",
    summary="Delete a conversation",
)
def delete_conversation(request: Request, conversation_id: UUID) -> Status[None]:
    """Delete it; what is being answered in it is stopped. For a minute it can be restored."""
    tidying.delete(request.user, _own(request, conversation_id))
    return Status(204, None)


@router.post(
    "{uuid:conversation_id}/restore",
    response=ConversationOut,
    operation_id="restoreConversation",
    summary="Bring a conversation back",
)
def restore_conversation(request: Request, conversation_id: UUID) -> ConversationOut:
    """Undo its deletion; after a minute it is not there any more."""
    own = Conversation.with_deleted.filter(user=request.user).select_related("assistant")
    found = own.filter(pk=conversation_id).first()
    if found is None or not tidying.restore(request.user, found):
        raise Http404
    return ConversationOut(**_fields(found))


def _own(request: Request, key: UUID) -> Conversation:
    return get_object_or_404(conversations_of(request.user).select_related("assistant"), pk=key)


def _assistant(request: Request, name: str | None) -> Assistant | None:
    if name is None:
        return None
    found = Assistant.objects.usable_by(request.user).filter(name=name).first()
    if found is None:
        message = gettext("There is no assistant of that name.")
        raise FieldError(("body", "assistant"), message)
    return found


def _fields(found: Conversation) -> dict[str, Any]:
    return {
        "id": found.pk,
        "title": found.title,
        "assistant": found.assistant.name if found.assistant else None,
        "pinned": found.pinned_at is not None,
        "listed": found.listed,
        "metadata": found.metadata,
        "created_at": found.created_at,
        "updated_at": found.updated_at,
    }
