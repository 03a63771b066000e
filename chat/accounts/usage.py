"""What a person uses of what they may, for themselves to see."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from chat import use
from retrieval.limits.meters import tomorrow

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.http import HttpRequest, HttpResponse

    class MemberRequest(HttpRequest):
        """A request of someone signed in."""

        user: User


@require_safe
@never_cache
@login_required
def page(request: MemberRequest) -> HttpResponse:
    """Show each quantity with its limit, and when the day's are free again."""
    context = {
        "meters": use.of(request.user),
        "tomorrow": tomorrow(),
        "zone": settings.TIME_ZONE,
    }
    return render(request, "accounts/usage.html", context)
