"""Asking without JavaScript: a plain form, which is answered when the answer has ended."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING
from uuid import UUID

from asgiref.sync import async_to_sync
from django.contrib.auth.views import redirect_to_login
from django.db import connection
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe
from pydantic import ValidationError

from chat import runs
from chat.accounts import guests
from chat.accounts.models import Guest
from chat.client_messages import QUESTION_MAX_CHARS, Ask
from chat.models import ACTIVE, Conversation
from chat.refusals import refusal
from chat.runs import RunRefused
from chat.views import UNSENT, conversation_page, is_visitor, visitor_required

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from chat.models import Run
    from chat.views import VisitorRequest

# Proxies give a request up after a minute, most of them.
WAIT_SECONDS = 50.0


@require_POST
def ask(request: VisitorRequest) -> HttpResponse:
    """Ask, and show the conversation when the answer has ended; or say why not, keeping the text.

    An answer that takes longer than WAIT_SECONDS is waited for by `wait`. Whoever has to sign in
    again finds the text in the form afterwards.
    """
    text = request.POST.get("suggestion") or request.POST.get("text", "")
    if not is_visitor(request.user):
        request.session[UNSENT] = text[:QUESTION_MAX_CHARS]
        return redirect_to_login(_address(request))
    fields = {
        "type": "ask",
        "text": text,
        "collections": request.POST.getlist("collections") or None,
        **{name: request.POST.get(name) or None for name in ("id", "conversation", "assistant")},
    }
    _let_go()
    try:
        message = Ask.model_validate(fields)
        run, ended = async_to_sync(_answer)(request.user, message)
    except ValidationError as error:
        refused = refusal(error, b"")
    except RunRefused as error:
        refused = error.frame()
    else:
        return redirect("chat:conversation" if ended else "chat:wait", run.conversation_id)
    extra = {"refusal": refused.message, "text": text}
    return conversation_page(request, _named(request), extra, status=400)


@require_safe
@visitor_required
def wait(request: VisitorRequest, conversation_id: UUID) -> HttpResponse:
    """Show a conversation when its answer has ended; after WAIT_SECONDS wait once more."""
    found = get_object_or_404(_own(request), pk=conversation_id)
    run = found.runs.filter(state__in=ACTIVE).first()
    _let_go()
    ended = run is None or async_to_sync(_ends)(request.user, run.pk)
    return redirect("chat:conversation" if ended else "chat:wait", found.pk)


def _let_go() -> None:
    """Give the connection of this request back, which is for others while it waits."""
    if not connection.in_atomic_block:
        connection.close()


async def _answer(user: User, message: Ask) -> tuple[Run, bool]:
    """Start a run; return it, and whether it has ended in time. Raises RunRefused."""
    run = await runs.start(user, message)
    reader = await guests.keep(user) if isinstance(user, Guest) else user
    return run, await _ends(reader, run.pk)


async def _ends(user: User, run: UUID) -> bool:
    """Whether a run ends within WAIT_SECONDS. Raises RunRefused."""
    try:
        async with asyncio.timeout(WAIT_SECONDS), aclosing(runs.follow(user, run)) as frames:
            async for _ in frames:
                pass
    except TimeoutError:
        return False
    return True


def _address(request: VisitorRequest) -> str:
    """Return the address of the form's page, whoever may see it."""
    try:
        return reverse("chat:conversation", args=[UUID(request.POST.get("conversation", ""))])
    except ValueError:
        return reverse("chat:new")


def _own(request: VisitorRequest) -> QuerySet[Conversation]:
    return Conversation.objects.filter(user=request.user, deleted_at=None)


def _named(request: VisitorRequest) -> Conversation | None:
    """Return the conversation of the form; None for a new one, or none of the person's."""
    try:
        key = UUID(request.POST.get("conversation", ""))
    except ValueError:
        return None
    return _own(request).filter(pk=key).first()
