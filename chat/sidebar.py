"""The list of a person's conversations."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.utils import timezone

from chat import titling
from chat.expiring import UNDO
from chat.models import ACTIVE, Conversation, Titling

if TYPE_CHECKING:
    from uuid import UUID

    from django.contrib.auth.models import User
    from django.db.models import QuerySet

CONVERSATIONS_A_PAGE = 60
# A new conversation's title is waited for so long: while it is answered, and then.
TITLE_WITHIN = timedelta(minutes=5)
TITLE_AFTER_ANSWER = timedelta(seconds=30)


def conversations_of(user: User) -> QuerySet[Conversation]:
    """Return the conversations of somebody, without those they deleted."""
    return Conversation.objects.filter(user=user)


def listed(user: User) -> QuerySet[Conversation]:
    """Return those in which something was asked, but by programs that keep them themselves."""
    return conversations_of(user).filter(listed=True).exclude(title="")


def listing(user: User, page: str, current: str, rows: str = "") -> dict[str, Any]:
    """Return what the list shows: a page of conversations, on the first page the pinned ones too.

    `current` is the id of the one that is open, "" for none. `rows` is how many unpinned ones a
    list showed that is shown anew: all pages from the first on that hold as many are shown as one.
    """
    own = listed(user)
    pages = Paginator(own.filter(pinned_at=None), CONVERSATIONS_A_PAGE)
    shown = pages_of(rows)
    found = pages.get_page(shown or page)
    pinned = (
        own.exclude(pinned_at=None).order_by("-pinned_at") if shown or found.number == 1 else ()
    )
    if shown:
        found.object_list = pages.object_list[: found.end_index()]
    return {"page": found, "pinned": pinned, "current": current}


def pages_of(rows: str) -> int:
    """Return how many pages hold so many rows; 0 for none, and for what is no number."""
    # No list is longer than seven digits.
    known = rows.isascii() and rows.isdigit() and len(rows) < 8
    return -(-int(rows) // CONVERSATIONS_A_PAGE) if known else 0


def restorable(user: User, conversation: UUID | str | None) -> Conversation | None:
    """Return a conversation that somebody deleted a moment ago; None for anything else."""
    if conversation is None:
        return None
    since = timezone.now() - UNDO
    deleted = Conversation.with_deleted.filter(user=user, deleted_at__gt=since)
    try:
        return deleted.filter(pk=conversation).first()
    except (ValidationError, ValueError):
        return None


def may_be_titled(conversation: Conversation) -> bool:
    """Whether the generator may be about to give a conversation its title, by what it shows."""
    new = conversation.created_at > timezone.now() - TITLE_WITHIN
    return conversation.titled_by == Titling.QUESTION and new and titling.is_on()


def awaits_title(conversation: Conversation) -> bool:
    """Whether the generator is about to give a conversation its title."""
    if not may_be_titled(conversation):
        return False
    runs = conversation.runs.order_by("created_at")
    state = runs.values_list("state", "finished_at").first()
    if state is None:
        return False
    just_now = timezone.now() - TITLE_AFTER_ANSWER
    return state[0] in ACTIVE or (state[1] is not None and state[1] > just_now)
