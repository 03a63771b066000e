"""Sessions in use: they last on, and show when and from where they were last used."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from allauth.account.adapter import get_adapter
from allauth.usersessions.models import UserSession
from django.utils import timezone
from django.utils.deprecation import MiddlewareMixin

if TYPE_CHECKING:
    from django.http import HttpRequest

# What is noted is at most so old; noting it writes to the database.
NOTED_SECONDS = 600
NOTED = "last_used"


class SessionUseMiddleware(MiddlewareMixin):
    """Notes, now and then, that a session is used, from which its time begins anew."""

    def process_view(self, request: HttpRequest, *_: Any) -> None:
        """Write down the use of a session of which that was not done for long."""
        if request.session.session_key is None or request.token is not None:  # type: ignore[attr-defined]
            return
        last = request.session.get(NOTED, 0)
        if time.time() - last > NOTED_SECONDS and request.user.is_authenticated:
            request.session[NOTED] = int(time.time())
            UserSession.objects.filter(session_key=request.session.session_key).update(
                last_seen_at=timezone.now(), ip=get_adapter().get_client_ip(request)
            )
