"""Guests: whoever asks public assistants without an account, known by a signed cookie.

The chat page sets the cookie, and nothing is stored of who only looks: the row that conversations
belong to is made with the first question. Where no assistant is public there are no guests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import AnonymousUser
from django.contrib.auth.signals import user_logged_in
from django.core.signing import BadSignature, TimestampSigner
from django.db import transaction
from django.dispatch import receiver
from django.utils.deprecation import MiddlewareMixin
from django.utils.functional import SimpleLazyObject
from uuid_utils.compat import uuid7

from chat.accounts import addresses
from chat.accounts.models import GUEST_PREFIX, Guest
from chat.models import Assistant, Conversation, Feedback, Run
from retrieval.database import fetch, in_thread
from retrieval.permitted import permitted

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse
    from django.http.response import HttpResponseBase

COOKIE: str = settings.GUEST_COOKIE_NAME
SIGNER = TimestampSigner(salt="chat.accounts.guests")
# Browsers keep no cookie for longer.
LONGEST_DAYS = 400
# The key of a guest of whom nothing is stored; nothing belongs to it.
NOT_STORED = 0


def usable_assistants(user: User | AnonymousUser) -> QuerySet[Any, Any]:
    """Return the ids of the assistants that somebody may use."""
    return Assistant.objects.usable_by(user).order_by().values("id")


def are_welcome() -> bool:
    """Whether an assistant is public."""
    return usable_assistants(AnonymousUser()).exists()


async def may_stay(guest: Guest) -> bool:
    """Whether guests are still welcome, and this one has not signed in. Raises DatabaseError."""
    assistants, params = permitted(usable_assistants, AnonymousUser())
    ((stays,),) = await fetch(
        f"SELECT EXISTS ({assistants}) AND (%s OR EXISTS (SELECT FROM auth_user WHERE id = %s))",
        [*params, guest.pk == NOT_STORED, guest.pk],
    )
    return bool(stays)


def named(username: str) -> Guest:
    """Return the guest of that name, who need not be stored."""
    stored = Guest.objects.filter(username=username).first()
    return stored or Guest(pk=NOT_STORED, username=username, is_active=False)


async def keep(guest: Guest) -> Guest:
    """Return the guest as stored, now if not before."""
    return guest if guest.pk != NOT_STORED else await in_thread(_stored, guest)


def _stored(guest: Guest) -> Guest:
    # Two pages of one browser may ask their first questions at once.
    defaults = {"is_active": False, "password": make_password(None)}
    stored, _ = Guest.objects.get_or_create(username=guest.username, defaults=defaults)
    stored.address = guest.address
    return stored


def group(guest: Guest) -> str:
    """Return the channel-layer group of a guest's sockets."""
    return f"user.{guest.username}"


def name_in(cookies: dict[str, str]) -> str | None:
    """Return a guest's name from the cookie; None if there is none, or not one of ours."""
    try:
        return SIGNER.unsign(cookies.get(COOKIE, ""), max_age=_cookie_days() * 24 * 3600)
    except BadSignature:
        return None


def remember(request: HttpRequest, response: HttpResponse) -> None:
    """Let the browser of a guest know who they are, for GUEST_DAYS from now."""
    guest = request.user
    if isinstance(guest, Guest):
        response.set_cookie(
            COOKIE,
            SIGNER.sign(guest.username),
            max_age=_cookie_days() * 24 * 3600,
            secure=settings.SESSION_COOKIE_SECURE,
            httponly=True,
            samesite="Lax",
        )


def _cookie_days() -> int:
    days: int = settings.GUEST_DAYS
    return min(days or LONGEST_DAYS, LONGEST_DAYS)


class GuestMiddleware(MiddlewareMixin):
    """Makes guests of requests by nobody, while guests are welcome."""

    def process_request(self, request: HttpRequest) -> None:
        """Look up who it is when somebody asks for that."""
        known = request.user
        request.user = SimpleLazyObject(lambda: known_or_guest(request, known))  # type: ignore[assignment]

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """Forget the guest that somebody was who has signed in."""
        if COOKIE in request.COOKIES and request.user.is_authenticated:
            response.delete_cookie(COOKIE, samesite="Lax")
        return response


def known_or_guest(request: HttpRequest, known: User | AnonymousUser) -> User | AnonymousUser:
    """Return who sent a request: somebody signed in, a guest, or nobody."""
    if known.is_authenticated or not are_welcome():
        return known
    guest = named(name_in(request.COOKIES) or f"{GUEST_PREFIX}{uuid7()}")
    forwarded = request.headers.get("X-Forwarded-For")
    guest.address = addresses.of_client(
        request.META.get("REMOTE_ADDR") or "", [forwarded] if forwarded else []
    )
    return guest


class GuestSockets:
    """Makes guests of sockets of nobody that have the cookie, while guests are welcome."""

    def __init__(self, application: Any) -> None:
        self.application = application

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Hand the handshake on, by whom it turns out to be."""
        name = None if scope["user"].is_authenticated else name_in(scope["cookies"])
        if name is not None and await in_thread(are_welcome):
            guest = await in_thread(named, name)
            peer = (scope.get("client") or [""])[0]
            forwarded = (
                value.decode("latin1")
                for header, value in scope["headers"]
                if header.lower() == b"x-forwarded-for"
            )
            guest.address = addresses.of_client(peer, forwarded)
            scope = {**scope, "user": guest}
        await self.application(scope, receive, send)


@receiver(user_logged_in)
def take_over(request: HttpRequest | None, user: User, **_: Any) -> None:
    """Give somebody who signs in the conversations they had as a guest."""
    name = name_in(request.COOKIES) if request is not None else None
    if name is None:
        return
    with transaction.atomic():
        # Whoever asks as this guest meanwhile is waited for, or refused.
        guest = Guest.objects.select_for_update().filter(username=name).first()
        if guest is not None:
            Conversation.with_deleted.filter(user=guest).update(user=user)
            Feedback.objects.filter(user=guest).update(user=user)
            # The ids of questions are unique only among those of one person.
            Run.objects.filter(user=guest).update(user=user, ask_id=None)
            guest.delete()
    left = guest or Guest(username=name)
    transaction.on_commit(lambda: _tell(left))


def _tell(guest: Guest) -> None:
    layer = get_channel_layer()
    if layer is not None:
        async_to_sync(layer.group_send)(group(guest), {"type": "signed.in"})
