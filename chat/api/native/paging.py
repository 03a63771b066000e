"""Lists, a page at a time: what is added or taken meanwhile moves nothing to another page."""

from __future__ import annotations

import binascii
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

from django.core.exceptions import ValidationError
from django.db.models import Q
from django.utils.translation import gettext
from ninja import Field, Query, Schema

from chat.api.refusing import FieldError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from django.db.models import Model, QuerySet

    from chat.api.credentials import Request

Item = TypeVar("Item")
ModelT = TypeVar("ModelT", bound="Model")

MOST = 200


class Paging(Schema):
    """Which page of a list."""

    limit: int = Field(50, ge=1, le=MOST, description="How many at once.")
    cursor: str = Field("", max_length=400, description="Where the page begins: from `next`.")


Page_ = Annotated[Paging, Query()]


class Page(Schema, Generic[Item]):
    """A page of a list."""

    items: list[Item]
    total: int = Field(description="How many there are on all pages.")
    next: str | None = Field(description="The address of the next page; null on the last.")


def page(  # noqa: PLR0913 - as many things make a page
    request: Request,
    found: QuerySet[ModelT],
    paging: Paging,
    order: str,
    *,
    shown: Callable[[ModelT], Any],
    prepare: Callable[[Sequence[ModelT]], object] = lambda _: None,
) -> dict[str, Any]:
    """Return a page of the rows, each as `shown`, in the order of a field and then of the key.

    With a "-" before the field the highest comes first. `prepare` gets all rows of the page at
    once. Raises FieldError for a cursor that is none.
    """
    field = order.removeprefix("-")
    rows = found.order_by(order, "-pk" if order.startswith("-") else "pk")
    if paging.cursor:
        rows = rows.filter(_after(found, order, field, paging.cursor))
    taken = list(rows[: paging.limit + 1])
    items = taken[: paging.limit]
    prepare(items)
    return {
        "items": [shown(each) for each in items],
        "total": found.count(),
        "next": _link(request, _cursor(items[-1], field)) if len(taken) > len(items) else None,
    }


def _after(found: QuerySet[Any], order: str, field: str, cursor: str) -> Q:
    than = "lt" if order.startswith("-") else "gt"
    column = found.model._meta.pk if field == "pk" else found.model._meta.get_field(field)
    try:
        value, key = json.loads(urlsafe_b64decode(cursor.encode()))
        value, key = column.to_python(value), found.model._meta.pk.to_python(key)
        if value is None or key is None:
            raise ValueError  # noqa: TRY301 - as any other that is none
    except (ValueError, TypeError, binascii.Error, RecursionError, ValidationError) as error:
        raise FieldError(("query", "cursor"), gettext("This is no cursor of a list.")) from error
    return Q(**{f"{field}__{than}": value}) | Q(**{field: value, f"pk__{than}": key})


def _cursor(item: Any, field: str) -> str:
    value = [getattr(item, field), item.pk]
    return urlsafe_b64encode(json.dumps(value, default=_plain).encode()).decode()


def _plain(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _link(request: Request, cursor: str) -> str:
    query = request.GET.copy()
    query["cursor"] = cursor
    return f"{request.path}?{query.urlencode()}"
