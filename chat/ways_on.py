"""What a person can do about an error, by its code: one way on each."""

from __future__ import annotations

from enum import StrEnum


class Way(StrEnum):
    """What the page offers beside an error's words."""

    AGAIN = "again"
    """Ask the same question again."""
    EDIT = "edit"
    """Change the question, or who is asked, and ask again."""
    NEW = "new"
    """Start a new conversation: this one does not go on."""


# All others: what went wrong may not go wrong again.
WAYS = {
    "bad_json": Way.EDIT,
    "unknown_type": Way.EDIT,
    "bad_request": Way.EDIT,
    "bad_settings": Way.EDIT,
    "empty_question": Way.EDIT,
    "question_too_long": Way.EDIT,
    "unknown_assistant": Way.EDIT,
    "unknown_collection": Way.EDIT,
    "model_not_allowed": Way.EDIT,
    "content_filter": Way.EDIT,
    "not_found": Way.NEW,
    "assistant_unavailable": Way.NEW,
    "access_lost": Way.NEW,
    "context_too_long": Way.NEW,
}


def way_on(code: str) -> Way:
    """Return what to offer beside an error of this code."""
    return WAYS.get(code, Way.AGAIN)
