"""What can be said of a question, a search or a file, and what of it is wrong from the start."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict
from uuid import UUID

import httpx2

from chat.client.errors import BadRequestError, NotAvailableError

Id = UUID | str

MOST_STEPS = 10_000
TOKEN = re.compile(r"[!-~]+")
NEED_AGENT = ("plan_mode", "subagent_enabled")


class QuestionOptions(TypedDict, total=False):
    """Of what it is asked, and how the answer is to be found and written."""

    assistant: str | None
    collections: Sequence[str] | None
    settings: Mapping[str, Any] | None
    generation: Mapping[str, Any] | None


class AskOptions(QuestionOptions, total=False):
    """The same, with the conversation it goes on with, and the model."""

    thread_id: Id | None
    model_name: str | None


class SearchOptions(TypedDict, total=False):
    """In what it is searched, and how."""

    settings: Mapping[str, Any] | None
    collections: Sequence[str] | None
    assistant: str | None


class UploadOptions(TypedDict, total=False):
    """Where a file goes, how long it is waited for, and what is said of it."""

    collection: str | None
    wait: bool | float
    metadata: Mapping[str, Any] | None


def check_agent_options(recursion_limit: int, **asked: bool) -> None:
    """Refuse what only an agent could do, before anything is asked.

    An answer is written in one go, well within any limit of steps. Raises NotAvailableError,
    BadRequestError.
    """
    for name in NEED_AGENT:
        if asked.get(name):
            message = f"{name} is not available: there is no agent on this site yet."
            raise NotAvailableError(message, code="not_available")
    if not isinstance(recursion_limit, int) or not 1 <= recursion_limit <= MOST_STEPS:
        message = f"recursion_limit has to be a number from 1 to {MOST_STEPS}."
        raise BadRequestError(message, code="bad_recursion_limit")


def check_site(base_url: str, token: str) -> None:
    """Refuse what no request could be sent with. Raises BadRequestError."""
    try:
        url = httpx2.URL(base_url)
        is_address = url.scheme in ("http", "https") and bool(url.host)
    except (httpx2.InvalidURL, TypeError):
        is_address = False
    if not is_address:
        raise BadRequestError(
            f"{base_url!r} is no address of a site: it begins with http:// or https://.",
            code="bad_address",
        )
    if not isinstance(token, str) or not TOKEN.fullmatch(token):
        raise BadRequestError(
            "The token is empty, or holds a space, a line end, or what else no token has.",
            code="bad_token",
        )


def check_metadata(metadata: Mapping[str, Any] | None) -> None:
    """Raise BadRequestError for metadata that is no object of JSON."""
    try:
        if metadata is None or (isinstance(metadata, Mapping) and json.dumps(dict(metadata))):
            return
    except (TypeError, ValueError):
        pass
    raise BadRequestError("metadata has to be a dictionary of JSON.", code="bad_metadata")
