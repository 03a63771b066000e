"""The models that clients can name: the assistants somebody may use, and what embeds documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.utils.text import slugify

from chat.api.openai.errors import unknown_model
from chat.models import Assistant
from retrieval import backends
from retrieval.database import rows
from retrieval.search import spaces

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from retrieval.backends.base import Embedder

DEFAULT = "default"
"""Whoever answers where no assistant is named."""
OWNER = "ragsite"


@dataclass(frozen=True)
class Model:
    """A model as clients list it; `created` is in seconds since 1970, 0 where that is not known."""

    id: str
    created: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return it as OpenAI's clients know it."""
        return {"id": self.id, "object": "model", "created": self.created, "owned_by": OWNER}


async def listed(user: User) -> list[Model]:
    """Return what `user` can name, the assistants first. Raises BackendError, DatabaseError."""
    found = await rows(Assistant.objects.usable_by(user).preferred().values_list("name", "id"))
    models = [Model(name, made_at(pk)) for name, pk in found]
    if not models and not await rows(Assistant.objects.order_by().values_list("pk")[:1]):
        models = [Model(DEFAULT)]  # without assistants whoever is signed in asks without one
    return [*models, Model((await embedder()).model)]


async def named(user: User, model: str) -> Model:
    """Return the model of a name. Raises ApiError where there is none, BackendError."""
    models = await listed(user)
    chosen = _choose([each.id for each in models], model)
    return next(each for each in models if each.id == chosen)


async def assistant_of(user: User, model: str) -> str | None:
    """Return the name of the assistant that a model is, None for the preferred one.

    Raises ApiError where there is none of that name or slug, DatabaseError.
    """
    found = await rows(Assistant.objects.usable_by(user).order_by("name").values_list("name"))
    chosen = _choose([*(name for (name,) in found), DEFAULT], model)
    return chosen if chosen != DEFAULT or (DEFAULT,) in found else None


async def embedder_of(model: str) -> Embedder:
    """Return what embeds the documents, if the model is that. Raises ApiError, BackendError."""
    found = await embedder()
    _choose([found.model], model)
    return found


async def embedder() -> Embedder:
    """Return the embedder of what is searched. Raises BackendError if it cannot be made."""
    space = await spaces.active()
    return space.embedder if space else backends.embedder()


def made_at(assistant: UUID) -> int:
    """Return when an assistant was made: its id is a UUIDv7, which begins with milliseconds."""
    return (assistant.int >> 80) // 1000


def _choose(names: list[str], model: str) -> str:
    """Return the name that is meant: as it stands, or as a slug. Raises ApiError."""
    for matches in (
        str.__eq__,
        lambda name, asked: slugify(name, allow_unicode=True) == asked.lower(),
    ):
        if found := next((name for name in names if matches(name, model)), None):
            return found
    raise unknown_model(model)
