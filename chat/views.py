"""The chat page, and the partials that htmx fetches for it.

Everything is limited to the person's own conversations: another's do not exist for them.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec
from uuid import uuid4

from asgiref.sync import async_to_sync
from django.contrib.auth.views import redirect_to_login
from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe
from django_htmx.http import HttpResponseClientRedirect

from chat import evidence, runs
from chat.accounts import guests
from chat.accounts.models import Guest
from chat.choosing import choices
from chat.models import ACTIVE, Assistant, Conversation, Message, Role
from chat.ways_on import WAYS
from retrieval import backends
from retrieval.models import Collection, Document, Stage
from retrieval.text.cleaning import label

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from django.contrib.auth.models import User
    from django.db.models import QuerySet
    from django_htmx.middleware import HtmxDetails

    class VisitorRequest(HttpRequest):
        """A request of someone signed in, or of a guest."""

        user: User
        htmx: HtmxDetails


P = ParamSpec("P")

CONVERSATIONS_A_PAGE = 60
TITLE_MAX_CHARS = 200
# While fewer documents than this were ever ready, sample questions wait for those in the queue.
FEW_DOCUMENTS = 10
IN_PROGRESS = (Stage.QUEUED, Stage.EXTRACTING, Stage.CHUNKING, Stage.EMBEDDING)


def visitor_required(
    view: Callable[Concatenate[VisitorRequest, P], HttpResponse],
) -> Callable[Concatenate[VisitorRequest, P], HttpResponse]:
    """Send who is neither signed in nor a guest to the sign-in page; of htmx's, the whole page."""

    @wraps(view)
    def wrapped(request: VisitorRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if request.user.is_authenticated or isinstance(request.user, Guest):
            return view(request, *args, **kwargs)
        if request.htmx:
            return HttpResponseClientRedirect(reverse("login"))
        return redirect_to_login(request.get_full_path())

    return wrapped


@require_safe
@visitor_required
def conversation(request: VisitorRequest, conversation_id: UUID | None = None) -> HttpResponse:
    """Show a conversation, or an empty page for a new one."""
    current = None
    if conversation_id:
        current = get_object_or_404(_conversations(request), pk=conversation_id)
    return conversation_page(request, current)


def conversation_page(
    request: VisitorRequest,
    current: Conversation | None,
    extra: dict[str, Any] | None = None,
    status: int = 200,
) -> HttpResponse:
    """Return the page of a conversation, None for a new one."""
    assistant = _assistant(request, current)
    context = {
        "conversation": current,
        "messages": evidence.messages(request.user, conversation=current) if current else (),
        "assistant": assistant,
        "choices": choices(request.user),
        "ways": WAYS,
        # The same form sent twice asks once.
        "ask_id": uuid4(),
        # Guests have no model to connect.
        "quotes_only": backends.generator().quotes_only and not isinstance(request.user, Guest),
        "is_guest": isinstance(request.user, Guest),
        "theme": request.COOKIES.get("theme", "system"),
        "sidebar_closed": request.COOKIES.get("sidebar") == "closed",
        **_sidebar(request, "1", str(current.pk if current else "")),
        **(extra or {}),
    }
    if current is None:
        context |= _document_status(request, assistant)
    response = render(request, "chat/conversation.html", context, status=status)
    guests.remember(request, response)
    return response


@require_safe
@visitor_required
def message(request: VisitorRequest, message_id: UUID) -> HttpResponse:
    """Show a question or an answer as the page does."""
    found = own_message(request, message_id)
    context = {
        "message": found,
        "assistant": _assistant(request, found.conversation),
        # The answer's end may be stored a moment after its last frame was sent.
        "poll": True,
    }
    name = "question" if found.role == Role.USER else "answer"
    return render(request, f"chat/_{name}.html", context)


@require_safe
@visitor_required
def sidebar(request: VisitorRequest) -> HttpResponse:
    """List conversations, the newest first, a page at a time."""
    current = request.GET.get("current", "")
    context = _sidebar(request, request.GET.get("page", "1"), current)
    # A conversation that has just begun gets its title this way.
    context["opened"] = next((one for one in context["page"] if str(one.pk) == current), None)
    return render(request, "chat/_conversations.html", context)


@require_http_methods(["GET", "POST"])
@visitor_required
def rename(request: VisitorRequest, conversation_id: UUID) -> HttpResponse:
    """Offer a field for a conversation's title in its place, then take the new one."""
    found = get_object_or_404(_conversations(request), pk=conversation_id)
    context: dict[str, Any] = {"item": found, "title_max_chars": TITLE_MAX_CHARS}
    if request.method == "GET":
        return render(request, "chat/_rename.html", context)
    title = label(request.POST.get("title", ""), TITLE_MAX_CHARS)
    if title:
        found.title = title
        # A new name is no new activity: updated_at stays.
        Conversation.objects.filter(pk=found.pk).update(title=title)
    opened = _is_open(request, found)
    context |= {"current": str(found.pk) if opened else "", "renamed": opened}
    return render(request, "chat/_conversation_item.html", context)


@require_http_methods(["POST", "DELETE"])
@visitor_required
def delete(request: VisitorRequest, conversation_id: UUID) -> HttpResponse:
    """Delete a conversation; who has it open goes to a new one."""
    found = get_object_or_404(_conversations(request), pk=conversation_id)
    was_open = _is_open(request, found)
    if run := found.runs.filter(state__in=ACTIVE).first():
        # Nobody would read what a provider is still being paid for.
        async_to_sync(runs.stop)(request.user, run.pk)
    found.delete()
    return HttpResponseClientRedirect(reverse("chat:new")) if was_open else HttpResponse()


@require_safe
@visitor_required
def document_status(request: VisitorRequest) -> HttpResponse:
    """Say how many documents are ready, and offer an assistant's questions once they are."""
    named = Assistant.objects.usable_by(request.user).filter(name=request.GET.get("assistant", ""))
    assistant = named.first() or _assistant(request, None)
    context = {"assistant": assistant, **_document_status(request, assistant)}
    return render(request, "chat/_document_status.html", context)


def _conversations(request: VisitorRequest) -> QuerySet[Conversation]:
    return Conversation.objects.filter(user=request.user)


def own_message(request: VisitorRequest, message_id: UUID) -> Message:
    """Return a message with its evidence. Raises Http404 for one that is somebody else's."""
    found = evidence.messages(request.user, pk=message_id, conversation__user=request.user)
    if not found:
        raise Http404
    return found[0]


def _assistant(request: VisitorRequest, conversation: Conversation | None) -> Assistant | None:
    if conversation and conversation.assistant:
        return conversation.assistant
    return Assistant.objects.usable_by(request.user).preferred().first()


def _sidebar(request: VisitorRequest, page: str, current: str) -> dict[str, Any]:
    pages = Paginator(_conversations(request), CONVERSATIONS_A_PAGE)
    return {"page": pages.get_page(page), "current": current}


def _is_open(request: VisitorRequest, conversation: Conversation) -> bool:
    """Say whether the page that htmx asks from shows this conversation."""
    url = request.htmx.current_url_abs_path or ""
    return url.split("?")[0] == reverse("chat:conversation", args=[conversation.pk])


def _document_status(request: VisitorRequest, assistant: Assistant | None) -> dict[str, Any]:
    documents = Document.objects.filter(
        enabled=True, collection__in=Collection.objects.visible_to(request.user)
    )
    # One that names no collections searches all.
    if assistant and (searched := assistant.collections.values_list("pk", flat=True)):
        documents = documents.filter(collection__in=list(searched))
    waiting = Q(current_version=None, versions__stage__in=IN_PROGRESS)
    counts = documents.aggregate(
        ready=Count("pk", filter=Q(current_version__isnull=False), distinct=True),
        pending=Count("pk", filter=waiting, distinct=True),
    )
    ready, pending = counts["ready"], counts["pending"]
    return {
        "ready": ready,
        "pending": pending,
        "total": ready + pending,
        "offer_questions": ready > 0 and (not pending or ready >= FEW_DOCUMENTS),
    }
