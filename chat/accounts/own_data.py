"""The pages on which people take their own data with them, or delete it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from allauth.account import app_settings
from allauth.account.decorators import reauthentication_required
from allauth.account.internal.flows.reauthentication import get_reauthentication_flows
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from chat.accounts import exporting
from chat.accounts.erasing import delete_conversations, is_only_superuser
from chat.models import Conversation
from retrieval.audit.recording import record
from retrieval.models import Document
from retrieval.streaming import in_steps

LATELY = timedelta(seconds=app_settings.REAUTHENTICATION_TIMEOUT)

if TYPE_CHECKING:

    class MemberRequest(HttpRequest):
        """A request of someone signed in."""

        user: User


@require_safe
@never_cache
@login_required
def page(request: MemberRequest) -> HttpResponseBase:
    """Say what is stored of a person, and offer to export or delete it."""
    return render(request, "accounts/own_data.html", _counts(request.user))


@require_POST
@never_cache
@login_required
def export(request: MemberRequest) -> HttpResponseBase:
    """Send everything there is of a person as a zip, while it is made."""
    user = User.objects.get(pk=request.user.pk)
    record(user, "own_data.exported", user)
    name = f"my-data-{timezone.now():%Y-%m-%d}.zip"
    return StreamingHttpResponse(
        in_steps(exporting.archive(user)),
        content_type="application/zip",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_required
def erase_conversations(request: MemberRequest) -> HttpResponseBase:
    """Ask whether all of a person's conversations are to go, then delete them."""
    if request.method != "POST":
        return render(request, "accounts/erase_conversations.html", _counts(request.user))
    count = delete_conversations(request.user)
    record(request.user, "own_data.conversations_deleted", request.user, count=count)
    text = ngettext("%d conversation is deleted.", "%d conversations are deleted.", count)
    messages.success(request, text % count)
    return redirect("accounts:own_data")


def _can_show_again(request: HttpRequest) -> bool:
    """Whether somebody has a password or a second factor: who comes from elsewhere has none."""
    return bool(get_reauthentication_flows(request.user))


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_required
@reauthentication_required(app="chat.accounts", enabled=_can_show_again)  # type: ignore[untyped-decorator]
def erase_account(request: MemberRequest) -> HttpResponseBase:
    """Say what goes with an account and what stays; delete it once its name was typed."""
    user = User.objects.get(pk=request.user.pk)
    typed = request.POST.get("username", "").strip()
    context = {
        **_counts(user),
        "only_superuser": is_only_superuser(user),
        "sign_in_first": not _can_show_again(request) and not _signed_in_lately(user),
        "audit_days": settings.AUDIT_DAYS,
        "typed": typed,
        "mistyped": request.method == "POST" and typed != user.get_username(),
    }
    refused = context["mistyped"] or context["only_superuser"] or context["sign_in_first"]
    if request.method != "POST" or refused:
        status = 200 if request.method != "POST" else 422
        return render(request, "accounts/erase_account.html", context, status=status)
    record(user, "own_data.account_deleted", user)
    # First, so that nothing is asked while the rest goes.
    logout(request)
    delete_conversations(user)
    user.delete()
    messages.success(request, gettext("Your account is deleted."))
    return redirect("login")


def _signed_in_lately(user: User) -> bool:
    return user.last_login is not None and timezone.now() - user.last_login < LATELY


def _counts(user: User) -> dict[str, int]:
    return {
        "conversation_count": Conversation.objects.filter(user=user).count(),
        "document_count": Document.objects.filter(uploaded_by=user).count(),
    }
