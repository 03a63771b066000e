"""The documents that a filter of R2R holds for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import connection
from django.utils.translation import gettext

from chat.api.r2r import wire
from chat.api.r2r.filters import translated
from retrieval.search import Scope, filters
from retrieval.search.filter_values import FilterError
from retrieval.search.scope import SEARCHED_DOCUMENTS

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def matching(user: User, data: dict[str, Any]) -> list[UUID]:
    """Return the documents that a person may find, and a filter holds for.

    Raises HttpError for what filters nothing, or cannot be read.
    """
    said = data.get("filters", data)
    if not said:
        wire.refuse("filters", gettext("must say which documents"))
    try:
        wanted = filters.parse(translated(said))
    except FilterError as error:
        wire.refuse(".".join(("filters", *error.path)), str(error))
    condition = Scope(user, filter=wanted).documents
    params: Any = condition.params
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT document.id FROM {SEARCHED_DOCUMENTS} WHERE {condition.sql}",  # noqa: S608
            params,
        )
        return [key for (key,) in cursor.fetchall()]
