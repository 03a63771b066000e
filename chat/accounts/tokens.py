"""Tokens by which programs sign in: making them, and knowing them again.

A token is `rs_` and 256 random bits. It is looked up by its digest, so that neither the database
nor the time a wrong one takes tells anything of it.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import models
from django.utils import timezone

from chat.accounts.models import ApiToken
from retrieval.database import in_thread

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from django.contrib.auth.models import User

PREFIX = "rs_"
SHOWN_CHARS = 10
# Its use is written down at most this often.
NOTED = timedelta(minutes=1)
TOO_LONG = 200


def make(
    user: User, name: str, scopes: Iterable[str], expires_at: datetime | None = None
) -> tuple[ApiToken, str]:
    """Make a token; return it and the secret, which is not to be had again."""
    raw = PREFIX + secrets.token_urlsafe(32)
    token = ApiToken.objects.create(
        user=user,
        name=name,
        start=raw[:SHOWN_CHARS],
        digest=_digest(raw),
        scopes=list(scopes),
        expires_at=expires_at,
    )
    return token, raw


def authenticate(raw: str, address: str | None = None) -> ApiToken | None:
    """Return the token in force that `raw` is, with its user; note its use, from `address`."""
    if not raw.startswith(PREFIX) or len(raw) > TOO_LONG:
        return None
    token = ApiToken.objects.in_force().select_related("user").filter(digest=_digest(raw)).first()
    if token is not None:
        _note_use(token, address)
    return token


async def aauthenticate(raw: str, address: str | None = None) -> ApiToken | None:
    """Do what `authenticate` does, from async code. Raises DatabaseError."""
    return await in_thread(authenticate, raw, address)


async def is_in_force(token: ApiToken) -> bool:
    """Whether a token can still be used. Raises DatabaseError."""
    return await in_thread(ApiToken.objects.in_force().filter(pk=token.pk).exists)


def from_header(authorization: str) -> str | None:
    """Return the token in an `Authorization` header; None if there is none of ours."""
    scheme, _, raw = authorization.partition(" ")
    raw = raw.strip()
    return raw if scheme.lower() == "bearer" and raw.startswith(PREFIX) else None


def _digest(raw: str) -> str:
    return hashlib.sha256(raw.encode()).hexdigest()


def _note_use(token: ApiToken, address: str | None) -> None:
    now = timezone.now()
    # In the statement itself, so that of many requests at once one writes.
    stale = models.Q(last_used_at=None) | models.Q(last_used_at__lt=now - NOTED)
    if token.last_used_at is None or token.last_used_at < now - NOTED:
        ApiToken.objects.filter(stale, pk=token.pk).update(last_used_at=now, last_address=address)
