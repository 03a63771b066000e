"""Whom a person can ask, and in what: what the question form offers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from chat.models import Assistant
from retrieval.models import Collection

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from django.contrib.auth.models import AnonymousUser, User


@dataclass(frozen=True)
class Choice:
    """An assistant, with the names of the collections it is limited to; none for all."""

    assistant: Assistant
    collections: Sequence[str]


@dataclass(frozen=True)
class Choices:
    """The assistants a person may use, the preferred one first, and the collections they see."""

    assistants: Sequence[Choice]
    collections: Sequence[Collection]

    @property
    def is_one(self) -> bool:
        """Whether there is nothing to choose."""
        return len(self.assistants) < 2 and len(self.collections) < 2


def choices(user: User | AnonymousUser) -> Choices:
    """Return what somebody can choose from. Takes three queries."""
    seen = list(Collection.objects.visible_to(user).order_by("name"))
    names = {collection.pk: collection.name for collection in seen}
    assistants = Assistant.objects.usable_by(user).preferred().prefetch_related("collections")
    return Choices([Choice(each, _limited_to(each, names)) for each in assistants], seen)


def _limited_to(assistant: Assistant, seen: dict[UUID, str]) -> list[str]:
    """Return the names of its collections that are `seen`."""
    return [seen[each.pk] for each in assistant.collections.all() if each.pk in seen]
