"""What the site has stored, as clients over HTTP get it; runs on database threads."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from django.shortcuts import get_object_or_404

from chat import tidying
from chat.api.native import answers, library, search
from chat.client.records import Conversation, Document, Message, Passage
from chat.sidebar import conversations_of, listed

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from chat.api.searching import Found
    from chat.models import Conversation as Stored
    from retrieval.search import Hit


def document(user: User, key: UUID) -> Document:
    """Return a document with its newest version. Raises Http404."""
    detail = library.detailed(user, library.document(user, key))
    return Document.model_validate(detail.model_dump())


def passage(hit: Hit, found: Found) -> Passage:
    """Return one of what was found, with as much as the settings of the search ask for."""
    return Passage.model_validate(search.passage_out(hit, found).model_dump())


def conversations(user: User, limit: int) -> list[Conversation]:
    """Return the newest conversations, without their messages."""
    found = listed(user).order_by("-updated_at", "-pk")[:limit]
    return [_shown(each) for each in found]


def conversation(user: User, key: UUID) -> Conversation:
    """Return a conversation with its messages. Raises Http404."""
    found = _own(user, key)
    said = answers.messages(user, conversation=found)
    messages = [Message.model_validate(each.model_dump()) for each in said]
    return _shown(found).model_copy(update={"messages": messages})


def delete_conversation(user: User, key: UUID) -> None:
    """Delete a conversation. Raises Http404."""
    tidying.delete(user, _own(user, key))


def _own(user: User, key: UUID) -> Stored:
    return get_object_or_404(conversations_of(user), pk=key)


def _shown(found: Stored) -> Conversation:
    return Conversation(
        id=found.pk,
        title=found.title,
        metadata=found.metadata,
        created_at=found.created_at,
        updated_at=found.updated_at,
    )
