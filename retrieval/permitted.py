"""What a person may see, as statements that are compiled once and not for each question.

From a queryset with conditions on rights to its SQL takes Django several milliseconds, more than a
question may wait before its search.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import QuerySet

from retrieval.database import Statement
from retrieval.models.rights import is_known

if TYPE_CHECKING:
    Rows = Callable[[User | AnonymousUser], QuerySet[Any, Any]]

# Stands for a person's key while a statement is compiled; nobody has it.
SOMEBODY = -2_000_000_011


def permitted(rows: Rows, user: User | AnonymousUser) -> Statement:
    """Return the SQL of `rows(user)`.

    `rows` is a function of a module: it is called once for people who have signed in, once for
    superusers, and once for the public, and may depend on nothing else of a person but the key.
    """
    known = is_known(user)
    sql, params = _compiled(rows, known, known and user.is_superuser)
    return Statement(sql, [user.pk if param == SOMEBODY else param for param in params])


@cache
def _compiled(rows: Rows, known: bool, superuser: bool) -> tuple[str, tuple[object, ...]]:
    user = User(pk=SOMEBODY, is_superuser=superuser) if known else AnonymousUser()
    return rows(user).query.sql_with_params()
