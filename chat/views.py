"""The chat page, and the partials that htmx fetches for it.

Everything is limited to the person's own conversations: another's do not exist for them.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec
from uuid import uuid4

from django.contrib.auth.views import redirect_to_login
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe
from django_htmx.http import HttpResponseClientRedirect

from chat import evidence
from chat.accounts import guests
from chat.accounts.models import Guest
from chat.choosing import choices
from chat.feedback import attach_feedback
from chat.models import Assistant, Conversation, Message, Role
from chat.sidebar import conversations_of, listing, restorable
from chat.ways_on import WAYS
from retrieval import backends
from retrieval.models import Collection, Document, Stage

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from django.contrib.auth.models import AnonymousUser, User
    from django_htmx.middleware import HtmxDetails

    class VisitorRequest(HttpRequest):
        """A request of someone signed in, or of a guest."""

        user: User
        htmx: HtmxDetails


P = ParamSpec("P")

# In a session: what was sent by a plain form when its person was not signed in any more.
UNSENT = "unsent"

# While fewer documents than this were ever ready, sample questions wait for those in the queue.
FEW_DOCUMENTS = 10
IN_PROGRESS = (Stage.QUEUED, Stage.EXTRACTING, Stage.CHUNKING, Stage.EMBEDDING)


def is_visitor(user: User | AnonymousUser) -> bool:
    """Whether somebody may ask: who is signed in, or a guest."""
    return user.is_authenticated or isinstance(user, Guest)


def visitor_required(
    view: Callable[Concatenate[VisitorRequest, P], HttpResponse],
) -> Callable[Concatenate[VisitorRequest, P], HttpResponse]:
    """Send who is neither signed in nor a guest to sign in, and then back to the page they were on.

    Where a part of the page was asked for, the whole page goes there.
    """

    @wraps(view)
    def wrapped(request: VisitorRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if is_visitor(request.user):
            return view(request, *args, **kwargs)
        if request.htmx:
            page = request.htmx.current_url_abs_path or reverse("chat:new")
            return HttpResponseClientRedirect(redirect_to_login(page).url)
        return redirect_to_login(request.get_full_path())

    return wrapped


@gzip_page
@require_safe
@visitor_required
def conversation(request: VisitorRequest, conversation_id: UUID | None = None) -> HttpResponse:
    """Show a conversation, or an empty page for a new one."""
    current = None
    if conversation_id:
        current = get_object_or_404(conversations_of(request.user), pk=conversation_id)
    # What was written before somebody had to sign in.
    text = request.session.pop(UNSENT, None)
    return conversation_page(request, current, {"text": text} if text else None)


def conversation_page(
    request: VisitorRequest,
    current: Conversation | None,
    extra: dict[str, Any] | None = None,
    status: int = 200,
) -> HttpResponse:
    """Return the page of a conversation, None for a new one."""
    messages = evidence.messages(request.user, conversation=current) if current else []
    attach_feedback(messages, request.user)
    assistant = _assistant(request, current)
    context = {
        "conversation": current,
        "messages": messages,
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
        # What was deleted while it was open can be brought back here.
        "deleted": restorable(request.user, request.GET.get("deleted")),
        **listing(request.user, "1", str(current.pk if current else "")),
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
    attach_feedback([found], request.user)
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
def document_status(request: VisitorRequest) -> HttpResponse:
    """Say how many documents are ready, and offer an assistant's questions once they are."""
    named = Assistant.objects.usable_by(request.user).filter(name=request.GET.get("assistant", ""))
    assistant = named.first() or _assistant(request, None)
    context = {"assistant": assistant, **_document_status(request, assistant)}
    return render(request, "chat/_document_status.html", context)


def own_message(request: VisitorRequest, message_id: UUID) -> Message:
    """Return a message with its evidence. Raises Http404 for one that is somebody else's."""
    own = {"conversation__user": request.user, "conversation__deleted_at": None}
    found = evidence.messages(request.user, pk=message_id, **own)
    if not found:
        raise Http404
    return found[0]


def _assistant(request: VisitorRequest, conversation: Conversation | None) -> Assistant | None:
    if conversation and conversation.assistant:
        return conversation.assistant
    return Assistant.objects.usable_by(request.user).preferred().first()


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
