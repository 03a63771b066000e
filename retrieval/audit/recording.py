"""Writing to the audit log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, NamedTuple

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import CASCADE, ForeignKey
from django.http import HttpRequest

from retrieval.audit.csv_cells import spelt_out
from retrieval.audit.models import AuditEvent
from retrieval.database import in_thread

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser
    from django.db.models import Model

    # A request, or the scope of a socket.
    Origin = HttpRequest | Mapping[str, Any]

FORWARDED = b"x-forwarded-for"
# The request that is being answered: signals are not told of it.
current_request: ContextVar[HttpRequest | None] = ContextVar("current_request", default=None)
# What these are called is what people wrote.
UNNAMED = {"chat.conversation", "chat.message", "chat.run", "sessions.session"}


class Target(NamedTuple):
    """What an event is about, when there is no object of it any more, or many."""

    type: str
    id: str = ""
    name: str = ""


def record(
    actor: User | AnonymousUser | None,
    action: str,
    target: Model | Target | None = None,
    *,
    request: Origin | None = None,
    request_id: object = "",
    **details: Any,
) -> AuditEvent:
    """Write an event, in the caller's transaction; raises DatabaseError.

    Without `request` it is the one that is being answered, if any, and without `actor` who sent
    it. `details` is what JSON can hold: counts and keys, never contents, nor names of people.
    """
    origin = request if request is not None else current_request.get()
    if actor is None and isinstance(origin, HttpRequest):
        actor = getattr(origin, "user", None)
    if actor is not None and not actor.pk:  # a guest of whom nothing is stored, or nobody at all
        actor = None
    about = described(target) if target is not None else Target("")
    return AuditEvent.objects.create(
        actor_id=actor.pk if actor else None,
        actor_name=actor.get_username() if actor else "",
        action=action,
        target_type=about.type,
        target_id=about.id,
        target_name=spelt_out(about.name)[:300],
        address=address(origin),
        via=_via(origin),
        request_id=str(request_id),
        details=details,
    )


async def arecord(
    actor: User | AnonymousUser | None,
    action: str,
    target: Model | Target | None = None,
    *,
    request: Origin | None = None,
    request_id: object = "",
    **details: Any,
) -> AuditEvent:
    """Do the same from async code."""
    return await in_thread(
        record, actor, action, target, request=request, request_id=request_id, **details
    )


@contextmanager
def answering(request: HttpRequest) -> Iterator[None]:
    """Let what is recorded meanwhile come from this request."""
    token = current_request.set(request)
    try:
        yield
    finally:
        current_request.reset(token)


def described(target: Model | Target) -> Target:
    """Return the label of an object's model, its key, and what it is called unless that is said.

    What is one person's own is called by that person's key: its name may be theirs.
    """
    if isinstance(target, Target):
        return target
    label = target._meta.concrete_model._meta.label_lower if target._meta.concrete_model else ""
    if label in UNNAMED:
        return Target(label, str(target.pk))
    owner = owner_of(target)
    return Target(label, str(target.pk), str(target) if owner is None else f"of user {owner}")


def owned_by(model: type[Model]) -> list[str]:
    """Return the attributes of a model's objects that hold the keys of people they go with."""
    return [
        field.attname
        for field in model._meta.concrete_fields
        if isinstance(field, ForeignKey)
        and field.related_model is User
        and field.remote_field.on_delete is CASCADE
    ]


def owner_of(target: Model) -> int | None:
    """Return the key of the person with whom an object goes, None if it is not one person's."""
    keys = (getattr(target, attribute) for attribute in owned_by(target._meta.model))
    return next((key for key in keys if key is not None), None)


def address(origin: Origin | None) -> str | None:
    """Return the address of a request's or a socket's client, None if it is not known.

    Behind TRUSTED_PROXIES it is that many from the right in X-Forwarded-For.
    """
    if origin is None:
        return None
    if isinstance(origin, HttpRequest):
        peer = origin.META.get("REMOTE_ADDR", "")
        forwarded = origin.META.get("HTTP_X_FORWARDED_FOR", "")
    else:
        peer = (origin.get("client") or [""])[0]
        values = (value for name, value in origin.get("headers", ()) if name == FORWARDED)
        forwarded = b",".join(values).decode("latin-1")
    hops = [hop.strip() for hop in forwarded.split(",")] if forwarded else []
    proxies: int = settings.ALLAUTH_TRUSTED_PROXY_COUNT
    try:
        return str(ip_address(hops[-proxies] if 0 < proxies <= len(hops) else peer))
    except ValueError:  # such as a Unix socket's
        return None


def _via(origin: Origin | None) -> str:
    if origin is None:
        return ""
    if isinstance(origin, HttpRequest):
        token = getattr(origin, "token", None)
    else:
        token = origin.get("token")
    return "token" if token else "session"
