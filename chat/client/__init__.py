"""The site from Python programs: over HTTP, or within the process of a Django program.

What speaks HTTP needs neither Django nor anything else of the site's but `chat.frames`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chat.client.base import AsyncClient
from chat.client.errors import (
    AnswerFailedError,
    BadRequestError,
    BusyError,
    DocumentFailedError,
    NotAllowedError,
    NotAvailableError,
    NotFoundError,
    NotSignedInError,
    RagError,
    RateLimitedError,
    UnavailableError,
)
from chat.client.events import StreamEvent
from chat.client.http import AsyncRagClient
from chat.client.records import Answer, Conversation, Document, Message, Passage
from chat.client.sync import RagClient, SyncClient

if TYPE_CHECKING:
    from chat.client.embedded import AsyncEmbeddedRagClient as AsyncEmbeddedRagClient
    from chat.client.embedded import EmbeddedRagClient as EmbeddedRagClient

# Not the embedded clients, which need Django: they are imported by their names.
__all__ = [
    "Answer",
    "AnswerFailedError",
    "AsyncClient",
    "AsyncRagClient",
    "BadRequestError",
    "BusyError",
    "Conversation",
    "Document",
    "DocumentFailedError",
    "Message",
    "NotAllowedError",
    "NotAvailableError",
    "NotFoundError",
    "NotSignedInError",
    "Passage",
    "RagClient",
    "RagError",
    "RateLimitedError",
    "StreamEvent",
    "SyncClient",
    "UnavailableError",
]


def __getattr__(name: str) -> Any:
    """Import what needs Django only when it is asked for."""
    if name in ("AsyncEmbeddedRagClient", "EmbeddedRagClient"):
        from chat.client import embedded  # noqa: PLC0415

        return getattr(embedded, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
