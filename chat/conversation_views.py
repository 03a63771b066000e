"""The list of conversations, and what people do with one: name, pin, delete, bring back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRedirect

from chat import tidying
from chat.models import Conversation
from chat.sidebar import awaits_title, conversations_of, listing
from chat.tidying import TITLE_MAX_CHARS
from chat.views import visitor_required

if TYPE_CHECKING:
    from uuid import UUID

    from chat.views import VisitorRequest


@require_safe
@visitor_required
def sidebar(request: VisitorRequest) -> HttpResponse:
    """List conversations, the newest first, a page at a time."""
    current = request.GET.get("current", "")
    rows = request.GET.get("rows", "")
    context = listing(request.user, request.GET.get("page", "1"), current, rows)
    # A conversation that has just begun gets its title this way.
    shown = [*context["pinned"], *context["page"]]
    context["opened"] = next((one for one in shown if str(one.pk) == current), None)
    return render(request, "chat/_conversations.html", context)


@require_http_methods(["GET", "POST"])
@visitor_required
def rename(request: VisitorRequest, conversation_id: UUID) -> HttpResponse:
    """Offer a field for a conversation's title in its place, then take the new one."""
    found = get_object_or_404(conversations_of(request.user), pk=conversation_id)
    if request.method == "GET":
        context = {"item": found, "title_max_chars": TITLE_MAX_CHARS}
        return render(request, "chat/_rename.html", context)
    tidying.rename(found, request.POST.get("title", ""))
    return _item(request, found)


@require_safe
@visitor_required
def title(request: VisitorRequest, conversation_id: UUID) -> HttpResponse:
    """Show a conversation in the list once it has the title that the generator gave it.

    Until then nothing is to be shown.
    """
    found = get_object_or_404(conversations_of(request.user), pk=conversation_id)
    if awaits_title(found):
        return HttpResponse(status=204)
    return _item(request, found, settled=True)


@require_POST
@visitor_required
def pin(request: VisitorRequest, conversation_id: UUID) -> HttpResponse:
    """Put a conversation on top of the list, or back among the others; show the list."""
    found = get_object_or_404(conversations_of(request.user), pk=conversation_id)
    tidying.pin(found, pinned=request.POST.get("pinned") == "yes")
    return _list(request)


@require_http_methods(["POST", "DELETE"])
@visitor_required
def delete(request: VisitorRequest, conversation_id: UUID) -> HttpResponse:
    """Delete a conversation; for a moment it can be brought back.

    Who has it open goes to a new one. The rows go when the worker comes by.
    """
    found = get_object_or_404(conversations_of(request.user), pk=conversation_id)
    tidying.delete(request.user, found)
    if _is_open(request, found):
        return HttpResponseClientRedirect(f"{reverse('chat:new')}?deleted={found.pk}")
    return render(request, "chat/_toast.html", {"deleted": found, "oob": True})


@require_POST
@visitor_required
def restore(request: VisitorRequest, conversation_id: UUID) -> HttpResponse:
    """Bring a conversation back that was deleted a moment ago, and show the list.

    Who had it open goes back to it. Where it is too late, the list says so.
    """
    own = Conversation.with_deleted.filter(user=request.user)
    found = get_object_or_404(own, pk=conversation_id)
    if not tidying.restore(request.user, found):
        return _list(request, too_late=True)
    if request.POST.get("open"):
        return HttpResponseClientRedirect(reverse("chat:conversation", args=[found.pk]))
    return _list(request, restored=True)


def _item(
    request: VisitorRequest, conversation: Conversation, *, settled: bool = False
) -> HttpResponse:
    opened = _is_open(request, conversation)
    current = str(conversation.pk) if opened else ""
    context = {"item": conversation, "current": current, "renamed": opened, "settled": settled}
    return render(request, "chat/_conversation_item.html", context)


def _list(request: VisitorRequest, **extra: Any) -> HttpResponse:
    context = listing(request.user, "1", "", request.POST.get("rows", ""))
    shown = [*context["pinned"], *context["page"]]
    opened = next((one for one in shown if _is_open(request, one)), None)
    context |= {"current": str(opened.pk) if opened else "", **extra}
    return render(request, "chat/_conversations.html", context)


def _is_open(request: VisitorRequest, conversation: Conversation) -> bool:
    """Say whether the page that htmx asks from shows this conversation."""
    url = request.htmx.current_url_abs_path or ""
    return url.split("?")[0] == reverse("chat:conversation", args=[conversation.pk])
