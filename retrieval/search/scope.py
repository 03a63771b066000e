"""What a search may look at."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.contrib.auth.models import User

from retrieval.database import Statement, fetch
from retrieval.models import Collection as DocumentCollection
from retrieval.models.rights import is_known
from retrieval.permitted import permitted
from retrieval.search import filter_sql
from retrieval.search.filters import Filter

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser
    from django.db.models import QuerySet

# Chunks of what is searched: the current version of each document.
CHUNKS = (
    "retrieval_chunk AS chunk"
    " JOIN retrieval_document AS document ON document.current_version_id = chunk.version_id"
)
SEARCHED = (
    f"{CHUNKS} JOIN retrieval_documentversion AS version"
    " ON version.id = document.current_version_id"
)
SEARCHED_DOCUMENTS = (
    "retrieval_document AS document"
    " JOIN retrieval_documentversion AS version ON version.id = document.current_version_id"
)
# So many chunks are compared one by one: that takes no longer than the indexes do where they have
# to pass over what is out of scope, and misses nothing.
FEW_CHUNKS = 2000
FEW_VERSIONS = 1000
# How long a scope is not measured again, and how many are remembered.
KEPT_SECONDS = 60.0
KEPT_SCOPES = 1000

# Somebody whom nothing names: they may search what everybody may who has signed in.
ANYBODY = User(pk=0)

_measured: OrderedDict[object, tuple[float, bool]] = OrderedDict()


def visible_collections(user: User | AnonymousUser) -> QuerySet[Any, Any]:
    """Return the ids of the collections that somebody may search."""
    return DocumentCollection.objects.visible_to(user).order_by().values("id")


@dataclass(frozen=True)
class Scope:
    """Whose question it is, and the collections it is asked of; None is all that user may see.

    `filter` keeps some of the documents; `words` and `without` are tsqueries that a chunk must
    match, or must not, as `operators.apply` reads them from a question. `narrow` adds `versions`,
    those that a filter leaves, where they are few, and `few`: so few chunks are in scope that each
    is compared.
    """

    user: User | AnonymousUser
    collections: tuple[UUID, ...] | None = None
    filter: Filter | None = None
    words: str = ""
    without: str = ""
    operators_read: bool = False
    versions: tuple[UUID, ...] | None = None
    few: bool = False

    @cached_property
    def documents(self) -> Statement:
        """Which documents may be found, as a condition in SQL on a row of SEARCHED_DOCUMENTS."""
        visible, params = permitted(visible_collections, self.user)
        allowed = Statement(f"document.enabled AND document.collection_id IN ({visible})", params)
        if self.collections is not None:
            chosen = Statement("document.collection_id = ANY(%s)", [[*self.collections]])
            allowed = _both(allowed, chosen)
        if self.versions is not None:
            return _both(
                allowed, Statement("document.current_version_id = ANY(%s)", [[*self.versions]])
            )
        return _both(allowed, filter_sql.compiled(self.filter)) if self.filter else allowed

    @property
    def searched(self) -> str:
        """SEARCHED, without the versions where the condition does not ask for them."""
        return SEARCHED if self.filter is not None and self.versions is None else CHUNKS

    @cached_property
    def condition(self) -> Statement:
        """What may be found, as a condition in SQL on a row of SEARCHED."""
        condition = self.documents
        if self.words:
            condition = _both(condition, Statement("chunk.fulltext @@ %s::tsquery", [self.words]))
        if self.without:
            condition = _both(
                condition, Statement("(chunk.fulltext @@ %s::tsquery) IS NOT TRUE", [self.without])
            )
        return condition

    def count(self, chunks: Collection[UUID]) -> Statement:
        """Return SQL for how many of these chunks may be found."""
        sql, params = self.condition
        return Statement(
            f"SELECT count(*) FROM {SEARCHED} WHERE chunk.id = ANY(%s) AND {sql}",
            [list(chunks), *params],
        )


async def narrow(scope: Scope) -> Scope:
    """Return the scope as measured: whether few chunks are in it. Raises DatabaseError.

    An index would pass over nearly all it finds in a scope of few chunks, and give up before it
    has found enough. The versions that a filter leaves are looked up once, where they are few.
    """
    user = scope.user
    if scope.filter is not None or user.is_superuser or not is_known(user):
        return await _measure(scope)
    # What all may see is measured once for all of them: nobody's own scope is smaller.
    all_may_see = await _measure(replace(scope, user=ANYBODY))
    return await _measure(scope) if all_may_see.few else scope


async def _measure(scope: Scope) -> Scope:
    key = (scope.condition.sql, repr(scope.condition.params))
    until, few = _measured.get(key, (0.0, False))
    if until > time.monotonic():
        return replace(scope, few=few) if few else scope
    sql, params = scope.documents
    ((versions, chunks),) = await fetch(
        f"WITH found AS MATERIALIZED (SELECT version.id FROM {SEARCHED_DOCUMENTS} WHERE {sql}"
        f" LIMIT {FEW_VERSIONS + 1}) SELECT (SELECT array_agg(id) FROM found), (SELECT count(*)"
        " FROM (SELECT FROM retrieval_chunk WHERE version_id IN (SELECT id FROM found)"
        f" LIMIT {FEW_CHUNKS + 1}) AS chunk)",
        params,
    )
    versions = tuple(versions or ())
    few = len(versions) <= FEW_VERSIONS and chunks <= FEW_CHUNKS
    if scope.filter is not None and len(versions) <= FEW_VERSIONS:
        return replace(scope, versions=versions, few=few)
    if not few and scope.words:
        few = await _few(scope)
    # What a filter leaves may change with any document; how large all of it is, only slowly.
    _remember(key, few)
    return replace(scope, few=few)


async def _few(scope: Scope) -> bool:
    """Whether few chunks hold the words they must."""
    sql, params = scope.condition
    ((count,),) = await fetch(
        f"SELECT count(*) FROM (SELECT FROM {SEARCHED} WHERE {sql}"
        f" LIMIT {FEW_CHUNKS + 1}) AS found",
        params,
    )
    few: bool = count <= FEW_CHUNKS
    return few


def _remember(key: object, few: bool) -> None:
    _measured[key] = (time.monotonic() + KEPT_SECONDS, few)
    _measured.move_to_end(key)
    while len(_measured) > KEPT_SCOPES:
        _measured.popitem(last=False)


def forget() -> None:
    """Measure every scope anew."""
    _measured.clear()


def _both(first: Statement, second: Statement) -> Statement:
    return Statement(f"{first.sql} AND {second.sql}", [*first.params, *second.params])
