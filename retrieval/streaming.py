"""Responses that are made while they are sent, of rows that are read a page at a time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from retrieval.database import in_thread

if TYPE_CHECKING:
    from django.db.models import Model, QuerySet

ModelT = TypeVar("ModelT", bound="Model")
PIECE_BYTES = 64 * 1024


async def in_steps(parts: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Yield what `parts` makes, in pieces of some size, each made on a database thread.

    Between two pieces no connection is held: whoever reads slowly keeps none from others.
    """
    while piece := await in_thread(_piece, parts):
        yield piece


def _piece(parts: Iterator[bytes]) -> bytes:
    """Take parts until they are a piece; nothing is the end."""
    piece = bytearray()
    for part in parts:
        piece += part
        if len(piece) >= PIECE_BYTES:
            break
    return bytes(piece)


def by_key(rows: QuerySet[ModelT], size: int = 200) -> Iterator[list[ModelT]]:
    """Yield rows in pages, the newest first, where keys grow with time."""
    rows = rows.order_by("-pk")
    page = list(rows[:size])
    while page:
        yield page
        last: Any = page[-1].pk
        page = list(rows.filter(pk__lt=last)[:size])
