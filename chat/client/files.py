"""Files on their way to a collection."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from chat.client.errors import (
    BadRequestError,
    DocumentFailedError,
    NotAllowedError,
    UnavailableError,
)

ARCHIVES = (".zip",)


def one_collection(managed: Sequence[str]) -> str:
    """Return the one collection that may be added to. Raises RagError unless there is one."""
    match managed:
        case [name]:
            return name
        case []:
            raise NotAllowedError("There is no collection that you may add to.", code="not_allowed")
    raise BadRequestError("Say which collection it is for.", code="no_collection")


def check_single(path: Path) -> None:
    """Raise BadRequestError for a file that is an archive of several documents."""
    if path.suffix.lower() in ARCHIVES:
        message = f"{path.name} is an archive: add what is in it by upload_all."
        raise BadRequestError(message, code="archive")


def within(path: Path, taken: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the document that a file was taken in as. Raises DocumentFailedError if it was not."""
    if taken["document"] is None:
        error = taken["error"]
        name = taken["path"] or path.name
        raise DocumentFailedError(f"{name}: {error['message']}", code=error["code"])
    document: Mapping[str, Any] = taken["document"]
    return document


@asynccontextmanager
async def patience(wait: bool | float) -> AsyncIterator[None]:
    """Wait for what is in the block: so many seconds, or with True as long as it takes.

    Raises UnavailableError when they are over.
    """
    try:
        async with asyncio.timeout(None if wait is True else wait):
            yield
    except TimeoutError as error:
        message = f"It was not ready within {wait} seconds; it goes on being read."
        raise UnavailableError(message, code="not_ready") from error
