"""Whether somebody may upload a file: so many a day, and so much in all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import connection
from django.utils import timezone

from retrieval.limits.allowed import OF_PEOPLE, allowed
from retrieval.limits.meters import Meter, metered, meters, parameters, storage, uploads, when
from retrieval.limits.models import StoredFile
from retrieval.limits.quantities import STORAGE, UPLOADS

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

    from retrieval.models import DocumentVersion

UPLOADING = metered(allowed(OF_PEOPLE, (UPLOADS, STORAGE)), (uploads(UPLOADS), storage(STORAGE)))
# Uploads of one person wait for each other from here to the end of their transactions.
LOCK = "SELECT pg_advisory_xact_lock(0x6c696d33, hashint8(%s::bigint))"


class QuotaError(Exception):
    """Somebody has uploaded as much as they may; the text is for them."""


def measure(user: User | AnonymousUser) -> tuple[Meter, Meter]:
    """Return what was uploaded today, and what all files take, of what may be.

    What is unlimited is not counted.
    """
    with connection.cursor() as cursor:
        cursor.execute(UPLOADING, {**parameters(), "user": user.pk})
        today, stored = meters(cursor.fetchall())
    return today, stored


def check(user: User | None, size: int) -> None:
    """Raise QuotaError if a file of `size` bytes more would be too much; nobody may do all."""
    if user is None:
        return
    today, stored = measure(user)
    if today.is_full:
        raise QuotaError(_too_many(today))
    if stored.used + size > stored.allowed:
        raise QuotaError(_no_room(stored))


def charge(user: User | None, version: DocumentVersion) -> None:
    """Count a version that was stored, in the caller's transaction. Raises QuotaError."""
    if user is None:
        return
    _lock(user.pk)
    check(user, version.size)
    StoredFile.objects.create(user=user, version=version, uploaded_at=timezone.now())


def check_room(version: DocumentVersion) -> None:
    """Raise QuotaError if a version, whose size was not known before, takes too much.

    In the caller's transaction, in which the version has its size.
    """
    counted = StoredFile.objects.select_related("user").filter(version=version).first()
    if counted is not None:
        _lock(counted.user_id)
        _, stored = measure(counted.user)
        if stored.used > stored.allowed:
            raise QuotaError(_no_room(stored))


def _lock(user: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(LOCK, [user])


def _too_many(meter: Meter) -> str:
    if not meter.allowed or meter.resets_at is None:
        return "You may not upload files."
    files = f"{meter.allowed:,} file{'' if meter.allowed == 1 else 's'}"
    return f"You may upload {files} a day. You can upload more {when(meter.resets_at)}."


def _no_room(meter: Meter) -> str:
    return (
        f"There is no room for this file: yours may take {STORAGE.words(meter.allowed)} in all."
        " Delete documents that you uploaded, or ask an administrator for more."
    )
