"""Assistants, as LangGraph's clients find them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from django.db.models import Max, Min
from django.http import Http404, HttpResponse
from django.utils.text import slugify
from ninja import Router

from chat.accounts.models import Scope
from chat.api.credentials import Caller, Request
from chat.api.langgraph.schemas import AssistantSearch
from chat.api.langgraph.wire import json, selected
from chat.models import Assistant

if TYPE_CHECKING:
    from django.contrib.auth.models import User

router = Router(auth=Caller(Scope.ASK))
# When assistants were made of which no version was recorded.
LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


@router.post("assistants/search")
def search(request: Request, wanted: AssistantSearch) -> HttpResponse:
    """List the assistants that the caller may use, the preferred one first."""
    found = [assistant_json(each) for each in usable(request.user)]
    found = [
        each
        for each in found
        if wanted.metadata.items() <= each["metadata"].items()
        and wanted.graph_id in (None, each["graph_id"])
        and (wanted.name or "").casefold() in each["name"].casefold()
    ]
    if wanted.sort_by:
        field = wanted.sort_by
        found.sort(key=lambda each: each[field], reverse=wanted.sort_order != "asc")
    page = found[wanted.offset : wanted.offset + wanted.limit]
    response = json([selected(each, wanted.select) for each in page])
    if len(found) > wanted.offset + wanted.limit:
        response.headers["X-Pagination-Next"] = str(wanted.offset + wanted.limit)
    return response


@router.get("assistants/{assistant_id}")
def get(request: Request, assistant_id: str) -> HttpResponse:
    """Show an assistant."""
    found = find(request.user, assistant_id)
    if found is None:
        raise Http404
    return json(assistant_json(found))


def usable(user: User) -> list[Assistant]:
    """Return the assistants that somebody may use, with when they first and last changed."""
    assistants = Assistant.objects.usable_by(user).preferred()
    return list(
        assistants.annotate(
            changes=Max("versions__number"),
            created_at=Min("versions__created_at"),
            updated_at=Max("versions__created_at"),
        )
    )


def find(user: User, name: str) -> Assistant | None:
    """Return an assistant by its id, by its graph's, or by its name; None if there is none."""
    found = usable(user)
    for known in (lambda each: str(each.pk), graph_id, lambda each: each.name):
        for each in found:
            if known(each) == name:
                return each
    return None


def graph_id(assistant: Assistant) -> str:
    """Return what LangGraph's clients call the graph of an assistant: its name as a slug."""
    return slugify(assistant.name, allow_unicode=True) or str(assistant.pk)


def assistant_json(assistant: Any) -> dict[str, Any]:
    """Return an assistant that `usable` found, as LangGraph has it."""
    return {
        "assistant_id": str(assistant.pk),
        "graph_id": graph_id(assistant),
        "name": assistant.name,
        "description": assistant.greeting or None,
        "config": {},
        "context": {},
        # As LangGraph marks those that no client made; some ask for these only.
        "metadata": {"created_by": "system"},
        "version": assistant.changes or 1,
        "created_at": (assistant.created_at or LONG_AGO).isoformat(),
        "updated_at": (assistant.updated_at or LONG_AGO).isoformat(),
    }
